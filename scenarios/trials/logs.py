"""Confounded logs with next to no overlap in places, made by a known policy.

The policy is of somebody who targets: a unit of targeting score s (standardised) is treated with probability

    π = σ(a s, clipped to ±logit(1 − floor), + b h),

so that units of large |s| are treated nearly always or nearly never (no overlap), and the treated differ from the
untreated in s (bias, which goes away given the covariates). The hint h is what the policy knew and the log does not
show; with b ≠ 0 a bias stays whatever is adjusted for.

From randomised units the log is a subsample (*confounded subsampling*): a unit with treatment t and known probability
p is kept with probability c π/p if t = 1 and c (1 − π)/(1 − p) if t = 0. Among those that are kept, a unit of given
(s, h) was treated with probability π exactly, if h was fixed before treatment, and every outcome is one that was
measured. Where h is the outcome itself (0 or 1), as in the replayed trials, treatment has moved it and only the odds
ratio is known: between outcome and treatment, given x, the log's is exp(b) times the trial's.

The policy and its numbers are a reconstruction.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.trials.trial import finite_column, finite_rows, propensities, treatments

Floats = NDArray[np.float64]


def targeting_policy(
    score: ArrayLike,
    *,
    steepness: float = 3.0,
    floor: float = 0.02,
    hint: ArrayLike | None = None,
    strength: float = 0.0,
) -> Floats:
    """Probability π (n,) that the policy treats each unit; see this module.

    Parameters
    ----------
    score : float (n,)
        Targeting score s, in its own standard deviations.
    steepness : float
        a, in log odds.
    floor : float
        Of π and 1 − π while the hint is silent, in (0, ½).
    hint : float (n,) or None
        h.
    strength : float
        b, in log odds.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, or ``floor`` is not in (0, ½).
    """
    if not 0 < floor < 0.5:
        raise InvalidInput(f"floor must be in (0, ½), not {floor}")
    if not (math.isfinite(steepness) and math.isfinite(strength)):
        raise InvalidInput("steepness and strength must be finite")
    s = finite_column("score", score)
    bound = math.log((1 - floor) / floor)
    log_odds = np.clip(steepness * s, -bound, bound)
    if hint is not None:
        log_odds = log_odds + strength * finite_column("hint", hint, len(s))
    return np.asarray(0.5 * (1 + np.tanh(log_odds / 2)))


def confounded_subsample(rng: np.random.Generator, t: ArrayLike, p: ArrayLike, policy: ArrayLike) -> NDArray[np.int64]:
    """Places (m,), ascending, of the randomised units that a log made by ``policy`` would hold; see this module.

    Parameters
    ----------
    rng : numpy.random.Generator
    t : int (n,)
        Treatments, 0 or 1.
    p : float (n,) or float
        Known probabilities of treatment.
    policy : float (n,)
        π of :func:`targeting_policy`.

    Returns
    -------
    int64 (m,)
        With m about n·min(p/max π, (1 − p)/max(1 − π)): few where one arm of the trial is rare.

    Raises
    ------
    InvalidInput
        If lengths differ, a treatment is neither 0 nor 1, a probability is not in (0, 1), or one arm of the log would
        be empty.
    """
    treated = treatments(t)
    known = propensities(p, len(treated))
    wanted = propensities(policy, len(treated))
    ratio = np.where(treated == 1, wanted / known, (1 - wanted) / (1 - known))
    largest = max((wanted / known).max(initial=0), ((1 - wanted) / (1 - known)).max(initial=0))
    kept = np.flatnonzero(rng.random(len(treated)) * largest < ratio)
    arms = np.unique(treated[kept])
    if len(arms) < 2:
        raise InvalidInput(f"a log of {len(treated)} units would hold {'one arm' if len(arms) else 'nobody'}: too few")
    return kept


def targeting_score(x: ArrayLike, weights: ArrayLike) -> Floats:
    """The index ⟨weights, x⟩ (n,), less its mean and over its standard deviation.

    Raises
    ------
    InvalidInput
        If shapes do not fit, a number is not finite, or all units have the same index.
    """
    rows = finite_rows("x", x)
    index = rows @ finite_column("weights", weights, rows.shape[1])
    spread = index.std()
    if not spread > 1e-12 * max(1.0, float(np.abs(index).max(initial=0))):
        raise InvalidInput("every unit has the same targeting score")
    return np.asarray((index - index.mean()) / spread)
