"""Where navigator and goal are, read from the observations of ``sci/LaplacianNav-v0``."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from scisuite.core import InvalidInput
from scisuite.envs.laplacian_nav.env import LaplacianNavEnv
from scisuite.scenarios.nav import GridWorld, NavWorld


class Positions:
    """An environment's present world, and the states that its observations speak of.

    Parameters
    ----------
    env : gymnasium.Env
        ``sci/LaplacianNav-v0`` whose observations are a Dict with ``achieved_goal`` and ``desired_goal``, or, with
        ``goal_conditioned=False`` and ``obs="xy"``, a Box of both.
    who : str
        Who asks, for messages.

    Raises
    ------
    InvalidInput
        If the environment is another, or its observations do not say where both are.
    """

    def __init__(self, env: gym.Env[Any, Any], who: str) -> None:
        inner, space = env.unwrapped, env.observation_space
        if not isinstance(inner, LaplacianNavEnv):
            raise InvalidInput(f"{who} acts in sci/LaplacianNav-v0, not in {inner}")
        self._env = inner
        self._is_dict = isinstance(space, gym.spaces.Dict)
        if isinstance(space, gym.spaces.Dict):
            known = {"achieved_goal", "desired_goal"} <= set(space)
        else:
            known = isinstance(space, gym.spaces.Box) and space.shape == (4,) and inner.task.obs == "xy"
        if not known:
            raise InvalidInput(f"{who} needs observations that say where it and its goal are, not {space}")

    @property
    def world(self) -> NavWorld:
        """The world of the present episode."""
        return self._env.world

    def read(self, observation: Any) -> tuple[int, int]:
        """The states of the navigator and of its goal."""
        if self._is_dict:
            return self._state(observation["achieved_goal"]), self._state(observation["desired_goal"])
        low, span = self._frame()
        return self._state(observation[:2] * span + low), self._state(observation[2:] * span + low)

    def _state(self, place: Any) -> int:
        """The state at a place (row, column)."""
        world = self.world
        if isinstance(world, GridWorld):
            row, column = np.rint(place).astype(np.int64)
            return int(world.index[row, column])
        offset: Any = world.xy - np.asarray(place, dtype=np.float64)
        return int((offset**2).sum(axis=1).argmin())

    def _frame(self) -> tuple[Any, Any]:
        """Least row and column of the world, and how far they reach: what is scaled to [0, 1]."""
        world = self.world
        if isinstance(world, GridWorld):
            return np.zeros(2), np.array(world.shape) - 1
        return world.xy.min(axis=0), np.ptp(world.xy, axis=0)
