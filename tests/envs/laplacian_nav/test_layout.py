"""Tables of a layout: paths, draws, and the stack of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.envs.laplacian_nav import layout as layout_module
from scisuite.envs.laplacian_nav.layout import Layout, Stack
from scisuite.envs.laplacian_nav.paths import PathFinder
from scisuite.scenarios.nav import GraphWorld, GridWorld, UnreachableError, from_ascii, make_world

TWO_ROOMS = from_ascii("..#...\n..#...")
LONELY = from_ascii(".#..\n##..")


@st.composite
def worlds(draw: Any) -> GridWorld:
    """Random maps with thin walls and one-way moves, with four or eight neighbours, flat or on a torus."""
    height, width = draw(st.integers(1, 5)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    free = rng.random((height, width)) < 0.75
    free.flat[rng.integers(free.size)] = True
    neighbours = draw(st.sampled_from([4, 8]))
    closed = rng.random((height, width, neighbours)) < draw(st.sampled_from([0.0, 0.2]))
    return GridWorld(free, neighbours=neighbours, periodic=draw(st.booleans()), closed=closed)


@settings(max_examples=30, deadline=None)
@given(worlds())
def test_paths_are_as_long_as_scipy_finds_them(world: GridWorld) -> None:
    finder = PathFinder(world)
    lengths = [[finder.length(start, goal) for start in range(world.n)] for goal in range(world.n)]
    assert np.array_equal(lengths, world.distances(np.arange(world.n)))


@settings(max_examples=30, deadline=None)
@given(worlds(), st.integers(0, 10_000))
def test_what_is_drawn_can_be_walked(world: GridWorld, seed: int) -> None:
    try:
        layout = Layout(world, 0.1)
    except InvalidInput:
        assert len(np.unique(world.components)) == world.n
        return
    for u, v in np.random.default_rng(seed).random((20, 2)):
        start, goal = layout.draw(u, v)
        assert start != goal
        assert world.components[start] == world.components[goal]
        assert layout.draw(u, v, start=start)[0] == start
        assert layout.draw(u, v, goal=goal) == (start, goal)
    assert set(layout.order) == {s for s in range(world.n) if (world.components == world.components[s]).sum() > 1}


def test_goal_and_start_are_uniform() -> None:
    layout = Layout(TWO_ROOMS, 0.1)
    u, v = np.meshgrid((np.arange(60) + 0.5) / 60, (np.arange(60) + 0.5) / 60)
    pairs = [layout.draw(*uniform) for uniform in zip(u.ravel(), v.ravel(), strict=True)]
    goals = np.bincount([goal for _, goal in pairs], minlength=10)
    assert goals.tolist() == [360] * 10
    starts = np.bincount([start for start, goal in pairs if goal == 0], minlength=10)
    assert starts[[1, 5, 6]].tolist() == [120, 120, 120], "the other three cells of the left room"


def test_a_stack_draws_as_its_layouts_do() -> None:
    layouts = [Layout(world, 0.1) for world in (TWO_ROOMS, LONELY, make_world("maze", size=3))]
    layouts = [layouts[k] for k in (0, 2, 1, 2, 0)]
    stack = Stack(layouts)
    assert len(stack.drawn) == 3
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows = np.flatnonzero(rng.random(5) < 0.6)
        uniform = rng.random((len(rows), 2))
        starts, goals = stack.draw(rows, uniform)
        alone = [layouts[row].draw(*pair) for row, pair in zip(rows, uniform, strict=True)]
        assert list(zip(starts, goals, strict=True)) == alone
    for k, layout in enumerate(layouts):
        rows = stack.base[k] + np.arange(layout.n)
        moves = stack.moves.reshape(-1, 4)[rows] - stack.base[k]
        assert np.array_equal(moves, layout.world.moves)
        assert np.array_equal(stack.places[rows].view(np.float32).reshape(-1, 2), layout.places)


def test_the_table_and_the_search_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(make_world("loopy_maze", size=5), 0.1)
    starts, goals = np.random.default_rng(1).integers(layout.n, size=(2, 40))
    from_table = layout.lengths(starts, goals)
    monkeypatch.setattr(layout_module, "TABLE_STATES", 3)
    assert layout.lengths(starts, goals).tolist() == from_table.tolist()
    assert from_table.dtype == np.int64


def test_rows_of_the_table_are_filled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(make_world("maze", size=3), 0.1)
    asked: list[int] = []
    distances = GridWorld.distances
    monkeypatch.setattr(GridWorld, "distances", lambda self, goals: asked.extend(goals) or distances(self, goals))
    layout.lengths([0, 1, 2], [4, 4, 7])
    layout.lengths([3, 5], [7, 4])
    layout.length(0, 5)
    assert asked == [4, 7, 5]


@pytest.mark.parametrize(
    ("start", "goal", "error", "message"),
    [
        (0, 0, InvalidInput, "start and goal are both cell (0, 0)"),
        (0, 3, UnreachableError, "no path leads from cell (0, 0) to cell (0, 4)"),
    ],
)
def test_pairs_that_are_refused(start: int, goal: int, error: type, message: str) -> None:
    with pytest.raises(error) as caught:
        Layout(TWO_ROOMS, 0.1).require_pair(start, goal)
    assert str(caught.value) == message


def test_a_lonely_cell_is_refused() -> None:
    layout = Layout(LONELY, 0.1)
    for pair in ((0, None), (None, 0)):
        with pytest.raises(UnreachableError) as caught:
            layout.require_pair(*pair)
        assert str(caught.value) == "no path leads from cell (0, 0) to another state and back; give start and goal"
    with pytest.raises(InvalidInput, match="^no two states of the world are connected, so there is nowhere to go$"):
        Layout(from_ascii(".#.\n#.#"), 0.1)


def test_nodes_at_one_place_are_refused() -> None:
    graph = GraphWorld(np.ones((3, 3)) - np.eye(3), positions=[[0, 0], [1, 1], [1, 1]])
    with pytest.raises(InvalidInput) as caught:
        Layout(graph, 0.1)
    assert str(caught.value) == (
        "two nodes of the graph have the same position, so a goal would not say which is meant"
    )
