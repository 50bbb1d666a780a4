"""Bands of the spectrum: exact projections, whole degenerate pairs, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.bands import BoxBand, ModeBand, TorusBand, box_modes
from scisuite.solvers.laplacian_nav.gridness import grid_score


def dense_modes(height, width):
    W = GridWorld(np.ones((height, width), dtype=bool)).W.toarray()
    return np.linalg.eigh(np.diag(W.sum(1)) - W)


@settings(max_examples=20, deadline=None)
@given(height=st.integers(2, 7), width=st.integers(2, 7))
def test_box_modes_are_those_of_the_laplacian(height, width):
    W = GridWorld(np.ones((height, width), dtype=bool)).W.toarray()
    L = np.diag(W.sum(1)) - W
    lam, maps = box_modes((height, width), 0, height * width)
    Phi = maps.reshape(len(lam), -1).T
    np.testing.assert_allclose(L @ Phi, Phi * lam, atol=1e-10)
    np.testing.assert_allclose(Phi.T @ Phi, np.eye(len(lam)), atol=1e-10)
    np.testing.assert_allclose(lam, np.linalg.eigvalsh(L), atol=1e-10)


def test_a_product_of_cosines_whose_waves_cross_at_60_degrees_passes_for_a_grid():
    # 4 and 7 half waves: 2·atan(4/7) = 59.5 degrees. It is no fault of the score that it says so.
    lam, maps = box_modes((48, 48), 60, 62)
    assert lam[0] == pytest.approx(4 - 2 * np.cos(4 * np.pi / 48) - 2 * np.cos(7 * np.pi / 48))
    assert lam[1] == pytest.approx(lam[0])
    assert grid_score(maps[0]) == pytest.approx(0.88, abs=0.01)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_the_cosine_transform_projects_as_the_modes_do(seed, data):
    height, width = data.draw(st.integers(2, 7)), data.draw(st.integers(2, 7))
    lo = data.draw(st.integers(1, height * width - 1))
    hi = data.draw(st.integers(lo + 1, height * width))
    box = BoxBand(lo, hi, (height, width))
    modes = ModeBand(*dense_modes(height, width), lo, hi)
    h = np.random.default_rng(seed).standard_normal((height, width))
    projected = box.project(h)
    np.testing.assert_allclose(projected.ravel(), modes.project(h.ravel()), atol=1e-9)
    np.testing.assert_allclose(box.project(projected), projected, atol=1e-9)
    assert projected.mean() == pytest.approx(0, abs=1e-12)


def test_a_degenerate_pair_stays_whole():
    assert BoxBand(1, 2, (6, 6)).mask.sum() == 2
    assert ModeBand(*dense_modes(6, 6), 2, 3).modes.shape == (36, 2)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), down=st.integers(0, 11), along=st.integers(0, 11))
def test_the_torus_band_does_not_tell_places_apart(seed, down, along):
    band = TorusBand(2.5, size=12)
    h = np.random.default_rng(seed).random((12, 12))
    moved = band.project(np.roll(h, (down, along), axis=(0, 1)))
    np.testing.assert_allclose(moved, np.roll(band.project(h), (down, along), axis=(0, 1)), atol=1e-12)


def test_the_torus_gain_is_the_ring_of_the_brief():
    size, k0 = 48, 4.3
    band = TorusBand(k0, size)
    rows, columns = np.mgrid[:size, :size]
    gain = {}
    for wave in ((4, 0), (3, 3), (0, 5), (10, -3)):
        h = np.cos(2 * np.pi * (wave[0] * rows + wave[1] * columns) / size)
        out = band.project(h)
        gain[wave] = (out * h).sum() / (h * h).sum()
        np.testing.assert_allclose(out, gain[wave] * h, atol=1e-12)
    ideal = {wave: np.exp(-(((np.hypot(*wave) - k0) / 0.8) ** 2)) for wave in gain}
    for wave in gain:
        assert gain[wave] / gain[(3, 3)] == pytest.approx(ideal[wave] / ideal[(3, 3)], abs=1e-12)
    assert band.gain.max() == 1
    assert np.abs(band.project(np.ones((size, size)))).max() < 1e-15


def test_a_narrow_gain_keeps_its_nearest_ring():
    assert TorusBand(4.5, width=1e-3).gain.max() == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TorusBand(24), "k0 must lie between 0 and half of the 48 cells, not 24"),
        (lambda: TorusBand(float("nan")), "k0 must lie between 0 and half of the 48 cells, not nan"),
        (lambda: TorusBand(5, width=0), "width must be above 0, not 0"),
        (lambda: BoxBand(0, 5, (4, 4)), "a band of 16 modes needs 1 <= lo < hi <= 16, not lo=0, hi=5"),
        (lambda: BoxBand(3, 17, (4, 4)), "a band of 16 modes needs 1 <= lo < hi <= 16, not lo=3, hi=17"),
        (lambda: BoxBand(3, 3, (4, 4)), "a band of 16 modes needs 1 <= lo < hi <= 16, not lo=3, hi=3"),
        (lambda: BoxBand(1, 3, (4, 4, 4)), "a box has a number of rows and of columns, not (4, 4, 4)"),
        (lambda: box_modes((4, 4), -1, 3), "a band of 16 modes needs 0 <= lo < hi <= 16, not lo=-1, hi=3"),
        (
            lambda: ModeBand(np.arange(3), np.ones((5, 2)), 1, 2),
            "modes of shape (5, 2) do not go with eigenvalues of shape (3,)",
        ),
    ],
)
def test_what_is_no_band_is_refused(make, message):
    with pytest.raises(InvalidInput) as caught:
        make()
    assert str(caught.value) == message
