"""Algorithm 1's score with fixed weights, and chance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scisuite.agents.active_rct.base import TrialAgent
from scisuite.core import InvalidInput
from scisuite.envs.active_rct.env import ActiveRCTEnv
from scisuite.solvers.active_rct.scores import choose_top, score_pool, score_weights

Ints = NDArray[np.int64]


class ScoreAgent(TrialAgent):
    """The units of the highest α η(v) + β η(d) + γ η(o).

    Parameters
    ----------
    weights : (float, float, float)
        α, β, γ in [0, 1], not all zero.

    Raises
    ------
    InvalidInput
        If they are not.
    """

    name = "score"

    def __init__(self, weights: Sequence[float] = (1.0, 1.0, 1.0)) -> None:
        super().__init__()
        self.weights = score_weights(weights)
        if max(self.weights) > 1:
            raise InvalidInput(f"weights must be in [0, 1], not {self.weights}")

    def _require(self, env: ActiveRCTEnv) -> None:
        return

    def _weights(self) -> tuple[float, float, float]:
        return self.weights

    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        score = score_pool(*env.terms, self.weights)
        return namable[choose_top(score[namable], size, rng)]


class RandomAgent(TrialAgent):
    """Any units that are left: the design to beat."""

    name = "random"

    def _require(self, env: ActiveRCTEnv) -> None:
        return

    def _weights(self) -> tuple[float, float, float]:
        return 0.0, 0.0, 0.0

    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        return rng.choice(namable, size, replace=False)
