"""Algorithm 2 on segments, thousands of replications at once.

On segments φ = e_j, so that V is diagonal and every estimate is a matter of counts and sums in each segment. A
replication is what :class:`~scisuite.solvers.active_rct.linear.LinearCATE` makes of the same units, one a batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Policy = Literal["random", "leverage", "greedy"]

THETA = (0.5, -0.4, 0.3, 0.0)
"""True effects of the four segments."""
GREEDY_EXPLORATION = 0.02


@dataclass(frozen=True, eq=False)
class Study:
    """What became of R replications of a trial on d segments with B units.

    Attributes
    ----------
    theta : float64 (d,)
        True effects.
    estimate : float64 (R, d)
    ridge_estimate : float64 (R, d)
        With the ridge of the self-normalised interval, which is centred on it.
    wald : float64 (R, d)
        Half-widths of sandwich intervals.
    selfnorm : float64 (R, d)
        Half-widths of self-normalised intervals.
    counts : int64 (R, d)
        Units of each segment.
    """

    theta: Floats
    estimate: Floats
    ridge_estimate: Floats
    wald: Floats
    selfnorm: Floats
    counts: Ints

    @property
    def pehe(self) -> Floats:
        """float64 (R,): root of the mean squared error over equally common segments."""
        return np.asarray(np.sqrt(np.mean((self.estimate - self.theta) ** 2, axis=1)))

    @property
    def wald_covers(self) -> NDArray[np.bool_]:
        """bool (R, d): whether the sandwich intervals hold the truth."""
        return np.asarray(np.abs(self.estimate - self.theta) <= self.wald)

    @property
    def selfnorm_covers(self) -> NDArray[np.bool_]:
        """bool (R, d): whether the self-normalised intervals hold the truth."""
        return np.asarray(np.abs(self.ridge_estimate - self.theta) <= self.selfnorm)


def study(
    policy: Policy,
    *,
    augmented: bool,
    budget: int,
    replications: int,
    rng: np.random.Generator,
    adaptive_p: bool = True,
    lam: float = 1e-6,
    theta: tuple[float, ...] = THETA,
    p_bounds: tuple[float, float] = (0.2, 0.8),
    level: float = 0.95,
    sigma: float = 10.0,
    selfnorm_lam: float = 1.0,
    S: float = 1.0,
) -> Study:
    """Run Algorithm 2 one unit at a time in all replications.

    Outcomes are Bernoulli(½ + θ_j/2) treated and (½ − θ_j/2) untreated; segments are equally common. ``augmented``
    subtracts running means of each segment and arm that start at ½ with weight one. The probability of treatment is
    clip(½ + .3 θ̂_j, *p_bounds), or ½ throughout. The self-normalised interval is that of an estimate with a ridge of
    its own.
    """
    effects = np.asarray(theta, dtype=float)
    d = len(effects)
    rows = np.arange(replications)
    n = np.zeros((replications, d))
    first, second = np.zeros((replications, d)), np.zeros((replications, d))
    # Pseudo-observations of ½, so that the means exist before the first outcome.
    arm_n, arm_sum = np.ones((replications, d, 2)), np.full((replications, d, 2), 0.5)
    choose = _POLICIES[policy]
    for step in range(budget):
        estimate = first / (n + lam)
        j = choose(step, n, estimate, rng)
        p = np.clip(0.5 + 0.3 * estimate[rows, j], *p_bounds) if adaptive_p else np.full(replications, 0.5)
        t = (rng.random(replications) < p).astype(np.int64)
        y = (rng.random(replications) < 0.5 + (t - 0.5) * effects[j]).astype(float)
        mean = arm_sum[rows, j] / arm_n[rows, j] if augmented else np.zeros((replications, 2))
        pseudo = np.where(t == 1, (y - mean[:, 1]) / p, -(y - mean[:, 0]) / (1 - p)) + mean[:, 1] - mean[:, 0]
        n[rows, j] += 1
        first[rows, j] += pseudo
        second[rows, j] += pseudo**2
        arm_n[rows, j, t] += 1
        arm_sum[rows, j, t] += y
    estimate = first / (n + lam)
    squares = np.maximum(second - 2 * estimate * first + n * estimate**2, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        wald = NormalDist().inv_cdf((1 + level) / 2) * np.where(n > 0, np.sqrt(squares) / n, np.inf)
    growth = np.log1p(n / selfnorm_lam).sum(axis=1) - 2 * math.log(1 - level)
    radius = sigma * np.sqrt(growth) + math.sqrt(selfnorm_lam) * S
    selfnorm = radius[:, None] / np.sqrt(n + selfnorm_lam)
    return Study(effects, estimate, first / (n + selfnorm_lam), wald, selfnorm, n.astype(np.int64))


def _random(step: int, n: Floats, estimate: Floats, rng: np.random.Generator) -> Ints:
    return rng.integers(n.shape[1], size=len(n))


def _leverage(step: int, n: Floats, estimate: Floats, rng: np.random.Generator) -> Ints:
    """The segment with the largest 1/(n_j + λ), ties broken at random."""
    return np.asarray(np.argmin(n + rng.random(n.shape) / 2, axis=1))


def _greedy(step: int, n: Floats, estimate: Floats, rng: np.random.Generator) -> Ints:
    """Two rounds over the segments, and then the largest estimate, but for a share of random draws."""
    d = n.shape[1]
    if step < 2 * d:
        return np.full(len(n), step % d)
    best = np.argmax(estimate + rng.random(n.shape) * 1e-12, axis=1)
    return np.where(rng.random(len(n)) < GREEDY_EXPLORATION, rng.integers(d, size=len(n)), best)


_POLICIES: dict[str, Callable[[int, Floats, Floats, np.random.Generator], Ints]] = {
    "random": _random,
    "leverage": _leverage,
    "greedy": _greedy,
}
