"""A claim's statistic and its interval over seeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import EXACT, Claim, Statistic
from scisuite.core import InvalidInput, generator

RESAMPLES = 10_000
LEVEL = 0.95
FEWEST_SEEDS_TO_RESAMPLE = 6
"""Below this the interval is the least and the greatest seed: at three seeds a 95 % bootstrap covers 73 %."""

Array = NDArray[np.float64]

# Of one arm; a comparison takes the mean of each arm and then compares.
_OF_ONE_ARM: Mapping[Statistic, Callable[..., Any]] = {
    "mean": np.mean,
    "ratio_of_means": np.mean,
    "difference_of_means": np.mean,
    "median": np.median,
    "minimum": np.min,
    "maximum": np.max,
}


def point(claim: Claim, values: Array, against: Array | None) -> float:
    """The claim's statistic; the arguments are those of :func:`interval`."""
    of_arm = np.array([_of_one_arm(claim, values.ravel())])
    if against is None:
        return float(of_arm[0])
    return float(_compare(claim, of_arm, np.array([_of_one_arm(claim, against.ravel())]))[0])


def interval(claim: Claim, scenario: str, values: Array, against: Array | None, paired: bool) -> tuple[float, float]:
    """The interval of the claim's statistic, as :func:`scisuite.bench.claims.judge` describes it.

    Parameters
    ----------
    claim : Claim
    scenario : str
        With the claim's id, it seeds the resampling.
    values : float64 (n,) or (n, k)
        The metric, or the k pooled ones, of the claim's arm, in the order of its n seeds.
    against : float64 (m,) or (m, k) or None
        The same of the other arm; n = m, seed by seed, where ``paired``.
    paired : bool

    Raises
    ------
    InvalidInput
        If a ratio's denominator reaches zero in a resample, so that the ratio has no finite interval.
    """
    if claim.statistic in EXACT:
        value = point(claim, values, against)
        return value, value
    if min(len(values), len(values if against is None else against)) < FEWEST_SEEDS_TO_RESAMPLE:
        per_seed = _per_seed(claim, values, against, paired)
        return float(per_seed.min()), float(per_seed.max())
    rng = generator(0, "claim", claim.id, scenario)
    draws = rng.integers(0, len(values), (RESAMPLES, len(values)))
    resampled = _of_one_arm(claim, _rows(values[draws]))
    if against is not None:
        if not paired:
            draws = rng.integers(0, len(against), (RESAMPLES, len(against)))
        resampled = _compare(claim, resampled, _of_one_arm(claim, _rows(against[draws])))
    return _percentiles(resampled)


def resampled(
    metric: str,
    groups: Sequence[Array],
    statistic: Callable[..., Any],
    rng: np.random.Generator,
    *,
    resamples: int = RESAMPLES,
) -> dict[str, float]:
    """A statistic of means with its interval over the units that a cell ran itself, as metrics of that cell.

    Parameters
    ----------
    metric : str
        Name of the statistic.
    groups : sequence of float64 (n_i, k_i)
        Units in rows; each group is resampled by itself. Whatever belongs to one unit stands in its row.
    statistic : callable
        Of the groups' column means, float64 (..., k_i) each; gives (...).
    rng : numpy.random.Generator
        Draws the resamples, 10 000 by default.

    Returns
    -------
    dict
        ``metric``, ``metric_low`` and ``metric_high``, the bounds of the 95 % percentile interval; below six units of
        a single group, the least and the greatest of the statistic taken unit by unit.

    Raises
    ------
    InvalidInput
        If there is no unit.
    """
    if not groups or any(group.ndim != 2 or not len(group) for group in groups):
        raise InvalidInput("there is nothing to resample: every group needs units in rows")
    value = float(statistic(*(group.mean(axis=0) for group in groups)))
    if len(groups) == 1 and len(groups[0]) < FEWEST_SEEDS_TO_RESAMPLE:
        each = np.asarray(statistic(groups[0]))
        low, high = float(each.min()), float(each.max())
    else:
        low, high = _percentiles(np.asarray(statistic(*(_resampled_means(group, rng, resamples) for group in groups))))
    return {metric: value, f"{metric}_low": low, f"{metric}_high": high}


def _resampled_means(group: Array, rng: np.random.Generator, resamples: int) -> Array:
    """Column means of ``resamples`` draws with replacement, (resamples, k), a block of draws at a time."""
    n = len(group)
    means = np.empty((resamples, group.shape[1]))
    block = max(1, 4_000_000 // n)
    for begin in range(0, resamples, block):
        size = min(block, resamples - begin)
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[begin : begin + size] = counts @ group / n
    return means


def joint_interval(claim: Claim, cases: Sequence[Array]) -> tuple[float, float]:
    """The interval of the worst or the median of several cases, whose seeds are resampled together.

    See :func:`interval`. Below six seeds, the worst of the cases' least and the worst of their greatest; of the median
    the least and the greatest seed.

    Parameters
    ----------
    claim : Claim
    cases : sequence of float64 (n,) or (n, k)
        The values of each arm on each scenario, all in the order of the same seeds.
    """
    worst = _across(claim)
    if claim.statistic in EXACT:
        value = float(worst([point(claim, values, None) for values in cases]))
        return value, value
    if len(cases[0]) < FEWEST_SEEDS_TO_RESAMPLE:
        # Each case's own least and greatest: the worst case seed by seed would lie beyond the worst of the medians.
        per_seed = [_per_seed(claim, values, None, True) for values in cases]
        if claim.across == "median":
            medians = np.median(per_seed, axis=0)
            return float(medians.min()), float(medians.max())
        return float(worst([each.min() for each in per_seed])), float(worst([each.max() for each in per_seed]))
    draws = generator(0, "claim", claim.id, "jointly").integers(0, len(cases[0]), (RESAMPLES, len(cases[0])))
    return _percentiles(worst([_of_one_arm(claim, _rows(values[draws])) for values in cases], axis=0))


def joint_point(claim: Claim, values: Sequence[float]) -> float:
    """The worst or the median of the cases' values, as the claim asks."""
    return float(_across(claim)(values))


def _across(claim: Claim) -> Callable[..., Any]:
    if claim.across == "median":
        return np.median
    return np.min if claim.relation == ">=" else np.max


def _percentiles(resampled: Array) -> tuple[float, float]:
    low, high = np.percentile(resampled, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)


def _of_one_arm(claim: Claim, sample: Array) -> Any:
    """The statistic over the last axis."""
    return _OF_ONE_ARM[claim.statistic](sample, axis=-1)


def _rows(values: Array) -> Array:
    """``values`` (r, n) or (r, n, k) as (r, n·k)."""
    return values.reshape(len(values), -1)


def _per_seed(claim: Claim, values: Array, against: Array | None, paired: bool) -> Array:
    own: Array = _of_one_arm(claim, _rows(values))
    if against is None:
        return own
    other: Array = _of_one_arm(claim, _rows(against))
    if paired:
        return _compare(claim, own, other)
    return _compare(claim, np.repeat(own, len(other)), np.tile(other, len(own)))


def _compare(claim: Claim, values: Array, against: Array) -> Array:
    if claim.statistic == "difference_of_means":
        return values - against
    if against.min() <= 0 <= against.max():
        named = ", ".join(claim.metrics)
        raise InvalidInput(f"{named} of {claim.against} is not clear of zero, so the ratio has no interval")
    return values / against
