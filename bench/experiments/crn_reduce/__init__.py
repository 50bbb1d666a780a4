"""The reaction networks' evidence: how small, how exact, how fast, and what a policy can add."""

from __future__ import annotations

from collections.abc import Sequence

from scisuite.bench.experiment import Arm, Experiment, Limit, Tier
from scisuite.bench.experiments.crn_reduce.arms import (
    ARMS,
    FIXED_POINTS,
    HMM_REDUCTIONS,
    NETWORK_REDUCTIONS,
    POLICIES,
    SMALL_POLICIES,
)
from scisuite.bench.experiments.crn_reduce.claims import (
    ALARM,
    ANDES,
    CLAIMS,
    CYCLE,
    HMM,
    ISING,
    LOOPY,
    NETWORKS,
    PLANNING,
    SIMULATED,
    SIX_CYCLE,
    SMALL_HMM,
    SMALL_PLANNING,
    TORUS,
    TREE,
)

METRICS = {
    "share_removed": "share of the reactions removed; higher is better",
    "reactions_before": "reactions of the full network",
    "reactions_after": "reactions of the reduced network; lower is better",
    "species_before": "species of the full network",
    "species_after": "species of the reduced network; lower is better",
    "growth": "species or reactions gained, 0 if none; lower is better",
    "molecularity_before": "molecules that meet in one reaction at most, full",
    "molecularity_after": "molecules that meet in one reaction at most, reduced",
    "reduce_seconds": "wall time of the reduction [s]; lower is better",
    "converged": "whether every run of belief propagation converged (1: yes)",
    "belief_error": "largest difference of a belief; lower is better",
    "lift_error": "largest difference of a belief, the eliminated variables' included; lower is better",
    "bethe_error": "change of the Bethe free energy [nat]; lower is better",
    "set_distance": "largest distance of a fixed point to the nearest of the other graph; lower is better",
    "n_fixed_points": "fixed points found in the full graph",
    "n_fixed_points_reduced": "fixed points found in the reduced graph",
    "scopes_equal": "whether the recovered scopes are those compiled (1: yes)",
    "table_error": "largest relative difference of a recovered table's entry; lower is better",
    "recompiled_error": "largest relative difference of a rate, compiled again; lower is better",
    "never_produced": "ambiguities reported: values that a table never produces",
    "isolated_factors": "ambiguities reported: factors whose variables are in no other",
    "recover_seconds": "wall time of the recovery [s]; lower is better",
    "speedup": "time of roadrunner's simulate, full / reduced; higher is better",
    "simulate_seconds": "time of roadrunner's simulate, full [s]",
    "simulate_seconds_reduced": "time of roadrunner's simulate, reduced [s]",
    "load_seconds": "time in which roadrunner loads the network, full [s]",
    "load_seconds_reduced": "time in which roadrunner loads the network, reduced [s]",
    "extinct_pools": "pools below 1e-9 of their total; lower is better",
    "k_rec": "largest recycling rate of .1/3ⁿ without an extinct pool, full",
    "k_rec_reduced": "largest recycling rate of .1/3ⁿ without an extinct pool, reduced",
    "survival_ratio": "largest recycling rate survived, reduced / full; higher is better",
    "survived_k_rec": "largest recycling rate of 1, .3, .1, .03, .01 survived, full",
    "survived_k_rec_reduced": "largest recycling rate of 1, .3, .1, .03, .01 survived, reduced",
    "forward_blocks": "blocks of forward equivalence; lower is better",
    "backward_blocks": "blocks of backward equivalence; lower is better",
    "over_forward": "species left by reduction − blocks of forward equivalence; lower is better",
    "over_backward": "species left by reduction − blocks of backward equivalence; lower is better",
    "forward_seconds": "wall time of forward equivalence [s]",
    "backward_seconds": "wall time of backward equivalence [s]",
    "return": "share of species and reactions that an episode removes, mean over instances; higher is better",
    "return_low": "its 95 % interval over instances, lower bound",
    "return_high": "its 95 % interval over instances, upper bound",
    "gain": "mean return − that of the better rule, greedy or min-fill; higher is better",
    "gain_low": "its 95 % interval over instances, lower bound",
    "gain_high": "its 95 % interval over instances, upper bound",
    **{f"return_training_{i}": f"mean return of training {i}; higher is better" for i in range(3)},
    "seconds": "CPU time: compile, recover, reduce [s]; lower is better",
    "seconds_1000": "CPU time: compile, recover, reduce a tree of 1,000 variables [s]",
    "slope": "slope of log CPU time against log reactions: 1 is linear; lower is better",
    **{f"seconds_{n}": f"CPU time: compile, recover, reduce {n} reactions [s]" for n in ("1e4", "1e5", "1e6")},
    **{
        f"{step}_seconds_{n}": f"CPU time to {step}, {n} reactions [s]"
        for step in ("compile", "recover", "reduce")
        for n in ("1e4", "1e5", "1e6")
    },
    **{f"{step}_seconds": f"CPU time to {step} [s]" for step in ("compile", "recover")},
    "over_factorgraph": "time of belief propagation, factorgraph / ours; higher is better",
    "over_pyagrum": "time of belief propagation, pyagrum / ours; higher is better",
    "bp_seconds": "wall time of our belief propagation [s]; lower is better",
    "factorgraph_seconds": "wall time of factorgraph's [s]",
    "pyagrum_seconds": "wall time of pyagrum's [s]",
}


