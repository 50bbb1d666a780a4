"""The contract suite that every solver, ours or a third party's, is put through."""

from __future__ import annotations

import copy
import json
import math
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from scisuite import scenarios
from scisuite.core import Budget, DamagedFile, InvalidInput, NewerFormat, NotFitted, Tool
from scisuite.core.files import canonical_json, read_json
from scisuite.core.seeding import global_random_state_untouched
from scisuite.solvers.base import Solver, read_saved, restore


def check_solver(
    solver: str | Callable[..., Solver], *, scenario: Any = None, budget: str | None = None, **config: Any
) -> None:
    """Put a solver through the contract: fit, predict, evaluate, copy, pickle, save, load, refuse.

    Parameters
    ----------
    solver : str or callable
        A registered id, or something that builds an unfitted solver.
    scenario : Scenario or str or None
        What to fit on; by default what the solver's class names in ``example``. For another kind than data and black
        boxes the solver has ``example_inputs(scenario)``, which gives an array of inputs for ``predict``, one a row.
    budget : str or None
        How long; by default as the class's ``example`` says.
    **config
        Configuration of the solver.

    Raises
    ------
    AssertionError
        Naming the rule that is broken.
    """
    build = _builder(solver, config)
    # Built before anything is watched: it may import a package that draws a number when it is imported.
    probe = build()
    with global_random_state_untouched():
        _check_unfitted(build)
        example_scenario, example_budget = type(probe).example
        world = scenario if scenario is not None else example_scenario
        world = scenarios.make(world, seed=0) if isinstance(world, str) else world
        allowed = Budget.parse(budget or example_budget)
        _refuses(NotFitted, lambda: probe.evaluate(world), "evaluate before fit")
        _check_refusals(build, world, allowed)
        fitted = build().fit(world, seed=0, budget=allowed)
    # Entered anew: torch's state is watched only once torch has been imported, which the first fit may do.
    with global_random_state_untouched():
        _check_fitted(fitted, build, world, allowed, registered=isinstance(solver, str))


def _check_fitted(
    fitted: Solver, build: Callable[[], Solver], world: Any, allowed: Budget, *, registered: bool
) -> None:
    assert isinstance(fitted, Solver), f"fit returned {type(fitted).__name__}, not the solver"
    _check_report(fitted, allowed)
    inputs = _inputs(fitted, world)
    prediction = _arrays(fitted.predict(inputs.copy()))
    for array in prediction:
        assert array.ndim > 0, f"predict gave {array!r}, not one row for each input"
        assert array.dtype != object, f"predict gave objects, not numbers: {array!r:.80}"
        assert len(array) == len(inputs), f"predict gave {len(array)} rows for {len(inputs)} inputs"
        if np.issubdtype(array.dtype, np.number):
            assert np.isfinite(array).all(), "predict gave NaN or infinity for valid inputs"
    given = inputs.copy()
    assert _same(prediction, _arrays(fitted.predict(given))), "predict gave other values the second time"
    assert np.array_equal(given, inputs), "predict changed its inputs"
    metrics = fitted.evaluate(world)
    assert metrics, "evaluate gave no metrics"
    for name, value in metrics.items():
        assert isinstance(name, str), f"metric name {name!r} is not a string"
        assert isinstance(value, float), f"metric {name} is a {type(value).__name__}, not a float"
        assert math.isfinite(value), f"metric {name} is {value}"

    again = build().fit(world, seed=0, budget=allowed)
    assert _same(prediction, _arrays(again.predict(inputs))), "the same seed gave another prediction"
    assert again.evaluate(world) == metrics, "the same seed gave other metrics"
    for how, copied in (("deep copy", copy.deepcopy), ("pickled copy", _pickled)):
        try:
            twin = copied(fitted)
        except Exception as error:
            raise AssertionError(f"no {how} can be made: {type(error).__name__}: {error}") from error
        assert _same(prediction, _arrays(twin.predict(inputs))), f"a {how} predicts otherwise"
    _check_bad_inputs(fitted, inputs, prediction)
    _refuses(InvalidInput, lambda: fitted.fit(object(), seed=0, budget=allowed), "a second fit, to no scenario")  # type: ignore[arg-type]
    assert _same(prediction, _arrays(fitted.predict(inputs))), "a refused fit changed the solver"
    _check_saving(fitted, inputs, prediction, registered=registered)
    _check_tool(fitted)


