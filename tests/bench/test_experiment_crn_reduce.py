"""The reaction networks' experiment: what it promises is there, and its arms run, repeat and can fail."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.bench.experiments.crn_reduce import experiment, recovery, scaling
from scisuite.bench.experiments.crn_reduce.claims import NETWORKS, SIMULATED
from scisuite.core import Budget, generator
from scisuite.scenarios.factor_graphs import ELEVEN, FactorGraph
from scisuite.solvers.crn_reduce import Pools, compile_napp_adams, recover_factor_graph

EXPERIMENT = experiment()
INEQUALITIES = {each.id: each for claim in EXPERIMENT.claims for each in claim.inequalities}
ARMS = {arm.id: arm for arm in EXPERIMENT.arms}
ONE = Budget.parse("1 steps")


def run(arm, scenario, seed=0, budget=ONE, **options):
    world = scenarios.make(f"factor_graphs/{scenario}") if isinstance(scenario, str) else scenario
    return ARMS[arm].load()(world, seed, budget, **{**ARMS[arm].config, **options})


def check(outcome):
    assert outcome.metrics
    for name, value in outcome.metrics.items():
        assert name in EXPERIMENT.metrics, name
        assert type(value) is float, name
        assert math.isfinite(value), name
    return outcome.metrics


@pytest.mark.parametrize(
    ("id", "metric", "arm", "statistic", "relation", "target"),
    [
        ("crn.reduction.share", "share_removed", "leaf_unary", "median", ">=", 0.40),
        ("crn.reduction.growth", "growth", "leaf_unary", "maximum", "<=", 0.0),
        ("crn.reduction.keep_three", "share_removed", "keep_three", "median", ">=", None),
        ("crn.hmm_keep_one", "share_removed", "hmm_keep_one", "minimum", ">=", 0.95),
        ("crn.beliefs.networks", "belief_error", "leaf_unary", "maximum", "<=", 1e-8),
        ("crn.beliefs.hmm", "belief_error", "hmm_keep_one", "maximum", "<=", 1e-8),
        ("crn.fixed_point_sets.distance", "set_distance", "fixed_points", "maximum", "<=", 1e-8),
        ("crn.fixed_point_sets.several", "n_fixed_points", "fixed_points", "minimum", ">=", 2.0),
        ("crn.recover_exact.scopes", "scopes_equal", "recover", "minimum", ">=", 1.0),
        ("crn.recover_exact.tables", "table_error", "recover", "maximum", "<=", 1e-12),
        ("crn.recover_exact.recompiled", "recompiled_error", "recover", "maximum", "<=", 1e-12),
        ("crn.recover_exact.seconds", "recover_seconds", "recover", "maximum", "<=", 5.0),
        ("crn.simulation_speedup", "speedup", "simulate_keep_two", "median", ">=", 5.0),
        ("crn.simulation_speedup_bn", "speedup", "simulate_pruned", "median", ">=", 2.5),
        ("crn.simulation_agrees.beliefs", "belief_error", "agree_pruned", "maximum", "<=", 1e-8),
        ("crn.simulation_agrees.extinct", "extinct_pools", "agree_pruned", "maximum", "<=", 0.0),
        ("crn.vs_lumping.forward", "over_forward", "lumping_keep_one", "maximum", "<=", 0.0),
        ("crn.vs_lumping.cycle_backward", "over_backward", "lumping", "maximum", "<=", 0.0),
        ("crn.vs_lumping.torus", "over_backward", "lumping", "maximum", "<=", None),
        ("crn.extinction", "survival_ratio", "extinction", "median", ">=", None),
        ("crn.planning", "gain", "plan_maskable_ppo", "resampled", ">=", None),
        ("crn.scale.million", "seconds_1e6", "scale", "maximum", "<=", 180.0),
        ("crn.scale.slope", "slope", "scale", "maximum", "<=", 1.15),
        ("crn.bp_speed", "over_factorgraph", "bp_speed", "minimum", ">=", 5.0),
    ],
)
def test_the_promised_claims_are_computed_as_promised(id, metric, arm, statistic, relation, target):
    claim = INEQUALITIES[id]
    assert (claim.metrics, claim.arm, claim.against) == ((metric,), arm, None)
    assert (claim.statistic, claim.relation, claim.target) == (statistic, relation, target)


def test_which_networks_and_medians_the_claims_are_about():
    assert tuple(f"factor_graphs/{name}" for name in ELEVEN) == NETWORKS
    for id, names in (("crn.reduction.share", NETWORKS), ("crn.simulation_speedup_bn", SIMULATED)):
        assert INEQUALITIES[id].scenarios == names
        assert (INEQUALITIES[id].jointly, INEQUALITIES[id].across) == (True, "median")
    assert INEQUALITIES["crn.recover_exact.seconds"].pooled
    assert len(INEQUALITIES["crn.recover_exact.seconds"].scenarios) == 12
    beliefs = {arm for arm, _ in INEQUALITIES["crn.beliefs.networks"].pairs}
    assert beliefs == {"leaf_unary", "keep_three", "series", "cluster", "all_moves", "evidence_moves"}


def test_the_tiers_decide_the_claims_on_as_many_seeds_as_promised():
    quick = EXPERIMENT.tiers["quick"]
    assert EXPERIMENT.claims_in("quick") == EXPERIMENT.claims_in("full") == EXPERIMENT.claims
    seeds = {arm: (quick.limits[arm].seeds or quick.seeds) for arm in quick.arms}
    assert seeds["leaf_unary"] == seeds["simulate_pruned"] == seeds["extinction"] == 5
    assert seeds["scale"] == seeds["bp_speed"] == seeds["plan_maskable_ppo"] == 1
    assert quick.limits["plan_maskable_ppo"].budget == "100 steps"
    assert ARMS["simulate_pruned"].exclusive
    assert ARMS["scale"].exclusive
    assert all(set(tier.scenarios) <= set(scenarios.registry.ids()) for tier in EXPERIMENT.tiers.values())


@pytest.mark.parametrize(
    ("arm", "scenario", "options"),
    [
        ("hmm_keep_one", "hmm", {}),
        ("leaf_unary", "random_loopy", {}),
        ("keep_three", "random_loopy", {}),
        ("cluster", "cycle_hair", {}),
        ("fixed_points", "random_loopy", {"n_starts": 4}),
        ("recover", "cycle_hair", {}),
        ("lumping_keep_one", "hmm_6_2", {}),
        ("plan_greedy", "planning_small", {"budget": Budget.parse("3 steps")}),
    ],
)
def test_arms_run_and_repeat(arm, scenario, options):
    first, again = (run(arm, scenario, **options).metrics for _ in range(2))
    timings = {name for name in first if "seconds" in name}
    assert {k: v for k, v in first.items() if k not in timings} == {k: v for k, v in again.items() if k not in timings}
    check(run(arm, scenario, **options))


def test_what_three_steps_of_the_hidden_markov_model_are_reduced_to():
    keep_one, keep_two = (check(run(arm, "hmm")) for arm in ("hmm_keep_one", "hmm_keep_two"))
    assert (keep_one["reactions_before"], keep_one["reactions_after"]) == (744.0, 18.0)
    assert keep_two["reactions_after"] == 174.0
    assert max(keep_one["belief_error"], keep_two["lift_error"], keep_two["bethe_error"]) < 1e-10


def test_a_wrong_recovery_is_seen_for_what_it_is():
    graph = scenarios.make("factor_graphs/hmm_6_2").generate(generator(0, "problem")).graph
    network = compile_napp_adams(graph)
    anonymous, order = network.anonymous(generator(0, "shuffle"))
    truth = Pools(network.pools.pool_of[order], network.pools.value_of[order], network.pools.keys)
    found = recover_factor_graph(anonymous)
    assert recovery.compare(graph, truth, found) == (True, 0.0)
    name, factor = next((n, f) for n, f in found.graph.factors.items() if len(f.variables) == 2)
    tables = dict(found.graph.factors)
    bent = FactorGraph(found.graph.card, {**tables, name: (factor.variables, factor.table + np.eye(2) * 1e-3)})
    equal, error = recovery.compare(graph, truth, replace(found, graph=bent))
    assert equal
    assert 1e-4 < error < 1.0
    fewer = FactorGraph(found.graph.card, {n: f for n, f in tables.items() if n != name})
    assert recovery.compare(graph, truth, replace(found, graph=fewer))[0] is False


def test_a_run_of_belief_propagation_that_does_not_converge_leaves_the_beliefs_open(monkeypatch):
    from scisuite.bench.experiments.crn_reduce import reductions

    stopped = lambda graph: reductions_bp(graph, max_iter=2)  # noqa: E731
    reductions_bp = reductions.bp
    monkeypatch.setattr(reductions, "bp", stopped)
    metrics = run("leaf_unary", "random_loopy").metrics
    assert metrics["converged"] == 0.0
    assert math.isnan(metrics["belief_error"])


def test_small_trees_give_a_slope_and_the_timings_of_every_step():
    metrics = scaling.trees(scenarios.make("factor_graphs/tree"), 0, ONE, reactions=(1000, 10_000), repeats=1).metrics
    assert {"slope", "seconds_1000", "seconds_1e3", "seconds_1e4", "recover_seconds_1e4"} <= set(metrics)
