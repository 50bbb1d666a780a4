"""Reductions to a fixed point: what is left, at what size, and in what order."""

from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph, bundled_network, chain, cycle_hair, hmm, random_loopy, tree
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.bethe import bethe_free_energy
from scisuite.solvers.crn_reduce.compile import compiled_size
from scisuite.solvers.crn_reduce.reduction import (
    MOVES,
    NotExactError,
    certificate_to_json,
    reduce,
    verify_certificate,
)


def cycle(n: int, rng: np.random.Generator, k: int = 2) -> FactorGraph:
    factors = {f"f{i}": ([f"x{i}", f"x{(i + 1) % n}"], rng.uniform(0.4, 1, (k, k))) for i in range(n)}
    return FactorGraph({f"x{i}": k for i in range(n)}, factors)


@pytest.mark.parametrize(
    ("keep", "moves", "reactions"),
    [
        (["h3"], ("leaf", "unary"), 18),
        (["h2", "h6"], ("leaf", "unary"), 174),
        ([f"h{t}" for t in range(8)], ("leaf", "unary"), 300),
        (["h2", "h6"], ("leaf", "unary", "series"), 48),
        (["h0", "h7"], ("series",), 408),
    ],
)
def test_hidden_markov_models_shrink_to_what_is_kept(keep, moves, reactions):
    reduction = reduce(hmm(np.random.default_rng(0)), keep, moves)
    assert (reduction.before.species, reduction.before.reactions) == (376, 744)
    assert reduction.after.reactions == reactions
    assert set(keep) <= set(reduction.graph.card)


def test_hair_is_pruned_and_cycles_stay():
    hairy = cycle_hair(np.random.default_rng(0), n=6)
    reduction = reduce(hairy, moves=("leaf", "unary"))
    assert (reduction.before.species, reduction.after.species) == (306, 90)
    assert len(reduction.graph.factors) == len(reduction.graph.card) == 6


def test_series_shortens_a_cycle_to_the_variables_kept_or_to_two():
    graph = cycle(6, np.random.default_rng(0))
    kept = reduce(graph, [f"x{i}" for i in range(5)])
    assert (kept.before.species, kept.before.reactions) == (90, 144)
    assert (kept.after.species, kept.after.reactions) == (75, 120)
    assert len(reduce(graph).graph.card) == 2


def test_series_and_cluster_moves_are_made_only_where_the_network_shrinks():
    wide = cycle(4, np.random.default_rng(0), k=9)
    star = FactorGraph(
        {"hub": 2, **{f"x{i}": 2 for i in range(3)}, "far": 2},
        {
            **{f"f{i}": (["hub", f"x{i}", f"x{(i + 1) % 3}"], np.ones((2, 2, 2)) + np.eye(2)) for i in range(3)},
            "g": (["hub", "far"], [[1, 2], [3, 1]]),
            "h": (["far", "x0"], [[1, 2], [3, 1]]),
        },
    )
    assert [move.kind for move in reduce(wide).certificate] == ["series", "series", "scale"]
    for graph in (wide, star, random_loopy(np.random.default_rng(1))):
        sizes = [sum(compiled_size(reduce(graph, moves=moves).graph)) for moves in ((), ("cluster",), ("series",))]
        assert sizes[1] <= sizes[0]
        assert sizes[2] <= sizes[0]


def test_zeros_count_when_a_series_move_is_weighed():
    k = 6
    identity = np.eye(k)
    sparse = FactorGraph(
        {"a": k, "b": k, "c": k, "d": k},
        {
            "ab": (["a", "b"], identity),
            "bc": (["b", "c"], identity),
            "ac": (["a", "c"], np.ones((k, k))),
            "abd": (["a", "c", "d"], np.ones((k, k, k)) + np.arange(k)),
        },
    )
    left = reduce(sparse, ["a", "c", "d"], moves=["series"])
    assert [move.kind for move in left.certificate] == ["series"]
    np.testing.assert_array_equal(left.graph.factors["ab"].table, identity)


