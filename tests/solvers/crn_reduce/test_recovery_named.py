"""Recovery under the names of an annotation, and the comparison of networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, PRODUCT, SUM, PoolKey, Pools
from scisuite.solvers.crn_reduce.recovery import (
    NEVER_PRODUCED,
    corresponding_species,
    networks_equal,
    rate_difference,
    recompiles_to,
    recover_named,
)

TWIN = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
GRAPH = FactorGraph(
    {"rain": 2, "wind": 3, "sea": 2, "tide": 3, "dark": 2},
    {
        "storm": (["wind", "rain"], TWIN.T),
        "coast": (["sea", "tide"], TWIN),
        "gale": (["wind", "dark"], [[0, 0.3], [0, 0.2], [0, 0.7]]),
    },
)


def with_pools(network: CRN, **changes: object) -> CRN:
    assert network.pools is not None
    return replace(network, pools=replace(network.pools, **changes))


def with_keys(network: CRN, *changes: tuple[PoolKey, PoolKey]) -> CRN:
    assert network.pools is not None
    table = dict(changes)
    return with_pools(network, keys=tuple(table.get(key, key) for key in network.pools.keys))


def changed(array: np.ndarray, at: dict[int, int]) -> np.ndarray:
    new = array.copy()
    new[list(at)] = list(at.values())
    return new


def test_names_scopes_axes_and_values_come_back():
    network = compile_napp_adams(GRAPH)
    recovery = recover_named(network)
    assert dict(recovery.graph.card) == dict(GRAPH.card)
    assert {f: factor.variables for f, factor in recovery.graph.factors.items()} == {
        f: factor.variables for f, factor in GRAPH.factors.items()
    }
    for f, factor in GRAPH.factors.items():
        np.testing.assert_array_equal(recovery.graph.factors[f].table, factor.table)
    assert list(recovery.graph.factors) == list(GRAPH.factors)
    assert recompiles_to(recovery, network) == 0
    assert [(a.kind, a.factor, a.variable, a.species) for a in recovery.ambiguities] == [
        (NEVER_PRODUCED, "gale", "dark", ("S_gale_dark_0",))
    ]


def test_shuffled_species_and_values_otherwise_numbered():
    network = compile_napp_adams(GRAPH)
    assert network.pools is not None
    shuffled, order = network.anonymous(np.random.default_rng(0))
    turned = np.where(
        np.array([key.variable == "wind" for key in network.pools.keys])[network.pools.pool_of]
        & (network.pools.value_of >= 0),
        2 - network.pools.value_of,
        network.pools.value_of,
    )
    named = replace(shuffled, pools=Pools(network.pools.pool_of[order], turned[order], network.pools.keys))
    np.testing.assert_array_equal(recover_named(named).graph.factors["storm"].table, TWIN.T[::-1])


def test_a_graph_without_factors():
    recovery = recover_named(compile_napp_adams(FactorGraph({"a": 2, "b": 3}, {})))
    assert (dict(recovery.graph.card), dict(recovery.graph.factors)) == ({"a": 2, "b": 3}, {})


def test_twins_annotated_the_other_way_are_another_graph():
    """Two isolated factors with one table: which halves belong together is what only the annotation knows."""
    twins = FactorGraph({"a": 2, "b": 2, "c": 2, "d": 2}, {"x": (["a", "b"], np.eye(2)), "y": (["c", "d"], np.eye(2))})
    network = compile_napp_adams(twins)
    crossed = with_keys(
        network,
        (PoolKey(SUM, "a", "x"), PoolKey(SUM, "c", "y")),
        (PoolKey(SUM, "c", "y"), PoolKey(SUM, "a", "x")),
        (PoolKey(BELIEF, "a"), PoolKey(BELIEF, "c")),
        (PoolKey(BELIEF, "c"), PoolKey(BELIEF, "a")),
        (PoolKey(PRODUCT, "b", "x"), PoolKey(PRODUCT, "d", "y")),
        (PoolKey(PRODUCT, "d", "y"), PoolKey(PRODUCT, "b", "x")),
    )
    assert set(recover_named(crossed).graph.factors) == {"x", "y"}
    half = with_keys(
        network,
        (PoolKey(SUM, "a", "x"), PoolKey(SUM, "c", "y")),
        (PoolKey(SUM, "c", "y"), PoolKey(SUM, "a", "x")),
        (PoolKey(BELIEF, "a"), PoolKey(BELIEF, "c")),
        (PoolKey(BELIEF, "c"), PoolKey(BELIEF, "a")),
    )
    with pytest.raises(
        NotNappAdams, match=r"^reaction \d+ \(.*\) makes a species of the sum y→c, and its catalyst P_b_x_0"
    ):
        recover_named(half)


def test_annotations_that_contradict_the_network():
    network = compile_napp_adams(GRAPH)
    pools = network.pools
    assert pools is not None
    s, p = PoolKey(SUM, "rain", "storm"), PoolKey(PRODUCT, "rain", "storm")
    b, other = PoolKey(BELIEF, "rain"), PoolKey(BELIEF, "dark")
    zero, free, one = (network.species.index(f"S_storm_rain_{k}") for k in ("0", "free", "1"))
    two_zeros = changed(pools.value_of, {one: 0})
    swapped = changed(pools.value_of, {zero: -1, free: 0})
    moved = changed(pools.pool_of, {zero: pools.number[p]})
    nowhere = changed(pools.pool_of, {zero: 99})
    values = pools.value_of.copy()
    mine = pools.species_of(pools.number[s])
    values[mine] = values[mine][::-1]
    for contradiction, message in (
        (with_pools(network, pool_of=pools.pool_of[:5]), "the annotation is about 5 species, the network has 59"),
        (with_pools(network, pool_of=nowhere), "the annotation puts a species into a pool without a key"),
        (
            with_pools(network, keys=(*pools.keys, PoolKey(BELIEF, "ice"))),
            "the annotation has no species in the belief ice",
        ),
        (
            with_pools(network, value_of=swapped),
            "the annotation calls S_storm_rain_free a value of its pool, but it is the unassigned species",
        ),
        (
            with_pools(network, value_of=changed(pools.value_of, {zero: -1})),
            "the annotation calls S_storm_rain_0 the unassigned species of its pool, but it is a value",
        ),
        (
            with_pools(network, pool_of=moved),
            "the annotation puts S_storm_rain_0 and S_storm_rain_free into different pools, but they share one",
        ),
        (
            with_pools(network, value_of=two_zeros),
            "the annotation calls S_storm_rain_1 value 0 of the sum storm→rain; the values of a pool are numbered "
            "0, 1, 2, … once each",
        ),
        (with_keys(network, (b, other)), "the annotation has two pools called belief dark"),
        (
            with_keys(network, (b, PoolKey(BELIEF, "ice"))),
            "the annotation has a pool called sum storm→rain, but none called belief rain",
        ),
        (
            with_keys(network, (b, PoolKey(BELIEF, "tide")), (PoolKey(BELIEF, "tide"), b)),
            "the annotation's pools sum storm→rain and belief rain have different numbers of values",
        ),
        (
            with_keys(network, (b, other), (other, b)),
            "the network is not what the factor graph read from it compiles to: reaction 78 "
            "(S_storm_rain_0 + B_rain_free → S_storm_rain_0 + B_rain_0) "
            "is not among its reactions, or has another rate there",
        ),
        (
            with_pools(network, value_of=values),
            "the network is not what the factor graph read from it compiles to: reaction 51 "
            "(P_wind_storm_0 + S_storm_rain_free → P_wind_storm_0 + S_storm_rain_0) "
            "is not among its reactions, or has another rate there",
        ),
    ):
        with pytest.raises(NotNappAdams) as error:
            recover_named(contradiction)
        assert str(error.value) == message
    with pytest.raises(
        InvalidInput, match="^the network does not say what its species stand for; recover_factor_graph"
    ):
        recover_named(replace(network, pools=None))


def test_networks_are_compared_species_by_species():
    network = compile_napp_adams(GRAPH)
    shuffled, order = network.anonymous(np.random.default_rng(1))
    assert networks_equal(shuffled, network, order)
    assert not networks_equal(shuffled, network, np.arange(network.n_species))
    assert rate_difference(shuffled, network, np.arange(network.n_species)) == np.inf
    faster = replace(shuffled, rates=shuffled.rates * np.where(np.arange(shuffled.n_reactions) == 3, 1.25, 1))
    assert rate_difference(faster, network, order) == pytest.approx(0.2)
    fewer = replace(
        shuffled, reactants=shuffled.reactants[1:], products=shuffled.products[1:], rates=shuffled.rates[1:]
    )
    assert rate_difference(fewer, network, order) == np.inf
    assert rate_difference(network, fewer, np.argsort(order)) == np.inf


def test_species_correspond_by_pool_and_value():
    network = compile_napp_adams(GRAPH)
    backwards = FactorGraph(dict(reversed(GRAPH.card.items())), dict(reversed(GRAPH.factors.items())))
    other = compile_napp_adams(backwards)
    assert network.pools is not None
    assert other.pools is not None
    species = corresponding_species(network.pools, other.pools)
    assert [other.species[i] for i in species] == list(network.species)
    lacking = compile_napp_adams(FactorGraph(GRAPH.card, {f: GRAPH.factors[f] for f in ("storm", "coast")}))
    assert lacking.pools is not None
    for one, two in ((network.pools, lacking.pools), (lacking.pools, network.pools)):
        with pytest.raises(InvalidInput, match="^only one of the two networks has a pool sum gale→wind$"):
            corresponding_species(one, two)
    wider = compile_napp_adams(FactorGraph({"a": 3}, {})).pools
    narrow = compile_napp_adams(FactorGraph({"a": 2}, {})).pools
    assert wider is not None
    assert narrow is not None
    with pytest.raises(InvalidInput, match="^the pool belief a has 3 species in one network, 4 in the other, or"):
        corresponding_species(narrow, wider)
