"""Cells of the study on segments: coverage, bias, rate, covariance, and what a greedy choice does to them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Curve, Outcome
from scisuite.bench.experiments.active_rct.study import Policy, Study, study
from scisuite.bench.intervals import resampled
from scisuite.core import Budget, generator
from scisuite.scenarios import Scenario

Floats = NDArray[np.float64]

BUDGET = 600
RATE_BUDGETS = (100, 200, 400, 800, 1600)


def coverage(
    scenario: Scenario, seed: int, budget: Budget, *, policy: Policy, augmented: bool, replications: int = 4000
) -> Outcome:
    """Coverage, bias and error of Algorithm 2 over replications; the intervals are over replications.

    ``bias`` is the largest |mean θ̂_j − θ_j| in Monte Carlo standard errors. ``worst_…`` is the least covered segment.
    """
    found = study(
        policy,
        augmented=augmented,
        budget=BUDGET,
        replications=replications,
        rng=generator(seed, "study", policy, str(augmented)),
    )
    rng = generator(seed, "replications")
    error = found.estimate - found.theta
    standard_error = error.std(axis=0, ddof=1) / np.sqrt(replications)
    bias = np.abs(error.mean(axis=0)) / standard_error
    share = found.counts.sum(axis=0) / found.counts.sum()
    metrics = {
        **resampled("coverage", [found.wald_covers.astype(float)], lambda mean: mean.mean(axis=-1), rng),
        **resampled("worst_coverage", [found.wald_covers.astype(float)], lambda mean: mean.min(axis=-1), rng),
        **resampled("worst_selfnorm", [found.selfnorm_covers.astype(float)], lambda mean: mean.min(axis=-1), rng),
        **resampled("pehe", [found.pehe[:, None]], lambda mean: mean[..., 0], rng),
        "bias": float(bias.max()),
        "largest_bias": float(np.abs(error.mean(axis=0)).max()),
        "wald_half_width": float(found.wald[np.isfinite(found.wald)].mean()),
        "selfnorm_half_width": float(found.selfnorm.mean()),
        "least_share": float(share.min()),
    }
    return Outcome(metrics, {"coverage_by_segment": _by_segment(found)}, budget_used=float(BUDGET))


def error_ratio(scenario: Scenario, seed: int, budget: Budget, *, replications: int = 4000) -> Outcome:
    """Mean error of the augmented estimate over that of inverse propensity weighting, random units."""
    errors = [
        study(
            "random",
            augmented=augmented,
            budget=BUDGET,
            replications=replications,
            rng=generator(seed, "study", "random", str(augmented)),
        ).pehe
        for augmented in (True, False)
    ]
    ratio = resampled(
        "aipw_over_ipw",
        [each[:, None] for each in errors],
        lambda augmented, plain: augmented[..., 0] / plain[..., 0],
        generator(seed, "replications"),
    )
    return Outcome(
        {**ratio, "aipw_pehe": float(errors[0].mean()), "ipw_pehe": float(errors[1].mean())}, {}, float(BUDGET)
    )


def rate(scenario: Scenario, seed: int, budget: Budget, *, replications: int = 2000) -> Outcome:
    """Least-squares slope of log mean error against log budget, random units, augmented."""
    errors = [
        study(
            "random",
            augmented=True,
            budget=units,
            replications=replications,
            rng=generator(seed, "study", "rate", units),
        ).pehe
        for units in RATE_BUDGETS
    ]
    log_budget = np.log(RATE_BUDGETS)
    weight = (log_budget - log_budget.mean()) / np.sum((log_budget - log_budget.mean()) ** 2)

    def slope(*means: Floats) -> Any:
        return np.log(np.concatenate(means, axis=-1)) @ weight

    metrics = resampled("slope", [each[:, None] for each in errors], slope, generator(seed, "replications"))
    means = tuple(float(each.mean()) for each in errors)
    curve = Curve(tuple(map(float, RATE_BUDGETS)), means, "randomised units", "mean PEHE [1]")
    return Outcome(metrics, {"pehe_by_budget": curve}, budget_used=float(max(RATE_BUDGETS)))


def covariance(scenario: Scenario, seed: int, budget: Budget, *, replications: int = 20_000) -> Outcome:
    """Distance of B·cov(θ̂) from d·diag(2 − θ²), relative, in Frobenius's norm: random units, p = ½, no nuisances."""
    found = study(
        "random",
        augmented=False,
        adaptive_p=False,
        budget=BUDGET,
        replications=replications,
        rng=generator(seed, "study", "covariance"),
    )
    d = len(found.theta)
    limit = d * np.diag(2 - found.theta**2)
    centred = found.estimate - found.theta
    products = np.einsum("ri,rj->rij", centred, centred).reshape(replications, d * d)

    def distance(mean: Floats) -> Any:
        first, second = mean[..., :d], mean[..., d:].reshape(*mean.shape[:-1], d, d)
        scatter = BUDGET * (second - first[..., :, None] * first[..., None, :])
        return np.linalg.norm(scatter - limit, axis=(-2, -1)) / np.linalg.norm(limit)

    table = np.concatenate([centred, products], axis=1)
    return Outcome(resampled("covariance_error", [table], distance, generator(seed, "replications")), {}, float(BUDGET))


def _by_segment(found: Study) -> Curve:
    share = found.wald_covers.mean(axis=0)
    return Curve(
        tuple(float(theta) for theta in found.theta),
        tuple(float(each) for each in share),
        "true effect of the segment [1]",
        "coverage of 95 % Wald intervals",
    )
