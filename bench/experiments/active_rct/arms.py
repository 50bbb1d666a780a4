"""The arms: what they run, and what they need."""

from __future__ import annotations

from typing import Any

from scisuite.bench.experiment import Arm

_HERE = "scisuite.bench.experiments.active_rct"
TERMS = {
    "full": (1.0, 1.0, 1.0),
    "v": (1.0, 0.0, 0.0),
    "d": (0.0, 1.0, 0.0),
    "o": (0.0, 0.0, 1.0),
    "without_v": (0.0, 1.0, 1.0),
    "without_d": (1.0, 0.0, 1.0),
    "without_o": (1.0, 1.0, 0.0),
}
_WORDS = {
    "full": "uncertainty, discrepancy and overlap deficit",
    "v": "uncertainty alone",
    "d": "domain discrepancy alone",
    "o": "overlap deficit alone",
    "without_v": "discrepancy and overlap deficit",
    "without_d": "uncertainty and overlap deficit",
    "without_o": "uncertainty and discrepancy",
}


def _arm(id: str, role: Any, run: str, summary: str, *extras: str, timed: bool = False, **config: Any) -> Arm:
    return Arm(id, f"{_HERE}.{run}", role, config, extras, timed, summary)


def _scored(prefix: str, terms: tuple[str, ...], summary: str, *extras: str, **config: Any) -> tuple[Arm, ...]:
    return tuple(
        _arm(
            f"{prefix}_{term}",
            "method" if term == "full" else "ablation",
            "trials:trial",
            f"{summary}, {_WORDS[term]}",
            *extras,
            weights=list(TERMS[term]),
            **config,
        )
        for term in terms
    )


STUDY = (
    *(
        _arm(
            f"study_{policy}_{name}",
            "ablation" if policy == "greedy" else "method",
            "segments:coverage",
            f"segments, {words}, {estimator}",
            policy=policy,
            augmented=augmented,
        )
        for policy, words in (
            ("random", "random units"),
            ("leverage", "units of the largest leverage"),
            ("greedy", "units of the largest estimated effect: the negative control"),
        )
        for name, augmented, estimator in (
            ("aipw", True, "augmented pseudo-outcomes"),
            ("ipw", False, "inverse propensity weights"),
        )
    ),
    _arm("study_aipw_over_ipw", "ablation", "segments:error_ratio", "segments, augmented over plain pseudo-outcomes"),
    _arm("study_rate", "method", "segments:rate", "segments, error against budget"),
    _arm("study_covariance", "method", "segments:covariance", "segments, covariance of the estimate at p = ½"),
)

LINEAR = (
    *_scored("linear", ("full", "v"), "linear learner"),
    _arm("linear_random", "floor", "trials:trial", "linear learner, random units", strategy="random"),
)
LINEAR_ABLATIONS = (
    *_scored("linear", ("d", "o", "without_v", "without_d", "without_o"), "linear learner"),
    *_scored("linear_adaptive", ("full",), "linear learner, p by the estimated effect", p_rule="adaptive"),
    *_scored("linear_ipw", ("full", "v"), "linear learner without nuisances", learner_config={"nuisance": "none"}),
    _arm(
        "linear_ipw_random",
        "ablation",
        "trials:trial",
        "linear learner without nuisances, random units",
        strategy="random",
        learner_config={"nuisance": "none"},
    ),
    *_scored("linear_batch_10", ("full",), "linear learner, batches of ten", batch=10),
    *_scored("linear_batch_200", ("full",), "linear learner, batches of two hundred", batch=200),
    _arm(
        "linear_effect",
        "ablation",
        "trials:trial",
        "linear learner, units of the largest estimated effect",
        strategy="effect",
    ),
    *_scored("linear_pooled", ("full",), "least squares on log and randomised units", learner="linear_pooled"),
    _arm(
        "linear_log_alone",
        "floor",
        "trials:trial",
        "least squares on the log alone",
        strategy="random",
        learner="linear_log",
    ),
    _arm(
        "linear_past_random",
        "ablation",
        "trials:trial",
        "linear learner, nuisances of past batches and not of the log, random units",
        strategy="random",
        learner_config={"nuisance": "past"},
    ),
    _arm(
        "econml_dr",
        "peer",
        "peers:linear_dr_learner",
        "econml's LinearDRLearner on random units",
        "active-rct",
    ),
)
EFFICIENCY = (_arm("sample_efficiency", "method", "trials:sample_efficiency", "random units that full's error costs"),)

_TREES = {"learner": "trees", "batch": 100}
ACIC = (
    *_scored("trees", ("full", "v", "d", "o"), "T-learner of extra trees, pooled", "active-rct", **_TREES),
    _arm(
        "trees_random",
        "floor",
        "trials:trial",
        "T-learner of extra trees, pooled, random units",
        "active-rct",
        strategy="random",
        **_TREES,
    ),
)

_REPLAY = {"learner": "trees", "batch": 500, "learner_config": {"fusion": "rct_only"}}
REPLAYED = (
    *_scored("replay", ("full", "v"), "T-learner of extra trees on randomised units", "active-rct", **_REPLAY),
    _arm(
        "replay_random",
        "floor",
        "trials:trial",
        "T-learner of extra trees on randomised units, random ones",
        "active-rct",
        strategy="random",
        **_REPLAY,
    ),
)

CHECKS = (
    _arm("qini_peer", "peer", "trials:qini_peer", "our Qini coefficient beside scikit-uplift's", "active-rct"),
    _arm("pool_scoring", "method", "scoring:pool_scoring", "scores of a million units with 468 covariates", timed=True),
)

ARMS = (*STUDY, *LINEAR, *LINEAR_ABLATIONS, *EFFICIENCY, *ACIC, *REPLAYED, *CHECKS)
