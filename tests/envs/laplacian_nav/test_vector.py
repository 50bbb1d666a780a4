"""The native vector form does what single environments do, step for step."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import scisuite.envs  # noqa: F401
from scisuite.core import InvalidInput
from scisuite.envs.checks import _difference, _same
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.laplacian_nav.task import SLIPS
from scisuite.scenarios.nav import GraphWorld, UnreachableError

MAP = "#####\n#.#.#\n#.#.#\n#####"
RING = GraphWorld(np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1))
SMALL = {"size": 4, "loop": 0.2}


def make(num_envs: int = 3, mode: str = "vector_entry_point", **kwargs: Any) -> Any:
    extra = {"vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP}} if mode == "sync" else {}
    return gym.make_vec("sci/LaplacianNav-v0", num_envs=num_envs, vectorization_mode=mode, **extra, **kwargs)


def both(**kwargs: Any) -> tuple[Any, Any]:
    return make(**kwargs), make(mode="sync", **kwargs)


def run_alike(native: Any, single: Any, steps: int) -> int:
    """Step both with the same actions; how many episodes ended."""
    ended = 0
    for _ in range(steps):
        actions = single.action_space.sample()
        mine, theirs = native.step(actions), single.step(actions)
        assert _difference(theirs, mine) is None
        ended += int((mine[2] | mine[3]).sum())
    return ended


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"obs": "index", "reward": "shaped"},
        {"obs": "view"},
        {"obs": "rgb"},
        {"goal_conditioned": False, "reward": "shaped"},
        {"goal_conditioned": False, "obs": "view"},
        {"goal_conditioned": False, "obs": "rgb"},
    ],
    ids=lambda arguments: "-".join(map(str, arguments.values())) or "default",
)
@pytest.mark.parametrize("layout_seed", [2, None])
def test_same_as_single_ones(arguments: dict[str, Any], layout_seed: int | None) -> None:
    native, single = both(world="maze", world_config=SMALL, layout_seed=layout_seed, max_steps=40, **arguments)
    single.action_space.seed(1)
    assert _same(native.reset(seed=2), single.reset(seed=2))
    assert run_alike(native, single, 90) >= 6
    assert _same(native.reset(), single.reset())
    assert _same(native.reset(seed=[4, None, 2]), single.reset(seed=[4, None, 2]))
    options = {"layout_seed": 7, "start_cell": (1, 1)}
    assert _same(native.reset(options=dict(options)), single.reset(options=dict(options)))
    run_alike(native, single, 20)


@pytest.mark.parametrize(
    "arguments",
    [
        {"world": "slippery", "max_steps": SLIPS + 30},
        {"world": "maze", "world_config": {**SMALL, "slip": 0.3}, "layout_seed": None},
        {"world": "one_way", "reward": "shaped", "max_steps": 30},
        {"world": RING, "obs": "index"},
        {"world": "torus", "world_config": {"size": 4, "neighbours": 8}, "obs": "view"},
    ],
    ids=["slippery", "own_slippery", "one_way", "graph", "torus"],
)
def test_same_as_single_ones_in_other_worlds(arguments: dict[str, Any]) -> None:
    native, single = both(**arguments)
    single.action_space.seed(1)
    assert _same(native.reset(seed=2), single.reset(seed=2))
    assert run_alike(native, single, 300) >= 2


def test_every_layout_is_of_its_own() -> None:
    vector = make(num_envs=6, world="small_maze", layout_seed=None)
    vector.reset(seed=0)
    assert len({layout.world.free.tobytes() for layout in vector.layouts}) == 6
    kept = list(vector.layouts)
    vector.reset()
    assert vector.layouts == kept
    drawn = list(vector.layout_seeds)
    vector.reset(seed=1)
    assert vector.layout_seeds[:5] == drawn[1:], "copy i is seeded with seed + i"
    shared = make(num_envs=6, world="open", layout_seed=None)
    shared.reset(seed=0)
    assert len({id(layout) for layout in shared.layouts}) == 1, "an open room has one layout"


@pytest.mark.parametrize("layout_seed", [0, None])
def test_reset_mask(layout_seed: int | None) -> None:
    native, single = both(world="maze", world_config=SMALL, layout_seed=layout_seed, reward="shaped")
    single.action_space.seed(1)
    native.reset(seed=2)
    single.reset(seed=2)
    run_alike(native, single, 3)
    for options in ({}, {"layout_seed": 4}, {"goal_cell": (1, 1)}):
        mask = np.array([False, True, False])
        mine = native.reset(options={"reset_mask": mask, **options})
        theirs = single.reset(options={"reset_mask": mask, **options})
        assert _difference(theirs, mine) is None
        run_alike(native, single, 3)


def test_options_for_each_copy() -> None:
    """The same layouts, starts, goals and actions as in three single environments."""
    layouts, starts, goals = [3, 5, 3], [(1, 1), (3, 3), (5, 5)], np.array([(7, 7), (1, 1), (1, 7)])
    native = make(world="maze", world_config=SMALL)
    observations, infos = native.reset(options={"layout_seed": layouts, "start_cell": starts, "goal_cell": goals})
    singles = [gym.make("sci/LaplacianNav-v0", world="maze", world_config=SMALL) for _ in range(3)]
    for i, env in enumerate(singles):
        choice = {"layout_seed": layouts[i], "start_cell": starts[i], "goal_cell": goals[i]}
        observation, info = env.reset(options=choice)
        assert _same({key: rows[i] for key, rows in observations.items()}, observation)
        assert infos["shortest"][i] == info["shortest"]
    for actions in np.random.default_rng(0).integers(4, size=(25, 3)):
        observations, rewards, terminated, *_ = native.step(actions)
        for i, env in enumerate(singles):
            observation, reward, done, *_ = env.step(int(actions[i]))
            assert (rewards[i], terminated[i]) == (reward, done)
            assert _same({key: rows[i] for key, rows in observations.items()}, observation)
    assert native.layout_seeds == layouts


@pytest.mark.parametrize("kwargs", [{}, {"layout_seed": None, "reward": "shaped"}, {"world_config": {"slip": 0.2}}])
def test_copies_go_on_alike(kwargs: dict[str, Any]) -> None:
    native = make(world="small_maze", max_steps=9, **kwargs)
    native.reset(seed=0)
    native.action_space.seed(0)
    native.step(native.action_space.sample())
    others = [copy.deepcopy(native), pickle.loads(pickle.dumps(native))]
    for _ in range(15):
        actions = native.action_space.sample()
        mine = native.step(actions)
        assert all(_same(other.step(actions), mine) for other in others)


@pytest.mark.parametrize("obs", ["xy", "index", "view", "rgb"])
def test_what_is_returned_is_new(obs: str) -> None:
    native, untouched = make(obs=obs), make(obs=obs)
    actions = np.zeros(3, dtype=np.int64)
    native.reset(seed=0)
    untouched.reset(seed=0)
    returned = [native.step(actions) for _ in range(3)]
    for observations, rewards, terminated, truncated, infos in returned:
        for array in (*observations.values(), rewards, terminated, truncated, *infos.values()):
            array[...] = 1
    for _ in range(3):
        untouched.step(actions)
    assert _same(native.step(actions), untouched.step(actions))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.array([1, 2]), "actions must be 3 whole numbers, not int64 of shape (2,)"),
        (np.array([1.0, 2.0, 3.0]), "actions must be 3 whole numbers, not float64 of shape (3,)"),
        (np.array([True, False, True]), "actions must be 3 whole numbers, not bool of shape (3,)"),
        ([0, 4, 1], "actions must be from 0 to 3, not from 0 to 4"),
        ([0, -1, 1], "actions must be from 0 to 3, not from -1 to 1"),
    ],
)
def test_bad_actions_move_nobody(actions: Any, message: str) -> None:
    native = make()
    native.reset(seed=0)
    before = copy.deepcopy(native)
    with pytest.raises(InvalidInput) as caught:
        native.step(actions)
    assert str(caught.value) == message
    good = np.array([0, 1, 2], dtype=np.uint64)
    assert _same(native.step(good), before.step(good))


@pytest.mark.parametrize(
    ("reset", "error", "message"),
    [
        ({"seed": [1, 2]}, InvalidInput, "there are 2 seeds for 3 environments"),
        ({"seed": -1}, InvalidInput, "seed must be in [0, 2**63), not -1"),
        (
            {"options": {"reset_mask": np.zeros(3, dtype=bool)}},
            InvalidInput,
            "reset_mask must be 3 booleans, one of them true at least",
        ),
        ({"options": {"goal": 1}}, InvalidInput, "unknown option 'goal'; did you mean 'goal_cell'?"),
        ({"options": {"layout_seed": [1, 2]}}, InvalidInput, "layout_seed has 2 entries for 3 environments"),
        (
            {"options": {"layout_seed": [1, 2, -3]}},
            InvalidInput,
            "layout_seed: seed must be in [0, 2**63), not -3",
        ),
        ({"options": {"goal_cell": (0, 0)}}, InvalidInput, "goal_cell: cell (0, 0) is a wall"),
        (
            {"options": {"start_cell": (1, 1), "goal_cell": [(2, 1), (2, 1), (2, 3)]}},
            UnreachableError,
            "no path leads from cell (1, 1) to cell (2, 3)",
        ),
    ],
)
def test_refused_resets_change_nothing(reset: dict[str, Any], error: type, message: str) -> None:
    native = make(world=MAP)
    native.reset(seed=0)
    before = copy.deepcopy(native)
    with pytest.raises(error) as caught:
        native.reset(**{"seed": 9, **reset})
    assert str(caught.value) == message
    assert _same(native.reset(), before.reset())


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="^num_envs must be a whole number of at least 1, not 0$"):
        make(num_envs=0)
    with pytest.raises(InvalidInput, match="^render_mode must be None or 'rgb_array', not 'ansi'$"):
        make(render_mode="ansi")
    native = make(world=MAP, render_mode="rgb_array")
    with pytest.raises(EpisodeOver, match=r"call reset\(\)$"):
        native.step(np.zeros(3, dtype=np.int64))
    with pytest.raises(EpisodeOver, match=r"call reset\(\)$"):
        native.render()
    native.reset(options={"reset_mask": np.array([True, True, False])})
    with pytest.raises(EpisodeOver, match=r"call reset\(\)$"):
        native.step(np.zeros(3, dtype=np.int64))


def test_call() -> None:
    native = make(num_envs=2)
    places = np.zeros((2, 2), dtype=np.float32)
    rewards = native.call("compute_reward", places, places, [{}, {}])
    assert [r.tolist() for r in rewards] == [[0, 0], [0, 0]]
    assert native.call("render_mode") == (None, None)
