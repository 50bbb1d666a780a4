"""GridWorld: states, moves, weights, walk and distances, against networkx where it has them."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.nav import OFFSETS, GridWorld, UnreachableError, from_ascii, layouts

ROOM = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)


@st.composite
def worlds(draw):
    """Any map, with or without closed moves, of 4 or 8 neighbours, flat or a torus."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    free = draw(arrays(bool, shape).filter(lambda drawn: drawn.any()))
    neighbours = draw(st.sampled_from([4, 8]))
    closed = draw(st.none() | arrays(bool, (*shape, neighbours)))
    return GridWorld(free, neighbours=neighbours, periodic=draw(st.booleans()), closed=closed)


def target(world, row, column, action):
    """Where an action leads from a free cell, told step by step; the cell itself where it is blocked."""
    down, along = OFFSETS[action]

    def at(down, along):
        there = row + down, column + along
        if world.periodic:
            there = there[0] % world.shape[0], there[1] % world.shape[1]
        inside = 0 <= there[0] < world.shape[0] and 0 <= there[1] < world.shape[1]
        return there if inside and world.free[there] else None

    there = at(down, along)
    squeezed = action >= 4 and (at(down, 0) is None or at(0, along) is None)
    shut = world.closed is not None and world.closed[row, column, action]
    return (row, column) if there is None or squeezed or shut else there


@given(worlds())
def test_moves_are_what_they_are_cell_by_cell(world):
    assert world.moves.shape == (world.n, world.neighbours)
    assert world.moves.dtype == np.int64
    for state in range(world.n):
        for action in range(world.neighbours):
            assert world.cell(world.moves[state, action]) == target(world, *world.cell(state), action)


@given(worlds())
def test_weights_count_the_open_moves(world):
    counted = np.zeros((world.n, world.n))
    for state, action in np.argwhere(world.open_moves):
        counted[state, world.moves[state, action]] += 1
    assert np.array_equal(world.W.toarray(), counted)
    assert world.is_symmetric == np.array_equal(counted, counted.T)


@given(worlds())
def test_the_walk_is_uniform_over_actions_and_keeps_the_uniform_distribution(world):
    walk = world.walk.toarray()
    np.testing.assert_allclose(walk.sum(axis=1), 1, atol=1e-15)
    moved = walk - np.diag(np.diag(walk))
    np.testing.assert_allclose(moved, world.W.toarray() / world.neighbours, atol=1e-15)
    if world.is_symmetric:
        np.testing.assert_allclose(walk.sum(axis=0), 1, atol=1e-15)


@given(worlds())
def test_distances_are_those_of_breadth_first_search(world):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(world.n))
    graph.add_edges_from(np.argwhere(world.W.toarray()))
    found = world.distances(range(world.n))
    assert found.shape == (world.n, world.n)
    assert found.dtype == np.int32
    for goal in range(world.n):
        expected = nx.single_source_shortest_path_length(graph.reverse(), goal)
        assert found[goal].tolist() == [expected.get(state, -1) for state in range(world.n)]
    components = {tuple(sorted(part)) for part in nx.strongly_connected_components(graph)}
    labels = world.components
    assert {tuple(np.flatnonzero(labels == k).tolist()) for k in set(labels)} == components


@given(worlds(), st.randoms(use_true_random=False))
def test_turning_the_map_only_renames_the_states(world, random):
    if world.closed is not None:
        world = dataclasses.replace(world, closed=None)
    turned = dataclasses.replace(world, free=np.rot90(world.free))
    name = np.rot90(world.index)[turned.free]  # the old state of each new one
    assert np.array_equal(turned.W.toarray(), world.W.toarray()[np.ix_(name, name)])


@pytest.mark.parametrize("shape", [(4, 5), (3, 3)])
def test_every_cell_of_a_torus_has_four_neighbours(shape):
    world = GridWorld(np.ones(shape, bool), periodic=True)
    assert (world.W.toarray() > 0).sum(axis=1).tolist() == [4] * world.n
    assert world.open_moves.all()
    assert world.is_symmetric


