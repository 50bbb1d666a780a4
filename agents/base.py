"""The contract of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import gymnasium as gym


@dataclass(frozen=True)
class Transition:
    """One step of an episode, as an agent learns of it."""

    observation: Any
    action: Any
    reward: float
    next_observation: Any
    terminated: bool
    truncated: bool
    info: dict[str, Any]


@runtime_checkable
class Agent(Protocol):
    """A policy that runs in ``scisuite run``, in an experiment and in a test.

    ``bind`` is called once with the environment. An agent may read its spaces and what its scenario declares (space,
    pool, bounds, units); calling the scenario's ``evaluate`` would be reading the answers.
    """

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Learn the spaces; :class:`~scisuite.core.InvalidInput` if the agent cannot act in ``env``."""

    def reset(self, *, seed: int) -> None:
        """Begin an episode: forget the last one, draw from ``seed``."""

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The next action, in ``env.action_space``."""

    def observe(self, transition: Transition) -> None:
        """Learn what the action brought."""
