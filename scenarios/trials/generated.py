"""Worlds whose effects are known because they were written down: segments, linear and nearly linear ones."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.trials.trial import Logged, PotentialOutcomes, Trial

Floats = NDArray[np.float64]
Tails = Literal["gaussian", "t4"]

SEGMENT_EFFECTS = (0.5, -0.4, 0.3, 0.0)


def segments(
    rng: np.random.Generator,
    *,
    theta: tuple[float, ...] = SEGMENT_EFFECTS,
    n_pool: int = 8000,
    n_observational: int = 2000,
    n_held_out: int = 2000,
) -> Trial:
    """Equally common segments with an effect each: φ = e_j, Y(1) ~ Bern(½ + θ_j/2), Y(0) ~ Bern(½ − θ_j/2).

    The family that makes the minimax rate sharp. The log is confounded by an unseen bit u that raises both the outcome
    and the chance of treatment, which differs between segments: σ(1.5 (−1)^j + 2u) with u = ±½.

    Raises
    ------
    InvalidInput
        If an effect is outside [−1, 1].
    """
    effects = np.asarray(theta, dtype=float)
    d = len(effects)
    if effects.ndim != 1 or not d or not (np.abs(effects) <= 1).all():
        raise InvalidInput(f"theta must be effects in [−1, 1], not {theta}")

    def units(n: int) -> tuple[Floats, Floats]:
        j = rng.integers(d, size=n)
        return np.eye(d)[j], effects[j]

    x, tau = units(n_observational)
    hidden = rng.integers(2, size=n_observational) - 0.5
    sign = np.where(np.argmax(x, axis=1) % 2 == 0, 1.0, -1.0)
    t = _bernoulli(rng, _sigmoid(1.5 * sign + 2 * hidden))
    y = _bernoulli(rng, np.clip(0.5 + (t - 0.5) * tau + 0.2 * hidden, 0, 1)).astype(float)
    pool_x, pool_tau = units(n_pool)
    pool = _binary_outcomes(rng, pool_tau)
    return Trial(
        name="segments",
        features=tuple(f"segment_{j}" for j in range(d)),
        observational=Logged(x, t, y),
        pool_x=pool_x,
        validation=_randomised_binary(rng, *units(n_held_out)),
        test=_randomised_binary(rng, *units(n_held_out)),
        pool=pool,
        binary=True,
        linear=True,
    )


def linear(
    rng: np.random.Generator,
    *,
    tails: Tails = "gaussian",
    bend: float = 0.0,
    d: int = 8,
    n_pool: int = 8000,
    n_observational: int = 2000,
    n_validation: int = 2000,
    n_test: int = 4000,
) -> Trial:
    """Y = ⟨β, x⟩ + T τ(x) + noise with τ(x) = ⟨θ, x⟩ + bend · (sin 2x₁ + x₂² − 1); θ, β ~ N(0, I/d).

    Covariates are standard normal, or Student's t with four degrees of freedom scaled to unit variance. In the log x₁
    and x₂ are shifted by .8, an unseen U ~ .8 N(0, 1) enters the outcome, and P(T = 1) = σ(3(x₁ + x₂) + 1.5 U), so that
    there is next to no overlap; its noise has unit variance beside U, that of randomised units a standard deviation of
    1.2.

    Raises
    ------
    InvalidInput
        If there are no such tails, ``bend`` is not finite, or there are fewer than two covariates.
    """
    if tails not in ("gaussian", "t4"):
        raise InvalidInput(f"tails must be gaussian or t4, not {tails!r}")
    if not np.isfinite(bend):
        raise InvalidInput(f"bend must be finite, not {bend}")
    if not d >= 2:
        raise InvalidInput(f"d must be at least 2, not {d!r}")
    theta, beta = (rng.normal(0, d**-0.5, d) for _ in range(2))

    def covariates(n: int) -> Floats:
        if tails == "t4":
            return np.asarray(rng.standard_t(4, size=(n, d)) / np.sqrt(2.0))
        return rng.standard_normal((n, d))

    def effect(x: Floats) -> Floats:
        return np.asarray(x @ theta + bend * (np.sin(2 * x[:, 0]) + x[:, 1] ** 2 - 1))

    def randomised(n: int) -> Logged:
        x = covariates(n)
        t = _bernoulli(rng, np.full(n, 0.5))
        tau = effect(x)
        return Logged(x, t, x @ beta + t * tau + rng.normal(0, 1.2, n), p=np.full(n, 0.5), tau=tau)

    x = covariates(n_observational)
    x[:, :2] += 0.8
    hidden = 0.8 * rng.standard_normal(n_observational)
    t = _bernoulli(rng, _sigmoid(3 * (x[:, 0] + x[:, 1]) + 1.5 * hidden))
    y = x @ beta + t * effect(x) + hidden + rng.standard_normal(n_observational)
    pool_x = covariates(n_pool)
    pool_tau = effect(pool_x)
    noise = rng.normal(0, 1.2, n_pool)
    return Trial(
        name="misspecified" if bend else f"linear_{tails}",
        features=tuple(f"x{i + 1}" for i in range(d)),
        observational=Logged(x, t, y),
        pool_x=pool_x,
        validation=randomised(n_validation),
        test=randomised(n_test),
        pool=PotentialOutcomes(pool_x @ beta + noise, pool_x @ beta + pool_tau + noise, pool_tau),
        linear=True,
    )


def _randomised_binary(rng: np.random.Generator, x: Floats, tau: Floats) -> Logged:
    outcomes = _binary_outcomes(rng, tau)
    t = _bernoulli(rng, np.full(len(x), 0.5))
    return Logged(x, t, np.where(t == 1, outcomes.y1, outcomes.y0), p=np.full(len(x), 0.5), tau=tau)


def _binary_outcomes(rng: np.random.Generator, tau: Floats) -> PotentialOutcomes:
    y0, y1 = (_bernoulli(rng, 0.5 + sign * tau / 2).astype(float) for sign in (-1, 1))
    return PotentialOutcomes(y0, y1, tau)


def _bernoulli(rng: np.random.Generator, p: Floats) -> NDArray[np.int64]:
    return (rng.random(len(p)) < p).astype(np.int64)


def _sigmoid(z: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))
