"""Pools as given and as found in the reactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph, hmm, random_loopy
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.conserved import conserved_pools
from scisuite.solvers.crn_reduce.network import CRN


def network(reactants, products):
    reactants, products = np.array(reactants, dtype=np.int32), np.array(products, dtype=np.int32)
    n = reactants.shape[1]
    rates = np.ones(len(reactants))
    return CRN(tuple("abcdef"[:n]), sparse.csr_array(reactants), sparse.csr_array(products), rates, np.ones(n))


@pytest.mark.parametrize("seed", range(3))
def test_the_reactions_show_the_pools_that_were_compiled(seed):
    rng = np.random.default_rng(seed)
    for graph in (hmm(rng, T=3, K=3, M=2), random_loopy(rng, n=6, loops=3)):
        crn = compile_napp_adams(graph)
        hidden, order = crn.anonymous(rng)
        found, known = conserved_pools(hidden), conserved_pools(crn)
        pairs = set(zip(found.pool_of.tolist(), known.pool_of[order].tolist(), strict=True))
        assert len(pairs) == len(found.centre) == len(known.centre)
        assert set(order[found.centre].tolist()) == set(known.centre.tolist())
        assert found.labels == tuple(hidden.species[i] for i in found.centre)
        np.testing.assert_allclose(found.totals(hidden.initial), 1.0)
        np.testing.assert_allclose(found.assigned(hidden.initial), 0.5)


def test_values_that_are_never_made_stay_in_their_pool():
    graph = FactorGraph({"a": 2, "b": 2}, {"f": (["a", "b"], [[1.0, 0.0], [0.5, 0.0]])})
    hidden, order = compile_napp_adams(graph).anonymous(np.random.default_rng(0))
    found = conserved_pools(hidden)
    assert found.sizes.tolist() == [3] * 6
    assert set(order[found.centre].tolist()) == {0, 3, 6, 9, 12, 15}


def test_a_ring_of_conversions_is_a_pool_without_an_unassigned_species():
    ring = network([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    found = conserved_pools(ring)
    assert found.totals(np.array([1.0, 2.0, 3.0])).tolist() == [6]
    with pytest.raises(InvalidInput, match="the pool of a has no species to which all others are recycled"):
        found.assigned(np.ones(3))


def test_of_two_that_turn_into_each_other_the_catalyst_is_the_value():
    crn = network([[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]], [[0, 1, 0, 0], [1, 0, 0, 0], [0, 1, 0, 1]])
    assert conserved_pools(crn).labels[0] == "a"


def test_networks_without_pools_and_pools_of_another_network_are_refused():
    with pytest.raises(InvalidInput, match="reaction 1 does not turn one species into another"):
        conserved_pools(network([[1, 0], [2, 0]], [[0, 1], [0, 1]]))
    crn = compile_napp_adams(FactorGraph({"a": 2}, {"f": (["a"], [1.0, 2.0])}))
    pools = crn.pools
    with pytest.raises(InvalidInput, match="the pools are of 9 species, the network has 2"):
        conserved_pools(network([[1, 0]], [[0, 1]]), pools)
    with pytest.raises(InvalidInput, match="the pool of sum f→a has 2 unassigned species, not one"):
        conserved_pools(crn, replace(pools, value_of=np.array([-1, -1, 1, -1, 0, 1, -1, 0, 1])))
    with pytest.raises(InvalidInput, match=r"reaction \d+ changes the total of the pool of (sum|product) f→a|a→f"):
        conserved_pools(crn, replace(pools, pool_of=np.roll(pools.pool_of, 1), value_of=np.roll(pools.value_of, 1)))
