"""Matrices that are equal up to the order of their rows and columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.recovery import matching
from scisuite.solvers.crn_reduce.recovery.matching import match_matrices, rate_classes, row_classes


def cycles(*lengths: int) -> np.ndarray:
    return linalg.block_diag(*(np.eye(k, dtype=np.int64) + np.roll(np.eye(k, dtype=np.int64), 1, 0) for k in lengths))


def assert_matched(a: np.ndarray, b: np.ndarray, blocks: np.ndarray | None = None) -> None:
    found = match_matrices(a, b, blocks)
    assert found is not None
    rows, columns = found
    np.testing.assert_array_equal(a[rows][:, columns], b)
    if blocks is not None:
        np.testing.assert_array_equal(blocks[columns], blocks)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4))
def test_shuffled_matrices_are_matched(seed, n, m, levels):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, levels, (n, m))
    blocks = np.sort(rng.integers(0, 2, m))
    within = np.concatenate([rng.permutation(np.flatnonzero(blocks == k)) for k in (0, 1)])
    assert_matched(a, a[rng.permutation(n)][:, within], blocks)
    assert_matched(a, a[rng.permutation(n)][:, rng.permutation(m)])


@pytest.mark.parametrize(
    "a",
    [
        np.eye(60, dtype=np.int64),
        np.ones((60, 60), dtype=np.int64),
        np.add.outer(np.arange(60), np.arange(60)) % 60,
        linalg.hadamard(32).astype(np.int64),
        cycles(4, 5, 6, 7, 8, 10, 20),
    ],
    ids=["identity", "constant", "circulant", "hadamard", "cycles"],
)
def test_symmetric_matrices_of_sixty_values_are_matched(a):
    rng = np.random.default_rng(0)
    assert_matched(a, a[rng.permutation(len(a))][:, rng.permutation(len(a))])


def test_what_counting_cannot_tell_apart_is_told_apart():
    assert match_matrices(cycles(6), cycles(3, 3)) is None
    assert match_matrices(np.array([[0, 1]]), np.array([[0, 2]])) is None
    assert match_matrices(np.zeros((1, 2), int), np.zeros((2, 1), int)) is None
    one = np.array([[0, 1], [0, 1]])
    assert match_matrices(one, one[:, ::-1]) is not None
    assert match_matrices(one, one[:, ::-1], np.array([0, 1])) is None


def test_a_search_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(matching, "MAX_TRIALS", 3)
    with pytest.raises(NotNappAdams, match="^3 trials did not match two read-outs of a table: it is too symmetric$"):
        match_matrices(np.eye(9, dtype=np.int64), np.eye(9, dtype=np.int64))


def test_rates_equal_up_to_rounding_share_a_class():
    rates = np.array([[0.3, 0.1 + 0.2], [0.0, 0.3 * (1 + 1e-11)], [1e-300, 0.0]])
    np.testing.assert_array_equal(rate_classes(rates, 1e-12), [[2, 2], [0, 3], [1, 0]])


def test_rows_are_numbered_in_their_order():
    rows = np.array([[2, 0], [1, 5], [1, 4], [2, 0]])
    np.testing.assert_array_equal(row_classes(rows), [2, 1, 0, 2])
