"""The fusion of two sources: identities, invariances, and degenerate data."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput, NotFitted
from scisuite.solvers.labo.gp import GridGP, Hyperparameters
from scisuite.solvers.labo.surrogate import (
    DISCREPANCY_SCALE_FLOOR,
    KOHSurrogate,
    discrepancy_share,
    shrinkage,
)

FITS = ["centred", "origin", "fixed", "shrunk"]
seeds = st.integers(0, 10**6)
settings_here = settings(max_examples=10, deadline=None)


def data(seed, n=12, m=5, d=2):
    """Cheap points, their answers, and pairs among them: what ``fit`` takes, and points to predict at."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, d))
    cheap = 2 + np.sin(4 * x).sum(1) + 0.2 * rng.standard_normal(n)
    real = 10 + 5 * np.sin(4 * x[:m]).sum(1) + rng.standard_normal(m)
    return [x, cheap, x[:m], real, cheap[:m]], rng.random((9, d))


@pytest.mark.parametrize("rho_fit", FITS)
@settings_here
@given(seed=seeds, noisy=st.booleans(), rho=st.floats(-3, 3))
def test_variances_add_up_and_the_share_is_a_share(rho_fit, seed, noisy, rho):
    arguments, at = data(seed)
    surrogate = KOHSurrogate(rho_fit, rho, sigma_l_includes_noise=noisy).fit(*arguments)
    mu, var, mu_L, var_L, mu_d, var_d = surrogate.predict(at)
    np.testing.assert_allclose(var, surrogate.rho**2 * var_L + var_d, rtol=1e-12, atol=0)
    np.testing.assert_allclose(
        mu, surrogate.mean_real + surrogate.rho * (mu_L - surrogate.mean_cheap) + mu_d, rtol=1e-12
    )
    share = surrogate.p_delta(at)
    assert ((share >= 0) & (share <= 1)).all()
    np.testing.assert_allclose(share * var, var_d, rtol=1e-12)
    tensor_mean, tensor_variance = surrogate.predict_tensor(torch.from_numpy(at))
    np.testing.assert_allclose(tensor_mean.numpy(), mu, rtol=1e-12)
    np.testing.assert_allclose(tensor_variance.numpy(), var, rtol=1e-12)


@given(var_L=st.floats(0, 1e300), var_d=st.floats(0, 1e300), rho=st.floats(-1e3, 1e3, allow_subnormal=False))
def test_the_share_is_in_the_unit_interval_whatever_the_variances(var_L, var_d, rho):
    assume(rho**2 * var_L + var_d < np.inf)
    share = discrepancy_share(np.array([var_L]), np.array([var_d]), rho)
    assert 0 <= share[0] <= 1


def test_the_share_of_nothing_in_nothing_is_one():
    assert discrepancy_share(np.zeros(2), np.array([0.0, 0.0]), 1.0).tolist() == [1.0, 1.0]
    assert discrepancy_share(np.array([3.0]), np.array([0.0]), 1.0).tolist() == [0.0]


@settings_here
@given(seed=seeds)
def test_a_slope_of_zero_leaves_only_the_discrepancy(seed):
    arguments, at = data(seed)
    surrogate = KOHSurrogate("fixed", 0.0).fit(*arguments)
    assert (surrogate.p_delta(at) == 1).all()
    _, _, x_R, y_R, _ = arguments
    alone = KOHSurrogate("fixed", 0.0).fit(x_R, np.zeros(len(y_R)), x_R, y_R, np.zeros(len(y_R)))
    np.testing.assert_array_equal(surrogate.predict(at).mu, alone.predict(at).mu)
    np.testing.assert_array_equal(surrogate.predict(at).var, alone.predict(at).var)


