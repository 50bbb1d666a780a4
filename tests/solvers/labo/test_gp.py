"""The shared Gaussian process: against scipy's density, against botorch's posterior, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import lognorm, multivariate_normal

from scisuite.core import InvalidInput
from scisuite.solvers.labo.gp import (
    NOISE_VARIANCES,
    PRIOR_TEMPERATURE,
    RELATIVE_LENGTH_SCALES,
    GridGP,
    Hyperparameters,
    average_duplicates,
    grid,
    log_marginal_likelihoods,
    log_prior,
)


def data(seed, n, d):
    rng = np.random.default_rng(seed)
    x = rng.random((n, d))
    return x, 3.0 + 20 * (np.sin(4 * x).sum(1) + 0.3 * rng.standard_normal(n)), rng


def covariance(x, hyperparameters):
    squared = np.square(x[:, None, :] - x[None, :, :]).sum(-1)
    return np.exp(-squared / (2 * hyperparameters.length_scale**2)) + hyperparameters.noise * np.eye(len(x))


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), d=st.integers(1, 6))
def test_every_log_marginal_likelihood_of_the_grid_is_scipys_density(seed, n, d):
    x, y, _ = data(seed, n, d)
    z = (y - y.mean()) / (y.std() or 1.0)
    ours = log_marginal_likelihoods(torch.from_numpy(x), torch.from_numpy(z), grid(d)).numpy()
    theirs = [multivariate_normal(np.zeros(n), covariance(x, h)).logpdf(z) for h in grid(d)]
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 30), d=st.integers(1, 6))
def test_the_fit_takes_the_best_of_likelihood_times_prior(seed, n, d):
    x, y, _ = data(seed, n, d)
    gp = GridGP().fit(x, y)
    z = (y - y.mean()) / y.std()
    scores = [
        multivariate_normal(np.zeros(n), covariance(x, h)).logpdf(z) + log_prior(h.length_scale, d) for h in grid(d)
    ]
    chosen = grid(d).index(gp.hyperparameters)
    assert scores[chosen] == pytest.approx(max(scores), abs=1e-6)


def test_the_prior_is_the_tempered_log_normal_density():
    for d, length_scale in ((1, 0.2), (3, 1.0), (6, 2.5)):
        density = lognorm(s=np.sqrt(3), scale=np.exp(np.sqrt(2) + 0.5 * np.log(d)))
        constant = PRIOR_TEMPERATURE * np.log(np.sqrt(3) * np.sqrt(2 * np.pi))
        expected = PRIOR_TEMPERATURE * density.logpdf(length_scale) + constant
        assert log_prior(length_scale, d) == pytest.approx(expected, abs=1e-12)


def test_the_grid_is_the_one_that_is_documented():
    assert len(grid(3)) == len(set(grid(3))) == 21
    assert {h.length_scale for h in grid(3)} == set(RELATIVE_LENGTH_SCALES)
    assert {h.noise for h in grid(12)} == set(NOISE_VARIANCES)
    assert max(h.length_scale for h in grid(12)) == pytest.approx(3.2)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 30), d=st.integers(1, 5))
def test_the_posterior_is_botorchs(seed, n, d):
    x, y, rng = data(seed, n, d)
    gp = GridGP().fit(x, y)
    at = rng.random((7, d))
    mean, variance = gp.predict(at)
    with torch.no_grad():
        posterior = gp.to_botorch().posterior(torch.from_numpy(at))
    np.testing.assert_allclose((mean - gp.mean) / gp.scale, posterior.mean.numpy()[:, 0], atol=1e-8)
    np.testing.assert_allclose(variance / gp.scale**2, posterior.variance.numpy()[:, 0], atol=1e-8)


def test_the_tensor_prediction_is_the_same_and_its_gradient_is_right():
    x, y, rng = data(3, 12, 2)
    gp = GridGP().fit(x, y)
    at = torch.from_numpy(rng.random((4, 2))).requires_grad_(True)
    mean, variance = gp.predict_tensor(at)
    for ours, tensor in zip(gp.predict(at.detach().numpy()), (mean, variance), strict=True):
        np.testing.assert_allclose(ours, tensor.detach().numpy(), rtol=1e-12)
    assert torch.autograd.gradcheck(lambda t: gp.predict_tensor(t), (at,), atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), a=st.floats(1e-3, 1e3), b=st.floats(-1e3, 1e3), negate=st.booleans())
def test_predictions_follow_an_affine_map_of_the_values(seed, a, b, negate):
    x, y, rng = data(seed, 10, 3)
    a = -a if negate else a
    at = rng.random((5, 3))
    plain, mapped = GridGP().fit(x, y), GridGP().fit(x, a * y + b)
    assert plain.hyperparameters == mapped.hyperparameters
    (mean, variance), (mapped_mean, mapped_variance) = plain.predict(at), mapped.predict(at)
    np.testing.assert_allclose(mapped_mean, a * mean + b, rtol=1e-6, atol=1e-6 * (abs(a) * y.std() + abs(b)))
    np.testing.assert_allclose(mapped_variance, a**2 * variance, rtol=1e-6, atol=1e-9 * (a * y.std()) ** 2)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 15))
def test_a_further_point_never_raises_a_variance(seed, n):
    x, y, rng = data(seed, n + 1, 2)
    fixed, at = Hyperparameters(0.4, 1e-4), rng.random((20, 2))
    before = GridGP(fixed).fit(x[:n], y[:n], centre=0.0, scale=2.0).predict(at)[1]
    after = GridGP(fixed).fit(x, y, centre=0.0, scale=2.0).predict(at)[1]
    assert (after <= before + 1e-9).all()
    assert (after >= 0).all()


def test_a_given_centre_and_scale_and_the_noise_in_units_of_y():
    gp = GridGP(Hyperparameters(0.3, 1e-2)).fit(np.array([[0.5]]), np.array([7.0]), centre=5.0, scale=2.0)
    mean, variance = gp.predict(np.array([[0.5], [50.0]]))
    assert mean == pytest.approx([5 + 2 / 1.01, 5.0])
    assert variance == pytest.approx([4 * (1 - 1 / 1.01), 4.0])
    assert gp.noise_variance == pytest.approx(0.04)


def test_many_rows_are_predicted_in_parts(monkeypatch):
    x, y, rng = data(0, 6, 2)
    gp, at = GridGP().fit(x, y), rng.random((11, 2))
    whole = gp.predict(at)
    monkeypatch.setattr("scisuite.solvers.labo.gp._CHUNK_ROWS", 4)
    np.testing.assert_allclose(gp.predict(at), whole, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 5.0, 0.1, -1e6 / 3])
def test_constant_values_leave_a_scale_of_one_so_that_there_is_still_something_to_explore(value):
    gp = GridGP().fit(np.array([[0.1], [0.5], [0.9]]), np.full(3, value))
    mean, variance = gp.predict(np.array([[0.3], [40.0]]))
    assert gp.scale == 1.0
    assert mean == pytest.approx([value, value])
    assert variance[1] == pytest.approx(1.0)


def test_repeated_rows_are_averaged_in_the_order_of_their_first_appearance():
    x = np.array([[0.9, 0.1], [0.2, 0.3], [0.9, 0.1], [0.5, 0.5], [0.9, 0.1]])
    unique, means = average_duplicates(x, np.array([1.0, 10.0, 2.0, 20.0, 6.0]))
    assert unique.tolist() == [[0.9, 0.1], [0.2, 0.3], [0.5, 0.5]]
    assert means.tolist() == [3.0, 10.0, 20.0]
    repeated = GridGP().fit(x, np.array([1.0, 10.0, 2.0, 20.0, 6.0]))
    once = GridGP().fit(unique, means)
    np.testing.assert_array_equal(repeated.predict(x), once.predict(x))


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros((2, 2)), np.zeros(3), r"needs x \(n, d\) and y \(n,\) with n >= 1, not \(2, 2\) and \(3,\)"),
        (np.zeros(2), np.zeros(2), r"not \(2,\) and \(2,\)"),
        (np.zeros((0, 2)), np.zeros(0), r"not \(0, 2\) and \(0,\)"),
        (np.zeros((1, 2)), np.array([np.nan]), "cannot be fitted to NaN or infinite numbers"),
        (np.full((1, 2), np.inf), np.zeros(1), "cannot be fitted to NaN or infinite numbers"),
    ],
)
def test_bad_data_is_refused(x, y, message):
    with pytest.raises(InvalidInput, match=message):
        GridGP().fit(x, y)
