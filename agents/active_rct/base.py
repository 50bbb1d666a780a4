"""What the policies in ``sci/ActiveRCT-v0`` share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite.agents.base import Transition
from scisuite.core import InvalidInput, generator
from scisuite.envs.active_rct.env import ActiveRCTEnv
from scisuite.solvers.active_rct.learners.linear import LinearLearner

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class TrialAgent(ABC):
    """An agent that reads log, pool, learner and batches of the experiment, and names the units of the next batch.

    It needs ``action="index"``, unless it can say what it wants by weights.
    """

    name = ""

    def __init__(self) -> None:
        self._env: ActiveRCTEnv | None = None
        self._rng: np.random.Generator | None = None

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is not ``sci/ActiveRCT-v0``, or its actions are weights and the agent needs to name units.
        """
        inner = env.unwrapped
        if not isinstance(inner, ActiveRCTEnv):
            raise InvalidInput(f"the agent {self.name!r} acts in sci/ActiveRCT-v0, not in {inner}")
        self._require(inner)
        self._env, self._rng = inner, None

    def reset(self, *, seed: int) -> None:
        """Begin an episode."""
        rng = generator(seed, f"active_rct/{self.name}")
        if self._env is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        self._rng = rng

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The next action: weights, or places in the pool."""
        if self._env is None or self._rng is None:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        if self._env.task.action == "weights":
            return np.array(self._weights(), dtype=np.float32)
        env = self._env
        namable = np.flatnonzero(env.loop.left < env.task.n_pool)
        chosen = self._choose(env, namable, min(env.next_size, len(namable)), self._rng)
        action = np.zeros(env.task.batch, dtype=np.int64)
        action[: len(chosen)] = env.loop.left[chosen]
        return action

    def observe(self, transition: Transition) -> None:
        """Learn nothing: the environment's learner does."""
        return

    def _require(self, env: ActiveRCTEnv) -> None:
        """Refuse an environment in which it cannot act."""
        if env.task.action != "index":
            raise InvalidInput(f'the agent {self.name!r} names units: it needs action="index"')

    def _weights(self) -> tuple[float, float, float]:
        """What it wants as weights of v, d and o."""
        raise NotImplementedError

    @abstractmethod
    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        """``size`` of the places ``namable`` in ``env.loop.left``."""


def design_rows(env: ActiveRCTEnv) -> Floats:
    """The basis φ of the pool that a linear model of the effect has, float64 (n_pool, k)."""
    loop = env.loop
    if isinstance(loop.learner, LinearLearner):
        return loop.learner.basis(loop.pool)
    return np.column_stack([np.ones(len(loop.pool)), loop.pool])


def spent_units(env: ActiveRCTEnv) -> Ints:
    """Places in the pool that were randomised, int64 (n,), in order."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *(each.units for each in env.loop.history)])
