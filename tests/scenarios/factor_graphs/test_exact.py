"""Exact marginals against enumeration."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput, MissingDependency
from scisuite.scenarios.factor_graphs import (
    FactorGraph,
    TooWide,
    bundled_network,
    chain,
    exact_marginals,
    half_the_leaves,
    ising,
    random_loopy,
    tree,
)

pytest.importorskip("pyagrum")


def enumerated(graph, joint):
    weights = joint(graph)
    axes = range(weights.ndim)
    return {v: weights.sum(axis=tuple(a for a in axes if a != i)) / weights.sum() for i, v in enumerate(graph.card)}


def agree(found, expected):
    return list(found) == list(expected) and all(
        np.allclose(found[v], expected[v], rtol=0, atol=1e-12) for v in expected
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_random_graphs(joint, seed):
    graph = random_loopy(np.random.default_rng(seed), n=6, loops=4)
    assert agree(exact_marginals(graph), enumerated(graph, joint))


def test_a_multistable_grid(joint):
    graph = ising(np.random.default_rng(0), field=0.01)
    assert agree(exact_marginals(graph), enumerated(graph, joint))


@pytest.mark.parametrize("name", ["asia", "survey"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_bayesian_network_given_evidence(joint, name, seed):
    full = bundled_network(name)
    graph = full.condition(half_the_leaves(full, np.random.default_rng(seed)))
    assert agree(exact_marginals(graph), enumerated(graph, joint))


def test_odd_graphs(joint):
    """A variable without factors, one of one value, zeros, and two factors over the same variables."""
    card = {"alone": 3, "single": 1, "a": 2, "b": 2}
    factors = {
        "f": (["a", "b"], [[0, 2], [3, 4]]),
        "g": (["b", "a"], [[1, 5], [0, 1]]),
        "s": (["single", "a"], [[7, 1]]),
    }
    graph = FactorGraph(card, factors)
    assert agree(exact_marginals(graph), enumerated(graph, joint))
    assert list(exact_marginals(graph, ["b", "a"])) == ["b", "a"]


def test_a_component_in_which_nothing_is_asked_for_may_be_impossible():
    """Z is a product over components: no marginals if one of them is zero."""
    factors = {"f": (["a"], [0.3, 0.7]), "g": (["b", "c"], np.eye(2)), "h": (["b", "c"], 1 - np.eye(2))}
    graph = FactorGraph({"a": 2, "b": 2, "c": 2}, factors)
    for asked in (["a"], ["b"], None, []):
        with pytest.raises(InvalidInput, match="^there are no marginals: no assignment has a weight above zero$"):
            exact_marginals(graph, asked)
    fine = FactorGraph(graph.card, {f: factors[f] for f in "fg"})
    assert exact_marginals(fine, ["a"])["a"] == pytest.approx([0.3, 0.7], abs=1e-15)


def test_long_chains_neither_overflow_nor_vanish(joint):
    long = chain(np.random.default_rng(0), n=700)
    found = exact_marginals(long, ["x0", "x350"])
    ends = np.ones(3)
    for i in range(699, 0, -1):
        ends = long.factors[f"f{i}"].table @ ends
        ends /= ends.sum()
    assert found["x0"] == pytest.approx(ends, abs=1e-12)
    assert sum(found["x350"]) == pytest.approx(1)


def test_no_marginals():
    ring = {f"f{i}": ((f"x{i}", f"x{(i + 1) % 3}"), 1 - np.eye(2)) for i in range(3)}
    graph = FactorGraph(dict.fromkeys(["x0", "x1", "x2"], 2), ring)
    with pytest.raises(InvalidInput, match="there are no marginals: no assignment has a weight above zero"):
        exact_marginals(graph)
    with pytest.raises(InvalidInput, match="variables: there is no variable 'y'"):
        exact_marginals(graph, ["y"])


def test_too_wide():
    with pytest.raises(TooWide, match="exact marginals would take a junction tree of .* entries; the limit is 1000"):
        exact_marginals(ising(np.random.default_rng(0), rows=9, cols=9), max_entries=1000)
    assert len(exact_marginals(tree(np.random.default_rng(0), n=50), max_entries=1000)) == 50


def test_without_pyagrum(monkeypatch):
    def refuse(name, *rest):
        if name == "pyagrum":
            raise ModuleNotFoundError("No module named 'pyagrum'", name="pyagrum")
        return original(name, *rest)

    original = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(MissingDependency, match=r'exact marginals need pyagrum, .*"scisuite\[crn\]"'):
        exact_marginals(chain(np.random.default_rng(0)))