def test_trees_shrink_to_their_smallest_variable_one_a_component():
    graph = FactorGraph(
        {"a": 3, "b": 2, "c": 2, "d": 4, "e": 3, "lone": 3},
        {
            "ab": (["a", "b"], np.ones((3, 2))),
            "bc": (["b", "c"], np.ones((2, 2))),
            "de": (["d", "e"], np.ones((4, 3))),
            "ue": (["d"], np.ones(4)),
        },
    )
    left = reduce(graph).graph
    assert dict(left.card) == {"b": 2, "e": 3, "lone": 3}
    assert [factor.variables for factor in left.factors.values()] == [("b",), ("e",)]
    assert set(reduce(graph, ["a", "c"]).graph.card) == {"a", "c", "e", "lone"}


def test_kept_variables_stay_in_whatever_moves():
    for seed in range(5):
        graph = random_loopy(np.random.default_rng(seed))
        keep = [f"x{i}" for i in range(0, 10, 3) if f"x{i}" in graph.card] or list(graph.card)[::3]
        reduction = reduce(graph, keep, tuple(MOVES))
        assert {v: reduction.graph.card[v] for v in keep} == {v: graph.card[v] for v in keep}
        assert reduction.keep == tuple(keep)


def test_nothing_to_do_leaves_the_graph_as_it_is():
    graph = cycle(4, np.random.default_rng(0))
    for moves in ((), ("leaf", "unary"), ("support", "split")):
        reduction = reduce(graph, moves=moves)
        assert len(reduction.certificate) == 0
        assert reduction.before == reduction.after
        assert all(reduction.graph.factors[f].table is factor.table for f, factor in graph.factors.items())


def test_only_changed_tables_are_scaled_and_those_into_one_to_two():
    graph = cycle_hair(np.random.default_rng(3), n=5)
    small = FactorGraph(graph.card, {f: (s, t * 1e-3) for f, (s, t) in graph.factors.items()})
    reduction = reduce(small, moves=("leaf", "unary"))
    for name, factor in reduction.graph.factors.items():
        if factor.table is not small.factors[name].table:
            assert 1 <= factor.table.max() < 2
    assert any(factor.table.max() < 1e-2 for factor in reduction.graph.factors.values())
    scales = {move.operands[0].name for move in reduction.certificate if move.kind == "scale"}
    assert scales <= {f for f, factor in reduction.graph.factors.items() if factor.table is not small.factors[f].table}


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_thousands_of_sums_neither_overflow_nor_vanish(size):
    graph = tree(np.random.default_rng(0), n=2_000, K=3)
    graph = FactorGraph(graph.card, {f: (s, t * size) for f, (s, t) in graph.factors.items()})
    reduction = reduce(graph)
    (factor,) = reduction.graph.factors.values()
    log_z = math.log(factor.table.sum()) + reduction.graph.log_scale
    assert log_z == pytest.approx(-bethe_free_energy(graph, bp(graph)), rel=1e-12)
    verify_certificate(graph, reduction.certificate, reduction.graph)
    assert sum(1 for move in reduction.certificate if move.exponent) > 10


def test_a_hub_of_thousands_of_factors_is_no_obstacle():
    rng = np.random.default_rng(0)
    n = 5_000
    card = {"hub": 2, **{f"x{i}": 2 for i in range(n)}}
    arms = {f"f{i}": (["hub", f"x{i}"], rng.uniform(0.4, 1, (2, 2))) for i in range(n)}
    unaries = {f"u{i}": (["hub"], rng.uniform(0.4, 1, 2)) for i in range(n)}
    graph = FactorGraph(card, {**unaries, **arms})
    reduction = reduce(graph, ["hub"])
    (factor,) = reduction.graph.factors.values()
    log_belief = sum(np.log(t.sum(axis=1)) for _, t in arms.values()) + sum(np.log(t) for _, t in unaries.values())
    odds = log_belief[1] - log_belief[0]
    assert math.log(factor.table[1] / factor.table[0]) == pytest.approx(odds, abs=1e-9)


