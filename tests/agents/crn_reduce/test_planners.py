"""Rules and searches: the contract, what they promise, and what they refuse."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scisuite.envs  # noqa: F401
from scisuite import agents
from scisuite.agents import check_agent, run_episode
from scisuite.agents.crn_reduce.rules import fill
from scisuite.agents.crn_reduce.search import _state, exhaustive_path
from scisuite.core import InvalidInput
from scisuite.envs.crn_reduce.board import Board
from scisuite.envs.crn_reduce.task import Task
from scisuite.scenarios.factor_graphs import FactorGraph, FactorGraphScenario, Problem

ENV = "sci/CRNReduce-v0"
SMALL: dict[str, Any] = {"scenario": "factor_graphs/planning_small", "max_sites": 8, "verify": "never"}
NAMES = ("random", "greedy", "min_fill", "beam", "exhaustive")


def returns(name: str, env: gym.Env[Any, Any], seeds: range, **config: Any) -> Any:
    agent = agents.make(f"crn_reduce/{name}", **config)
    agent.bind(env)
    return np.array([run_episode(env, agent, seed=s, options={"instance_seed": s}).total_reward for s in seeds])


@pytest.mark.parametrize("name", NAMES)
def test_contract(name: str) -> None:
    check_agent(f"crn_reduce/{name}", ENV, **SMALL)


def test_greedy_is_not_optimal_on_planning_problems() -> None:
    env = gym.make(ENV, **SMALL)
    found = {name: returns(name, env, range(50)) for name in NAMES}
    assert (found["exhaustive"] - found["greedy"] >= 0.02).mean() >= 1 / 3
    for name in NAMES:
        assert (found["exhaustive"] >= found[name] - 1e-12).all(), name
    assert found["random"].mean() + 0.1 < found["greedy"].mean() < found["beam"].mean()


def smallest(board: Board, options: Any) -> int:
    """Size of the smallest network: every order of every move, nothing left out."""
    return min([board.size, *(smallest(board.after(move), options) for move in options(board).values())])


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), zeros=st.booleans())
def test_exhaustive_finds_what_trying_everything_finds(seed: int, zeros: bool) -> None:
    rng = np.random.default_rng(seed)
    card = {f"v{i}": int(rng.integers(2, 5)) for i in range(5)}
    factors = {}
    for i, pair in enumerate(((0, 1), (1, 2), (2, 3), (3, 0), (int(rng.integers(4)), 4))):
        scope = [f"v{j}" for j in pair]
        table = rng.uniform(0.4, 1.0, [card[v] for v in scope])
        table[0, 0] *= not zeros
        factors[f"f{i}"] = (scope, table)
    graph = FactorGraph(card, factors)
    env = gym.make(ENV, scenario=graph, max_sites=8, max_table=int(rng.integers(6, 30)), verify="never")
    env.reset(seed=0)
    inner: Any = env.unwrapped
    first = inner.board.size
    best = (first - smallest(inner.board, inner.task.actions)) / first
    assert returns("exhaustive", env, range(1))[0] == pytest.approx(best, abs=1e-12)


def test_exhaustive_does_not_lower_the_molecularity_that_a_series_move_needs() -> None:
    """Absorbing the unaries first takes the hub below what a merge reaches, and the cap then forbids the merge."""
    card = {"v": 8, "a": 2, "b": 2, "c": 2, "d": 2}
    rng = np.random.default_rng(0)
    scopes = {"A": "vab", "B": "vcd", "u": "a", "w": "a", "x": "a"}
    graph = FactorGraph(card, {f: (list(s), rng.uniform(0.4, 1.0, [card[v] for v in s])) for f, s in scopes.items()})
    scenario = Problem(graph, ("a", "b", "c", "d"), {}, graph)
    env = gym.make(ENV, scenario=_Fixed(scenario), max_sites=8, max_molecularity=3, verify="never")
    env.reset(seed=0)
    inner: Any = env.unwrapped
    first = inner.board.size
    best = (first - smallest(inner.board, inner.task.actions)) / first
    assert first == 419
    assert round(first * (1 - best)) == 140
    assert returns("exhaustive", env, range(1))[0] == pytest.approx(best, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), cap=st.integers(2, 4), zeros=st.booleans())
def test_exhaustive_finds_what_trying_everything_finds_under_a_cap(seed: int, cap: int, zeros: bool) -> None:
    """A hub of two tables of three, and unary factors that keep the molecularity above the cap."""
    rng = np.random.default_rng(seed)
    card = {"v": int(rng.integers(4, 9)), **{v: int(rng.integers(2, 4)) for v in "abcd"}}
    factors = {}
    for i, scope in enumerate(["vab", "vcd", "a", "a", "abcd"[int(rng.integers(4))]]):
        table = rng.uniform(0.4, 1.0, [card[v] for v in scope])
        table.flat[0] *= not zeros
        factors[f"f{i}"] = (list(scope), table)
    graph = FactorGraph(card, factors)
    task = Task(graph, None, 24, cap, None, "never")
    board = Board.of(graph, "abcd"[int(rng.integers(2)) :], cap)
    best = smallest(board, task.actions)
    for action in exhaustive_path(board, task.actions):
        board = board.after(task.actions(board)[action])
    assert board.size == best


def test_boards_that_differ_in_the_places_of_zeros_alone_are_told_apart() -> None:
    """What they become may differ in size."""
    table, card = np.array([[1.0, 0.0], [1.0, 1.0]]), {"a": 2, "b": 2}
    first, second = (Board.of(FactorGraph(card, {"f": (["a", "b"], t)})) for t in (table, table.T))
    assert (first.scopes, first.nonzero) == (second.scopes, second.nonzero)
    assert _state(first) != _state(second)
    assert _state(first) == _state(Board.of(FactorGraph(card, {"f": (["a", "b"], 2 * table)})))


class _Fixed(FactorGraphScenario):
    """One problem, whatever the generator."""

    def __init__(self, problem: Problem) -> None:
        super().__init__("chain")
        self.id, self.problem = "factor_graphs/fixed", problem

    def generate(self, rng: np.random.Generator) -> Problem:
        return self.problem


def test_exhaustive_refuses_what_is_too_large() -> None:
    env = gym.make(ENV, scenario="factor_graphs/planning", max_sites=24, verify="never")
    agent = agents.make("crn_reduce/exhaustive")
    agent.bind(env)
    message = r"the agent 'exhaustive' tries every order, with at most 8 variables and factors; this graph has \d+ v"
    with pytest.raises(InvalidInput, match=message):
        run_episode(env, agent, seed=0)


def test_a_wide_beam_is_no_worse_than_a_narrow_one_on_average() -> None:
    env = gym.make(ENV, **SMALL)
    assert returns("beam", env, range(10), width=8).mean() >= returns("beam", env, range(10), width=1).mean()
    for width in (0, 1.5, True):
        with pytest.raises(InvalidInput, match="width must be a whole number of at least 1"):
            agents.make("crn_reduce/beam", width=width)


def test_trees_are_pruned_to_the_variable_of_fewest_values_but_not_by_greed() -> None:
    card = {"a": 3, "b": 4, "c": 2, "d": 3}
    tables = {f"f{v}": (["b", v], np.full((4, card[v]), 0.5)) for v in "acd"}
    env = gym.make(ENV, scenario=FactorGraph(card, tables), max_sites=8)
    left = {"greedy": "b", "min_fill": "c", "beam": "c", "exhaustive": "c"}
    for name, variable in left.items():
        returns(name, env, range(1))
        board = env.unwrapped.board  # type: ignore[attr-defined]
        assert [board.variables[v] for v in board.holders] == [variable], name


def test_fill_counts_pairs_that_no_factor_holds() -> None:
    table = np.ones((2, 2))
    graph = FactorGraph(
        dict.fromkeys("habc", 2),
        {"f": (["h", "a"], table), "g": (["h", "b"], table), "i": (["h", "c"], table), "j": (["a", "b"], table)},
    )
    assert [fill(Board.of(graph), v) for v in range(4)] == [2, 0, 0, 0]


def test_agents_are_for_this_environment() -> None:
    for name in NAMES:
        agent = agents.make(f"crn_reduce/{name}")
        with pytest.raises(InvalidInput, match=f"the agent '{name}' acts in sci/CRNReduce-v0, not in"):
            agent.bind(gym.make("sci/LaplacianNav-v0"))
        with pytest.raises(InvalidInput, match=r"not bound to an environment; call bind\(env\) first"):
            agent.reset(seed=0)
        with pytest.raises(InvalidInput, match=r"has not begun an episode; call reset\(seed=…\)"):
            agent.act(None, {})


def test_a_search_plans_again_where_the_board_is_another() -> None:
    env = gym.make(ENV, **SMALL)
    agent: Any = agents.make("crn_reduce/exhaustive")
    agent.bind(env)
    env.reset(seed=0, options={"instance_seed": 0})
    agent.reset(seed=0)
    mine = int(agent.act(None, {}))
    other = next(action for action in env.unwrapped.actions if action != mine)  # type: ignore[attr-defined]
    env.step(other)
    assert env.unwrapped.action_masks()[int(agent.act(None, {}))]  # type: ignore[attr-defined]
