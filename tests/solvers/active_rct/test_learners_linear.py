"""The linear learners."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.trials import Logged, linear
from scisuite.solvers.active_rct.learners import LEARNERS, Learner, LinearLearner, PooledLinear, make_learner
from scisuite.solvers.active_rct.linear import LinearCATE

TRIAL = linear(generator(0, "trial"), d=3, n_pool=30, n_observational=200, n_validation=4, n_test=4)
LOG = TRIAL.observational


def batch(seed=0, m=12):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, 3))
    t = rng.integers(0, 2, m)
    return Logged(x, t, x[:, 0] + t * x[:, 1] + rng.normal(size=m), p=rng.uniform(0.3, 0.7, m))


def least_squares(x, y):
    return np.linalg.lstsq(x, y, rcond=None)[0]


@pytest.mark.parametrize("intercept", [False, True])
def test_log_corrects_by_arms_least_squares(intercept):
    learner, rows = LinearLearner(LOG, intercept=intercept), batch()
    learner.observe(rows)
    basis = (lambda x: np.column_stack([np.ones(len(x)), x])) if intercept else (lambda x: x)
    mu = [basis(rows.x) @ least_squares(basis(LOG.x[LOG.t == arm]), LOG.y[LOG.t == arm]) for arm in (0, 1)]
    expected = LinearCATE(1.0).fit(basis(rows.x), rows.t, rows.y, rows.p, *mu)
    assert learner.cate.theta == pytest.approx(expected.theta, abs=1e-6)
    assert learner.effect(LOG.x) == pytest.approx(expected.effect(basis(LOG.x)), abs=1e-5)


def test_past_batches_correct_the_next():
    learner, first, second = LinearLearner(LOG, nuisance="past", lam=0.5), batch(1), batch(2)
    learner.observe(first)
    learner.observe(second)
    mu = [second.x @ least_squares(first.x[first.t == arm], first.y[first.t == arm]) for arm in (0, 1)]
    expected = LinearCATE(0.5).fit(first.x, first.t, first.y, first.p)
    expected.partial_fit(second.x, second.t, second.y, second.p, *mu)
    assert learner.cate.theta == pytest.approx(expected.theta, abs=1e-5)


def test_without_nuisances_the_log_is_not_read():
    other = replace(LOG, y=LOG.y + 100, t=np.zeros(len(LOG), dtype=int))
    learners = [LinearLearner(log, nuisance="none") for log in (LOG, other)]
    for learner in learners:
        learner.observe(batch())
    assert np.array_equal(learners[0].cate.theta, learners[1].cate.theta)


def test_before_any_batch_the_effect_is_zero_and_the_uncertainty_the_priors():
    learner = LinearLearner(LOG, lam=2.0)
    x = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    assert learner.effect(x).tolist() == [0.0, 0.0]
    assert learner.uncertainty(x).tolist() == [2.5, 0.0]


def test_pooling_is_least_squares_on_all_rows():
    rows, x = batch(), LOG.x[:5]
    pooled, alone = PooledLinear(LOG), PooledLinear(LOG, log_alone=True)
    for learner in (pooled, alone):
        learner.observe(rows)
    both = Logged(*(np.concatenate([getattr(LOG, key), getattr(rows, key)]) for key in ("x", "t", "y")))
    for learner, data in ((pooled, both), (alone, LOG)):
        coefficients = [least_squares(data.x[data.t == arm], data.y[data.t == arm]) for arm in (0, 1)]
        assert learner.effect(x) == pytest.approx(x @ (coefficients[1] - coefficients[0]), abs=1e-5)
        leverage = sum(
            np.diag(x @ np.linalg.inv(data.x[data.t == arm].T @ data.x[data.t == arm]) @ x.T) for arm in (0, 1)
        )
        assert learner.uncertainty(x) == pytest.approx(leverage, rel=1e-5)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="^nuisance must be none, obs or past, not 'forest'$"):
        LinearLearner(LOG, nuisance="forest")
    for arm, name in ((0, "untreated"), (1, "treated")):
        with pytest.raises(InvalidInput, match=f"^the log has no {name} unit to learn outcomes from$"):
            LinearLearner(replace(LOG, t=np.full(len(LOG), 1 - arm)))
    with pytest.raises(InvalidInput, match="^a randomised batch needs its probabilities of treatment$"):
        LinearLearner(LOG).observe(LOG)


def test_learners_by_name():
    for name in ("linear", "linear_pooled", "linear_log"):
        learner = make_learner(name, TRIAL)
        assert isinstance(learner, Learner)
        learner.observe(batch())
        assert learner.effect(LOG.x).shape == learner.uncertainty(LOG.x).shape == (200,)
    assert not make_learner("linear", TRIAL).intercept
    assert make_learner("linear", replace(TRIAL, linear=False)).intercept
    assert make_learner("linear", TRIAL, 0, intercept=True, lam=3.0).cate.lam == 3.0
    assert {"linear", "trees", "dr_learner", "tarnet"} <= set(LEARNERS)
    with pytest.raises(InvalidInput, match="^unknown learner 'tree'; did you mean 'trees'"):
        make_learner("tree", TRIAL)
    with pytest.raises(InvalidInput, match="^learner 'linear' has no argument 'lamda'; did you mean 'lam'"):
        make_learner("linear", TRIAL, lamda=1.0)


@pytest.mark.parametrize("new", [LinearLearner, PooledLinear])
def test_another_width_than_the_logs_is_refused(new):
    learner, d = new(LOG), LOG.x.shape[1]
    wide = Logged(np.zeros((2, d + 1)), [0, 1], [0, 1], p=0.5)
    message = rf"^covariates must be of shape \(n, {d}\), as the log's, not \(2, {d + 1}\)$"
    for ask in (learner.effect, learner.uncertainty):
        with pytest.raises(InvalidInput, match=message):
            ask(wide.x)
    with pytest.raises(InvalidInput, match=message):
        learner.observe(wide)
