"""What the tests of factor graphs share: the weights of a tiny graph by enumeration, and when two are the same."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def joint():
    """``joint(graph)``: float64 (K…), the product of all tables at every assignment, axes in the order of ``card``."""

    def enumerate_weights(graph):
        axis = {v: i for i, v in enumerate(graph.card)}
        operands = [np.ones(tuple(graph.card.values())), list(axis.values())]
        for factor in graph.factors.values():
            operands += [factor.table, [axis[v] for v in factor.variables]]
        return np.einsum(*operands, list(axis.values()))

    return enumerate_weights


@pytest.fixture(scope="session")
def same_graph():
    """``same_graph(a, b)``: whether names, scopes, names of values and tables agree to the last bit, in order."""

    def same(a, b):
        return (
            list(a.card.items()) == list(b.card.items())
            and a.log_scale == b.log_scale
            and dict(a.states) == dict(b.states)
            and [(name, f.variables) for name, f in a.factors.items()]
            == [(name, f.variables) for name, f in b.factors.items()]
            and all(np.array_equal(f.table, b.factors[name].table) for name, f in a.factors.items())
        )

    return same
