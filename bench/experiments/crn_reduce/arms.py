"""The arms: what they run, and what they need."""

from __future__ import annotations

from typing import Any

from scisuite.bench.experiment import Arm

_HERE = "scisuite.bench.experiments.crn_reduce"


def _arm(id: str, role: Any, run: str, summary: str, *extras: str, timed: bool = False, **config: Any) -> Arm:
    return Arm(id, f"{_HERE}.{run}", role, config, extras, timed, summary)


NETWORK_REDUCTIONS = (
    _arm("leaf_unary", "method", "reductions:reduction", "leaf and unary moves, nothing kept", moves=["leaf", "unary"]),
    _arm(
        "keep_three",
        "ablation",
        "reductions:reduction",
        "leaf and unary moves, three random variables kept",
        moves=["leaf", "unary"],
        keep=3,
    ),
    _arm(
        "series",
        "ablation",
        "reductions:reduction",
        "series moves too, where the network gets smaller",
        moves=["leaf", "unary", "series"],
    ),
    _arm(
        "cluster",
        "ablation",
        "reductions:reduction",
        "series and cluster moves too, where the network gets smaller",
        moves=["leaf", "unary", "series", "cluster"],
    ),
    _arm(
        "all_moves",
        "ablation",
        "reductions:reduction",
        "every exact move: impossible values dropped and tables of rank one split as well",
        moves=["support", "split", "leaf", "unary", "series", "cluster"],
    ),
    _arm(
        "evidence_moves",
        "ablation",
        "reductions:evidence_moves",
        "the unconditioned network with its evidence as unary factors: impossible values, then leaves and unaries",
        moves=["support", "leaf", "unary"],
    ),
    _arm("none", "floor", "reductions:reduction", "no reduction", moves=[]),
)

HMM_REDUCTIONS = (
    _arm(
        "hmm_keep_one",
        "method",
        "reductions:reduction",
        "leaf and unary moves, one hidden variable kept",
        moves=["leaf", "unary"],
        keep=["h0"],
    ),
    _arm(
        "hmm_keep_two",
        "ablation",
        "reductions:reduction",
        "leaf and unary moves, two hidden variables kept, four steps apart",
        moves=["leaf", "unary"],
        keep=["h0", "h4"],
    ),
    _arm(
        "hmm_keep_hidden",
        "ablation",
        "reductions:reduction",
        "leaf and unary moves, all hidden variables kept",
        moves=["leaf", "unary"],
        keep=[f"h{t}" for t in range(8)],
    ),
)

FIXED_POINTS = (
    _arm("fixed_points", "method", "fixed_points:fixed_point_sets", "fixed points from ten starts, full and reduced"),
)

RECOVERY = (_arm("recover", "method", "recovery:recovery", "recovery of the anonymous, shuffled network"),)

SIMULATIONS = (
    _arm(
        "simulate_keep_two",
        "method",
        "simulation:speedup",
        "roadrunner before and after, two hidden variables kept, four steps apart",
        timed=True,
        keep=["h0", "h4"],
    ),
    _arm("simulate_pruned", "method", "simulation:speedup", "roadrunner before and after, nothing kept", timed=True),
    _arm(
        "agree_keep_two",
        "method",
        "simulation:agreement",
        "roadrunner's steady beliefs, two hidden variables kept, four steps apart",
        keep=["h0", "h4"],
    ),
    _arm("agree_pruned", "method", "simulation:agreement", "roadrunner's steady beliefs, nothing kept"),
    _arm("extinction", "method", "simulation:extinction", "largest κ_r at which no pool is extinct"),
)

LUMPINGS = (
    _arm("lumping_keep_one", "peer", "lumpings:lumping", "forward and backward equivalence, one kept", keep=["h0"]),
    _arm("lumping", "peer", "lumpings:lumping", "forward and backward equivalence, the survivors observed"),
)

TIMED = (
    _arm(
        "scale",
        "method",
        "scaling:trees",
        "compile, recover and reduce random trees of 10⁴ to 10⁶ reactions",
        timed=True,
    ),
    _arm("scale_andes", "method", "scaling:network", "compile, recover and reduce one network", timed=True),
    _arm(
        "bp_speed",
        "peer",
        "scaling:belief_propagation",
        "ours, factorgraph's and pyagrum's belief propagation",
        timed=True,
    ),
)

POLICIES = (
    _arm("plan_random", "floor", "planning:returns", "random legal moves", agent="random"),
    _arm("plan_greedy", "peer", "planning:returns", "the move that removes most now", agent="greedy"),
    _arm("plan_min_fill", "peer", "planning:returns", "the elimination that joins fewest variables", agent="min_fill"),
    _arm("plan_beam", "peer", "planning:returns", "beam search", agent="beam"),
    _arm(
        "plan_maskable_ppo",
        "method",
        "planning:trained_returns",
        "MaskablePPO that judges every action by one network, mean of three trainings",
        "rl",
    ),
    _arm(
        "plan_maskable_ppo_flat",
        "ablation",
        "planning:trained_returns",
        "MaskablePPO with sb3-contrib's own policy on the flattened observation, one training",
        "rl",
        train_seeds=[0],
        site_policy=False,
    ),
)
SMALL_POLICIES = (
    _arm("plan_exhaustive", "peer", "planning:returns", "exhaustive search, at most eight sites", agent="exhaustive"),
)

ARMS = (
    *NETWORK_REDUCTIONS,
    *HMM_REDUCTIONS,
    *FIXED_POINTS,
    *RECOVERY,
    *SIMULATIONS,
    *LUMPINGS,
    *TIMED,
    *POLICIES,
    *SMALL_POLICIES,
)
