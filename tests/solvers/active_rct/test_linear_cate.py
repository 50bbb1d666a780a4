"""The linear model against dense recomputation, and its intervals against formulas worked out on their own."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from scisuite.core import InvalidInput, NotFitted
from scisuite.solvers.active_rct.linear import LinearCATE

D = 4


def batches(seed, sizes):
    rng = np.random.default_rng(seed)
    for m in sizes:
        yield rng.normal(size=(m, D)), rng.integers(0, 2, m), rng.normal(size=m), rng.uniform(0.2, 0.8, m)


def fitted(seed=0, sizes=(2, 3, 10, 1, 30), lam=1.0):
    model, rows = LinearCATE(lam), list(batches(seed, sizes))
    for batch in rows:
        model.partial_fit(*batch)
    phi, t, y, p = (np.concatenate(part) for part in zip(*rows, strict=True))
    return model, phi, t * y / p - (1 - t) * y / (1 - p)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=12),
    lam=st.sampled_from([1e-3, 1.0, 10.0]),
)
def test_batches_equal_a_dense_recomputation(seed, sizes, lam):
    model, phi, pseudo = fitted(seed, sizes, lam)
    V = lam * np.eye(D) + phi.T @ phi
    assert np.abs(model.V - V).max() <= 1e-10
    assert np.abs(model.V_inverse - np.linalg.inv(V)).max() <= 1e-8 * max(1, 1 / lam)
    assert model.theta == pytest.approx(np.linalg.solve(V, phi.T @ pseudo), abs=1e-8 * max(1, 1 / lam))
    assert model.n == len(phi)
    x = phi[:5]
    assert model.leverage(x) == pytest.approx(np.diag(x @ np.linalg.inv(V) @ x.T), abs=1e-8)
    assert model.effect(x) == pytest.approx(x @ model.theta)


def test_a_thousand_single_units_do_not_drift():
    model, phi, _ = fitted(3, (1,) * 1000, lam=1e-6)
    inverse = np.linalg.inv(1e-6 * np.eye(D) + phi.T @ phi)
    assert np.abs(model.V_inverse - inverse).max() <= 1e-8


def test_fit_forgets():
    model, *_ = fitted()
    again = model.fit([[1.0, 0.0], [1.0, 0.0]], [1, 0], [1.0, 0.0], 0.5)
    assert again is model
    assert model.V.shape == (2, 2)
    assert model.n == 2


@pytest.mark.parametrize("kind", ["sandwich", "qv"])
def test_covariance_is_that_of_the_formula(kind):
    model, phi, pseudo = fitted()
    if kind == "sandwich":
        residual = pseudo - phi @ model.theta
    else:
        residual, done = [], 0
        for m in (2, 3, 10, 1, 30):
            before = np.linalg.solve(np.eye(D) + phi[:done].T @ phi[:done], phi[:done].T @ pseudo[:done])
            residual.extend(pseudo[done : done + m] - phi[done : done + m] @ before)
            done += m
    meat = sum(r**2 * np.outer(row, row) for r, row in zip(residual, phi, strict=True))
    bread = np.linalg.inv(phi.T @ phi)
    assert np.allclose(model.cov(kind), bread @ meat @ bread, rtol=1e-8)


def test_intervals_are_those_of_the_formulas():
    model, phi, _ = fitted(lam=2.0)
    x = phi[:3]
    for kind, cov in (("wald", model.cov()), ("qv", model.cov("qv"))):
        low, high = model.interval(x, 0.9, kind)
        half = norm.ppf(0.95) * np.sqrt(np.diag(x @ cov @ x.T))
        assert np.allclose(high - low, 2 * half)
        assert np.allclose((high + low) / 2, model.effect(x))
    low, high = model.interval(x, 0.95, "selfnorm", sigma=2.5, S=1.5)
    determinants = math.sqrt(np.linalg.det(model.V)) / (math.sqrt(2.0**D) * 0.05)
    radius = 2.5 * math.sqrt(2 * math.log(determinants)) + math.sqrt(2.0) * 1.5
    assert np.allclose(high - low, 2 * radius * np.sqrt(np.diag(x @ np.linalg.inv(model.V) @ x.T)))


@settings(max_examples=30, deadline=None)
@given(theta=st.lists(st.floats(-1, 1), min_size=D, max_size=D), lam=st.sampled_from([1e-6, 1.0, 5.0]))
def test_selfnormalised_interval_holds_the_effect_of_a_segment_nobody_asked(theta, lam):
    rng = np.random.default_rng(0)
    model = LinearCATE(lam).fit(np.eye(D)[rng.integers(0, D - 1, 20)], rng.integers(0, 2, 20), rng.random(20), 0.5)
    norm_ = max(float(np.linalg.norm(theta)), 1e-9)
    low, high = model.interval(np.eye(D)[-1:], 0.95, "selfnorm", sigma=2.0, S=norm_)
    assert low[0] <= theta[-1] <= high[0]
    assert (high - low)[0] / 2 >= abs(theta[-1])


def test_a_segment_nobody_asked_has_finite_wald_bounds():
    model = LinearCATE(1.0).fit(np.eye(2)[[0, 0]], [0, 1], [0.0, 1.0], 0.5)
    assert np.isfinite(model.interval(np.eye(2), 0.95)).all()


@pytest.mark.parametrize("lam", [0, -1.0, math.inf, math.nan, "1", True])
def test_ridge_must_be_positive(lam):
    with pytest.raises(InvalidInput, match=f"^lam must be a finite number above zero, not {lam!r}$"):
        LinearCATE(lam)


@pytest.mark.parametrize(
    ("phi", "message"),
    [
        ([[1.0, np.nan], [0.0, 1.0]], "phi is nan in row 0, column 1"),
        ([[1.0, 2.0]], "phi has 1 rows for 2 outcomes"),
        ([1.0, 2.0], r"phi must be of shape \(n, d\), not \(2,\)"),
        ([[1.0], [2.0]], "phi has 1 columns, the batches before had 2"),
    ],
)
def test_a_bad_batch_is_refused_and_changes_nothing(phi, message):
    model = LinearCATE().fit(np.eye(2), [0, 1], [1.0, 2.0], 0.5)
    before = model.V.copy(), model.theta.copy(), model.n, model.cov("qv")
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        model.partial_fit(phi, [0, 1], [1.0, 2.0], 0.5)
    after = model.V, model.theta, model.n, model.cov("qv")
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


def test_a_bad_fit_forgets_nothing():
    model = LinearCATE().fit(np.eye(2), [0, 1], [1.0, 2.0], 0.5)
    with pytest.raises(InvalidInput, match=r"^phi has 1 rows for 2 outcomes$"):
        model.fit([[1.0]], [0, 1], [1.0, 2.0], 0.5)
    with pytest.raises(InvalidInput, match="^a batch has at least one unit$"):
        model.fit(np.zeros((0, 2)), np.zeros(0, int), [], 0.5)
    assert model.n == 2


def test_bad_questions_are_refused():
    with pytest.raises(NotFitted, match="^LinearCATE has seen no units yet; call fit or partial_fit first$"):
        LinearCATE().effect([[1.0]])
    model = LinearCATE().fit(np.eye(2), [0, 1], [1.0, 2.0], 0.5)
    with pytest.raises(InvalidInput, match="^phi has 3 columns, the model was fitted to 2$"):
        model.leverage(np.ones((1, 3)))
    for level in (0, 1, 1.5, "high"):
        with pytest.raises(InvalidInput, match=rf"^level must be in \(0, 1\), not {level!r}$"):
            model.interval(np.eye(2), level)
    with pytest.raises(InvalidInput, match="^kind must be wald, selfnorm or qv, not 'bayes'$"):
        model.interval(np.eye(2), kind="bayes")
    with pytest.raises(InvalidInput, match="^kind must be sandwich or qv, not 'wald'$"):
        model.cov("wald")
    with pytest.raises(InvalidInput, match="^the self-normalised interval needs sigma above zero, not None$"):
        model.interval(np.eye(2), kind="selfnorm")
    with pytest.raises(InvalidInput, match="^the self-normalised interval needs S above zero, not 0$"):
        model.interval(np.eye(2), kind="selfnorm", sigma=1.0, S=0)
