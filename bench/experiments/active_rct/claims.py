"""The claims, each with the computation that was fixed before anything was run."""

from __future__ import annotations

from scisuite.bench.experiment import Claim, Relation

SEGMENTS, LINEAR, HEAVY = "trials/segments", "trials/linear", "trials/linear_t4"
ACIC, HILLSTROM, GOTV, STARBUCKS = "trials/acic16", "trials/hillstrom", "trials/gotv", "trials/starbucks"
REAL = (HILLSTROM, GOTV, STARBUCKS)
EIGHT_GB_IN_MIB = 8e9 / 2**20


def _within(
    id: str, statement: str, metric: str, arm: str, relation: Relation, target: float | None, scenario: str = SEGMENTS
) -> Claim:
    """A figure whose interval its one cell has found by resampling."""
    return Claim(f"rct.{id}", statement, metric, arm, None, (scenario,), "resampled", relation, target)


def _ratio(id: str, statement: str, arm: str, against: str, scenario: str, target: float | None) -> Claim:
    return Claim(f"rct.{id}", statement, "pehe", arm, against, (scenario,), "ratio_of_means", "<=", target)


CLAIMS = (
    Claim(
        "rct.coverage",
        "Coverage of 95 % Wald intervals, pooled over coefficients: segments, 600 units, 4,000 runs, adaptive p",
        parts=(
            _within("coverage.random_low", "random units, at least", "coverage", "study_random_aipw", ">=", 0.93),
            _within("coverage.random_high", "random units, at most", "coverage", "study_random_aipw", "<=", 0.97),
            _within(
                "coverage.leverage_low", "largest leverage, at least", "coverage", "study_leverage_aipw", ">=", 0.93
            ),
            _within(
                "coverage.leverage_high", "largest leverage, at most", "coverage", "study_leverage_aipw", "<=", 0.97
            ),
        ),
    ),
    Claim(
        "rct.bias",
        "Largest |mean estimate − truth| in Monte Carlo standard errors: random, leverage; augmented, plain; below 3",
        "bias",
        "study_random_aipw",
        None,
        (SEGMENTS,),
        "maximum",
        "<=",
        3.0,
        also=(("study_random_ipw", None), ("study_leverage_aipw", None), ("study_leverage_ipw", None)),
    ),
    Claim(
        "rct.rate",
        "Slope of log mean PEHE against log budget, 100 to 1,600 random units, 2,000 replications each",
        parts=(
            _within("rate.low", "at least", "slope", "study_rate", ">=", -0.58),
            _within("rate.high", "at most", "slope", "study_rate", "<=", -0.45),
        ),
        paper="minimax rate √(d/B) up to logarithms",
    ),
    Claim(
        "rct.minimax_covariance",
        "Relative distance of B·cov(θ̂) from d·diag(2 − θ²): random units, p = ½, 20,000 replications",
        "covariance_error",
        "study_covariance",
        None,
        (SEGMENTS,),
        "resampled",
        "<=",
        0.06,
        note="The distance of a resample is that of a noisier matrix, so that the interval errs upwards.",
    ),
    Claim(
        "rct.greedy_breaks",
        "Greedy choice, plain pseudo-outcomes: Wald intervals fail, self-normalised ones hold; least covered segment",
        parts=(
            _within("greedy_breaks.wald", "Wald coverage below .88", "worst_coverage", "study_greedy_ipw", "<=", 0.88),
            _within(
                "greedy_breaks.selfnorm",
                "self-normalised, σ = 10, S = 1, λ = 1",
                "worst_selfnorm",
                "study_greedy_ipw",
                ">=",
                0.95,
            ),
            Claim(
                "rct.greedy_breaks.wald_width",
                "mean half-width of Wald intervals",
                "wald_half_width",
                "study_greedy_ipw",
                None,
                (SEGMENTS,),
                "mean",
                "<=",
                None,
            ),
            Claim(
                "rct.greedy_breaks.selfnorm_width",
                "mean half-width of self-normalised intervals",
                "selfnorm_half_width",
                "study_greedy_ipw",
                None,
                (SEGMENTS,),
                "mean",
                "<=",
                None,
            ),
        ),
        note="The theorem needs a design that settles; a self-normalised interval does not, and is very wide.",
    ),
    _within(
        "aipw",
        "Mean PEHE, augmented / plain pseudo-outcomes: segments, 600 random units, 4,000 replications",
        "aipw_over_ipw",
        "study_aipw_over_ipw",
        "<=",
        0.80,
    ),
    _ratio(
        "linear_full",
        "PEHE, full score / random: linear Gaussian, 400 units",
        "linear_full",
        "linear_random",
        LINEAR,
        0.90,
    ),
    _ratio(
        "linear_uncertainty",
        "PEHE, uncertainty alone / random: linear Gaussian, 400 units",
        "linear_v",
        "linear_random",
        LINEAR,
        0.80,
    ),
    Claim(
        "rct.heavy_tail",
        "PEHE, full score / random: linear with t₄ covariates, 400 units",
        parts=(
            _ratio("heavy_tail.full", "full score", "linear_full", "linear_random", HEAVY, 0.80),
            _ratio("heavy_tail.v", "uncertainty alone", "linear_v", "linear_random", HEAVY, None),
        ),
    ),
    _ratio(
        "acic_noninferior",
        "PEHE, full score / random: ACIC 2016, instances 1–10 × 3, pooled T-learner of extra trees, 600 units",
        "trees_full",
        "trees_random",
        ACIC,
        1.05,
    ),
    Claim(
        "rct.sample_efficiency",
        "Random units that reach the error of 400 chosen ones / 400",
        parts=(
            _within(
                "sample_efficiency.gaussian",
                "linear Gaussian",
                "random_over_full",
                "sample_efficiency",
                ">=",
                None,
                LINEAR,
            ),
            _within(
                "sample_efficiency.t4", "t₄ covariates", "random_over_full", "sample_efficiency", ">=", None, HEAVY
            ),
        ),
        paper="5 (100k active ≈ 500k random, AUUC, its own data)",
    ),
    Claim(
        "rct.real_trials",
        "Test Qini coefficient, full score − random, 4,000 units in batches of 500, paired splits",
        parts=tuple(
            Claim(
                f"rct.real_trials.{name}",
                words,
                "qini",
                "replay_full",
                "replay_random",
                (scenario,),
                "difference_of_means",
                ">=",
                None,
            )
            for name, words, scenario in (
                ("hillstrom", "Hillstrom: womens e-mail or none, visit", HILLSTROM),
                ("gotv", "GOTV: Neighbors or Control, turnout", GOTV),
                ("starbucks", "Starbucks: offer or none, purchase", STARBUCKS),
            )
        ),
    ),
    Claim(
        "rct.qini_equals_sklift",
        "Largest difference of Qini coefficients, ours − scikit-uplift's, 200 binary arrays with ties and imbalance",
        "qini_difference",
        "qini_peer",
        None,
        (SEGMENTS,),
        "maximum",
        "<=",
        1e-9,
    ),
    Claim(
        "rct.pool_scoring",
        "Scoring 10⁶ units × 468 covariates with the linear learner on one thread",
        parts=(
            Claim(
                "rct.pool_scoring.seconds",
                "wall seconds",
                "score_seconds",
                "pool_scoring",
                None,
                (SEGMENTS,),
                "maximum",
                "<=",
                20.0,
            ),
            Claim(
                "rct.pool_scoring.memory",
                "peak memory in MiB (8 GB)",
                "cost.peak_mib",
                "pool_scoring",
                None,
                (SEGMENTS,),
                "maximum",
                "<=",
                EIGHT_GB_IN_MIB,
            ),
        ),
    ),
)
