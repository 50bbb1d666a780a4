"""One layout of the world with the tables that an environment looks things up in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.envs.laplacian_nav.paths import PathFinder
from scisuite.envs.laplacian_nav.shaping import Potentials
from scisuite.scenarios.nav import GridWorld, NavWorld, UnreachableError

Ints = NDArray[np.int64]
Float32 = NDArray[np.float32]

TABLE_STATES = 4096
"""Up to this many states the lengths of shortest paths are kept in a table, 32 MiB at most."""


class Layout:
    """A world, and what follows from it for every episode in it.

    Parameters
    ----------
    world : NavWorld
    eps : float
        ε of the potentials.

    Attributes
    ----------
    moves : int32 (n · A,)
        The state that action a leads to from state s, at s · A + a.
    places : float32 (n, 2)
        Row and column of each state, in cells: how goals are given.
    scaled : float32 (n, 2)
        The same in [0, 1].
    order : int64 (m,)
        The states that a path leads to from another state and back, by strongly connected component, of which the one
        with the least state comes first.
    first, size : int64 (m,)
        Of the component that holds each entry of ``order``: where it begins there, and its number of states.
    drawn, spots
        What an observation is cut out of (see :class:`~scisuite.envs.laplacian_nav.observations.Observer`), and where
        in it each state is.

    Raises
    ------
    InvalidInput
        If no two states are connected, or two states lie at the same place.
    """

    def __init__(self, world: NavWorld, eps: float) -> None:
        self.world = world
        self.n, self.n_actions = world.moves.shape
        self.moves = np.ascontiguousarray(world.moves, dtype=np.int32).ravel()
        self.places, self.scaled = _places(world)
        self.order, self.first, self.size = _connected(world.components)
        if not len(self.order):
            raise InvalidInput("no two states of the world are connected, so there is nowhere to go")
        self.potentials = Potentials(world, eps)
        self.drawn: NDArray[Any] = np.zeros(0, dtype=np.float32)
        self.spots: Ints = np.zeros(0, dtype=np.int64)
        self._lengths: NDArray[np.int16] | None = None
        self._known = np.zeros(0, dtype=bool)
        self._finder: PathFinder | None = None

    def state(self, cell: Any, option: str) -> int:
        """The state of what ``reset`` was given as ``option``: a cell (row, column), or the number of a node.

        Raises
        ------
        InvalidInput
            If it is none; the message names it.
        """
        try:
            if isinstance(self.world, GridWorld):
                return cell_state(self.world, cell)
            if np.ndim(cell) != 0:
                raise InvalidInput(f"a state of a graph is a whole number, not {cell!r}")
            return int(self.world.states(cell)[0])
        except ValueError as error:
            raise InvalidInput(f"{option}: {error}") from None

    def require_pair(self, start: int | None, goal: int | None) -> None:
        """Refuse a start and a goal, of which either may still have to be drawn, that no path joins.

        Raises
        ------
        InvalidInput
            If they are the same.
        UnreachableError
            If no path leads from one to the other, or one of them is connected to no other state.
        """
        name = self.world.name
        if start is not None and goal is not None:
            if start == goal:
                raise InvalidInput(f"start and goal are both {name(start)}")
            if self.length(start, goal) < 0:
                raise UnreachableError(f"no path leads from {name(start)} to {name(goal)}")
        elif (given := start if goal is None else goal) is not None and given not in self.order:
            raise UnreachableError(f"no path leads from {name(given)} to another state and back; give start and goal")

    def draw(self, u: float, v: float, start: int | None = None, goal: int | None = None) -> tuple[int, int]:
        """A start and a goal of an episode from two uniform numbers in [0, 1).

        The goal is uniform over the states that can be reached, the start over the others of its component. Where one
        of them is given, the other is uniform over the others of its component.
        """
        if start is not None and goal is not None:
            return start, goal
        if start is not None:
            return start, self._another(start, u)
        if goal is not None:
            return self._another(goal, v), goal
        at = int(u * len(self.order))
        return self._beside(at, v), int(self.order[at])

    def length(self, start: int, goal: int) -> int:
        """Moves of a shortest path, −1 where there is none."""
        return int(self.lengths([start], [goal])[0])

    def lengths(self, starts: ArrayLike, goals: ArrayLike) -> Ints:
        """int64 (k,): moves of a shortest path of each pair, from a table whose rows are filled when first needed."""
        starts, goals = np.asarray(starts), np.asarray(goals)
        if self.n > TABLE_STATES:
            pairs = zip(starts.tolist(), goals.tolist(), strict=True)
            return np.array([self.search(start, goal) for start, goal in pairs], dtype=np.int64)
        if self._lengths is None:
            self._lengths = np.empty((self.n, self.n), dtype=np.int16)
            self._known = np.zeros(self.n, dtype=bool)
        if not self._known[goals].all():
            missing = np.unique(goals[~self._known[goals]])
            self._lengths[missing] = self.world.distances(missing)
            self._known[missing] = True
        found: Ints = self._lengths[goals, starts].astype(np.int64)
        return found

    def search(self, start: int, goal: int) -> int:
        """Moves of a shortest path, −1 where there is none; nothing is kept."""
        if not isinstance(self.world, GridWorld):
            return int(self.world.distances([goal])[0, start])
        if self._finder is None:
            self._finder = PathFinder(self.world)
        return self._finder.length(start, goal)

    def _another(self, state: int, u: float) -> int:
        return self._beside(int(np.flatnonzero(self.order == state)[0]), u)

    def _beside(self, at: int, u: float) -> int:
        """Another state of the component of ``order[at]``."""
        first, size = int(self.first[at]), int(self.size[at])
        other = first + int(u * (size - 1))
        return int(self.order[other + (other >= at)])


class Stack:
    """The tables of many layouts behind one another, so that one look-up serves all environments.

    Parameters
    ----------
    layouts : sequence of N layouts
        That of each environment; where several are the same object its tables are there once.

    Attributes
    ----------
    base : int64 (N,)
        What is added to a state of an environment to make it a row of ``places``, ``scaled`` and ``spots``.
    moves : int32 (rows · A,)
        Rows to rows.
    places, scaled : uint64 (rows,)
        Pairs of float32, each read as one number: gathering those is several times as fast.
    spots : int64 (rows,)
    slot : int64 (N,)
        Which of ``drawn`` is that of an environment.
    drawn : (L, …)
    """

    def __init__(self, layouts: Sequence[Layout]) -> None:
        distinct = list({id(layout): layout for layout in layouts}.values())
        number = {id(layout): k for k, layout in enumerate(distinct)}
        self.slot = np.array([number[id(layout)] for layout in layouts], dtype=np.int64)
        begins = np.cumsum([0, *(layout.n for layout in distinct)])[:-1]
        self.base = begins[self.slot]
        self.moves = np.concatenate(
            [layout.moves + np.int32(begin) for layout, begin in zip(distinct, begins.tolist(), strict=True)]
        )
        self.places = np.concatenate([layout.places for layout in distinct]).view(np.uint64).ravel()
        self.scaled = np.concatenate([layout.scaled for layout in distinct]).view(np.uint64).ravel()
        self.spots = np.concatenate([layout.spots for layout in distinct])
        self.drawn = np.stack([layout.drawn for layout in distinct])
        counts = [len(layout.order) for layout in distinct]
        self._count = np.array(counts)[self.slot]
        self._from = np.cumsum([0, *counts])[:-1][self.slot]
        self._order = np.concatenate([layout.order for layout in distinct])
        self._first = np.concatenate([layout.first for layout in distinct])
        self._size = np.concatenate([layout.size for layout in distinct])

    def draw(self, rows: Ints, uniform: NDArray[np.float64]) -> tuple[Ints, Ints]:
        """Starts and goals, states (k,), of the environments ``rows`` (k,): :meth:`Layout.draw` of each."""
        begin = self._from[rows]
        at = (uniform[:, 0] * self._count[rows]).astype(np.int64)
        other = self._first[begin + at] + (uniform[:, 1] * (self._size[begin + at] - 1)).astype(np.int64)
        other += other >= at
        return self._order[begin + other], self._order[begin + at]


def cell_state(world: GridWorld, cell: Any) -> int:
    """The state of a cell (row, column), also where a number of it is too large for an array.

    Raises
    ------
    InvalidInput
        If it is no pair of whole numbers, outside the map, or a wall.
    """
    pair = isinstance(cell, list | tuple) and len(cell) == 2 and all(type(number) is int for number in cell)
    if pair and max(map(abs, cell)) >= 2**63:
        height, width = world.shape
        raise InvalidInput(f"cell ({cell[0]}, {cell[1]}) is outside the map of {height} rows and {width} columns")
    return world.state(cell)


def _places(world: NavWorld) -> tuple[Float32, Float32]:
    """Places of the states (n, 2) and the same scaled to [0, 1]."""
    places = np.ascontiguousarray(world.xy, dtype=np.float32)
    if isinstance(world, GridWorld):
        return places, np.ascontiguousarray(world.xy / np.maximum(np.array(world.shape) - 1, 1), dtype=np.float32)
    if len(np.unique(places, axis=0)) < len(places):
        raise InvalidInput("two nodes of the graph have the same position, so a goal would not say which is meant")
    low, high = world.xy.min(axis=0), world.xy.max(axis=0)
    return places, np.ascontiguousarray((world.xy - low) / np.where(high > low, high - low, 1.0), dtype=np.float32)


def _connected(component: Ints) -> tuple[Ints, Ints, Ints]:
    """``order``, ``first`` and ``size`` of :class:`Layout` from the component of each state."""
    _, least, number, count = np.unique(component, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(least[number], kind="stable")
    size = count[number][order]
    order, size = order[size > 1], size[size > 1]
    begins = least[number][order]
    first = np.searchsorted(begins, begins, side="left")
    return order, first, size
