"""Recovery of scopes and tables from anonymous, shuffled networks."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import Factor, FactorGraph
from scisuite.solvers.crn_reduce.compile import Rates, compile_napp_adams
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, PRODUCT, UNASSIGNED, Pools
from scisuite.solvers.crn_reduce.recovery import (
    ISOLATED_FACTOR,
    NEVER_PRODUCED,
    Recovery,
    recompiles_to,
    recover_factor_graph,
)


def recovered(graph: FactorGraph, seed: int = 0, **rates: float) -> tuple[Recovery, CRN, Pools]:
    """Recovery from the anonymous network, that network, and what its species stood for before."""
    network = compile_napp_adams(graph, **rates)
    anonymous, order = network.anonymous(np.random.default_rng(seed))
    assert network.pools is not None
    truth = Pools(network.pools.pool_of[order], network.pools.value_of[order], network.pools.keys)
    recovery = recover_factor_graph(anonymous)
    assert recompiles_to(recovery, anonymous) <= 1e-12
    return recovery, anonymous, truth


def by_old_names(recovery: Recovery, truth: Pools) -> FactorGraph:
    """The recovered graph under the names, values and axes of the belief pools' old meaning."""
    name, values = {}, {}
    for pool, key in enumerate(recovery.pools.keys):
        if key.kind == BELIEF:
            name[key.variable] = truth.keys[truth.pool_of[recovery.pools.centre[pool]]].variable
            values[key.variable] = truth.value_of[recovery.pools.species_of(pool)]
    assert len(set(name.values())) == len(name)
    factors = {}
    for f, (variables, table) in recovery.graph.factors.items():
        renamed = table[np.ix_(*(np.argsort(values[v]) for v in variables))]
        factors[f] = Factor(tuple(name[v] for v in variables), renamed)
    return FactorGraph({name[v]: k for v, k in recovery.graph.card.items()}, factors)


def content(graph: FactorGraph) -> list[tuple[tuple[str, ...], bytes]]:
    """Scopes and tables, whatever the order of factors and axes and their names."""
    found = []
    for variables, table in graph.factors.values():
        axes = sorted(range(len(variables)), key=variables.__getitem__)
        found.append((tuple(variables[a] for a in axes), np.ascontiguousarray(table.transpose(axes)).tobytes()))
    return sorted(found)


def assert_exact(graph: FactorGraph, seed: int = 0) -> Recovery:
    recovery, _, truth = recovered(graph, seed)
    again = by_old_names(recovery, truth)
    assert dict(again.card) == dict(graph.card)
    assert content(again) == content(graph)
    return recovery


def table_up_to_order(table: np.ndarray) -> tuple[object, ...]:
    """The least of a table's forms under all orders of its axes and of the values along each."""
    forms = []
    for axes in permutations(range(table.ndim)):
        turned = table.transpose(axes)
        for orders in product(*(permutations(range(k)) for k in turned.shape)):
            forms.append((turned.shape, tuple(turned[np.ix_(*orders)].ravel())))
    return min(forms)


def assert_same_isolated_factors(graph: FactorGraph, recovery: Recovery) -> None:
    """Graphs of isolated factors are equal up to names when their tables are, one by one, up to order."""
    assert sorted(recovery.graph.card.values()) == sorted(graph.card.values())
    assert sorted(table_up_to_order(f.table) for f in recovery.graph.factors.values()) == sorted(
        table_up_to_order(f.table) for f in graph.factors.values()
    )


def hidden_markov(steps: int, k: int, rng: np.random.Generator) -> FactorGraph:
    card: dict[str, int] = {}
    factors: dict[str, tuple[list[str], np.ndarray]] = {"prior": (["h0"], rng.dirichlet(np.ones(k)))}
    for t in range(steps):
        card |= {f"h{t}": k, f"o{t}": k}
        factors[f"emission{t}"] = ([f"h{t}", f"o{t}"], rng.dirichlet(np.ones(k), k))
        factors[f"seen{t}"] = ([f"o{t}"], np.where(np.arange(k) == rng.integers(k), 0.9, 0.1))
        if t:
            factors[f"move{t}"] = ([f"h{t - 1}", f"h{t}"], rng.dirichlet(np.ones(k), k))
    return FactorGraph(card, factors)


