"""The figures of merit: their identities, their signs, ties, and scikit-uplift beside ours."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import (
    auuc,
    coverage,
    cumulative_gain,
    gain_curve,
    interval_width,
    pehe,
    policy_value,
    qini,
    uplift_curve,
)

FEW = settings(max_examples=60, deadline=None)


@st.composite
def trials(draw, min_units=4):
    """Scores with ties, both arms of any imbalance, and both outcomes."""
    n = draw(st.integers(min_units, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    t = (rng.random(n) < draw(st.sampled_from([0.1, 0.5, 0.9]))).astype(int)
    y = (rng.random(n) < draw(st.sampled_from([0.05, 0.3, 0.8]))).astype(float)
    score = rng.integers(draw(st.sampled_from([2, 5, 1000])), size=n) / 7
    assume(0 < t.sum() < n and 0 < y.sum() < n)
    return score, t, y


def usable(t, y):
    """Whether Qini's denominator is not zero."""
    try:
        qini(np.zeros(len(t)), t, y)
    except InvalidInput:
        return False
    return True


@FEW
@given(trials())
def test_qini_of_a_constant_score_is_zero(trial):
    _, t, y = trial
    assume(usable(t, y))
    assert qini(np.full(len(y), 3.3), t, y) == 0
    assert auuc(np.zeros(len(y)), t, y) == 0


@FEW
@given(trials(), st.integers(0, 1000))
def test_ties_do_not_depend_on_the_order_of_rows(trial, seed):
    score, t, y = trial
    order = np.random.default_rng(seed).permutation(len(y))
    for metric in (auuc, cumulative_gain, qini):
        if metric is qini and not usable(t, y):
            continue
        whole = metric(score, t, y)
        assert metric(score[order], t[order], y[order]) == pytest.approx(whole, rel=1e-12, abs=1e-12)


@FEW
@given(trials())
def test_only_the_order_of_scores_counts(trial):
    score, t, y = trial
    rescaled = np.exp(score) - 40
    for metric in (auuc, cumulative_gain):
        assert metric(score, t, y) == metric(rescaled, t, y)
        assert metric(score, t, y) == metric(score.copy(), t, y)


@FEW
@given(trials())
def test_qini_is_at_most_one_where_its_docstring_says_so(trial):
    score, t, y = trial
    assume(usable(t, y))
    assume(y[t == 0].mean() <= t.mean())
    assert qini(score, t, y) <= 1 + 1e-12


def test_qini_of_the_best_ordering_is_one():
    t, y = np.array([1, 1, 1, 0, 0, 0]), np.array([1, 0, 1, 1, 0, 0])
    assert qini(np.where(t == 1, y, -y), t, y) == pytest.approx(1, abs=1e-15)


def test_qini_can_exceed_one_where_most_of_the_untreated_respond():
    # One treated unit that did not respond, put last: the best ordering that scikit-uplift divides by is not the best.
    assert qini([2, 2, 2, 1, 4, 0], [0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 0]) == pytest.approx(5)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_qini_equals_scikit_uplift():
    sklift = pytest.importorskip("sklift.metrics", reason="scikit-uplift is not installed")
    rng = np.random.default_rng(0)
    compared = 0
    while compared < 120:
        n = int(rng.integers(5, 400))
        t = (rng.random(n) < rng.choice([0.05, 1 / 6, 0.5, 0.95])).astype(int)
        y = (rng.random(n) < rng.choice([0.02, 0.3, 0.9])).astype(int)
        score = rng.integers(rng.choice([2, 10, 10**6]), size=n).astype(float)
        if not 0 < t.sum() < n or not usable(t, y):
            continue
        theirs = sklift.qini_auc_score(y_true=y, uplift=score, treatment=t, negative_effect=True)
        assert qini(score, t, y) == pytest.approx(theirs, rel=0, abs=1e-9)
        compared += 1


@pytest.mark.parametrize("effect", [0.3, -0.3])
def test_auuc_keeps_its_sign_where_the_average_effect_is_negative(effect):
    rng = np.random.default_rng(0)
    n = 20_000
    x = rng.random(n)
    t = rng.integers(2, size=n)
    tau = effect + 0.4 * (x - 0.5)
    y = (rng.random(n) < 0.5 + t * tau).astype(float)
    good, bad = auuc(x, t, y), auuc(-x, t, y)
    # A line of slope .4 over a uniform covariate: ∫ (1 − k)·k·.2 dk = 1/30.
    assert good == pytest.approx(1 / 30, abs=0.008)
    assert bad == pytest.approx(-1 / 30, abs=0.008)
    assert np.sign(auuc(x, t, y, baseline="none")) == np.sign(effect)
    assert qini(x, t, y) > 0 > qini(-x, t, y)
    assert cumulative_gain(x, t, y, 0.5) == pytest.approx(1 / 30, abs=0.008)


