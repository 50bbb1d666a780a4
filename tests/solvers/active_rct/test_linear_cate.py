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


@pytest.mark.parametrize(("low", "high"), [(1e2, 1e2), (1e-3, 1e3)])
def test_badly_scaled_covariates_lose_no_digits(low, high):
    d = 50
    rng, scale = np.random.default_rng(0), np.geomspace(low, high, d)
    model, phi, pseudo = LinearCATE(1e-6), rng.normal(size=(400, d)) * scale, rng.normal(size=400)
    for row, value in zip(phi, pseudo, strict=True):
        model.add([row], [value])
    # With columns of one scale the matrix is well conditioned.
    rows = np.concatenate([phi, 1e-3 * np.eye(d)]) / scale
    inverse = np.linalg.inv(rows.T @ rows)
    assert np.abs(model.V_inverse * np.outer(scale, scale) / inverse - 1).max() <= 1e-8
    theta = np.linalg.lstsq(rows, np.append(pseudo, np.zeros(d)), rcond=None)[0]
    assert np.abs(model.theta * scale - theta).max() <= 1e-8 * np.abs(theta).max()
    assert model.leverage(phi[:5]) == pytest.approx(np.diag(rows[:5] @ inverse @ rows[:5].T), rel=1e-8)


def test_before_a_direction_is_seen_the_ridge_alone_rules_it():
    rng = np.random.default_rng(0)
    model, phi = LinearCATE(1e-6), np.zeros((30, 50))
    phi[:, :30] = 100 * np.linalg.qr(rng.normal(size=(30, 30)))[0]
    for row in phi:
        model.add([row], [1.0])
    expected = np.concatenate([np.full(30, 1 / (1e4 + 1e-6)), np.full(20, 1e6)])
    assert np.diag(model.V_inverse) == pytest.approx(expected, rel=1e-8)


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


@pytest.mark.parametrize("kind", ["wald", "qv"])
@pytest.mark.parametrize("lam", [1e-6, 1.0])
def test_a_segment_nobody_was_of_has_infinite_bounds(kind, lam):
    rng = np.random.default_rng(0)
    model = LinearCATE(lam).fit(np.eye(D)[rng.integers(0, 3, 60)], rng.integers(0, 2, 60), rng.random(60), 0.5)
    low, high = model.interval(np.eye(D), kind=kind)
    assert np.isfinite([low[:3], high[:3]]).all()
    assert (high - low)[:3].min() > 0.1
    assert (low[3], high[3]) == (-math.inf, math.inf)
    low, high = model.interval([[1.0, 0.0, 0.0, 1e-3], [0.0] * 4], kind=kind)
    assert np.isinf([low[0], high[0]]).all()
    assert low[1] == high[1] == 0
    cov = model.cov("sandwich" if kind == "wald" else "qv")
    assert np.isfinite(cov[:3, :3]).all()
    assert cov[3, 3] == math.inf
    assert np.isnan(cov[3, :3]).all()


