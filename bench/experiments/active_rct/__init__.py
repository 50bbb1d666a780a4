"""Active randomised experiments' evidence: honest intervals, error for the money, and where a score does not help."""

from __future__ import annotations

from collections.abc import Sequence

from scisuite.bench.experiment import Arm, Experiment, Limit, Tier
from scisuite.bench.experiments.active_rct.arms import (
    ACIC,
    ARMS,
    CHECKS,
    EFFICIENCY,
    LINEAR,
    LINEAR_ABLATIONS,
    REPLAYED,
    STUDY,
)
from scisuite.bench.experiments.active_rct.claims import ACIC as ACIC_WORLD
from scisuite.bench.experiments.active_rct.claims import CLAIMS, HEAVY, REAL, SEGMENTS
from scisuite.bench.experiments.active_rct.claims import LINEAR as LINEAR_WORLD

METRICS = {
    "pehe": "√mean((τ̂ − τ)²) on the test slice, in units of the outcome; lower is better",
    "qini": "Qini coefficient on the test slice, 0 chance, 1 the best ordering; higher is better",
    "policy_value": "mean outcome if those with τ̂ > 0 were treated, test slice; higher is better",
    "bias": "of a study: largest |mean estimate − truth| in Monte Carlo standard errors; of a trial: mean(τ̂ − τ)",
    "coverage": "share of 95 % intervals that hold the truth",
    "coverage_low": "its 95 % interval over replications, lower bound",
    "coverage_high": "its 95 % interval over replications, upper bound",
    "worst_coverage": "coverage in the least covered segment",
    "worst_selfnorm": "coverage of self-normalised intervals in the least covered segment",
    "width": "mean width of 95 % intervals, in units of the outcome; lower is better",
    "largest_bias": "largest |mean estimate − truth| of a segment",
    "wald_half_width": "mean half-width of Wald intervals",
    "selfnorm_half_width": "mean half-width of self-normalised intervals",
    "least_share": "share of the units that the least sampled segment got",
    "aipw_over_ipw": "mean PEHE, augmented / plain; lower is better",
    "aipw_pehe": "mean PEHE, augmented pseudo-outcomes",
    "ipw_pehe": "mean PEHE, plain pseudo-outcomes",
    "slope": "slope of log mean PEHE against log budget",
    "covariance_error": "relative distance of B·cov(θ̂) from its limit; lower is better",
    "random_over_full": "random units that reach the error of 400 chosen ones / 400, within [¼, 4]; higher is better",
    "share_without_overlap": "share of the randomised units with an overlap deficit above .9",
    "pool_without_overlap": "share of the pool with an overlap deficit above .9",
    "treated_share": "share of the randomised units that were treated",
    "qini_difference": "largest |ours − scikit-uplift's|; lower is better",
    "score_seconds": "wall time of scoring 10⁶ units [s]; lower is better",
    "score_cpu_seconds": "CPU time of scoring 10⁶ units [s]; lower is better",
    "domain_fit_seconds": "wall time of fitting the domain classifier on its subsample [s]",
    "units": "units scored",
}


def experiment() -> Experiment:
    """Arms, claims and tiers."""
    return Experiment(
        slug="active_rct",
        title="Active randomised experiments: who to randomise next, and an honest interval",
        arms=ARMS,
        claims=CLAIMS,
        tiers=TIERS,
        metrics=METRICS,
        headline="pehe",
        prefix="rct",
    )


def _ids(*groups: Sequence[Arm]) -> tuple[str, ...]:
    return tuple(arm.id for group in groups for arm in group)


def _limits(
    arms: Sequence[str], *scenarios: str, seeds: int | None = None, budget: str | None = None
) -> dict[str, Limit]:
    return dict.fromkeys(arms, Limit(scenarios, seeds, budget))


def _where(linear: int, ablations: int, acic: int, splits: int) -> dict[str, Limit]:
    """Which scenarios each arm meets, with how many seeds and units."""
    return {
        **_limits(_ids(STUDY), SEGMENTS, seeds=1),
        **_limits(_ids(LINEAR), LINEAR_WORLD, HEAVY, seeds=linear),
        **_limits(_ids(LINEAR_ABLATIONS), LINEAR_WORLD, HEAVY, seeds=ablations),
        **_limits(_ids(EFFICIENCY), LINEAR_WORLD, HEAVY, seeds=1),
        **_limits(_ids(ACIC), ACIC_WORLD, seeds=acic, budget="600 evaluations"),
        **_limits(_ids(REPLAYED), *REAL, seeds=splits, budget="4000 evaluations"),
        **_limits(_ids(CHECKS), SEGMENTS, seeds=1),
    }


_NOT_IN_SMOKE = {"sample_efficiency", "pool_scoring", "study_covariance", *_ids(ACIC), *_ids(REPLAYED)}

TIERS = {
    "smoke": Tier(
        arms=tuple(id for id in _ids(ARMS) if id not in _NOT_IN_SMOKE),
        scenarios=(SEGMENTS, LINEAR_WORLD, HEAVY),
        seeds=2,
        budget="200 evaluations",
        limits=_where(linear=2, ablations=1, acic=1, splits=1),
    ),
    "quick": Tier(
        arms=_ids(ARMS),
        scenarios=(SEGMENTS, LINEAR_WORLD, HEAVY, ACIC_WORLD, *REAL),
        seeds=160,
        budget="400 evaluations",
        limits=_where(linear=160, ablations=20, acic=30, splits=20),
    ),
    "full": Tier(
        arms=_ids(ARMS),
        scenarios=(SEGMENTS, LINEAR_WORLD, HEAVY, ACIC_WORLD, *REAL),
        seeds=500,
        budget="400 evaluations",
        limits=_where(linear=500, ablations=500, acic=300, splits=100),
    ),
}