def test_what_evidence_does_not_reach_falls_off_by_splits():
    full = bundled_network("asia")
    reduction = reduce(full, moves=("leaf", "unary", "series", "support", "split"))
    assert reduction.after.species == sum(3 * (k + 1) for k in reduction.graph.card.values())
    assert all(len(factor.variables) == 1 for factor in reduction.graph.factors.values())
    assert reduction.graph.log_scale == pytest.approx(
        -sum(math.log(f.table.sum()) for f in reduction.graph.factors.values()), abs=1e-12
    )


def test_evidence_as_a_unary_factor_is_cut_out_by_support():
    full = bundled_network("asia")
    observed = FactorGraph(full.card, {**full.factors, "seen": (["xray"], [0, 1])}, states=full.states)
    sliced = reduce(observed, moves=("support",))
    given = full.condition({"xray": 1})
    assert set(sliced.graph.card) == set(given.card)
    for v, belief in bp(given).var_beliefs.items():
        np.testing.assert_allclose(sliced.lift(bp(sliced.graph)).var_beliefs[v], belief, atol=1e-11)


def test_leaf_and_unary_cores_are_alike_whatever_the_order():
    graph = random_loopy(np.random.default_rng(2), n=14, loops=3)
    keep = list(graph.card)[:2]
    cores = [reduce(graph, keep, ("leaf", "unary"), rng=np.random.default_rng(seed)) for seed in range(8)]
    orders = {tuple(map(repr, core.certificate)) for core in cores}
    assert len(orders) == 8
    same = nx.algorithms.isomorphism.categorical_node_match(["card", "name"], [0, ""])
    first = incidence(cores[0].graph, keep)
    assert len(first) < len(incidence(graph, keep))
    for core in cores[1:]:
        assert nx.is_isomorphic(first, incidence(core.graph, keep), same)


def incidence(graph: FactorGraph, keep: list[str]) -> nx.Graph:
    bipartite = nx.Graph()
    for v, k in graph.card.items():
        bipartite.add_node(("variable", v), card=k, name=v if v in keep else "")
    for f, v in graph.edges:
        bipartite.add_node(("factor", f), card=0, name="factor")
        bipartite.add_edge(("factor", f), ("variable", v))
    return bipartite


def test_the_order_is_the_graphs_own():
    graph = random_loopy(np.random.default_rng(4))
    texts = {certificate_to_json(reduce(graph, moves=tuple(MOVES)).certificate) for _ in range(3)}
    assert len(texts) == 1


def test_a_move_whose_products_leave_float64_is_left_out():
    graph = FactorGraph(
        {"x": 2, "y": 2, "z": 2},
        {
            "f": (["x", "y"], [[1e-200, 1], [1, 1]]),
            "u": (["x"], [1e-200, 1]),
            "g": (["y", "z"], [[1, 2], [2, 1]]),
        },
    )
    reduction = reduce(graph, ["x", "y"])
    assert [move.kind for move in reduction.certificate] == ["leaf", "unary", "scale"]
    assert set(reduction.graph.factors) == {"f", "u"}


@pytest.mark.parametrize(
    ("keep", "moves", "error", "message"),
    [
        (["hh"], ("leaf",), InvalidInput, r"^keep: there is no variable 'hh'; known: x0, x1, x2$"),
        ("h1", ("leaf",), InvalidInput, r"^keep must be a list of variables, not the text 'h1'$"),
        (
            [],
            "leaf",
            InvalidInput,
            r"^moves must be a list of leaf, unary, series, cluster, support, split, not the tex",
        ),
        ([], ("leaf", "merge"), NotExactError, r"^there is no exact move 'merge'"),
    ],
)
def test_bad_input_is_refused(keep, moves, error, message):
    with pytest.raises(error, match=message):
        reduce(chain(np.random.default_rng(0), n=3), keep, moves)


def test_an_impossible_graph_is_refused():
    graph = FactorGraph({"x": 2, "y": 2}, {"f": (["x", "y"], np.eye(2)), "u": (["x"], [1, 0]), "w": (["y"], [0, 1])})
    for moves in (("leaf", "unary"), ("support",)):
        with pytest.raises(InvalidInput, match="impossible"):
            reduce(graph, moves=moves)