def cycle_with_hair(n: int, rng: np.random.Generator) -> FactorGraph:
    card: dict[str, int] = {}
    factors: dict[str, tuple[list[str], np.ndarray]] = {}
    for i in range(n):
        card |= {f"c{i}": 2, f"p{i}": 2, f"q{i}": 2}
        factors[f"u{i}"] = ([f"c{i}"], rng.uniform(0.4, 1, 2))
        for name, scope in (
            (f"cycle{i}", [f"c{i}", f"c{(i + 1) % n}"]),
            (f"hair{i}", [f"c{i}", f"p{i}"]),
            (f"tip{i}", [f"p{i}", f"q{i}"]),
        ):
            factors[name] = (scope, rng.uniform(0.4, 1, (2, 2)))
    return FactorGraph(card, factors)


def random_graph(rng: np.random.Generator) -> FactorGraph:
    """Up to 7 variables and 7 factors of up to 4; few different entries, zeros, identities, lone variables."""
    card = {f"a{i}": int(rng.integers(2, 4)) for i in range(rng.integers(1, 8))}
    factors: dict[str, tuple[list[str], np.ndarray]] = {}
    for i in range(rng.integers(0, 8)):
        arity = min(len(card), int(rng.choice([1, 2, 2, 3, 4])))
        scope = [str(v) for v in rng.permutation(list(card))[:arity]]
        shape = tuple(card[v] for v in scope)
        table = rng.uniform(0.4, 1, shape)
        kind = rng.integers(4)
        if kind < 2:
            table = rng.integers(kind, 4, shape).astype(float)
        elif kind == 2 and arity == 2 and shape[0] == shape[1]:
            table = np.eye(shape[0])
        if not table.any():
            table.flat[rng.integers(table.size)] = 1
        factors[f"f{i}"] = (scope, table)
    return FactorGraph(card, factors)


def test_hidden_markov_model():
    recovery = assert_exact(hidden_markov(8, 3, np.random.default_rng(0)))
    assert recovery.ambiguities == ()
    assert recovery.graph.factors_of.keys() == {f"v{i}" for i in range(16)}
    graph, pools, ambiguities = recovery
    assert (graph, pools, ambiguities) == (recovery.graph, recovery.pools, recovery.ambiguities)


def test_cycle_with_hair():
    assert assert_exact(cycle_with_hair(6, np.random.default_rng(1))).ambiguities == ()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_random_graphs(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    recovery, _, truth = recovered(graph, seed)
    lone = {f for f, (variables, _) in graph.factors.items() if all(graph.degree(v) == 1 for v in variables)}
    isolated = [item for item in recovery.ambiguities if item.kind == ISOLATED_FACTOR]
    assert len(isolated) == len(lone)
    empty_slices = sum(
        int((~table.any(axis=tuple(a for a in range(table.ndim) if a != axis))).sum())
        for _, table in graph.factors.values()
        for axis in range(table.ndim)
    )
    assert sum(item.kind == NEVER_PRODUCED for item in recovery.ambiguities) == empty_slices
    if not lone:
        assert content(by_old_names(recovery, truth)) == content(graph)
    else:
        names = set(recovery.graph.factors) - {item.factor for item in isolated}
        linked = [f for f in graph.factors if f not in lone]
        assert sorted(sorted(graph.factors[f].table.ravel()) for f in linked) == sorted(
            sorted(recovery.graph.factors[f].table.ravel()) for f in names
        )
        assert sorted(
            table_up_to_order(graph.factors[f].table) for f in lone if graph.factors[f].table.ndim < 4
        ) == sorted(
            table_up_to_order(recovery.graph.factors[item.factor].table)
            for item in isolated
            if recovery.graph.factors[item.factor].table.ndim < 4
        )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(0.01, 100), st.floats(0.001, 1), st.floats(0.1, 10))
