from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from scisuite.agents import Transition, run_episode
from scisuite.core import InvalidInput, generator


class Wanderer:
    """Random actions, and a record of what it is told."""

    def bind(self, env: gym.Env[Any, Any]) -> None:
        self.n = int(env.action_space.n)  # type: ignore[attr-defined]

    def reset(self, *, seed: int) -> None:
        self.rng = generator(seed, "wanderer")
        self.seen: list[Transition] = []

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return int(self.rng.integers(self.n))

    def observe(self, transition: Transition) -> None:
        self.seen.append(transition)


@pytest.fixture
def env() -> gym.Env[Any, Any]:
    return gym.make("CartPole-v1")


def test_episode_is_complete(env: gym.Env[Any, Any]) -> None:
    agent = Wanderer()
    agent.bind(env)
    steps: list[Transition] = []
    episode = run_episode(env, agent, seed=3, on_step=steps.append)
    assert episode.length == len(episode.rewards) == len(steps) == len(agent.seen) > 5
    assert len(episode.observations) == len(episode.infos) == episode.length + 1
    assert episode.total_reward == episode.length
    assert episode.terminated
    assert not episode.truncated
    first, second = steps[:2]
    assert np.array_equal(first.next_observation, second.observation)
    assert steps[-1].terminated
    again = run_episode(env, agent, seed=3)
    assert again.actions == episode.actions
    assert np.array_equal(again.observations, episode.observations)
    assert run_episode(env, agent, seed=4).actions != episode.actions


def test_max_steps(env: gym.Env[Any, Any]) -> None:
    agent = Wanderer()
    agent.bind(env)
    episode = run_episode(env, agent, seed=3, max_steps=2)
    assert episode.length == 2
    assert not episode.terminated


@pytest.mark.parametrize("seed", [-1, 1.0, "1", None])
def test_bad_seed(env: gym.Env[Any, Any], seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed must be"):
        run_episode(env, Wanderer(), seed=seed)
