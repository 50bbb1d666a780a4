"""The study of thousands of replications, against the linear model run unit by unit on the same draws."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.bench.experiments.active_rct.study import GREEDY_EXPLORATION, study
from scisuite.solvers.active_rct.linear import LinearCATE
from scisuite.solvers.active_rct.pseudo import pseudo_outcome

THETA = np.array([0.5, -0.4, 0.3, 0.0])
D = len(THETA)


def replay(policy, augmented, adaptive_p, budget, rng):
    """One replication with LinearCATE, which draws in the order in which the study does."""
    plain, ridge = LinearCATE(1e-6), LinearCATE(1.0)
    past = {(j, arm): [0.5] for j in range(D) for arm in (0, 1)}
    theta, counts = np.zeros(D), np.zeros(D)
    for step in range(budget):
        if policy == "random":
            j = int(rng.integers(D, size=1)[0])
        elif policy == "leverage":
            j = int(np.argmin(counts + rng.random(D) / 2))
        elif step < 2 * D:
            j = step % D
        else:
            best = int(np.argmax(theta + rng.random(D) * 1e-12))
            explore = rng.random() < GREEDY_EXPLORATION
            other = int(rng.integers(D, size=1)[0])
            j = other if explore else best
        phi = np.eye(D)[[j]]
        p = float(np.clip(0.5 + 0.3 * theta[j], 0.2, 0.8)) if adaptive_p else 0.5
        t = int(rng.random() < p)
        y = float(rng.random() < 0.5 + (t - 0.5) * THETA[j])
        mu = [np.array([np.mean(past[j, arm])]) for arm in (0, 1)] if augmented else [None, None]
        pseudo = pseudo_outcome([t], [y], p, *mu)
        for model in (plain, ridge):
            model.add(phi, pseudo)
        past[j, t].append(y)
        theta, counts = plain.theta, counts + phi[0]
    return plain, ridge, counts


@pytest.mark.parametrize("policy", ["random", "leverage", "greedy"])
@pytest.mark.parametrize(("augmented", "adaptive_p"), [(True, True), (False, True), (False, False)])
def test_a_replication_is_what_the_linear_model_makes_of_the_same_units(policy, augmented, adaptive_p):
    arguments = {"augmented": augmented, "adaptive_p": adaptive_p, "budget": 120}
    found = study(policy, replications=1, rng=np.random.default_rng(5), **arguments)
    plain, ridge, counts = replay(policy, rng=np.random.default_rng(5), **arguments)
    assert found.counts[0].tolist() == counts.tolist()
    assert found.estimate[0] == pytest.approx(plain.theta, abs=1e-9)
    assert found.ridge_estimate[0] == pytest.approx(ridge.theta, abs=1e-9)
    low, high = plain.interval(np.eye(D))
    assert found.wald[0] == pytest.approx((high - low) / 2, rel=1e-6, abs=1e-9)
    low, high = ridge.interval(np.eye(D), kind="selfnorm", sigma=10.0)
    assert found.selfnorm[0] == pytest.approx((high - low) / 2)
    assert np.array_equal(found.wald_covers[0], np.abs(plain.theta - THETA) <= found.wald[0])


@pytest.mark.parametrize("seed", range(4))
def test_of_few_units_the_intervals_agree_but_for_segments_of_one(seed):
    """The study has no residual where a segment has one unit; the linear model says that nothing is known there."""
    arguments = {"augmented": True, "adaptive_p": True, "budget": 7}
    found = study("random", replications=1, rng=np.random.default_rng(seed), **arguments)
    plain, _, counts = replay("random", rng=np.random.default_rng(seed), **arguments)
    low, high = plain.interval(np.eye(D))
    several, none = counts > 1, counts == 0
    assert several.any()
    assert found.wald[0][several] == pytest.approx(((high - low) / 2)[several], rel=1e-6, abs=1e-5)
    assert np.isinf(found.wald[0][none]).all()
    assert np.isinf(high - low).tolist() == (~several).tolist()


def test_a_segment_without_units_has_an_infinite_interval():
    found = study("random", augmented=True, budget=1, replications=3, rng=np.random.default_rng(0))
    assert (np.isinf(found.wald) == (found.counts == 0)).all()


def test_unbiased_under_random_and_biased_under_greedy_choice():
    random, greedy = (
        study(policy, augmented=False, budget=300, replications=800, rng=np.random.default_rng(0))
        for policy in ("random", "greedy")
    )
    error = (random.estimate - random.theta).std(axis=0) / np.sqrt(800)
    assert (np.abs(random.estimate.mean(axis=0) - random.theta) < 4 * error).all()
    assert greedy.estimate.mean(axis=0)[1] < -0.45
    assert random.wald_covers.mean() == pytest.approx(0.95, abs=0.03)
    assert greedy.wald_covers.mean(axis=0).min() < 0.9
    assert greedy.selfnorm_covers.mean() > 0.99
