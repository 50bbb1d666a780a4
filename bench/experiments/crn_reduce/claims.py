"""The claims, each with the computation that was fixed before anything was run."""

from __future__ import annotations

from scisuite.bench.experiment import Claim
from scisuite.scenarios.factor_graphs import ELEVEN

NETWORKS = tuple(f"factor_graphs/{name}" for name in ELEVEN)
SIMULATED = tuple(f"factor_graphs/{name}" for name in ("cancer", "asia", "survey", "child", "sachs", "alarm"))
"""Those that roadrunner loads within seconds."""

HMM, SMALL_HMM = "factor_graphs/hmm", "factor_graphs/hmm_6_2"
CYCLE, SIX_CYCLE = "factor_graphs/cycle_hair", "factor_graphs/cycle_hair_6"
ISING, TORUS = "factor_graphs/ising_hair", "factor_graphs/ising_torus"
LOOPY, TREE = "factor_graphs/random_loopy", "factor_graphs/tree"
ALARM, ANDES = "factor_graphs/alarm", "factor_graphs/andes"
PLANNING, SMALL_PLANNING = "factor_graphs/planning", "factor_graphs/planning_small"

EXACTNESS = 1e-8
_REDUCTIONS = ("keep_three", "series", "cluster", "all_moves", "evidence_moves")


def _exact(
    id: str, statement: str, metric: str, arm: str, scenarios: tuple[str, ...], bar: float, **more: object
) -> Claim:
    return Claim(id, statement, metric, arm, None, scenarios, "maximum", "<=", bar, **more)  # type: ignore[arg-type]


def _timed(name: str, statement: str, metric: str, arm: str, scenario: str, bar: float | None) -> Claim:
    return Claim(f"crn.{name}", statement, metric, arm, None, (scenario,), "maximum", "<=", bar)


