"""The contract that every scenario keeps, as a function that a third party can run on its own."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.files import canonical_json
from scisuite.core.seeding import global_random_state_untouched
from scisuite.scenarios.base import Array, BlackBoxScenario, DataScenario, Scenario, WorldScenario
from scisuite.scenarios.tabular import distinct_rows

SAMPLES = 16
BAD_SEEDS: tuple[Any, ...] = (-1, 0.5, True, "0", None)


def check_scenario(scenario: str | Scenario | Callable[..., Scenario]) -> None:
    """Put a scenario through the contract suite that scisuite's own pass.

    All kinds: an id, a complete description that has a JSON form, a seed that is an integer, the same numbers from a
    pickled and from a deep copy, no global random state moved. *Black box*: pool inside the space and distinct, finite
    values of the right shape, the same twice, within ``value_range``, none better than ``optimum``, positive cost, and
    bad points refused with nothing changed. *Data*: splits, aligned inputs and targets, finite metrics, NaN predictions
    refused. *World*: the same instance from the same generator state.

    Parameters
    ----------
    scenario : str, Scenario or callable
        A registered id, an object, or a class or function that makes one of ``seed=…``. With an id or a callable it is
        also checked that bad seeds are refused and that two of the same seed agree.

    Raises
    ------
    AssertionError
        Naming the rule that is broken.
    """
    with global_random_state_untouched():
        made, make = _resolve(scenario)
        name = getattr(made, "id", "") or type(made).__name__
        _demand(isinstance(made, Scenario), name, f"must be a Scenario, not {type(made).__name__}")
        _check_description(made, name)
        fingerprint = _kind_check(made, name)
        before = fingerprint(made)
        for how, twin in (("pickled copy", _pickled(made, name)), ("deep copy", copy.deepcopy(made))):
            _demand(fingerprint(twin) == before, name, f"a {how} gives other numbers")
        if make is not None:
            _demand(fingerprint(make(seed=made.seed)) == before, name, "two of the same seed give different numbers")
            for seed in BAD_SEEDS:
                _demand_refused(name, f"seed={seed!r}", make, seed=seed)
        _demand(fingerprint(made) == before, name, "gives other numbers after the checks than before")


def _resolve(scenario: Any) -> tuple[Any, Callable[..., Any] | None]:
    if isinstance(scenario, Scenario):
        return scenario, None
    if isinstance(scenario, str):
        from scisuite import scenarios

        id = scenarios.registry.entry(scenario).id

        def make(**config: Any) -> Scenario:
            return scenarios.make(id, **config)

    elif callable(scenario):
        make = scenario
    else:
        raise InvalidInput(f"check_scenario takes an id, a scenario, or a class, not {scenario!r}")
    return make(seed=0), make


def _kind_check(scenario: Scenario, name: str) -> Callable[[Any], str]:
    """Check what only one kind promises; return what makes its numbers comparable."""
    if isinstance(scenario, BlackBoxScenario):
        _check_black_box(scenario, name)
        return _black_box_fingerprint
    if isinstance(scenario, DataScenario):
        _check_data(scenario, name)
        return _data_fingerprint
    if isinstance(scenario, WorldScenario):
        _check_world(scenario, name)
        return lambda world: _fingerprint(world.generate(np.random.default_rng(0)))
    raise AssertionError(f"{name}: must be a DataScenario, a BlackBoxScenario or a WorldScenario")


def _check_description(scenario: Scenario, name: str) -> None:
    _demand(bool(scenario.id), name, "has no id; register it, or set its attribute id")
    _demand(_is_whole(scenario.seed), name, f"seed must be a whole number, not {scenario.seed!r}")
    _demand(_is_whole(scenario.version) and scenario.version >= 1, name, "version must be a whole number from 1")
    about = scenario.describe()
    _demand(about.id == scenario.id, name, f"describe().id is {about.id!r}, not its id {scenario.id!r}")
    for field in ("summary", "source", "licence"):
        text = getattr(about, field)
        _demand(isinstance(text, str) and bool(text.strip()), name, f"describe().{field} is empty")
    _demand(isinstance(about.real, bool), name, "describe().real must be True or False")
    _demand(len(about.shapes) > 0, name, "describe().shapes is empty")
    for what, shape in about.shapes.items():
        whole = isinstance(shape, tuple) and all(_is_whole(length) for length in shape)
        _demand(whole, name, f"describe().shapes[{what!r}] must be a tuple of whole numbers, not {shape!r}")
    for what, unit in about.units.items():
        _demand(isinstance(unit, str), name, f"describe().units[{what!r}] must be text, not {unit!r}")
    _demand_json(dataclasses.asdict(about), name, "describe()")


def _check_black_box(scenario: BlackBoxScenario, name: str) -> None:
    space, pool = scenario.space, scenario.pool
    if pool is not None:
        _demand(
            isinstance(pool, np.ndarray) and pool.dtype == np.float64 and pool.ndim == 2 and pool.shape[1] == space.d,
            name,
            f"pool must be float64 of shape (N, {space.d})",
        )
        _demand(len(pool) >= 2, name, "pool must have at least two rows")
        _demand(bool(space.contains(pool).all()), name, "a row of the pool is outside its space")
        _demand(len(distinct_rows(pool)[0]) == len(pool), name, "the pool repeats a row")
    low, high = scenario.value_range
    _demand(
        math.isfinite(low) and math.isfinite(high) and low < high, name, "value_range must be finite with low < high"
    )
    x = _points(scenario)
    asked = x.copy()
    values = scenario.evaluate(x)
    _demand(bool(np.array_equal(asked, x)), name, "evaluate changes the points that it is asked for")
    _demand_values(values, len(x), name, "evaluate(x)")
    answers = values.copy()
    if values.flags.writeable:
        values += 1.0
    second = scenario.evaluate(x)
    _demand(bool(np.array_equal(answers, second)), name, "evaluate gives another answer the second time")
    values = answers
    _demand(bool((values >= low).all() and (values <= high).all()), name, "a value is outside value_range")
    _demand(scenario.evaluate(x[:0]).shape == (0,), name, "evaluate of no rows must have shape (0,)")
    single = np.concatenate([scenario.evaluate(row[None]) for row in x[:SAMPLES]])
    _demand(bool(np.allclose(single, values[:SAMPLES], rtol=1e-12, atol=0)), name, "a row alone has another value")
    cost = scenario.cost(x)
    _demand_values(cost, len(x), name, "cost(x)")
    _demand(bool((cost > 0).all()), name, "cost must be positive")
    best = float(values.max() if scenario.maximise else values.min())
    if scenario.optimum is not None:
        better = best > scenario.optimum if scenario.maximise else best < scenario.optimum
        slack = 1e-9 * max(1.0, abs(scenario.optimum))
        _demand(not better or abs(best - scenario.optimum) <= slack, name, f"{best} is better than its optimum")
        if pool is not None:
            _demand(scenario.optimum == best, name, f"optimum is {scenario.optimum}, the best of the pool {best}")
        _demand(scenario.optimum != scenario.median, name, "optimum equals median: regret is undefined")
        _demand(abs(scenario.regret(scenario.optimum)) == 0, name, "regret at the optimum must be 0")
        _demand(math.isclose(scenario.regret(scenario.median), 1), name, "regret at the median must be 1")
    _demand(low <= scenario.median <= high, name, "median is outside value_range")
    if pool is not None:
        _demand(math.isclose(scenario.median, float(np.median(values))), name, "median is not that of the pool")
    _demand_json(scenario.context(), name, "context()")
    for what, bad in _bad_points(scenario, x).items():
        _demand_refused(name, f"evaluate of {what}", scenario.evaluate, bad)
    _demand(bool(np.array_equal(values, scenario.evaluate(x))), name, "a refused point changed later answers")


def _check_data(scenario: DataScenario, name: str) -> None:
    _demand(len(scenario.splits) > 0 and len(set(scenario.splits)) == len(scenario.splits), name, "splits must differ")
    for split in scenario.splits:
        inputs, targets = scenario.inputs(split), scenario.targets(split)
        _demand(_length(inputs) == _length(targets) > 0, name, f"inputs and targets of {split!r} differ in length")
        _demand(_fingerprint(inputs) == _fingerprint(scenario.inputs(split)), name, f"inputs({split!r}) change")
        _demand(_fingerprint(targets) == _fingerprint(scenario.targets(split)), name, f"targets({split!r}) change")
        metrics = scenario.metrics(targets, split)
        _demand(isinstance(metrics, dict) and len(metrics) > 0, name, "metrics must be a dict that is not empty")
        for what, figure in metrics.items():
            finite = isinstance(figure, float) and math.isfinite(figure)
            _demand(isinstance(what, str) and finite, name, f"metric {what!r} must be a finite float, not {figure!r}")
        poisoned = _with_nan(targets)
        if poisoned is not None:
            _demand_refused(name, "metrics of a NaN prediction", scenario.metrics, poisoned, split)
            _demand(scenario.metrics(targets, split) == metrics, name, "a refused prediction changed the metrics")
    for what, ask in (("inputs", scenario.inputs), ("targets", scenario.targets)):
        _demand_refused(name, f"{what} of an unknown split", ask, "no such split")


def _check_world(scenario: WorldScenario, name: str) -> None:
    first = scenario.generate(np.random.default_rng(0))
    frozen = getattr(getattr(first, "__dataclass_params__", None), "frozen", False)
    _demand(frozen, name, "generate must return a frozen dataclass")
    _demand(len(_arrays(first)) > 0, name, "an instance must hold at least one array")
    scenario.generate(np.random.default_rng(1))
    again = scenario.generate(np.random.default_rng(0))
    _demand(_fingerprint(first) == _fingerprint(again), name, "the same generator state gives different instances")
    for what, array in _arrays(first):
        if np.issubdtype(array.dtype, np.floating):
            _demand(bool(np.isfinite(array).all()), name, f"{what} of an instance is not finite")


def _points(scenario: BlackBoxScenario) -> Array:
    return scenario.space.sample(np.random.default_rng(0), SAMPLES) if scenario.pool is None else scenario.pool


def _bad_points(scenario: BlackBoxScenario, x: Array) -> dict[str, Any]:
    """Points that must be refused, by what is wrong with them."""
    nan, infinite, outside = x[:2].copy(), x[:2].copy(), x[:2].copy()
    nan[1, 0], infinite[1, -1], outside[1] = np.nan, np.inf, 1.5
    bad = {
        "a NaN": nan,
        "an infinity": infinite,
        "a point outside the space": outside,
        "a single row (not (n, d))": x[0],
        "rows of the wrong length": np.zeros((1, scenario.space.d + 1)),
        "text": [["a"] * scenario.space.d],
    }
    if scenario.pool is not None:
        between = scenario.space.sample(np.random.default_rng(1), SAMPLES)
        distance = np.abs(between[:, None] - scenario.pool[None]).max(axis=2).min(axis=1)
        if (distance > 1e-6).any():
            bad["a point that is not in the pool"] = between[[int(distance.argmax())]]
    return bad


def _black_box_fingerprint(scenario: BlackBoxScenario) -> str:
    x = _points(scenario)
    figures = (scenario.value_range, scenario.median, scenario.optimum, scenario.maximise)
    return _fingerprint((x, scenario.evaluate(x), figures))


def _data_fingerprint(scenario: DataScenario) -> str:
    return _fingerprint([(split, scenario.inputs(split), scenario.targets(split)) for split in scenario.splits])


def _fingerprint(value: Any) -> str:
    """A text that is the same for the same numbers: nested containers, dataclasses and arrays."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_fingerprint(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(_fingerprint(item) for item in value) + "]"
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        return f"{array.dtype}{array.shape}{array.tolist() if array.dtype == object else array.tobytes().hex()}"
    return repr(value)


