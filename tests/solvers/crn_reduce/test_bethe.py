"""The Bethe free energy: ln Z on trees, and what may change a graph without changing it."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.bethe import bethe_free_energy


def log_partition(graph: FactorGraph) -> float:
    """ln Z by enumeration."""
    place = {v: i for i, v in enumerate(graph.card)}
    total = 0.0
    for values in itertools.product(*(range(k) for k in graph.card.values())):
        total += math.prod(f.table[tuple(values[place[v]] for v in f.variables)] for f in graph.factors.values())
    return math.log(total) + graph.log_scale


def random_tree(seed: int) -> FactorGraph:
    """A tree with zeros in its tables, unary factors, one-valued variables and one variable without factors."""
    rng = np.random.default_rng(seed)
    card = {"alone": 3, "x0": 2}
    factors: dict = {}
    for i in range(int(rng.integers(1, 5))):
        scope = [str(rng.choice([v for v in card if v != "alone"]))]
        for _ in range(int(rng.integers(1, 3))):
            v = f"x{len(card)}"
            card[v] = int(rng.integers(1, 4))
            scope.append(v)
        factors[f"f{i}"] = (scope, rng.uniform(0.1, 3.0, [card[v] for v in scope]))
        factors[f"u{i}"] = ([scope[0]], rng.uniform(0.1, 3.0, card[scope[0]]))
    for _, table in factors.values():
        table[rng.random(table.shape) < 0.25] = 0.0
        table[(0,) * table.ndim] = 0.5
    return FactorGraph(card, factors, log_scale=float(rng.normal()))


def cycle(n: int = 4) -> FactorGraph:
    rng = np.random.default_rng(0)
    factors = {f"f{i}": ([f"x{i}", f"x{(i + 1) % n}"], rng.uniform(0.2, 1.0, (2, 2))) for i in range(n)}
    return FactorGraph({f"x{i}": 2 for i in range(n)}, factors)


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_on_trees_it_is_minus_the_logarithm_of_the_partition_function(seed):
    graph = random_tree(seed)
    assert -bethe_free_energy(graph, bp(graph)) == pytest.approx(log_partition(graph), abs=1e-9)


def test_on_a_cycle_it_is_not_that_logarithm_but_near():
    graph = cycle()
    assert 1e-6 < abs(-bethe_free_energy(graph, bp(graph)) - log_partition(graph)) < 0.1


def test_a_factor_times_a_constant_shifts_it_by_the_constants_logarithm():
    graph = cycle()
    scaled = dict(graph.factors) | {"f0": (graph.factors["f0"].variables, graph.factors["f0"].table * 1e200)}
    shifted = FactorGraph(graph.card, scaled, log_scale=-3.0)
    difference = bethe_free_energy(shifted, bp(shifted)) - bethe_free_energy(graph, bp(graph))
    assert difference == pytest.approx(-200 * math.log(10) + 3.0, abs=1e-9)


def test_a_fixed_point_is_a_stationary_point():
    """Small changes of the tables move F by −Σ b_f δψ/ψ alone, as if the beliefs stood still."""
    graph, step = cycle(), 1e-5
    result = bp(graph)
    slope = np.zeros((2, 2))
    for at in np.ndindex(2, 2):
        sides = []
        for sign in (1, -1):
            table = graph.factors["f0"].table.copy()
            table[at] *= 1 + sign * step
            moved = FactorGraph(graph.card, dict(graph.factors) | {"f0": (graph.factors["f0"].variables, table)})
            sides.append(bethe_free_energy(moved, bp(moved)))
        slope[at] = (sides[0] - sides[1]) / (2 * step)
    np.testing.assert_allclose(slope, -result.factor_beliefs["f0"], atol=1e-8)


def test_an_empty_graph_has_only_its_scale():
    graph = FactorGraph({}, {}, log_scale=2.5)
    assert bethe_free_energy(graph, bp(graph)) == -2.5


def test_runs_that_are_no_fixed_point_of_the_graph_are_refused():
    graph = cycle()
    stopped = bp(graph, max_iter=2)
    with pytest.raises(
        InvalidInput, match=r"^the free energy is asked of a run that has not converged: residual \S+ af"
    ):
        bethe_free_energy(graph, stopped)
    with pytest.raises(InvalidInput, match=r"^the result is one of another graph, FactorGraph\(5 variables"):
        bethe_free_energy(graph, bp(cycle(5)))
