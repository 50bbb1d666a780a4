"""Maps as text.

=========== ============================================================================================
symbol      cell
=========== ============================================================================================
``#``       wall
``.``       free; a space as well
``^ > v <`` one-way door: entered and left by a move up, right, down, left only
``S``, ``G``  free, marked as start or goal
=========== ============================================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.doors import one_way_doors
from scisuite.scenarios.nav.world import DOWN, LEFT, RIGHT, UP, Bools, GridWorld

Cell = tuple[int, int]

DOORS = {"^": UP, ">": RIGHT, "v": DOWN, "<": LEFT}
SYMBOLS = frozenset("#. SG") | frozenset(DOORS)

_KNOWN = "'#' wall, '.' or ' ' free, '^' '>' 'v' '<' one-way doors, 'S' start, 'G' goal"


class Marks(NamedTuple):
    """Where a map's ``S`` and ``G`` are: (row, column), or ``None`` where it has none."""

    start: Cell | None
    goal: Cell | None


def from_ascii(
    text: str | Sequence[str], *, neighbours: Literal[4, 8] = 4, periodic: bool = False, slip: float = 0.0
) -> GridWorld:
    """Read a map from text, one line for each row of cells.

    Parameters
    ----------
    text : str or sequence of str
        Symbols are those of this module's table. Empty lines before and after the map are left out; spaces are cells,
        so an indented map has to be dedented first.
    neighbours, periodic, slip
        As in :class:`~scisuite.scenarios.nav.GridWorld`; text does not hold them.

    Raises
    ------
    InvalidInput
        If the map is empty, has rows of different lengths, an unknown symbol (named with line and column, both from 1),
        two starts or goals, or no free cell.

    Examples
    --------
    >>> world = from_ascii("#####\\n#S.G#\\n#####")
    >>> world.n, ascii_marks("#####\\n#S.G#\\n#####").goal
    (3, (1, 3))
    """
    symbols = _symbols(text)
    free = symbols != "#"
    cells = [(symbol, (int(row), int(column))) for symbol in DOORS for row, column in np.argwhere(symbols == symbol)]
    closed = None
    if cells:
        doors = {cell: DOORS[symbol] for symbol, cell in cells}
        closed = one_way_doors(free, doors, neighbours=neighbours, periodic=periodic)
    return GridWorld(free, neighbours=neighbours, periodic=periodic, closed=closed, slip=slip)


def ascii_marks(text: str | Sequence[str]) -> Marks:
    """Where the start ``S`` and the goal ``G`` of a map are; it is read and refused as by :func:`from_ascii`."""
    symbols = _symbols(text)
    start, goal = (
        next(((int(row), int(column)) for row, column in np.argwhere(symbols == mark)), None) for mark in "SG"
    )
    return Marks(start, goal)


def to_ascii(world: GridWorld, start: Cell | None = None, goal: Cell | None = None) -> str:
    """Write a map as text that :func:`from_ascii` reads as the same world.

    Parameters
    ----------
    world : GridWorld
        ``neighbours``, ``periodic`` and ``slip`` are not written: give them to :func:`from_ascii` again.
    start, goal : (row, column) or None
        Cells to mark with ``S`` and ``G``.

    Raises
    ------
    InvalidInput
        If a mark is a wall or a door, or the world has closed moves that are not made by one-way doors which somebody
        can pass.
    """
    symbols = np.where(world.free, ".", "#")
    for state, symbol in _doors_of(world).items():
        symbols[tuple(world.xy[state])] = symbol
    for mark, cell in (("S", start), ("G", goal)):
        if cell is None:
            continue
        row, column = world.cell(world.state(cell))
        if symbols[row, column] != ".":
            raise InvalidInput(f"cell ({row}, {column}) cannot be marked {mark!r}: it is {str(symbols[row, column])!r}")
        symbols[row, column] = mark
    return "\n".join("".join(row) for row in symbols)


def _symbols(text: str | Sequence[str]) -> np.ndarray[tuple[int, int], np.dtype[np.str_]]:
    """The symbols of a map, (H, W), each of them known."""
    lines = text.splitlines() if isinstance(text, str) else text
    if not isinstance(lines, list | tuple) or not all(isinstance(line, str) for line in lines):
        raise InvalidInput(f"a map must be text or a list of lines, not {type(text).__name__}")
    filled = [number for number, line in enumerate(lines) if line]
    if not filled:
        raise InvalidInput("the map is empty")
    first, rows = filled[0], lines[filled[0] : filled[-1] + 1]
    seen: set[str] = set()
    for number, row in enumerate(rows, first + 1):
        for column, symbol in enumerate(row, 1):
            if symbol not in SYMBOLS:
                raise InvalidInput(f"unknown symbol {symbol!r} in line {number}, column {column}; known: {_KNOWN}")
            if symbol in "SG":
                if symbol in seen:
                    raise InvalidInput(f"a second {symbol!r} in line {number}, column {column}")
                seen.add(symbol)
        if len(row) != len(rows[0]):
            raise InvalidInput(f"line {number} has {len(row)} symbols, but line {first + 1} has {len(rows[0])}")
    return np.array([list(row) for row in rows])


def _doors_of(world: GridWorld) -> dict[int, str]:
    """Symbols of the states that have to be one-way doors for the closed moves to be explained.

    A state may be a door if all the open moves that enter or leave it are of one action: a door for that action closes
    only what is closed already. Of these the one that explains most is taken until nothing is left to explain.
    """
    if world.closed is None:
        return {}
    without = GridWorld(world.free, neighbours=world.neighbours, periodic=world.periodic)
    state, action = np.nonzero(without.open_moves & ~world.open_moves)
    unexplained = set(zip(state.tolist(), action.tolist(), without.moves[state, action].tolist(), strict=True))
    used = _actions_used(world)
    symbol_of = {way: symbol for symbol, way in DOORS.items()}
    explains: dict[int, set[tuple[int, int, int]]] = {}
    for move in sorted(unexplained):
        for end in (move[0], move[2]):
            ways = np.flatnonzero(used[end])
            if len(ways) == 1 and int(ways[0]) in symbol_of and int(ways[0]) != move[1]:
                explains.setdefault(end, set()).add(move)
    doors: dict[int, str] = {}
    while unexplained:
        best = max(explains, key=lambda end: len(explains[end] & unexplained), default=None)
        if best is None or not explains[best] & unexplained:
            raise InvalidInput("the world has closed moves that no one-way doors make; they cannot be written as text")
        doors[best] = symbol_of[int(np.argmax(used[best]))]
        unexplained -= explains[best]
    return doors


def _actions_used(world: GridWorld) -> Bools:
    """bool (n, A): whether an open move of this action enters or leaves the state."""
    used = world.open_moves.copy()
    state, action = np.nonzero(world.open_moves)
    used[world.moves[state, action], action] = True
    return used
