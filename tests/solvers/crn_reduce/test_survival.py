"""Rates of recycling at which messages survive."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import EngineFailure, InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph, cycle_hair, random_loopy, tree
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.live_state import live_shares
from scisuite.solvers.crn_reduce.steady import steady_state
from scisuite.solvers.crn_reduce.survival import compile_surviving, largest_surviving, survives

IMPOSSIBLE = FactorGraph({"a": 2}, {"yes": (["a"], [1.0, 0.0]), "no": (["a"], [0.0, 1.0])})


def complete(n, rng):
    """A factor on every pair and every one of n binary variables: n factors on each."""
    factors = {f"u{i}": ([f"x{i}"], rng.uniform(0.4, 1, 2)) for i in range(n)}
    for i, j in itertools.combinations(range(n), 2):
        factors[f"f{i}_{j}"] = ([f"x{i}", f"x{j}"], rng.uniform(0.4, 1, (2, 2)))
    return FactorGraph({f"x{i}": 2 for i in range(n)}, factors)


def error(steady, graph):
    exact = bp(graph).var_beliefs
    return max(abs(steady.beliefs[v] - exact[v]).max() for v in exact)


@pytest.mark.parametrize(("n", "assigned"), [(6, 0.44), (8, 0.10)])
def test_complete_graphs_die_out_at_a_tenth_and_live_at_a_third_of_it(n, assigned):
    graph = complete(n, np.random.default_rng(1))
    crn, survival = compile_surviving(graph, divide=0.1 / 0.03)
    assert [attempt.k_rec for attempt in survival.attempts] == [0.1, pytest.approx(0.03)]
    first, second = survival.attempts
    assert first.n_extinct == len(crn.pools.keys) - n
    assert first.least_share < 1e-9
    assert second.n_extinct == 0
    assert second.least_share == pytest.approx(assigned, abs=0.02)
    assert second.pool.kind == 0
    assert survival.k_rec == second.k_rec
    assert survival.seconds == pytest.approx(first.seconds + second.seconds)
    np.testing.assert_array_equal(crn.rates.min(), survival.k_rec)
    assert error(survival.steady, graph) < 1e-8


def test_a_network_that_lives_at_once_is_tried_once():
    graph = tree(np.random.default_rng(0), n=4, K=2)
    crn, survival = compile_surviving(graph, k_rec=0.2, total=2.0)
    assert [attempt.k_rec for attempt in survival.attempts] == [0.2]
    assert crn.initial.max() == 1.0
    assert error(survival.steady, graph) < 1e-8


def test_the_guess_is_only_where_the_search_begins(monkeypatch):
    graph = cycle_hair(np.random.default_rng(0), n=3)
    rates = []
    for guess in (None, [0, 0, 1], [1, 1, 1]):
        shares = None if guess is None else np.array(guess, dtype=float)
        monkeypatch.setattr(
            "scisuite.solvers.crn_reduce.survival.live_shares", lambda crn, rates, floor, shares=shares: shares
        )
        _, survival = compile_surviving(graph, k_rec=0.9, max_tries=3)
        rates.append(survival.k_rec)
        tried = {attempt.k_rec: attempt.n_extinct for attempt in survival.attempts}
        assert tried[survival.k_rec] == 0
        assert tried[0.9] > 0
    assert rates == [pytest.approx(0.3)] * 3


def test_survives_and_the_largest_rate():
    graph = cycle_hair(np.random.default_rng(0), n=4)
    assert not survives(compile_napp_adams(graph, k_rec=1.0))
    hidden, _ = compile_napp_adams(graph, k_rec=0.3).anonymous(np.random.default_rng(0))
    assert survives(hidden)
    assert largest_surviving(graph, (0.3, 1.0)) == 0.3
    assert largest_surviving(graph, (1.0,)) is None


def test_impossible_evidence_names_the_pool_that_dies():
    with pytest.raises(
        EngineFailure,
        match=r"die out at every k_rec down to 0\.0111, 1 of them there; the least is belief a, with .* of its pool",
    ):
        compile_surviving(IMPOSSIBLE, max_tries=3)


def test_predicted_shares_are_those_of_the_steady_state():
    rates = [0.1, 0.001]
    graph = random_loopy(np.random.default_rng(0), n=4, loops=2)
    for rate, share in zip(rates, live_shares(compile_napp_adams(graph, total=1.5), rates), strict=True):
        steady = steady_state(compile_napp_adams(graph, k_rec=rate, total=1.5))
        assert (steady.assigned_mass / steady.pool_totals).min() == pytest.approx(share, rel=1e-6)
    crowded = compile_napp_adams(complete(6, np.random.default_rng(0)))
    dead, alive = live_shares(crowded, [0.1, 0.03])
    assert dead < 1e-9 < 0.4 < alive
    assert live_shares(compile_napp_adams(IMPOSSIBLE), rates).tolist() == [0, 0]
    with pytest.raises(InvalidInput, match="the network carries no pools"):
        live_shares(crowded.anonymous(np.random.default_rng(0))[0], rates)


def test_bad_input_is_refused():
    graph = FactorGraph({"a": 2}, {"f": (["a"], [1.0, 2.0])})
    for divide in (1, 0.5, np.nan, np.inf):
        with pytest.raises(InvalidInput, match="divide must be finite and above 1"):
            compile_surviving(graph, divide=divide)
    for tol in (0, 1, -1, np.nan):
        with pytest.raises(InvalidInput, match="tol must be between 0 and 1"):
            compile_surviving(graph, tol=tol)
        with pytest.raises(InvalidInput, match="tol must be between 0 and 1"):
            survives(compile_napp_adams(graph), tol=tol)
    for max_tries in (0, 1.5, True):
        with pytest.raises(InvalidInput, match="max_tries must be a whole number of at least 1"):
            compile_surviving(graph, max_tries=max_tries)
    with pytest.raises(InvalidInput, match="k_rec must be a finite number above zero, not -1"):
        compile_surviving(graph, k_rec=-1)
    with pytest.raises(InvalidInput, match="k_rec must be a finite number above zero, not 'x'"):
        compile_surviving(graph, k_rec="x")
    with pytest.raises(InvalidInput, match="k_rec must be a finite number above zero, not 0"):
        largest_surviving(graph, [0])


@pytest.mark.parametrize("factor", [0.0, 1e200])
def test_no_guess_without_numbers(factor):
    """Of empty pools, and of masses whose products overflow, nothing is guessed and nobody is warned."""
    crn = compile_napp_adams(FactorGraph({"a": 2}, {"f": (["a"], [3.0, 1.0]), "g": (["a"], [1e200, 1.0])}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shares = live_shares(replace(crn, initial=factor * crn.initial), [0.1])
    assert shares is None or (np.isfinite(shares).all() and factor)


def test_a_failure_names_the_table_of_unusual_scale():
    graph = FactorGraph(
        {"a": 2, "b": 2}, {"f": (["a"], [3.0, 1.0]), "tiny": (["a", "b"], [[3e-20, 1e-20], [1e-20, 2e-20]])}
    )
    with pytest.raises(EngineFailure, match="the largest entry of 'tiny' is 3.0e-20"):
        compile_surviving(graph, max_tries=2)
