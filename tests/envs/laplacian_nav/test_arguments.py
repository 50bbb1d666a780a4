"""What sci/LaplacianNav-v0 refuses, and how it says so; nothing changes then."""

from __future__ import annotations

import copy
import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.core import InvalidInput
from scisuite.envs.checks import _same
from scisuite.envs.errors import EpisodeOver
from scisuite.scenarios.nav import GraphWorld, UnreachableError

MAP = "#####\n#.#.#\n#.#.#\n#####"
RING = GraphWorld(np.ones((3, 3)) - np.eye(3))


def make(**kwargs: Any) -> Any:
    return gym.make("sci/LaplacianNav-v0", **kwargs).unwrapped


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"obs": "grid"}, "obs must be one of 'xy', 'index', 'view', 'rgb', not 'grid'"),
        ({"reward": "dense"}, "reward must be one of 'sparse', 'shaped', not 'dense'"),
        ({"goal_conditioned": 1}, "goal_conditioned must be True or False, not 1"),
        (
            {"obs": "index", "goal_conditioned": False},
            "obs 'index' is a number, which cannot hold the goal as well; use goal_conditioned=True, or obs='xy'",
        ),
        ({"world_config": 3}, "world_config must be a mapping or None, not int"),
        ({"layout_seed": -1}, "layout_seed must be in [0, 2**63), not -1"),
        ({"layout_seed": 1.0}, "layout_seed must be a non-negative integer, not 1.0 (float)"),
        (
            {"layout_seed": [1, 2]},
            "layout_seed is one number for all copies; give each copy of a vector environment its own with "
            'reset(options={"layout_seed": […]})',
        ),
        ({"max_steps": 0}, "max_steps must be a whole number of at least 1, not 0"),
        ({"max_steps": True}, "max_steps must be a whole number of at least 1, not True"),
        ({"gamma": 1.5}, "gamma must be a number in (0, 1], not 1.5"),
        ({"gamma": math.nan}, "gamma must be a number in (0, 1], not nan"),
        ({"eps": 0}, "eps must be a number above 0, not 0"),
        ({"eps": math.inf}, "eps must be a number above 0, not inf"),
        ({"view_radius": 2.5}, "view_radius must be a whole number of at least 1, not 2.5"),
        ({"render_mode": "ansi"}, "render_mode must be None or 'rgb_array', not 'ansi'"),
        ({"world": "mace"}, "unknown world 'mace'; did you mean 'nav/maze'?"),
        ({"world": 7}, "a world is a scenario's id, a map, a graph or a NavWorld, not int"),
        ({"world": np.zeros((3, 3), dtype=bool)}, "the map has no free cell"),
        ({"world": "..\n."}, "line 2 has 1 symbols, but line 1 has 2"),
        ({"world": RING, "obs": "rgb"}, "obs 'rgb' needs a map, which a graph has not; use 'xy' or 'index'"),
    ],
)
def test_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["start_cell"], "options must be a mapping, not list"),
        ({"goal": (1, 1)}, "unknown option 'goal'; did you mean 'goal_cell'?"),
        ({"layout_seed": "3"}, "layout_seed: seed must be a non-negative integer, not '3' (str)"),
        ({"goal_cell": (0, 0)}, "goal_cell: cell (0, 0) is a wall"),
        ({"start_cell": (1, 2), "goal_cell": (1, 1)}, "start_cell: cell (1, 2) is a wall"),
        ({"start_cell": (9, 1)}, "start_cell: cell (9, 1) is outside the map of 4 rows and 5 columns"),
        ({"start_cell": (-1, 1)}, "start_cell: cell (-1, 1) is outside the map of 4 rows and 5 columns"),
        ({"goal_cell": (10**30, 0)}, f"goal_cell: cell ({10**30}, 0) is outside the map of 4 rows and 5 columns"),
        ({"goal_cell": [1, -(2**63)]}, f"goal_cell: cell (1, {-(2**63)}) is outside the map of 4 rows and 5 columns"),
        ({"goal_cell": 3}, "goal_cell: a cell is a pair of whole numbers (row, column), not 3"),
        ({"goal_cell": (1.0, 1.0)}, "goal_cell: a cell is a pair of whole numbers (row, column), not (1.0, 1.0)"),
        ({"goal_cell": None}, "goal_cell: a cell is a pair of whole numbers (row, column), not None"),
        ({"start_cell": (1, 1), "goal_cell": (1, 1)}, "start and goal are both cell (1, 1)"),
        ({"start_cell": (1, 1), "goal_cell": (2, 3)}, "no path leads from cell (1, 1) to cell (2, 3)"),
    ],
)
@pytest.mark.parametrize("seed", [None, 5])
def test_options_are_refused_and_nothing_has_changed(options: Any, message: str, seed: int | None) -> None:
    env = make(world=MAP)
    env.reset(seed=0)
    before = copy.deepcopy(env)
    with pytest.raises(InvalidInput) as caught:
        env.reset(seed=seed, options=options)
    assert str(caught.value) == message
    assert isinstance(caught.value, UnreachableError) == message.startswith("no path")
    for action in (1, 3, 1):
        assert _same(env.step(action), before.step(action))
    assert _same(env.reset(), before.reset())


