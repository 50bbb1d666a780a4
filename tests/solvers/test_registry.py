"""Everything registered keeps the contract, ours and what another distribution brings."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scisuite import scenarios, solvers
from scisuite.bench.provenance import missing_dependency
from scisuite.core import InvalidInput, MissingDependency, Registry, UnknownName
from scisuite.solvers import Solver, check_solver

PLUGIN = textwrap.dedent(
    '''
    import numpy as np

    from scisuite.core import Budget, InvalidInput, as_seed
    from scisuite.scenarios import BlackBoxScenario
    from scisuite.solvers import FitReport, Solver


    class Nearest(Solver):
        """The value of the nearest point that was measured."""

        id = "their/nearest"
        example = ("functions/quadratic2", "6 evaluations")

        def __init__(self, scale=1.0):
            self.config = {"scale": scale}

        def fit(self, scenario, *, seed, budget):
            seed, allowed = as_seed(seed), Budget.parse(budget)
            if not isinstance(scenario, BlackBoxScenario):
                raise InvalidInput("their/nearest needs a black box")
            self.x = np.random.default_rng(seed).choice(scenario.pool, allowed.count, replace=False)
            self.y = scenario.evaluate(self.x) * self.config["scale"]
            self.fit_report = FitReport(str(allowed), allowed.amount, 0.0)
            return self

        def predict(self, inputs):
            self._require_fitted()
            inputs = np.asarray(inputs)
            if inputs.ndim != 2 or inputs.shape[1] != self.x.shape[1] or not np.isfinite(inputs).all():
                raise InvalidInput("inputs must be finite, one column for each variable")
            return self.y[((inputs[:, None] - self.x) ** 2).sum(axis=2).argmin(axis=1)]

        def evaluate(self, scenario, split="test"):
            return {"mae": float(np.abs(self.predict(scenario.pool) - scenario.evaluate(scenario.pool)).mean())}

        def _state(self):
            return {}, {"x": self.x, "y": self.y}

        def _restore(self, state, tensors):
            self.x, self.y = tensors["x"], tensors["y"]


    class Misnamed(Nearest):
        id = "their/other"


    class Stubborn(Nearest):
        id = "their/stubborn"

        def __init__(self, scale=1.0):
            self.config = {"scale": scale, "secret": 3}
    '''
)


@pytest.mark.parametrize("id", solvers.registry.ids())
def test_contract(id: str) -> None:
    if (missing := missing_dependency(id, solvers.registry.entry(id).extras)) is not None:
        pytest.skip(str(missing))
    check_solver(id)


@pytest.mark.parametrize("id", solvers.registry.ids())
def test_the_entry_and_the_class_agree(id: str) -> None:
    entry = solvers.registry.entry(id)
    assert entry.summary
    try:
        kind = entry.load()
    except MissingDependency as error:
        pytest.skip(str(error))
    assert issubclass(kind, Solver)
    assert kind.id == id
    scenario, _ = kind.example
    assert scenarios.registry.entry(scenario).id == scenario


def test_labo_is_there() -> None:
    entry = solvers.registry.entry("labo")
    assert (entry.paper, entry.origin) == ("labo", "scisuite")


def test_an_unknown_solver_is_answered_with_the_nearest() -> None:
    for action in (solvers.make, check_solver):
        with pytest.raises(UnknownName, match="unknown solver 'lab0'; did you mean 'labo'"):
            action("lab0")


def test_listing_imports_no_method() -> None:
    code = (
        "import sys\nfrom scisuite import solvers\nassert 'labo' in solvers.registry.ids()\n"
        "heavy = {'torch', 'botorch', 'pandas', 'transformers', 'scisuite.solvers.labo'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry[Solver]]:
    """A distribution with three solvers on ``sys.path``, and the registry of solvers as a new process has it."""
    info = tmp_path / "their_solvers-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-solvers\nVersion: 1.2\n")
    points = {"their/nearest": "Nearest", "their/misnamed": "Misnamed", "their/stubborn": "Stubborn"}
    lines = [f"{id} = their_solvers:{name}" for id, name in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[scisuite.solvers]", *lines]) + "\n")
    (tmp_path / "their_solvers.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    fresh: Registry[Solver] = Registry("solver", "scisuite.solvers")
    fresh.add_folder(Path(solvers.__file__).parent)
    monkeypatch.setattr(solvers, "registry", fresh)
    yield fresh
    sys.modules.pop("their_solvers", None)


def test_a_plugin_is_found_through_its_entry_point(plugin: Registry[Solver]) -> None:
    entry = plugin.entry("nearest")
    assert (entry.id, entry.origin, entry.summary) == ("their/nearest", "their-solvers", "added by their-solvers")
    assert set(plugin.ids()) >= {"labo", "their/nearest"}
    assert "their_solvers" not in sys.modules
    assert metadata.version("their-solvers") == "1.2"


def test_a_plugin_is_put_through_the_contract(plugin: Registry[Solver]) -> None:
    check_solver("their/nearest")
    check_solver("nearest", scenario="functions/hartmann3", budget="4 evaluations", scale=2.0)
    with pytest.raises(InvalidInput, match="solver 'their/nearest' has no argument 'scales'; did you mean 'scale'"):
        check_solver("their/nearest", scales=2.0)


def test_a_plugin_is_saved_and_loaded(plugin: Registry[Solver], tmp_path: Path) -> None:
    world = scenarios.make("quadratic2")
    fitted: Any = solvers.make("nearest", scale=3.0).fit(world, seed=1, budget="5 evaluations")
    fitted.save(tmp_path / "saved")
    loaded: Any = solvers.load(tmp_path / "saved")
    assert type(loaded) is type(fitted)
    assert loaded.config == {"scale": 3.0}
    assert np.array_equal(loaded.predict(world.pool), fitted.predict(world.pool))


def test_a_plugin_that_cannot_be_loaded_again_is_caught(plugin: Registry[Solver]) -> None:
    with pytest.raises(AssertionError, match="load refuses what save wrote: unknown solver 'their/other'"):
        check_solver("their/misnamed")
    with pytest.raises(AssertionError, match="load refuses what save wrote: .*has no argument 'secret'"):
        check_solver("their/stubborn")


def test_a_plugin_that_saves_under_the_id_of_another_is_caught(plugin: Registry[Solver]) -> None:
    kind = plugin.entry("their/misnamed").load()
    kind.id = "their/nearest"
    with pytest.raises(AssertionError, match="load gave a Nearest, not a Misnamed"):
        check_solver("their/misnamed")


def test_a_saved_plugin_needs_the_plugin(
    plugin: Registry[Solver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solvers.make("nearest").fit(scenarios.make("quadratic2"), seed=1, budget="5 evaluations").save(tmp_path / "saved")
    without: Registry[Solver] = Registry("solver")
    without.add_folder(Path(solvers.__file__).parent)
    monkeypatch.setattr(solvers, "registry", without)
    with pytest.raises(UnknownName, match="unknown solver 'their/nearest'; known: .*labo"):
        solvers.load(tmp_path / "saved")
