"""Laplacians: what they do to constants, that they are positive semidefinite, and which matrices are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, csr_matrix

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GridWorld
from scisuite.solvers.laplacian_nav.operators import (
    as_laplacian,
    can_reach,
    check_laplacian,
    check_states,
    check_weights,
    laplacian,
)

PATH = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]], dtype=float)
EXAMPLES = settings(max_examples=25, deadline=None)


def random_weights(seed):
    """Symmetric weights over four decades, with self-loops and perhaps in several parts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    W = np.where(rng.random((n, n)) < 0.3, 10 ** rng.uniform(-2, 2, (n, n)), 0.0)
    W[0, 1] = 1.0
    return W + W.T


@EXAMPLES
@given(st.integers(0, 2**32))
def test_constants_are_mapped_to_zero_and_the_form_is_a_sum_of_squares(seed):
    W = random_weights(seed)
    L = laplacian(W)
    scale = abs(L).max()
    np.testing.assert_allclose(L.sum(axis=1), 0, atol=1e-13 * scale)
    x = np.random.default_rng(seed).standard_normal(len(W))
    form = 0.5 * (W * (x[:, None] - x) ** 2).sum()
    np.testing.assert_allclose(x @ (L @ x), form, rtol=1e-9)
    assert np.linalg.eigvalsh(L.toarray()).min() > -1e-12 * scale


