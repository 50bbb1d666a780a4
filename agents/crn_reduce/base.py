"""What the policies in ``sci/CRNReduce-v0`` share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from scisuite.agents.base import Transition
from scisuite.core import InvalidInput, as_seed
from scisuite.envs.crn_reduce.board import Board, Move
from scisuite.envs.crn_reduce.env import CRNReduceEnv

Options = Callable[[Board], Mapping[int, Move]]
"""The legal moves on a board by their actions, STOP left out."""


class ReducingAgent(ABC):
    """An agent that reads the board of the environment, on which it may look ahead."""

    id = ""
    name = ""

    def __init__(self) -> None:
        self._env: CRNReduceEnv | None = None
        self._begun = False

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is not ``sci/CRNReduce-v0``.
        """
        inner = env.unwrapped
        if not isinstance(inner, CRNReduceEnv):
            raise InvalidInput(f"the agent {self.name!r} acts in sci/CRNReduce-v0, not in {inner}")
        self._env, self._begun = inner, False

    def reset(self, *, seed: int) -> None:
        """Begin an episode."""
        seed = as_seed(seed)
        if self._env is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        self._begun = True
        self._begin(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> np.int64:
        """The next action."""
        if self._env is None or not self._begun:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        action = self._choose(self._env)
        return np.int64(self._env.task.stop if action is None else action)

    def observe(self, transition: Transition) -> None:
        """Learn nothing."""
        return

    def _begin(self, seed: int) -> None:
        """Forget the last episode."""
        return

    @abstractmethod
    def _choose(self, env: CRNReduceEnv) -> int | None:
        """A legal action, ``None`` to stop."""
