"""Fixed points from many starts, and the match of two sets of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.bethe import bethe_free_energy
from scisuite.solvers.crn_reduce.multistart import fixed_points, match_fixed_points


def ising(coupling: float, n: int = 3) -> FactorGraph:
    table = np.exp(coupling * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    factors = {}
    for i in range(n):
        for j in range(n):
            if i + 1 < n:
                factors[f"v{i}{j}"] = ([f"x{i}{j}", f"x{i + 1}{j}"], table)
            if j + 1 < n:
                factors[f"h{i}{j}"] = ([f"x{i}{j}", f"x{i}{j + 1}"], table)
    return FactorGraph({f"x{i}{j}": 2 for i in range(n) for j in range(n)}, factors)


def with_hair(graph: FactorGraph) -> FactorGraph:
    """Its corner has a pendant chain of two, and the centre a unary factor of ones: nothing changes on the rest."""
    hair = {"c1": (["x00", "y"], [[1.0, 2.0], [2.0, 1.0]]), "c2": (["y", "z"], [[3.0, 1.0], [1.0, 3.0]])}
    return FactorGraph(dict(graph.card) | {"y": 2, "z": 2}, dict(graph.factors) | hair | {"u": (["x11"], [1.0, 1.0])})


def frustrated() -> FactorGraph:
    table = np.exp(-1.0 * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    return FactorGraph(
        {f"x{i}": 2 for i in range(4)},
        {f"f{i}{j}": ([f"x{i}", f"x{j}"], table) for i in range(4) for j in range(i)},
    )


@pytest.mark.parametrize("lean", [0.0, 0.5, 1.0])
def test_a_strong_grid_has_two_mirrored_fixed_points(lean):
    graph = ising(1.2)
    found = fixed_points(graph, 10, rng=np.random.default_rng(0), lean=lean)
    assert (len(found.results), found.n_converged, found.n_starts) == (2, 10, 10)
    assert sum(found.n_found) == 10
    one, other = found.beliefs
    for v in graph.card:
        assert abs(one[v][0] - 0.5) > 0.4
        np.testing.assert_allclose(one[v], other[v][::-1], atol=1e-10)
    energies = [bethe_free_energy(graph, result) for result in found.results]
    assert energies[0] == pytest.approx(energies[1], abs=1e-9)
    assert energies[0] < bethe_free_energy(graph, bp(graph))


def test_a_weak_grid_has_one():
    found = fixed_points(ising(0.2), 6, rng=np.random.default_rng(0))
    assert found.n_found == (6,)
    np.testing.assert_allclose(found.beliefs[0]["x11"], [0.5, 0.5], atol=1e-10)


def test_leaning_starts_find_all_that_strong_couplings_of_four_values_hold():
    table = np.ones((4, 4)) + 19 * np.eye(4)
    graph = FactorGraph(
        {f"x{i}": 4 for i in range(4)},
        {f"f{i}{j}": ([f"x{i}", f"x{j}"], table) for i in range(4) for j in range(i)},
    )
    found = fixed_points(graph, 8, rng=np.random.default_rng(0), lean=0.8)
    assert {int(b["x0"].argmax()) for b in found.beliefs if b["x0"].max() > 0.9} == {0, 1, 2, 3}


def test_starts_given_are_added_to_those_drawn():
    graph = ising(1.2)
    found = fixed_points(graph, 4, rng=np.random.default_rng(0), starts=[None])
    assert (len(found.results), found.n_starts) == (3, 5)
    np.testing.assert_allclose(found.beliefs[-1]["x11"], [0.5, 0.5], atol=1e-12)
    again = fixed_points(graph, 0, rng=np.random.default_rng(0), starts=[r.messages for r in found.results])
    assert [r.iterations for r in again.results] == [0, 0, 0]


def test_runs_that_do_not_converge_are_counted_and_left_out():
    found = fixed_points(frustrated(), 3, rng=np.random.default_rng(0), damping=0.0, max_iter=200)
    assert (found.results, found.n_converged, found.n_starts) == ((), 0, 3)
    partly = fixed_points(frustrated(), 3, rng=np.random.default_rng(0), starts=[None], damping=0.0, max_iter=200)
    assert (len(partly.results), partly.n_converged, partly.n_starts) == (1, 1, 4)


def test_seeds_reproduce():
    runs = [fixed_points(ising(1.2), 5, rng=np.random.default_rng(7)) for _ in range(2)]
    assert runs[0].n_found == runs[1].n_found
    assert match_fixed_points(*runs, ["x00", "x22"]) == 0.0


def test_sets_of_graphs_that_share_their_fixed_points_match_both_ways():
    plain, hairy = ising(1.2), with_hair(ising(1.2))
    a = fixed_points(plain, 10, rng=np.random.default_rng(0))
    b = fixed_points(hairy, 10, rng=np.random.default_rng(1))
    assert len(a.results) == len(b.results) == 2
    assert match_fixed_points(a, b, plain.card) < 1e-10
    assert match_fixed_points(b, a, plain.card) < 1e-10


def test_a_fixed_point_without_its_like_in_the_other_set_is_seen_from_both_sides():
    graph = ising(1.2)
    two = fixed_points(graph, 10, rng=np.random.default_rng(0))
    one = fixed_points(graph, 0, rng=np.random.default_rng(0), starts=[two.results[0].messages])
    gap = max(np.abs(two.beliefs[0][v] - two.beliefs[1][v]).max() for v in graph.card)
    assert match_fixed_points(one, two, graph.card) == pytest.approx(gap, abs=1e-9)
    assert match_fixed_points(two, one, graph.card) == pytest.approx(gap, abs=1e-9)


def test_nothing_matches_an_empty_set():
    found = fixed_points(frustrated(), 1, rng=np.random.default_rng(0))
    empty = fixed_points(frustrated(), 1, rng=np.random.default_rng(0), damping=0.0, max_iter=200)
    assert match_fixed_points(found, empty, ["x0"]) == math.inf
    assert match_fixed_points(empty, empty, ["x0"]) == math.inf


def test_bad_input():
    rng = np.random.default_rng(0)
    graph = ising(0.2)
    for arguments, message in (
        ({"n_starts": 0}, r"^n_starts must be a whole number, at least 1 where no starts are given, not 0$"),
        ({"n_starts": 1.5}, r"^n_starts must be a whole number, at least 1 where no starts are given, not 1\.5$"),
        ({"lean": 1.5}, r"^lean must be between 0 and 1, not 1\.5$"),
        ({"cluster_tol": 0.0}, r"^cluster_tol must be a finite number above zero, not 0\.0$"),
        ({"damping": 2.0}, r"^damping must be at least 0 and below 1, not 2\.0$"),
    ):
        with pytest.raises(InvalidInput, match=message):
            fixed_points(graph, **{"rng": rng, **arguments})
    found = fixed_points(graph, 1, rng=rng)
    with pytest.raises(InvalidInput, match=r"^variables: there is no variable 'x0'"):
        match_fixed_points(found, found, ["x0"])
    with pytest.raises(InvalidInput, match=r"^variables: there is nothing to compare fixed points on$"):
        match_fixed_points(found, found, [])
    wider = fixed_points(FactorGraph({"x00": 3}, {"f": (["x00"], [1, 2, 3])}), 1, rng=rng)
    with pytest.raises(InvalidInput, match=r"^variables: 'x00' has 2 values in one graph and 3 in the other$"):
        match_fixed_points(found, wider, ["x00"])
