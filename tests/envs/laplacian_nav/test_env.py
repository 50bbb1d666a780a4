"""sci/LaplacianNav-v0: spaces, dynamics, rewards, infos, options and copies."""

from __future__ import annotations

import copy
import json
import pickle
from collections import Counter
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs
from scisuite import scenarios
from scisuite.envs.checks import _same
from scisuite.envs.laplacian_nav.observations import AGENT, FREE, GOAL, WALL
from scisuite.envs.laplacian_nav.task import SLIPS, Task
from scisuite.scenarios.nav import GraphWorld, GridWorld, UnreachableError, from_ascii

MAP = "######\n#..#.#\n#....#\n######"
RING = GraphWorld(np.roll(np.eye(5), 1, axis=1) + np.roll(np.eye(5), -1, axis=1))


def make(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("sci/LaplacianNav-v0", **{"world": MAP, **kwargs})


def from_to(start: Any, goal: Any) -> dict[str, Any]:
    return {"start_cell": start, "goal_cell": goal}


@pytest.mark.parametrize(
    ("obs", "goal_conditioned"),
    [("index", True), ("view", True), ("rgb", True), ("xy", False), ("view", False), ("rgb", False)],
)
def test_contract(obs: str, goal_conditioned: bool) -> None:
    scisuite.envs.check_env(
        "sci/LaplacianNav-v0", slow=False, steps=12, world="small_maze", obs=obs, goal_conditioned=goal_conditioned
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"world": "maze", "layout_seed": None, "max_steps": 20, "world_config": {"size": 5, "slip": 0.3}},
        {"world": RING, "obs": "index", "reward": "shaped"},
    ],
    ids=["own_slippery", "graph"],
)
def test_contract_of_other_worlds(arguments: dict[str, Any]) -> None:
    scisuite.envs.check_env("sci/LaplacianNav-v0", slow=False, steps=12, **arguments)


@pytest.mark.parametrize("id", [id for id in scenarios.registry.ids() if id.startswith("nav/")])
def test_every_scenario_is_a_world(id: str) -> None:
    env = gym.make("sci/LaplacianNav-v0", world=id)
    observation, info = env.reset(seed=0)
    assert observation in env.observation_space
    assert info["shortest"] > 0
    assert env.unwrapped.world.n <= env.unwrapped.task.max_cells


def test_observations_of_each_kind() -> None:
    options = from_to([1, 1], (2, 4))
    seen = {obs: make(obs=obs).reset(options=options)[0] for obs in ("xy", "index", "view", "rgb")}
    for observation in seen.values():
        assert observation["achieved_goal"].tolist() == [1, 1]
        assert observation["desired_goal"].tolist() == [2, 4]
    assert seen["xy"]["observation"] == pytest.approx([1 / 3, 1 / 5])
    assert seen["index"]["observation"] == 0
    view = make(obs="view", view_radius=1).reset(options=options)[0]["observation"]
    assert view.tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert seen["view"]["observation"].shape == (7, 7)
    picture = seen["rgb"]["observation"]
    assert picture.shape == (36, 54, 3), "nine pixels a cell make the 4 rows 36 pixels"
    assert [tuple(picture[row, column]) for row, column in ((0, 0), (9, 9), (17, 17), (17, 18), (18, 36))] == [
        WALL, AGENT, AGENT, FREE, FREE
    ]  # fmt: skip


def test_observations_with_the_goal_in_them() -> None:
    options = from_to((1, 1), (2, 4))
    seen = {o: make(obs=o, goal_conditioned=False).reset(options=options)[0] for o in ("xy", "view", "rgb")}
    assert seen["xy"] == pytest.approx([1 / 3, 1 / 5, 2 / 3, 4 / 5])
    assert seen["view"].shape == (51,)
    assert seen["view"][-2:] == pytest.approx([1 / 3, 3 / 5])
    assert tuple(seen["rgb"][18, 36]) == GOAL


