"""Parents, forward samples and evidence on leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import (
    ELEVEN,
    FactorGraph,
    bundled_network,
    forward_sample,
    half_the_leaves,
    hmm,
    parents,
)
from scisuite.solvers.crn_reduce.compile import compiled_size

PILOT = dict(
    zip(ELEVEN, (102, 174, 159, 1014, 1299, 4681, 3121, 14255, 7162, 6373, 12151), strict=True)
)  # reactions, one draw of evidence each


def coin(*factors, card=("a", "b")):
    return FactorGraph(dict.fromkeys(card, 2), {f"f{i}": f for i, f in enumerate(factors)})


@pytest.mark.parametrize("name", ["asia", "child", "andes"])
def test_parents_come_first(name):
    graph = bundled_network(name)
    above = parents(graph)
    place = {v: i for i, v in enumerate(above)}
    assert set(place) == set(graph.card)
    assert all(place[p] < place[v] for v, given_ in above.items() for p in given_)
    assert all(graph.factors[f"p_{v}"].variables == (v, *above[v]) for v in above)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (coin((["a"], [1, 1])), "'b' comes first in the scope of no factor"),
        (coin((["a"], [1, 1]), (["a", "b"], np.eye(2))), "'a' comes first in the scopes of 'f0' and 'f1'"),
        (coin((["a", "b"], np.eye(2)), (["b", "a"], np.eye(2))), "parents go round in a circle, "),
    ],
)
def test_what_is_no_bayesian_network(graph, message):
    for ask in (parents, lambda g: forward_sample(g, np.random.default_rng(0))):
        with pytest.raises(InvalidInput, match=f"this is no Bayesian network: {message}"):
            ask(graph)
    with pytest.raises(InvalidInput, match="this is no Bayesian network"):
        half_the_leaves(hmm(np.random.default_rng(0)), np.random.default_rng(0))


def test_a_row_of_zeros_is_named():
    graph = coin((["a"], [0, 1]), (["b", "a"], [[1, 0], [0, 0]]))
    with pytest.raises(InvalidInput, match="factor 'f1' has no value of 'b' above zero at a=1"):
        forward_sample(graph, np.random.default_rng(0))


def test_samples_have_the_frequencies_of_the_tables():
    graph = coin((["a"], [0.25, 0.75]), (["b", "a"], [[0.5, 0], [0.5, 1]]))
    rng = np.random.default_rng(0)
    drawn = [tuple(forward_sample(graph, rng).values()) for _ in range(4000)]
    share = {pair: drawn.count(pair) / len(drawn) for pair in set(drawn)}
    assert share == {
        (0, 0): pytest.approx(1 / 8, abs=0.02),
        (0, 1): pytest.approx(1 / 8, abs=0.02),
        (1, 1): pytest.approx(3 / 4, abs=0.03),
    }


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["asia", "child", "insurance", "win95pts"]), st.integers(0, 2**32))
def test_every_table_is_above_zero_at_a_sample(name, seed):
    graph = bundled_network(name)
    drawn = forward_sample(graph, np.random.default_rng(seed))
    assert list(drawn) == list(graph.card)
    for factor in graph.factors.values():
        assert factor.table[tuple(drawn[v] for v in factor.variables)] > 0
    assert drawn == forward_sample(graph, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("name", "n_observed", "least", "most"),
    [
        ("cancer", 1, 102, 102),
        ("asia", 1, 174, 184),
        ("survey", 1, 159, 159),
        ("sachs", 2, 1014, 1014),
        ("child", 4, 1177, 1352),
        ("insurance", 3, 4165, 4759),
        ("alarm", 6, 2686, 3200),
        ("hailfinder", 7, 13920, 14275),
        ("hepar2", 21, 6841, 12219),
        ("win95pts", 8, 6370, 6422),
        ("andes", 13, 12125, 13167),
    ],
)
def test_reactions_left_by_half_the_leaves(name, n_observed, least, most):
    """Bounds are those of sixty draws; the pilot's own draw lies between them."""
    graph = bundled_network(name)
    inner = {p for above in parents(graph).values() for p in above}
    for seed in range(4):
        evidence = half_the_leaves(graph, np.random.default_rng(seed))
        assert len(evidence) == n_observed
        assert not inner & set(evidence)
        assert least <= compiled_size(graph.condition(evidence))[1] <= most
    assert least <= PILOT[name] <= most


def test_spared_leaves_are_not_observed():
    graph = bundled_network("cancer")
    drawn = [half_the_leaves(graph, np.random.default_rng(seed)) for seed in range(8)]
    assert {v for evidence in drawn for v in evidence} == {"Xray", "Dyspnoea"}
    spared = [half_the_leaves(graph, np.random.default_rng(seed), ["Xray"]) for seed in range(8)]
    assert {v for evidence in spared for v in evidence} == {"Dyspnoea"}
    assert half_the_leaves(graph, np.random.default_rng(0), ["Xray", "Dyspnoea"]) == {}