@EXAMPLES
@given(st.integers(0, 2**32))
def test_the_three_kinds_share_their_spectrum_up_to_similarity(seed):
    W = random_weights(seed)
    degree = W.sum(axis=1)
    rw, sym = laplacian(W, "rw").toarray(), laplacian(W, "sym").toarray()
    used = degree > 0
    expected = np.eye(int(used.sum())) - W[np.ix_(used, used)] / degree[used, None]
    np.testing.assert_allclose(rw[np.ix_(used, used)], expected, atol=1e-12)
    np.testing.assert_allclose(rw.sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(sym, sym.T, atol=1e-14)
    lam, psi = np.linalg.eigh(sym[np.ix_(used, used)])
    modes = psi / np.sqrt(degree[used, None])
    np.testing.assert_allclose(rw[np.ix_(used, used)] @ modes, modes * lam, atol=1e-10 * np.abs(modes).max())


def test_a_self_loop_leaves_the_combinatorial_laplacian_and_enters_the_walk():
    looped = PATH + np.diag([3.0, 0, 0])
    np.testing.assert_array_equal(laplacian(looped).toarray(), laplacian(PATH).toarray())
    assert laplacian(looped, "rw").toarray()[0].tolist() == [0.25, -0.25, 0]


def test_walls_reflect_and_a_two_wide_torus_has_double_edges():
    corridor = laplacian(GridWorld(np.ones((1, 4), dtype=bool)).W).toarray()
    assert corridor.diagonal().tolist() == [1, 2, 2, 1]
    ring = laplacian(GridWorld(np.ones((1, 2), dtype=bool), periodic=True).W).toarray()
    assert ring.tolist() == [[2, -2], [-2, 2]]


def test_any_format_is_taken_and_the_callers_matrix_is_left_alone():
    doubled = coo_array(([1.0, 1.0, 2.0, 0.0], ([0, 0, 1, 1], [1, 1, 0, 1])), shape=(2, 2))
    held = csr_array(([1.0, 1.0, 2.0, 0.0], [1, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    for given_W in (doubled, held, csr_matrix([[0, 2], [2, 0]]), [[0, 2], [2, 0]]):
        weights = check_weights(given_W)
        assert weights.format == "csr"
        assert weights.dtype == np.float64
        assert weights.toarray().tolist() == [[0, 2], [2, 0]]
    assert held.nnz == 4


@pytest.mark.parametrize(
    ("W", "message"),
    [
        (np.ones((3, 4)), "W must be a square matrix, not of shape (3, 4)"),
        (np.ones(3), "W must be a square matrix, not of shape (3,)"),
        (np.empty((0, 0)), "W must be a square matrix, not of shape (0, 0)"),
        ([["a"]], "W must hold real numbers, not <U1"),
        (PATH * 1j, "W must hold real numbers, not complex128"),
        ([[0, np.nan], [np.nan, 0]], "W must be finite and not negative, but W[0, 1] is nan"),
        ([[0, 1, 0], [1, 0, -2], [0, -2, 0]], "W must be finite and not negative, but W[1, 2] is -2"),
        ([[0, np.inf], [np.inf, 0]], "W must be finite and not negative, but W[0, 1] is inf"),
        (np.zeros((3, 3)), "the graph has no edges"),
        (np.eye(3), "the graph has no edges"),
        (
            [[0, 1, 0], [1, 0, 1], [0, 0, 0]],
            "L is not self-adjoint: W[1, 2] is 1 but W[2, 1] is 0; one-way moves are for DiscountedWalk",
        ),
    ],
)
def test_what_is_no_graph_is_refused(W, message):
    with pytest.raises(InvalidInput) as caught:
        laplacian(W)
    assert str(caught.value) == message


def test_directed_weights_pass_where_they_are_allowed():
    assert check_weights([[0, 1], [0, 0]], symmetric=False).nnz == 1


def test_an_unknown_kind_is_refused():
    with pytest.raises(InvalidInput, match=r"^kind must be one of comb, rw, sym, not 'normalised'$"):
        laplacian(PATH, "normalised")


@pytest.mark.parametrize(
    ("L", "message"),
    [
        (PATH, "L is not a Laplacian: an entry beside the diagonal is positive; build L with laplacian(W)"),
        (np.eye(3), "L is not a Laplacian: a row does not sum to zero; build L with laplacian(W)"),
        (np.zeros((2, 2)), "the graph has no edges"),
        ([[1, -1], [-1, np.inf]], "L must be finite, but L[1, 1] is inf"),
        (
            laplacian([[0, 1], [1, 0]], "rw").toarray() * [[1], [2]],
            "L is not self-adjoint: L[0, 1] is -1 but L[1, 0] is -2; one-way moves are for DiscountedWalk",
        ),
    ],
)
def test_what_is_no_laplacian_is_refused(L, message):
    with pytest.raises(InvalidInput) as caught:
        check_laplacian(L)
    assert str(caught.value) == message


def test_a_world_gives_its_laplacian_unless_it_has_one_way_doors():
    free = np.ones((1, 3), dtype=bool)
    assert as_laplacian(GridWorld(free)).toarray().tolist() == [[1, -1, 0], [-1, 2, -1], [0, -1, 1]]
    closed = np.zeros((1, 3, 4), dtype=bool)
    closed[0, 1, 3] = True
    with pytest.raises(InvalidInput, match=r"^L is not self-adjoint: W\[0, 1\] is 1 but W\[1, 0\] is 0; one-way"):
        as_laplacian(GridWorld(free, closed=closed))


def test_states_are_whole_numbers_of_the_graph():
    assert check_states(2, 3).tolist() == [2]
    assert check_states([], 3).tolist() == []
    for given_states, message in (
        ([0, 3], "goal 3 is not one of the 3 states"),
        (-1, "goal -1 is not one of the 3 states"),
        ([0.0], "goals must be whole numbers in one dimension, not float64 of shape (1,)"),
        ([[0]], "goals must be whole numbers in one dimension, not int64 of shape (1, 1)"),
    ):
        with pytest.raises(InvalidInput) as caught:
            check_states(given_states, 3)
        assert str(caught.value) == message


def test_reachability_follows_the_direction_of_the_edges():
    edges = csr_array(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]))
    assert can_reach(edges, 2).tolist() == [True, True, True, True]
    assert can_reach(edges, 1).tolist() == [True, True, False, False]
    assert can_reach(edges, [0, 3]).tolist() == [True, False, False, True]
    assert can_reach(edges, []).tolist() == [False] * 4
