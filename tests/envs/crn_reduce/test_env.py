"""sci/CRNReduce-v0: observations, rewards, verification, and what is refused."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import scisuite.envs  # noqa: F401
from scisuite.core import InvalidInput
from scisuite.envs.errors import EpisodeOver
from scisuite.scenarios.factor_graphs import FactorGraph, ising
from scisuite.solvers.crn_reduce import belief_propagation
from scisuite.solvers.crn_reduce.reduction import moves as solver_moves

CHAIN = FactorGraph(
    {"a": 2, "b": 3, "c": 2},
    {"f": (["a", "b"], [[0.9, 0.5, 0.4], [0.4, 0.8, 0.7]]), "g": (["b", "c"], [[1, 0.4], [0.5, 0.9], [0.7, 0.6]])},
)
LEAF_A, SERIES_B, CLUSTER_FG, STOP = 0, 8 + 1, 12, 16


def make(scenario: Any = CHAIN, max_sites: int = 4, **arguments: Any) -> Any:
    env = gym.make("sci/CRNReduce-v0", scenario=scenario, max_sites=max_sites, **arguments)
    env.reset(seed=0)
    return env


def played(env: Any, seed: int, **options: Any) -> tuple[float, dict[str, Any]]:
    """Return and last info of an episode of random legal moves, to the end."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed, options=options or None)
    total, over = 0.0, False
    while not over:
        mask = env.unwrapped.action_masks()
        mask[-1] = mask.sum() == 1
        _, reward, over, _, info = env.step(rng.choice(np.flatnonzero(mask)))
        total += float(reward)
    return total, info


def test_observation() -> None:
    env = make(max_molecularity=3)
    observation, info = env.reset(seed=0)
    assert observation["incidence"].tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    assert np.exp(observation["log_table_sizes"]).round(4).tolist() == [6, 6, 1, 1]
    assert observation["cardinalities"].tolist() == [2, 3, 2, 0]
    assert observation["degrees"].tolist() == [1, 2, 1, 0]
    assert observation["keep"].tolist() == [0, 0, 0, 0]
    assert observation["globals"].tolist() == [3, 3, info["species"], info["reactions"]]
    assert np.flatnonzero(env.unwrapped.action_masks()).tolist() == [LEAF_A, 2, SERIES_B, CLUSTER_FG, STOP]
    assert np.array_equal(info["action_mask"].astype(bool), env.unwrapped.action_masks())
    observation, _, _, _, info = env.step(SERIES_B)
    assert observation["incidence"].tolist() == [[1, 0, 1, 0], *[[0] * 4] * 3]
    assert observation["cardinalities"].tolist() == [2, 0, 2, 0]
    assert info["moves"] == 1


def test_rewards_add_up_to_the_share_that_is_gone() -> None:
    env = make("factor_graphs/planning", max_sites=24)
    for seed in range(3):
        total, info = played(env, seed)
        first = env.unwrapped.instance.board.size
        assert total == pytest.approx((first - info["size"]) / first, abs=1e-12)
        assert (info["verified"], info["converged_starts"]) == (True, 4)
        assert info["belief_error"] < 1e-8


def test_zeros_and_several_fixed_points_are_verified_too(draw: Any) -> None:
    for seed in range(4):
        graph, _ = draw(seed, zeros=True)
        assert played(make(graph, max_sites=9), seed)[1]["verification"] == "surviving beliefs agree within 1e-08"
    bistable = make(ising(np.random.default_rng(0), rows=3, cols=3, coupling=1.2), max_sites=24)
    assert played(bistable, 1)[1]["verified"]


def test_a_wrong_move_takes_the_reward_back(monkeypatch: pytest.MonkeyPatch) -> None:
    env = make("factor_graphs/planning_small", max_sites=8)
    right, info = played(env, 1)
    assert right > 0
    assert info["verified"]
    monkeypatch.setattr(solver_moves, "summed_out", lambda table, axis: table.max(axis=axis))
    total, info = played(env, 1)
    assert total == pytest.approx(0.0, abs=1e-12)
    assert not info["verified"]
    assert info["verification"].startswith("a surviving belief moved by ")
    assert info["belief_error"] > 1e-8


def test_moves_that_cannot_be_carried_out_take_the_reward_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(draft: Any, variable: str) -> Any:
        raise InvalidInput("no")

    monkeypatch.setattr(
        "scisuite.solvers.crn_reduce.reduction.reduction.require_move", lambda kind: refuse, raising=True
    )
    env = make()
    first = env.step(LEAF_A)[1]
    _, reward, terminated, _, info = env.step(STOP)
    assert (reward, terminated, info["verified"]) == (-first, True, False)
    assert info["verification"] == "the moves cannot be carried out: no"


def test_without_convergence_nothing_is_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    env = make("factor_graphs/planning_small", max_sites=8)
    monkeypatch.setattr(belief_propagation, "run", partial(belief_propagation.run, max_iter=1))
    total, info = played(env, 1)
    assert total > 0
    assert not info["verified"]
    assert info["verification"] == "no run of belief propagation converged on the full graph"
    assert "belief_error" not in info


def test_contradictory_zeros_are_said_and_not_verified() -> None:
    graph = FactorGraph(
        {"a": 2, "b": 2}, {"f": (["a"], [1, 0]), "g": (["a"], [0, 1]), "h": (["a", "b"], np.ones((2, 2)))}
    )
    env = make(graph)
    _, reward, _, _, info = env.step(STOP)
    assert (reward, info["verified"]) == (0.0, False)
    assert info["verification"].startswith("belief propagation fails on the full graph")


def test_verify_never_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(belief_propagation, "run", None)
    total, info = played(make("factor_graphs/planning_small", max_sites=8, verify="never"), 1)
    assert total > 0
    assert (info["verified"], info["verification"]) == (False, "not asked for: verify='never'")