def test_a_view_goes_on_round_a_torus() -> None:
    world = GridWorld(np.array([[True, True, False], [True, True, True], [True, True, True]]), periodic=True)
    observation, _ = make(world=world, obs="view", view_radius=1).reset(options=from_to((0, 0), (1, 1)))
    assert observation["observation"].tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_an_episode() -> None:
    env = make()
    _, info = env.reset(options=from_to((1, 1), (1, 4)))
    assert info == {"shortest": 5, "blocked": False, "is_success": False}
    steps = [env.step(action) for action in (0, 2, 1, 1, 1, 0)]
    assert [step[1] for step in steps] == [-1, -1, -1, -1, -1, 0]
    assert [step[4]["blocked"] for step in steps] == [True, False, False, False, False, False]
    assert [step[2] for step in steps] == [False] * 5 + [True]
    assert steps[-1][4] == {"shortest": 5, "blocked": False, "is_success": True}
    assert not any(step[3] for step in steps)
    assert steps[1][0]["achieved_goal"].tolist() == [2, 1]


def test_truncation() -> None:
    env = make()
    env.reset(options=from_to((1, 1), (1, 4)))
    n = env.unwrapped.world.n
    ends = [env.step(0)[2:4] for _ in range(n)]
    assert ends == [(False, False)] * (n - 1) + [(False, True)]
    env = make(max_steps=1)
    env.reset(options=from_to((1, 1), (1, 2)))
    assert env.step(1)[2:4] == (True, False), "arriving with the last step is arriving"


def test_actions_of_eight_neighbours() -> None:
    env = make(world_config={"neighbours": 8})
    assert env.action_space == gym.spaces.Discrete(8)
    env.reset(options=from_to((1, 1), (2, 3)))
    assert env.step(5)[0]["achieved_goal"].tolist() == [2, 2]
    assert env.step(4)[4]["blocked"], "the diagonal up-right squeezes past a wall"


def test_compute_reward() -> None:
    env = make().unwrapped
    places = np.array([[1, 1], [1, 2], [2, 2]], dtype=np.float32)
    assert env.compute_reward(places, places[[0, 0, 2]], [{}] * 3).tolist() == [0, -1, 0]
    one = env.compute_reward(places[0], places[1], {})
    assert type(one) is float
    assert one == -1.0
    with pytest.raises(AttributeError, match="^compute_reward gives sparse rewards only; make the environment with"):
        getattr(make(reward="shaped").unwrapped, "compute_reward")  # noqa: B009 (there is none)
    assert not hasattr(make(goal_conditioned=False).unwrapped, "compute_reward")


def test_layout_start_and_goal_are_chosen_separately() -> None:
    env = gym.make("sci/LaplacianNav-v0", world="small_maze").unwrapped

    def after(**reset: Any) -> tuple[bytes, int, int]:
        env.reset(**reset)
        return env.world.free.tobytes(), env.start, env.goal

    first = after(seed=1)
    assert after(seed=1) == first
    other = after(seed=2)
    assert other[0] == first[0], "the seed does not choose the layout"
    assert other[1:] != first[1:]
    elsewhere = after(seed=1, options={"layout_seed": 5})
    assert elsewhere[0] != first[0]
    assert after()[0] == elsewhere[0], "a layout holds"
    assert after(seed=1) == first, "until a seed is given"
    goals = {after(options={"start_cell": (1, 1)})[1:] for _ in range(20)}
    assert {start for start, _ in goals} == {0}
    assert len(goals) > 5
    starts = {after(options={"goal_cell": (1, 1)})[1:] for _ in range(20)}
    assert {goal for _, goal in starts} == {0}
    assert len(starts) > 5


def test_a_layout_for_each_seed() -> None:
    env = gym.make("sci/LaplacianNav-v0", world="small_maze", layout_seed=None).unwrapped
    env.reset()
    first = env.layout_seed
    env.reset()
    assert env.layout_seed == first, "a reset without a seed keeps the layout"
    seeds = []
    for seed in (3, 4, 3):
        env.reset(seed=seed)
        seeds.append((env.layout_seed, env.start, env.goal))
    assert seeds[0] == seeds[2] != seeds[1]
    env.reset(seed=3, options={"layout_seed": 8})
    assert env.layout_seed == 8


