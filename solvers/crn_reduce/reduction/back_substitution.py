"""Beliefs of what was eliminated, by one pass back through the moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.reduction.certificate import Certificate
from scisuite.solvers.crn_reduce.reduction.record import Move
from scisuite.solvers.crn_reduce.reduction.tables import contracted, in_range

Floats = NDArray[np.float64]


class HasBeliefs(Protocol):
    """What a lift starts from: a ``BPResult``, or :class:`Beliefs`."""

    @property
    def var_beliefs(self) -> Mapping[str, Floats]: ...
    @property
    def factor_beliefs(self) -> Mapping[str, Floats]: ...


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Beliefs of variables, float64 (K_v,), and of factors, float64 of the table's shape, each summing to 1."""

    var_beliefs: Mapping[str, Floats]
    factor_beliefs: Mapping[str, Floats]

    def in_order_of(self, graph: FactorGraph) -> Beliefs:
        """The same, in the order of a graph."""
        return Beliefs({v: self.var_beliefs[v] for v in graph.card}, {f: self.factor_beliefs[f] for f in graph.factors})


def lift(certificate: Certificate, graph: FactorGraph, beliefs: HasBeliefs) -> Beliefs:
    """Beliefs of the variables and factors of the graph before the moves, at a fixed point of ``graph`` after them.

    Backwards through the moves, a factor's belief is that of what became of it times the conditional belief of what was
    summed out: b_f(x, k) = b_f′(x)·ψ_f(x, k)/Σ_k ψ_f(x, k). Factors' beliefs are needed and variables' would not do,
    since these do not determine the former. Zeros do no harm: where the sum is zero, b_f′ is.

    Parameters
    ----------
    certificate : Certificate
        Whose moves led to ``graph``.
    graph : FactorGraph
        The reduced graph.
    beliefs : BPResult or Beliefs
        Beliefs of its variables and factors.

    Raises
    ------
    InvalidInput
        If the run has not converged, or beliefs are missing or of the wrong shape.
    """
    if not getattr(beliefs, "converged", True):
        raise InvalidInput("beliefs of a run of belief propagation that has not converged are no answer to lift")
    variables, factors = dict(beliefs.var_beliefs), dict(beliefs.factor_beliefs)
    _require_beliefs("variable", variables, {v: (k,) for v, k in graph.card.items()})
    _require_beliefs("factor", factors, {f: factor.table.shape for f, factor in graph.factors.items()})
    for move in reversed(certificate.moves):
        _UNDO[move.kind](move, variables, factors)
    return Beliefs(variables, factors)


def _undo_leaf(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    (operand,) = move.operands
    assert operand.table is not None
    axis = operand.variables.index(move.variable)
    table = operand.table / operand.table.max()
    sums = table.sum(axis=axis, keepdims=True)
    reduced = np.expand_dims(factors[operand.name], axis)
    belief = table * np.divide(reduced, sums, out=np.zeros_like(sums), where=sums > 0)
    factors[operand.name] = belief
    variables[move.variable] = _marginal(belief, axis)


def _undo_unary(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    into, absorbed = move.operands
    factors[absorbed.name] = _marginal(factors[into.name], into.variables.index(move.variable))


def _undo_series(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    first, second = move.operands
    assert first.table is not None
    assert second.table is not None
    axis_a, axis_b = first.variables.index(move.variable), second.variables.index(move.variable)
    operation = partial(contracted, axis_a=axis_a, axis_b=axis_b)
    sums, _, (table_a, table_b) = in_range(operation, first.table, second.table)
    belief = factors[first.name]
    ratio = np.divide(belief, sums, out=np.zeros_like(sums), where=sums > 0)
    a, b = (np.moveaxis(table, axis, -1) for table, axis in ((table_a, axis_a), (table_b, axis_b)))
    flat_a, flat_b = a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1])
    ratio = ratio.reshape(len(flat_a), len(flat_b))
    belief_a = (flat_a * (ratio @ flat_b)).reshape(a.shape)
    belief_b = (flat_b * (ratio.T @ flat_a)).reshape(b.shape)
    factors[first.name], factors[second.name] = np.moveaxis(belief_a, -1, axis_a), np.moveaxis(belief_b, -1, axis_b)
    variables[move.variable] = _marginal(belief_a, a.ndim - 1)


def _undo_cluster(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    first, second = move.operands
    n, axis = len(first.variables), first.variables.index(move.variable)
    belief = factors[first.name]
    factors[first.name] = belief.sum(axis=tuple(range(n, belief.ndim)))
    of_second = belief.sum(axis=tuple(i for i in range(n) if i != axis))
    factors[second.name] = np.moveaxis(of_second, 0, second.variables.index(move.variable))


def _undo_split(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    (whole,) = move.operands
    first, second = move.results
    made = first.variables + second.variables
    belief = np.multiply.outer(factors[first.name], factors.pop(second.name))
    factors[whole.name] = belief.transpose([made.index(v) for v in whole.variables])


def _undo_support(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    gone = len(move.values) == 1
    chosen: int | tuple[int, ...] = move.values[0] if gone else move.values
    belief = np.zeros(move.card)
    belief[list(move.values)] = 1.0 if gone else variables[move.variable]
    variables[move.variable] = belief
    for operand in move.operands:
        axis = operand.variables.index(move.variable)
        small = factors.get(operand.name, np.ones(()))
        shape = (*small.shape[:axis], move.card, *small.shape[axis if gone else axis + 1 :])
        whole = np.zeros(shape)
        whole[(slice(None),) * axis + (chosen,)] = small
        factors[operand.name] = whole


def _undo_scale(move: Move, variables: dict[str, Floats], factors: dict[str, Floats]) -> None:
    """Beliefs know nothing of a table's scale."""


_UNDO = {
    "leaf": _undo_leaf,
    "unary": _undo_unary,
    "series": _undo_series,
    "cluster": _undo_cluster,
    "split": _undo_split,
    "support": _undo_support,
    "scale": _undo_scale,
}


def _marginal(belief: Floats, axis: int) -> Floats:
    marginal: Floats = belief.sum(axis=tuple(i for i in range(belief.ndim) if i != axis))
    return marginal


def _require_beliefs(what: str, beliefs: Mapping[str, Floats], shapes: Mapping[str, tuple[int, ...]]) -> None:
    for name, shape in shapes.items():
        if name not in beliefs:
            raise InvalidInput(f"the belief of {what} {name!r} is missing")
        if np.shape(beliefs[name]) != shape:
            raise InvalidInput(f"the belief of {what} {name!r} has shape {np.shape(beliefs[name])}, not {shape}")
    for name in beliefs:
        if name not in shapes:
            raise InvalidInput(f"there is a belief of {what} {name!r}, which the reduced graph does not have")
