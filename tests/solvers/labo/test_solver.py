"""LABO as a solver: the contract suite, saving, the tool, and what it refuses."""

from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

from scisuite import scenarios, solvers
from scisuite.core import DamagedFile, Integer, InvalidInput, NotFitted, Space
from scisuite.scenarios import BlackBoxScenario, DataScenario, Description
from scisuite.solvers import check_solver
from scisuite.solvers.base import restore
from scisuite.solvers.labo.figures import figures_of_merit
from scisuite.solvers.labo.solver import point_schema

QUICK = {"n_latin": 5, "max_llm": 20}


class Oven(BlackBoxScenario):
    """Yield over temperature and solvent, on a small pool."""

    value_range = (-50.0, 150.0)
    value_name, unit = "yield", "%"

    def __init__(self, maximise=True):
        super().__init__()
        self.space = Space.from_bounds(temperature=(20, 120, "degC"), solvent=["DMF", "THF"])
        self.maximise = maximise
        temperatures = np.linspace(20, 120, 15)
        self.pool = self.space.encode([{"temperature": t, "solvent": s} for t in temperatures for s in ("DMF", "THF")])
        values = self.evaluate(self.pool)
        self.optimum = float(values.max() if maximise else values.min())
        self.median = float(np.median(values))

    def evaluate(self, x):
        temperature, solvent = self.space.to_units(self.space.require(x)).T
        value = 90 - ((temperature - 83) / 8) ** 2 - 10 * solvent
        return value if self.maximise else -value

    def describe(self):
        return Description("test/oven", "a reaction", "made up", "none", False)


def fitted(scenario=None, budget="7 evaluations", seed=0, **config):
    return solvers.make("labo", **{**QUICK, **config}).fit(scenario or Oven(), seed=seed, budget=budget)


def test_the_contract():
    check_solver("labo", scenario=Oven(), budget="6 evaluations", **QUICK)


CONFIGS = [
    {},
    {"rho_fit": "origin"},
    {"rho_fit": "fixed", "rho": 1.3, "sigma_l_includes_noise": True},
    {"rho_fit": "shrunk"},
    {"strategy": "ucb"},
    {"strategy": "ei", "starts": "random"},
    {"strategy": "random_llm"},
]


