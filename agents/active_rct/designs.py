"""Designs for a linear model of the effect: they look at covariates alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scisuite.agents.active_rct.base import TrialAgent, design_rows, spent_units
from scisuite.core import InvalidInput
from scisuite.envs.active_rct.env import ActiveRCTEnv
from scisuite.solvers.active_rct.scores import choose_top

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class LeverageAgent(TrialAgent):
    """The units of the largest leverage φᵀ V⁻¹ φ, V = I + Σ φφᵀ over the units randomised before the batch.

    With the linear learner of ridge 1 that is its uncertainty v. Where actions are weights it needs that learner.
    """

    name = "leverage"

    def _require(self, env: ActiveRCTEnv) -> None:
        if env.task.action == "weights" and env.task.learner != "linear":
            raise InvalidInput(
                f'the agent {self.name!r} needs action="index" or learner="linear", whose uncertainty is the leverage'
            )

    def _weights(self) -> tuple[float, float, float]:
        return 1.0, 0.0, 0.0

    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        rows, inverse = _rows_and_inverse(env, namable)
        return namable[choose_top(np.einsum("ij,ij->i", rows @ inverse, rows), size, rng)]


class DOptimalAgent(TrialAgent):
    """One unit after the other, each the one that enlarges det V most, those of its own batch included in V."""

    name = "d_optimal"

    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        # Shuffled, so that equal units are taken at random.
        namable = rng.permutation(namable)
        rows, inverse = _rows_and_inverse(env, namable)
        leverage = np.einsum("ij,ij->i", rows @ inverse, rows)
        chosen = np.empty(size, dtype=np.int64)
        for place in range(size):
            best = chosen[place] = int(leverage.argmax())
            along = inverse @ rows[best]
            scale = 1 + rows[best] @ along
            inverse = inverse - np.outer(along, along) / scale
            leverage -= (rows @ along) ** 2 / scale
            leverage[best] = -np.inf
        return namable[chosen]


def _rows_and_inverse(env: ActiveRCTEnv, namable: Ints) -> tuple[Floats, Floats]:
    """φ of the units that may be named, and (I + Σ φφᵀ)⁻¹ of those that were randomised."""
    phi = design_rows(env)
    spent = phi[spent_units(env)]
    return phi[env.loop.left[namable]], np.asarray(np.linalg.inv(np.eye(phi.shape[1]) + spent.T @ spent))
