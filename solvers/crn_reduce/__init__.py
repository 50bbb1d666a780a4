"""Probabilistic chemical reaction networks: compile, recover, reduce, simulate.

Names are looked up on first use, so that nothing is imported without need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scisuite.scenarios.factor_graphs import FactorGraph
    from scisuite.solvers.crn_reduce.belief_propagation import BPResult, Messages, bp, carry_messages
    from scisuite.solvers.crn_reduce.bethe import bethe_free_energy
    from scisuite.solvers.crn_reduce.compile import Rates, compile_napp_adams, compiled_molecularity, compiled_size
    from scisuite.solvers.crn_reduce.errors import NotNappAdams
    from scisuite.solvers.crn_reduce.lumping import backward_equivalence, forward_equivalence
    from scisuite.solvers.crn_reduce.multistart import FixedPoints, fixed_points, match_fixed_points
    from scisuite.solvers.crn_reduce.network import BELIEF, CRN, PRODUCT, SUM, UNASSIGNED, PoolKey, Pools
    from scisuite.solvers.crn_reduce.peers import PeerRun, factorgraph_bp, pyagrum_bayes_net_bp, pyagrum_loopy_bp
    from scisuite.solvers.crn_reduce.recovery import (
        Ambiguity,
        Recovery,
        networks_equal,
        recompiles_to,
        recover_factor_graph,
        recover_named,
    )
    from scisuite.solvers.crn_reduce.reduction import (
        Certificate,
        CertificateError,
        NotExactError,
        Reduction,
        apply_moves,
        reduce,
        reduce_crn,
        verify_certificate,
    )
    from scisuite.solvers.crn_reduce.roadrunner import RoadRunner
    from scisuite.solvers.crn_reduce.sbml import UnsupportedSBML, from_sbml, to_sbml, write_sbml
    from scisuite.solvers.crn_reduce.simulation import simulate
    from scisuite.solvers.crn_reduce.solver import CRNReduceSolver
    from scisuite.solvers.crn_reduce.steady import SteadyState, steady_state
    from scisuite.solvers.crn_reduce.survival import Survival, compile_surviving, largest_surviving, survives
    from scisuite.solvers.crn_reduce.trajectory import Trajectory

_HERE = "scisuite.solvers.crn_reduce"
_FILES = {
    "Ambiguity": f"{_HERE}.recovery",
    "BELIEF": f"{_HERE}.network",
    "BPResult": f"{_HERE}.belief_propagation",
    "CRN": f"{_HERE}.network",
    "CRNReduceSolver": f"{_HERE}.solver",
    "Certificate": f"{_HERE}.reduction",
    "CertificateError": f"{_HERE}.reduction",
    "FactorGraph": "scisuite.scenarios.factor_graphs",
    "FixedPoints": f"{_HERE}.multistart",
    "Messages": f"{_HERE}.belief_propagation",
    "NotExactError": f"{_HERE}.reduction",
    "NotNappAdams": f"{_HERE}.errors",
    "PRODUCT": f"{_HERE}.network",
    "PeerRun": f"{_HERE}.peers",
    "PoolKey": f"{_HERE}.network",
    "Pools": f"{_HERE}.network",
    "Rates": f"{_HERE}.compile",
    "Recovery": f"{_HERE}.recovery",
    "Reduction": f"{_HERE}.reduction",
    "RoadRunner": f"{_HERE}.roadrunner",
    "SUM": f"{_HERE}.network",
    "SteadyState": f"{_HERE}.steady",
    "Survival": f"{_HERE}.survival",
    "Trajectory": f"{_HERE}.trajectory",
    "UNASSIGNED": f"{_HERE}.network",
    "UnsupportedSBML": f"{_HERE}.sbml",
    "apply_moves": f"{_HERE}.reduction",
    "backward_equivalence": f"{_HERE}.lumping",
    "bethe_free_energy": f"{_HERE}.bethe",
    "bp": f"{_HERE}.belief_propagation",
    "carry_messages": f"{_HERE}.belief_propagation",
    "compile_napp_adams": f"{_HERE}.compile",
    "compile_surviving": f"{_HERE}.survival",
    "compiled_molecularity": f"{_HERE}.compile",
    "compiled_size": f"{_HERE}.compile",
    "factorgraph_bp": f"{_HERE}.peers",
    "fixed_points": f"{_HERE}.multistart",
    "forward_equivalence": f"{_HERE}.lumping",
    "from_sbml": f"{_HERE}.sbml",
    "largest_surviving": f"{_HERE}.survival",
    "match_fixed_points": f"{_HERE}.multistart",
    "networks_equal": f"{_HERE}.recovery",
    "pyagrum_bayes_net_bp": f"{_HERE}.peers",
    "pyagrum_loopy_bp": f"{_HERE}.peers",
    "recompiles_to": f"{_HERE}.recovery",
    "recover_factor_graph": f"{_HERE}.recovery",
    "recover_named": f"{_HERE}.recovery",
    "reduce": f"{_HERE}.reduction",
    "reduce_crn": f"{_HERE}.reduction",
    "simulate": f"{_HERE}.simulation",
    "steady_state": f"{_HERE}.steady",
    "survives": f"{_HERE}.survival",
    "to_sbml": f"{_HERE}.sbml",
    "verify_certificate": f"{_HERE}.reduction",
    "write_sbml": f"{_HERE}.sbml",
}

__all__ = [
    "Ambiguity",
    "BELIEF",
    "BPResult",
    "CRN",
    "CRNReduceSolver",
    "Certificate",
    "CertificateError",
    "FactorGraph",
    "FixedPoints",
    "Messages",
    "NotExactError",
    "NotNappAdams",
    "PRODUCT",
    "PeerRun",
    "PoolKey",
    "Pools",
    "Rates",
    "Recovery",
    "Reduction",
    "RoadRunner",
    "SUM",
    "SteadyState",
    "Survival",
    "Trajectory",
    "UNASSIGNED",
    "UnsupportedSBML",
    "apply_moves",
    "backward_equivalence",
    "bethe_free_energy",
    "bp",
    "carry_messages",
    "compile_napp_adams",
    "compile_surviving",
    "compiled_molecularity",
    "compiled_size",
    "factorgraph_bp",
    "fixed_points",
    "forward_equivalence",
    "from_sbml",
    "largest_surviving",
    "match_fixed_points",
    "networks_equal",
    "pyagrum_bayes_net_bp",
    "pyagrum_loopy_bp",
    "recompiles_to",
    "recover_factor_graph",
    "recover_named",
    "reduce",
    "reduce_crn",
    "simulate",
    "steady_state",
    "survives",
    "to_sbml",
    "verify_certificate",
    "write_sbml",
]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FILES[name]), name)
