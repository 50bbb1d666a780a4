"""Scores in blocks are the scores of the whole pool."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct import streaming
from scisuite.solvers.active_rct.learners import LinearLearner
from scisuite.solvers.active_rct.logistic import Logistic
from scisuite.solvers.active_rct.scores import choose_top, overlap_deficit, score_pool
from scisuite.solvers.active_rct.streaming import fit_domain, score_stream

RNG = np.random.default_rng(0)
LOG = Logged(RNG.normal(0.5, 1, (150, 5)), RNG.integers(0, 2, 150), RNG.normal(size=150))
POOL = RNG.normal(size=(3001, 5)).astype(np.float32)
POLICY = Logistic().fit(LOG.x, LOG.t)
DOMAIN = fit_domain(POOL, LOG.x, generator(0, "domain"))
LEARNER = LinearLearner(LOG)
LEARNER.observe(Logged(POOL[:20], RNG.integers(0, 2, 20), RNG.normal(size=20), p=np.full(20, 0.5)))


@pytest.mark.parametrize("weights", [(1, 0.7, 0.3), (1, 0, 0), (0, 1, 2), (1, 1, 1)])
@pytest.mark.parametrize("form", ["array", "blocks", "generator"])
def test_a_stream_scores_as_the_pool_does(weights, form):
    score = score_pool(
        LEARNER.uncertainty(POOL),
        DOMAIN.predict_proba(POOL)[:, 1],
        overlap_deficit(POLICY.predict_proba(POOL)[:, 1]),
        weights,
    )
    pool = {
        "array": POOL,
        "blocks": np.array_split(POOL, 7),
        "generator": (POOL[i : i + 999] for i in range(0, 3001, 999)),
    }
    places, scores = score_stream(pool[form], LEARNER, POLICY, DOMAIN, weights, 40, generator(0, "ties"))
    assert np.array_equal(places, choose_top(score, 40, generator(0, "ties")))
    assert scores == pytest.approx(score[places], abs=1e-12)
    assert (np.diff(scores) <= 0).all()


def test_an_array_is_never_copied_whole(monkeypatch):
    sizes = []

    class Watching:
        def uncertainty(self, x):
            sizes.append(len(x))
            return x[:, 0]

    monkeypatch.setattr(streaming, "BLOCK", 1000)
    places, _ = score_stream(POOL, Watching(), None, None, (1, 0, 0), 3, generator(0))
    assert sizes == [1000, 1000, 1000, 1]
    assert np.array_equal(places, np.argsort(-POOL[:, 0])[:3])


def test_the_domain_classifier_sees_a_capped_sample_of_each():
    rows = np.arange(30.0)[:, None]
    capped = fit_domain(rows + 100, rows, generator(0), cap=10)
    low, high = capped.predict_proba([[0.0], [129.0]])[:, 1]
    assert low < 0.2
    assert high > 0.8
    again, other = (fit_domain(rows + 100, rows, generator(seed), cap=10) for seed in (0, 1))
    probe = [[60.0]]
    assert np.array_equal(again.predict_proba(probe), capped.predict_proba(probe))
    assert not np.array_equal(other.predict_proba(probe), capped.predict_proba(probe))
    whole = Logistic(balanced=True).fit(np.concatenate([rows + 100, rows]), np.repeat([1, 0], 30))
    assert fit_domain(rows + 100, rows, generator(0)).predict_proba(probe) == pytest.approx(whole.predict_proba(probe))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"blocks": []}, "the pool has no blocks"),
        ({"blocks": [POOL[:5], POOL[:5, :3]]}, "block 1 has 3 covariates, those before had 5"),
        ({"blocks": [POOL[:5], np.full((2, 5), np.nan)]}, "block 1 is nan in row 0, column 0"),
        ({"blocks": POOL[:, 0]}, r"the pool must be of shape \(n, d\), not \(3001,\)"),
        (
            {"blocks": POOL[:9, :3], "weights": (1, 0, 0)},
            r"covariates must be of shape \(n, 5\), as the log's, not \(9, 3\)",
        ),
        ({"domain": None}, "the weight of the domain classifier is 1, but there is none"),
        ({"policy": None}, "the weight of the policy classifier is 1, but there is none"),
        ({"m": 3002}, "a batch must have 1 to 3001 units, as many as the pool has left, not 3002"),
        ({"m": 0}, "a batch must have 1 to 3001 units, as many as the pool has left, not 0"),
        ({"weights": (0, 0, 0)}, r"weights must not be negative, nor all zero, not \(0.0, 0.0, 0.0\)"),
    ],
)
def test_bad_pools_are_refused(changed, message):
    arguments = {"blocks": POOL, "policy": POLICY, "domain": DOMAIN, "weights": (1, 1, 1), "m": 5, **changed}
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        score_stream(learner=LEARNER, rng=generator(0), **arguments)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cap": 0}, "cap must be a whole number from 1, not 0"),
        ({"pool": np.zeros((0, 5))}, r"pool must be of shape \(n, d\) with n ≥ 1, not \(0, 5\)"),
        ({"data": np.zeros((4, 3))}, "the pool has 5 covariates, the data 3"),
        ({"data": np.full((1, 5), np.inf)}, "data is inf in row 0, column 0"),
    ],
)
def test_bad_samples_are_refused(changed, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        fit_domain(**{"pool": POOL, "data": LOG.x, "rng": generator(0), **changed})
