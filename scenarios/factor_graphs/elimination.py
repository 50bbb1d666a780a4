"""Whether evidence is possible at all: which tables are above zero together, exactly."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs.errors import TooWide
from scisuite.scenarios.factor_graphs.graph import FactorGraph

MAX_ENTRIES = 2**26

Support = tuple[tuple[str, ...], NDArray[np.bool_]]


def possible(
    graph: FactorGraph, evidence: Mapping[str, int | str] | None = None, *, max_entries: int = MAX_ENTRIES
) -> bool:
    """Whether some assignment that agrees with the evidence has all tables above zero: whether Z > 0.

    Exact, in three steps: tables are sliced at the evidence; values that a table forbids whatever its other variables
    do are removed until none is left (arc consistency), which also rids the problem of every table that forbids nothing
    any more; the rest is eliminated variable by variable, the one that makes the smallest table first.

    Parameters
    ----------
    graph : FactorGraph
    evidence : mapping of str to int or str
        As in :meth:`FactorGraph.condition`.
    max_entries : int
        Largest table, in entries of one byte, that elimination may make.

    Raises
    ------
    InvalidInput
        If a variable or value is unknown.
    TooWide
        If elimination would need a larger table: nothing is said about the evidence.
    """
    evidence = {} if evidence is None else evidence
    graph.require_variables(evidence, "evidence")
    domains = {v: np.ones(k, dtype=bool) for v, k in graph.card.items()}
    for v, value in evidence.items():
        domains[v] = np.arange(graph.card[v]) == graph.value_index(v, value)
    supports = [(f.variables, f.table > 0) for f in graph.factors.values()]
    if not _make_arc_consistent(supports, domains):
        return False
    return _eliminate(_what_still_forbids(supports, domains), max_entries)


def condition_checked(
    graph: FactorGraph, evidence: Mapping[str, int | str], *, max_entries: int = MAX_ENTRIES
) -> FactorGraph:
    """The graph given evidence that is known to be possible.

    Raises
    ------
    InvalidInput
        If a variable or value is unknown, or the evidence is impossible, also where no single table shows it.
    TooWide
        If that cannot be decided (see :func:`possible`).
    """
    conditioned = graph.condition(evidence)
    if not possible(conditioned, max_entries=max_entries):
        given = ", ".join(f"{v}={value}" for v, value in evidence.items())
        nothing = "no assignment has a weight above zero"
        raise InvalidInput(f"the evidence is impossible: {nothing} given {given}" if evidence else nothing)
    return conditioned


def _make_arc_consistent(supports: list[Support], domains: dict[str, NDArray[np.bool_]]) -> bool:
    """Take from ``domains`` what some table forbids; false where a variable has no value left."""
    holders: dict[str, list[int]] = {v: [] for v in domains}
    for i, (variables, _) in enumerate(supports):
        for v in variables:
            holders[v].append(i)
    waiting = deque(range(len(supports)))
    queued = [True] * len(supports)
    while waiting:
        i = waiting.popleft()
        queued[i] = False
        variables, table = supports[i]
        allowed = table
        for axis, v in enumerate(variables):
            allowed = allowed & domains[v].reshape([-1 if a == axis else 1 for a in range(len(variables))])
        for axis, v in enumerate(variables):
            left = np.asarray(allowed.any(axis=tuple(a for a in range(len(variables)) if a != axis)))
            if not left.any():
                return False
            if (left != domains[v]).any():
                domains[v] = left
                for other in holders[v]:
                    if other != i and not queued[other]:
                        queued[other] = True
                        waiting.append(other)
    return True


def _what_still_forbids(supports: list[Support], domains: Mapping[str, NDArray[np.bool_]]) -> list[Support]:
    """The tables over the values and variables that are still open, without those that allow all of it."""
    rest = []
    for variables, table in supports:
        reduced = table[np.ix_(*(domains[v] for v in variables))]
        open_axes = [a for a, length in enumerate(reduced.shape) if length > 1]
        if not reduced.all():
            reduced = reduced.reshape([reduced.shape[a] for a in open_axes])
            rest.append((tuple(variables[a] for a in open_axes), reduced))
    return rest


def _eliminate(supports: list[Support], max_entries: int) -> bool:
    card = {v: k for variables, table in supports for v, k in zip(variables, table.shape, strict=True)}
    of: dict[str, dict[int, Support]] = {v: {} for v in card}
    for i, support in enumerate(supports):
        for v in support[0]:
            of[v][i] = support
    made = len(supports)
    cost = {v: _merged_entries(of[v], card) for v in card}
    while cost:
        v = min(cost, key=cost.__getitem__)
        if cost[v] > max_entries:
            raise TooWide(
                f"whether this is possible cannot be told: eliminating {v!r} takes a table of {cost[v]:.3g} entries, "
                f"and the limit is {max_entries}"
            )
        merged = _merge(list(of[v].values()), v, card)
        for i, (variables, _) in list(of[v].items()):
            for u in variables:
                del of[u][i]
        del cost[v]
        if not merged[1].any():
            return False
        if not merged[1].all():
            for u in merged[0]:
                of[u][made] = merged
            made += 1
        for u in merged[0]:
            cost[u] = _merged_entries(of[u], card)
    return True


def _merged_entries(supports: Mapping[int, Support], card: Mapping[str, int]) -> int:
    return math.prod(card[u] for u in {u for variables, _ in supports.values() for u in variables})


def _merge(supports: list[Support], v: str, card: Mapping[str, int]) -> Support:
    """What is allowed for the neighbours of ``v``, whatever its value."""
    scope = (*dict.fromkeys(u for variables, _ in supports for u in variables if u != v), v)
    allowed = np.ones([card[u] for u in scope], dtype=bool)
    for variables, table in supports:
        order = [variables.index(u) for u in scope if u in variables]
        allowed &= table.transpose(order).reshape([card[u] if u in variables else 1 for u in scope])
    return scope[:-1], np.asarray(allowed.any(axis=-1))
