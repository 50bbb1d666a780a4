"""Eigenmodes: against closed forms, between methods, whole and in blocks."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import eye_array

from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.core.seeding import global_random_state_untouched
from scisuite.scenarios.nav import GridWorld
from scisuite.solvers.laplacian_nav import modes as modes_file
from scisuite.solvers.laplacian_nav.modes import eigenmodes
from scisuite.solvers.laplacian_nav.operators import laplacian

EXAMPLES = settings(max_examples=20, deadline=None)


def ring(n):
    return laplacian(GridWorld(np.ones((1, n), dtype=bool), periodic=True).W)


def box(height, width, **options):
    return laplacian(GridWorld(np.ones((height, width), dtype=bool), **options).W)


def cosines(n):
    """Eigenvalues and modes of a corridor of n cells with reflecting ends."""
    k, x = np.arange(n), np.arange(n)
    modes = np.cos(np.pi * np.outer(x + 0.5, k) / n)
    return 2 - 2 * np.cos(np.pi * k / n), modes / np.linalg.norm(modes, axis=0)


@pytest.mark.parametrize("method", ["eigh", "shift_invert", "lobpcg_amg"])
@pytest.mark.parametrize("n", [100, 101])
def test_a_ring_has_the_eigenvalues_of_its_fourier_modes(method, n):
    if method == "lobpcg_amg":
        pytest.importorskip("pyamg")
    lam, Phi = eigenmodes(ring(n), 9, method)
    m = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4])
    np.testing.assert_allclose(lam, 2 - 2 * np.cos(2 * np.pi * m / n), atol=1e-10)
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(9), atol=1e-10)
    np.testing.assert_allclose(ring(n) @ Phi, Phi * lam, atol=1e-7)


@pytest.mark.parametrize("method", ["eigh", "shift_invert"])
def test_modes_of_a_box_are_separable_cosines(method):
    height, width = 7, 11
    (down, rows), (along, columns) = cosines(height), cosines(width)
    expected = (down[:, None] + along).ravel()
    products = np.einsum("ai,bj->abij", rows, columns).reshape(height * width, -1)
    order = np.argsort(expected)[:20]
    assert np.diff(expected[np.argsort(expected)])[19] > 1e-6  # the block is not cut
    lam, Phi = eigenmodes(box(height, width), 20, method)
    np.testing.assert_allclose(lam, expected[order], atol=1e-12)
    np.testing.assert_allclose(Phi @ Phi.T, products[:, order] @ products[:, order].T, atol=1e-10)


def test_methods_agree_on_the_subspace_of_a_map_with_walls():
    pytest.importorskip("pyamg")
    free = np.random.default_rng(3).random((24, 24)) > 0.15
    L = laplacian(GridWorld(free).W)
    reference, Phi = eigenmodes(L, 12, "eigh")
    for method in ("shift_invert", "lobpcg_amg"):
        lam, other = eigenmodes(L, 12, method)
        np.testing.assert_allclose(lam, reference, atol=1e-9)
        overlap = np.linalg.svd(Phi.T @ other)[1]
        np.testing.assert_allclose(overlap, 1, atol=1e-9)


def test_each_component_has_its_constant_exactly():
    free = np.ones((4, 9), dtype=bool)
    free[:, 4] = False
    L = laplacian(GridWorld(free).W)
    lam, Phi = eigenmodes(L, 5)
    assert lam[:2].tolist() == [0.0, 0.0]
    assert lam[2] > 0.1
    np.testing.assert_array_equal(np.unique(Phi[:, :2]), [0.0, 0.25])
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(5), atol=1e-12)
    np.testing.assert_array_equal(eigenmodes(L, 1)[1], Phi[:, :1])


def test_every_copy_of_a_degenerate_eigenvalue_is_found_and_a_block_can_be_had_whole():
    # Single-vector Lanczos misses copies on this torus from its first start; the count of pivots tells it so.
    side = 40
    one = 2 - 2 * np.cos(2 * np.pi * np.arange(side) / side)
    expected = np.sort((one[:, None] + one).ravel())
    L = box(side, side, periodic=True)
    lam, Phi = eigenmodes(L, 30)
    np.testing.assert_allclose(lam, expected[:30], atol=1e-12)
    lam, Phi = eigenmodes(L, 30, whole=True)
    assert len(lam) == Phi.shape[1] == 37
    assert expected[36] - expected[29] < 1e-9 < 1e-3 < expected[37] - expected[36]
    # A whole block does not single out any cell: its projection looks the same from each of them.
    np.testing.assert_allclose(np.einsum("nk,nk->n", Phi, Phi), 37 / side**2, atol=1e-10)


def test_a_block_that_reaches_the_end_of_the_spectrum_is_whole():
    complete = laplacian(np.ones((6, 6)) - np.eye(6))
    lam, Phi = eigenmodes(complete, 2, whole=True)
    np.testing.assert_allclose(lam, [0] + [6] * 5, atol=1e-12)
    assert len(eigenmodes(complete, 1, whole=True)[0]) == 1
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(6), atol=1e-12)


@EXAMPLES
@given(st.integers(0, 2**32))
def test_all_modes_give_the_laplacian_back(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    W = np.triu(np.where(rng.random((n, n)) < 0.4, rng.exponential(size=(n, n)), 0.0), 1)
    W[0, 1] = 1.0
    L = laplacian(W + W.T)
    lam, Phi = eigenmodes(L, n)
    assert (lam >= 0).all()
    assert (np.diff(lam) >= 0).all()
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(n), atol=1e-10)
    np.testing.assert_allclose((Phi * lam) @ Phi.T, L.toarray(), atol=1e-11 * abs(L).max())


@pytest.mark.parametrize("method", ["eigh", "shift_invert", "lobpcg_amg"])
def test_the_same_matrix_gives_the_same_modes_and_no_global_random_number_is_drawn(method):
    if method == "lobpcg_amg":
        pytest.importorskip("pyamg")
    with global_random_state_untouched():
        first = eigenmodes(box(9, 12), 8, method)
    np.random.seed(1)
    second = eigenmodes(box(9, 12), 8, method)
    np.testing.assert_array_equal(first[1], second[1])
    peak = np.abs(first[1]).max(axis=0)
    assert all((first[1][:, k] >= (1 - 1e-5) * peak[k]).any() for k in range(8))


def test_the_walks_modes_come_from_the_symmetric_laplacian():
    W = np.array([[0, 1, 0, 0], [1, 0, 2, 0.5], [0, 2, 0, 0], [0, 0.5, 0, 0]])
    lam, psi = eigenmodes(laplacian(W, "sym"), 4)
    Phi = psi / np.sqrt(W.sum(axis=1))[:, None]
    np.testing.assert_allclose(laplacian(W, "rw") @ Phi, Phi * lam, atol=1e-12)


def test_large_graphs_are_given_to_the_method_that_fits(monkeypatch):
    called = []
    monkeypatch.setattr(modes_file, "_DENSE", 50)
    for name in ("_eigh", "_shift_invert", "_lobpcg"):
        monkeypatch.setattr(modes_file, name, lambda L, k, *_, name=name: called.append(name) or np.eye(100)[:, :k])
    eigenmodes(ring(100), 4)
    eigenmodes(ring(100), 40)
    monkeypatch.setattr(modes_file, "fits", lambda L: False)
    eigenmodes(ring(100), 4)
    assert called == ["_shift_invert", "_eigh", "_lobpcg"]


@pytest.mark.parametrize(
    ("k", "options", "message"),
    [
        (0, {}, "k must be a whole number from 1 to 9, the number of states, not 0"),
        (10, {}, "k must be a whole number from 1 to 9, the number of states, not 10"),
        (2.0, {}, "k must be a whole number from 1 to 9, the number of states, not 2.0"),
        (True, {}, "k must be a whole number from 1 to 9, the number of states, not True"),
        (2, {"method": "power"}, "method must be one of auto, eigh, shift_invert, lobpcg_amg, not 'power'"),
        (8, {"method": "shift_invert"}, "shift_invert finds at most n - 2 = 7 modes, not 8; use method='eigh'"),
        (4, {"method": "lobpcg_amg"}, "lobpcg_amg finds at most a fifth of all 9 modes, not 4; use method='eigh'"),
    ],
)
def test_bad_arguments_are_refused(k, options, message):
    with pytest.raises(InvalidInput) as caught:
        eigenmodes(box(3, 3), k, **options)
    assert str(caught.value) == message


def test_an_asymmetric_matrix_is_refused():
    with pytest.raises(InvalidInput, match=r"^L is not self-adjoint: L\[0, 1\] is -1 but L\[1, 0\] is -0\.5; one-way"):
        eigenmodes(laplacian([[0, 1, 0], [1, 0, 1], [0, 1, 0]], "rw"), 2)


def test_missed_modes_are_an_error_not_an_answer(monkeypatch):
    monkeypatch.setattr(modes_file, "_count_below", lambda L, level: 1_000)
    with pytest.raises(EngineFailure, match=r"^Lanczos missed modes of a degenerate eigenvalue among the first 6"):
        eigenmodes(box(6, 6), 6, "shift_invert")


def test_lobpcg_that_does_not_converge_is_an_error(monkeypatch):
    pytest.importorskip("pyamg")
    monkeypatch.setattr(modes_file, "_ROUNDS", 1)
    monkeypatch.setattr(modes_file, "vcycle", lambda A, needed_by: eye_array(A.shape[0]))
    with pytest.raises(EngineFailure, match=r"^LOBPCG did not converge to 6 modes: the largest residual is \d"):
        eigenmodes(box(20, 30), 6, "lobpcg_amg")


def test_lobpcg_without_pyamg_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamg", None)
    with pytest.raises(MissingDependency) as caught:
        eigenmodes(box(5, 6), 3, "lobpcg_amg")
    assert str(caught.value) == (
        "method='lobpcg_amg' needs pyamg, which is not installed; install it with: pip install \"scisuite[nav]\""
    )
