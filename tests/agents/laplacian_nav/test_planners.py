"""Planners: the contract, that they arrive where they must, that they follow the layout, and what they refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import FlattenObservation, TimeLimit
from hypothesis import given, settings
from hypothesis import strategies as st

import scisuite.envs  # noqa: F401
from scisuite import agents
from scisuite.agents import check_agent, run_episode
from scisuite.agents.laplacian_nav.fields import FIELDS, make_field
from scisuite.agents.laplacian_nav.planners import PlannerAgent, RandomAgent
from scisuite.core import InvalidInput, UnknownName
from scisuite.scenarios.nav import GraphWorld, GridWorld

ENV = "sci/LaplacianNav-v0"
PLANNERS = [
    "green",
    "pinv",
    "discounted_walk",
    "green_truncated",
    "resistance",
    "biharmonic",
    "heat",
    "euclid",
    "bfs",
    "random",
]
EXACT = ("green", "pinv", "discounted_walk", "bfs")
SMALL: dict[str, Any] = {"world": "maze", "world_config": {"size": 4, "loop": 0.3}}


def bound(name: str, env: gym.Env[Any, Any] | None = None, **config: Any) -> tuple[Any, gym.Env[Any, Any]]:
    agent, env = agents.make(f"laplacian_nav/{name}", **config), env or gym.make(ENV, **SMALL)
    agent.bind(env)
    return agent, env


@pytest.mark.parametrize("name", PLANNERS)
def test_contract(name: str) -> None:
    check_agent(f"laplacian_nav/{name}", ENV, **SMALL)


@pytest.mark.parametrize("name", ["green", "bfs", "random"])
def test_contract_with_one_flat_observation(name: str) -> None:
    check_agent(f"laplacian_nav/{name}", ENV, goal_conditioned=False, **SMALL)


def test_short_names() -> None:
    agent = agents.make("green", env_slug="laplacian_nav")
    assert (agent.id, agent.field, agent.config) == ("laplacian_nav/green", "green", {})
    assert agents.make("laplacian_nav/pinv").config == {"eps": 0.0}
    assert agents.make("laplacian_nav/resistance", modes=5).config == {"kind": "resistance", "modes": 5}


def test_every_entry_can_be_made() -> None:
    ids = [id for id in agents.registry.ids() if id.startswith("laplacian_nav/")]
    assert {f"laplacian_nav/{name}" for name in PLANNERS} <= set(ids)
    for id in ids:
        if "torch" in agents.registry.entry(id).extras:
            pytest.importorskip("torch")
        assert agents.make(id).id == id


# arriving --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("world", ["fourrooms", "loopy_maze_40", "u_trap", "torus", "slippery", "nav/pixels"])
def test_exact_ones_always_arrive(name: str, world: str) -> None:
    slips = world == "slippery"
    agent, env = bound(name, gym.make(ENV, world=world, max_steps=2_000 if slips else None))
    for seed in range(5):
        episode = run_episode(env, agent, seed=seed)
        assert episode.terminated
        if name == "bfs" and not slips:
            assert episode.length == episode.infos[0]["shortest"]


def test_green_arrives_in_20_of_20_where_straight_on_does_not() -> None:
    share = {}
    for name in ("green", "resistance", "green_truncated", "euclid", "random"):
        agent, env = bound(name, gym.make(ENV))
        share[name] = sum(run_episode(env, agent, seed=seed).terminated for seed in range(20))
    assert share["green"] == 20
    assert share["euclid"] < 15
    assert share["green_truncated"] < share["resistance"]
    assert share["random"] < 12


@pytest.mark.parametrize("name", ["discounted_walk", "bfs"])
def test_one_way_doors(name: str) -> None:
    agent, env = bound(name, gym.make(ENV, world="one_way"))
    assert all(run_episode(env, agent, seed=seed).terminated for seed in range(5))


@given(layout=st.integers(0, 2**20), seed=st.integers(0, 2**20), eps=st.sampled_from([0.0, 0.01, 1.0, "sr:0.99"]))
@settings(max_examples=20)
def test_green_arrives_in_any_obstacle_field(layout: int, seed: int, eps: Any) -> None:
    env = gym.make(ENV, world="obstacles", world_config={"size": 8, "share": 0.35}, layout_seed=layout)
    agent, env = bound("green", env, eps=eps)
    assert run_episode(env, agent, seed=seed).terminated


def test_on_a_torus_straight_on_takes_the_shorter_way_round() -> None:
    agent, env = bound("euclid", gym.make(ENV, world="torus"))
    for seed in range(10):
        episode = run_episode(env, agent, seed=seed)
        assert episode.length == episode.infos[0]["shortest"]


# following -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["green", "bfs"])
def test_layouts_that_change_at_reset_are_followed(name: str) -> None:
    agent, env = bound(name, gym.make(ENV, layout_seed=None, **SMALL))
    maps = set()
    for seed in range(6):
        assert run_episode(env, agent, seed=seed).terminated
        maps.add(env.unwrapped.world.free.tobytes())
        assert run_episode(env, agent, seed=seed, options={"layout_seed": 7}).terminated
    assert len(maps) == 6


def test_the_plan_is_that_of_the_present_layout() -> None:
    """In turn between two layouts the actions are those of an agent that has seen only one."""
    fresh, env = bound("green")
    lengths = [run_episode(env, fresh, seed=3, options={"layout_seed": layout}).actions for layout in (1, 2)]
    agent, env = bound("green")
    for _ in range(2):
        for layout, actions in zip((1, 2), lengths, strict=True):
            assert run_episode(env, agent, seed=3, options={"layout_seed": layout}).actions == actions


def test_a_graph() -> None:
    ring = np.roll(np.eye(9), 1, axis=1)
    env = gym.make(ENV, world=GraphWorld(ring + ring.T))
    for name in EXACT:
        agent, _ = bound(name, env)
        for seed in range(4):
            episode = run_episode(env, agent, seed=seed)
            assert episode.length == episode.infos[0]["shortest"]


def test_wrappers_that_keep_the_observation_are_no_obstacle() -> None:
    agent, env = bound("green", TimeLimit(gym.make(ENV, **SMALL), 500))
    assert run_episode(env, agent, seed=0).terminated


@pytest.mark.parametrize("obs", ["index", "view", "rgb"])
def test_goals_are_read_whatever_else_is_observed(obs: str) -> None:
    agent, env = bound("green", gym.make(ENV, obs=obs, **SMALL))
    assert run_episode(env, agent, seed=0).terminated


# fields ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_fields_are_largest_at_the_goal_nearby(name: str) -> None:
    world = GridWorld(np.ones((5, 5), dtype=bool))
    values = make_field(name, world)(12)
    assert values.shape == (25,)
    assert values[12] == values.max()
    assert np.allclose(world.to_map(values), world.to_map(values).T)


def test_all_modes_are_as_good_as_none_left_out() -> None:
    """With every mode the truncated field is the pseudo-inverse."""
    world = GridWorld(np.ones((4, 3), dtype=bool))
    assert np.allclose(make_field("truncated", world, modes=99)(5), make_field("green", world, eps=0.0)(5))


def test_where_no_path_leads_there_is_no_way_up() -> None:
    world = GridWorld(np.array([[True, True, False, True]]))
    assert make_field("bfs", world)(0).tolist() == [0.0, -1.0, -np.inf]


# refusing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in PLANNERS if name != "random"])
def test_other_environments_are_refused(name: str) -> None:
    field = {"pinv": "green", "green_truncated": "truncated", "resistance": "truncated", "biharmonic": "truncated"}
    who = re.escape(f"the agent {field.get(name, name)!r}")
    with pytest.raises(InvalidInput, match=rf"^{who} acts in sci/LaplacianNav-v0, not in <CartPole"):
        bound(name, gym.make("CartPole-v1"))


@pytest.mark.parametrize(
    "env",
    [
        gym.make(ENV, obs="view", goal_conditioned=False, **SMALL),
        gym.make(ENV, obs="rgb", goal_conditioned=False, **SMALL),
        FlattenObservation(gym.make(ENV, **SMALL)),
    ],
    ids=["view", "rgb", "flattened"],
)
def test_observations_without_a_position_are_refused(env: gym.Env[Any, Any]) -> None:
    with pytest.raises(
        InvalidInput, match="^the agent 'bfs' needs observations that say where it and its goal are, not Box"
    ):
        bound("bfs", env)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("green", "green"),
        ("pinv", "green"),
        ("heat", "heat"),
        *((name, "truncated") for name in ("green_truncated", "resistance", "biharmonic")),
    ],
)
def test_one_way_doors_have_no_laplacian(name: str, field: str) -> None:
    env = gym.make(ENV, world="one_way")
    with pytest.raises(InvalidInput) as refused:
        bound(name, env)
    message = (
        rf"the field '{field}' needs a world in which every move can be taken back, but from cell \((\d+), (\d+)\) to "
        r"cell \((\d+), (\d+)\) there is only one way; use the agent discounted_walk"
    )
    found = re.fullmatch(message, str(refused.value))
    assert found
    row, column, to_row, to_column = map(int, found.groups())
    world = env.unwrapped.world
    here, there = world.state((row, column)), world.state((to_row, to_column))
    assert there in world.moves[here]
    assert here not in world.moves[there]
    bound("discounted_walk", env)


def test_an_unknown_agent_is_answered_with_those_of_the_environment() -> None:
    own = [id for id in agents.registry.ids() if id.startswith("laplacian_nav/")]
    with pytest.raises(UnknownName, match=f"^unknown agent 'nope'; known: {', '.join(own)}"):
        agents.make("nope", env_slug="laplacian_nav")
    with pytest.raises(UnknownName, match="did you mean 'laplacian_nav/random'"):
        agents.make("randomm", env_slug="laplacian_nav")


@pytest.mark.parametrize("path", ["runs/nav/model.zip", "{tmp_path}/nav"])
def test_a_path_is_answered_with_how_a_trained_policy_runs(path: str, tmp_path: Path) -> None:
    (tmp_path / "nav").mkdir()
    path = path.format(tmp_path=tmp_path)
    with pytest.raises(UnknownName) as refused:
        agents.make(path, env_slug="laplacian_nav")
    assert str(refused.value) == (
        f"{path} is a path, not an agent; a trained policy runs as --agent sb3/policy -a path='\"{path}\"'"
    )


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"field": "greens"}, "unknown field 'greens'; did you mean 'green'?"),
        ({"field": 3}, "unknown field 3; known: bfs, discounted_walk, euclid, green, heat, truncated"),
        ({"epsilon": 0.1}, "field 'green' has no argument 'epsilon'; did you mean 'eps'?"),
    ],
)
def test_arguments_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        PlannerAgent(**config)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("green", {"eps": -1.0}, "eps must be"),
        ("resistance", {"modes": 0}, "modes must be a positive whole number, not 0"),
        ("resistance", {"kind": "euclid"}, "kind must be one of inner, resistance, biharmonic, not 'euclid'"),
        ("discounted_walk", {"gamma": 1.0}, "gamma must be a discount in"),
        ("heat", {"t": -1.0}, "t must be a finite number of at least 0"),
    ],
)
def test_arguments_refused_when_bound(name: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        bound(name, **config)


@pytest.mark.parametrize("agent", [PlannerAgent(), RandomAgent()], ids=["green", "random"])
def test_order_of_calls(agent: Any) -> None:
    with pytest.raises(InvalidInput, match=r"call bind\(env\) first"):
        agent.reset(seed=0)
    env = gym.make(ENV, **SMALL)
    observation, info = env.reset(seed=0)
    agent.bind(env)
    with pytest.raises(InvalidInput, match=r"call reset\(seed="):
        agent.act(observation, info)
    agent.reset(seed=0)
    assert agent.act(observation, info) in env.action_space


def test_random_needs_discrete_actions() -> None:
    with pytest.raises(InvalidInput, match="^the agent 'random' needs Discrete actions, not Box"):
        bound("random", gym.make("Pendulum-v1"))
