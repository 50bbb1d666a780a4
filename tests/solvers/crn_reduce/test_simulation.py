"""Simulation: closed forms, conservation, both engines, and what is refused."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from scisuite.core import EngineFailure, InvalidInput
from scisuite.scenarios.factor_graphs import cycle_hair, exact_marginals, random_loopy, tree
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.network import CRN
from scisuite.solvers.crn_reduce.simulation import simulate


def network(reactants, products, rates, initial):
    reactants, products = np.array(reactants, dtype=np.int32), np.array(products, dtype=np.int32)
    names = tuple("abcdef"[: reactants.shape[1]])
    return CRN(names, sparse.csr_array(reactants), sparse.csr_array(products), np.array(rates), np.array(initial))


@pytest.fixture(scope="module")
def decay():
    """a + b → b + c at rate 3, 2 d → nothing at rate 1/2."""
    return network([[1, 1, 0, 0], [0, 0, 0, 2]], [[0, 1, 1, 0], [0, 0, 0, 0]], [3.0, 0.5], [2.0, 0.5, 0.0, 4.0])


def test_concentrations_are_the_closed_form(decay):
    for run in (simulate(decay, 4.0, points=9), simulate(decay, 4.0, times=[0, 1e-3, 0.7, 4])):
        t = run.times
        left = 2 * np.exp(-1.5 * t)
        expected = np.stack([left, np.full_like(t, 0.5), 2 - left, 4 / (1 + 4 * t)], axis=1)
        np.testing.assert_allclose(run.concentrations, expected, rtol=1e-7, atol=1e-9)
        assert run.seconds > 0
        assert run.residual == pytest.approx((4 / 17) ** 2, rel=1e-6)
    assert run.times.tolist() == [0, 1e-3, 0.7, 4]


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 2**32))
def test_pool_totals_are_conserved_at_all_times(seed):
    rng = np.random.default_rng(seed)
    total = 10 ** rng.uniform(-1, 1)
    crn = compile_napp_adams(random_loopy(rng, n=4, loops=2), k_rec=0.1, total=total)
    x0 = crn.initial * rng.uniform(0, 2, crn.n_species)
    run = simulate(crn, 50.0, x0=x0, points=7)
    totals = run.conserved.totals(run.concentrations)
    np.testing.assert_allclose(totals, np.tile(run.conserved.totals(x0), (7, 1)), rtol=1e-9)
    np.testing.assert_allclose(run.pool_totals, totals[-1], rtol=1e-15)


@pytest.mark.own_process
def test_beliefs_on_a_tree_are_the_marginals_by_both_engines():
    pytest.importorskip("pyagrum", reason="needs the extra crn-reduce")
    pytest.importorskip("roadrunner", reason="needs the extra crn-reduce")
    graph = tree(np.random.default_rng(3), n=5, K=3)
    exact = exact_marginals(graph)
    crn = compile_napp_adams(graph)
    for method in ("bdf", "roadrunner"):
        run = simulate(crn, 2000.0, method, points=2)
        assert run.extinct() == ()
        for v, belief in run.beliefs.items():
            np.testing.assert_allclose(belief, exact[v], atol=1e-10)


def test_a_network_at_rest_is_held_and_says_since_when():
    crn = compile_napp_adams(tree(np.random.default_rng(0), n=3, K=2))
    run = simulate(crn, 1e9, times=[0, 1e5, 1e8, 1e9])
    assert 100 < run.rest_time < 1e5
    np.testing.assert_array_equal(run.concentrations[1], run.concentrations[3])
    assert run.residual < 1e-13
    assert simulate(crn, 1.0).rest_time is None


@pytest.mark.parametrize("rate", [1e-9, 1e-13])
def test_a_slow_start_is_not_taken_for_rest(rate):
    slow = network([[1, 0], [0, 1]], [[0, 1], [1, 0]], [rate, rate], [0.9, 0.1])
    run = simulate(slow, 1 / rate, points=2)
    np.testing.assert_allclose(run.final, [0.5 + 0.4 * math.exp(-2), 0.5 - 0.4 * math.exp(-2)], rtol=1e-7)


def test_a_species_that_never_changes_is_no_message():
    crn = network([[1, 0, 1], [0, 1, 0]], [[0, 1, 1], [1, 0, 0]], [1.0, 0.5], [1.0, 0.0, 2.0])
    run = simulate(crn, 20.0, points=2)
    assert run.pool_totals.tolist() == pytest.approx([1, 2])
    assert run.assigned_mass.tolist() == pytest.approx([0.8, 0])
    assert run.extinct() == ()
    assert simulate(crn, 20.0, x0=[1, 0, 0], points=2).extinct() == ("a",)


def test_extinct_messages_are_reported_although_the_residual_is_tiny():
    crn = compile_napp_adams(cycle_hair(np.random.default_rng(0), n=6), k_rec=1.0)
    assert (crn.n_species, crn.n_reactions) == (306, 480)
    run = simulate(crn, 60.0, points=2)
    assert run.residual < 1e-12
    assert len(run.extinct()) == 72
    assert str(run.extinct()[0]) == "sum c0c1→c0"
    assert run.assigned_mass.min() < 1e-9
    shown = simulate(crn.anonymous(np.random.default_rng(1))[0], 60.0, points=2)
    assert len(shown.extinct()) == 72


def test_beliefs_need_to_be_told_whose_they_are():
    crn = compile_napp_adams(tree(np.random.default_rng(0), n=3, K=2))
    hidden, order = crn.anonymous(np.random.default_rng(0))
    run = simulate(hidden, 5.0, points=2)
    np.testing.assert_allclose(np.sort(run.assigned_mass), np.sort(simulate(crn, 5.0, points=2).assigned_mass))
    with pytest.raises(InvalidInput, match=r"give pools=recover_factor_graph\(crn\)\.pools"):
        _ = run.beliefs
    pools = type(crn.pools)(crn.pools.pool_of[order], crn.pools.value_of[order], crn.pools.keys)
    told, known = simulate(hidden, 5.0, points=2, pools=pools).beliefs, simulate(crn, 5.0, points=2).beliefs
    assert told.keys() == known.keys()
    for v in known:
        np.testing.assert_allclose(told[v], known[v], rtol=1e-7)


def test_bad_input_is_refused(decay):
    for T in (0, -1.0, math.inf, math.nan, True, "1"):
        with pytest.raises(InvalidInput, match="T must be a finite time above 0"):
            simulate(decay, T)
    with pytest.raises(InvalidInput, match="method must be one of bdf, roadrunner, not 'euler'"):
        simulate(decay, 1.0, "euler")
    with pytest.raises(
        InvalidInput, match=r"x0 must have shape \(4,\), one concentration for each species, not \(3,\)"
    ):
        simulate(decay, 1.0, x0=[1, 2, 3])
    for wrong in (-1.0, math.nan, math.inf):
        with pytest.raises(
            InvalidInput, match=f"x0: the concentration of c must be finite and not negative, not {wrong}"
        ):
            simulate(decay, 1.0, x0=[1, 1, wrong, 1])
    with pytest.raises(InvalidInput, match="points must be a whole number of at least 2, not 1"):
        simulate(decay, 1.0, points=1)
    for times in ([0, 0.5], [0.1, 1], [0, 0.7, 0.2, 1], [1]):
        with pytest.raises(InvalidInput, match="times must ascend from 0 to T = 1"):
            simulate(decay, 1.0, times=times)
    for name in ("absolute", "relative"):
        with pytest.raises(InvalidInput, match=f"{name} must be finite and above 0, not 0"):
            simulate(decay, 1.0, **{name: 0})


def test_an_explosion_is_the_engines_failure():
    explosion = network([[2]], [[3]], [1.0], [1.0])
    with pytest.raises(EngineFailure, match=r"the integrator stopped at time (0\.99|1\.0|1:)"):
        simulate(explosion, 2.0)


def test_a_failure_names_the_number_that_is_too_large():
    fast = network([[1, 0], [0, 1]], [[0, 1], [1, 0]], [1e300, 1.0], [1e30, 1.0])
    named_fast = replace(fast, reaction_names=("FAST", "SLOW"))
    with (
        warnings.catch_warnings(),
        pytest.raises(EngineFailure, match="largest rate constant, 1e.300 of reaction 'FAST'"),
    ):
        warnings.simplefilter("error")
        simulate(named_fast, 1.0)
