"""``reduce``: a smaller network with the same beliefs, and the certificate that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scisuite.bench.crn.compiling import compile_network
from scisuite.bench.crn.files import require_file, require_writable
from scisuite.bench.crn.keep import belief_species, kept_variables
from scisuite.bench.crn.models import odd_totals, read_model
from scisuite.bench.crn.options import AUTO, SAME, read_k_rec, read_keep, read_moves
from scisuite.bench.crn.stages import Stages
from scisuite.core import EngineFailure, InvalidInput, generator

if TYPE_CHECKING:
    from scisuite.solvers.crn_reduce.network import CRN
    from scisuite.solvers.crn_reduce.reduction import Reduction

DEFAULT_MOVES = ("leaf", "unary", "series")


def reduce_model(
    path: Path,
    output: Path,
    *,
    keep: Sequence[str] | None,
    moves: Sequence[str] | None,
    certificate: Path | None,
    k_rec: str,
    verify: bool,
    units: str,
    force: bool,
) -> dict[str, Any]:
    """Reduce a model, verify what was done, and only then write the network and its certificate.

    Raises
    ------
    InvalidInput
        If an option is wrong, an output exists, a variable is unknown, or the model cannot be read or is no Napp–Adams
        network.
    EngineFailure
        If the certificate does not hold or a belief moved; nothing is written.
    """
    from scisuite.core.files import write_atomic
    from scisuite.solvers.crn_reduce.reduction import certificate_to_json, reduce
    from scisuite.solvers.crn_reduce.sbml import to_sbml

    proof = certificate if certificate is not None else output.with_suffix(".cert.json")
    require_file(path)
    require_writable(output, force=force, inputs=[path])
    require_writable(proof, force=force, inputs=[path])
    if proof.absolute() == output.absolute():
        raise InvalidInput(f"{output} cannot be both the network and its certificate")
    words = read_keep(keep)
    wanted = read_moves(moves) if moves is not None else DEFAULT_MOVES
    rate = read_k_rec(k_rec, same=True)
    warnings: list[str] = []
    with Stages(f"reduce {path}", total=6 if verify else 5) as stages:
        model = read_model(path, units, stages)
        kept = kept_variables(model, words)
        with stages("reduce"):
            reduction = reduce(model.graph, kept, wanted)
        compared = None
        if verify:
            with stages("verify"):
                compared = _verified(reduction)
        rates = model.recovery.rates
        with stages("compile and look for extinct pools" if verify or rate == AUTO else "compile"):
            after, attempts = compile_network(
                reduction.graph,
                rates.k_rec if rate == SAME else rate,
                check=verify,
                warnings=warnings,
                k_prod=rates.k_prod,
                total=rates.total,
                first=rates.k_rec,
            )
        with stages("write"):
            write_atomic(output, to_sbml(after, states=dict(reduction.graph.states), name=output.stem))
            write_atomic(proof, certificate_to_json(reduction.certificate))
    warnings += [
        *model.warnings,
        *(f"{text}; those of {output} all hold {rates.total:.6g}" for text in odd_totals(model)),
    ]
    return {
        "input": str(path),
        "output": str(output),
        "certificate": str(proof),
        "keep": kept,
        "species_of_kept": {v: {"before": belief_species(model, v), "after": _species_after(after, v)} for v in kept},
        "variables_left": list(reduction.graph.card),
        "moves": dict(Counter(move.kind for move in reduction.certificate)),
        "before": _sizes(reduction.before, model.crn, model.graph.n_entries),
        "after": _sizes(reduction.after, after, reduction.graph.n_entries),
        "k_rec": attempts[-1]["k_rec"],
        "k_rec_before": rates.k_rec,
        "attempts": attempts,
        "verified": compared,
        "seconds": stages.rounded(),
        "warnings": warnings,
    }


def _verified(reduction: Reduction) -> dict[str, Any]:
    """Check the certificate, and compare the beliefs of survivors by belief propagation on both graphs."""
    from scisuite.envs.crn_reduce.verification import verify_reduction
    from scisuite.solvers.crn_reduce.reduction import CertificateError, verify_certificate

    try:
        verify_certificate(reduction.original, reduction.certificate, reduction.graph)
    except CertificateError as error:
        raise EngineFailure(f"the certificate does not hold, and nothing was written: {error}") from error
    found = verify_reduction(reduction, generator(0, "verification"))
    if found.moved:
        raise EngineFailure(f"the reduction is not exact, and nothing was written: {found.reason}")
    return {
        "certificate": True,
        "beliefs": found.verified,
        "max_difference": found.belief_error,
        "reason": found.reason,
        "converged_runs": found.converged,
    }


def _species_after(crn: CRN, variable: str) -> tuple[str, ...]:
    from scisuite.solvers.crn_reduce.network import BELIEF, PoolKey

    assert crn.pools is not None
    return tuple(crn.species[s] for s in crn.pools.species_of(crn.pools.number[PoolKey(BELIEF, variable)]).tolist())


def _sizes(summary: Any, crn: CRN, entries: int) -> dict[str, int]:
    return {
        "variables": summary.variables,
        "factors": summary.factors,
        "table_entries": entries,
        "species": crn.n_species,
        "reactions": crn.n_reactions,
        "max_molecularity": crn.max_molecularity,
    }