def test_starts_and_goals_are_spread() -> None:
    env = make().unwrapped
    env.reset(seed=0)
    pairs = Counter()
    for _ in range(1500):
        env.reset()
        pairs[env.start, env.goal] += 1
    assert len(pairs) == 7 * 6
    assert max(pairs.values()) < 70


def test_slips() -> None:
    """A slip is drawn uniformly from all actions, over more than one block of drawn numbers."""
    env = make(world="torus", world_config={"slip": 0.4}, max_steps=10 * SLIPS).unwrapped
    env.reset(seed=0, options=from_to((0, 0), (10, 10)))
    moved = []
    for _ in range(4 * SLIPS):
        before = env.world.xy[env.state]
        env.state = 0 if env.state == env.goal else env.state
        env.step(1)
        moved.append(tuple((env.world.xy[env.state] - before + 10) % 20 - 10))
        if env._over:
            env.reset(options=from_to((0, 0), (10, 10)))
    share = {offset: count / len(moved) for offset, count in Counter(moved).items()}
    assert share[0, 1] == pytest.approx(0.7, abs=0.05)
    assert [share[offset] for offset in ((0, -1), (1, 0), (-1, 0))] == pytest.approx([0.1] * 3, abs=0.03)


def test_slips_stay_in_range() -> None:
    class Edge:
        def random(self, n: int) -> Any:
            return np.resize([np.nextafter(0.3, 0), 0.3, 0.0], n)

    task = Task(MAP, "xy", True, "sparse", 0, None, 0.99, 0.1, 3, {"slip": 0.3})
    assert task.slips(Edge(), 0.3)[:3].tolist() == [3, -1, 0]  # type: ignore[arg-type]


def test_spaces_hold_all_layouts() -> None:
    env = make(world="obstacles", obs="index", world_config={"size": 8}).unwrapped
    assert env.observation_space["observation"] == gym.spaces.Discrete(64 - 13)
    assert env.observation_space["desired_goal"].high.tolist() == [7, 7]
    spaces = copy.deepcopy(env.observation_space)
    for layout_seed in range(6):
        assert env.reset(options={"layout_seed": layout_seed})[0] in spaces
        assert env.world.n <= 51


def test_a_graph() -> None:
    env = make(world=RING, obs="index")
    observation, info = env.reset(options=from_to(0, 2))
    assert observation["observation"] == 0
    assert info["shortest"] == 2
    assert observation["desired_goal"] == pytest.approx(RING.xy[2])
    assert env.step(0)[0]["observation"] == 1
    assert env.step(1)[2]


def test_a_one_way_world() -> None:
    env = make(world="..>..")
    assert env.reset(options=from_to((0, 0), (0, 4)))[1]["shortest"] == 4
    assert env.reset(options={"start_cell": (0, 4)})[1]["shortest"] == 1, "drawn from where it can come back"
    with pytest.raises(UnreachableError):
        env.reset(options=from_to((0, 4), (0, 0)))


def test_json() -> None:
    env = make(world=[[True, True], [False, True]], goal_conditioned=False, world_config={"periodic": False})
    json.dumps(env.spec.kwargs)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert _same(env.reset(seed=4), again.reset(seed=4))
    free = np.array([[True, True], [False, True]])
    assert _same(gym.make("sci/LaplacianNav-v0", world=free, goal_conditioned=False).reset(seed=4), env.reset(seed=4))


def test_copies_are_of_their_own() -> None:
    env = make(world="slippery", reward="shaped")
    env.reset(seed=0)
    env.step(1)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.unwrapped.task._kept == {}
        other.reset(seed=9)
        other.step(2)
    mine = [env.step(1) for _ in range(5)]
    env.reset(seed=0)
    env.step(1)
    assert _same([env.step(1) for _ in range(5)], mine)


def test_the_map_reader_takes_what_the_scenario_takes() -> None:
    assert make(world=from_ascii(MAP)).unwrapped.world.n == 7
    assert make(world=MAP.split("\n")).unwrapped.world.n == 7
    assert make(world=scenarios.make("nav/maze", size=3), layout_seed=2).unwrapped.world.shape == (7, 7)
