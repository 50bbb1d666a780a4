"""LABO's experiment: what it promises is there, and its arms run and repeat."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.bench import experiment as experiments
from scisuite.bench.experiments import labo
from scisuite.core import Budget, InvalidInput
from scisuite.solvers.labo.strategies import STRATEGIES

EXPERIMENT = labo.experiment()
CLAIMS = {claim.id: claim for claim in EXPERIMENT.claims}
ARMS = {arm.id: arm for arm in EXPERIMENT.arms}
SLOW = {"mfkg", "labo_timed", "mfkg_timed", "labo_smollm2", "ucb_smollm2"}
TINY = Budget.parse("6 evaluations")


@pytest.fixture(scope="module")
def world():
    return scenarios.make("functions/quadratic2", pool_size=60)


def run(arm, world, budget=TINY, seed=0, **options):
    config = {**ARMS[arm].config, **options}
    if arm not in ("no_warm_start", "random", "latin_10", "latin_150"):
        config = {"n_latin": 6, "max_llm": 20, **config}
    return ARMS[arm].load()(world, seed, budget, **config)


def test_the_registered_experiment_is_this_one():
    assert EXPERIMENT.slug == "labo"
    assert EXPERIMENT.headline in EXPERIMENT.metrics
    assert len(CLAIMS) == len(EXPERIMENT.claims)
    for claim in EXPERIMENT.claims:
        assert claim.statement
        assert claim.metric in EXPERIMENT.metrics or claim.metric.startswith("cost.")


@pytest.mark.parametrize(
    ("id", "arm", "against", "metric", "target"),
    [
        ("labo.hartmann6.regret", "labo", "ucb", "auc_regret", 0.75),
        ("labo.hartmann6.evals_to_95", "labo", "ucb", "evals_to_95", 1.0),
        ("labo.gate", "labo", "gate_off", "auc_regret", 0.85),
        ("labo.pce10.regret", "labo", "ucb", "auc_regret", 1.0),
        ("labo.uninformative", "labo_r0", "ucb_r0", "auc_regret", 1.35),
        ("labo.informative", "labo", "labo_r0", "auc_regret", 0.70),
        ("labo.cost_vs_qmfkg", "labo_timed", "mfkg_timed", "cost.cpu_seconds", 0.10),
        ("labo.local_llm", "labo_smollm2", "ucb_smollm2", "auc_regret", 1.35),
    ],
)
def test_the_promised_claims_have_the_promised_targets(id, arm, against, metric, target):
    claim = CLAIMS[id]
    assert (claim.arm, claim.against, claim.metric, claim.target) == (arm, against, metric, target)
    assert (claim.statistic, claim.relation) == ("ratio_of_means", "<=")


def test_where_the_claims_are_judged():
    assert CLAIMS["labo.hartmann6.regret"].scenarios == ("functions/hartmann6",)
    assert CLAIMS["labo.gate"].scenarios == ("functions/hartmann6",)
    assert CLAIMS["labo.pce10.regret"].scenarios == ("materials/photo_pce10",)
    assert CLAIMS["labo.cost_vs_qmfkg"].scenarios == ("functions/hartmann6",)
    assert set(CLAIMS["labo.uninformative"].scenarios) == set(labo.TASKS)
    assert not CLAIMS["labo.uninformative"].pooled  # on every task, not on their mean
    assert len(labo.TASKS) == 4
    for unpromised in ("labo.fullerenes.regret", "labo.p3ht.regret"):
        assert CLAIMS[unpromised].target is None


def test_the_sweep_of_the_threshold_is_judged_step_by_step():
    claim = CLAIMS["labo.gate_monotone"]
    assert (claim.metric, claim.statistic, claim.relation, claim.target) == (
        "llm_to_real",
        "difference_of_means",
        ">=",
        -0.1,
    )
    pairs = [(claim.arm, claim.against), *claim.also]
    taus = {"labo": 0.75, **{id: arm.config["tau"] for id, arm in ARMS.items() if "tau" in arm.config}}
    assert [(taus[low], taus[high]) for high, low in pairs] == [(0.6, 0.7), (0.7, 0.75), (0.75, 0.8), (0.8, 0.85)]


def test_every_arm_names_a_strategy_and_options_that_it_has():
    for arm in EXPERIMENT.arms:
        assert arm.summary
        assert arm.role in experiments.Role.__args__
        config = dict(arm.config)
        kind = STRATEGIES[config.pop("strategy")].load()
        known = set(inspect.signature(labo.campaign).parameters)
        for base in kind.__mro__:
            known |= set(inspect.signature(base.__init__).parameters)
        assert set(config) <= known, arm.id
    assert ARMS["labo_r0"].config["corr"] == ARMS["ucb_r0"].config["corr"] == 0.0
    assert "corr" not in ARMS["labo"].config
    assert inspect.signature(labo.campaign).parameters["corr"].default == 0.8


def test_the_ablations_and_peers_of_the_brief_are_arms():
    strategies = {arm.config["strategy"] for arm in EXPERIMENT.arms}
    assert strategies == set(STRATEGIES)
    assert {arm.config.get("n_latin") for arm in EXPERIMENT.arms} >= {10, 150}
    assert {arm.config.get("rho_fit") for arm in EXPERIMENT.arms} >= {"origin", "fixed", "shrunk"}
    assert all(ARMS[id].exclusive for id in ("labo_timed", "mfkg_timed"))
    assert all("llm" in ARMS[id].extras for id in ("labo_smollm2", "ucb_smollm2"))


def test_the_tiers():
    quick = EXPERIMENT.tiers["quick"]
    assert quick.budget == "30 evaluations"
    assert quick.seeds >= 24
    assert {claim.id for claim in EXPERIMENT.claims_in("quick")} == set(CLAIMS)
    for id in ("mfkg", "mfkg_timed", "labo_timed"):
        assert quick.limits[id].seeds == 3
    demo = EXPERIMENT.tiers["demo"]
    assert demo.scenarios == ("materials/photo_pce10",)
    assert EXPERIMENT.claims_in("demo")
    assert not set(EXPERIMENT.tiers["smoke"].arms) & SLOW
    for tier in EXPERIMENT.tiers.values():
        for scenario in tier.scenarios:
            assert scenario in scenarios.registry.ids()


@pytest.mark.parametrize("arm", sorted(set(ARMS) - SLOW))
def test_every_arm_runs_and_gives_finite_metrics_and_equally_long_curves(arm, world):
    outcome = run(arm, world)
    assert outcome.budget_used == 6
    assert {"auc_regret", "final_regret", "evals_to_95", "llm_to_real", "n_llm"} <= set(outcome.metrics)
    for name, value in outcome.metrics.items():
        assert type(value) is float, name
        assert math.isfinite(value), name
    assert set(outcome.curves) == {"regret", "llm_queries"}
    for curve in outcome.curves.values():
        assert curve.x == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
        assert len(curve.y) == 6
        assert curve.x_label
        assert curve.y_label
    assert outcome.metrics["auc_regret"] == pytest.approx(np.mean(outcome.curves["regret"].y))
    assert (np.diff(outcome.curves["regret"].y) <= 0).all()
    assert (np.diff(outcome.curves["llm_queries"].y) >= 0).all()


@pytest.mark.parametrize("arm", ["labo", "ucb", "random_fidelity", "random"])
def test_an_arm_repeats_itself_with_its_seed_and_differs_with_another(arm, world):
    assert run(arm, world, seed=5) == run(arm, world, seed=5)
    assert run(arm, world, seed=5) != run(arm, world, seed=6)


def test_arms_of_a_seed_share_their_starts_and_their_oracle(world):
    first_three = {run(arm, world, seed=2).curves["regret"].y[:3] for arm in ("labo", "ucb", "gate_off", "log_ei")}
    assert len(first_three) == 1
    correlations = {run(arm, world, seed=2).metrics["realised_correlation"] for arm in ("labo", "gate_off", "tau_060")}
    assert len(correlations) == 1
    for asks_nobody in ("ucb", "random", "random_llm"):
        assert "realised_correlation" not in run(asks_nobody, world, seed=2).metrics
    assert run("labo_r0", world, seed=2).metrics["realised_correlation"] < min(correlations)


def test_a_scenario_without_a_pool_is_taken_too():
    outcome = run("labo", scenarios.make("functions/quadratic2", pool_size=0), Budget.parse("4 evaluations"))
    assert outcome.metrics["n_real"] == 4.0


@pytest.mark.parametrize("arm", ["labo_timed", "mfkg_timed"])
def test_a_timed_arm_takes_its_decisions_and_gives_only_their_number(arm, world):
    options = {"n_fantasies": 2, "n_restarts": 1, "n_raw": 4, "n_iterations": 2} if arm == "mfkg_timed" else {}
    outcome = run(arm, world, Budget.parse("10 evaluations"), steps=1, **options)
    assert outcome.metrics == {"decisions": 1.0}
    assert outcome.curves == {}
    assert 3 <= outcome.budget_used <= 5


def test_the_warm_up_and_the_refusals(world):
    labo.warm_up()
    with pytest.raises(InvalidInput, match="labo counts real evaluations, not steps"):
        run("labo", world, Budget.parse("6 steps"))
    with pytest.raises(InvalidInput, match="less than the 3 starting points"):
        run("labo", world, Budget.parse("2 evaluations"))
    with pytest.raises(InvalidInput, match="has no option 'taux'"):
        run("labo", world, taux=1)
