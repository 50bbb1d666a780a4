"""The sandwich: how sure least squares may be of an effect, and where it may not be sure at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scisuite.solvers.active_rct.triangle import with_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNSEEN = 1e-10
"""A direction counts as visited if its singular value, of columns brought to one scale, is above this share of the
largest."""
OUTSIDE = 1e-8
"""Share of φ beyond which a part of it counts."""
ALONE = 1e-12
"""How far from one a leverage may be to be one."""


class Sandwich:
    """G⁺ (Σ_g s_g s_gᵀ) G⁺ with G = Σ φφᵀ and s_g = Σ_{i∈g} r_i φ_i, the residuals' scores summed within each group.

    It has nothing to say, and the variance is infinite, in three cases: where φ has a part that no unit had; where φ
    leans on one unit (or group) that alone determines a direction, so that the fit passes through it and its residual
    shows no noise; and everywhere if there are no more units (or groups) than dimensions visited.

    Parameters
    ----------
    phi : float64 (n, d)
        Basis of each unit.
    residual : float64 (n,)
    group : int64 (n,) or None
        What was randomised together, numbered from 0; ``None`` if every unit was alone.

    Attributes
    ----------
    rank : int
        Dimensions that the units have visited.
    """

    def __init__(self, phi: Floats, residual: Floats, group: Ints | None = None) -> None:
        self._seen = phi.any(axis=0)
        self._scale = np.where(self._seen, np.sqrt(np.mean(phi**2, axis=0)), 1.0)
        d = phi.shape[1]
        scaled = phi / self._scale
        _, singular, right = np.linalg.svd(with_rows(np.zeros((d, d)), scaled))
        self.rank = int((singular > UNSEEN * singular[0]).sum())
        self._singular, self._right = singular[: self.rank], right[: self.rank]
        # φ of each unit in coordinates in which G is the identity on what has been visited; made so a second time,
        # because a leverage of one would otherwise be missed by the rounding in directions that were hardly visited.
        units = scaled @ (self._right.T / self._singular)
        units = units @ np.linalg.inv(np.linalg.cholesky(units.T @ units)).T
        scores = units * residual[:, None]
        if group is not None:
            summed = np.zeros((int(group.max()) + 1, self.rank))
            np.add.at(summed, group, scores)
            scores = summed
        self._too_few = len(scores) <= self.rank
        # As a square, so that rounding leaves no negative variance.
        self._root = with_rows(np.zeros((self.rank, self.rank)), scores)
        self._alone = _alone(units, group)

    def variance(self, rows: Floats) -> Floats:
        """Variance of ⟨θ̂, φ⟩, float64 (m,), for φ (m, d); infinite where nothing can be said."""
        scaled = rows / self._scale
        visited = scaled @ self._right.T
        outside = np.linalg.norm(scaled - visited @ self._right, axis=1) > OUTSIDE * np.linalg.norm(scaled, axis=1)
        weights = visited / self._singular
        leaning = np.abs(weights @ self._alone.T) > OUTSIDE * np.linalg.norm(weights, axis=1, keepdims=True)
        unknown = outside | rows[:, ~self._seen].any(axis=1) | leaning.any(axis=1)
        if self._too_few:
            unknown |= rows.any(axis=1)
        return np.where(unknown, np.inf, ((weights @ self._root.T) ** 2).sum(axis=1))

    def covariance(self) -> Floats:
        """Covariance of θ̂, float64 (d, d). A coefficient of which nothing can be said has an infinite variance, and
        NaN for its covariances."""
        d = len(self._scale)
        root = (self._right / self._singular[:, None] / self._scale).T @ self._root.T
        cov = np.asarray(root @ root.T)
        unknown = np.isinf(self.variance(np.eye(d)))
        cov[unknown] = np.nan
        cov[:, unknown] = np.nan
        cov[unknown, unknown] = np.inf
        return cov


def _alone(units: Floats, group: Ints | None) -> Floats:
    """Directions float64 (k, rank) that one unit or group determines alone, where ``units`` have Σ φφᵀ = I."""
    leverage = np.einsum("ij,ij->i", units, units)
    if group is None:
        return np.asarray(units[leverage > 1 - ALONE])
    directions = [np.zeros((0, units.shape[1]))]
    # A group's largest eigenvalue is at most the sum of its leverages.
    for label in np.flatnonzero(np.bincount(group, leverage) > 1 - ALONE):
        _, singular, right = np.linalg.svd(units[group == label], full_matrices=False)
        directions.append(right[singular**2 > 1 - ALONE])
    return np.concatenate(directions)
