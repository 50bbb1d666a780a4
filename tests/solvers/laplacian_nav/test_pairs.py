"""Pairs of observations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import Budget, InvalidInput, generator
from scisuite.solvers.laplacian_nav.pairs import DistinctPairs, lagged_pairs


@given(st.integers(2, 40), st.sampled_from([0.0, 0.5, 0.9, 0.99]), st.integers(0, 100))
def test_pairs_lie_inside_the_trajectory_the_later_one_later(length, gamma, seed):
    first, second = lagged_pairs(length, 50, gamma, seed)
    assert first.min() >= 0
    assert second.max() < length
    assert (second > first).all()
    if gamma == 0:
        assert (second == first + 1).all()


def test_lags_are_geometric_and_reproducible():
    first, second = lagged_pairs(100_000, 20_000, 0.9, 3)
    lags = second - first
    assert lags.mean() == pytest.approx(10, rel=0.03)
    assert (lags == 1).mean() == pytest.approx(0.1, abs=0.01)
    again = lagged_pairs(100_000, 20_000, 0.9, 3)
    assert np.array_equal(again[0], first)
    assert np.array_equal(again[1], second)
    assert not np.array_equal(lagged_pairs(100_000, 20_000, 0.9, 4)[0], first)


@pytest.mark.parametrize(
    ("length", "count", "gamma", "message"),
    [
        (1, 5, 0.9, r"^pairs need a trajectory of at least 2 observations, not 1$"),
        (5, 0, 0.9, r"^count must be a positive whole number, not 0$"),
        (5, 5, 1.0, r"^gamma must be in \[0, 1\), not 1.0$"),
        (5, 5, float("nan"), r"^gamma must be in \[0, 1\), not nan$"),
    ],
)
def test_refused_trajectories(length, count, gamma, message):
    with pytest.raises(InvalidInput, match=message):
        lagged_pairs(length, count, gamma, 0)


@given(st.integers(0, 200), st.sampled_from(["float32", "uint8"]))
def test_the_distinct_observations_and_nothing_lost(seed, dtype):
    rng = generator(seed, "observations")
    obs, next_obs = rng.integers(3, size=(2, 9, 1, 2, 1)).astype(dtype)
    pairs = DistinctPairs.of(obs, next_obs)
    assert len(np.unique(pairs.frames.reshape(len(pairs.frames), -1), axis=0)) == len(pairs.frames)
    assert np.array_equal(pairs.frames[pairs.first], obs)
    assert np.array_equal(pairs.frames[pairs.second], next_obs)
    assert pairs.frames.dtype == obs.dtype


def test_places_that_look_alike_are_one():
    obs = np.array([[0.0], [1.0], [0.0]], dtype=np.float32)
    pairs = DistinctPairs.of(obs, obs[::-1].copy())
    assert pairs.frames.tolist() == [[0.0], [1.0]]
    assert pairs.first.tolist() == [0, 1, 0]


def test_batches_hold_pairs_of_the_data_until_the_budget_is_used():
    rng = generator(0, "observations")
    obs, next_obs = rng.integers(4, size=(2, 30, 2)).astype(np.float32)
    pairs = DistinctPairs.of(obs, next_obs)
    there = {(tuple(a), tuple(b)) for a, b in zip(obs.tolist(), next_obs.tolist(), strict=True)}
    batches = list(pairs.batches(8, Budget(3, "steps"), 0))
    assert [batch.spent for batch in batches] == [0.0, pytest.approx(1 / 3), pytest.approx(2 / 3)]
    for batch in batches:
        rows = zip(batch.frames[batch.first].tolist(), batch.frames[batch.second].tolist(), strict=True)
        assert {(tuple(a), tuple(b)) for a, b in rows} <= there
        assert len(batch.first) == 8
    timed = [batch.spent for batch in pairs.batches(8, Budget(0.05, "cpu_seconds"), 0)]
    assert timed[0] < timed[-1] < 1.0


FLOATS = np.zeros((4, 2), dtype=np.float32)


@pytest.mark.parametrize(
    ("obs", "next_obs", "message"),
    [
        (FLOATS.astype(np.float64), FLOATS, r"^observations must be float32 or uint8, not float64$"),
        (FLOATS > 0, FLOATS, r"^observations must be float32 or uint8, not bool$"),
        (
            FLOATS[0],
            FLOATS,
            r"^observations must have shape \(n, channels, height, width\) or \(n, numbers\), not \(2,\)$",
        ),
        (
            FLOATS,
            FLOATS[:3],
            r"^obs and next_obs must have one shape and dtype, not float32 \(4, 2\) and float32 \(3, 2\)$",
        ),
        (FLOATS, FLOATS + np.float32("nan"), r"^observations must be finite, but next_obs holds NaN or infinity$"),
    ],
)
def test_refused_observations(obs, next_obs, message):
    with pytest.raises(InvalidInput, match=message):
        DistinctPairs.of(obs, next_obs)


def test_a_budget_in_evaluations():
    pairs = DistinctPairs.of(FLOATS, FLOATS)
    with pytest.raises(InvalidInput, match=r"^modes are learnt for a budget of steps or cpu_seconds, not evaluations$"):
        next(pairs.batches(1, Budget(3, "evaluations"), 0))
