"""One episode of an agent in an environment: the loop behind ``scisuite run``, experiments and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gymnasium as gym

from scisuite.agents.base import Agent, Transition
from scisuite.core import as_seed


@dataclass
class Episode:
    """What happened, step by step.

    ``observations`` and ``infos`` begin with those of ``reset`` and are one longer than ``actions`` and ``rewards``.
    """

    seed: int
    observations: list[Any] = field(default_factory=list)
    actions: list[Any] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    infos: list[dict[str, Any]] = field(default_factory=list)
    terminated: bool = False
    truncated: bool = False

    @property
    def total_reward(self) -> float:
        return float(sum(self.rewards))

    @property
    def length(self) -> int:
        """Steps taken."""
        return len(self.actions)


def run_episode(
    env: gym.Env[Any, Any],
    agent: Agent,
    *,
    seed: int,
    options: dict[str, Any] | None = None,
    on_step: Callable[[Transition], None] | None = None,
    max_steps: int | None = None,
) -> Episode:
    """Run ``agent``, which is already bound to ``env``, until the episode ends.

    Parameters
    ----------
    env, agent
    seed : int
        Of the environment's ``reset`` and of the agent's: the same seed gives the same episode.
    options : dict or None
        Passed to ``env.reset``.
    on_step : callable or None
        Called with each :class:`~scisuite.agents.Transition` after the agent has observed it: progress, a recorder.
    max_steps : int or None
        Stop after so many steps even if the episode goes on.

    Raises
    ------
    InvalidInput
        If the seed is no non-negative integer; whatever the environment or the agent raises passes through.
    """
    seed = as_seed(seed)
    observation, info = env.reset(seed=seed, options=options)
    agent.reset(seed=seed)
    episode = Episode(seed, [observation], infos=[info])
    while not (episode.terminated or episode.truncated) and (max_steps is None or episode.length < max_steps):
        action = agent.act(observation, info)
        following, reward, terminated, truncated, info = env.step(action)
        transition = Transition(observation, action, float(reward), following, terminated, truncated, info)
        agent.observe(transition)
        if on_step is not None:
            on_step(transition)
        observation = following
        episode.observations.append(observation)
        episode.actions.append(action)
        episode.rewards.append(float(reward))
        episode.infos.append(info)
        episode.terminated, episode.truncated = bool(terminated), bool(truncated)
    return episode
