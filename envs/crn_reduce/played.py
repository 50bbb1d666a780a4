"""The moves of an episode made on the graph itself, tables included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from scisuite.envs.crn_reduce.board import CLUSTER, LEAF, UNARY, Board, Move, members
from scisuite.scenarios.factor_graphs import FactorGraph

if TYPE_CHECKING:
    from scisuite.solvers.crn_reduce.reduction import Reduction

Step = tuple[str, ...]


def reduction_of(graph: FactorGraph, board: Board, moves: Iterable[Move]) -> Reduction:
    """The reduction that moves on the board of a graph amount to, with certificate and ``lift``.

    Raises
    ------
    NotExactError
        If a move is not exact, or a table leaves the range of float64.
    """
    from scisuite.solvers.crn_reduce.reduction import apply_moves

    kept = [board.variables[v] for v in members(board.keep)]
    return apply_moves(graph, steps_of(board, moves), kept)


def steps_of(board: Board, moves: Iterable[Move]) -> Iterator[Step]:
    """Moves by names, as the solver takes them.

    A series move is given as its two halves, a cluster move and a leaf: so what results has the name of the first
    factor, as on the board.
    """
    for kind, v, a, b in moves:
        if kind == UNARY:
            yield "unary", board.factors[b], board.factors[a]
            continue
        if kind != LEAF:
            yield "cluster", board.factors[a], board.factors[b]
        if kind != CLUSTER:
            yield "leaf", board.variables[v]