def _arrays(value: Any, what: str = "instance") -> list[tuple[str, np.ndarray[Any, Any]]]:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [(f"{what}.{f.name}", getattr(value, f.name)) for f in dataclasses.fields(value)]
        return [found for name, part in parts for found in _arrays(part, name)]
    return [(what, value)] if isinstance(value, np.ndarray) else []


def _with_nan(targets: Any) -> Any:
    """``targets`` with one NaN, or ``None`` where they are no floating-point array."""
    if not (hasattr(targets, "__array__") and np.issubdtype(np.asarray(targets).dtype, np.floating)):
        return None
    poisoned = np.array(targets)
    poisoned.flat[-1] = np.nan
    return poisoned


def _pickled(scenario: Scenario, name: str) -> Any:
    try:
        return pickle.loads(pickle.dumps(scenario))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise AssertionError(f"{name}: cannot be pickled: {error}") from error


def _length(value: Any) -> int:
    return len(value) if hasattr(value, "__len__") else -1


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _demand(holds: bool, name: str, rule: str) -> None:
    if not holds:
        raise AssertionError(f"{name}: {rule}")


def _demand_values(values: Any, n: int, name: str, what: str) -> None:
    shaped = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == (n,)
    _demand(shaped, name, f"{what} must be float64 of shape ({n},)")
    _demand(bool(np.isfinite(values).all()), name, f"{what} is not finite")


def _demand_json(value: Any, name: str, what: str) -> None:
    try:
        json.loads(canonical_json(value))
    except InvalidInput as error:
        raise AssertionError(f"{name}: {what} has no JSON form: {error}") from error


def _demand_refused(name: str, what: str, ask: Callable[..., Any], *arguments: Any, **keywords: Any) -> None:
    """``ask`` must raise InvalidInput, and say something."""
    try:
        ask(*arguments, **keywords)
    except InvalidInput as error:
        _demand(bool(str(error)), name, f"{what} is refused without a word")
    except Exception as error:
        raise AssertionError(f"{name}: {what} must raise InvalidInput, not {type(error).__name__}: {error}") from error
    else:
        raise AssertionError(f"{name}: {what} must raise InvalidInput")