def _builder(solver: str | Callable[..., Solver], config: dict[str, Any]) -> Callable[[], Solver]:
    if isinstance(solver, str):
        from scisuite.solvers import make

        return lambda: make(solver, **config)
    if not callable(solver):
        raise InvalidInput(f"check_solver takes an id, a class, or a function that builds a solver, not {solver!r}")
    return lambda: solver(**config)


def _inputs(fitted: Solver, world: Any) -> np.ndarray:
    example_inputs = getattr(fitted, "example_inputs", None)
    if example_inputs is not None:
        return np.asarray(example_inputs(world))
    if isinstance(world, scenarios.DataScenario):
        return np.asarray(world.inputs("test"))
    if not isinstance(world, scenarios.BlackBoxScenario):
        raise InvalidInput(
            f"check_solver fits on a data or black-box scenario, not {type(world).__name__}, unless the solver has "
            "example_inputs(scenario), which gives rows for predict"
        )
    if world.pool is not None:
        return np.asarray(world.pool[:16])
    return np.asarray(world.space.sample(np.random.default_rng(0), 16))


def _arrays(prediction: Any) -> list[np.ndarray]:
    parts = prediction if isinstance(prediction, tuple) else (prediction,)
    return [np.asarray(part) for part in parts]


def _pickled(solver: Solver) -> Solver:
    twin: Solver = pickle.loads(pickle.dumps(solver))
    return twin