def test_rates_are_read_back_with_the_tables_times_k_sum(seed, k_sum, k_prod, k_rec, total):
    graph = cycle_with_hair(3, np.random.default_rng(seed))
    recovery, _, truth = recovered(graph, seed, k_sum=k_sum, k_prod=k_prod, k_rec=k_rec, total=total)
    assert vars(recovery.rates) == pytest.approx(vars(Rates(1.0, k_prod, k_rec, total)), rel=1e-15)
    scaled = FactorGraph(graph.card, {f: (v, table * k_sum) for f, (v, table) in graph.factors.items()})
    assert content(by_old_names(recovery, truth)) == content(scaled)


def test_nothing_but_stoichiometry_and_rates_is_looked_at():
    graph = cycle_with_hair(3, np.random.default_rng(0))
    network = compile_napp_adams(graph)
    bare = CRN(network.species, network.reactants, network.products, network.rates, np.zeros(network.n_species))
    assert content(recover_factor_graph(bare).graph) == content(recover_factor_graph(network).graph)
    assert recover_factor_graph(bare).rates.total == 1


def test_the_network_is_left_as_it_was():
    network, _ = compile_napp_adams(cycle_with_hair(3, np.random.default_rng(0))).anonymous(np.random.default_rng(0))
    before = [m.copy() for m in (network.reactants.data, network.reactants.indices, network.products.indices)]
    recover_factor_graph(network)
    for old, new in zip(
        before, (network.reactants.data, network.reactants.indices, network.products.indices), strict=True
    ):
        np.testing.assert_array_equal(old, new)


def test_hub_of_fifty():
    rng = np.random.default_rng(2)
    card = {"hub": 3} | {f"spoke{i}": 2 for i in range(50)}
    graph = FactorGraph(card, {f"f{i}": (["hub", f"spoke{i}"], rng.uniform(0.4, 1, (3, 2))) for i in range(50)})
    assert_exact(graph)


def test_parallel_factors_and_several_unaries_on_one_variable():
    rng = np.random.default_rng(3)
    factors = {f"pair{i}": (["a", "b"], rng.random((2, 3))) for i in range(3)}
    factors |= {f"one{i}": (["a"], rng.random(2)) for i in range(3)}
    assert assert_exact(FactorGraph({"a": 2, "b": 3}, factors)).ambiguities == ()


def test_isolated_variables_and_variables_with_one_unary_factor():
    graph = FactorGraph(
        {"alone": 2, "apart": 3, "one": 2, "two": 2, "three": 3},
        {"f": (["one"], [0.25, 0.75]), "g": (["two"], [0.5, 2]), "h": (["three"], [1, 0, 3])},
    )
    recovery, network, _ = recovered(graph)
    assert sorted(recovery.graph.card.values()) == [2, 2, 2, 3, 3]
    assert sorted(tuple(sorted(f.table)) for f in recovery.graph.factors.values()) == [
        (0, 1, 3),
        (0.25, 0.75),
        (0.5, 2),
    ]
    isolated = [item for item in recovery.ambiguities if item.kind == ISOLATED_FACTOR]
    assert [item.factor for item in isolated] == ["f0", "f1", "f2"]
    never = [item for item in recovery.ambiguities if item.kind == NEVER_PRODUCED]
    assert len(never) == 1
    assert recovery.graph.factors[never[0].factor].variables == (never[0].variable,)
    made = np.asarray(network.products.sum(axis=0) - network.reactants.sum(axis=0))
    assert made[network.species.index(never[0].species[0])] == -1


def test_a_variable_without_factors_alone():
    recovery, _, _ = recovered(FactorGraph({"a": 3}, {}))
    assert (dict(recovery.graph.card), dict(recovery.graph.factors), recovery.ambiguities) == ({"v0": 3}, {}, ())


