"""The Bethe free energy, whose stationary points are belief propagation's fixed points."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import BPResult


def bethe_free_energy(graph: FactorGraph, result: BPResult) -> float:
    """F = Σ_f Σ b_f ln(b_f/ψ_f) − Σ_v (deg v − 1) Σ b_v ln b_v − ``log_scale``, with 0 ln 0 = 0, in nats.

    On a tree −F is ln Z; on a graph with cycles it is its Bethe approximation (Yedidia, Freeman & Weiss 2005).

    Raises
    ------
    InvalidInput
        If the result has not converged, or is that of another graph.
    """
    _require_fixed_point(graph, result)
    energy = 0.0
    for names, beliefs in result.beliefs_of_alike():
        tables = np.stack([graph.factors[f].table for f in names])
        energy += float(np.sum(xlogy(beliefs, beliefs) - xlogy(beliefs, tables)))
    degree = np.array([graph.degree(v) for v in graph.card])
    card = np.fromiter(graph.card.values(), dtype=np.int64, count=len(graph.card))
    beliefs = result.flat_beliefs
    return energy - float(np.sum(np.repeat(degree - 1, card) * xlogy(beliefs, beliefs))) - graph.log_scale


def _require_fixed_point(graph: FactorGraph, result: BPResult) -> None:
    if not result.converged:
        raise InvalidInput(
            f"the free energy is asked of a run that has not converged: residual {result.residual:.3g} after "
            f"{result.iterations} iterations"
        )
    if result.plan.graph is not graph:
        raise InvalidInput(f"the result is one of another graph, {result.plan.graph!r}, not of {graph!r}")