def experiment() -> Experiment:
    """Arms, claims and tiers."""
    return Experiment(
        slug="crn_reduce",
        title="Probabilistic reaction networks: recovered, reduced, and run again",
        arms=ARMS,
        claims=CLAIMS,
        tiers=TIERS,
        metrics=METRICS,
        headline="share_removed",
        prefix="crn",
    )


def _ids(*groups: Sequence[Arm]) -> tuple[str, ...]:
    return tuple(arm.id for group in groups for arm in group)


def _limits(
    arms: Sequence[str], *scenarios: str, seeds: int | None = None, budget: str | None = None
) -> dict[str, Limit]:
    return dict.fromkeys(arms, Limit(scenarios, seeds, budget))


_LEARNED = ("plan_maskable_ppo", "plan_maskable_ppo_flat")


def _where(seeds: int, instances: int) -> dict[str, Limit]:
    """Which scenarios each arm meets, and with how many seeds."""
    return {
        **_limits(_ids(NETWORK_REDUCTIONS), *NETWORKS, seeds=seeds),
        **_limits(("none",), *NETWORKS, seeds=1),
        **_limits(_ids(HMM_REDUCTIONS), HMM, seeds=seeds),
        **_limits(_ids(FIXED_POINTS), ISING, CYCLE, LOOPY, seeds=seeds),
        **_limits(("recover",), *NETWORKS, HMM, seeds=1),
        **_limits(("simulate_keep_two", "agree_keep_two"), HMM, seeds=seeds),
        **_limits(("simulate_pruned", "agree_pruned"), *SIMULATED, seeds=seeds),
        **_limits(("extinction",), SIX_CYCLE, "factor_graphs/sachs", "factor_graphs/child", seeds=seeds),
        **_limits(("lumping_keep_one",), SMALL_HMM, seeds=seeds),
        **_limits(("lumping",), CYCLE, TORUS, seeds=seeds),
        **_limits(("scale",), TREE, seeds=1),
        **_limits(("scale_andes",), ANDES, seeds=1),
        **_limits(("bp_speed",), ALARM, seeds=1),
        **_limits(_ids(POLICIES), PLANNING, SMALL_PLANNING, seeds=1, budget=f"{instances} steps"),
        **_limits(_LEARNED, PLANNING, seeds=1, budget=f"{instances} steps"),
        **_limits(_ids(SMALL_POLICIES), SMALL_PLANNING, seeds=1, budget=f"{instances} steps"),
    }


_SCENARIOS = (
    *NETWORKS,
    HMM,
    SMALL_HMM,
    CYCLE,
    SIX_CYCLE,
    ISING,
    TORUS,
    LOOPY,
    TREE,
    PLANNING,
    SMALL_PLANNING,
)
_SMALL = tuple(f"factor_graphs/{name}" for name in ("cancer", "asia", "survey"))
_SMOKE = {
    **_where(seeds=2, instances=8),
    **_limits(_ids(NETWORK_REDUCTIONS), *_SMALL, seeds=2),
    **_limits(("recover",), *_SMALL, HMM, seeds=1),
    **_limits(("agree_pruned",), *_SMALL, seeds=1),
}
_NOT_IN_SMOKE = (
    "simulate_keep_two",
    "simulate_pruned",
    "extinction",
    "scale",
    "scale_andes",
    "bp_speed",
    *_LEARNED,
)

TIERS = {
    "smoke": Tier(
        arms=tuple(id for id in _ids(ARMS) if id not in _NOT_IN_SMOKE),
        scenarios=(*_SMALL, HMM, SMALL_HMM, CYCLE, ISING, TORUS, LOOPY, PLANNING, SMALL_PLANNING),
        seeds=2,
        budget="1 steps",
        limits=_SMOKE,
    ),
    "quick": Tier(
        arms=_ids(ARMS), scenarios=_SCENARIOS, seeds=5, budget="1 steps", limits=_where(seeds=5, instances=100)
    ),
    "full": Tier(
        arms=_ids(ARMS), scenarios=_SCENARIOS, seeds=50, budget="1 steps", limits=_where(seeds=50, instances=1000)
    ),
}
