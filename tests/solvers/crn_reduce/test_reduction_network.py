"""Reduction of networks: recovered, reduced and compiled again."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.factor_graphs import FactorGraph, cycle_hair
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.network import BELIEF, PRODUCT, SUM
from scisuite.solvers.crn_reduce.reduction import reduce_crn, verify_certificate

RATES = {"k_sum": 2.0, "k_prod": 3.0, "k_rec": 0.05, "total": 1.5}


@pytest.fixture(scope="module")
def graph() -> FactorGraph:
    return cycle_hair(np.random.default_rng(0), n=4)


@pytest.fixture(scope="module")
def network(graph):
    return compile_napp_adams(graph, **RATES)


def test_an_annotated_network_keeps_its_names_and_rates(graph, network):
    keep = list(graph.card)[-1:]
    reduced, reduction = reduce_crn(network, keep, ("leaf", "unary"))
    assert (reduced.n_species, reduced.n_reactions) == (reduction.after.species, reduction.after.reactions)
    assert reduced.n_reactions < network.n_reactions
    assert set(keep) <= set(reduction.graph.card) < set(graph.card)
    expected = compile_napp_adams(reduction.graph, **{**RATES, "k_sum": 1.0})
    np.testing.assert_allclose(reduced.rates, expected.rates, rtol=1e-12)
    np.testing.assert_allclose(reduced.initial, expected.initial, rtol=1e-12)
    verify_certificate(reduction.original, reduction.certificate, reduction.graph)
    for v, belief in bp(reduction.graph).var_beliefs.items():
        np.testing.assert_allclose(belief, bp(graph).var_beliefs[v], atol=1e-10)


def test_any_species_of_a_belief_pool_stands_for_its_variable(graph, network):
    v = list(graph.card)[-1]
    pools = network.pools
    pool = next(i for i, key in enumerate(pools.keys) if key.kind == BELIEF and key.variable == v)
    for species in np.flatnonzero(pools.pool_of == pool):
        assert reduce_crn(network, [network.species[species]])[1].keep == (v,)
    anonymous, order = network.anonymous(generator(0, "shuffle"))
    place = int(np.flatnonzero(pools.pool_of[order] == pool)[0])
    reduced, reduction = reduce_crn(anonymous, [anonymous.species[place]])
    (kept,) = reduction.keep
    left = sorted(bp(reduction.graph).var_beliefs[kept])
    np.testing.assert_allclose(left, sorted(bp(graph).var_beliefs[v]), atol=1e-10)
    assert reduced.n_reactions < network.n_reactions


def test_other_species_and_unknown_names_are_refused(network):
    pools = network.pools
    for kind, message in ((SUM, r"belongs to the pool sum .*→"), (PRODUCT, r"belongs to the pool product .*→")):
        pool = next(i for i, key in enumerate(pools.keys) if key.kind == kind)
        species = network.species[int(pools.centre[pool])]
        with pytest.raises(InvalidInput, match=rf"^keep: species '{species}' {message}.*, not to the belief of a vari"):
            reduce_crn(network, [species])
    with pytest.raises(InvalidInput, match=r"^keep: there is no variable or species 'nobody'"):
        reduce_crn(network, ["nobody"])
    with pytest.raises(InvalidInput, match=r"^keep must be a list of variables or species, not the text 'c0'$"):
        reduce_crn(network, "c0")


def test_an_isolated_factor_can_be_kept_whole():
    graph = FactorGraph({"x": 2, "y": 3}, {"f": (["x", "y"], [[1, 2, 3], [4, 5, 7]])})
    reduced, reduction = reduce_crn(compile_napp_adams(graph), ["x", "y"])
    assert len(reduction.certificate) == 0
    assert reduced.n_reactions == compile_napp_adams(graph).n_reactions
