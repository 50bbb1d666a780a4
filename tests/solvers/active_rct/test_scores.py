"""The rank-combined score and the choice of a batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.solvers.active_rct.scores import choose_top, fractional_rank, overlap_deficit, score_pool, score_weights

columns = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(-4, 4), min_size=n, max_size=n), min_size=3, max_size=3)
)
weights = st.lists(st.integers(0, 3), min_size=3, max_size=3).filter(any)


@settings(max_examples=60, deadline=None)
@given(columns=columns, weights=weights)
def test_only_the_order_of_each_term_counts(columns, weights):
    v, d, o = np.array(columns, dtype=float)
    mapped = score_pool(np.exp(v), d**3 + d, np.arctan(o) - 7, weights)
    assert np.array_equal(score_pool(v, d, o, weights), mapped)


@settings(max_examples=60, deadline=None)
@given(columns=columns, weights=weights, seed=st.integers(0, 99))
def test_scores_go_with_their_units_and_stay_within_the_weights(columns, weights, seed):
    terms = np.array(columns, dtype=float)
    order = np.random.default_rng(seed).permutation(terms.shape[1])
    score = score_pool(*terms, weights)
    assert np.array_equal(score_pool(*terms[:, order], weights), score[order])
    assert score.min() > 0
    assert score.max() <= sum(weights) + 1e-12


def test_ties_share_the_average_rank():
    assert fractional_rank([3.0, 1.0, 3.0, 9.0]).tolist() == [2.5 / 4, 1 / 4, 2.5 / 4, 1.0]
    assert score_pool([1, 2], [5, 5], [2, 1], (1, 2, 0.5)).tolist() == [0.5 + 1.5 + 0.5, 1 + 1.5 + 0.25]


def test_overlap_deficit_is_the_distance_from_a_coin():
    assert overlap_deficit([0.0, 0.5, 0.9, 1.0]) == pytest.approx([1.0, 0.0, 0.8, 1.0])
    with pytest.raises(InvalidInput, match=r"^a propensity must be in \[0, 1\], not 1.5$"):
        overlap_deficit([0.5, 1.5])


@settings(max_examples=40, deadline=None)
@given(scores=st.lists(st.integers(0, 5), min_size=2, max_size=30).filter(lambda s: len(set(s)) > 1), data=st.data())
def test_the_best_are_chosen_once_each_and_best_first(scores, data):
    m = data.draw(st.integers(1, len(scores)))
    chosen = choose_top(scores, m, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == m
    assert [scores[i] for i in chosen] == sorted(scores, reverse=True)[:m]


def test_ties_are_broken_by_the_generator():
    scores = [1.0] * 30 + [2.0]
    draws = {tuple(choose_top(scores, 3, np.random.default_rng(seed))) for seed in range(5)}
    assert len(draws) > 1
    assert all(draw[0] == 30 for draw in draws)
    same = [tuple(choose_top(scores, 3, np.random.default_rng(1))) for _ in range(2)]
    assert same[0] == same[1]


def test_constant_scores_warn_and_choose_at_random():
    with pytest.warns(RuntimeWarning, match="^all scores are equal: the batch is a random one$"):
        first = choose_top(np.ones(100), 5, np.random.default_rng(0))
    with pytest.warns(RuntimeWarning, match="all scores are equal"):
        second = choose_top(np.ones(100), 5, np.random.default_rng(1))
    assert set(first) != set(second)
    assert sorted(first) != list(range(5))


@pytest.mark.parametrize("m", [0, -1, 4, True, 2.0])
def test_a_batch_is_no_larger_than_the_pool(m):
    with pytest.raises(
        InvalidInput, match=rf"^a batch must have 1 to 3 units, as many as the pool has left, not {m!r}$"
    ):
        choose_top([1.0, 2.0, 3.0], m, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ((1, 1), "there are three weights, of v, d and o, not 2"),
        ((0, 0, 0), r"weights must not be negative, nor all zero, not \(0.0, 0.0, 0.0\)"),
        ((1, -1, 0), r"weights must not be negative, nor all zero, not \(1.0, -1.0, 0.0\)"),
        ((1, np.nan, 0), "weights is nan in row 1"),
        (("a", 1, 1), "weights must hold numbers: .*"),
    ],
)
def test_bad_weights_are_refused(given_, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        score_weights(given_)


def test_bad_terms_are_refused():
    with pytest.raises(InvalidInput, match="^d is nan in row 1$"):
        score_pool([1, 2], [0, np.nan], [0, 0])
    with pytest.raises(InvalidInput, match=r"^o must be of shape \(2,\), not \(3,\)$"):
        score_pool([1, 2], [0, 1], [0, 0, 0])