def test_a_torus_of_width_two_leads_to_the_same_cell_both_ways():
    world = GridWorld(np.ones((1, 2), bool), periodic=True)
    assert world.moves.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert world.W.toarray().tolist() == [[0, 2], [2, 0]]
    assert world.walk.toarray().tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_a_torus_of_width_one_leads_nowhere_along_it():
    world = GridWorld(np.ones((3, 1), bool), periodic=True)
    assert world.open_moves.tolist() == [[True, False, True, False]] * 3
    single = GridWorld(np.ones((1, 1), bool), periodic=True, neighbours=8)
    assert not single.open_moves.any()
    assert single.walk.toarray().tolist() == [[1.0]]


def test_a_diagonal_move_does_not_cut_a_corner():
    free = np.ones((2, 2), bool)
    assert GridWorld(free, neighbours=8).moves[0].tolist() == [0, 1, 2, 0, 0, 3, 0, 0]
    free[0, 1] = False
    assert GridWorld(free, neighbours=8).moves[0].tolist() == [0, 0, 1, 0, 0, 0, 0, 0]


def test_a_closed_move_stays_and_the_way_back_is_open():
    closed = np.zeros((1, 2, 4), bool)
    closed[0, 0, 1] = True
    world = GridWorld(np.ones((1, 2), bool), closed=closed)
    assert world.moves.tolist() == [[0, 0, 0, 0], [1, 1, 1, 0]]
    assert not world.is_symmetric
    assert world.distances([0]).tolist() == [[0, 1]]
    assert world.distances([1]).tolist() == [[-1, 0]]
    assert world.components[0] != world.components[1]


def test_cells_states_and_maps():
    world = GridWorld(ROOM)
    assert (world.n, world.shape) == (4, (2, 3))
    assert world.xy.tolist() == [[0, 0], [0, 1], [1, 1], [1, 2]]
    assert world.index.tolist() == [[0, 1, -1], [-1, 2, 3]]
    assert [world.state(world.cell(state)) for state in range(4)] == [0, 1, 2, 3]
    assert world.name(3) == "cell (1, 2)"
    np.testing.assert_array_equal(world.to_map([1, 2, 3, 4]), [[1, 2, np.nan], [np.nan, 3, 4]])
    assert world.require_path(0, 3) == 3
    assert world.require_path(2, 2) == 0


def test_a_walk_visits_every_cell_equally_often_up_to_the_walls():
    world = layouts.four_rooms(generator(0, "layout"), 9)
    rng = np.random.default_rng(0)
    state = np.zeros(2000, dtype=np.int64)
    visits = np.zeros(world.n)
    for step in range(1500):
        state = world.moves[state, rng.integers(4, size=len(state))]
        if step >= 750:
            visits += np.bincount(state, minlength=world.n)
    np.testing.assert_allclose(visits / visits.mean(), 1, atol=0.1)


