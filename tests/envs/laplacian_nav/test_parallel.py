"""Several navigators: PettingZoo's own tests, who is where, what is seen, what ends, and what is refused."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

import scisuite.envs  # noqa: F401
from scisuite.core import InvalidInput, MissingDependency
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.laplacian_nav import laplacian_nav_v0
from scisuite.envs.laplacian_nav.parallel import LaplacianNavParallelEnv
from scisuite.scenarios.nav import GraphWorld, GridWorld, UnreachableError

UP, RIGHT, DOWN, LEFT, WAIT = range(5)
CORRIDOR = np.ones((1, 6), dtype=bool)
CROSSING = "#.#\n...\n#.#"


def made(world: Any = CORRIDOR, n_agents: int = 2, **config: Any) -> LaplacianNavParallelEnv:
    return laplacian_nav_v0.parallel_env(world=world, n_agents=n_agents, **config)


def placed(env: LaplacianNavParallelEnv, *cells: tuple[Any, Any]) -> tuple[Any, Any]:
    """Reset with a (start, goal) for each navigator."""
    names = env.possible_agents
    starts = {name: start for name, (start, _) in zip(names, cells, strict=True)}
    goals = {name: goal for name, (_, goal) in zip(names, cells, strict=True)}
    return env.reset(seed=0, options={"start_cells": starts, "goal_cells": goals})


def moved(env: LaplacianNavParallelEnv, *actions: int) -> Any:
    return env.step(dict(zip(env.agents, actions, strict=True)))


def wander(env: LaplacianNavParallelEnv, rng: np.random.Generator) -> Any:
    return env.step({agent: int(rng.integers(env.action_space(agent).n)) for agent in env.agents})


# PettingZoo's contract -------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n_agents", [1, 5])
def test_parallel_api(n_agents: int, capsys: pytest.CaptureFixture[str]) -> None:
    parallel_api_test(laplacian_nav_v0.parallel_env(n_agents=n_agents, max_steps=60), num_cycles=100)
    assert "Passed" in capsys.readouterr().out


def test_parallel_seeds() -> None:
    parallel_seed_test(lambda: laplacian_nav_v0.parallel_env(n_agents=5, layout_seed=None), num_cycles=50)


# A Dict observation is no mistake, but these tests say so each time.
@pytest.mark.filterwarnings("ignore:Observation:UserWarning")
def test_one_after_the_other(capsys: pytest.CaptureFixture[str]) -> None:
    api_test(laplacian_nav_v0.env(n_agents=3, max_steps=40), num_cycles=60)
    seed_test(lambda: laplacian_nav_v0.env(n_agents=3), num_cycles=20)


@pytest.mark.filterwarnings("error")
def test_states() -> None:
    env = laplacian_nav_v0.env(n_agents=3, max_steps=30)
    check_state_space(env)
    check_state(env, 40)


def test_names() -> None:
    env = laplacian_nav_v0.parallel_env(n_agents=3)
    assert str(env) == "laplacian_nav_v0"
    assert env.possible_agents == ["navigator_0", "navigator_1", "navigator_2"]
    assert str(laplacian_nav_v0.env(n_agents=3)) == "laplacian_nav_v0"


# who is where ----------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**20),
    n_agents=st.integers(1, 9),
    world=st.sampled_from(["loops", "torus", "eight", "slippery", "corridor"]),
)
@settings(max_examples=25)
def test_never_two_in_one_cell_and_never_a_swap(seed: int, n_agents: int, world: str) -> None:
    free = np.ones((4, 4), dtype=bool)
    free[1, 1] = free[2, 3] = False
    worlds = {
        "loops": GridWorld(free),
        "torus": GridWorld(free, periodic=True),
        "eight": GridWorld(free, neighbours=8),
        "slippery": GridWorld(free, slip=0.4),
        "corridor": GridWorld(np.ones((1, 9), dtype=bool)),
    }
    env = made(worlds[world], n_agents, max_steps=25)
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)
    arrived: set[str] = set()
    while env.agents:
        before = env.positions
        acted = env.agents
        _, rewards, terminations, truncations, infos = wander(env, rng)
        after = {agent: env.world.cell(env._states[env._number[agent]]) for agent in acted}
        still = [after[agent] for agent in acted if not terminations[agent]]
        assert len(set(after.values())) == len(acted), "two in one cell"
        assert len(set(still)) == len(still)
        for one in acted:
            for other in acted:
                swapped = one != other and after[one] == before[other] and after[other] == before[one]
                assert not swapped, "two walked through each other"
            stayed = after[one] == before[one]
            assert stayed or after[one] in neighbours(env.world, before[one])
            assert not (infos[one]["cancelled"] and not stayed)
            assert terminations[one] == (after[one] == env.goals[one]) == infos[one]["is_success"]
            assert rewards[one] == (0.0 if terminations[one] else -1.0)
            assert not (terminations[one] and truncations[one])
        arrived |= {agent for agent in acted if terminations[agent]}
        assert arrived.isdisjoint(env.agents)
        assert set(acted) == set(env.agents) | arrived.intersection(acted) | {a for a in acted if truncations[a]}
    assert env.steps <= 25


def neighbours(world: GridWorld, cell: tuple[int, int]) -> list[tuple[int, int]]:
    return [world.cell(state) for state in world.moves[world.state(cell)]]


def test_two_that_enter_one_cell_both_stay() -> None:
    env = made(CROSSING)
    placed(env, ((0, 1), (2, 1)), ((1, 0), (1, 2)))
    _, rewards, terminations, _, infos = moved(env, DOWN, RIGHT)
    assert env.positions == {"navigator_0": (0, 1), "navigator_1": (1, 0)}
    assert [info["cancelled"] for info in infos.values()] == [True, True]
    assert [info["blocked"] for info in infos.values()] == [False, False]
    assert list(rewards.values()) == [-1.0, -1.0]
    assert not any(terminations.values())


def test_a_column_walks_on_as_one_and_stops_as_one() -> None:
    env = made(n_agents=3)
    placed(env, ((0, 0), (0, 5)), ((0, 1), (0, 5)), ((0, 2), (0, 5)))
    moved(env, RIGHT, RIGHT, RIGHT)
    assert list(env.positions.values()) == [(0, 1), (0, 2), (0, 3)]
    *_, infos = moved(env, RIGHT, RIGHT, WAIT)
    assert list(env.positions.values()) == [(0, 1), (0, 2), (0, 3)]
    assert [info["cancelled"] for info in infos.values()] == [True, True, False]


def test_a_wall_is_no_other_navigator() -> None:
    env = made()
    placed(env, ((0, 0), (0, 5)), ((0, 1), (0, 0)))
    *_, infos = moved(env, UP, LEFT)
    assert infos["navigator_0"]["blocked"]
    assert not infos["navigator_0"]["cancelled"]
    assert infos["navigator_1"]["cancelled"]
    assert not infos["navigator_1"]["blocked"]


def test_a_circle_turns() -> None:
    env = made(np.ones((2, 2), dtype=bool), 4)
    placed(env, ((0, 0), (1, 1)), ((0, 1), (1, 0)), ((1, 1), (0, 0)), ((1, 0), (0, 1)))
    *_, infos = moved(env, RIGHT, DOWN, LEFT, UP)
    assert list(env.positions.values()) == [(0, 1), (1, 1), (1, 0), (0, 0)]
    assert not any(info["cancelled"] for info in infos.values())
    _, _, terminations, _, _ = moved(env, DOWN, LEFT, UP, RIGHT)
    assert all(terminations.values())
    assert env.agents == []


def test_who_arrives_is_gone_and_its_cell_is_free_from_the_next_step_on() -> None:
    env = made()
    placed(env, ((0, 2), (0, 3)), ((0, 0), (0, 5)))
    observations, rewards, terminations, _, infos = moved(env, RIGHT, RIGHT)
    assert terminations == {"navigator_0": True, "navigator_1": False}
    assert rewards == {"navigator_0": 0.0, "navigator_1": -1.0}
    assert infos["navigator_0"]["is_success"]
    assert observations["navigator_0"]["achieved_goal"].tolist() == [0, 3]
    assert observations["navigator_1"]["view"][1].sum() == 0, "who has arrived is not seen any more"
    assert env.agents == ["navigator_1"]
    for _ in range(2):
        moved(env, RIGHT)
    assert env.positions == {"navigator_1": (0, 3)}


def test_both_reach_the_same_goal_one_after_the_other() -> None:
    env = made()
    placed(env, ((0, 1), (0, 2)), ((0, 3), (0, 2)))
    moved(env, RIGHT, LEFT)
    assert len(env.agents) == 2
    moved(env, RIGHT, WAIT)
    _, _, terminations, _, _ = moved(env, LEFT)
    assert terminations == {"navigator_1": True}


def test_all_that_are_left_are_truncated_after_n_steps() -> None:
    env = made()
    placed(env, ((0, 0), (0, 5)), ((0, 1), (0, 2)))
    moved(env, WAIT, RIGHT)
    for _ in range(4):
        *_, truncations, _ = moved(env, WAIT)
        assert truncations == {"navigator_0": False}
    _, rewards, terminations, truncations, _ = moved(env, WAIT)
    assert env.steps == env.max_steps == env.world.n == 6
    assert truncations == {"navigator_0": True}
    assert terminations == {"navigator_0": False}
    assert rewards == {"navigator_0": -1.0}
    with pytest.raises(EpisodeOver, match="no navigator is on its way"):
        env.step({})


def test_arriving_with_the_last_step_is_no_truncation() -> None:
    env = made(max_steps=1)
    placed(env, ((0, 0), (0, 1)), ((0, 5), (0, 3)))
    *_, terminations, truncations, _ = moved(env, RIGHT, LEFT)
    assert terminations == {"navigator_0": True, "navigator_1": False}
    assert truncations == {"navigator_0": False, "navigator_1": True}


# what is seen ----------------------------------------------------------------------------------------------------


def test_what_is_seen() -> None:
    env = made("#####\n#...#\n#.#.#\n#...#\n#####", view_radius=1)
    observations, infos = placed(env, ((1, 1), (3, 3)), ((1, 2), (3, 1)))
    seen = observations["navigator_0"]
    assert seen["achieved_goal"].tolist() == [1, 1]
    assert seen["desired_goal"].tolist() == [3, 3]
    assert seen["observation"].tolist() == [0.25, 0.25]
    assert seen["view"][0].tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 1]]
    assert seen["view"][1].tolist() == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert observations["navigator_1"]["view"][1].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert all(observations[agent] in env.observation_space(agent) for agent in env.agents)
    assert infos["navigator_0"] == {"shortest": 4, "blocked": False, "cancelled": False, "is_success": False}
    assert type(infos["navigator_0"]["shortest"]) is int
    assert env.state().tolist() == [[1, 1, 3, 3, 1], [1, 2, 3, 1, 1]]


def test_beyond_the_edge_is_wall_and_on_a_torus_the_other_side() -> None:
    free = np.ones((5, 5), dtype=bool)
    free[4, 4] = False
    for periodic in (False, True):
        env = made(GridWorld(free, periodic=periodic), view_radius=2)
        observations, _ = placed(env, ((0, 0), (2, 2)), ((0, 4), (2, 2)))
        walls, others = observations["navigator_0"]["view"]
        assert walls[1, 1] == 1
        assert walls[:2].sum() == (1 if periodic else 10)
        assert others.sum() == others[2, 1] == (1 if periodic else 0)


def test_on_a_small_torus_nobody_takes_itself_for_another() -> None:
    env = made("torus", world_config={"size": 3}, view_radius=4)
    observations, _ = placed(env, ((0, 0), (2, 2)), ((0, 1), (2, 2)))
    others = observations["navigator_0"]["view"][1]
    assert others.sum() == 9, "the other one shows in every copy of the map"
    assert others[4, 4] == others[1, 4] == 0


def test_the_shape_does_not_depend_on_the_number() -> None:
    assert made(n_agents=1).observation_space("navigator_0") == made(n_agents=5).observation_space("navigator_0")


@pytest.mark.parametrize("world", ["fourrooms", "torus", "one_way"])
def test_one_alone_is_in_the_environment_for_one(world: str) -> None:
    several, one = made(world, 1), gym.make("sci/LaplacianNav-v0", world=world)
    rng = np.random.default_rng(0)
    for seed in range(3):
        seen, infos = several.reset(seed=seed)
        places = {"start_cell": several.positions["navigator_0"], "goal_cell": several.goals["navigator_0"]}
        observation, info = one.reset(options=places)
        assert infos["navigator_0"]["shortest"] == info["shortest"]
        while several.agents:
            for name in ("achieved_goal", "desired_goal", "observation"):
                assert np.array_equal(seen["navigator_0"][name], observation[name])
            action = int(rng.integers(4))
            seen, *ended, infos = several.step({"navigator_0": action})
            observation, *ended_alone, info = one.step(action)
            assert [each["navigator_0"] for each in ended] == ended_alone
            assert infos["navigator_0"] == {**info, "cancelled": False}


def test_eight_neighbours_have_nine_actions() -> None:
    env = made(GridWorld(np.ones((3, 3), dtype=bool), neighbours=8))
    placed(env, ((0, 0), (2, 2)), ((0, 1), (2, 0)))
    assert env.action_space("navigator_0").n == 9
    moved(env, 5, 8)
    assert list(env.positions.values()) == [(1, 1), (0, 1)]


# layouts, seeds, copies ------------------------------------------------------------------------------------------


def test_layout_start_and_goal_are_chosen_separately() -> None:
    env = laplacian_nav_v0.parallel_env(world="maze", world_config={"size": 4}, n_agents=3)
    env.reset(seed=0)
    maps, places = [], []
    for options in ({}, {"layout_seed": 1}, {"layout_seed": 1, "goal_cells": {"navigator_1": (1, 1)}}, None):
        env.reset(seed=5, options=options)
        maps.append(env.world.free.tobytes())
        places.append((env.positions, env.goals))
    assert maps[0] == maps[3] != maps[1] == maps[2]
    assert places[0] == places[3]
    assert places[2][1]["navigator_1"] == (1, 1)
    env.reset(options={"layout_seed": 1})
    env.reset()
    assert env.world.free.tobytes() == maps[1], "a layout holds until a seed is given"


def test_layouts_drawn_from_the_seed() -> None:
    env = laplacian_nav_v0.parallel_env(world="maze", world_config={"size": 4}, n_agents=2, layout_seed=None)
    maps = []
    for seed in (0, None, 1, 0):
        env.reset(seed=seed)
        maps.append(env.world.free.tobytes())
    assert maps[0] == maps[1] == maps[3] != maps[2]


@given(st.integers(0, 2**20), st.integers(1, 8))
@settings(max_examples=25)
def test_starts_are_apart_and_goals_elsewhere_in_the_same_component(seed: int, n_agents: int) -> None:
    free = np.ones((3, 5), dtype=bool)
    free[:, 2] = False
    free[0, 4] = free[1, 3] = free[2, 4] = False  # (0, 3), (2, 3) and (1, 4) are cut off from everything
    env = made(GridWorld(free), min(n_agents, 6))
    env.reset(seed=seed)
    starts, goals = env.positions, env.goals
    assert len(set(starts.values())) == env.n_agents
    for agent in env.agents:
        assert starts[agent] != goals[agent]
        env.world.require_path(env.world.state(starts[agent]), env.world.state(goals[agent]))


def test_a_full_world_can_be_set_in_motion() -> None:
    env = made(np.ones((2, 2), dtype=bool), 4)
    for seed in range(10):
        env.reset(seed=seed)
        assert sorted(env.positions.values()) == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_copies_go_on_alike() -> None:
    env = laplacian_nav_v0.parallel_env(world="slippery", n_agents=3, render_mode="rgb_array")
    env.reset(seed=1)
    env.render()
    copies = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    ends = []
    for each in copies:
        rng = np.random.default_rng(0)
        for _ in range(20):
            wander(each, rng)
        each.reset()
        ends.append((each.state().tolist(), each.render().tobytes()))
    assert ends[0] == ends[1] == ends[2]


def test_a_start_behind_a_one_way_door() -> None:
    closed = np.zeros((1, 4, 4), dtype=bool)
    closed[0, 1, LEFT] = True  # from cell (0, 0) one can go, but not come back
    env = made(GridWorld(np.ones((1, 4), dtype=bool), closed=closed), 2)
    starts = set()
    for seed in range(20):
        env.reset(seed=seed, options={"start_cells": {"navigator_0": (0, 0)}})
        assert env.goals["navigator_0"] != (0, 0)
        assert (0, 0) not in (env.positions["navigator_1"], env.goals["navigator_1"]), "drawn with a way back"
        env.reset(seed=seed, options={"goal_cells": {"navigator_0": (0, 3)}})
        starts.add(env.positions["navigator_0"])
    assert starts == {(0, 0), (0, 1), (0, 2)}
    with pytest.raises(InvalidInput, match="n_agents must be at most 3, the cells to start from in this world, not 4"):
        made(env.world, 4)


# pictures --------------------------------------------------------------------------------------------------------


def test_picture() -> None:
    env = made(CROSSING, render_mode="rgb_array")
    placed(env, ((0, 1), (2, 1)), ((1, 0), (1, 2)))
    frame = env.render()
    assert frame.dtype == np.uint8
    assert frame.shape[2] == 3
    assert frame.shape[0] % 2 == frame.shape[1] % 2 == 0
    blue, orange, red = (0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00), (0xCC, 0x00, 0x00)
    assert all((frame == colour).all(axis=2).sum() > 500 for colour in (blue, orange))
    assert not (frame == red).all(axis=2).any()
    moved(env, DOWN, RIGHT)
    assert (env.render() == red).all(axis=2).sum() > 500, "who was stopped shows it"
    assert made().render() is None


# bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"n_agents": 0}, "n_agents must be a whole number of at least 1, not 0"),
        ({"n_agents": 2.0}, "n_agents must be a whole number of at least 1, not 2.0"),
        ({"n_agents": True}, "n_agents must be a whole number of at least 1, not True"),
        ({"n_agents": 7}, "n_agents must be at most 6, the cells to start from in this world, not 7"),
        ({"max_steps": 0}, "max_steps must be a whole number of at least 1, not 0"),
        ({"view_radius": 0}, "view_radius must be a whole number of at least 1, not 0"),
        ({"layout_seed": -1}, "layout_seed must be in [0, 2**63), not -1"),
        ({"render_mode": "human"}, "render_mode must be None or 'rgb_array', not 'human'"),
        ({"world_config": 3}, "world_config must be a mapping or None, not int"),
        ({"agents": 3}, "laplacian_nav_v0 has no argument 'agents'; did you mean 'n_agents'?"),
        (
            {"world": GraphWorld([[0, 1], [1, 0]])},
            "several navigators need a world of cells, a GridWorld, not a GraphWorld",
        ),
    ],
)
def test_arguments_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        made(**config)
    assert str(refused.value) == message


CLOSED = "...#.\n....#\n...##"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"starts": {}}, InvalidInput, "unknown option 'starts'; did you mean 'start_cells'?"),
        (3, InvalidInput, "options must be a mapping, not int"),
        ({"options": 2}, InvalidInput, "unknown option 'options'; known: goal_cells, layout_seed, start_cells"),
        ({"layout_seed": 0.5}, InvalidInput, "layout_seed: seed must be a non-negative integer, not 0.5 (float)"),
        (
            {"start_cells": [(0, 0), (0, 1)]},
            InvalidInput,
            "start_cells must map navigators to cells (row, column), not be a list",
        ),
        (
            {"goal_cells": {"navigator_2": (0, 0)}},
            InvalidInput,
            "goal_cells names 'navigator_2'; the navigators are navigator_0, navigator_1",
        ),
        (
            {"start_cells": {"navigator_1": (0, 3)}},
            InvalidInput,
            "start_cells, navigator_1: cell (0, 3) is a wall",
        ),
        (
            {"goal_cells": {"navigator_0": (2, 9)}},
            InvalidInput,
            "goal_cells, navigator_0: cell (2, 9) is outside the map of 3 rows and 5 columns",
        ),
        (
            {"goal_cells": {"navigator_0": "ab"}},
            InvalidInput,
            "goal_cells, navigator_0: a cell is a pair of whole numbers (row, column), not 'ab'",
        ),
        (
            {"start_cells": {"navigator_0": (1, 1), "navigator_1": (1, 1)}},
            InvalidInput,
            "navigator_0 and navigator_1 both start in cell (1, 1)",
        ),
        (
            {"start_cells": {"navigator_1": (1, 1)}, "goal_cells": {"navigator_1": (1, 1)}},
            InvalidInput,
            "navigator_1 starts at its goal, cell (1, 1)",
        ),
        (
            {"start_cells": {"navigator_1": (1, 1)}, "goal_cells": {"navigator_1": (0, 4)}},
            UnreachableError,
            "navigator_1: no path leads from cell (1, 1) to cell (0, 4)",
        ),
        (
            {"start_cells": {"navigator_1": (0, 4)}},
            UnreachableError,
            "navigator_1: no path leads from cell (0, 4) to any other cell",
        ),
        (
            {"goal_cells": {"navigator_1": (0, 4)}},
            InvalidInput,
            "navigator_1 has no empty cell to start from that can reach its goal, cell (0, 4)",
        ),
    ],
)
def test_options_refused_and_nothing_changed(options: Any, kind: type[Exception], message: str) -> None:
    env, twin = made(CLOSED), made(CLOSED)
    for each in (env, twin):
        each.reset(seed=3)
        wander(each, np.random.default_rng(0))
    for seed in (None, 4):
        with pytest.raises(InvalidInput) as refused:
            env.reset(seed=seed, options=options)
        assert str(refused.value) == message
        assert type(refused.value) is kind
    assert env.state().tolist() == twin.state().tolist()
    for each in (env, twin):
        wander(each, np.random.default_rng(1))
        each.reset()
    assert env.state().tolist() == twin.state().tolist()


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_seeds_refused(seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be"):
        made().reset(seed=seed)


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 1], "actions must map navigators to actions, not be a list"),
        ({"navigator_0": 0}, "navigator_1 has no action"),
        (
            {"navigator_0": 0, "navigator_1": 1, "navigator_2": 1},
            "'navigator_2' is not on its way; actions are for navigator_0, navigator_1",
        ),
        (
            {"navigator_0": 0, "navigator_1": 5},
            "navigator_1: an action is a whole number from 0 to 4, not 5",
        ),
        (
            {"navigator_0": None, "navigator_1": 1},
            "navigator_0: an action is a whole number from 0 to 4, not None",
        ),
    ],
)
def test_actions_refused_and_nothing_changed(actions: Any, message: str) -> None:
    env = made()
    placed(env, ((0, 0), (0, 5)), ((0, 2), (0, 0)))
    with pytest.raises(InvalidInput) as refused:
        env.step(actions)
    assert str(refused.value) == message
    assert env.steps == 0
    assert list(env.positions.values()) == [(0, 0), (0, 2)]


def test_before_reset() -> None:
    with pytest.raises(EpisodeOver, match=r"call reset\(\)"):
        made().step({})
    with pytest.raises(InvalidInput, match="there is no 'navigator_9'; the navigators are navigator_0, navigator_1"):
        made().action_space("navigator_9")


def test_without_pettingzoo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacian_nav_v0, "find_spec", lambda name: None)
    for make in (laplacian_nav_v0.parallel_env, laplacian_nav_v0.env):
        with pytest.raises(MissingDependency) as refused:
            make()
        assert str(refused.value) == (
            'several navigators need pettingzoo, which is not installed; install it with: pip install "scisuite[marl]"'
        )