def _same(a: list[np.ndarray], b: list[np.ndarray]) -> bool:
    return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def _check_unfitted(build: Callable[[], Solver]) -> None:
    solver = build()
    assert isinstance(solver, Solver), f"{type(solver).__name__} does not derive from Solver"
    id = getattr(solver, "id", None)
    assert isinstance(id, str), "a solver class needs an id, a string"
    assert id, "a solver class needs an id, a string"
    config = getattr(solver, "config", None)
    assert isinstance(config, dict), "a solver keeps the arguments that built it in config, a dict"
    try:
        reread = json.loads(json.dumps(config, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise AssertionError(f"config is not JSON: {error}") from error
    assert reread == config, f"config does not survive JSON: {config} comes back as {reread}"
    with tempfile.TemporaryDirectory() as folder:
        _refuses(NotFitted, lambda: solver.predict(np.zeros((1, 1))), "predict before fit")
        _refuses(NotFitted, lambda: solver.save(folder), "save before fit")
        assert not list(Path(folder).iterdir()), "a refused save left a file"


def _check_refusals(build: Callable[[], Solver], world: Any, budget: Budget) -> None:
    solver = build()
    for seed in (1.5, 1.0, -1, "0", True, None):
        _refuses(InvalidInput, lambda seed=seed: solver.fit(world, seed=seed, budget=budget), f"seed={seed!r}")
    for bad in ("fast", "-3 steps", "nan cpu_seconds", "3 fortnights"):
        _refuses(InvalidInput, lambda bad=bad: solver.fit(world, seed=0, budget=bad), f"budget={bad!r}")
    _refuses(InvalidInput, lambda: solver.fit(object(), seed=0, budget=budget), "a scenario that is none")
    assert solver.fit_report is None, "a refused fit left the solver fitted"


def _check_report(fitted: Solver, budget: Budget) -> None:
    report = fitted.fit_report
    assert report is not None, "fit set no fit_report"
    assert report.budget == str(budget), f"fit_report.budget is {report.budget!r}, asked was {str(budget)!r}"
    slack = 1.5 if budget.unit == "cpu_seconds" else 1.0
    assert 0 < report.used <= budget.amount * slack, f"used {report.used} of a budget of {budget}"
    assert report.cpu_seconds >= 0, "fit_report.cpu_seconds is negative"
    try:
        canonical_json(report.history)
    except InvalidInput as error:
        raise AssertionError(f"fit_report.history is not JSON: {error}") from error


def _check_bad_inputs(fitted: Solver, inputs: np.ndarray, prediction: list[np.ndarray]) -> None:
    poisoned = np.array(inputs, dtype=np.float64)
    poisoned.reshape(-1)[0] = np.nan
    _refuses(InvalidInput, lambda: fitted.predict(poisoned), "predict of NaN")
    _refuses(InvalidInput, lambda: fitted.predict(np.asarray(inputs)[..., :0]), "predict of no columns")
    assert _same(prediction, _arrays(fitted.predict(inputs))), "a refused predict changed the solver"


def _check_saving(fitted: Solver, inputs: np.ndarray, prediction: list[np.ndarray], *, registered: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "saved"
        fitted.save(folder)
        fitted.save(folder)
        kept = sorted(path.name for path in folder.iterdir())
        assert len(kept) == 2, f"a folder saved twice holds {kept}, not one header and one tensor file"
        id, config, state, tensors = read_saved(folder)
        assert id == fitted.id, f"saved as {id!r}, not {fitted.id!r}"
        assert canonical_json(config) == canonical_json(fitted.config), "the saved config is another"
        loaded = _loaded(fitted, folder, config, state, tensors, registered=registered)
        assert _same(prediction, _arrays(loaded.predict(inputs))), "a loaded solver predicts otherwise"
        assert loaded.fit_report == fitted.fit_report, "a loaded solver has another fit_report"
        header_path = folder / "solver.json"
        header = read_json(header_path)
        tensor_path = folder / header["tensors"]["file"]
        whole = tensor_path.read_bytes()
        tensor_path.write_bytes(whole[:-1])
        _refuses(DamagedFile, lambda: read_saved(folder), "a truncated tensor file")
        tensor_path.write_bytes(whole)
        header_path.write_text(json.dumps({**header, "version": header["version"] + 1}))
        _refuses(NewerFormat, lambda: read_saved(folder), "a newer format")
        header_path.write_text(json.dumps(header)[:-7])
        _refuses(DamagedFile, lambda: read_saved(folder), "a truncated header")


def _loaded(
    fitted: Solver,
    folder: Path,
    config: dict[str, Any],
    state: dict[str, Any],
    tensors: dict[str, np.ndarray],
    *,
    registered: bool,
) -> Solver:
    """What ``load`` gives; for a class that is not registered, what it would give."""
    if not registered:
        try:
            unfitted = type(fitted)(**config)
        except (InvalidInput, TypeError) as error:
            raise AssertionError(f"config does not build the solver again: {error}") from error
        return restore(unfitted, state, tensors)
    from scisuite.solvers import load

    try:
        loaded = load(folder)
    except InvalidInput as error:
        raise AssertionError(f"load refuses what save wrote: {error}") from error
    assert type(loaded) is type(fitted), f"load gave a {type(loaded).__name__}, not a {type(fitted).__name__}"
    return loaded


def _check_tool(fitted: Solver) -> None:
    tool = fitted.as_tool()
    assert isinstance(tool, Tool), "as_tool gave no Tool"
    try:
        canonical_json(tool.to_openai())
    except InvalidInput as error:
        raise AssertionError(f"the description of the tool is not JSON: {error}") from error
    _refuses(InvalidInput, lambda: tool.call({"no such argument": 1}), "an unknown argument of the tool")


def _refuses(kind: type[Exception], action: Callable[[], Any], what: str) -> None:
    try:
        action()
    except kind:
        return
    except Exception as error:
        raise AssertionError(f"{what}: expected {kind.__name__}, got {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what}: expected {kind.__name__}, nothing was raised")
