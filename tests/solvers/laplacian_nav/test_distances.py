"""Read-outs of the spectrum and the heat kernel: what they are with all modes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GridWorld, make_world
from scisuite.solvers.laplacian_nav.distances import heat_kernel, truncated_distance
from scisuite.solvers.laplacian_nav.green import GreenPotential
from scisuite.solvers.laplacian_nav.modes import eigenmodes
from scisuite.solvers.laplacian_nav.operators import laplacian

ROOM = GridWorld(np.ones((5, 8), dtype=bool))
L = laplacian(ROOM.W)
LAM, PHI = eigenmodes(L, ROOM.n)
GOALS = [0, 17, 39]


def test_all_modes_give_greens_function_and_its_distances():
    G = np.linalg.pinv(L.toarray())
    np.testing.assert_allclose(truncated_distance(LAM, PHI, GOALS), G[:, GOALS], atol=1e-12)
    resistance = G.diagonal()[:, None] + G.diagonal() - 2 * G
    np.testing.assert_allclose(truncated_distance(LAM, PHI, GOALS, "resistance"), -resistance[:, GOALS], atol=1e-12)
    squared = G @ G
    biharmonic = squared.diagonal()[:, None] + squared.diagonal() - 2 * squared
    np.testing.assert_allclose(truncated_distance(LAM, PHI, GOALS, "biharmonic"), -biharmonic[:, GOALS], atol=1e-10)


def test_resistance_of_a_corridor_is_its_length():
    lam, Phi = eigenmodes(laplacian(GridWorld(np.ones((1, 9), dtype=bool)).W), 9)
    near = truncated_distance(lam, Phi, [2], kind="resistance")[:, 0]
    np.testing.assert_allclose(near, -np.abs(np.arange(9) - 2), atol=1e-12)


@pytest.mark.parametrize("kind", ["resistance", "biharmonic"])
def test_distances_peak_at_the_goal_whatever_the_number_of_modes(kind):
    for k in (3, 6, 20):
        near = truncated_distance(LAM[:k], PHI[:, :k], GOALS, kind=kind)
        assert (near <= 0).all()
        assert (near[GOALS, range(3)] == 0).all()


def test_the_truncated_potential_is_the_inner_product():
    few = GreenPotential(L, modes=6).potential(GOALS)
    np.testing.assert_allclose(truncated_distance(LAM[:7], PHI[:, :7], GOALS, kind="inner"), few, atol=1e-12)
    # The constant mode says nothing, whether it is there or not.
    np.testing.assert_array_equal(
        truncated_distance(LAM[1:7], PHI[:, 1:7], GOALS), truncated_distance(LAM[:7], PHI[:, :7], GOALS)
    )


@pytest.mark.parametrize("t", [0.0, 0.3, 7.0])
def test_the_heat_kernel_is_the_exponential(t):
    expected = expm(-t * L.toarray())[:, GOALS]
    np.testing.assert_allclose(heat_kernel(L, t, GOALS), expected, atol=1e-13)
    np.testing.assert_allclose(heat_kernel((LAM, PHI), t, GOALS), expected, atol=1e-13)
    np.testing.assert_allclose(heat_kernel(L, t, GOALS).sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize(
    ("lam", "Phi", "goals", "kind", "message"),
    [
        (LAM, PHI, [0], "euclid", "kind must be one of inner, resistance, biharmonic, not 'euclid'"),
        (LAM[:3], PHI, [0], "inner", "modes must be lam (K,) and Phi (n, K), not of shapes (3,) and (40, 40)"),
        ([1.0, np.nan], PHI[:, :2], [0], "inner", "modes must be finite"),
        (
            [0.0, -1.0],
            PHI[:, :2],
            [0],
            "inner",
            "no eigenvalue is positive: there is nothing to read a distance from",
        ),
        (LAM, PHI, [40], "inner", "goal 40 is not one of the 40 states"),
    ],
)
def test_what_is_no_spectrum_is_refused(lam, Phi, goals, kind, message):
    with pytest.raises(InvalidInput) as caught:
        truncated_distance(lam, Phi, goals, kind=kind)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("operator", "t", "message"),
    [
        (L, -1.0, "t must be a finite number of at least 0, not -1.0"),
        (L, np.inf, "t must be a finite number of at least 0, not inf"),
        (L, "1", "t must be a finite number of at least 0, not '1'"),
        (np.ones((2, 3)), 1.0, "L must be a square matrix, not of shape (2, 3)"),
        ((LAM, PHI[:, :2]), 1.0, "modes must be lam (K,) and Phi (n, K), not of shapes (40,) and (40, 2)"),
    ],
)
def test_the_heat_kernel_refuses_what_does_not_fit(operator, t, message):
    with pytest.raises(InvalidInput) as caught:
        heat_kernel(operator, t, [0])
    assert str(caught.value) == message


@pytest.mark.parametrize("t", [1e6, 1e12])
def test_heat_of_long_ago_is_even_and_cheap(t):
    ring = np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0)
    np.testing.assert_allclose(heat_kernel(laplacian(ring), t, [0]), 0.125, rtol=1e-12)


def test_modes_take_over_from_the_series_without_a_step():
    world = make_world("obstacles", 0, size=12)
    L = laplacian(world.W)
    t = 1e4 / L.diagonal().max()
    before, after = (heat_kernel(L, t * share, [0, 7]) for share in (1.0, 1.0 + 1e-9))
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-13)
