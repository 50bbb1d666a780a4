"""Reductions of random graphs with cycles and zeros, by random sets of moves."""

from __future__ import annotations

import math
import string

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scisuite.scenarios.factor_graphs import Factor, FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.bethe import bethe_free_energy
from scisuite.solvers.crn_reduce.compile import compiled_size
from scisuite.solvers.crn_reduce.reduction import (
    MOVES,
    certificate_from_json,
    certificate_to_json,
    reduce,
    verify_certificate,
)

FEW = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def graphs(draw, zeros: float = 0.3):
    """A graph of up to 7 variables of 1 to 3 values, tables possible at one assignment at least, some of rank one."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 7))
    card = {f"x{i}": int(rng.choice([1, 2, 2, 3, 3])) for i in range(n)}
    possible = {v: int(rng.integers(k)) for v, k in card.items()}
    factors = {}
    for i in range(draw(st.integers(0, 9))):
        scope = [f"x{j}" for j in rng.permutation(n)[: int(rng.choice([1, 1, 2, 2, 2, 3]))]]
        shape = [card[v] for v in scope]
        table = rng.uniform(0.4, 1.6, shape)
        if rng.random() < 0.2:
            table = math.prod(np.ix_(*(rng.uniform(0.4, 1.6, k) for k in shape)), start=1.0)
        table = table * (rng.random(shape) > zeros * rng.integers(0, 2))
        table[tuple(possible[v] for v in scope)] = 1.0
        factors[f"f{i}"] = (scope, table)
    return FactorGraph(card, factors, log_scale=0.25)


def some(names):
    return st.lists(st.sampled_from(sorted(names)), unique=True, max_size=3)


def log_z(graph: FactorGraph) -> float:
    letter = dict(zip(graph.card, string.ascii_letters, strict=False))
    scopes = ["", *letter.values(), *("".join(letter[v] for v in f.variables) for f in graph.factors.values())]
    tables = [np.ones(()), *(np.ones(k) for k in graph.card.values()), *(f.table for f in graph.factors.values())]
    return math.log(float(np.einsum(",".join(scopes) + "->", *tables, optimize="greedy"))) + graph.log_scale


@FEW
@given(st.data())
def test_whatever_the_moves_sums_fixed_points_and_free_energies_stay(data):
    graph = data.draw(graphs())
    keep = data.draw(some(graph.card))
    moves = data.draw(st.lists(st.sampled_from(sorted(MOVES)), unique=True, min_size=1))
    order = data.draw(st.none() | st.integers(0, 100))
    reduction = reduce(graph, keep, moves, rng=None if order is None else np.random.default_rng(order))
    verify_certificate(graph, reduction.certificate, reduction.graph)
    np.testing.assert_allclose(log_z(reduction.graph), log_z(graph), atol=1e-11)

    before = bp(graph, max_iter=3000)
    assume(before.converged)
    after = bp(reduction.graph, init=reduction.carry(before.messages), max_iter=3000)
    assert after.converged
    for name, belief in reduction.surviving(before.var_beliefs).items():
        np.testing.assert_allclose(after.var_beliefs[name], belief, atol=1e-8)
    lifted = reduction.lift(after)
    for name, belief in before.var_beliefs.items():
        np.testing.assert_allclose(lifted.var_beliefs[name], belief, atol=1e-8)
    for name, belief in before.factor_beliefs.items():
        np.testing.assert_allclose(lifted.factor_beliefs[name], belief, atol=1e-8)
    free_energies = bethe_free_energy(graph, before), bethe_free_energy(reduction.graph, after)
    np.testing.assert_allclose(*free_energies, atol=1e-8)


@FEW
@given(st.data())
def test_no_default_move_makes_the_network_larger(data):
    graph = data.draw(graphs())
    keep = data.draw(some(graph.card))
    moves = data.draw(st.sampled_from([["leaf"], ["unary"], ["leaf", "unary"], ["support"], ["split"]]))
    before, after = compiled_size(graph), compiled_size(reduce(graph, keep, moves).graph)
    assert after[0] <= before[0]
    assert after[1] <= before[1]
    for larger in (["series"], ["cluster"], list(MOVES)):
        assert sum(compiled_size(reduce(graph, keep, larger).graph)) <= sum(before)


@FEW
@given(st.data())
def test_no_leaf_and_no_unary_factor_is_left(data):
    graph = data.draw(graphs())
    keep = data.draw(some(graph.card))
    left = reduce(graph, keep, ("leaf", "unary")).graph
    for v in left.card:
        neighbours = [left.factors[f] for f in left.factors_of[v]]
        alone = len(left.components()) and any(component == (v,) for component in left.components())
        if not alone and v not in keep:
            assert len(neighbours) > 1
        if len(neighbours) > 1:
            assert all(len(factor.variables) > 1 for factor in neighbours)


@FEW
@given(st.data())
def test_json_gives_the_certificate_back_to_the_bit(data):
    graph = data.draw(graphs())
    reduction = reduce(graph, moves=tuple(MOVES))
    text = certificate_to_json(reduction.certificate)
    again = certificate_from_json(text)
    assert certificate_to_json(again) == text
    verify_certificate(graph, again, reduction.graph)
    same = FactorGraph.trusted(
        dict(reversed(reduction.graph.card.items())),
        {f: Factor(s[::-1], t.transpose()) for f, (s, t) in reversed(reduction.graph.factors.items())},
        reduction.graph.log_scale,
    )
    verify_certificate(graph, again, same)
