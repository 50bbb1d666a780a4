"""Outcomes whose mean, given the covariates, is the treatment effect."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import finite_column, propensities, treatments

Floats = NDArray[np.float64]


def pseudo_outcome(
    t: ArrayLike, y: ArrayLike, p: ArrayLike, mu0: ArrayLike | None = None, mu1: ArrayLike | None = None
) -> Floats:
    """Ỹ with E[Ỹ | x, p, past] = τ(x) for units randomised with known probability p.

    Ỹ = T(Y − μ̂₁)/p − (1 − T)(Y − μ̂₀)/(1 − p) + μ̂₁ − μ̂₀; inverse propensity weighting where μ̂ = 0 (Algorithm 2),
    augmented otherwise (our extension). It is unbiased for any μ̂ that was fixed before the unit's own outcome was seen:
    from past batches, or from the observational log.

    Parameters
    ----------
    t : int (n,)
        Treatments, 0 or 1.
    y : float (n,)
        Outcomes.
    p : float (n,) or float
        Probability of treatment, in (0, 1).
    mu0, mu1 : float (n,) or float, or None
        Predicted outcomes untreated and treated; 0 by default. Both or neither.

    Returns
    -------
    float64 (n,)
        In units of the outcome.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, a treatment is neither 0 nor 1, a probability is not in (0, 1), or
        only one prediction is given.
    """
    outcome = finite_column("y", y)
    n = len(outcome)
    treated, chance = treatments(t, n), propensities(p, n)
    if (mu0 is None) != (mu1 is None):
        raise InvalidInput("mu0 and mu1 are given both or neither")
    untreated_mean = _prediction("mu0", mu0, n)
    treated_mean = _prediction("mu1", mu1, n)
    weighted = np.where(treated == 1, (outcome - treated_mean) / chance, -(outcome - untreated_mean) / (1 - chance))
    return np.asarray(weighted + treated_mean - untreated_mean)


def _prediction(name: str, values: ArrayLike | None, n: int) -> Floats:
    if values is None:
        return np.zeros(n)
    return finite_column(name, np.full(n, values) if np.ndim(values) == 0 else values, n)
