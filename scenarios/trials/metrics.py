"""How good an estimate of an effect is: against the truth where it is known, else against randomised outcomes."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.trials.trial import finite_column, propensities, treatments

Floats = NDArray[np.float64]


def pehe(estimate: ArrayLike, tau: ArrayLike) -> float:
    """Precision in estimating heterogeneous effects: √mean((τ̂ − τ)²), in units of the outcome.

    Raises
    ------
    InvalidInput
        If lengths differ, there is no unit, or a number is not finite.
    """
    truth = finite_column("tau", tau)
    guess = finite_column("estimate", estimate, len(truth))
    _require_some(truth)
    return float(np.sqrt(np.mean((guess - truth) ** 2)))


def gain_curve(score: ArrayLike, t: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """The Qini curve: Q(k) = Y_T(k) − Y_C(k)·n_T(k)/n_C(k) over the k units with the highest scores.

    Units of equal score enter together, so that their order says nothing. While there is no untreated unit the second
    term is 0.

    Returns
    -------
    k : float64 (m,)
        Numbers of units, from 0.
    q : float64 (m,)
        Additional outcome, in units of the outcome.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, or a treatment is neither 0 nor 1.
    """
    outcome, treated, order, last = _ordered(score, t, y)
    outcome, treated = outcome[order], treated[order]
    n_treated, n_untreated = np.cumsum(treated)[last], np.cumsum(1 - treated)[last]
    y_treated, y_untreated = np.cumsum(outcome * treated)[last], np.cumsum(outcome * (1 - treated))[last]
    with np.errstate(divide="ignore", invalid="ignore"):
        q = y_treated - np.where(n_untreated > 0, y_untreated * n_treated / n_untreated, 0.0)
    return np.concatenate([[0.0], last + 1.0]), np.concatenate([[0.0], q])


def qini(score: ArrayLike, t: ArrayLike, y: ArrayLike) -> float:
    """Qini coefficient of binary outcomes, as scikit-uplift's with ``negative_effect=True``.

    The area between the Qini curve and the straight line to its end, over the same area of the ordering that has
    treated responders first and untreated responders last. 0 for a constant score. It is at most 1 where the share of
    the untreated that respond is at most the share of units that are treated; beyond, that ordering is not the best one
    and 1 can be exceeded, in scikit-uplift too.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, outcomes are not 0 and 1, or one arm is empty, so that the best
        ordering is no better than chance.
    """
    outcome = finite_column("y", y)
    treated = treatments(t, len(outcome))
    if not np.isin(outcome, (0, 1)).all():
        raise InvalidInput("qini is for outcomes of 0 and 1; use cumulative_gain or pehe for others")
    _require_some(outcome)
    k, q = gain_curve(score, treated, outcome)
    # Treated responders first, untreated responders last, and those who answered nothing in between.
    best_k, best_q = gain_curve(np.where(treated == 1, outcome, -outcome), treated, outcome)
    line = 0.5 * k[-1] * q[-1]
    best = float(np.trapezoid(best_q, best_k)) - line
    if best <= 0 or treated.min() == treated.max():
        raise InvalidInput("qini needs both arms and outcomes of both kinds: no ordering would be better than chance")
    return float((np.trapezoid(q, k) - line) / best)


def auuc(
    score: ArrayLike, t: ArrayLike, y: ArrayLike, *, baseline: Literal["theoretical", "none"] = "theoretical"
) -> float:
    """Area under the uplift curve per unit, u(k) = (Ȳ_T(k) − Ȳ_C(k))·k/n, above the straight line to its end.

    It keeps the sign of what the ordering gains, also where the average effect is negative. ``baseline="none"`` leaves
    the straight line in.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, or there is no such baseline.
    """
    if baseline not in ("theoretical", "none"):
        raise InvalidInput(f"baseline must be theoretical or none, not {baseline!r}")
    k, u = uplift_curve(score, t, y)
    area = float(np.trapezoid(u, k)) / k[-1]
    return float(area - (0.5 * u[-1] if baseline == "theoretical" else 0.0))


def uplift_curve(score: ArrayLike, t: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Difference of the arms' mean outcomes among the k units with the highest scores, times k/n.

    Units of equal score enter together; 0 while one arm is empty.

    Returns
    -------
    k, u : float64 (m,)
    """
    outcome, treated, order, last = _ordered(score, t, y)
    outcome, treated = outcome[order], treated[order]
    n_treated, n_untreated = np.cumsum(treated)[last], np.cumsum(1 - treated)[last]
    y_treated, y_untreated = np.cumsum(outcome * treated)[last], np.cumsum(outcome * (1 - treated))[last]
    k = last + 1.0
    both = (n_treated > 0) & (n_untreated > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(both, (y_treated / n_treated - y_untreated / n_untreated) * k / len(outcome), 0.0)
    return np.concatenate([[0.0], k]), np.concatenate([[0.0], u])


def cumulative_gain(score: ArrayLike, t: ArrayLike, y: ArrayLike, p: ArrayLike | None = None) -> float:
    """Mean over k of the estimated total gain of treating the k units with the highest scores, less chance's, per unit.

    For outcomes of any kind: each unit counts with its inverse-propensity pseudo-outcome; ``p`` (n,) or one number is
    the known probability of treatment, by default the treated share.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, a probability is not in (0, 1), or one arm is empty.
    """
    outcome, treated, order, last = _ordered(score, t, y)
    n = len(outcome)
    share = float(treated.mean())
    if not 0 < share < 1:
        raise InvalidInput("cumulative_gain needs treated and untreated units")
    chance = propensities(share if p is None else p, n)
    effect = treated * outcome / chance - (1 - treated) * outcome / (1 - chance)
    total = np.concatenate([[0.0], np.cumsum(effect[order])[last]])
    k = np.concatenate([[0.0], last + 1.0])
    return float(np.trapezoid(total - k / n * total[-1], k)) / n**2


def policy_value(treat: ArrayLike, t: ArrayLike, y: ArrayLike, p: ArrayLike) -> float:
    """Mean outcome if exactly the units with ``treat`` were treated, by inverse propensity weights that sum to one.

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, a probability is not in (0, 1), or no unit got what the policy would
        give.
    """
    outcome = finite_column("y", y)
    n = len(outcome)
    treated = treatments(t, n)
    wanted = treatments(np.asarray(treat, dtype=float), n)
    chance = propensities(p, n)
    weight = (wanted == treated) / np.where(wanted == 1, chance, 1 - chance)
    if not weight.sum():
        raise InvalidInput("no unit got the treatment that the policy would give it")
    return float(weight @ outcome / weight.sum())


def coverage(low: ArrayLike, high: ArrayLike, truth: ArrayLike) -> float:
    """Share of the intervals [low, high] (n,) that hold the truth (n,). A bound may be infinite.

    Raises
    ------
    InvalidInput
        If lengths differ, a bound is NaN, the truth is not finite, or there is no interval.
    """
    true = finite_column("truth", truth)
    _require_some(true)
    return float(np.mean((_bounds("low", low, len(true)) <= true) & (true <= _bounds("high", high, len(true)))))


def interval_width(low: ArrayLike, high: ArrayLike) -> float:
    """Mean width of the intervals [low, high] (n,), in units of the outcome; infinite where a bound is.

    Raises
    ------
    InvalidInput
        If lengths differ, a bound is NaN, or there is no interval.
    """
    below = _bounds("low", low)
    _require_some(below)
    width = _bounds("high", high, len(below)) - below
    return float(width.mean()) if np.isfinite(width).all() else math.inf


def _bounds(name: str, values: ArrayLike, n: int | None = None) -> Floats:
    """``values`` as float64 (n,); infinities may stand in it."""
    bounds = np.asarray(values, dtype=float)
    finite_column(name, np.where(np.isinf(bounds), 0.0, bounds), n)
    return bounds


def _ordered(
    score: ArrayLike, t: ArrayLike, y: ArrayLike
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Outcomes, treatments, the order of descending scores, and where in it each run of equal scores ends."""
    outcome = finite_column("y", y)
    _require_some(outcome)
    treated = treatments(t, len(outcome))
    scores = finite_column("score", score, len(outcome))
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    last = np.flatnonzero(np.concatenate([ranked[1:] != ranked[:-1], [True]]))
    return outcome, treated, order, last


def _require_some(values: Floats) -> None:
    if not len(values):
        raise InvalidInput("there are no units to judge by")
