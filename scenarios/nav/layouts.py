"""Layouts: pure functions from a generator to a world. The same generator state gives the same world.

Every function takes ``neighbours`` and ``slip``, which are those of :class:`~scisuite.scenarios.nav.GridWorld`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any, Literal

import numpy as np

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.doors import one_way_doors
from scisuite.scenarios.nav.world import DOWN, LEFT, RIGHT, UP, Bools, GridWorld

SHARE = 0.2

Size = int | Sequence[int]
Neighbours = Literal[4, 8]

_ORDERS = tuple(permutations(range(4)))


def four_rooms(
    rng: np.random.Generator,
    size: Size = 19,
    *,
    one_way: bool = False,
    neighbours: Neighbours = 4,
    slip: float = 0.0,
) -> GridWorld:
    """Four rooms, each with a door to the next; where the doors are is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int or (int, int)
        Rows and columns of the map with its outer wall, at least 5. 19 gives 260 free cells, (13, 19) gives 164.
    one_way : bool
        Whether the doors can be passed in one direction only, which takes the rooms in a circle. Clockwise or not is
        drawn. From every cell every other can still be reached.

    Returns
    -------
    GridWorld

    Source: brief, reconstruction (sizes); Sutton, Precup and Singh 1999 (four rooms).
    """
    height, width = _shape(size, least=5)
    middle_row, middle_column = height // 2, width // 2
    free = np.zeros((height, width), dtype=bool)
    free[1:-1, 1:-1] = True
    free[middle_row, :] = free[:, middle_column] = False
    top, bottom = int(rng.integers(1, middle_row)), int(rng.integers(middle_row + 1, height - 1))
    left, right = int(rng.integers(1, middle_column)), int(rng.integers(middle_column + 1, width - 1))
    doors = ((top, middle_column), (middle_row, right), (bottom, middle_column), (middle_row, left))
    for door in doors:
        free[door] = True
    if not one_way:
        return GridWorld(free, neighbours=neighbours, slip=slip)
    ways = (RIGHT, DOWN, LEFT, UP) if rng.integers(2) else (LEFT, UP, RIGHT, DOWN)
    closed = one_way_doors(free, dict(zip(doors, ways, strict=True)), neighbours=neighbours)
    return GridWorld(free, neighbours=neighbours, closed=closed, slip=slip)


def maze(
    rng: np.random.Generator, size: Size = 20, loop: float = 0.0, *, neighbours: Neighbours = 4, slip: float = 0.0
) -> GridWorld:
    """A maze by depth-first search: from a room on to a random one not yet visited, back where there is none.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int or (int, int)
        Rows and columns of rooms, at least 2. The map has a cell for each room and for each wall between two:
        (2 rows + 1) × (2 columns + 1) cells.
    loop : float
        Probability in [0, 1] that each remaining inner wall is removed. At 0 the maze is perfect: exactly one path
        joins two cells. A larger value removes the same walls and some more.

    Returns
    -------
    GridWorld

    Source: brief, reconstruction.
    """
    rows, columns = _shape(size, least=2)
    loop = _probability(loop, "loop")
    free = _perfect_maze(rng, rows, columns)
    beside, below = free[1::2, 2:-1:2], free[2:-1:2, 1::2]  # views: the walls between two rooms
    beside |= rng.random(beside.shape) < loop
    below |= rng.random(below.shape) < loop
    return GridWorld(free, neighbours=neighbours, slip=slip)


def open_box(rng: np.random.Generator, size: Size = 21, *, neighbours: Neighbours = 4, slip: float = 0.0) -> GridWorld:
    """An empty room of ``size`` cells, at least 2 each way; nothing is drawn. Source: brief, reconstruction."""
    return GridWorld(np.ones(_shape(size, least=2), dtype=bool), neighbours=neighbours, slip=slip)


def torus(rng: np.random.Generator, size: Size = 20, *, neighbours: Neighbours = 4, slip: float = 0.0) -> GridWorld:
    """A room whose opposite edges are glued together, at least 3 cells each way; nothing is drawn.

    Source: brief, reconstruction.
    """
    free = np.ones(_shape(size, least=3), dtype=bool)
    return GridWorld(free, neighbours=neighbours, periodic=True, slip=slip)


def spiral(rng: np.random.Generator, size: int = 21, *, neighbours: Neighbours = 4, slip: float = 0.0) -> GridWorld:
    """One corridor wound inwards, with a wall between its turns; how it is turned and mirrored is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int
        Rows and columns, at least 5.

    Source: brief, reconstruction.
    """
    size = _whole(size, least=5)
    padded = np.zeros((size + 2, size + 2), dtype=bool)
    row, column, turns = 1, 1, 0
    padded[row, column] = True
    steps = ((0, 1), (1, 0), (0, -1), (-1, 0))
    while turns < 2:
        ahead_row, ahead_column = row + steps[0][0], column + steps[0][1]
        inside = 1 <= ahead_row <= size and 1 <= ahead_column <= size
        touched = sum(int(padded[ahead_row + down, ahead_column + along]) for down, along in steps) if inside else 0
        if touched == 1:  # the cell it comes from, and no earlier turn
            row, column, turns = ahead_row, ahead_column, 0
            padded[row, column] = True
        else:
            steps, turns = steps[1:] + steps[:1], turns + 1
    return GridWorld(_turned(rng, padded[1:-1, 1:-1]), neighbours=neighbours, slip=slip)


def u_trap(rng: np.random.Generator, size: int = 21, *, neighbours: Neighbours = 4, slip: float = 0.0) -> GridWorld:
    """An open box with a wall in the shape of a U, into which a straight line leads; which way it opens is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int
        Rows and columns, at least 5. The U takes the middle half.

    Source: brief, reconstruction.
    """
    size = _whole(size, least=5)
    first, last = size // 4, size - 1 - size // 4
    free = np.ones((size, size), dtype=bool)
    free[first, first : last + 1] = free[last, first : last + 1] = free[first : last + 1, last] = False
    return GridWorld(_turned(rng, free), neighbours=neighbours, slip=slip)


def obstacles(
    rng: np.random.Generator,
    size: Size = 32,
    share: float = SHARE,
    *,
    neighbours: Neighbours = 4,
    slip: float = 0.0,
) -> GridWorld:
    """A box in which single cells are blocked at random; only its largest connected part stays free.

    Parameters
    ----------
    rng : numpy.random.Generator
    size : int or (int, int)
        Rows and columns, at least 4. 1120 gives a million free cells.
    share : float
        Share of the cells that are blocked, in [0, 1), rounded to whole cells. Free cells that cannot be reached by
        the four straight moves from the largest connected part (the first of the largest, in reading order) become
        walls as well, so that the world is connected.

    Source: brief, reconstruction.
    """
    from scipy.ndimage import label

    height, width = _shape(size, least=4)
    blocked = n_blocked((height, width), share)
    free = np.ones(height * width, dtype=bool)
    free[rng.permutation(height * width)[:blocked]] = False
    parts, _ = label(free.reshape(height, width))
    sizes = np.bincount(parts.ravel())
    sizes[0] = 0  # the walls
    return GridWorld(parts == sizes.argmax(), neighbours=neighbours, slip=slip)


def n_blocked(size: Size, share: float) -> int:
    """How many cells :func:`obstacles` blocks; at least one stays free."""
    height, width = _shape(size, least=4)
    number = isinstance(share, int | float | np.number) and not isinstance(share, bool)
    if not (number and 0 <= share < 1):
        raise InvalidInput(f"share must be a number in [0, 1), not {share!r}")
    return min(round(float(share) * height * width), height * width - 1)


def _perfect_maze(rng: np.random.Generator, rows: int, columns: int) -> Bools:
    """bool (2 rows + 1, 2 columns + 1).

    Each room's order of trying its neighbours is drawn beforehand. As the first of them that is not yet visited is
    taken, the choice is uniform among those, as if it were drawn on the way, and one call draws for all rooms.
    """
    width = 2 * columns + 3  # of a map with one more cell around it, so that the search needs no bounds
    steps = (-width, 1, width, -1)
    orders = [tuple(steps[k] for k in order) for order in _ORDERS]
    drawn = iter(rng.integers(len(orders), size=rows * columns).tolist())
    carved = bytearray((2 * rows + 3) * width)
    carved[:width] = carved[-width:] = b"\1" * width
    carved[::width] = carved[width - 1 :: width] = b"\1" * (2 * rows + 3)
    start = 2 * (1 + int(rng.integers(rows))) * width + 2 * (1 + int(rng.integers(columns)))
    carved[start] = 1
    path = [(start, iter(orders[next(drawn)]))]
    while path:
        here, untried = path[-1]
        for step in untried:
            room = here + 2 * step
            if not carved[room]:
                carved[here + step] = carved[room] = 1
                path.append((room, iter(orders[next(drawn)])))
                break
        else:
            path.pop()
    padded = np.frombuffer(carved, dtype=np.uint8).reshape(2 * rows + 3, width)
    return padded[1:-1, 1:-1].astype(bool)


def _turned(rng: np.random.Generator, free: Bools) -> Bools:
    """One of the eight ways to lay a square map."""
    turned = np.rot90(free, int(rng.integers(4)))
    return turned.T if rng.integers(2) else turned


def _shape(size: Any, least: int) -> tuple[int, int]:
    """Rows and columns; one number stands for both."""
    if isinstance(size, str | bytes) or not isinstance(size, Sequence):
        whole = _whole(size, least)
        return whole, whole
    if len(size) != 2:
        raise InvalidInput(f"size must be one whole number or two, not {list(size)!r}")
    return _whole(size[0], least), _whole(size[1], least)


def _whole(size: Any, least: int) -> int:
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < least:
        raise InvalidInput(f"size must be a whole number of at least {least}, not {size!r}")
    return int(size)


def _probability(value: Any, name: str) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and 0 <= value <= 1):
        raise InvalidInput(f"{name} must be a probability in [0, 1], not {value!r}")
    return float(value)
