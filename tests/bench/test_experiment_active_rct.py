"""Active trials' experiment: what it promises is there, its study is Algorithm 2, and its arms share their trials."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.bench.experiments.active_rct import experiment, scoring, segments, trials
from scisuite.bench.experiments.active_rct.study import study
from scisuite.core import Budget
from scisuite.solvers.active_rct import LinearCATE

EXPERIMENT = experiment()
INEQUALITIES = {each.id: each for claim in EXPERIMENT.claims for each in claim.inequalities}
ARMS = {arm.id: arm for arm in EXPERIMENT.arms}
SMALL = Budget.parse("100 evaluations")


def run(arm, scenario="trials/linear", seed=0, budget=SMALL, **options):
    return ARMS[arm].load()(scenarios.make(scenario), seed, budget, **{**ARMS[arm].config, **options})


def check(outcome):
    assert outcome.metrics
    for name, value in outcome.metrics.items():
        assert name.removesuffix("_low").removesuffix("_high") in EXPERIMENT.metrics, name
        assert type(value) is float, name
        assert math.isfinite(value), name
    return outcome.metrics


@pytest.mark.parametrize(
    ("id", "metric", "arm", "against", "statistic", "relation", "target"),
    [
        ("rct.coverage.random_low", "coverage", "study_random_aipw", None, "resampled", ">=", 0.93),
        ("rct.coverage.random_high", "coverage", "study_random_aipw", None, "resampled", "<=", 0.97),
        ("rct.coverage.leverage_low", "coverage", "study_leverage_aipw", None, "resampled", ">=", 0.93),
        ("rct.bias", "bias", "study_random_aipw", None, "maximum", "<=", 3.0),
        ("rct.rate.low", "slope", "study_rate", None, "resampled", ">=", -0.58),
        ("rct.rate.high", "slope", "study_rate", None, "resampled", "<=", -0.45),
        ("rct.minimax_covariance", "covariance_error", "study_covariance", None, "resampled", "<=", 0.06),
        ("rct.greedy_breaks.wald", "worst_coverage", "study_greedy_ipw", None, "resampled", "<=", 0.88),
        ("rct.greedy_breaks.selfnorm", "worst_selfnorm", "study_greedy_ipw", None, "resampled", ">=", 0.95),
        ("rct.aipw", "aipw_over_ipw", "study_aipw_over_ipw", None, "resampled", "<=", 0.80),
        ("rct.linear_full", "pehe", "linear_full", "linear_random", "ratio_of_means", "<=", 0.90),
        ("rct.linear_uncertainty", "pehe", "linear_v", "linear_random", "ratio_of_means", "<=", 0.80),
        ("rct.heavy_tail.full", "pehe", "linear_full", "linear_random", "ratio_of_means", "<=", 0.80),
        ("rct.acic_noninferior", "pehe", "trees_full", "trees_random", "ratio_of_means", "<=", 1.05),
        ("rct.sample_efficiency.t4", "random_over_full", "sample_efficiency", None, "resampled", ">=", None),
        ("rct.real_trials.gotv", "qini", "replay_full", "replay_random", "difference_of_means", ">=", None),
        ("rct.qini_equals_sklift", "qini_difference", "qini_peer", None, "maximum", "<=", 1e-9),
        ("rct.pool_scoring.seconds", "score_seconds", "pool_scoring", None, "maximum", "<=", 20.0),
    ],
)
def test_the_promised_claims_are_computed_as_promised(id, metric, arm, against, statistic, relation, target):
    claim = INEQUALITIES[id]
    assert (claim.metrics, claim.arm, claim.against) == ((metric,), arm, against)
    assert (claim.statistic, claim.relation, claim.target) == (statistic, relation, target)


def test_the_tiers_decide_the_claims_on_as_many_seeds_and_units_as_promised():
    quick = EXPERIMENT.tiers["quick"]
    assert EXPERIMENT.claims_in("quick") == EXPERIMENT.claims_in("full") == EXPERIMENT.claims
    seeds = {arm: (quick.limits[arm].seeds or quick.seeds) for arm in quick.arms}
    assert (seeds["linear_full"], seeds["linear_random"], seeds["trees_full"]) == (160, 160, 30)
    assert seeds["replay_full"] >= 20
    assert quick.budget == "400 evaluations"
    assert (quick.limits["trees_full"].budget, quick.limits["replay_full"].budget) == (
        "600 evaluations",
        "4000 evaluations",
    )
    assert {arm for arm, _ in INEQUALITIES["rct.bias"].pairs} == {
        f"study_{policy}_{name}" for policy in ("random", "leverage") for name in ("aipw", "ipw")
    }
    assert all(set(tier.scenarios) <= set(scenarios.registry.ids()) for tier in EXPERIMENT.tiers.values())


@pytest.mark.parametrize("augmented", [False, True])
@pytest.mark.parametrize("policy", ["random", "leverage", "greedy"])
def test_a_replication_of_the_study_is_the_linear_model_on_the_same_units(policy, augmented):
    """The study's own draws, read off its generator, go through LinearCATE one unit a batch."""
    drawn = _Recorded(3)
    found = study(policy, augmented=augmented, budget=60, replications=1, rng=drawn, lam=1e-6)
    theta, model = np.array(found.theta), LinearCATE(1e-6)
    sums, counts = np.full((4, 2), 0.5), np.ones((4, 2))
    uniform = iter(drawn.pairs(policy, 60))
    for j, u_t, u_y in uniform:
        phi = np.eye(4)[[j]]
        estimate = float(model.effect(phi)[0]) if model.n else 0.0
        p = float(np.clip(0.5 + 0.3 * estimate, 0.2, 0.8))
        t = int(u_t < p)
        y = float(u_y < 0.5 + (t - 0.5) * theta[j])
        mu = sums[j] / counts[j] if augmented else np.zeros(2)
        model.partial_fit(phi, [t], [y], p, [mu[0]], [mu[1]])
        sums[j, t] += y
        counts[j, t] += 1
    np.testing.assert_allclose(found.estimate[0], model.theta, atol=1e-9)
    low, high = model.interval(np.eye(4), 0.95, "wald")
    seen = found.counts[0] > 0
    np.testing.assert_allclose(found.wald[0][seen], ((high - low) / 2)[seen], rtol=1e-5, atol=1e-9)