CLAIMS = (
    Claim(
        "crn.reduction",
        "Share of the reactions that leaf and unary moves remove, eleven Bayesian networks given half of their leaves",
        parts=(
            Claim(
                "crn.reduction.share",
                "median over the networks of the median over the evidence",
                "share_removed",
                "leaf_unary",
                None,
                NETWORKS,
                "median",
                ">=",
                0.40,
                jointly=True,
                across="median",
            ),
            _exact(
                "crn.reduction.growth",
                "most species or reactions gained by leaf and unary moves, nothing or three variables kept",
                "growth",
                "leaf_unary",
                NETWORKS,
                0.0,
                also=(("keep_three", None),),
            ),
            Claim(
                "crn.reduction.keep_three",
                "the same share where three random variables are kept",
                "share_removed",
                "keep_three",
                None,
                NETWORKS,
                "median",
                ">=",
                None,
                jointly=True,
                across="median",
            ),
        ),
        note="That nothing grows is a theorem: a leaf or a unary factor takes more reactions with it than it leaves.",
    ),
    Claim(
        "crn.hmm_keep_one",
        "Smallest share of the reactions removed, hidden Markov model T = 8, K = M = 3, one variable kept",
        "share_removed",
        "hmm_keep_one",
        None,
        (HMM,),
        "minimum",
        ">=",
        0.95,
    ),
    Claim(
        "crn.beliefs",
        "Largest change of a surviving belief, every reduction of the run, belief propagation to 1e-12",
        parts=(
            _exact(
                "crn.beliefs.networks",
                "Bayesian networks",
                "belief_error",
                "leaf_unary",
                NETWORKS,
                EXACTNESS,
                also=tuple((arm, None) for arm in _REDUCTIONS),
            ),
            _exact(
                "crn.beliefs.hmm",
                "hidden Markov models",
                "belief_error",
                "hmm_keep_one",
                (HMM,),
                EXACTNESS,
                also=(("hmm_keep_two", None), ("hmm_keep_hidden", None)),
            ),
        ),
        paper="belief propagation's fixed points are preserved (in words)",
    ),
    Claim(
        "crn.fixed_point_sets",
        "Fixed points of belief propagation from ten starts: full and reduced sets agree, projected on the survivors",
        parts=(
            _exact(
                "crn.fixed_point_sets.distance",
                "largest distance, both ways",
                "set_distance",
                "fixed_points",
                (ISING, CYCLE, LOOPY),
                EXACTNESS,
            ),
            Claim(
                "crn.fixed_point_sets.several",
                "fixed points of the Ising grid, J = 1.2",
                "n_fixed_points",
                "fixed_points",
                None,
                (ISING,),
                "minimum",
                ">=",
                2.0,
            ),
        ),
    ),
    Claim(
        "crn.recover_exact",
        "Recovery from anonymous, shuffled networks: eleven Bayesian networks and the hidden Markov model",
        parts=(
            Claim(
                "crn.recover_exact.scopes",
                "whether all scopes are those compiled (1: yes)",
                "scopes_equal",
                "recover",
                None,
                (*NETWORKS, HMM),
                "minimum",
                ">=",
                1.0,
            ),
            _exact(
                "crn.recover_exact.tables",
                "largest relative difference of a table's entry",
                "table_error",
                "recover",
                (*NETWORKS, HMM),
                1e-12,
            ),
            _exact(
                "crn.recover_exact.recompiled",
                "largest relative difference of a rate, compiled again under the "
                "mapping found; a reaction too many or too few is infinite",
                "recompiled_error",
                "recover",
                (*NETWORKS, HMM),
                1e-12,
            ),
            _exact(
                "crn.recover_exact.seconds",
                "wall seconds of a network, mean of the twelve: 5 s are 60 s together",
                "recover_seconds",
                "recover",
                (*NETWORKS, HMM),
                5.0,
                pooled=True,
            ),
        ),
        note="Ambiguities are of two kinds, values never produced and isolated factors; the tables count them.",
    ),
    Claim(
        "crn.simulation_speedup",
        "roadrunner's simulation time, full / reduced: hidden Markov model T = 8, two variables kept, κ_r = .01",
        "speedup",
        "simulate_keep_two",
        None,
        (HMM,),
        "median",
        ">=",
        5.0,
    ),
    Claim(
        "crn.simulation_speedup_bn",
        "roadrunner's simulation time, full / reduced: median of six Bayesian networks, each the median over evidence",
        "speedup",
        "simulate_pruned",
        None,
        SIMULATED,
        "median",
        ">=",
        2.5,
        jointly=True,
        across="median",
    ),
    Claim(
        "crn.simulation_agrees",
        "roadrunner's steady beliefs and belief propagation's, full and reduced, κ_r found by the search",
        parts=(
            _exact(
                "crn.simulation_agrees.beliefs",
                "largest difference",
                "belief_error",
                "agree_pruned",
                SIMULATED,
                EXACTNESS,
            ),
            _exact(
                "crn.simulation_agrees.extinct",
                "pools that are extinct",
                "extinct_pools",
                "agree_pruned",
                SIMULATED,
                0.0,
            ),
            _exact(
                "crn.simulation_agrees.hmm",
                "largest difference, hidden Markov model, two variables kept",
                "belief_error",
                "agree_keep_two",
                (HMM,),
                EXACTNESS,
            ),
            _exact(
                "crn.simulation_agrees.hmm_extinct", "its extinct pools", "extinct_pools", "agree_keep_two", (HMM,), 0.0
            ),
        ),
    ),
    Claim(
        "crn.vs_lumping",
        "Species left by reduction minus blocks of a lumping, generic tables",
        parts=(
            _exact(
                "crn.vs_lumping.forward",
                "forward equivalence, one variable of a hidden Markov model observed",
                "over_forward",
                "lumping_keep_one",
                (SMALL_HMM,),
                0.0,
            ),
            _exact(
                "crn.vs_lumping.backward",
                "backward equivalence",
                "over_backward",
                "lumping_keep_one",
                (SMALL_HMM,),
                0.0,
            ),
            _exact(
                "crn.vs_lumping.cycle_forward",
                "forward equivalence, the survivors of cycle and hair observed",
                "over_forward",
                "lumping",
                (CYCLE,),
                0.0,
            ),
            _exact(
                "crn.vs_lumping.cycle_backward",
                "backward equivalence, cycle and hair",
                "over_backward",
                "lumping",
                (CYCLE,),
                0.0,
            ),
            Claim(
                "crn.vs_lumping.torus",
                "backward equivalence on a homogeneous Ising torus, where lumping wins",
                "over_backward",
                "lumping",
                None,
                (TORUS,),
                "maximum",
                "<=",
                None,
            ),
        ),
        note="Lumping needs symmetry. On the homogeneous torus it wins by far, but keeps only symmetric fixed points.",
    ),
    Claim(
        "crn.extinction",
        "Largest κ_r of 1, .3, .1, .03, .01 without an extinct pool, reduced / full",
        "survival_ratio",
        "extinction",
        None,
        (SIX_CYCLE, "factor_graphs/sachs", "factor_graphs/child"),
        "median",
        ">=",
        None,
    ),
    Claim(
        "crn.planning",
        "Mean return on 100 held-out instances, series and cluster moves under caps: MaskablePPO − the better rule",
        "gain",
        "plan_maskable_ppo",
        None,
        (PLANNING,),
        "resampled",
        ">=",
        None,
        note="The interval is over instances; the rules are greedy and min-fill.",
    ),
    Claim(
        "crn.scale",
        "Compile, recover and reduce on one core, random trees with K = 3",
        parts=(
            _timed("scale.thousand", "CPU seconds, a tree of 1,000 variables", "seconds_1000", "scale", TREE, 10.0),
            _timed("scale.andes", "CPU seconds, andes", "seconds", "scale_andes", ANDES, 10.0),
            _timed("scale.million", "CPU seconds at 10⁶ reactions", "seconds_1e6", "scale", TREE, 180.0),
            _timed(
                "scale.slope", "slope of log seconds against log reactions, 10⁴ to 10⁶", "slope", "scale", TREE, 1.15
            ),
            _timed("scale.memory", "peak memory in MiB (6 GiB)", "cost.peak_mib", "scale", TREE, 6 * 1024.0),
        ),
    ),
    Claim(
        "crn.bp_speed",
        "Time of belief propagation to 1e-8 on alarm given half of its leaves, factorgraph / ours",
        "over_factorgraph",
        "bp_speed",
        None,
        (ALARM,),
        "minimum",
        ">=",
        5.0,
    ),
)
