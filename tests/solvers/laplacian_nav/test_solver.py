"""Laplacian navigation as a solver: the contract suite, its three sources, the tool, and what it refuses."""

from __future__ import annotations

import copy
import importlib.util
import math

import numpy as np
import pytest

from scisuite import scenarios, solvers
from scisuite.core import InvalidInput, NotFitted
from scisuite.scenarios.nav import NavScenario
from scisuite.solvers import check_solver

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
SMALL_PIXELS = {"source": "pixels", "modes": 4, "train_steps": 15}


def fitted(scenario="nav/small_maze", budget="20000 steps", seed=0, **config):
    scenario = scenarios.make(scenario) if isinstance(scenario, str) else scenario
    return scenario, solvers.make("laplacian_nav", **config).fit(scenario, seed=seed, budget=budget)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"eps": "sr:0.99", "layout_seed": 3},
        {"modes": 8, "distance": "biharmonic"},
        {"source": "transitions"},
        pytest.param(SMALL_PIXELS, marks=needs_torch),
    ],
    ids=str,
)
def test_the_contract(config):
    check_solver("laplacian_nav", scenario=NavScenario("maze", size=4, loop=0.2), budget="600 steps", **config)


@pytest.mark.parametrize("source", ["graph", "transitions"])
def test_the_contract_in_cpu_seconds(source):
    check_solver("laplacian_nav", scenario=NavScenario("maze", size=4), budget="5 cpu_seconds", source=source)


@pytest.mark.parametrize("world", ["fourrooms", "maze", "torus", "obstacles", "one_way", "slippery"])
@pytest.mark.parametrize("eps", [0.1, 0])
def test_the_map_leads_everywhere(world, eps):
    scenario, solver = fitted(f"nav/{world}", "1 steps", eps=eps)
    figures = solver.evaluate(scenario)
    assert figures["success"] == 1.0
    assert figures["spl"] > (0.99 if eps else 0.85)
    assert figures["residual"] < 1e-9
    assert solver.fit_report.used == 1.0


def test_a_walk_leads_where_it_has_been():
    scenario = scenarios.make("nav/small_maze")
    success = [
        fitted(scenario, budget, source="transitions")[1].evaluate(scenario) for budget in ("500 steps", "20000 steps")
    ]
    assert success[0]["success"] < 0.8 < success[1]["success"]
    assert success[1]["residual"] < 1e-9


def test_a_walk_on_cpu_seconds_stops_when_all_is_known_and_can_be_made_again_on_steps():
    scenario, solver = fitted(budget="20 cpu_seconds", source="transitions")
    assert solver.evaluate(scenario)["success"] == 1.0
    assert solver.fit_report.cpu_seconds < 10
    steps = solver.fit_report.history[0]["transitions"]
    again = fitted(scenario, f"{steps} steps", source="transitions")[1]
    inputs = solver.example_inputs(scenario)
    np.testing.assert_array_equal(again.predict(inputs), solver.predict(inputs))


@needs_torch
def test_pictures_lead_further_than_nothing_and_are_saved(tmp_path):
    scenario, solver = fitted(NavScenario("fourrooms", size=9), "3000 steps", source="pixels", modes=8, train_steps=60)
    figures = solver.evaluate(scenario)
    assert figures["success"] > 0.5
    assert 0 < figures["residual"] < 0.5
    solver.save(tmp_path / "saved")
    loaded = solvers.load(tmp_path / "saved")
    inputs = solver.example_inputs(scenario)
    np.testing.assert_array_equal(loaded.predict(inputs), solver.predict(inputs))
    assert loaded.evaluate(scenario) == figures
    seconds = fitted(NavScenario("fourrooms", size=9), "0.5 cpu_seconds", source="pixels", modes=8)[1]
    assert seconds.fit_report.used <= 1.5


def test_one_state_and_goal_or_many():
    scenario, solver = fitted()
    world = scenario.layout(0)
    inputs = solver.example_inputs(scenario)
    actions = solver.predict(inputs)
    assert actions.shape == (16,)
    assert actions.dtype == np.int64
    one = solver.predict((int(inputs[3, 0]), int(inputs[3, 1])))
    assert isinstance(one, int)
    assert one == actions[3]
    before, after = (int(world.distances([inputs[3, 1]])[0, x]) for x in (inputs[3, 0], world.moves[inputs[3, 0], one]))
    assert after == before - 1
    assert solver.predict(np.empty((0, 2), dtype=int)).shape == (0,)


def test_splits_draw_other_goals_and_a_saved_solver_evaluates_alike(tmp_path):
    scenario, solver = fitted(source="transitions", budget="8000 steps")
    by_split = {split: solver.evaluate(scenario, split) for split in ("train", "validation", "test")}
    assert len({figures["steps"] for figures in by_split.values()}) == 3
    solver.save(tmp_path / "saved")
    assert solvers.load(tmp_path / "saved").evaluate(scenario, "train") == by_split["train"]


