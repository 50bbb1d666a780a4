"""The classifier of pool against data, quick enough to be fitted at every step."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import finite_rows, treatments
from scisuite.solvers.active_rct.logistic import Logistic, centre_and_spread

Floats = NDArray[np.float64]

MOST_STEPS = 50
TINY_RIDGE = 1e-9
SMALLEST = 1e-6
TOLERANCE = 1e-8
"""Squared Newton decrement per unit, in nats, at which the last step is taken."""


class WarmLogistic(Logistic):
    """The balanced logistic regression of :class:`Logistic`, by Newton's method from where the last fit ended.

    Between two batches the rows hardly change, so that two or three steps are enough; the optimum does not depend on
    where they begin.
    """

    def __init__(self, l2: float = 1.0) -> None:
        super().__init__(l2, balanced=True)
        self._start: Floats = np.zeros(0)

    def again(self) -> Self:
        """Itself: the classifier to fit next."""
        return self

    def fit(self, x: ArrayLike, label: ArrayLike) -> Self:
        """Fit to x (n, d) and labels (n,) of 0 and 1.

        Raises
        ------
        InvalidInput
            If there is one label only, shapes disagree, or a number is not finite.
        """
        rows = finite_rows("x", x)
        target = treatments(label, len(rows)).astype(float)
        share = float(target.mean()) if len(target) else 0.0
        if not 0 < share < 1:
            raise InvalidInput("a classifier needs both labels: all units here have the same one")
        weight = np.where(target == 1, 0.5 / share, 0.5 / (1 - share))
        self._centre, self._scale = centre_and_spread(rows)
        z = np.column_stack([(rows - self._centre) / self._scale, np.ones(len(rows))])
        penalty = np.append(np.full(rows.shape[1], self.l2), 0.0)
        if len(self._start) != len(penalty):
            self._start = np.zeros(len(penalty))
        self._start = _optimum(z, target, weight, penalty, self._start)
        self._weights, self._intercept = self._start[:-1], float(self._start[-1])
        return self


def _optimum(z: Floats, target: Floats, weight: Floats, penalty: Floats, start: Floats) -> Floats:
    """Where Σ weight · log-loss + ½ Σ penalty · θ² is least."""

    def loss(at: Floats, linear: Floats) -> float:
        return float(weight @ (np.logaddexp(0, linear) - target * linear) + 0.5 * penalty @ at**2)

    at, linear = start, z @ start
    # From where everything is sure and wrong, Newton's steps would lead nowhere.
    if not loss(at, linear) < weight.sum() * np.log(2):
        at, linear = np.zeros(len(start)), np.zeros(len(z))
    for _ in range(MOST_STEPS):
        chance = expit(linear)
        slope = weight * (chance - target)
        gradient = z.T @ slope + penalty * at
        curvature = z.T @ (z * (weight * chance * (1 - chance))[:, None]) + np.diag(penalty + TINY_RIDGE)
        step = np.linalg.solve(curvature, gradient)
        decrement = float(gradient @ step)
        if decrement <= TOLERANCE * len(z):
            return at - step
        # Far from the optimum a whole step may overshoot.
        value, size = loss(at, linear), 1.0
        while size > SMALLEST and loss(at - size * step, linear - size * (z @ step)) > value - 1e-4 * size * decrement:
            size /= 2
        at = at - size * step
        linear = z @ at
    return at