def test_the_map_is_the_worlds_own_and_read_only():
    free = ROOM.copy()
    world = GridWorld(free)
    free[:] = False
    assert world.n == 4
    with pytest.raises(ValueError, match="read-only"):
        world.free[0, 0] = False
    with pytest.raises(ValueError, match="read-only"):
        world.moves[0, 0] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        world.free = free


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda world: pickle.loads(pickle.dumps(world))])
def test_copies_are_the_same_world_and_still_read_only(twin):
    world = from_ascii("..>.\n.#..\n....", neighbours=8, slip=0.25)
    fresh = len(pickle.dumps(world))
    moves = world.moves
    other = twin(world)
    assert np.array_equal(other.moves, moves)
    assert np.array_equal(other.closed, world.closed)
    assert (other.neighbours, other.periodic, other.slip) == (8, False, 0.25)
    assert not other.free.flags.writeable
    assert len(pickle.dumps(world)) == fresh  # what has been worked out is not carried along


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"free": np.zeros((2, 2), bool)}, "the map has no free cell"),
        ({"free": np.zeros((0, 3), bool)}, "the map has no free cell"),
        ({"free": np.ones(3, bool)}, "a map must be a bool array of shape (H, W), not bool of shape (3,)"),
        ({"free": np.ones((2, 2))}, "a map must be a bool array of shape (H, W), not float64 of shape (2, 2)"),
        ({"free": ROOM, "neighbours": 6}, "neighbours must be 4 or 8, not 6"),
        ({"free": ROOM, "neighbours": True}, "neighbours must be 4 or 8, not True"),
        ({"free": ROOM, "periodic": 1}, "periodic must be True or False, not 1"),
        ({"free": ROOM, "slip": 1}, "slip must be a probability in [0, 1), not 1"),
        ({"free": ROOM, "slip": float("nan")}, "slip must be a probability in [0, 1), not nan"),
        ({"free": ROOM, "slip": True}, "slip must be a probability in [0, 1), not True"),
        (
            {"free": ROOM, "closed": np.zeros((2, 3, 8), bool)},
            "closed must be a bool array of shape (2, 3, 4), not bool (2, 3, 8)",
        ),
    ],
)
def test_bad_maps(arguments, message):
    with pytest.raises(InvalidInput) as caught:
        GridWorld(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda w: w.state((0, 2)), "cell (0, 2) is a wall"),
        (lambda w: w.state((-1, 0)), "cell (-1, 0) is outside the map of 2 rows and 3 columns"),
        (lambda w: w.state((0, 3)), "cell (0, 3) is outside the map of 2 rows and 3 columns"),
        (lambda w: w.state((0.0, 1.0)), "a cell is a pair of whole numbers (row, column), not (0.0, 1.0)"),
        (lambda w: w.state((0, 1, 2)), "a cell is a pair of whole numbers (row, column), not (0, 1, 2)"),
        (lambda w: w.state(3), "a cell is a pair of whole numbers (row, column), not 3"),
        (lambda w: w.state("ab"), "a cell is a pair of whole numbers (row, column), not 'ab'"),
        (lambda w: w.cell(4), "state 4 is not in this world of 4 states"),
        (lambda w: w.distances([-1]), "state -1 is not in this world of 4 states"),
        (lambda w: w.distances([0.5]), "states must be whole numbers in one dimension, not float64 of shape (1,)"),
        (lambda w: w.distances([True]), "states must be whole numbers in one dimension, not bool of shape (1,)"),
        (lambda w: w.require_path(0, 9), "state 9 is not in this world of 4 states"),
        (lambda w: w.to_map([1, 2]), "values must have shape (4,), one for each free cell, not (2,)"),
    ],
)
def test_bad_questions(ask, message):
    with pytest.raises(InvalidInput) as caught:
        ask(GridWorld(ROOM))
    assert str(caught.value) == message


def test_no_path_names_both_cells():
    world = from_ascii("..#.")
    with pytest.raises(UnreachableError) as caught:
        world.require_path(0, 2)
    assert str(caught.value) == "no path leads from cell (0, 0) to cell (0, 3)"
    assert isinstance(caught.value, InvalidInput)


def test_no_goals_no_distances():
    assert GridWorld(ROOM).distances([]).shape == (0, 4)


def test_the_thin_constructors():
    assert GridWorld.from_ascii(".#\n..", neighbours=8).n == 3
    assert GridWorld.from_pointmaze([[1, 0], ["g", 1]]).xy.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(InvalidInput, match="the environment has no Minigrid map; reset it first"):
        GridWorld.from_minigrid(object())


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_a_wall_more_never_shortens_a_path(seed):
    rng = np.random.default_rng(seed)
    world = layouts.obstacles(rng, 8)
    free = world.free.copy()
    free[world.cell(int(rng.integers(1, world.n)))] = False
    fewer = GridWorld(free)
    kept = world.index[free]
    before, after = world.distances(kept)[:, kept], fewer.distances(range(fewer.n))
    assert ((after >= before) | (after == -1)).all()
