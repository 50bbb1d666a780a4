"""The moves of an episode made on the graph itself, tables included."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scisuite.envs.crn_reduce.board import LEAF, SERIES, Board, Move
from scisuite.scenarios.factor_graphs import Factor, FactorGraph


def reduced_graph(graph: FactorGraph, board: Board, moves: Sequence[Move]) -> FactorGraph:
    """TEMP"""
    F = {n: f for n, f in graph.factors.items()}
    card = dict(graph.card)
    for kind, v, a, b in moves:
        v, a = board.variables[v], board.factors[a]
        fa = F[a]
        ops = [fa.table, list(fa.variables)]
        scope = list(fa.variables)
        if b >= 0:
            fb = F.pop(board.factors[b])
            ops += [fb.table, list(fb.variables)]
            scope += [u for u in fb.variables if u not in scope]
        if kind in (LEAF, SERIES):
            scope.remove(v)
            del card[v]
        ids = {u: i for i, u in enumerate(dict.fromkeys(sum(ops[1::2], [])))}
        args = [x if i % 2 == 0 else [ids[u] for u in x] for i, x in enumerate(ops)]
        F[a] = Factor(tuple(scope), np.einsum(*args, [ids[u] for u in scope]))
    return FactorGraph.trusted(card, F, graph.log_scale, {})
