"""Factor graphs that are Bayesian networks: one table for each variable, given its parents."""

from __future__ import annotations

from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs.graph import FactorGraph


def parents(graph: FactorGraph) -> dict[str, tuple[str, ...]]:
    """The parents of each variable of a Bayesian network, no variable before its parents.

    Each variable must be the first in the scope of one factor, its table given the other variables of that scope:
    :func:`~scisuite.scenarios.factor_graphs.read_bif` gives such graphs.

    Raises
    ------
    InvalidInput
        If a variable comes first in no factor or in several, or parents go round in a circle.
    """
    tables = _tables(graph)
    above = {v: graph.factors[tables[v]].variables[1:] for v in graph.card}
    try:
        order = tuple(TopologicalSorter(above).static_order())
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise InvalidInput(f"this is no Bayesian network: parents go round in a circle, {circle}") from None
    return {v: above[v] for v in order}


def forward_sample(graph: FactorGraph, rng: np.random.Generator) -> dict[str, int]:
    """Draw a value for each variable of a Bayesian network, parents first.

    Returns
    -------
    dict of str to int
        In the order of ``graph.card``. Every table is above zero there.

    Raises
    ------
    InvalidInput
        If the graph is no Bayesian network (see :func:`parents`), or a row that is needed is zero throughout.
    """
    tables = _tables(graph)
    above = parents(graph)
    drawn: dict[str, int] = {}
    for (v, given), u in zip(above.items(), rng.random(len(above)), strict=True):
        at: tuple[Any, ...] = (slice(None), *(drawn[p] for p in given))
        row = graph.factors[tables[v]].table[at]
        cumulative = np.cumsum(row)
        if cumulative[-1] <= 0:
            where = ", ".join(f"{p}={drawn[p]}" for p in given)
            raise InvalidInput(f"factor {tables[v]!r} has no value of {v!r} above zero at {where}")
        k = int(np.searchsorted(cumulative, u * cumulative[-1], side="right"))
        drawn[v] = min(k, int(np.flatnonzero(row)[-1]))
    return {v: drawn[v] for v in graph.card}


def half_the_leaves(graph: FactorGraph, rng: np.random.Generator, spare: Collection[str] = ()) -> dict[str, int]:
    """Evidence on a random half of a Bayesian network's leaves, the variables without children.

    An odd one is rounded up, so that a single leaf is observed. The values are those of a
    :func:`forward_sample`, so that the evidence is possible.

    Parameters
    ----------
    graph : FactorGraph
    rng : numpy Generator
    spare : collection of str
        Variables that are never observed.

    Returns
    -------
    dict of str to int
        In the order of ``graph.card``.

    Raises
    ------
    InvalidInput
        If the graph is no Bayesian network.
    """
    has_children = {p for above in parents(graph).values() for p in above}
    leaves = [v for v in graph.card if v not in has_children and v not in spare]
    sample = forward_sample(graph, rng)
    chosen = np.sort(rng.permutation(len(leaves))[: (len(leaves) + 1) // 2])
    return {leaves[i]: sample[leaves[i]] for i in chosen}


def _tables(graph: FactorGraph) -> dict[str, str]:
    """The factor in whose scope each variable comes first."""
    tables: dict[str, str] = {}
    for name, factor in graph.factors.items():
        child = factor.variables[0]
        if child in tables:
            both = f"{tables[child]!r} and {name!r}"
            raise InvalidInput(f"this is no Bayesian network: {child!r} comes first in the scopes of {both}")
        tables[child] = name
    for v in graph.card:
        if v not in tables:
            raise InvalidInput(f"this is no Bayesian network: {v!r} comes first in the scope of no factor")
    return tables
