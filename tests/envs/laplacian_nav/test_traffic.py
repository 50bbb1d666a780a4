"""Who may move: the rule in words, by cases and against the definition on random crowds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.envs.laplacian_nav.traffic import cancelled_moves

CASES = {
    "alone": ([0], [1], [False]),
    "nobody": ([], [], []),
    "into one that waits": ([0, 1], [1, 1], [True, False]),
    "two into one cell": ([0, 2], [1, 1], [True, True]),
    "three into one cell": ([0, 2, 3], [1, 1, 1], [True, True, True]),
    "a swap": ([0, 1], [1, 0], [True, True]),
    "behind one that leaves": ([0, 1], [1, 2], [False, False]),
    "a column": ([0, 1, 2, 3], [1, 2, 3, 4], [False, False, False, False]),
    "a column whose head waits": ([0, 1, 2, 3], [1, 2, 3, 3], [True, True, True, False]),
    "a column whose head meets another": ([0, 1, 2, 9], [1, 2, 3, 3], [True, True, True, True]),
    "a column that joins from the side": ([0, 1, 5], [1, 2, 1], [True, False, True]),
    "a circle of three": ([0, 1, 2], [1, 2, 0], [False, False, False]),
    "a circle of four": ([0, 1, 2, 3], [1, 2, 3, 0], [False, False, False, False]),
    "a circle with a fifth that pushes in": ([0, 1, 2, 3, 7], [1, 2, 3, 0, 0], [True, True, True, True, True]),
    "a swap with one behind": ([0, 1, 2], [1, 2, 1], [True, True, True]),
    "two pairs apart": ([0, 1, 10, 11], [1, 0, 11, 12], [True, True, False, False]),
}


@pytest.mark.parametrize(("here", "wanted", "cancelled"), CASES.values(), ids=CASES)
def test_cases(here: list[int], wanted: list[int], cancelled: list[bool]) -> None:
    assert cancelled_moves(here, wanted) == cancelled


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Distinct cells of a small ring, and for each its own cell, the next or one of two others."""
    n = draw(st.integers(2, 8))
    here = draw(st.permutations(range(n)).map(lambda cells: cells[: 1 + n // 2 + n % 2]))
    wanted = [(cell + draw(st.sampled_from([0, 1, 1, -1, 2]))) % n for cell in here]
    return here, wanted


@given(crowds(), st.randoms(use_true_random=False))
@settings(max_examples=150)
def test_the_definition(crowd: tuple[list[int], list[int]], random: object) -> None:
    here, wanted = crowd
    cancelled = cancelled_moves(here, wanted)
    after = [cell if stopped else there for cell, there, stopped in zip(here, wanted, cancelled, strict=True)]
    assert len(set(after)) == len(after), "two in one cell"
    k = len(here)
    for i in range(k):
        others = [j for j in range(k) if j != i]
        swapped = [j for j in others if after[i] == here[j] and after[j] == here[i]]
        assert not swapped, "two walked through each other"
        if wanted[i] == here[i]:
            assert not cancelled[i]
            continue
        enters = any(wanted[j] == wanted[i] != here[j] for j in others)
        swaps = any(wanted[i] == here[j] and wanted[j] == here[i] for j in others)
        holds = any(after[j] == wanted[i] == here[j] for j in others)
        assert cancelled[i] == (enters or swaps or holds)
    order = list(range(k))
    random.shuffle(order)
    assert cancelled_moves([here[i] for i in order], [wanted[i] for i in order]) == [cancelled[i] for i in order]


def test_a_long_column_is_quick_and_moves_as_one() -> None:
    cells = np.arange(5_000)
    assert not any(cancelled_moves(cells.tolist(), (cells + 1).tolist()))
    wanted = (cells + 1).tolist()
    wanted[-1] = 4_999
    assert cancelled_moves(cells.tolist(), wanted) == [True] * 4_999 + [False]
