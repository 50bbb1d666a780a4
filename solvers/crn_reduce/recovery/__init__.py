"""Recover the factor graph inside an anonymous reaction network."""

from scisuite.solvers.crn_reduce.recovery.compare import corresponding_species, networks_equal, rate_difference
from scisuite.solvers.crn_reduce.recovery.named import recover_named
from scisuite.solvers.crn_reduce.recovery.recover import recompiles_to, recover_factor_graph
from scisuite.solvers.crn_reduce.recovery.result import ISOLATED_FACTOR, NEVER_PRODUCED, Ambiguity, Recovery

__all__ = [
    "ISOLATED_FACTOR",
    "NEVER_PRODUCED",
    "Ambiguity",
    "Recovery",
    "corresponding_species",
    "networks_equal",
    "rate_difference",
    "recompiles_to",
    "recover_factor_graph",
    "recover_named",
]
