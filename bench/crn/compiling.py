"""``compile`` and ``info``: from a factor graph to its reaction network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scisuite.bench.crn.checking import extinction
from scisuite.bench.crn.files import require_file, require_writable, stem_of
from scisuite.bench.crn.options import AUTO, read_evidence, read_k_rec
from scisuite.bench.crn.sources import is_file, read_source
from scisuite.bench.crn.stages import Stages
from scisuite.core import InvalidInput

if TYPE_CHECKING:
    from scisuite.scenarios.factor_graphs import FactorGraph
    from scisuite.solvers.crn_reduce.network import CRN

FIRST_K_REC = 0.1
_EVIDENCE_FILE = ".evid"
_LEAST_TABLE, _LARGEST_TABLE = 2.0**-10, 2.0**10


def describe(source: str) -> dict[str, Any]:
    """What a factor graph compiles to, without compiling it.

    Raises
    ------
    InvalidInput
        If ``source`` cannot be read.
    """
    from scisuite.solvers.crn_reduce.compile import compiled_molecularity, compiled_size

    graph = read_source(source)
    species, reactions = compiled_size(graph)
    return {
        "input": source,
        "variables": [
            {"name": v, "values": graph.states.get(v) or [str(i) for i in range(k)], "degree": graph.degree(v)}
            for v, k in graph.card.items()
        ],
        "factors": len(graph.factors),
        "components": len(graph.components()),
        "largest_table": max((factor.table.size for factor in graph.factors.values()), default=0),
        "table_entries": graph.n_entries,
        "species": species,
        "reactions": reactions,
        "max_molecularity": compiled_molecularity(graph),
    }


def compile_source(
    source: str, output: Path | None, *, evidence: Sequence[str] | None, k_rec: str, check: bool, force: bool
) -> dict[str, Any]:
    """Compile a factor graph given evidence and write the network.

    Raises
    ------
    InvalidInput
        If an option is wrong, the output exists, the input cannot be read, the evidence is impossible, or it leaves
        nothing to compile.
    EngineFailure
        If messages die out at every rate of recycling that is tried.
    """
    from scisuite.core.files import write_atomic
    from scisuite.solvers.crn_reduce.sbml import to_sbml

    rate = read_k_rec(k_rec)
    if rate == AUTO and not check:
        raise InvalidInput("--k-rec auto looks for extinct pools; give it a number with --no-check")
    folder = Path(source).parent if is_file(source) else Path()
    target = output if output is not None else folder / f"{stem_of(source)}.xml"
    require_writable(target, force=force, inputs=[Path(source)])
    warnings: list[str] = []
    with Stages(f"compile {source}", total=3) as stages:
        with stages("read"):
            full = read_source(source)
            known = _evidence(evidence, full)
            conditioned = _given(full, known, warnings)
            graph = conditioned.without_constants()
            if not graph.card:
                raise InvalidInput(_nothing_left(conditioned, full))
            graph, scaled = _comfortable(graph)
        with stages("compile and look for extinct pools" if check else "compile"):
            crn, attempts = compile_network(graph, rate, check=check, warnings=warnings)
        with stages("write"):
            write_atomic(target, to_sbml(crn, states=dict(graph.states), name=stem_of(source)))
    return {
        "input": source,
        "output": str(target),
        "evidence": known,
        "one_valued": [v for v in conditioned.card if v not in graph.card],
        "variables": len(graph.card),
        "factors": len(graph.factors),
        "table_entries": graph.n_entries,
        "species": crn.n_species,
        "reactions": crn.n_reactions,
        "max_molecularity": crn.max_molecularity,
        "k_rec": attempts[-1]["k_rec"],
        "attempts": attempts,
        "scaled_factors": scaled,
        "seconds": stages.rounded(),
        "notes": [_scaling(scaled)] if scaled else [],
        "warnings": warnings,
    }


def compile_network(
    graph: FactorGraph,
    k_rec: float | str,
    *,
    check: bool,
    warnings: list[str],
    k_prod: float = 1.0,
    total: float = 1.0,
    first: float = FIRST_K_REC,
) -> tuple[CRN, list[dict[str, Any]]]:
    """Compile a graph with a rate of recycling or, for ``auto``, the first of ``first``, ``first``/3, ``first``/9, … at
    which no pool is extinct.

    Returns
    -------
    CRN
    list of dict
        Each rate that was tried: ``k_rec``, the number of pools that are ``extinct`` (``None`` if that was not looked
        at), the ``pool`` with the least assigned mass, and that mass relative to its total, ``least_assigned``. Extinct
        pools at a given rate go into ``warnings``.
    """
    from scisuite.solvers.crn_reduce.compile import compile_napp_adams
    from scisuite.solvers.crn_reduce.steady import steady_state
    from scisuite.solvers.crn_reduce.survival import compile_surviving

    if isinstance(k_rec, str):
        crn, survival = compile_surviving(graph, k_rec=first, k_prod=k_prod, total=total)
        return crn, [
            {
                "k_rec": attempt.k_rec,
                "extinct": attempt.n_extinct,
                "pool": str(attempt.pool),
                "least_assigned": max(attempt.least_share, 0.0),
            }
            for attempt in survival.attempts
        ]
    crn = compile_napp_adams(graph, k_rec=k_rec, k_prod=k_prod, total=total)
    if not check:
        return crn, [{"k_rec": k_rec, "extinct": None, "pool": None, "least_assigned": None}]
    state = steady_state(crn)
    share = state.assigned_mass / state.pool_totals
    extinct = [str(pool) for pool in state.extinct()]
    if not state.converged:
        warnings.append(
            f"no steady state was found: the residual is {state.relative_residual:.1e} of the fastest turnover "
            f"after {state.iterations} steps"
        )
    if extinct:
        warnings.append(f"{extinction(extinct)}; --k-rec auto finds a rate at which none is")
    least = int(share.argmin())
    return crn, [
        {
            "k_rec": k_rec,
            "extinct": len(extinct),
            "pool": str(state.conserved.labels[least]),
            "least_assigned": max(float(share[least]), 0.0),
        }
    ]


def _evidence(texts: Sequence[str] | None, graph: FactorGraph) -> dict[str, str | int]:
    """The evidence of ``A=yes,B=0`` and of evidence files."""
    from scisuite.scenarios.factor_graphs import read_uai_evidence

    pairs: list[str] = []
    known: dict[str, int] = {}
    for text in texts or ():
        if text.lower().endswith(_EVIDENCE_FILE) and "=" not in text:
            require_file(Path(text))
            known.update(read_uai_evidence(text))
        else:
            pairs.append(text)
    return read_evidence(pairs, graph, known)


def _nothing_left(conditioned: FactorGraph, full: FactorGraph) -> str:
    if not full.card:
        return "there is nothing to compile: the graph has no variables"
    if not conditioned.card:
        return "there is nothing to compile: all variables are observed"
    return "there is nothing to compile: all variables are observed or have one value only"


def _comfortable(graph: FactorGraph) -> tuple[FactorGraph, list[str]]:
    """The graph with a power of two taken out of each table that is far from 1, and the factors whose table that was.

    Tables become rate constants, so that their scale, which is arbitrary and changes no belief, would decide whether
    messages survive and whether the integrator copes.
    """
    from scisuite.scenarios.factor_graphs import Factor, FactorGraph
    from scisuite.solvers.crn_reduce.reduction.tables import scaled

    factors, log_scale, changed = {}, graph.log_scale, []
    for name, factor in graph.factors.items():
        factors[name] = factor
        if not _LEAST_TABLE <= factor.table.max() <= _LARGEST_TABLE:
            table, power = scaled(factor.table)
            if power:
                factors[name] = Factor(factor.variables, table)
                log_scale += power * math.log(2)
                changed.append(name)
    return FactorGraph.trusted(graph.card, factors, log_scale, graph.states), changed


def _scaling(factors: Sequence[str]) -> str:
    tables = f"the table of {factors[0]} was" if len(factors) == 1 else f"the tables of {len(factors)} factors were"
    return f"{tables} far from 1, and scaled by powers of two; beliefs are the same"


def _given(graph: FactorGraph, evidence: dict[str, str | int], warnings: list[str]) -> FactorGraph:
    from scisuite.scenarios.factor_graphs import TooWide, condition_checked

    if not evidence:
        return graph
    try:
        return condition_checked(graph, evidence)
    except TooWide:
        warnings.append("the graph is too densely connected to tell whether the evidence is possible")
        return graph.condition(evidence)
