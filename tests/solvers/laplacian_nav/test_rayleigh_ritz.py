"""Modes from the covariances of features."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scisuite.core import EngineFailure, generator
from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.pairs import DistinctPairs
from scisuite.solvers.laplacian_nav.rayleigh_ritz import laplacian_eigenvalues, rayleigh_ritz

MAPS = arrays(np.bool_, st.tuples(st.integers(2, 4), st.integers(2, 4))).filter(lambda free: free.sum() > 2)


def every_move(world):
    """Each action of each state once: the pairs of the walk in exact proportion."""
    n_actions = world.moves.shape[1]
    states = np.arange(world.n, dtype=np.float32)[:, None]
    return DistinctPairs.of(np.repeat(states, n_actions, axis=0), states[world.moves.ravel()])


@given(MAPS, st.integers(0, 100))
def test_with_features_that_span_everything_it_gives_the_laplacian_s_eigenvalues(free, seed):
    world = GridWorld(free)
    pairs = every_move(world)
    features = generator(seed, "features").standard_normal((world.n, world.n + 1))
    eta, weights = rayleigh_ritz(features, pairs, world.n - 1)
    laplacian = np.diag(world.W.toarray().sum(axis=0)) - world.W.toarray()
    expected = np.linalg.eigvalsh(laplacian)[1:]
    assert np.allclose(laplacian_eigenvalues(eta, 0.0, 4), np.maximum(expected, 4e-9), atol=1e-7)
    modes = np.column_stack([np.ones(world.n), features]) @ weights
    assert np.allclose(modes.T @ modes / world.n, np.eye(world.n - 1), atol=1e-6)
    assert np.allclose(modes.sum(axis=0), 0.0, atol=1e-5)


def test_a_linear_map_of_the_features_changes_nothing():
    pairs = every_move(GridWorld(np.ones((3, 4), dtype=bool)))
    rng = generator(1, "features")
    features, mixing = rng.standard_normal((12, 5)), rng.standard_normal((5, 5))
    eta, _ = rayleigh_ritz(features, pairs, 5)
    mixed, _ = rayleigh_ritz(features @ mixing * 1e-3 + 7.0, pairs, 5)
    assert np.allclose(eta, mixed, atol=1e-7)


def test_collapsed_features():
    pairs = every_move(GridWorld(np.ones((3, 4), dtype=bool)))
    one = np.arange(12.0)[:, None] * np.ones(6)
    with pytest.raises(
        EngineFailure, match=r"^the features span 1 dimensions beside the constant, fewer than the k = 3"
    ):
        rayleigh_ritz(one, pairs, 3)


@given(st.floats(-1, 0.999), st.sampled_from([0.0, 0.5, 0.9, 0.99]))
def test_the_average_over_lags_is_taken_back(mu, gamma):
    eta = (1 - gamma) * mu / (1 - gamma * mu)
    assert laplacian_eigenvalues([eta], gamma, 4)[0] == pytest.approx(4 * (1 - mu), rel=1e-6, abs=1e-9)


def test_noise_cannot_make_an_eigenvalue_impossible():
    lam = laplacian_eigenvalues([1.5, 1.0, -0.9], 0.9, 4)
    assert (lam > 0).all()
    assert lam[-1] == pytest.approx(8.0)