def test_an_illegal_move_ends_the_episode() -> None:
    env = make()
    env.step(LEAF_A)
    _, reward, terminated, truncated, info = env.step(LEAF_A)
    assert (reward, terminated, truncated, info["verified"]) == (-1.0, True, False, False)
    assert info["moves"] == 1
    with pytest.raises(EpisodeOver):
        env.unwrapped.step(STOP)


def test_kept_variables_stay() -> None:
    class Problem:
        graph, keep = CHAIN, ("b",)

    env = make(Problem())
    assert np.flatnonzero(env.unwrapped.action_masks()).tolist() == [LEAF_A, 2, CLUSTER_FG, STOP]
    assert env.reset(seed=0)[0]["keep"].tolist() == [0, 1, 0, 0]


def test_pairs_beyond_the_sites_have_no_action_until_others_are_gone() -> None:
    hub = FactorGraph(
        {"h": 2, **{f"v{i}": 2 for i in range(4)}}, {f"f{i}": (["h", f"v{i}"], np.full((2, 2), 0.5)) for i in range(4)}
    )
    env = make(hub, max_sites=5)
    assert len(env.unwrapped.board.moves[3]) == 6
    assert np.flatnonzero(env.unwrapped.action_masks()[15:20]).tolist() == [0, 1, 2, 3, 4]
    env.step(15)
    assert len(env.unwrapped.board.moves[3]) == 3


def test_instance_seed_and_scenario() -> None:
    env = make("factor_graphs/planning_small", max_sites=24)
    one, info = env.reset(seed=3, options={"instance_seed": 5})
    assert info["instance_seed"] == 5
    two, _ = env.reset(options={"instance_seed": 5})
    assert data_equivalence(one, two)
    assert env.reset()[1]["instance_seed"] != env.reset()[1]["instance_seed"]
    _, info = env.reset(seed=3)
    assert env.reset(seed=3)[1]["instance_seed"] == info["instance_seed"] != 5
    env.reset(options={"scenario": "factor_graphs/planning"})
    assert len(env.reset()[0]["cardinalities"].nonzero()[0]) >= 10


def test_instance_caps_and_those_of_the_environment() -> None:
    assert make("factor_graphs/planning_small", max_sites=8).unwrapped.board.max_table == 64
    board = make("factor_graphs/planning_small", max_sites=8, max_table=16, max_molecularity=3).unwrapped.board
    assert (board.max_table, board.max_molecularity) == (16, 3)
    assert make().unwrapped.board.max_table is None


def test_one_valued_variables_are_left_out() -> None:
    graph = FactorGraph({"a": 1, "b": 2}, {"f": (["a", "b"], [[0.5, 0.5]])})
    assert make(graph).unwrapped.board.variables == ("b",)


def test_reduction_lifts_beliefs() -> None:
    env = make()
    env.step(SERIES_B)
    reduction = env.unwrapped.reduction()
    lifted = reduction.lift(belief_propagation.bp(reduction.graph))
    exact = belief_propagation.bp(CHAIN).var_beliefs
    assert np.allclose(lifted.var_beliefs["b"], exact["b"], atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_sites": 0}, "max_sites must be a whole number of at least 1, not 0"),
        ({"max_molecularity": 2.5}, "max_molecularity must be a whole number of at least 1, not 2.5"),
        ({"max_table": True}, "max_table must be a whole number of at least 1, not True"),
        ({"verify": "always"}, "verify must be one of 'stop', 'never', not 'always'"),
        ({"render_mode": "ansi"}, "render_mode must be None or 'rgb_array', not 'ansi'"),
        ({"scenario": "factor_graphs/planing"}, "did you mean 'factor_graphs/planning"),
        ({"scenario": "functions/branin"}, "scenario 'functions/branin' is no world of factor graphs"),
        ({"scenario": 3}, "a scenario is an id, a WorldScenario or a FactorGraph, not int"),
        ({"scenario": CHAIN, "scenario_config": {"n": 3}}, "scenario_config is for a scenario that is named by its id"),
        ({"scenario_config": 3}, "scenario_config must be a mapping or None, not int"),
    ],
)
def test_arguments_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        gym.make("sci/CRNReduce-v0", disable_env_checker=True, **arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 3}, "unknown option 'seed'"),
        ({"instance_seed": -1}, r"instance_seed must be in \[0, 2\*\*63\), not -1"),
        (
            {"scenario": "factor_graphs/planning"},
            r"scenario 'factor_graphs/planning' has \d+ variables, more than max_s",
        ),
        ({"scenario": "nav/open"}, "scenario 'nav/open' gives no factor graphs"),
        ({"scenario": FactorGraph({"a": 1}, {})}, "FactorGraph has no variable of more than one value"),
        (3, "options must be a mapping, not int"),
    ],
)
def test_refused_options_change_nothing(options: Any, message: str) -> None:
    env = make("factor_graphs/planning_small", max_sites=8).unwrapped
    other = make("factor_graphs/planning_small", max_sites=8).unwrapped
    with pytest.raises(InvalidInput, match=message):
        env.reset(seed=4, options=options)
    assert env.board.scopes == other.board.scopes
    assert env.reset()[1]["instance_seed"] == other.reset()[1]["instance_seed"]


def test_speed() -> None:
    env = make("factor_graphs/planning", max_sites=24, verify="never", scenario_config={"variables": (12, 12)})
    rng, over = np.random.default_rng(0), False
    begun = time.process_time()
    for _ in range(600):
        if over:
            env.reset()
        over = env.step(rng.choice(np.flatnonzero(env.unwrapped.action_masks())))[2]
    # 3,500 to 4,000 steps a second where nothing else runs.
    assert 600 / (time.process_time() - begun) > 800
