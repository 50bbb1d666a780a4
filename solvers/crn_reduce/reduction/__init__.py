"""Reduce a factor graph by moves that keep belief propagation's fixed points, with a certificate."""

from scisuite.solvers.crn_reduce.reduction.back_substitution import Beliefs, lift
from scisuite.solvers.crn_reduce.reduction.certificate import Certificate, GraphSummary, graph_hash
from scisuite.solvers.crn_reduce.reduction.certificate_json import certificate_from_json, certificate_to_json
from scisuite.solvers.crn_reduce.reduction.errors import BeyondFloat64, CertificateError, NotExactError
from scisuite.solvers.crn_reduce.reduction.moves import MOVES
from scisuite.solvers.crn_reduce.reduction.network import kept_variables, reduce_crn
from scisuite.solvers.crn_reduce.reduction.record import Move, Operand
from scisuite.solvers.crn_reduce.reduction.reduction import Reduction, apply_moves, reduce
from scisuite.solvers.crn_reduce.reduction.verify import verify_certificate

__all__ = [
    "MOVES",
    "Beliefs",
    "BeyondFloat64",
    "Certificate",
    "CertificateError",
    "GraphSummary",
    "Move",
    "NotExactError",
    "Operand",
    "Reduction",
    "apply_moves",
    "certificate_from_json",
    "certificate_to_json",
    "graph_hash",
    "kept_variables",
    "lift",
    "reduce",
    "reduce_crn",
    "verify_certificate",
]