@pytest.mark.parametrize("rho_fit", ["centred", "origin"])
@settings_here
@given(seed=seeds, c=st.floats(0.01, 100), negative=st.booleans(), scale=st.floats(1e-3, 1e3))
def test_a_proportional_predictor_is_scaled_back_and_leaves_no_discrepancy(rho_fit, seed, c, negative, scale):
    (x, _, x_R, real, _), at = data(seed)
    c, real = (-c if negative else c), scale * real
    cheap = c * real
    y_L = np.r_[cheap, np.random.default_rng(seed).standard_normal(len(x) - len(real)) * cheap.std() + cheap.mean()]
    surrogate = KOHSurrogate(rho_fit).fit(x, y_L, x_R, real, cheap)
    assert surrogate.rho == pytest.approx(1 / c, rel=1e-10)
    assert np.abs(surrogate.predict(at).mu_d).max() <= 1e-10 * np.abs(real).max()


@pytest.mark.parametrize("rho_fit", ["centred", "origin", "shrunk"])
@settings_here
@given(seed=seeds)
def test_a_negated_predictor_has_the_opposite_slope_and_the_same_posterior(rho_fit, seed):
    (x, y_L, x_R, y_R, pairs), at = data(seed)
    plain = KOHSurrogate(rho_fit).fit(x, y_L, x_R, y_R, pairs)
    negated = KOHSurrogate(rho_fit).fit(x, -y_L, x_R, y_R, -pairs)
    assert negated.rho == -plain.rho
    np.testing.assert_array_equal(negated.predict(at).mu, plain.predict(at).mu)
    np.testing.assert_array_equal(negated.predict(at).var, plain.predict(at).var)
    np.testing.assert_array_equal(negated.p_delta(at), plain.p_delta(at))


@settings_here
@given(seed=seeds, further=st.integers(1, 4))
def test_further_cheap_answers_never_raise_their_variance_nor_lower_the_share(seed, further):
    """With hyperparameters, scaling and slope held."""
    arguments, at = data(seed)
    held = Hyperparameters(0.4, 1e-4), Hyperparameters(0.3, 1e-2)
    surrogate = KOHSurrogate("fixed", 0.8, hyperparameters=held).fit(*arguments)
    x, y = arguments[0], arguments[1]
    surrogate.gp_cheap = GridGP(held[0]).fit(x, y, centre=1.5, scale=0.7)
    before, share_before = surrogate.predict(at), surrogate.p_delta(at)
    rng = np.random.default_rng(seed + 1)
    more = np.r_[x, rng.random((further, 2))]
    surrogate.gp_cheap = GridGP(held[0]).fit(more, np.r_[y, rng.standard_normal(further)], centre=1.5, scale=0.7)
    after, share_after = surrogate.predict(at), surrogate.p_delta(at)
    assert (after.var_L <= before.var_L + 1e-10).all()
    assert (share_after >= share_before - 1e-8).all()
    np.testing.assert_array_equal(after.var_d, before.var_d)


@pytest.mark.parametrize("rho_fit", ["centred", "shrunk"])
@settings_here
@given(
    seed=seeds,
    real_map=st.tuples(st.floats(1e-2, 1e2), st.floats(-100, 100)),
    cheap_map=st.tuples(st.floats(1e-2, 1e2), st.floats(-100, 100)),
)
def test_centred_predictions_follow_affine_maps_of_both_sources(rho_fit, seed, real_map, cheap_map):
    (x, y_L, x_R, y_R, pairs), at = data(seed)
    (a, b), (c, e) = real_map, cheap_map
    plain = KOHSurrogate(rho_fit).fit(x, y_L, x_R, y_R, pairs)
    mapped = KOHSurrogate(rho_fit).fit(x, c * y_L + e, x_R, a * y_R + b, c * pairs + e)
    assert mapped.rho == pytest.approx(plain.rho * a / c, rel=1e-7, abs=1e-9 * a / c)
    np.testing.assert_allclose(
        mapped.predict(at).mu, a * plain.predict(at).mu + b, rtol=1e-6, atol=1e-6 * (a * 10 + abs(b))
    )
    np.testing.assert_allclose(mapped.predict(at).var, a**2 * plain.predict(at).var, rtol=1e-5)
    np.testing.assert_allclose(mapped.p_delta(at), plain.p_delta(at), atol=1e-6)


