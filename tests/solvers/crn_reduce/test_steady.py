"""Steady states: fixed points of belief propagation, in any order of species, and never the wrong one unsaid."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph, cycle_hair, ising, random_loopy, tree
from scisuite.solvers.crn_reduce.belief_propagation import Messages, bp
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, SUM, UNASSIGNED, PoolKey
from scisuite.solvers.crn_reduce.simulation import simulate
from scisuite.solvers.crn_reduce.steady import steady_state


def messages_of(steady):
    """The normalised sum messages of a steady state."""
    pools = steady.crn.pools
    found = {}
    for number, key in enumerate(pools.keys):
        if key.kind == SUM:
            values = steady.concentrations[pools.species_of(number)]
            found[key.factor, key.variable] = values / values.sum()
    return Messages(found)


def marginals(graph):
    """By enumeration."""
    total = {v: np.zeros(k) for v, k in graph.card.items()}
    for values in itertools.product(*(range(k) for k in graph.card.values())):
        x = dict(zip(graph.card, values, strict=True))
        weight = np.prod([f.table[tuple(x[v] for v in f.variables)] for f in graph.factors.values()])
        for v, k in x.items():
            total[v][k] += weight
    return {v: t / t.sum() for v, t in total.items()}


@settings(max_examples=2, deadline=None)
@given(st.integers(0, 2**32))
def test_a_tree_comes_to_rest_at_its_marginals(seed):
    graph = tree(np.random.default_rng(seed), n=5, K=3)
    steady = steady_state(compile_napp_adams(graph, k_rec=0.05))
    assert steady.converged
    assert steady.extinct() == ()
    for v, exact in marginals(graph).items():
        np.testing.assert_allclose(steady.beliefs[v], exact, atol=1e-10)


@settings(max_examples=2, deadline=None)
@given(st.integers(0, 2**32))
def test_a_loopy_graph_comes_to_rest_at_a_fixed_point_of_belief_propagation(seed):
    rng = np.random.default_rng(seed)
    graph = random_loopy(rng, n=4, loops=2)
    total = 10 ** rng.uniform(-0.3, 2)
    steady = steady_state(compile_napp_adams(graph, k_rec=0.01, total=total))
    assert steady.converged
    assert steady.extinct() == ()
    np.testing.assert_allclose(steady.pool_totals, total, rtol=1e-9)
    assert steady.residual < 1e-12 * total
    assert bp(graph, init=messages_of(steady), damping=0.0, max_iter=1).residual < 1e-8


def test_rounding_is_reached_in_pools_of_any_size_however_loose_the_integration():
    graph = FactorGraph({"a": 2, "b": 3}, {"f": (["a", "b"], [[0.9, 0.5, 0.1], [0.2, 0.4, 0.7]]), "u": (["a"], [1, 2])})
    exact = marginals(graph)
    for total in (1e-9, 1.0, 1e6):
        crn = compile_napp_adams(graph, k_rec=0.05 * total, total=total)
        for relative in (1e-9, 1e-5):
            steady = steady_state(crn, relative=relative)
            assert steady.converged
            assert steady.residual < 1e-14 * total * total
            for v, belief in steady.beliefs.items():
                np.testing.assert_allclose(belief, exact[v], atol=1e-12)


def test_of_several_fixed_points_it_is_the_one_that_the_simulation_ends_in():
    graph = ising(np.random.default_rng(0), rows=2, coupling=1.2)
    crn = compile_napp_adams(graph, k_rec=0.01)
    pools = crn.pools
    ends = []
    for up in (0.1, 0.9):
        x0 = crn.initial.copy()
        x0[pools.value_of == 0] = (1 - up) / 2
        x0[pools.value_of == 1] = up / 2
        steady = steady_state(crn, x0)
        np.testing.assert_allclose(simulate(crn, 2e4, x0=x0, points=2).final, steady.concentrations, atol=1e-8)
        assert bp(graph, init=messages_of(steady), damping=0.0, max_iter=1).residual < 1e-8
        ends.append(steady.beliefs["s0_1"][1])
    assert ends[0] < 0.1 < 0.9 < ends[1]


def test_the_order_of_species_does_not_matter():
    crn = compile_napp_adams(random_loopy(np.random.default_rng(1), n=4, loops=2))
    steady = steady_state(crn)
    shuffled, order = crn.anonymous(np.random.default_rng(0))
    again = steady_state(shuffled)
    assert again.converged
    np.testing.assert_allclose(again.concentrations, steady.concentrations[order], atol=1e-12)


def test_a_steady_state_without_messages_is_one_and_says_so():
    graph = cycle_hair(np.random.default_rng(0), n=3)
    crn = compile_napp_adams(graph)
    x0 = np.where(crn.pools.value_of == UNASSIGNED, 1.0, 0.0)
    dark, light = steady_state(crn, x0), steady_state(crn)
    assert dark.converged
    assert light.converged
    assert max(dark.residual, light.residual) < 1e-15
    assert light.extinct() == ()
    assert "sum c0c1→c1" in map(str, dark.extinct())
    assert dark.concentrations.min() == 0
    assert np.isnan(dark.beliefs["c0"]).all()
    assert abs(light.beliefs["c0"] - bp(graph).var_beliefs["c0"]).max() < 1e-10


def test_what_does_not_come_to_rest_is_no_answer():
    crn = compile_napp_adams(tree(np.random.default_rng(0), n=4, K=2))
    stopped = steady_state(crn, max_steps=30)
    assert not stopped.converged
    assert (stopped.iterations, stopped.rest_time) == (30, None)
    assert stopped.residual > 1e-6
    # Each of three species is turned into the next by the next: they oscillate for ever.
    used = sparse.csr_array(np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=np.int32))
    made = sparse.csr_array(np.array([[0, 2, 0], [0, 0, 2], [2, 0, 0]], dtype=np.int32))
    wheel = CRN(("a", "b", "c"), used, made, np.ones(3), np.array([0.6, 0.3, 0.1]))
    turning = steady_state(wheel, max_steps=1000, relative=1e-6)
    assert not turning.converged
    assert turning.residual > 1e-3


def test_a_pool_of_two_that_react_alone_has_the_closed_form():
    used = sparse.csr_array(np.array([[1, 0], [0, 1]], dtype=np.int32))
    made = sparse.csr_array(np.array([[0, 1], [1, 0]], dtype=np.int32))
    steady = steady_state(CRN(("a", "b"), used, made, np.array([3.0, 1.0]), np.array([0.0, 2.0])))
    np.testing.assert_allclose(steady.concentrations, [0.5, 1.5], rtol=1e-14)
    unmoved = steady_state(CRN(("a", "b"), used[:0], made[:0], np.zeros(0), np.array([0.0, 2.0])), [4.0, 0.0])
    assert unmoved.converged
    assert unmoved.concentrations.tolist() == [4, 0]


def test_a_point_on_a_line_of_steady_states_is_one():
    used = sparse.csr_array(np.array([[1, 0, 1]], dtype=np.int32))
    made = sparse.csr_array(np.array([[0, 1, 1]], dtype=np.int32))
    idle = steady_state(CRN(("a", "b", "catalyst"), used, made, np.ones(1), np.array([2.0, 1.0, 0.0])))
    assert idle.converged
    assert idle.concentrations.tolist() == [2, 1, 0]


def test_another_steady_state_than_the_networks_own_is_refused(monkeypatch):
    crn = compile_napp_adams(cycle_hair(np.random.default_rng(0), n=3))
    dark = steady_state(crn, np.where(crn.pools.value_of == UNASSIGNED, 1.0, 0.0)).concentrations
    light = steady_state(crn).concentrations
    monkeypatch.setattr("scisuite.solvers.crn_reduce.steady._newton", lambda *_: (dark, 1, True))
    np.testing.assert_allclose(steady_state(crn).concentrations, light, atol=1e-8)


def test_bad_input_is_refused():
    crn = compile_napp_adams(FactorGraph({"a": 2}, {"f": (["a"], [1.0, 2.0])}))
    with pytest.raises(InvalidInput, match=r"x0 must have shape \(9,\)"):
        steady_state(crn, [1.0])
    with pytest.raises(InvalidInput, match="x0: the concentration of S_f_a_0 must be finite and not negative"):
        steady_state(crn, [0, -1, 0, 0, 0, 0, 0, 0, 0])
    for name in ("absolute", "relative", "max_steps"):
        with pytest.raises(InvalidInput, match=f"{name} must be finite and above 0, not -1"):
            steady_state(crn, **{name: -1})
    pair = sparse.csr_array(np.array([[2, 0]], dtype=np.int32))
    dimer = CRN(("a", "b"), pair, sparse.csr_array(np.array([[0, 1]], dtype=np.int32)), np.ones(1), np.ones(2))
    with pytest.raises(InvalidInput, match="the network has no pools: reaction 0 does not turn one species into"):
        steady_state(dimer)


def test_rest_is_judged_in_each_pools_own_measure():
    """One pool of 1e200 beside pools of 1 hides none of them, and the residual is told relative to the rates."""
    crn = compile_napp_adams(FactorGraph({"a": 2}, {"f": (["a"], [3.0, 1.0])}))
    assert crn.pools is not None
    belief = crn.pools.pool_of == crn.pools.number[PoolKey(BELIEF, "a")]
    state = steady_state(replace(crn, initial=np.where(belief, 1e200, 1.0) * crn.initial))
    assert state.converged
    assert state.relative_residual < 1e-12
    np.testing.assert_allclose(state.beliefs["a"], [0.75, 0.25], rtol=1e-9)


def test_a_network_whose_messages_have_all_died_out_is_at_rest():
    """Without unary factors nothing feeds the pools, and turnovers are rounding errors as small as the residual."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(5)]
    pairs = {f"{a}{b}": ([a, b], rng.uniform(0.1, 0.3, (2, 2))) for a, b in itertools.combinations(names, 2)}
    found = steady_state(compile_napp_adams(FactorGraph(dict.fromkeys(names, 2), pairs), k_rec=1.0))
    assert found.converged
    assert len(found.extinct()) == 45
    assert found.residual < 1e-25
    assert found.relative_residual > 1e-9
