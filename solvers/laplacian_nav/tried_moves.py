"""What a navigator knows of its world: the actions that it has tried, and where they led."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.solvers.laplacian_nav.walks import Transitions

UNTRIED = -1
"""What stands for an action where nothing has been tried, so that no action is known."""


@dataclass(frozen=True, eq=False)
class TriedMoves:
    """The actions that were tried in each state, with the relative frequency of their outcomes.

    Parameters
    ----------
    tried : bool (n, A)
    outcomes : float64 CSR (n A, n)
        Row x A + a: how often action a in state x led to each state, summing to one, empty where it was not tried.
    """

    tried: NDArray[np.bool_]
    outcomes: Any

    @classmethod
    def of(cls, transitions: Transitions, n: int, n_actions: int) -> TriedMoves:
        """Count ``transitions`` among ``n`` states.

        Raises
        ------
        InvalidInput
            If a state or action is out of range.
        """
        from scipy.sparse import csr_array

        transitions.require(n, n_actions)
        pair = transitions.state * n_actions + transitions.action
        counts = np.bincount(pair, minlength=n * n_actions)
        share = 1.0 / counts[pair]
        outcomes = csr_array((share, (pair, transitions.next_state)), shape=(n * n_actions, n))
        return cls(counts.reshape(n, n_actions) > 0, outcomes)

    @property
    def n(self) -> int:
        """Number of states."""
        return len(self.tried)

    def walk(self) -> Any:
        """float64 CSR (n, n): P̂, a uniform choice among the tried actions; a state without one stays."""
        from scipy.sparse import csr_array, diags_array

        n, n_actions = self.tried.shape
        tried = self.tried.sum(axis=1)
        share = np.repeat(1.0 / np.maximum(tried, 1), n_actions)
        choice = csr_array((share, np.arange(n * n_actions), np.arange(0, n * n_actions + 1, n_actions)))
        return csr_array(choice @ self.outcomes + diags_array((tried == 0).astype(np.float64)))

    def expected(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """float64 (n, A, g): mean of ``values`` (n, g) where each action leads; −∞ where it was not tried.

        Raises
        ------
        InvalidInput
            If ``values`` has another shape.
        """
        n, n_actions = self.tried.shape
        if values.ndim != 2 or len(values) != n:
            raise InvalidInput(f"values must have shape ({n}, goals), not {values.shape}")
        mean = np.asarray(self.outcomes @ values).reshape(n, n_actions, values.shape[1])
        mean[~self.tried] = -np.inf
        return mean

    def ascent(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """int64 (n, g): the tried action that leads to the largest of ``values`` (n, g) on average.

        Ties go to the lowest action; where nothing was tried it is −1.
        """
        return self.best(self.expected(values))

    def best(self, scores: NDArray[np.float64]) -> NDArray[np.int64]:
        """int64 (n, g): the tried action of the largest of ``scores`` (n, A, g), the lowest of equals, else −1."""
        actions = np.where(self.tried[:, :, None], scores, -np.inf).argmax(axis=1)
        # Among tried actions that all score −∞ argmax would give action 0, which may be untried.
        first_tried = self.tried.argmax(axis=1)
        chosen = np.where(np.take_along_axis(self.tried, actions, axis=1), actions, first_tried[:, None])
        chosen[~self.tried.any(axis=1)] = UNTRIED
        return chosen.astype(np.int64)
