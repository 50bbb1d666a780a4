"""``sci/LABOFlat-v0``: the same decisions for libraries that take no Dict actions, Stable-Baselines3 among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.envs.labo.env import LABOEnv
from scisuite.envs.labo.task import REAL, Array
from scisuite.envs.labo.vector import LABOVectorEnv


class LABOFlatEnv(LABOEnv):
    """``sci/LABO-v0`` with an action and an observation of one array each.

    Everything that is not said here is as in :class:`~scisuite.envs.labo.env.LABOEnv`: the same seed and the same
    decisions give the same values, rewards and infos.

    Observation
    -----------
    ``Box`` float32: the parts of the Dict observation, each row by row, one after the other, in the order ``D_L``
    (max_llm · (d + 1)), ``D_R`` (budget · (d + 1)), ``llm_left``, ``mask_L``, ``mask_R``, ``real_left``: what
    ``gymnasium.spaces.flatten`` makes of it. Values lie in [−1, 2], everything else in [0, 1].

    Action
    ------
    ``MultiDiscrete([N, 2])`` where the scenario has a pool: a row of it, and the source (0 predictor, 1 real). Else
    ``Box`` [0, 1] (d + 1,) float32: the encoded point, and the source, which is real where the last entry is above ½.

    Reward
    ------
    As in ``sci/LABO-v0``.

    Termination
    -----------
    As in ``sci/LABO-v0``.

    Info
    ----
    As in ``sci/LABO-v0``.

    Arguments
    ---------
    As in ``sci/LABO-v0``.

    Source
    ------
    As for ``sci/LABO-v0``.
    """

    def _set_spaces(self) -> None:
        self.observation_space = self.task.flat_observation_space()
        self.action_space = self.task.flat_action_space()

    def _parse(self, action: Any) -> tuple[int | Array, int]:
        task = self.task
        if task.pool is not None:
            try:
                x, source = action
            except (TypeError, ValueError):
                raise InvalidInput(f"an action is (pool row, source), not {action!r}") from None
            return task.point(x), task.source(source)
        try:
            entries = np.array(action, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"an action is {task.d + 1} numbers in [0, 1], not {action!r}") from None
        if entries.shape != (task.d + 1,):
            raise InvalidInput(f"an action must have shape ({task.d + 1},), not {entries.shape}")
        if not 0.0 <= entries[-1] <= 1.0:
            raise InvalidInput(f"the last entry of an action, the source, must be in [0, 1], not {entries[-1]}")
        return task.point(entries[:-1]), REAL if entries[-1] > 0.5 else 1 - REAL

    def _observation(self) -> Any:
        shares = self._shares()
        return np.concatenate(
            (self._D_L.ravel(), self._D_R.ravel(), shares[:1], self._mask_L, self._mask_R, shares[1:]), dtype=np.float32
        )


class LABOFlatVectorEnv(LABOVectorEnv):
    """Copies of :class:`LABOFlatEnv`; see :class:`~scisuite.envs.labo.vector.LABOVectorEnv`."""

    def _set_spaces(self) -> None:
        self.single_observation_space = self.task.flat_observation_space()
        self.single_action_space = self.task.flat_action_space()

    def _parse(self, actions: Any) -> tuple[Any, NDArray[np.intp]]:
        width = 2 if self.task.pool is not None else self.task.d + 1
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs, width):
            raise InvalidInput(f"actions must have shape ({self.num_envs}, {width}), not {actions.shape}")
        if self.task.pool is not None:
            return self._points(actions[:, 0]), self._source(actions[:, 1])
        last = actions[:, -1]
        if not ((last >= 0) & (last <= 1)).all():
            raise InvalidInput(f"the last entry of an action, the source, must be in [0, 1], not {last}")
        return self._points(actions[:, :-1]), np.where(last > 0.5, REAL, 1 - REAL)

    def _observations(self) -> Any:
        n, shares = self.num_envs, self._shares()
        parts = (
            self._D_L.reshape(n, -1),
            self._D_R.reshape(n, -1),
            shares[:, :1],
            self._mask_L,
            self._mask_R,
            shares[:, 1:],
        )
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def _observation(self, i: int) -> Any:
        shares = self._shares()[i]
        parts = (self._D_L[i].ravel(), self._D_R[i].ravel(), shares[:1], self._mask_L[i], self._mask_R[i], shares[1:])
        return np.concatenate(parts, dtype=np.float32)