def test_a_refused_layout_seed_of_drawn_layouts_changes_nothing() -> None:
    env = make(world="small_maze", layout_seed=None)
    env.reset(seed=0)
    before = copy.deepcopy(env)
    with pytest.raises(InvalidInput, match=r"^goal_cell: cell \(0, 0\) is a wall$"):
        env.reset(seed=7, options={"layout_seed": 3, "goal_cell": (0, 0)})
    assert env.layout_seed == before.layout_seed
    assert _same(env.step(1), before.step(1))


def test_nodes_of_a_graph() -> None:
    env = make(world=RING)
    for cell, message in (
        (3, "goal_cell: state 3 is not in this world of 3 states"),
        ((0, 1), "goal_cell: a state of a graph is a whole number, not (0, 1)"),
    ):
        with pytest.raises(InvalidInput) as caught:
            env.reset(options={"goal_cell": cell})
        assert str(caught.value) == message


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_seeds(seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be"):
        make(world=MAP).reset(seed=seed)


def test_layout_seeds_of_a_vector_env() -> None:
    with pytest.raises(InvalidInput, match=r'^layout_seed is one number .* reset\(options=\{"layout_seed": \[…\]\}\)$'):
        gym.make_vec("sci/LaplacianNav-v0", num_envs=4, layout_seed=[1, 2, 3, 4])
    envs = gym.make_vec("sci/LaplacianNav-v0", num_envs=4, world="maze")
    envs.reset(seed=0, options={"layout_seed": [1, 2, 3, 4]})
    assert list(envs.layout_seeds) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("achieved", "desired", "message"),
    [
        (np.ones((3, 2)), np.ones((2, 2)), "there are 3 achieved goals for 2 desired ones"),
        ("a", "b", "achieved_goal must be numbers (row, column), one pair or (k, 2), not 'a'"),
        ((1, 1), [[1, 2], [3]], "desired_goal must be numbers (row, column), one pair or (k, 2), not [[1, 2], [3]]"),
        ((1, 1), (1, 2, 3), "desired_goal must be numbers (row, column), one pair or (k, 2), not (1, 2, 3)"),
        (
            np.ones((3, 3)),
            (1, 1),
            "achieved_goal must be numbers (row, column), one pair or (k, 2), not of shape (3, 3)",
        ),
        (None, (1, 1), "achieved_goal must be numbers (row, column), one pair or (k, 2), not None"),
    ],
)
def test_places_of_compute_reward(achieved: Any, desired: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make(world=MAP).compute_reward(achieved, desired, {})
    assert str(caught.value) == message


@pytest.mark.parametrize("action", [4, -1, 1.0, "1", None, True, np.array([1]), math.nan])
def test_actions(action: Any) -> None:
    env = make(world=MAP)
    env.reset(seed=0)
    with pytest.raises(InvalidInput) as caught:
        env.step(action)
    assert str(caught.value) == f"an action is a whole number from 0 to 3, not {action!r}"
    assert env.elapsed == 0


def test_whole_numbers_of_other_kinds_are_actions() -> None:
    env = make(world=MAP)
    for action in (np.int64(2), np.uint8(0), np.array(2)):
        env.reset(seed=0)
        plain = env.world.moves[env.state, int(action)]
        env.step(action)
        assert (env.elapsed, env.state) == (1, plain)


def test_order() -> None:
    env = make(world=MAP, max_steps=1, render_mode="rgb_array")
    with pytest.raises(EpisodeOver, match=r"^the episode is over or has not begun; call reset\(\)$"):
        env.step(0)
    with pytest.raises(EpisodeOver, match=r"^there is nothing to draw yet; call reset\(\)$"):
        env.render()
    env.reset()
    env.step(0)
    with pytest.raises(EpisodeOver):
        env.step(0)