class _Recorded(np.random.Generator):
    """A generator that remembers what the study drew."""

    def __init__(self, seed):
        super().__init__(np.random.PCG64(seed))
        self.uniforms, self.chosen = [], []

    def random(self, *args, **kwargs):
        value = super().random(*args, **kwargs)
        self.uniforms.append(np.ravel(value))
        return value

    def pairs(self, policy, budget):
        """Segment and the two uniforms of treatment and outcome, unit by unit."""
        lone = [float(u[0]) for u in self.uniforms if len(u) == 1]
        if policy == "greedy":
            # After the eight forced units each choice also draws whether to explore.
            lone = lone[:16] + [u for i, u in enumerate(lone[16:]) if i % 3 > 0]
        return list(zip(self.chosen, lone[0::2], lone[1::2], strict=True))[:budget]


@pytest.fixture(autouse=True)
def _remember_choices(monkeypatch):
    from scisuite.bench.experiments.active_rct import study as module

    def remembering(choose):
        def wrapped(step, n, estimate, rng):
            j = choose(step, n, estimate, rng)
            if isinstance(rng, _Recorded):
                rng.chosen.append(int(j[0]))
            return j

        return wrapped

    monkeypatch.setattr(module, "_POLICIES", {k: remembering(v) for k, v in module._POLICIES.items()})


def test_the_study_covers_the_truth_and_a_greedy_choice_does_not():
    honest = check(segments.coverage(None, 0, SMALL, policy="random", augmented=True, replications=400))
    greedy = check(segments.coverage(None, 0, SMALL, policy="greedy", augmented=False, replications=400))
    assert 0.92 < honest["coverage"] < 0.98
    assert honest["bias"] < 3.5
    assert greedy["worst_coverage"] < 0.85
    assert greedy["worst_selfnorm"] == 1.0
    assert greedy["largest_bias"] > 0.15
    assert greedy["selfnorm_half_width"] > 10 * honest["wald_half_width"]


def test_rate_ratio_and_covariance_are_near_their_limits():
    assert -0.6 < check(segments.rate(None, 0, SMALL, replications=200))["slope"] < -0.42
    assert check(segments.error_ratio(None, 0, SMALL, replications=400))["aipw_over_ipw"] < 0.8
    assert check(segments.covariance(None, 0, SMALL, replications=2000))["covariance_error"] < 0.15


@pytest.mark.parametrize(
    "arm",
    [
        "linear_full",
        "linear_v",
        "linear_random",
        "linear_ipw_full",
        "linear_adaptive_full",
        "linear_pooled_full",
        "linear_log_alone",
    ],
)
def test_arms_run_and_repeat(arm):
    first = check(run(arm))
    assert first == run(arm).metrics


def test_arms_of_a_seed_share_the_trial():
    random, full = (trials.trial(scenarios.make("trials/linear"), 3, SMALL, strategy=s) for s in ("random", "score"))
    assert random.metrics["pool_without_overlap"] == full.metrics["pool_without_overlap"]
    assert random.metrics["pehe"] != full.metrics["pehe"]
    assert random.budget_used == full.budget_used == 100.0
    assert full.curves["error_by_units"].x == (50.0, 100.0)


def test_a_small_pool_is_scored_in_the_timed_cell():
    metrics = check(scoring.pool_scoring(None, 0, SMALL, units=3000, repeats=1))
    assert metrics["units"] == 3000.0
    assert metrics["score_seconds"] > 0


def test_the_budget_that_reaches_an_error_is_read_off_the_line():
    x, falling = np.log([100.0, 200.0, 400.0]), np.log(np.array([1.0, 0.7, 0.5]))
    assert np.exp(trials._crossing(x, falling, np.log(0.7))) == pytest.approx(200.0)
    assert 200 < np.exp(trials._crossing(x, falling, np.log(0.6))) < 400
    # Beyond the line it is its nearest end.
    assert np.exp(trials._crossing(x, falling, np.log(0.3))) == pytest.approx(400.0)
    assert np.exp(trials._crossing(x, falling, np.log(2.0))) == pytest.approx(100.0)
    both = trials._crossing(x, np.stack([falling, falling]), np.log([0.7, 0.3]))
    np.testing.assert_allclose(np.exp(both), [200.0, 400.0])


def test_a_constant_score_has_the_qini_coefficient_that_scikit_uplift_gives_it():
    pytest.importorskip("sklift", reason="scikit-uplift is not installed")
    assert trials.qini_peer(None, 0, SMALL, arrays=20).metrics["qini_difference"] < 1e-12