def test_two_isolated_binary_factors_are_put_together_by_their_tables():
    rng = np.random.default_rng(4)
    graph = FactorGraph(
        {"a": 3, "b": 3, "c": 3, "d": 3, "e": 2, "f": 3},
        {
            "x": (["a", "b"], rng.random((3, 3))),
            "y": (["c", "d"], rng.random((3, 3))),
            "z": (["e", "f"], rng.random((2, 3))),
        },
    )
    for seed in range(5):
        recovery = assert_exact(graph, seed)
        assert [(item.kind, item.factor) for item in recovery.ambiguities] == [
            (ISOLATED_FACTOR, f"f{i}") for i in range(3)
        ]


@pytest.mark.parametrize(
    "table",
    [
        np.eye(3),
        np.ones((3, 3)),
        np.array([[1, 2, 3], [2, 1, 4], [3, 4, 1.0]]),
        np.array([[1, 2, 2], [0, 0, 0], [2, 1, 1.0]]),
    ],
    ids=["identity", "constant", "symmetric", "repeated and zero rows"],
)
def test_twins_of_isolated_factors(table):
    graph = FactorGraph(
        dict.fromkeys("abcdef", 3), {"x": (["a", "b"], table), "y": (["c", "d"], table.T), "z": (["e", "f"], table)}
    )
    for seed in range(4):
        assert_same_isolated_factors(graph, recovered(graph, seed)[0])


@pytest.mark.parametrize("levels", [2, 1000])
@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 2, 3), (2, 3, 2, 2)])
def test_an_isolated_factor_of_several_variables(shape, levels):
    rng = np.random.default_rng(5)
    for seed in range(3):
        table = rng.integers(0, levels, shape).astype(float)
        table.flat[0] = 1
        graph = FactorGraph(dict(zip("abcd", shape, strict=False)), {"f": (list("abcd")[: len(shape)], table)})
        assert_exact(graph, seed)


@pytest.mark.parametrize("levels", [2, 1000])
@pytest.mark.parametrize("leaves", [1, 2, 3])
def test_a_factor_with_leaves_beside_a_variable_of_two_factors(leaves, levels):
    rng = np.random.default_rng(6)
    shape = (3, *(2 + i % 2 for i in range(leaves)))
    for seed in range(4):
        table = rng.integers(0, levels, shape).astype(float)
        table.flat[0] = 1
        names = ["root", *(f"leaf{i}" for i in range(leaves))]
        graph = FactorGraph(dict(zip(names, shape, strict=True)), {"f": (names, table), "g": (["root"], rng.random(3))})
        assert_exact(graph, seed)


def test_identity_tables_are_not_taken_for_products():
    eye = np.eye(3)
    ring = FactorGraph(
        dict.fromkeys("abc", 3), {"ab": (["a", "b"], eye), "bc": (["b", "c"], eye), "ca": (["c", "a"], eye)}
    )
    assert assert_exact(ring).ambiguities == ()
    tail = FactorGraph({"a": 3, "b": 3}, {"ab": (["a", "b"], eye), "a": (["a"], [1, 1, 1]), "a2": (["a"], [1, 1, 1])})
    assert assert_exact(tail).ambiguities == ()


def test_a_value_that_tables_forbid_keeps_its_place():
    table = np.array([[0.5, 0.0, 0.2], [0.0, 0.0, 0.0], [0.1, 0.0, 0.7]])
    graph = FactorGraph({"a": 3, "b": 3}, {"f": (["a", "b"], table), "g": (["a"], [1, 2, 3])})
    recovery = assert_exact(graph)
    assert [item.kind for item in recovery.ambiguities] == [NEVER_PRODUCED] * 2
    pools = recovery.pools
    for item in recovery.ambiguities:
        species = int(item.species[0][1:])
        key = pools.keys[pools.pool_of[species]]
        assert (key.factor, key.variable) == (item.factor, item.variable)
        f = recovery.graph.factors[item.factor]
        assert not np.take(f.table, pools.value_of[species], axis=f.variables.index(item.variable)).any()