@pytest.mark.parametrize("maximise", [True, False])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_it_predicts_what_its_campaign_predicts_and_so_does_the_loaded_one(config, maximise, tmp_path):
    solver = fitted(Oven(maximise), **config)
    rows = Oven().pool
    for ours, campaigns in zip(solver.predict(rows), solver.campaign.predict(rows), strict=True):
        np.testing.assert_allclose(ours, campaigns, rtol=1e-9)
    solver.save(tmp_path / "saved")
    loaded = solvers.load(tmp_path / "saved")
    for ours, theirs in zip(solver.predict(rows), loaded.predict(rows), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert loaded.evaluate(Oven(maximise)) == solver.evaluate(Oven(maximise))
    assert loaded.fit_report == solver.fit_report


def test_a_saved_state_that_lacks_a_tensor_is_damaged():
    solver = fitted()
    state, tensors = solver._state()
    tensors.pop("y_real")
    with pytest.raises(DamagedFile, match="the saved state of labo lacks y_real"):
        restore(solvers.make("labo", **QUICK), {"solver": state, "fit_report": asdict(solver.fit_report)}, tensors)


def test_the_figures_are_those_of_the_campaign():
    solver = fitted(cost_real=5.0, cost_llm=0.5)
    campaign = solver.campaign
    assert solver.evaluate(Oven()) == figures_of_merit(
        Oven(),
        campaign.trace.real_values(),
        budget=7,
        n_start=3,
        n_llm=campaign.n_llm,
        n_warm_start=campaign.n_warm_start,
        cost_real=5.0,
        cost_llm=0.5,
    )
    assert solver.fit_report.used == campaign.n_real == 7


def test_the_history_holds_every_query_and_is_json():
    solver = fitted(oracle_config={"fail_rate": 0.3})
    history = json.loads(json.dumps(solver.fit_report.history, allow_nan=False))
    assert len(history) == len(solver.campaign.trace.steps)
    assert sum(step["source"] == "real" for step in history) == 7
    failed = [step for step in history if step["value"] is None]
    assert len(failed) == solver.campaign.n_failed > 0
    assert {step["source"] for step in failed} == {"llm"}


def test_the_oracle_takes_the_seed_of_the_fit_unless_it_has_its_own():
    def answers(seed, **config):
        solver = fitted(seed=seed, **config)
        return solver.campaign.oracle.table.tolist()

    assert answers(0) != answers(1)
    assert answers(0, oracle_config={"seed": 9}) == answers(1, oracle_config={"seed": 9})


def test_the_tool_speaks_in_the_users_units():
    solver = fitted()
    tool = solver.as_tool()
    points = [{"temperature": 85, "solvent": "DMF"}, {"temperature": 20.0, "solvent": "THF"}]
    mean, std = solver.predict(solver.campaign.space.encode(points))
    assert tool.call({"points": points}) == {"mean": mean.tolist(), "std": std.tolist()}
    assert mean[0] > mean[1]
    assert tool.call({"points": []}) == {"mean": [], "std": []}
    for bad, message in (
        ([{"temperature": 850, "solvent": "DMF"}], r"temperature = 850 is outside \[20, 120\] degC"),
        ([{"temperature": 85, "solvent": "water"}], "solvent must be one of"),
        ([{"temperature": 85}], "point lacks solvent"),
        ([3], "a point must be a mapping"),
        ("85 degC", "points must be a list of objects"),
    ):
        with pytest.raises(InvalidInput, match=message):
            tool.call({"points": bad})
    with pytest.raises(InvalidInput, match="labo must have been fitted"):
        solvers.make("labo").as_tool().call({"points": []})


class Table(DataScenario):
    def inputs(self, split):
        return np.zeros((1, 1))

    def targets(self, split):
        return np.zeros(1)

    def metrics(self, prediction, split):
        return {}

    def describe(self):
        return Description("test/table", "", "made up", "none", False)


@pytest.mark.parametrize(
    ("scenario", "budget", "message"),
    [
        (Oven(), "7 steps", 'labo counts real evaluations; give a budget like "60 evaluations", not'),
        (Oven(), "2 evaluations", "the budget of 2 real runs is less than the 3 starting points"),
        (Table(), "7 evaluations", "labo needs a black-box scenario, not Table"),
    ],
)
def test_a_refused_fit_changes_nothing(scenario, budget, message):
    solver = fitted()
    before = solver.predict(Oven().pool), solver.fit_report, solver.campaign
    with pytest.raises(InvalidInput, match=message):
        solver.fit(scenario, seed=0, budget=budget)
    np.testing.assert_array_equal(solver.predict(Oven().pool), before[0])
    assert (solver.fit_report, solver.campaign) == before[1:]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"strategy": "random"}, "strategy must be one of labo, gate_off, .*, not 'random'"),
        ({"strategy": "mfkg"}, "strategy must be one of .*, not 'mfkg'"),
        ({"oracle": "gpt"}, "gpt"),
        ({"oracle_config": {"corr": 2}}, r"corr must be in \[-1, 1\], not 2"),
        ({"tau": 2}, r"tau must be in \[0, 1\], not 2"),
        ({"taux": 0.5}, "strategy 'labo' has no option 'taux'; did you mean 'tau'"),
        ({"q": 0}, "q must be at least 1, not 0"),
    ],
)
def test_a_bad_configuration_is_refused_before_anything_runs(config, message):
    with pytest.raises(InvalidInput, match=message):
        solvers.make("labo", **config)


def test_before_a_fit_and_on_another_scenario():
    with pytest.raises(NotFitted, match="labo has not been fitted; call fit"):
        solvers.make("labo").predict(np.zeros((1, 3)))
    with pytest.raises(NotFitted, match="labo has not been fitted; call fit"):
        solvers.make("labo").evaluate(Oven())
    solver = fitted()
    for other in (scenarios.make("functions/quadratic2", pool_size=10), Table()):
        with pytest.raises(InvalidInput, match="evaluate needs the scenario that labo was fitted on"):
            solver.evaluate(other)
    for bad in (np.full((1, 3), np.nan), [[2.0, 1, 0]], [[0.5, 0.5, 0.5]], [[0.5]], "x"):
        with pytest.raises(InvalidInput):
            solver.predict(bad)


def test_a_good_language_model_finds_the_oven():
    solver = fitted(budget="9 evaluations", oracle_config={"corr": 0.95, "noise": 0.1})
    figures = solver.evaluate(Oven())
    assert figures["final_regret"] < 0.05
    assert all(math.isfinite(value) for value in figures.values())


def test_the_tool_names_every_variable_with_its_unit_and_bounds():
    space = Space.from_bounds(temperature=(20, 120, "degC"), n=Integer("n", 1, 4), solvent=["DMF", "THF"])
    schema = point_schema(space)
    assert schema["properties"]["temperature"] == {
        "description": "in degC",
        "type": "number",
        "minimum": 20.0,
        "maximum": 120.0,
    }
    assert schema["properties"]["n"]["type"] == "integer"
    assert schema["properties"]["solvent"] == {"enum": ["DMF", "THF"]}
    assert schema["required"] == ["temperature", "n", "solvent"]