@pytest.mark.parametrize("kind", ["wald", "qv"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_of_columns_that_depend_on_each_other_contrasts_have_bounds(kind, scale):
    """An intercept beside a dummy for each of three segments: no coefficient is determined, each segment's sum is."""
    rng = np.random.default_rng(1)
    dummies = scale * np.eye(3)
    segment, t, y = rng.integers(0, 3, 90), rng.integers(0, 2, 90), rng.random(90)
    plain = LinearCATE(1e-9 * scale**2).fit(dummies[segment], t, y, 0.5)
    basis = np.column_stack([np.ones(3), dummies])
    model = LinearCATE(1e-9 * min(1, scale**2)).fit(basis[segment], t, y, 0.5)
    assert np.allclose(model.interval(basis, kind=kind), plain.interval(dummies, kind=kind), rtol=1e-5)
    assert np.isinf(model.interval(np.eye(4), kind=kind)).all()
    assert np.isinf(np.diag(model.cov())).all()


@pytest.mark.parametrize("kind", ["wald", "qv"])
def test_a_dummy_nobody_had_makes_no_others_bounds_wider(kind):
    rng = np.random.default_rng(2)
    x, t, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50), rng.random(50)
    without = LinearCATE().fit(x, t, y, 0.5)
    model = LinearCATE().fit(np.column_stack([x, np.zeros(50)]), t, y, 0.5)
    assert np.allclose(model.interval(np.eye(3)[:2], kind=kind), without.interval(np.eye(2), kind=kind))
    assert np.isinf(model.interval(np.eye(3)[2:], kind=kind)).all()


@pytest.mark.parametrize("kind", ["wald", "qv"])
@pytest.mark.parametrize(("n", "d"), [(5, 8), (8, 8), (1, 1)])
def test_no_more_units_than_dimensions_bound_nothing(kind, n, d):
    rng = np.random.default_rng(3)
    model = LinearCATE(1e-6).fit(rng.normal(size=(n, d)), rng.integers(0, 2, n), rng.random(n), 0.5)
    low, high = model.interval(rng.normal(size=(4, d)), kind=kind)
    assert (low == -math.inf).all()
    assert (high == math.inf).all()


@pytest.mark.parametrize("kind", ["wald", "qv"])
def test_a_segment_of_one_unit_has_infinite_bounds_and_the_others_have_not(kind):
    rng = np.random.default_rng(4)
    segment = np.append(rng.integers(0, 3, 40), 3)
    model = LinearCATE(1e-6).fit(np.eye(D)[segment], rng.integers(0, 2, 41), rng.random(41), 0.5)
    assert np.isinf(model.interval(np.eye(D), kind=kind)).tolist() == [[False] * 3 + [True]] * 2
    again = model.partial_fit(np.eye(D)[[3]], [1], [0.7], 0.5)
    assert np.isfinite(again.interval(np.eye(D), kind=kind)).all()


def households(seed=0, n=60, size=3):
    """Treated together and alike in their outcomes."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n), size)
    x = np.column_stack([np.ones(n * size), np.repeat(rng.normal(size=n), size)])
    t = np.repeat(rng.integers(0, 2, n), size)
    return x, t, np.repeat(rng.normal(size=n), size), group


def test_scores_are_summed_within_groups_also_over_batches():
    phi, t, y, group = households()
    order = np.random.default_rng(1).permutation(len(y))
    model = LinearCATE(1e-6)
    for places in np.array_split(order, 4):
        model.partial_fit(phi[places], t[places], y[places], 0.5, group=group[places] * 7)
    pseudo = 2 * y * (2 * t - 1)
    scores = (pseudo - phi @ model.theta)[:, None] * phi
    summed = np.stack([scores[group == g].sum(axis=0) for g in range(60)])
    bread = np.linalg.inv(phi.T @ phi)
    assert np.allclose(model.cov(), bread @ summed.T @ summed @ bread, rtol=1e-6)
    # Three copies of a unit say no more than one.
    alone = LinearCATE(1e-6).fit(phi[::3], t[::3], y[::3], 0.5)
    assert np.allclose(model.cov(), alone.cov(), rtol=1e-5)
    assert np.allclose(LinearCATE(1e-6).fit(phi, t, y, 0.5).cov(), alone.cov() / 3, rtol=1e-5)


def test_units_without_a_group_are_alone_beside_those_with_one():
    phi, t, y, group = households()
    mixed = LinearCATE().partial_fit(phi[:90], t[:90], y[:90], 0.5, group=group[:90])
    mixed.partial_fit(phi[90:], t[90:], y[90:], 0.5)
    named = LinearCATE().fit(phi, t, y, 0.5, group=np.append(group[:90], 1000 + np.arange(90)))
    assert np.allclose(mixed.cov(), named.cov())
    single = LinearCATE().fit(phi, t, y, 0.5, group=np.arange(180)[::-1])
    assert np.allclose(single.cov("qv"), LinearCATE().fit(phi, t, y, 0.5).cov("qv"))


def test_a_direction_of_one_household_is_unknown_and_so_is_all_where_there_are_no_more_households_than_dimensions():
    phi, t, y, group = households()
    of_first = np.column_stack([phi, group == 0])
    model = LinearCATE().fit(of_first, t, y, 0.5, group=group)
    assert np.isinf(model.interval(np.eye(3))[1]).tolist() == [False, False, True]
    assert np.isfinite(LinearCATE().fit(of_first, t, y, 0.5).interval(np.eye(3))).all()
    few = LinearCATE().fit(phi[:6], t[:6], y[:6], 0.5, group=group[:6])
    assert np.isinf(few.interval(np.eye(2))).all()


@pytest.mark.parametrize("kind", ["qv", "selfnorm"])
def test_intervals_for_units_one_by_one_refuse_groups(kind):
    phi, t, y, group = households(size=2)
    model = LinearCATE().fit(phi[::2], t[::2], y[::2], 0.5, group=group[::2])
    assert np.isfinite(model.interval(np.eye(2), kind=kind, sigma=2.0)).all()
    model.partial_fit(phi[3:4], t[3:4], y[3:4], 0.5, group=[1])
    message = f"^the {kind} interval needs units that are randomised one by one: group 1 holds 2$"
    with pytest.raises(InvalidInput, match=message):
        model.interval(np.eye(2), kind=kind, sigma=2.0)
    assert np.isfinite(model.interval(np.eye(2))).all()


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ([1], r"group has shape \(1,\) for 2 units"),
        ([0.0, 1.0], "groups must be whole numbers, not float64"),
        (["a", "b"], "groups must be whole numbers, not <U1"),
    ],
)
def test_bad_groups_are_refused_and_change_nothing(group, message):
    model = LinearCATE().fit(np.eye(2), [0, 1], [1.0, 2.0], 0.5)
    for ask in (model.partial_fit, model.fit):
        with pytest.raises(InvalidInput, match=f"^{message}$"):
            ask(np.eye(2), [0, 1], [1.0, 2.0], 0.5, group=group)
    assert model.n == 2


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
    model = LinearCATE().fit(np.eye(2)[[0, 1, 0, 1]], [0, 1, 1, 1], [1.0, 2.0, 3.0, 4.0], 0.5)
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


def test_rows_are_copied_and_numpy_scalars_are_numbers():
    rng = np.random.default_rng(0)
    phi, pseudo = rng.normal(size=(20, 2)), rng.normal(size=20)
    model = LinearCATE(np.float32(1)).add(phi, pseudo)
    before = model.cov()
    phi[:], pseudo[:] = 0, 0
    assert np.array_equal(model.cov(), before)
    for kind in ("wald", "selfnorm"):
        bounds = model.interval(np.eye(2), np.float32(0.5), kind, sigma=np.float32(2), S=np.int64(1))
        assert np.allclose(bounds, model.interval(np.eye(2), 0.5, kind, sigma=2.0))
