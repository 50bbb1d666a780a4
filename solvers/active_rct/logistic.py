"""Logistic regression: the historical policy, and what tells the pool from the data at hand."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import expit

from scisuite.core import InvalidInput, NotFitted
from scisuite.scenarios.trials import finite_rows, treatments

Floats = NDArray[np.float64]


class Logistic:
    """P(label = 1 | x) = σ(⟨w, z⟩ + b) on standardised covariates z, by penalised maximum likelihood.

    For the base install, which has no scikit-learn; any classifier with ``fit`` and ``predict_proba`` will do instead.

    Parameters
    ----------
    l2 : float
        Penalty ½ l2 ‖w‖², the intercept left out.
    balanced : bool
        Whether both labels count alike in sum: without it the rarer one is given away and the prediction saturates.

    Raises
    ------
    InvalidInput
        If ``l2`` is negative.
    """

    def __init__(self, l2: float = 1.0, balanced: bool = False) -> None:
        if not (isinstance(l2, int | float) and l2 >= 0):
            raise InvalidInput(f"l2 must not be negative, not {l2!r}")
        self.l2, self.balanced = float(l2), bool(balanced)
        self._centre = self._scale = self._weights = np.zeros(0)
        self._intercept = 0.0

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
        weight = np.where(target == 1, 0.5 / share, 0.5 / (1 - share)) if self.balanced else np.ones(len(rows))
        self._centre, self._scale = centre_and_spread(rows)
        z = (rows - self._centre) / self._scale

        def loss(parameters: Floats) -> tuple[float, Floats]:
            linear = z @ parameters[:-1] + parameters[-1]
            value = weight @ (np.logaddexp(0, linear) - target * linear)
            slope = weight * (expit(linear) - target)
            gradient = np.append(z.T @ slope + self.l2 * parameters[:-1], slope.sum())
            return float(value + 0.5 * self.l2 * parameters[:-1] @ parameters[:-1]), gradient

        found = minimize(loss, np.zeros(z.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500})
        self._weights, self._intercept = found.x[:-1], float(found.x[-1])
        return self

    def predict_proba(self, x: ArrayLike) -> Floats:
        """float64 (n, 2): probabilities of the labels 0 and 1 for x (n, d).

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If x has another width or is not finite.
        """
        if not len(self._weights):
            raise NotFitted("the classifier has not been fitted")
        rows = finite_rows("x", x)
        if rows.shape[1] != len(self._weights):
            raise InvalidInput(f"x has {rows.shape[1]} covariates, the classifier was fitted to {len(self._weights)}")
        slope = self._weights / self._scale
        chance = expit(rows @ slope + (self._intercept - self._centre @ slope))
        return np.column_stack([1 - chance, chance])


def centre_and_spread(x: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each covariate of x (n, d), float64 (d,) each; the latter 1 where it is constant.

    A constant's computed deviation may be a rounding error and not 0; to divide by that would turn the least change
    elsewhere into an enormous one.
    """
    centre, spread = x.mean(axis=0), x.std(axis=0)
    return centre, np.where(varies(x), spread, 1.0)


def varies(x: Floats) -> NDArray[np.bool_]:
    """Whether each covariate of x (n, d) differs between units by more than rounding does, bool (d,)."""
    return np.asarray(x.std(axis=0) > 1e-9 * np.abs(x.mean(axis=0)))
