"""Place, grid, head-direction and conjunctive codes: their equations, and that the grids are grids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.bands import BoxBand, ModeBand, TorusBand, box_modes
from scisuite.solvers.laplacian_nav.codes import (
    band_iteration,
    conjunctive,
    grid_cells,
    head_direction,
    nonnegative_factor,
    place_cells,
)
from scisuite.solvers.laplacian_nav.gridness import grid_score, stripe_fraction


def box_laplacian(height, width):
    W = GridWorld(np.ones((height, width), dtype=bool)).W.toarray()
    return np.diag(W.sum(1)) - W


def test_place_cells_are_columns_of_the_two_kernels():
    L = box_laplacian(5, 6)
    centres = [0, 13, 29]
    np.testing.assert_allclose(place_cells(L, centres, t=1.7), expm(-1.7 * L)[:, centres], atol=1e-12)
    np.testing.assert_allclose(
        place_cells(L, centres, eps=0.3), np.linalg.inv(L + 0.3 * np.eye(30))[:, centres], atol=1e-12
    )
    np.testing.assert_array_equal(place_cells(L, [4], t=0)[:, 0], np.eye(30)[4])


@settings(max_examples=10, deadline=None)
@given(t=st.floats(0.5, 9))
def test_a_field_grows_with_the_root_of_its_time(t):
    # In the open a walk that leaves by each of its edges at rate 1 has a mean square displacement of 4t.
    L = box_laplacian(41, 41)
    field = place_cells(L, [41 * 20 + 20], t=t)[:, 0].reshape(41, 41)
    rows, columns = np.mgrid[-20:21, -20:21]
    assert field.sum() == pytest.approx(1, abs=1e-9)
    assert (field * (rows**2 + columns**2)).sum() == pytest.approx(4 * t, rel=1e-3)


def test_a_field_does_not_reach_through_a_wall():
    free = np.ones((9, 9), dtype=bool)
    free[:8, 4] = False
    world = GridWorld(free)
    field = world.to_map(place_cells(world, [world.state((0, 3))], t=4.0)[:, 0])
    assert field[0, 1] > 100 * field[0, 5] > 0


def test_a_few_non_negative_cells_stand_for_all():
    kernel = place_cells(box_laplacian(8, 8), np.arange(64), t=1.0)
    few, more = (nonnegative_factor(kernel, k, seed=0) for k in (9, 32))
    errors = [np.linalg.norm(kernel - H @ H.T) / np.linalg.norm(kernel) for H in (few, more)]
    assert min(few.min(), more.min()) >= 0
    # No 9 components of any sign come nearer than 0.313.
    assert 0.313 < errors[0] < 0.36
    assert errors[1] < 0.07
    np.testing.assert_array_equal(few, nonnegative_factor(kernel, 9, seed=0))
    assert not np.array_equal(few, nonnegative_factor(kernel, 9, seed=1))


def test_non_negative_torus_cells_are_hexagonal_and_unconstrained_ones_are_not():
    band = TorusBand(6)
    cells = [grid_cells(band, seed) for seed in range(8)]
    scores = np.array([grid_score(cell) for cell in cells])
    assert min(cell.min() for cell in cells) == 0
    assert np.linalg.norm(cells, axis=(1, 2)) == pytest.approx(np.ones(8))
    assert np.median(scores) > 1.4
    # What is not a hexagon is stripes: the iteration's other fixed point.
    assert stripe_fraction(cells) == (scores < 1).mean() < 0.5
    free = [grid_score(grid_cells(band, seed, nonnegative=False)) for seed in range(8)]
    assert np.median(free) < 0


def test_box_cells_score_above_their_unconstrained_and_raw_counterparts():
    band = BoxBand(60, 110)
    cells = [grid_score(grid_cells(band, seed)) for seed in range(8)]
    free = [grid_score(grid_cells(band, seed, nonnegative=False)) for seed in range(8)]
    raw = [grid_score(mode) for mode in box_modes((48, 48), 60, 110)[1]]
    assert np.median(cells) > 0.5
    assert max(np.median(free), np.median(raw)) < 0.3


def test_the_cosine_band_and_the_modes_make_the_same_cell():
    lam, Phi = np.linalg.eigh(box_laplacian(10, 12))
    by_modes = grid_cells(ModeBand(lam, Phi, 9, 20), seed=5, iterations=3)
    start = np.random.default_rng(0).random((10, 12))
    box, modes = BoxBand(9, 20, (10, 12)), ModeBand(lam, Phi, 9, 20)
    a = band_iteration(box.project, start, iterations=20)
    b = band_iteration(modes.project, start.ravel(), iterations=20)
    np.testing.assert_allclose(a.ravel(), b, atol=1e-9)
    assert by_modes.shape == (120,)


def test_the_unconstrained_iteration_ends_in_the_strongest_modes():
    cell = grid_cells(TorusBand(6), 0, nonnegative=False)
    power = np.abs(np.fft.fft2(cell)) ** 2
    strongest = power[[6, 0], [0, 6]].sum() + power[[-6, 0], [0, -6]].sum()
    assert strongest > 0.99 * power.sum()


def test_one_step_is_the_iteration_of_the_brief():
    band = TorusBand(2, size=8)
    h = np.random.default_rng(0).random((8, 8))
    c = np.full(64, 1 / 8)
    wanted = np.maximum(band.project(h) + 0.6 * (c * (c @ h.ravel())).reshape(8, 8), 0)
    np.testing.assert_allclose(band_iteration(band.project, h, iterations=1), wanted / np.linalg.norm(wanted))


def test_same_seed_same_cell():
    np.testing.assert_array_equal(grid_cells(BoxBand(5, 9, (8, 8)), 3), grid_cells(BoxBand(5, 9, (8, 8)), 3))
    assert not np.array_equal(grid_cells(BoxBand(5, 9, (8, 8)), 3), grid_cells(BoxBand(5, 9, (8, 8)), 4))


@settings(max_examples=20, deadline=None)
@given(n=st.integers(3, 30), data=st.data())
def test_head_direction_modes_are_those_of_the_ring(n, data):
    harmonics = data.draw(st.integers(0, n // 2))
    lam, Phi = head_direction(n, harmonics)
    L = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    np.testing.assert_allclose(L @ Phi, Phi * lam, atol=1e-10)
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(len(lam)), atol=1e-10)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(L)[: len(lam)], atol=1e-10)


def test_a_heading_cell_has_one_bump():
    lam, Phi = head_direction(36, 1)
    cell = grid_cells(ModeBand(lam, Phi, 1, 3), seed=0)
    turned = np.roll(cell, 18 - int(cell.argmax()))
    assert (np.diff(turned[:19]) >= -1e-12).all()
    assert (np.diff(turned[18:]) <= 1e-12).all()
    assert (cell == 0).any()


@settings(max_examples=15, deadline=None)
@given(kappa=st.floats(0.1, 5), k=st.integers(1, 60))
def test_conjunctive_modes_are_those_of_the_kronecker_sum(kappa, k):
    L_xy = box_laplacian(3, 4)
    n = 5
    L_theta = 2 * np.eye(n) - np.roll(np.eye(n), 1, axis=0) - np.roll(np.eye(n), -1, axis=0)
    lam, Phi = conjunctive(np.linalg.eigh(L_xy), head_direction(n, 2), kappa, k)
    L = np.kron(L_xy, np.eye(n)) + kappa * np.kron(np.eye(12), L_theta)
    np.testing.assert_allclose(L @ Phi, Phi * lam, atol=1e-9)
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(k), atol=1e-9)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(L)[:k], atol=1e-9)


def test_conjunctive_modes_are_not_guessed_from_too_few():
    lam, Phi = np.linalg.eigh(box_laplacian(4, 4))
    few = lam[:3], Phi[:, :3]
    assert conjunctive(few, head_direction(6, 3), 1.0, 2)[0][1] == pytest.approx(lam[1])
    with pytest.raises(InvalidInput, match="^the 8 smallest sums need more than the place modes given$"):
        conjunctive(few, head_direction(6, 3), 1.0, 8)
    with pytest.raises(InvalidInput, match="^the 5 smallest sums need more than the heading modes given$"):
        conjunctive((lam, Phi), head_direction(6, 1), 0.01, 5)


L9 = box_laplacian(3, 3)
RING = head_direction(6, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: place_cells(L9, [0]), "place cells need either t or eps"),
        (lambda: place_cells(L9, [0], t=1, eps=1), "place cells need either t or eps"),
        (lambda: place_cells(L9, [0], t=-1), "t must be a finite number of at least 0, not -1"),
        (lambda: place_cells(L9, [0], eps=0), "eps must be above 0 for a place cell, not 0"),
        (lambda: place_cells(L9, [9], t=1), "centre 9 is not one of the 9 states"),
        (
            lambda: place_cells(L9, [0.0], eps=1),
            "centres must be whole numbers in one dimension, not float64 of shape (1,)",
        ),
        (
            lambda: nonnegative_factor(-np.eye(3), 2, 0),
            "the kernel must be a square, symmetric matrix without negative entries",
        ),
        (lambda: nonnegative_factor(np.eye(3), 4, 0), "components must be in 1 … 3, not 4"),
        (lambda: grid_cells(TorusBand(5), 0, constant=1), "constant must lie between 0 and 1, not 1"),
        (lambda: grid_cells(TorusBand(5), 0, iterations=0), "iterations must be at least 1, not 0"),
        (
            lambda: band_iteration(TorusBand(5).project, np.full((48, 48), np.nan), iterations=1),
            "the start of a band iteration must be finite",
        ),
        (
            lambda: band_iteration(TorusBand(5).project, np.zeros((48, 48)), iterations=1),
            "the start of a band iteration has no part in the band",
        ),
        (lambda: head_direction(2, 1), "a ring needs at least 3 headings, not 2"),
        (lambda: head_direction(6, 4), "harmonics must be in 0 … 3 for 6 headings, not 4"),
        (lambda: conjunctive(RING, RING, 0, 3), "kappa must be a finite number above 0, not 0"),
        (lambda: conjunctive(RING, RING, 1, 37), "k must be in 1 … 36, the number of pairs of modes given, not 37"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(InvalidInput) as caught:
        call()
    assert str(caught.value) == message
