"""Segments and linear worlds: what is true of them by construction."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import linear, segments


def test_segments_have_the_effects_that_were_asked_for():
    trial = segments(np.random.default_rng(0), n_pool=40_000)
    theta = np.array([0.5, -0.4, 0.3, 0.0])
    j = trial.pool_x.argmax(axis=1)
    assert np.array_equal(trial.pool_x, np.eye(4)[j])
    assert np.array_equal(trial.pool.tau, theta[j])
    assert set(np.unique(trial.pool.y0)) | set(np.unique(trial.pool.y1)) == {0.0, 1.0}
    for segment in range(4):
        mine = j == segment
        assert mine.mean() == pytest.approx(0.25, abs=0.01)
        difference = (trial.pool.y1 - trial.pool.y0)[mine].mean()
        assert difference == pytest.approx(theta[segment], abs=4 * np.sqrt(0.5 / mine.sum()))
    assert (trial.binary, trial.linear, trial.knows_effects, trial.replay) == (True, True, True, False)


def test_the_log_of_segments_is_biased():
    log = segments(np.random.default_rng(0), n_observational=40_000).observational
    theta = np.array([0.5, -0.4, 0.3, 0.0])
    bias = [
        log.y[(log.x[:, j] == 1) & (log.t == 1)].mean() - log.y[(log.x[:, j] == 1) & (log.t == 0)].mean() - theta[j]
        for j in range(4)
    ]
    assert min(bias) > 0.03


@pytest.mark.parametrize("tails", ["gaussian", "t4"])
def test_linear_covariates_have_unit_variance_and_a_linear_effect(tails):
    trial = linear(np.random.default_rng(0), tails=tails, n_pool=20_000)
    assert trial.pool_x.std() == pytest.approx(1, abs=0.06)
    theta, *_ = np.linalg.lstsq(trial.pool_x, trial.pool.tau, rcond=None)
    for held_out in (trial.validation, trial.test):
        np.testing.assert_allclose(held_out.x @ theta, held_out.tau, atol=1e-9)
    noise = trial.pool.y0 - trial.pool_x @ np.linalg.lstsq(trial.pool_x, trial.pool.y0, rcond=None)[0]
    assert noise.std() == pytest.approx(1.2, abs=0.03)
    np.testing.assert_allclose(trial.pool.y1 - trial.pool.y0, trial.pool.tau, atol=1e-12)


def test_heavy_tails_are_heavier():
    gaussian, heavy = (linear(np.random.default_rng(0), tails=tails).pool_x for tails in ("gaussian", "t4"))
    assert np.mean(heavy**4) > 2 * np.mean(gaussian**4)


def test_a_bend_is_not_linear():
    trial = linear(np.random.default_rng(0), bend=0.5)
    theta, *_ = np.linalg.lstsq(trial.pool_x, trial.pool.tau, rcond=None)
    assert trial.name == "misspecified"
    assert (trial.pool.tau - trial.pool_x @ theta).std() > 0.5


def test_the_log_of_a_linear_world_is_shifted_confounded_and_without_overlap():
    trial = linear(np.random.default_rng(0), n_observational=20_000)
    log = trial.observational
    assert log.x[:, :2].mean(axis=0) == pytest.approx([0.8, 0.8], abs=0.05)
    index = log.x[:, 0] + log.x[:, 1]
    assert (index > 2.5).mean() > 0.1
    assert log.t[index > 2.5].mean() > 0.99
    theta = np.linalg.lstsq(trial.pool_x, trial.pool.tau, rcond=None)[0]
    beta = np.linalg.lstsq(trial.pool_x, trial.pool.y0, rcond=None)[0]
    unexplained = log.y - log.x @ beta - log.t * (log.x @ theta)
    torn = np.abs(index) < 0.5
    # The unseen U has a standard deviation of .8: treated units among those that could go either way have more of it.
    assert unexplained[torn & (log.t == 1)].mean() - unexplained[torn & (log.t == 0)].mean() > 0.4


@pytest.mark.parametrize("make", [segments, linear])
def test_the_same_generator_gives_the_same_trial(make):
    one, two, other = (make(np.random.default_rng(seed), n_pool=50) for seed in (0, 0, 1))
    assert np.array_equal(one.pool_x, two.pool_x)
    assert np.array_equal(one.test.y, two.test.y)
    assert not np.array_equal(one.test.y, other.test.y)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (segments, {"theta": (0.5, 1.5)}, r"^theta must be effects in \[−1, 1\], not \(0.5, 1.5\)$"),
        (segments, {"theta": ()}, r"^theta must be effects in \[−1, 1\], not \(\)$"),
        (segments, {"theta": (np.nan,)}, r"^theta must be effects in \[−1, 1\], not \(nan,\)$"),
        (linear, {"tails": "cauchy"}, r"^tails must be gaussian or t4, not 'cauchy'$"),
        (linear, {"bend": np.inf}, r"^bend must be finite, not inf$"),
        (linear, {"d": 1}, r"^d must be at least 2, not 1$"),
    ],
)
def test_arguments_that_are_refused(make, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        make(np.random.default_rng(0), **arguments)