def test_worlds_of_every_kind_survive_saving(tmp_path):
    for world in ("one_way", "torus", "slippery"):
        scenario, solver = fitted(f"nav/{world}", "1 steps")
        solver.save(tmp_path / world)
        loaded = solvers.load(tmp_path / world)
        np.testing.assert_array_equal(loaded.world.moves, solver.world.moves)
        assert loaded.world.slip == solver.world.slip
        assert loaded.evaluate(scenario) == solver.evaluate(scenario)


def test_a_copy_of_a_copy_knows_as_much():
    _, solver = fitted(source="transitions")
    twin = copy.deepcopy(copy.deepcopy(solver))
    assert twin.predict((3, 50)) == solver.predict((3, 50))


def test_the_tool_says_where_a_move_leads():
    scenario, solver = fitted()
    tool = solver.as_tool()
    world = scenario.layout(0)
    assert tool.schema["properties"]["state"]["maximum"] == world.n - 1
    answer = tool.call({"state": 5, "goal": 100})
    assert answer["action"] == solver.predict((5, 100))
    assert answer["name"] == ("up", "right", "down", "left")[answer["action"]]
    assert answer["next_state"] == world.moves[5, answer["action"]]
    for state in (1.0, "1", True):
        with pytest.raises(InvalidInput, match="^state and goal must be whole numbers$"):
            tool.call({"state": state, "goal": 3})
    with pytest.raises(InvalidInput, match=f"^state {world.n} is not in this world of {world.n} states$"):
        tool.call({"state": world.n, "goal": 3})
    with pytest.raises(NotFitted):
        solvers.make("laplacian_nav").as_tool().call({"state": 0, "goal": 1})


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"source": "sonar"}, "^source must be one of graph, transitions, pixels, not 'sonar'$"),
        ({"distance": "taxi"}, "^distance must be one of inner, resistance, biharmonic, not 'taxi'$"),
        ({"method": "pca"}, "^method must be one of spectral_contrastive, allo, not 'pca'$"),
        ({"modes": 0}, "^modes must be a positive whole number, not 0$"),
        ({"modes": 4, "source": "transitions"}, '^modes are for source="graph" and "pixels"; "transitions" solves'),
        ({"gamma": 1}, r"^gamma must be in \(0, 1\), not 1$"),
        ({"eps": -0.1}, "^eps must be a finite number ≥ 0, or text like 'sr:0.99', not -0.1$"),
        ({"eps": math.nan}, "^eps must be a finite number ≥ 0, or text like 'sr:0.99', not nan$"),
        ({"layout_seed": -1}, "^seed must be in"),
    ],
)
def test_bad_configuration(config, message):
    with pytest.raises(InvalidInput, match=message):
        solvers.make("laplacian_nav", **config)


def test_bad_input():
    scenario, solver = fitted()
    report = solver.fit_report
    with pytest.raises(InvalidInput, match='^laplacian_nav counts transitions; give a budget like "10000 steps", not'):
        solver.fit(scenario, seed=0, budget="3 evaluations")
    with pytest.raises(InvalidInput, match="^laplacian_nav needs a nav scenario, not TabularScenario$"):
        solver.fit(scenarios.make("functions/quadratic2"), seed=0, budget="3 steps")
    with pytest.raises(InvalidInput, match=r"^inputs must be \(state, goal\) or of shape \(m, 2\), not \(3,\)$"):
        solver.predict([1, 2, 3])
    with pytest.raises(InvalidInput, match="^states and goals must be whole numbers, not float64$"):
        solver.predict([1.0, 2.0])
    with pytest.raises(InvalidInput, match="^state -1 is not in this world of "):
        solver.predict([[0, 1], [-1, 2]])
    with pytest.raises(InvalidInput, match="^evaluate needs the scenario that laplacian_nav was fitted on$"):
        solver.evaluate(NavScenario("maze", size=10, loop=0.4))
    with pytest.raises(InvalidInput, match="^split must be one of train, validation, test, not 'all'$"):
        solver.evaluate(scenario, "all")
    assert solver.fit_report is report
    with pytest.raises(InvalidInput, match="self-adjoint"):
        fitted("nav/one_way", "1 steps", modes=8)
    with pytest.raises(InvalidInput, match="^modes must be at most 16 in this world, not 40$"):
        fitted(NavScenario("maze", size=3), "1 steps", modes=40)


def test_more_modes_than_the_world_has_are_refused_by_their_name():
    world = scenarios.make("nav/small_maze")
    n = world.layout(0).n
    with pytest.raises(InvalidInput, match=f"^modes must be at most {n - 1} in this world, not 1000000$"):
        solvers.make("laplacian_nav", modes=10**6).fit(world, seed=0, budget="1 steps")
