"""A fixed point of the graph before the moves as one of the graph after them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import Messages
from scisuite.solvers.crn_reduce.reduction.certificate import Certificate

Floats = NDArray[np.float64]


def carry(certificate: Certificate, graph: FactorGraph, messages: Messages) -> Messages:
    """Messages to variables after the moves.

    m_{f→v} is the product of those from the factors that were merged into f and held v.

    Parameters
    ----------
    certificate : Certificate
        Whose moves start from ``graph``.
    graph : FactorGraph
        The graph before the moves.
    messages : Messages
        Messages on it.

    Raises
    ------
    InvalidInput
        If the message of an edge is missing, or messages contradict each other.
    """
    sources = {edge: [edge[0]] for edge in graph.edges}
    values: dict[str, list[int]] = {}
    for move in certificate:
        v = move.variable
        if move.kind == "split":
            whole, second = move.operands[0].name, move.results[1]
            for u in second.variables:
                sources[second.name, u] = sources.pop((whole, u))
        elif move.kind in ("unary", "series", "cluster"):
            first, second = move.operands
            for u in second.variables:
                sources.setdefault((first.name, u), []).extend(sources.pop((second.name, u)))
        if move.kind in ("leaf", "series") or (move.kind == "support" and len(move.values) == 1):
            for operand in move.operands:
                sources.pop((operand.name, v), None)
        elif move.kind == "support":
            before = values.get(v, range(graph.card[v]))
            values[v] = [before[k] for k in move.values]
    return Messages({edge: _product(messages, edge[1], parts, values) for edge, parts in sources.items()})


def _product(messages: Messages, variable: str, parts: list[str], values: dict[str, list[int]]) -> Floats:
    product: Floats | None = None
    for part in parts:
        if (part, variable) not in messages.to_variable:
            raise InvalidInput(f"the message from factor {part!r} to variable {variable!r} is missing")
        message = np.asarray(messages.to_variable[part, variable], dtype=np.float64)
        if variable in values:
            message = message[values[variable]]
        product = message if product is None else product * message
        largest = product.max()
        if not largest:
            raise InvalidInput(f"the messages to variable {variable!r} contradict each other")
        product = product / largest
    assert product is not None
    product /= product.sum()
    return product
