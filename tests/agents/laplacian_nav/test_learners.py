"""Navigators that practise: the contract, what they learn, and what they forget."""

from __future__ import annotations

import importlib.util

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401 - registers the environment
from scisuite import agents
from scisuite.agents import check_agent, run_episode
from scisuite.agents.laplacian_nav.learners import (
    EstimatedBFSAgent,
    EstimatedGreenAgent,
    LearnedModesAgent,
    PlaceCellAgent,
    QAgent,
    SuccessorAgent,
)
from scisuite.core import InvalidInput

ENV = "sci/LaplacianNav-v0"
ROOMS = "...#...\n.......\n...#...\n.#####.\n...#..."
LEARNERS = ["estimated_green", "estimated_bfs", "td_sr", "q", "q_replay", "dyna_q", "her_q"]


def made(name, **env):
    environment = gym.make(ENV, **{"world": ROOMS, **env})
    agent = agents.make(f"laplacian_nav/{name}")
    agent.bind(environment)
    return environment, agent


def figures(environment, agent, seeds=range(12)):
    episodes = [run_episode(environment, agent, seed=seed) for seed in seeds]
    ratio = [e.terminated * e.infos[0]["shortest"] / e.length for e in episodes]
    return np.mean([e.terminated for e in episodes]), np.mean(ratio)


@pytest.mark.parametrize("name", [*LEARNERS, "place_cell"])
def test_the_contract(name):
    check_agent(f"laplacian_nav/{name}", ENV, world=ROOMS)


@pytest.mark.parametrize("name", ["estimated_green", "estimated_bfs", "q_replay", "dyna_q", "place_cell"])
def test_with_enough_practice_the_ways_are_all_but_shortest(name):
    environment, agent = made(name)
    agent.practice_steps = 3_000
    success, spl = figures(environment, agent, range(8))
    assert success == 1.0
    assert spl > 0.95


def test_planning_on_the_estimated_graph_beats_one_pass_over_the_same_practice():
    environment = gym.make(ENV, world="small_maze", layout_seed=2)
    success = {}
    for kind in (EstimatedGreenAgent, SuccessorAgent, QAgent):
        agent = kind(practice_steps=4_000)
        agent.bind(environment)
        success[kind] = figures(environment, agent, range(10))[0]
    assert success[EstimatedGreenAgent] >= 1.4 * max(success[SuccessorAgent], success[QAgent])


@pytest.mark.parametrize("name", LEARNERS)
def test_without_practice_they_learn_from_their_own_steps(name):
    environment, agent = made(name, max_steps=2_000)
    agent.practice_steps = 0
    agent.bind(environment)
    episode = run_episode(environment, agent, seed=4)
    assert episode.terminated
    assert len(episode.actions) > 30
    if name.startswith("estimated"):
        steps = zip(episode.observations, episode.actions, episode.infos[1:], strict=False)
        bumps = [(*observation["achieved_goal"], action) for observation, action, info in steps if info["blocked"]]
        assert len(bumps) == len(set(bumps))


@pytest.mark.parametrize("name", LEARNERS)
def test_episodes_do_not_depend_on_those_before(name):
    environment, agent = made(name)
    agent.practice_steps = 300
    fresh = run_episode(environment, agent, seed=5).actions
    for seed in (1, 2):
        run_episode(environment, agent, seed=seed)
    assert run_episode(environment, agent, seed=5).actions == fresh
    other_environment, other = made(name)
    other.practice_steps = 300
    run_episode(other_environment, other, seed=2)
    assert run_episode(other_environment, other, seed=5).actions == fresh


def test_practice_leaves_the_environment_alone():
    environment, agent = made("estimated_green")
    with_practice = run_episode(environment, agent, seed=4, max_steps=1)
    following = environment.reset()[0]
    alone = gym.make(ENV, world=ROOMS)
    first = alone.reset(seed=4)[0]
    alone.step(with_practice.actions[0])
    for key, value in first.items():
        np.testing.assert_array_equal(with_practice.observations[0][key], value)
    for key, value in alone.reset()[0].items():
        np.testing.assert_array_equal(following[key], value)


def test_a_new_layout_is_practised_anew():
    environment = gym.make(ENV, world="small_maze", layout_seed=None)
    agent = EstimatedGreenAgent()
    agent.bind(environment)
    assert figures(environment, agent, range(2))[0] == 1.0


@pytest.mark.parametrize("options", [{"goal_conditioned": False}, {"obs": "index"}, {"obs": "view"}])
def test_other_observations(options):
    assert figures(*made("estimated_green", **options))[0] == 1.0


def test_slippery_moves_and_one_way_doors():
    for world in ("slippery", "one_way"):
        environment = gym.make(ENV, world=world)
        for agent in (EstimatedGreenAgent(), EstimatedBFSAgent(), QAgent("replay", practice_steps=4_000)):
            agent.bind(environment)
            assert figures(environment, agent, range(2))[0] == 1.0


def test_what_no_agent_can_do():
    with pytest.raises(InvalidInput, match="needs observations that say where it and its goal are"):
        EstimatedGreenAgent().bind(gym.make(ENV, world=ROOMS, obs="view", goal_conditioned=False))
    with pytest.raises(InvalidInput, match="^place cells need a world in which every move can be taken back$"):
        PlaceCellAgent().bind(gym.make(ENV, world="one_way"))
    unbound = SuccessorAgent()
    with pytest.raises(InvalidInput, match=r"^the agent is not bound to an environment; call bind\(env\) first$"):
        unbound.reset(seed=0)
    environment = gym.make(ENV, world=ROOMS)
    unbound.bind(environment)
    with pytest.raises(InvalidInput, match=r"^the agent has not begun an episode; call reset\(seed=…\)$"):
        unbound.act(environment.reset(seed=0)[0], {})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: EstimatedGreenAgent(practice_steps=-1), "^practice_steps must be a whole number ≥ 0, not -1$"),
        (lambda: EstimatedGreenAgent(gamma=1.0), r"^gamma must be in \(0, 1\), not 1.0$"),
        (lambda: SuccessorAgent(alpha=0), r"^alpha must be in \(0, 1\], not 0$"),
        (lambda: QAgent("sarsa"), "^variant must be one of onepass, replay, dyna, her, not 'sarsa'$"),
        (lambda: QAgent(sweeps=0), "^sweeps must be a positive whole number, not 0$"),
    ],
)
def test_bad_arguments(build, message):
    with pytest.raises(InvalidInput, match=message):
        build()


needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")


@needs_torch
def test_learned_place_cells_and_learned_modes_find_the_way_in_a_small_room():
    environment = gym.make(ENV, world=ROOMS)
    for agent in (
        PlaceCellAgent(learned=True, dim=8, steps=15),
        LearnedModesAgent(modes=8, transitions=1_000, train_steps=25),
    ):
        agent.bind(environment)
        episodes = [run_episode(environment, agent, seed=seed) for seed in range(8)]
        assert sum(e.terminated for e in episodes) >= 4
        again = run_episode(environment, agent, seed=0)
        assert again.actions == episodes[0].actions
