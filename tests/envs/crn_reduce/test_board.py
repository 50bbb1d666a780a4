"""The board against the graph itself: sizes, legality and caps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from scisuite.envs.crn_reduce.board import CLUSTER, LEAF, SERIES, UNARY, Board, Move
from scisuite.envs.crn_reduce.played import reduction_of
from scisuite.scenarios.factor_graphs import FactorGraph, possible
from scisuite.solvers.crn_reduce.compile import compiled_molecularity, compiled_size
from scisuite.solvers.crn_reduce.reduction import NotExactError, apply_moves

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def legal(board: Board) -> list[Move]:
    return [move for moves in board.moves for move in moves]


@SETTINGS
@given(seed=st.integers(0, 10_000), zeros=st.booleans())
def test_sizes_are_those_of_the_graph(draw: Any, seed: int, zeros: bool) -> None:
    graph, keep = draw(seed, zeros)
    assume(possible(graph))  # zeros may leave no assignment, and a reduction then says so
    first = board = Board.of(graph, keep)
    rng, played = np.random.default_rng(seed), []
    while moves := legal(board):
        played.append(moves[int(rng.integers(len(moves)))])
        board = board.after(played[-1])
        reduced = reduction_of(graph, first, played).graph
        assert (board.species, board.reactions) == compiled_size(reduced)
        assert board.molecularity == compiled_molecularity(reduced)
        assert [board.factors[i] for i, scope in enumerate(board.scopes) if scope] == list(reduced.factors)
        assert [board.variables[v] for v in board.holders] == list(reduced.card)


@SETTINGS
@given(seed=st.integers(0, 10_000))
def test_without_caps_the_legal_moves_are_those_that_the_solver_makes(draw: Any, seed: int) -> None:
    graph, keep = draw(seed)
    board = Board.of(graph, keep)
    moves = set(legal(board))
    assert len(moves) == len(legal(board))

    def made(kind: int, *about: str) -> bool:
        try:
            apply_moves(graph, [(("leaf", "unary", "series", "cluster")[kind], *about)], keep)
        except NotExactError:
            return False
        return True

    variables, factors = board.variables, board.factors
    assert {m.variable for m in moves if m.kind == LEAF} == {i for i, v in enumerate(variables) if made(LEAF, v)}
    assert {m.variable for m in moves if m.kind == SERIES} == {i for i, v in enumerate(variables) if made(SERIES, v)}
    assert {m.second for m in moves if m.kind == UNARY} == {i for i, f in enumerate(factors) if made(UNARY, f)}
    wide = [i for i, scope in enumerate(board.scopes) if scope.bit_count() > 1]
    pairs = [(a, b) for a in wide for b in wide if a < b and made(CLUSTER, factors[a], factors[b])]
    assert [(m.first, m.second) for m in board.moves[CLUSTER]] == pairs


def star(*cards: int) -> FactorGraph:
    """Variable ``hub`` of three values joined to others by one factor each."""
    card = {"hub": 3} | {f"v{i}": k for i, k in enumerate(cards)}
    return FactorGraph(card, {f"f{i}": (["hub", f"v{i}"], np.ones((3, k))) for i, k in enumerate(cards)})


def kinds(board: Board) -> list[int]:
    return [len(moves) for moves in board.moves]


def test_caps_forbid_larger_tables_and_wider_factors() -> None:
    every = tuple(f"v{i}" for i in range(3))
    assert kinds(Board.of(star(2, 4, 5), every)) == [0, 0, 0, 3]
    assert [m.second for m in Board.of(star(2, 4, 5), every, max_table=30).moves[CLUSTER]] == [1, 2]
    assert kinds(Board.of(star(2, 4, 5), every, max_table=23)) == [0, 0, 0, 0]
    # The hub's own product already meets four molecules: a factor of three raises nothing.
    assert kinds(Board.of(star(2, 4, 5), every, max_molecularity=2)) == [0, 0, 0, 3]
    chain = FactorGraph({"a": 2, "b": 2, "c": 2}, {"f": ([*"ab"], np.ones((2, 2))), "g": ([*"bc"], np.ones((2, 2)))})
    assert kinds(Board.of(chain, "abc")) == [0, 0, 0, 1]
    pairs = FactorGraph(
        dict.fromkeys("abcde", 2), {"f": ([*"abc"], np.ones((2, 2, 2))), "g": ([*"cde"], np.ones((2, 2, 2)))}
    )
    assert kinds(Board.of(pairs, "abde", max_molecularity=3)) == [0, 0, 0, 0]
    assert kinds(Board.of(pairs, "abde", max_molecularity=4)) == [0, 0, 1, 0]
    assert kinds(Board.of(pairs, "abde", max_molecularity=5)) == [0, 0, 1, 1]


def test_a_table_that_is_larger_already_may_be_merged_into_one_that_is_not_larger() -> None:
    graph = FactorGraph({"a": 5, "b": 5, "c": 2}, {"f": ([*"ab"], np.ones((5, 5))), "g": ([*"bc"], np.ones((5, 2)))})
    assert kinds(Board.of(graph, "ac", max_table=9)) == [0, 0, 1, 0]


def test_a_tree_shrinks_to_one_variable() -> None:
    board = Board.of(star(2, 4, 5))
    while moves := board.moves[LEAF] + board.moves[UNARY]:
        board = board.after(moves[0])
    assert len(board.holders) == sum(map(bool, board.scopes)) == 1


def test_moves_do_not_change_the_board() -> None:
    board = Board.of(star(2, 4))
    before = (board.scopes, board.alive, board.size)
    for move in legal(board):
        board.after(move)
    assert (board.scopes, board.alive, board.size) == before
    assert pytest.approx(board.size) == sum(compiled_size(star(2, 4)))
