"""Maps as text: read, written, and refused with line and column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import DOWN, LEFT, RIGHT, UP, GridWorld, ascii_marks, from_ascii, layouts, to_ascii

ROOMS = """
#######
#S..#.#
###.>.#
#..G#.#
#######
"""


def test_walls_free_cells_and_marks():
    world = from_ascii(ROOMS)
    assert world.shape == (5, 7)
    assert world.n == 11
    assert ascii_marks(ROOMS) == ((1, 1), (3, 3))
    assert ascii_marks("..") == (None, None)
    assert from_ascii([". ", "#G"]).free.tolist() == [[True, True], [False, True]]
    assert from_ascii(". \r\n#G\r\n").n == 3


@pytest.mark.parametrize(("symbol", "way"), [("^", UP), (">", RIGHT), ("v", DOWN), ("<", LEFT)])
@pytest.mark.parametrize("neighbours", [4, 8])
def test_a_door_is_entered_and_left_by_one_move(symbol, way, neighbours):
    world = from_ascii(f"...\n.{symbol}.\n...", neighbours=neighbours)
    door = world.state((1, 1))
    assert np.flatnonzero(world.open_moves[door]).tolist() == [way]
    entering = np.argwhere((world.moves == door) & world.open_moves)
    assert entering[:, 1].tolist() == [way]


def test_doors_side_by_side_close_what_each_of_them_closes():
    assert not from_ascii("><").open_moves.any()
    assert from_ascii(">>").moves.tolist() == [[0, 1, 0, 0], [1, 1, 1, 1]]


def test_a_door_on_the_edge_of_a_torus_leads_across():
    world = from_ascii("<..", periodic=True)
    assert world.moves[0].tolist() == [0, 0, 0, 2]
    assert world.moves[1, LEFT] == 0
    assert world.moves[2, RIGHT] == 2


maps = arrays("U1", st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.sampled_from(list("#...^>v<")))


@given(maps.filter(lambda drawn: (drawn != "#").any()), st.booleans(), st.sampled_from([4, 8]))
def test_what_is_written_reads_as_the_same_world(symbols, periodic, neighbours):
    world = from_ascii(["".join(row) for row in symbols], periodic=periodic, neighbours=neighbours)
    doors = [world.state(cell) for cell in np.argwhere(np.isin(symbols, list("^>v<")))]
    passed = world.open_moves.any(axis=1) | np.isin(np.arange(world.n), world.moves[world.open_moves])
    assume(passed[doors].all())
    again = from_ascii(to_ascii(world), periodic=periodic, neighbours=neighbours)
    assert np.array_equal(again.free, world.free)
    assert np.array_equal(again.moves, world.moves)


@pytest.mark.parametrize(
    "text", ["...\n.#.", "#.>.#\n#.#.#\n#.<.#", "..>..", ROOMS.strip().replace("S", ".").replace("G", ".")]
)
def test_a_text_is_written_as_it_was(text):
    assert to_ascii(from_ascii(text)) == text


def test_layouts_are_written_with_their_doors_and_marks():
    world = layouts.four_rooms(np.random.default_rng(0), 9, one_way=True)
    text = to_ascii(world, start=(1, 1), goal=(7, 7))
    assert sum(text.count(symbol) for symbol in "^>v<") == 4
    assert ascii_marks(text) == ((1, 1), (7, 7))
    assert np.array_equal(from_ascii(text).moves, world.moves)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the map is empty"),
        ("\n\n", "the map is empty"),
        ([], "the map is empty"),
        ("\n###\n#.\n###", "line 3 has 2 symbols, but line 2 has 3"),
        ("..\n\n..", "line 2 has 0 symbols, but line 1 has 2"),
        (
            "...\n..x",
            "unknown symbol 'x' in line 2, column 3; known: '#' wall, '.' or ' ' free, "
            "'^' '>' 'v' '<' one-way doors, 'S' start, 'G' goal",
        ),
        ("S.\n.S", "a second 'S' in line 2, column 2"),
        ("GG", "a second 'G' in line 1, column 2"),
        (7, "a map must be text or a list of lines, not int"),
        ([1, 2], "a map must be text or a list of lines, not list"),
    ],
)
@pytest.mark.parametrize("read", [from_ascii, ascii_marks])
def test_bad_text(read, text, message):
    with pytest.raises(InvalidInput) as caught:
        read(text)
    assert str(caught.value) == message


def test_a_map_of_walls():
    with pytest.raises(InvalidInput) as caught:
        from_ascii("##\n##")
    assert str(caught.value) == "the map has no free cell"


def test_a_tab_is_no_space():
    with pytest.raises(InvalidInput, match=r"unknown symbol '\\t' in line 1, column 2"):
        from_ascii(".\t.")


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ((0, 1), "cell (0, 1) is a wall"),
        ((0, 9), "cell (0, 9) is outside the map of 1 rows and 5 columns"),
        ((0, 3), "cell (0, 3) cannot be marked 'G': it is '>'"),
        ((0, 0), "cell (0, 0) cannot be marked 'G': it is 'S'"),
    ],
)
def test_marks_that_cannot_be_written(cell, message):
    with pytest.raises(InvalidInput) as caught:
        to_ascii(from_ascii(".#.>."), start=(0, 0), goal=cell)
    assert str(caught.value) == message


def test_thin_walls_cannot_be_written():
    closed = np.zeros((2, 2, 4), bool)
    closed[0, 0, RIGHT] = closed[0, 1, LEFT] = True
    with pytest.raises(InvalidInput) as caught:
        to_ascii(GridWorld(np.ones((2, 2), bool), closed=closed))
    assert str(caught.value) == "the world has closed moves that no one-way doors make; they cannot be written as text"


def test_a_door_that_nobody_can_pass_cannot_be_written():
    with pytest.raises(InvalidInput, match="closed moves that no one-way doors make"):
        to_ascii(from_ascii("..v.."))


def test_closed_moves_into_walls_need_no_door():
    world = GridWorld(np.array([[True, False, True]]), closed=np.ones((1, 3, 4), bool))
    assert to_ascii(world) == ".#."
