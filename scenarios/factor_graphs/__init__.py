"""Factor graphs: Bayesian networks, Ising grids, hidden Markov models, trees and random graphs."""

from scisuite.scenarios.factor_graphs.bayesian_network import forward_sample, half_the_leaves, parents
from scisuite.scenarios.factor_graphs.bif import read_bif
from scisuite.scenarios.factor_graphs.bundled import BUNDLED, ELEVEN, bundled_network
from scisuite.scenarios.factor_graphs.elimination import condition_checked, possible
from scisuite.scenarios.factor_graphs.errors import TooWide
from scisuite.scenarios.factor_graphs.exact import exact_marginals
from scisuite.scenarios.factor_graphs.generators import chain, cycle_hair, hmm, ising, random_loopy, tree
from scisuite.scenarios.factor_graphs.graph import Factor, FactorGraph
from scisuite.scenarios.factor_graphs.planning import PlanningProblem, PlanningScenario
from scisuite.scenarios.factor_graphs.scenario import FactorGraphScenario, Problem
from scisuite.scenarios.factor_graphs.uai import read_uai, read_uai_evidence, write_uai

__all__ = [
    "BUNDLED",
    "ELEVEN",
    "Factor",
    "FactorGraph",
    "FactorGraphScenario",
    "PlanningProblem",
    "PlanningScenario",
    "Problem",
    "TooWide",
    "bundled_network",
    "chain",
    "condition_checked",
    "cycle_hair",
    "exact_marginals",
    "forward_sample",
    "half_the_leaves",
    "hmm",
    "ising",
    "parents",
    "possible",
    "random_loopy",
    "read_bif",
    "read_uai",
    "read_uai_evidence",
    "tree",
    "write_uai",
]
