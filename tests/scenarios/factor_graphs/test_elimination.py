"""Whether evidence is possible: against enumeration, and where no single table shows it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import EngineFailure, InvalidInput
from scisuite.scenarios.factor_graphs import (
    FactorGraph,
    TooWide,
    bundled_network,
    condition_checked,
    forward_sample,
    parents,
    possible,
    random_loopy,
)

EQUAL, DIFFERENT = np.eye(2), 1 - np.eye(2)


def ring(*tables):
    names = [f"x{i}" for i in range(len(tables))]
    scopes = [(v, names[(i + 1) % len(names)]) for i, v in enumerate(names)]
    return FactorGraph(
        dict.fromkeys(names, 2), {f"f{i}": pair for i, pair in enumerate(zip(scopes, tables, strict=True))}
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.floats(0.2, 0.9))
def test_it_agrees_with_enumeration(joint, seed, zeros):
    rng = np.random.default_rng(seed)
    full = random_loopy(rng, n=6, loops=5)
    factors = {}
    for name, factor in full.factors.items():
        table = np.where(rng.random(factor.table.shape) < zeros, 0.0, factor.table)
        factors[name] = (factor.variables, table if table.any() else factor.table)
    graph = FactorGraph(full.card, factors)
    assert possible(graph) == bool(joint(graph).any())
    v = next(iter(graph.card))
    for value in range(graph.card[v]):
        assert possible(graph, {v: value}) == bool(joint(graph)[value].any())


@pytest.mark.parametrize("n", [3, 4, 7, 8])
def test_an_odd_number_of_differences_round_a_ring(n):
    """No value is forbidden by any one table, so that elimination has to tell."""
    assert possible(ring(*[DIFFERENT] * n)) == (n % 2 == 0)
    assert possible(ring(EQUAL, *[DIFFERENT] * (n - 1))) == (n % 2 == 1)


def test_evidence_that_no_single_table_refuses():
    asia = bundled_network("asia")
    given_ = {"either": "no", "tub": "yes"}
    with pytest.raises(InvalidInput, match="factor 'p_either' is zero at"):
        condition_checked(asia, given_ | {"lung": "no"})
    odd = ring(DIFFERENT, DIFFERENT, DIFFERENT, EQUAL)
    assert not possible(odd, {"x0": 1})
    odd.condition({"x0": 1})
    with pytest.raises(
        InvalidInput, match="the evidence is impossible: no assignment has a weight above zero given x0=1"
    ):
        condition_checked(odd, {"x0": 1})
    with pytest.raises(InvalidInput, match="^no assignment has a weight above zero$"):
        condition_checked(odd, {})


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(["child", "hailfinder", "hepar2", "andes"]), st.integers(0, 2**32))
def test_a_sample_is_possible(same_graph, name, seed):
    graph = bundled_network(name)
    sample = forward_sample(graph, np.random.default_rng(seed))
    inner = {p for above in parents(graph).values() for p in above}
    evidence = {v: value for v, value in sample.items() if v not in inner}
    assert possible(graph, evidence)
    assert same_graph(condition_checked(graph, evidence), graph.condition(evidence))


def test_too_wide_to_tell():
    names = [f"x{i}" for i in range(12)]
    pairs = {f"{u}{v}": ((u, v), 1 - np.eye(12)) for i, u in enumerate(names) for v in names[:i]}
    clique = FactorGraph(dict.fromkeys(names, 12), pairs)
    with pytest.raises(TooWide, match="whether this is possible cannot be told: eliminating 'x1' takes a table of"):
        possible(clique, max_entries=10_000)
    assert issubclass(TooWide, EngineFailure)


def test_unknown_evidence():
    with pytest.raises(InvalidInput, match="evidence: there is no variable 'Asia'; did you mean 'asia'"):
        possible(bundled_network("asia"), {"Asia": 0})
    with pytest.raises(InvalidInput, match="asia has no value 'maybe'; it has yes, no"):
        possible(bundled_network("asia"), {"asia": "maybe"})
