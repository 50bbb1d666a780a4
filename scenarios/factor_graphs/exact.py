"""Exact marginals: the ground truth that belief propagation is held against."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.scenarios.factor_graphs.elimination import possible
from scisuite.scenarios.factor_graphs.errors import TooWide
from scisuite.scenarios.factor_graphs.graph import FactorGraph

MAX_ENTRIES = 2**27


def exact_marginals(
    graph: FactorGraph, variables: Iterable[str] | None = None, *, max_entries: int = MAX_ENTRIES
) -> dict[str, NDArray[np.float64]]:
    """The marginal distribution of each variable, by pyAgrum's Shafer–Shenoy inference on a junction tree.

    Its time grows faster than the square of the number of variables: a second at 2,000, minutes at 10,000.

    Parameters
    ----------
    graph : FactorGraph
    variables : iterable of str or None
        Those that are asked for; ``None`` for all.
    max_entries : int
        Largest number of table entries, of 8 bytes, over all cliques of the junction tree.

    Returns
    -------
    dict of str to float64 (K,)
        Probabilities, adding up to 1, in the order in which they were asked for.

    Raises
    ------
    InvalidInput
        If a variable is unknown or no assignment has a weight above zero.
    TooWide
        If the junction tree would be too large, or if it cannot be told whether a component of the graph in which
        nothing is asked for is possible.
    EngineFailure
        If the weights are so small that pyAgrum loses them.
    MissingDependency
        If pyAgrum is not installed.
    """
    asked = tuple(graph.card) if variables is None else graph.require_variables(variables, "variables")
    try:
        pyagrum: Any = importlib.import_module("pyagrum")
    except ModuleNotFoundError as error:
        raise MissingDependency("exact marginals need pyagrum, which is not installed", "crn") from error
    marginals = {v: np.ones(1) if k == 1 else np.full(k, 1 / k) for v, k in graph.card.items()}
    rest = graph.without_constants()
    held = [v for v in rest.card if rest.degree(v)]
    try:
        marginals |= _inferred(pyagrum, rest, held, set(asked).intersection(held), max_entries)
    except pyagrum.IncompatibleEvidence:
        marginals = {v: np.full(k, np.nan) for v, k in graph.card.items()}
    lost = not all(abs(p.sum() - 1) < 1e-6 for p in marginals.values())
    # The marginals that were asked for do not show it where another component is impossible.
    unseen = any(set(asked).isdisjoint(component) for component in graph.components())
    if (lost or unseen) and not possible(graph):
        raise InvalidInput("there are no marginals: no assignment has a weight above zero")
    if lost:
        raise EngineFailure("pyAgrum gave no marginals: the weights are too small for its arithmetic")
    return {v: marginals[v] for v in asked}


def _inferred(
    pyagrum: Any, graph: FactorGraph, held: list[str], asked: set[str], max_entries: int
) -> dict[str, NDArray[np.float64]]:
    """Marginals of ``asked`` in a Markov random field over ``held``, the variables that some factor holds."""
    model = pyagrum.MarkovRandomField()
    node = {v: model.add(pyagrum.LabelizedVariable(f"v{i}", "", graph.card[v])) for i, v in enumerate(held)}
    for scope, table in _one_table_a_scope(graph).items():
        nodes = [node[v] for v in scope]
        model.addFactor(nodes)
        made = model.factor(set(nodes))
        place = {f"v{node[v]}": axis for axis, v in enumerate(scope)}
        made.fillWith(np.ascontiguousarray(table.transpose([place[name] for name in reversed(made.names)])))
    inference = pyagrum.ShaferShenoyMRFInference(model)
    inference.setNumberOfThreads(1)
    tree = inference.junctionTree()
    entries = sum(math.prod(graph.card[held[i]] for i in tree.clique(c)) for c in tree.nodes())
    if entries > max_entries:
        raise TooWide(
            f"exact marginals would take a junction tree of {entries:.3g} entries; the limit is {max_entries}"
        )
    inference.makeInference()
    return {v: np.array(inference.posterior(node[v]).toarray(), dtype=np.float64) for v in asked}


def _one_table_a_scope(graph: FactorGraph) -> dict[tuple[str, ...], NDArray[np.float64]]:
    """Products of the tables over the same variables, which a Markov random field holds once.

    Tables are scaled so that independent entries would give every sum-product message, and Z, a size near 1: the engine
    multiplies without normalising, and a tree of a thousand variables would overflow.
    """
    tables: dict[frozenset[str], tuple[tuple[str, ...], NDArray[np.float64]]] = {}
    share = {v: k ** (-1 / max(graph.degree(v), 1)) for v, k in graph.card.items()}
    for factor in graph.factors.values():
        scope = factor.variables
        table = factor.table / factor.table.max()
        table = table * (math.prod(share[v] for v in scope) / table.mean())
        key = frozenset(scope)
        if key in tables:
            first, product = tables[key]
            table = product * table.transpose([scope.index(v) for v in first])
            scope = first
        tables[key] = scope, table
    return dict(tables.values())
