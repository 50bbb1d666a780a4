"""Choosing points: the greedy batch over a pool, and the search over continuous, mixed and simplex spaces."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import Continuous, Integer, Space
from scisuite.solvers.labo.acquisition import greedy_ucb_batch, maximise, maximise_ucb
from scisuite.solvers.labo.gp import GridGP, Hyperparameters


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 25), q=st.integers(1, 6), beta=st.floats(0, 5))
def test_the_greedy_batch_follows_its_formula(seed, n, q, beta):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2))
    mean, variance = rng.standard_normal(n), rng.random(n)
    correlation = np.exp(-np.square(x[:, None] - x[None]).sum(-1) / (2 * 0.3**2))
    picked = greedy_ucb_batch(mean, variance, q, beta, lambda i: correlation[i])
    assert len(picked) == len(set(picked)) == min(q, n)
    # The brief's form: u ← u − β(√v − √(v(1 − k²))), one step for each point picked so far.
    bound, v = mean + beta * np.sqrt(variance), variance.copy()
    for i in picked:
        free = [j for j in range(n) if j not in picked[: picked.index(i)]]
        assert bound[i] == pytest.approx(bound[free].max(), abs=1e-12)
        left = v * (1 - correlation[i] ** 2).clip(0, 1)
        bound, v = bound - beta * (np.sqrt(v) - np.sqrt(left)), left


def test_the_second_point_avoids_the_first_ones_neighbourhood():
    x = np.array([[0.5], [0.51], [0.0]])
    correlation = np.exp(-np.square(x - x.T) / (2 * 0.1**2))
    mean, variance = np.array([1.0, 0.99, 0.5]), np.ones(3)
    assert greedy_ucb_batch(mean, variance, 2, 2.0, lambda i: correlation[i]) == [0, 2]
    assert greedy_ucb_batch(mean, variance, 2, 0.0, lambda i: correlation[i]) == [0, 1]
    assert variance.tolist() == [1, 1, 1]


def bowl(centre):
    target = torch.tensor(centre, dtype=torch.float64)
    return lambda x: -(x - target).square().sum(-1)


NOWHERE = np.empty((0, 2))


def accept(row):
    return False


def test_the_maximum_of_a_smooth_score_is_found():
    space = Space.from_bounds(x=(0, 10), y=(-1, 1))
    best = maximise(space, bowl([0.3, 0.8]), NOWHERE, accept, np.random.default_rng(0))
    np.testing.assert_allclose(best, [0.3, 0.8], atol=1e-4)
    corner = maximise(space, bowl([1.4, -0.2]), NOWHERE, accept, np.random.default_rng(0))
    np.testing.assert_allclose(corner, [1.0, 0.0], atol=1e-6)


def test_the_maximum_on_a_simplex_is_on_the_simplex():
    space = Space.from_bounds(simplex=True, a=(0, 1), b=(0, 1), c=(0, 1))
    best = maximise(space, bowl([0.2, 0.3, 0.5]), np.empty((0, 3)), accept, np.random.default_rng(0))
    np.testing.assert_allclose(best, [0.2, 0.3, 0.5], atol=1e-3)
    edge = maximise(space, bowl([0.9, 0.6, -0.5]), np.empty((0, 3)), accept, np.random.default_rng(0))
    assert space.contains(edge[None]).all()
    np.testing.assert_allclose(edge, [0.65, 0.35, 0.0], atol=1e-3)


def test_mixed_spaces_give_valid_points():
    space = Space((*Space.from_bounds(u=(0, 1), kind=["A", "B", "C"]).dimensions, Integer("count", 1, 5)))
    best = maximise(space, bowl([0.33, 0, 1, 0, 0.72]), np.empty((0, 5)), accept, np.random.default_rng(0))
    point = space.decode(space.require(best[None]))[0]
    assert point["kind"] == "B"
    assert point["count"] == 4
    assert point["u"] == pytest.approx(0.33, abs=1e-3)


def test_discrete_spaces_are_searched_without_gradients_and_may_run_out():
    space = Space.from_bounds(kind=["A", "B", "C"])
    rng = np.random.default_rng(0)
    score = bowl([0.0, 0.2, 1.0])
    assert space.decode(maximise(space, score, np.empty((0, 3)), accept, rng)[None]) == [{"kind": "C"}]
    not_c = maximise(space, score, np.empty((0, 3)), lambda row: row[2] == 1, rng)
    assert space.decode(not_c[None]) == [{"kind": "B"}]
    assert maximise(space, score, np.empty((0, 3)), lambda row: True, rng) is None


def test_the_same_generator_gives_the_same_point_and_no_global_one_is_used():
    space = Space((Continuous("x", 0, 1), Continuous("y", 0, 1)))
    state = torch.random.get_rng_state()
    runs = [maximise(space, bowl([0.1, 0.9]), np.full((1, 2), 0.2), accept, np.random.default_rng(7)) for _ in range(2)]
    np.testing.assert_array_equal(*runs)
    assert torch.equal(state, torch.random.get_rng_state())


def test_a_batch_over_a_continuous_space_spreads_as_it_does_over_a_pool():
    space = Space.from_bounds(x=(0, 1))
    gp = GridGP(Hyperparameters(0.1, 1e-4)).fit(np.array([[0.2], [0.8]]), np.array([1.0, 0.0]), scale=1.0)
    rng = np.random.default_rng(0)
    picked = maximise_ucb(space, gp.predict_tensor, 3, 2.0, gp.kernel, np.array([[0.2]]), accept, rng)
    assert len(picked) == 3
    pool = np.linspace(0, 1, 2001)[:, None]
    mean, variance = gp.predict(pool)
    expected = pool[greedy_ucb_batch(mean, variance, 1, 2.0, lambda i: gp.correlation(pool, pool[i : i + 1])[:, 0])]
    assert picked[0] == pytest.approx(expected[0], abs=2e-3)
    assert min(abs(picked[0] - picked[1]), abs(picked[0] - picked[2]), abs(picked[1] - picked[2])) > 0.05


def test_a_batch_ends_where_every_point_is_taken():
    space = Space.from_bounds(kind=["A", "B"])
    gp = GridGP(Hyperparameters(1.0, 1e-4)).fit(space.encode([{"kind": "A"}]), np.array([1.0]))
    picked = maximise_ucb(
        space, gp.predict_tensor, 5, 1.0, gp.kernel, np.empty((0, 2)), accept, np.random.default_rng(0)
    )
    assert sorted(space.decode(np.array(picked)), key=str) == [{"kind": "A"}, {"kind": "B"}]
