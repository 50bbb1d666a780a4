"""Logistic regression against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput, NotFitted
from scisuite.solvers.active_rct.logistic import Logistic


def sample(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal([1.0, -2.0, 0.0], [1.0, 5.0, 0.1], size=(n, 3))
    return x, (rng.random(n) < 1 / (1 + np.exp(1.5 - x @ [1.0, 0.2, -3.0]))).astype(int)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("l2", [1.0, 30.0])
def test_agrees_with_scikit_learn(balanced, l2):
    linear_model = pytest.importorskip("sklearn.linear_model")
    x, label = sample()
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    # scikit-learn's balanced weights sum to n as ours do.
    peer = linear_model.LogisticRegression(C=1 / l2, class_weight="balanced" if balanced else None, tol=1e-10)
    expected = peer.fit(z, label).predict_proba(z)
    assert Logistic(l2, balanced).fit(x, label).predict_proba(x) == pytest.approx(expected, abs=1e-4)


def test_balance_keeps_the_prediction_off_the_common_label():
    rng = np.random.default_rng(0)
    x, label = rng.normal(size=(2000, 1)), np.repeat([0, 1], [1950, 50])
    assert Logistic().fit(x, label).predict_proba(x)[:, 1].max() < 0.2
    assert Logistic(balanced=True).fit(x, label).predict_proba(x)[:, 1].mean() == pytest.approx(0.5, abs=0.05)


def test_a_covariate_that_was_constant_does_not_saturate_the_prediction():
    x, label = sample()
    constant = np.column_stack([x, np.full(len(x), 0.1)])
    assert 0 < constant.std(axis=0)[3] < 1e-10
    moved = np.column_stack([x, np.full(len(x), 0.6)])
    model = Logistic().fit(constant, label)
    assert model.predict_proba(moved) == pytest.approx(Logistic().fit(x, label).predict_proba(x), abs=1e-3)


def test_bad_input_is_refused():
    with pytest.raises(InvalidInput, match="^l2 must not be negative, not -1$"):
        Logistic(-1)
    with pytest.raises(InvalidInput, match="^a classifier needs both labels: all units here have the same one$"):
        Logistic().fit([[1.0], [2.0]], [1, 1])
    with pytest.raises(InvalidInput, match="^x is nan in row 1, column 0$"):
        Logistic().fit([[1.0], [np.nan]], [0, 1])
    with pytest.raises(NotFitted, match="^the classifier has not been fitted$"):
        Logistic().predict_proba([[1.0]])
    with pytest.raises(InvalidInput, match="^x has 2 covariates, the classifier was fitted to 1$"):
        Logistic().fit([[1.0], [2.0]], [0, 1]).predict_proba([[1.0, 2.0]])
