"""The shaped reward: its potential, and that it leaves the best actions as they are."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.envs.laplacian_nav import shaping
from scisuite.envs.laplacian_nav.shaping import Potentials
from scisuite.scenarios.nav import GridWorld, NavWorld, from_ascii, make_world
from scisuite.solvers.laplacian_nav import DiscountedWalk

GAMMA = 0.97
WORLDS = ["fourrooms", "small_maze", "torus", "one_way", "obstacles"]


def best_actions(world: NavWorld, goal: int, rewards: Any) -> Any:
    """bool (n, A): which actions are optimal, by value iteration; ``rewards`` (n, A), the goal terminal."""
    values, change = np.zeros(world.n), 1.0
    while change > 1e-12:
        q = rewards + GAMMA * values[world.moves]
        new = q.max(axis=1)
        new[goal] = 0.0
        change, values = float(np.abs(new - values).max()), new
    return q > q.max(axis=1, keepdims=True) - 1e-7


@pytest.mark.parametrize("id", WORLDS)
def test_the_best_actions_stay_the_same(id: str) -> None:
    world = make_world(id, layout_seed=2)
    env = gym.make("sci/LaplacianNav-v0", world=world, reward="shaped", gamma=GAMMA, max_steps=1).unwrapped
    for goal in (world.n // 3, world.n - 1):
        potential = Potentials(world, 0.1).column(goal)
        sparse = np.where(world.moves == goal, 0.0, -1.0)
        shaped = sparse + GAMMA * potential[world.moves] - potential[:, None]
        others = np.arange(world.n) != goal
        assert (best_actions(world, goal, sparse) == best_actions(world, goal, shaped))[others].all()
        for start in np.random.default_rng(goal).permutation(np.flatnonzero(others))[:5].tolist():
            for action in range(4):
                env.reset(options={"start_cell": world.cell(start), "goal_cell": world.cell(goal)})
                assert env.step(action)[1] == pytest.approx(shaped[start, action], abs=1e-12)


@pytest.mark.parametrize("id", ["fourrooms", "one_way"])
def test_shaping_adds_up_to_the_potential_of_the_start(id: str) -> None:
    sparse, shaped = (gym.make("sci/LaplacianNav-v0", world=id, reward=reward) for reward in ("sparse", "shaped"))
    for env in (sparse, shaped):
        env.reset(seed=3, options={"start_cell": (1, 1), "goal_cell": (3, 2)})
    potential = shaped.unwrapped.layout.potentials.column(shaped.unwrapped.goal)
    returns = np.zeros(2)
    for t, action in enumerate((0, 2, 2, 3, 1)):
        rewards = np.array([env.step(action)[1] for env in (sparse, shaped)])
        returns += 0.99**t * rewards
    assert rewards[0] == 0.0, "the last step arrives"
    assert returns[1] - returns[0] == pytest.approx(-potential[shaped.unwrapped.start], abs=1e-12)


@pytest.mark.parametrize("id", WORLDS)
def test_the_potential_peaks_at_the_goal_alone(id: str) -> None:
    world = make_world(id, layout_seed=1)
    goal = world.n // 2
    potential = Potentials(world, 0.1).column(goal)
    assert potential[goal] == 0.0
    assert (potential[world.moves].max(axis=1) > potential)[np.arange(world.n) != goal].all()


def test_the_walk_and_the_laplacian_give_one_potential() -> None:
    world = make_world("loopy_maze", size=6)
    walk = DiscountedWalk(world.walk, 4 / (4 + 0.1)).log_potential([7])[:, 0]
    assert np.allclose(Potentials(world, 0.1).column(7), walk, atol=1e-9)


def test_where_the_goal_cannot_be_reached_the_potential_is_the_least() -> None:
    apart = from_ascii("...#..\n...#..")
    potential = Potentials(apart, 0.1).column(0)
    assert np.isfinite(potential).all()
    near = apart.distances([0])[0] >= 0
    assert set(potential[~near]) == {potential[near].min()}


def test_a_long_corridor_does_not_underflow() -> None:
    corridor = GridWorld(np.ones((1, 3000), dtype=bool))
    potential = Potentials(corridor, 0.1).column(0)
    assert potential[-1] == pytest.approx(-np.arccosh(1.05) * 2999, rel=1e-3)
    assert (np.diff(potential) < 0).all()


def test_columns_are_kept_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_world("maze", size=3)
    monkeypatch.setattr(shaping, "KEPT_BYTES", 3 * 8 * world.n)
    potentials = Potentials(world, 0.1)
    first = potentials.column(0)
    assert potentials.column(0) is first
    for goal in range(1, 5):
        potentials.column(goal)
    assert list(potentials._columns) == [2, 3, 4]
    assert np.array_equal(potentials.column(0), first)
    for other in (copy.deepcopy(potentials), pickle.loads(pickle.dumps(potentials))):
        assert np.array_equal(other.column(9), potentials.column(9))