@settings_here
@given(seed=seeds, a=st.floats(1e-2, 1e2), c=st.floats(1e-2, 1e2))
def test_the_slope_through_the_origin_follows_scaling_but_not_a_shift(seed, a, c):
    (x, y_L, x_R, y_R, pairs), at = data(seed)
    plain = KOHSurrogate("origin").fit(x, y_L, x_R, y_R, pairs)
    scaled = KOHSurrogate("origin").fit(x, c * y_L, x_R, a * y_R, c * pairs)
    np.testing.assert_allclose(scaled.predict(at).mu, a * plain.predict(at).mu, rtol=1e-6, atol=1e-6 * a)
    np.testing.assert_allclose(scaled.predict(at).var, a**2 * plain.predict(at).var, rtol=1e-5)
    shifted = KOHSurrogate("origin").fit(x, y_L, x_R, y_R + 50, pairs)
    assert np.abs(shifted.predict(at).mu - plain.predict(at).mu - 50).max() > 1e-3


def test_the_slopes_are_those_of_least_squares():
    (x, y_L, x_R, y_R, pairs), _ = data(4)
    centred = KOHSurrogate("centred").fit(x, y_L, x_R, y_R, pairs)
    assert centred.rho == pytest.approx(np.polyfit(pairs, y_R, 1)[0])
    origin = KOHSurrogate("origin").fit(x, y_L, x_R, y_R, pairs)
    assert origin.rho == pytest.approx(np.linalg.lstsq(pairs[:, None], y_R, rcond=None)[0][0])
    factor = shrinkage(pairs - pairs.mean(), y_R - y_R.mean())
    assert 0 < factor < 1
    assert KOHSurrogate("shrunk").fit(x, y_L, x_R, y_R, pairs).rho == pytest.approx(factor * centred.rho)
    assert KOHSurrogate("fixed", 1.7).fit(x, y_L, x_R, y_R, pairs).rho == 1.7


@settings(max_examples=30, deadline=None)
@given(seed=seeds, m=st.integers(1, 12))
def test_shrinkage_is_a_share_that_never_turns_a_slope_round(seed, m):
    rng = np.random.default_rng(seed)
    cheap, real = rng.standard_normal((2, m))
    factor = shrinkage(cheap - cheap.mean(), real - real.mean())
    assert 0 <= factor <= 1
    if m < 3:
        assert factor == 0


def test_shrinkage_believes_a_line_and_not_what_chance_would_give():
    line = np.linspace(-1, 1, 8)
    assert shrinkage(line, 3 * line) == pytest.approx(1.0)
    assert shrinkage(line, np.abs(line) - np.abs(line).mean()) == 0.0
    # R² = .5 with m = 4: 1 − .5/(2 × .5) = .5
    assert shrinkage(np.array([1.0, -1, 0, 0]), np.array([1.0, -1, 1, -1])) == pytest.approx(0.5)


def test_the_scale_of_the_discrepancy_has_a_floor():
    (x, _, x_R, y_R, _), at = data(2)
    surrogate = KOHSurrogate().fit(x[:5], y_R, x_R, y_R, y_R)
    assert surrogate.gp_discrepancy.scale == pytest.approx(DISCREPANCY_SCALE_FLOOR * y_R.std())
    assert (surrogate.predict(at).var_d > 0).any()


