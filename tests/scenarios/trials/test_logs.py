"""The confounded log: what its policy does, what the subsample keeps, and that its bias is the one that is written."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.trials.logs import confounded_subsample, targeting_policy, targeting_score


def odds(share):
    return share / (1 - share)


def test_the_policy_by_hand():
    pi = targeting_policy([0.0, 1.0, -9.0, 9.0], steepness=2.0, floor=0.02)
    assert pi == pytest.approx([0.5, 1 / (1 + np.exp(-2)), 0.02, 0.98])
    hinted = targeting_policy([0.0, 9.0], floor=0.02, hint=[1, 1], strength=0.5)
    assert odds(hinted) == pytest.approx(np.exp(0.5) * np.array([1, 49]))


@pytest.mark.parametrize("p", [0.5, 1 / 6])
def test_among_those_that_are_kept_the_policy_holds_exactly(p):
    rng = np.random.default_rng(0)
    n = 200_000
    s = rng.choice([-2.0, -0.5, 0.5, 2.0], size=n)
    t = (rng.random(n) < p).astype(int)
    pi = targeting_policy(s)
    kept = confounded_subsample(rng, t, p, pi)
    assert (np.diff(kept) > 0).all()
    for value in np.unique(s):
        here = kept[s[kept] == value]
        error = np.sqrt(0.25 / len(here))
        assert t[here].mean() == pytest.approx(pi[s == value][0], abs=4 * error)
        # As many of each score as there are: the log is not shifted in the covariates.
        assert len(here) / len(kept) == pytest.approx(0.25, abs=0.015)
    # As many as the docstring says.
    expected = n * min(p / pi.max(), (1 - p) / (1 - pi).max())
    assert len(kept) == pytest.approx(expected, rel=0.03)


def test_a_log_without_a_hint_is_biased_until_the_score_is_known_and_lacks_overlap():
    rng = np.random.default_rng(1)
    n = 100_000
    s = rng.standard_normal(n)
    t = rng.integers(2, size=n)
    y = 0.7 * s + 0.2 * t + rng.normal(size=n)
    kept = confounded_subsample(rng, t, 0.5, targeting_policy(s))
    s, t, y = s[kept], t[kept], y[kept]
    assert y[t == 1].mean() - y[t == 0].mean() > 0.8
    coefficients = np.linalg.lstsq(np.column_stack([t, s, np.ones(len(s))]), y, rcond=None)[0]
    assert coefficients[0] == pytest.approx(0.2, abs=0.05)
    assert t[s < -1.5].mean() < 0.03
    assert t[s > 1.5].mean() > 0.97


@pytest.mark.parametrize("strength", [0.5, -1.0])
def test_a_hint_of_the_outcome_multiplies_the_odds_ratio_as_written(strength):
    rng = np.random.default_rng(2)
    n = 600_000
    s = rng.choice([-0.4, 0.4], size=n)
    t = rng.integers(2, size=n)
    y = (rng.random(n) < 0.2 + 0.1 * t + 0.1 * (s > 0)).astype(int)
    kept = confounded_subsample(rng, t, 0.5, targeting_policy(s, hint=y, strength=strength))
    for value in (-0.4, 0.4):
        truth = odds(0.3 + 0.1 * (value > 0)) / odds(0.2 + 0.1 * (value > 0))
        here = kept[s[kept] == value]
        seen = odds(y[here][t[here] == 1].mean()) / odds(y[here][t[here] == 0].mean())
        assert np.log(seen / truth) == pytest.approx(strength, abs=0.06)


def test_the_targeting_score_is_standardised():
    x = np.random.default_rng(0).normal(3, 5, size=(200, 3))
    s = targeting_score(x, [1.0, -2.0, 0.0])
    assert s.mean() == pytest.approx(0, abs=1e-12)
    assert s.std() == pytest.approx(1)
    assert np.corrcoef(s, x[:, 0] - 2 * x[:, 1])[0, 1] == pytest.approx(1)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda rng: targeting_policy([0.0], floor=0.5), r"^floor must be in \(0, ½\), not 0.5$"),
        (lambda rng: targeting_policy([np.nan]), "^score is nan in row 0$"),
        (lambda rng: targeting_policy([0.0], hint=[0, 1]), r"^hint must be of shape \(1,\), not \(2,\)$"),
        (lambda rng: targeting_policy([0.0], steepness=np.inf), "^steepness and strength must be finite$"),
        (lambda rng: confounded_subsample(rng, [1, 1, 1], 0.5, [0.5] * 3), "^a log of 3 units would hold one arm"),
        (lambda rng: confounded_subsample(rng, [], 0.5, []), "^a log of 0 units would hold nobody: too few$"),
        (lambda rng: confounded_subsample(rng, [0, 1], 1.0, [0.5] * 2), r"must be in \(0, 1\), not 1 in row 0$"),
        (lambda rng: confounded_subsample(rng, [0, 1], 0.5, [0.5, 0]), r"must be in \(0, 1\), not 0 in row 1$"),
        (lambda rng: confounded_subsample(rng, ["a"], 0.5, [0.5]), "^treatments must be the numbers 0 and 1"),
        (lambda rng: targeting_score([[1.0], [1.0]], [2.0]), "^every unit has the same targeting score$"),
        (lambda rng: targeting_score([[1.0, 2.0]], [2.0]), r"^weights must be of shape \(2,\), not \(1,\)$"),
    ],
)
def test_what_is_refused(ask, message):
    with pytest.raises(InvalidInput, match=message):
        ask(np.random.default_rng(0))
