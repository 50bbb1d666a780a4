"""Sparse factors: that small entries keep their digits, and how much memory is foreseen."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array, eye_array

from scisuite.core import EngineFailure
from scisuite.scenarios.nav import GridWorld
from scisuite.solvers.laplacian_nav import direct
from scisuite.solvers.laplacian_nav.direct import estimated_bytes, factorise, fits
from scisuite.solvers.laplacian_nav.operators import laplacian


def test_the_smallest_entry_is_as_accurate_as_the_largest():
    n, eps = 250, 10.0
    A = laplacian(GridWorld(np.ones((1, n), dtype=bool)).W) + eps * eye_array(n)
    delta = np.zeros(n)
    delta[0] = 1.0
    x = factorise(A).solve(delta)
    rate = np.arccosh(1 + eps / 2)
    expected = np.cosh(rate * (n - np.arange(n) - 0.5))
    assert x[-1] < 1e-250
    np.testing.assert_allclose(x / x[0], expected / expected[0], rtol=1e-11)


@pytest.mark.parametrize("shape", [(100, 100), (2, 8_000)])
def test_the_estimate_is_of_the_right_size_on_maps(shape):
    L = laplacian(GridWorld(np.ones(shape, dtype=bool)).W)
    entries = (estimated_bytes(L) - 400.0 * L.shape[0]) / 16
    assert 0.5 < entries / factorise(L + eye_array(L.shape[0])).nnz < 2.0


def test_the_estimate_is_of_the_right_size_where_there_are_no_small_cuts():
    n = 5_000
    graph = nx.random_regular_graph(4, n, seed=0)
    L = laplacian(nx.to_scipy_sparse_array(graph, dtype=float))
    entries = (estimated_bytes(L) - 400.0 * n) / 16
    assert entries > 0.05 * n**2


def test_small_components_are_left_out_of_the_estimate():
    parts = GridWorld(np.random.default_rng(0).random((100, 100)) > 0.4)
    whole = estimated_bytes(laplacian(GridWorld(np.ones((100, 100), dtype=bool)).W))
    assert 400.0 * parts.n < estimated_bytes(laplacian(parts.W)) < whole


def test_small_graphs_are_factorised_without_a_probe(monkeypatch):
    monkeypatch.setattr(direct, "factorise", None)
    assert fits(laplacian(GridWorld(np.ones((60, 60), dtype=bool)).W))


def test_a_singular_matrix_is_an_engine_failure():
    with pytest.raises(EngineFailure, match=r"^the sparse factorisation of 2 states failed: Factor is exactly sing"):
        factorise(csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]])))


def test_factors_that_do_not_fit_name_the_other_solver(monkeypatch):
    def full(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr("scipy.sparse.linalg.splu", full)
    with pytest.raises(EngineFailure, match=r"^the sparse factors of 3 states do not fit into memory; use solv"):
        factorise(csr_array(np.eye(3)))
