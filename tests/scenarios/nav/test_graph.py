"""GraphWorld: any weighted graph as a world."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array, csc_array, csr_matrix

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GraphWorld

TRIANGLE = np.array([[0, 2.0, 1], [2, 0, 0.5], [1, 0.5, 0]])
PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@st.composite
def weight_matrices(draw):
    n = draw(st.integers(2, 7))
    W = draw(arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 0.0, 0.5, 1.0, 3.0])))
    np.fill_diagonal(W, 0)
    W[0, 1] = max(W[0, 1], 0.5)
    return W


@given(weight_matrices())
def test_actions_are_the_neighbours_in_ascending_order(W):
    world = GraphWorld(W)
    assert world.moves.shape == (len(W), (W > 0).sum(axis=1).max())
    for state, row in enumerate(W):
        neighbours = np.flatnonzero(row)
        assert world.moves[state, : len(neighbours)].tolist() == neighbours.tolist()
        assert (world.moves[state, len(neighbours) :] == state).all()
        assert world.open_moves[state].sum() == len(neighbours)
    assert np.array_equal(world.W.toarray(), W)
    np.testing.assert_allclose(world.walk.sum(axis=1), 1)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix, csc_array, coo_array, np.ndarray.tolist])
def test_weights_in_any_form(form):
    world = GraphWorld(form(TRIANGLE))
    assert world.W.format == "csr"
    assert world.W.dtype == np.float64
    assert np.array_equal(world.W.toarray(), TRIANGLE)
    assert world.is_symmetric


def test_weights_are_the_worlds_own():
    W = csr_matrix(TRIANGLE)
    world = GraphWorld(W)
    W.data[:] = 7
    assert np.array_equal(world.W.toarray(), TRIANGLE)


def test_parallel_entries_add_up_and_loops_and_stored_zeros_are_left_out():
    W = coo_array(([1.0, 2.0, 5.0, 0.0], ([0, 0, 1, 1], [1, 1, 1, 0])), shape=(2, 2))
    world = GraphWorld(W)
    assert world.W.toarray().tolist() == [[0, 3], [0, 0]]
    assert world.W.nnz == 1
    assert world.moves.tolist() == [[1], [1]]
    assert not world.is_symmetric


def test_distances_count_moves_not_weights():
    world = GraphWorld(np.array([[0, 9.0, 0], [9, 0, 9], [0, 9, 0]]))
    assert world.distances([0, 2]).tolist() == [[0, 1, 2], [2, 1, 0]]
    assert world.require_path(0, 2) == 2


def test_places_and_names():
    plain = GraphWorld(PATH)
    assert plain.name(2) == "state 2"
    np.testing.assert_allclose(np.hypot(*plain.xy.T), 1)
    named = GraphWorld(PATH, positions=[(0, 0), (0, 1), (2, 2)], labels=("a", "b", "c"), slip=0.5)
    assert named.name(2) == "node 'c'"
    assert named.xy.tolist() == [[0, 0], [0, 1], [2, 2]]
    assert named.slip == 0.5


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_copies(twin):
    world = GraphWorld(TRIANGLE, positions=np.eye(3)[:, :2], labels="abc", slip=0.5)
    moves = world.moves
    other = twin(world)
    assert np.array_equal(other.moves, moves)
    assert np.array_equal(other.W.toarray(), TRIANGLE)
    assert np.array_equal(other.xy, world.xy)
    assert (other.labels, other.slip) == (("a", "b", "c"), 0.5)
    assert not other.positions.flags.writeable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"W": np.zeros((2, 2))}, "the graph has no edges"),
        ({"W": np.eye(2)}, "the graph has no edges"),
        ({"W": np.zeros((0, 0))}, "the graph has no edges"),
        ({"W": np.ones((2, 3))}, "W must be square, not of shape (2, 3)"),
        ({"W": np.ones(3)}, "W must be square, not of shape (3,)"),
        ({"W": [[0, -1], [1, 0]]}, "weight (0, 1) is -1; a weight must be finite and not negative"),
        ({"W": [[0, 1], [np.nan, 0]]}, "weight (1, 0) is nan; a weight must be finite and not negative"),
        ({"W": [[0, np.inf], [1, 0]]}, "weight (0, 1) is inf; a weight must be finite and not negative"),
        ({"W": "ab"}, "W must be a matrix of numbers, not str"),
        ({"W": [["a", "b"], ["c", "d"]]}, "W must be a matrix of numbers, not list"),
        ({"W": PATH, "positions": np.zeros((2, 2))}, "positions must have shape (3, 2), not (2, 2)"),
        ({"W": PATH, "positions": np.full((3, 2), np.nan)}, "positions must be finite"),
        ({"W": PATH, "positions": "here"}, "positions must be numbers"),
        ({"W": PATH, "labels": ["a", "b"]}, "labels must be 3 distinct names, not 2 in 2"),
        ({"W": PATH, "labels": ["a", "b", "a"]}, "labels must be 3 distinct names, not 2 in 3"),
        ({"W": PATH, "slip": -0.1}, "slip must be a probability in [0, 1), not -0.1"),
    ],
)
def test_bad_graphs(arguments, message):
    with pytest.raises(InvalidInput) as caught:
        GraphWorld(**arguments)
    assert str(caught.value) == message