def test_the_gain_curve_by_hand():
    k, q = gain_curve([3, 3, 2, 1], [1, 0, 1, 0], [1, 1, 0, 0])
    # After the tie 1 − 1·1/1; then 1 − 1·2/1; at the end 1 − 1·2/2.
    assert k.tolist() == [0, 2, 3, 4]
    assert q.tolist() == [0, 0, -1, 0]
    k, u = uplift_curve([3, 3, 2, 1], [1, 0, 1, 0], [1, 1, 0, 0])
    assert k.tolist() == [0, 2, 3, 4]
    assert u == pytest.approx([0, 0, -0.5 * 3 / 4, 0])


def test_policy_value_by_hand():
    t, y = [1, 0, 1, 0], [1.0, 0.0, 3.0, 5.0]
    # Treat all: 1 and 3, weights 1/.5 and 1/.25; treat nobody: 0 and 5, weights 1/.5 and 1/.75.
    p = [0.5, 0.5, 0.25, 0.25]
    assert policy_value([True] * 4, t, y, p) == pytest.approx((2 * 1 + 4 * 3) / 6)
    assert policy_value([0] * 4, t, y, p) == pytest.approx((5 / 0.75) / (2 + 1 / 0.75))
    with pytest.raises(InvalidInput, match="no unit got the treatment that the policy would give it"):
        policy_value([0, 1, 0, 1], t, y, 0.5)


def test_pehe_coverage_and_width():
    assert pehe([1.0, 3.0], [0.0, 0.0]) == pytest.approx(np.sqrt(5))
    assert coverage([0, 0, 0], [1, 1, 1], [0.5, 1.0, 2.0]) == pytest.approx(2 / 3)
    assert interval_width([0, 0], [1, 3]) == 2
    assert interval_width([0], [np.inf]) == np.inf


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: qini([1, 2], [0, 1], [0, 2]), "^qini is for outcomes of 0 and 1; use cumulative_gain or pehe"),
        (lambda: qini([1, 2], [1, 1], [0, 1]), "^qini needs both arms and outcomes of both kinds"),
        (lambda: qini([1, np.nan], [0, 1], [0, 1]), "^score is nan in row 1$"),
        (lambda: qini([1], [0, 1], [0, 1]), r"^score must be of shape \(2,\), not \(1,\)$"),
        (lambda: qini([1, 2], ["a", "b"], [0, 1]), "^treatments must be the numbers 0 and 1, not <U1"),
        (lambda: auuc([], [], []), "^there are no units to judge by$"),
        (lambda: auuc([1, 2], [0, 1], [0, np.nan]), "^y is nan in row 1$"),
        (lambda: auuc([1, 2], [0, 1], [0, 1], baseline="sampled"), "^baseline must be theoretical or none"),
        (lambda: cumulative_gain([1, 2], [1, 1], [0, 1]), "^cumulative_gain needs treated and untreated units$"),
        (lambda: cumulative_gain([1, 2], [0, 1], [0, 1], 1.0), r"^a probability of treatment must be in \(0, 1\)"),
        (lambda: policy_value([1, 0], [0, 1], [0, 1], 0.0), r"^a probability of treatment must be in \(0, 1\)"),
        (lambda: policy_value([1, 2], [0, 1], [0, 1], 0.5), "^treatments must be 0 or 1, not 2 in row 1$"),
        (lambda: pehe([np.inf], [0]), "^estimate is inf in row 0$"),
        (lambda: pehe([], []), "^there are no units to judge by$"),
        (lambda: pehe([1, 2], [0]), r"^estimate must be of shape \(1,\), not \(2,\)$"),
        (lambda: coverage([0], [1], [np.nan]), "^truth is nan in row 0$"),
        (lambda: coverage([0, 0], [1, 1], [0]), r"^low must be of shape \(1,\), not \(2,\)$"),
        (lambda: coverage([np.nan], [1], [0]), "^low is nan in row 0$"),
        (lambda: interval_width([], []), "^there are no units to judge by$"),
        (lambda: interval_width([0, 0], [1]), r"^high must be of shape \(2,\), not \(1,\)$"),
        (lambda: interval_width([np.nan], [1]), "^low is nan in row 0$"),
    ],
)
def test_what_is_refused(ask, message):
    with pytest.raises(InvalidInput, match=message):
        ask()