def test_noise_of_the_cheap_source_counts_where_it_is_asked_to():
    arguments, at = data(0)
    plain = KOHSurrogate().fit(*arguments)
    noisy = KOHSurrogate(sigma_l_includes_noise=True).fit(*arguments)
    np.testing.assert_allclose(noisy.predict(at).var_L - plain.predict(at).var_L, plain.gp_cheap.noise_variance)
    assert (noisy.p_delta(at) < plain.p_delta(at)).all()


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9 / 3, -7.3])
@pytest.mark.parametrize("rho_fit", ["centred", "shrunk"])
def test_a_predictor_that_says_the_same_everywhere_is_ignored_with_a_warning(constant, rho_fit):
    (x, _, x_R, y_R, _), at = data(1)
    with pytest.warns(RuntimeWarning, match="the cheap predictor says the same at every pair: rho = 0"):
        surrogate = KOHSurrogate(rho_fit).fit(x, np.full(len(x), constant), x_R, y_R, np.full(len(y_R), constant))
    assert surrogate.rho == 0
    assert (surrogate.p_delta(at) == 1).all()


def test_an_ordinary_predictor_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KOHSurrogate().fit(*data(1)[0]).rho != 0


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 / 3])
def test_equal_real_values_still_leave_something_to_explore(value):
    (x, y_L, x_R, y_R, pairs), _ = data(1, m=3)
    surrogate = KOHSurrogate().fit(x, y_L, x_R, np.full(len(y_R), value), pairs)
    posterior = surrogate.predict(np.array([[30.0, 30.0]]))
    assert np.sqrt(posterior.var[0]) == pytest.approx(DISCREPANCY_SCALE_FLOOR, rel=1e-6)
    assert posterior.mu[0] == pytest.approx(value)


def test_repeated_pairs_and_answers_are_averaged():
    (x, y_L, x_R, y_R, pairs), at = data(6)
    again = KOHSurrogate().fit(
        np.r_[x, x[:2]], np.r_[y_L, y_L[:2]], np.r_[x_R, x_R[:1]], np.r_[y_R, y_R[0] + 2], np.r_[pairs, pairs[:1]]
    )
    averaged = y_R.copy()
    averaged[0] += 1
    once = KOHSurrogate().fit(x, y_L, x_R, averaged, pairs)
    np.testing.assert_allclose(again.predict(at).mu, once.predict(at).mu, rtol=1e-10)


def test_bad_data_is_refused():
    x, y, x_R, y_R, pairs = data(0)[0]
    with pytest.raises(InvalidInput, match="needs at least 2 pairs of different points, not 1"):
        KOHSurrogate().fit(x, y, x_R[:1], y_R[:1], pairs[:1])
    with pytest.raises(InvalidInput, match="needs at least 2 pairs of different points, not 1"):
        KOHSurrogate().fit(x, y, x_R[[0, 0]], y_R[:2], pairs[:2])
    with pytest.raises(InvalidInput, match="needs at least 2 pairs of different points, not 0"):
        KOHSurrogate().fit(x, y, np.empty((0, 2)), np.empty(0), np.empty(0))
    with pytest.raises(InvalidInput, match=r"pairs must be x \(m, d\), y_R \(m,\), y_L \(m,\), not \(5, 2\), \(4,\)"):
        KOHSurrogate().fit(x, y, x_R, y_R[:4], pairs)
    with pytest.raises(InvalidInput, match="pairs must be finite"):
        KOHSurrogate().fit(x, y, x_R, np.r_[y_R[:4], np.nan], pairs)
    with pytest.raises(InvalidInput, match="pairs must be finite"):
        KOHSurrogate().fit(x, y, x_R, y_R, np.r_[pairs[:4], np.inf])
    with pytest.raises(InvalidInput, match="a GP needs x"):
        KOHSurrogate().fit(x, y[:-1], x_R, y_R, pairs)
    with pytest.raises(InvalidInput, match="rho_fit must be one of centred, origin, fixed, shrunk, not 'slope'"):
        KOHSurrogate("slope")


def test_before_fit_there_is_nothing_to_predict():
    with pytest.raises(NotFitted, match="call fit first"):
        KOHSurrogate().predict(np.zeros((1, 2)))