def test_pools_say_what_each_species_was():
    recovery, network, truth = recovered(cycle_with_hair(4, np.random.default_rng(7)))
    assert recovery.pools.pool_of.shape == (network.n_species,)
    kinds = [recovery.pools.keys[p].kind for p in recovery.pools.pool_of]
    assert kinds == [truth.keys[p].kind for p in truth.pool_of]
    np.testing.assert_array_equal(recovery.pools.value_of == UNASSIGNED, truth.value_of == UNASSIGNED)
    assert sum(key.kind == PRODUCT for key in recovery.pools.keys) == len(recovery.graph.edges)


def test_rates_that_lost_their_last_digits():
    network, _ = compile_napp_adams(hidden_markov(3, 3, np.random.default_rng(8))).anonymous(np.random.default_rng(8))
    noise = 1 + 2e-13 * np.random.default_rng(9).uniform(-1, 1, network.n_reactions)
    noisy = CRN(network.species, network.reactants, network.products, network.rates * noise, network.initial)
    recovery = recover_factor_graph(noisy)
    assert 0 < recompiles_to(recovery, noisy) <= 1e-12
    assert len(recovery.graph.factors) == 9


def test_tables_too_large_to_be_read_are_refused():
    n = 26
    corner = np.zeros((2,) * 3)
    corner[0, 0, 0] = 1
    small = FactorGraph(dict.fromkeys("abc", 2), {"f": (list("abc"), corner)})
    assert recover_factor_graph(compile_napp_adams(small)).graph.n_entries == 8
    network = one_entry_network(n)
    total = n * 2**n
    message = rf"the tables are too large to be read: {total:,} entries, of which {2**n:,} for each of the {n} messages"
    with pytest.raises(InvalidInput, match=message):
        recover_factor_graph(network)


def one_entry_network(n: int) -> CRN:
    """A factor of n binary variables that allows one state only, without ever holding its table."""
    from scipy import sparse

    used: list[list[int]] = []
    made: list[list[int]] = []
    pool = {(kind, i): 3 * (n * "SPB".index(kind) + i) for kind in "SPB" for i in range(n)}
    for centre in pool.values():
        used += [[centre + 1], [centre + 2]]
        made += [[centre], [centre]]
    for i in range(n):
        others = [pool["P", j] + 1 for j in range(n) if j != i]
        used.append([pool["S", i], *others])
        made.append([pool["S", i] + 1, *others])
        for k in (1, 2):
            used += [[pool["P", i]], [pool["B", i], pool["S", i] + k]]
            made += [[pool["P", i] + k], [pool["B", i] + k, pool["S", i] + k]]
    size = 9 * n
    sides = []
    for rows in (used, made):
        pairs = [(r, c) for r, row in enumerate(rows) for c in row]
        index = np.array(pairs).T
        sides.append(sparse.csr_array((np.ones(len(pairs), np.int32), index), shape=(len(rows), size)))
    rates = np.where(np.diff(sides[0].indptr) == 1, 0.1, 1.0)
    rates[[r for r, row in enumerate(used) if len(row) == 1 and row[0] % 3 == 0]] = 1.0
    return CRN(tuple(f"x{i}" for i in range(size)), *sides, rates, np.ones(size))


def test_a_tree_of_thousands_of_reactions_is_read_in_a_second():
    rng = np.random.default_rng(10)
    n = 1000
    factors = {f"f{i}": ([f"v{rng.integers(i)}", f"v{i}"], rng.uniform(0.4, 1, (3, 3))) for i in range(1, n)}
    recovery = assert_exact(FactorGraph({f"v{i}": 3 for i in range(n)}, factors))
    assert math.prod(recovery.graph.factors["f0"].table.shape) == 9
