"""The grid score: what ideal lattices have, what it is blind to, and where it says that there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from scisuite.core import InvalidInput
from scisuite.solvers.laplacian_nav.gridness import (
    autocorrelogram,
    grid_score,
    gridness,
    stripe_fraction,
    wave_share,
)


def waves(directions, wavelength, size=48, phase=(0.0, 0.0), turn=0.0):
    """Sum of plane waves whose directions are given in degrees."""
    rows, columns = np.mgrid[:size, :size] - np.array(phase)[:, None, None]
    total = np.zeros((size, size))
    for angle in np.deg2rad(np.array(directions) + turn):
        total += np.cos(2 * np.pi * (np.cos(angle) * rows + np.sin(angle) * columns) / wavelength)
    return total


HEXAGON, SQUARE, STRIPES = (0, 60, 120), (0, 90), (0,)


def smooth(seed, shape=(30, 30), width=2.0):
    return gaussian_filter(np.random.default_rng(seed).standard_normal(shape), width, mode="wrap")


@pytest.mark.parametrize("wavelength", [8.0, 9.6, 12.0])
@pytest.mark.parametrize("turn", [0.0, 11.0, 27.0])
def test_ideal_lattices(wavelength, turn):
    phase = (3.3, 1.7)
    assert grid_score(waves(HEXAGON, wavelength, phase=phase, turn=turn)) == pytest.approx(1.5, abs=0.08)
    assert grid_score(waves(SQUARE, wavelength, phase=phase, turn=turn)) == pytest.approx(-0.95, abs=0.04)
    assert grid_score(waves(STRIPES, wavelength, phase=phase, turn=turn)) == pytest.approx(0.15, abs=0.05)


def test_rectified_hexagon_still_scores_high():
    assert grid_score(np.maximum(waves(HEXAGON, 10, turn=7), 0)) > 1.2


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), turns=st.integers(1, 3), walled=st.booleans())
def test_unchanged_by_turning_the_map_by_right_angles(seed, turns, walled):
    rates = smooth(seed, (30, 26))
    if walled:
        rates[5:9, 3:20] = np.nan
    assert grid_score(np.rot90(rates, turns)) == pytest.approx(grid_score(rates), abs=1e-6, nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), gain=st.floats(1e-6, 1e6), offset=st.floats(-10, 10))
def test_unchanged_by_unit_and_by_mirror(seed, gain, offset):
    rates = smooth(seed)
    found = grid_score(rates)
    assert grid_score(gain * (rates + offset)) == pytest.approx(found, abs=1e-4, nan_ok=True)
    assert grid_score(rates[:, ::-1]) == pytest.approx(found, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("walled", [False, True])
def test_autocorrelogram_is_the_correlation_of_what_overlaps(walled):
    rates = smooth(3, (9, 12), 1.0)
    if walled:
        rates[2:4, 5:] = np.nan
    found = autocorrelogram(rates)
    assert found.shape == (17, 23)
    for down in range(-8, 9):
        for along in range(-11, 12):
            x = rates[max(0, down) : 9 + min(0, down), max(0, along) : 12 + min(0, along)]
            y = rates[max(0, -down) : 9 + min(0, -down), max(0, -along) : 12 + min(0, -along)]
            both = np.isfinite(x) & np.isfinite(y)
            value = found[8 + down, 11 + along]
            if both.sum() <= 20:
                assert np.isnan(value)
            else:
                assert value == pytest.approx(np.corrcoef(x[both], y[both])[0, 1], abs=1e-9)


def test_autocorrelogram_is_one_in_the_middle_and_symmetric():
    found = autocorrelogram(smooth(1))
    assert found[29, 29] == pytest.approx(1)
    np.testing.assert_allclose(found, found[::-1, ::-1], atol=1e-9)


def test_no_score_rather_than_a_misleading_one():
    assert np.isnan(grid_score(np.full((20, 20), 3.0)))
    assert np.isnan(grid_score(np.full((20, 20), np.nan)))
    assert np.isnan(grid_score(np.ones((2, 2))))
    ramp = np.arange(400.0).reshape(20, 20)
    assert np.isnan(grid_score(ramp)), "no minimum of the radial mean"
    assert np.isnan(grid_score(waves(HEXAGON, 24.0))), "two wavelengths in the map"
    assert grid_score(waves(HEXAGON, 18.0)) > 1, "2.7 wavelengths"


def test_a_single_field_has_no_score():
    rows, columns = np.mgrid[:48, :48]
    field = np.exp(-((rows - 20) ** 2 + (columns - 29) ** 2) / (2 * 6.0**2))
    assert not grid_score(field) > 0.3


def test_annulus_lies_where_the_first_ring_of_peaks_is():
    found = gridness(waves(HEXAGON, 12.0, turn=5))
    assert found.inner == pytest.approx(0.61 * 12, abs=1)
    assert found.outer >= 1.1 * 12
    assert found.score == grid_score(waves(HEXAGON, 12.0, turn=5))


def test_walls_do_not_hide_a_hexagon():
    rates = waves(HEXAGON, 10.0, turn=13)
    rates[20:22, :30] = np.nan
    assert grid_score(rates) > 1.2


def test_stripes_are_told_from_lattices():
    stripes = [waves(STRIPES, 9.0, turn=turn) for turn in (0, 33)] + [np.maximum(waves(STRIPES, 12.0, turn=8), 0)]
    others = [waves(SQUARE, 9.0, turn=5), waves(HEXAGON, 9.6, turn=21), np.maximum(waves(HEXAGON, 12.0), 0)]
    assert stripe_fraction(stripes) == 1
    assert stripe_fraction(others) == 0
    assert stripe_fraction([stripes[0], *others]) == 0.25
    assert wave_share(others[1]) == pytest.approx(1 / 3, abs=0.05)
    assert np.isnan(wave_share(np.ones((9, 9))))


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        (np.ones(5), "a rate map must be real and of shape (H, W), not float64 of shape (5,)"),
        (np.ones((3, 3), complex), "a rate map must be real and of shape (H, W), not complex128 of shape (3, 3)"),
        (np.ones((0, 3)), "a rate map must be real and of shape (H, W), not float64 of shape (0, 3)"),
        (np.full((3, 3), np.inf), "a rate map must not hold infinite rates; mark bins without a rate by NaN"),
    ],
)
@pytest.mark.parametrize("function", [grid_score, autocorrelogram, wave_share])
def test_what_is_no_rate_map_is_refused(function, rates, message):
    with pytest.raises(InvalidInput) as caught:
        function(rates)
    assert str(caught.value) == message


def test_ratinabox_cells_pass_through_the_same_score():
    pytest.importorskip("ratinabox")
    from ratinabox import Agent, Environment
    from ratinabox.Neurons import GridCells, PlaceCells

    state = np.random.get_state()
    try:
        np.random.seed(0)  # RatInABox draws from NumPy's global generator
        world = Environment({"dx": 0.02})
        rat = Agent(world)
        side = world.discrete_coords.shape[:2]
        grids = GridCells(
            rat,
            {
                "n": 5,
                "gridscale": np.full(5, 0.3),
                "orientation": np.linspace(0, 0.9, 5),
                "phase_offset": np.random.uniform(0, 6, (5, 2)),
            },
        )
        places = [
            PlaceCells(rat, {"n": 10, "widths": 0.1, "description": shape})
            for shape in ("gaussian", "gaussian_threshold")
        ]
        grid_maps = grids.get_state(evaluate_at="all").reshape(-1, *side)
        place_maps = np.concatenate([cells.get_state(evaluate_at="all") for cells in places]).reshape(-1, *side)
    finally:
        np.random.set_state(state)
    assert min(grid_score(rates) for rates in grid_maps) > 1.4
    assert not any(grid_score(rates) > 0.3 for rates in place_maps), "low, or none at all"
