"""Where a navigator moves: states, and what each action does in each of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.errors import UnreachableError

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

UP, RIGHT, DOWN, LEFT = range(4)
OFFSETS = np.array([(-1, 0), (0, 1), (1, 0), (0, -1), (-1, 1), (1, 1), (1, -1), (-1, -1)], dtype=np.int64)
"""(row, column) step of each action: up, right, down, left, then up-right, down-right, down-left, up-left."""
ACTION_NAMES = ("up", "right", "down", "left", "up-right", "down-right", "down-left", "up-left")


class NavWorld(ABC):
    """States 0 … n − 1 and deterministic moves between them; everything else follows from the table of moves.

    Attributes
    ----------
    slip : float
        Probability that an environment replaces the chosen action by one drawn uniformly from all of them. The walk of
        a navigator that chooses uniformly is the same for every ``slip``.
    """

    slip: float

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of states."""

    @property
    @abstractmethod
    def moves(self) -> Ints:
        """int64 (n, A): the state that each action leads to; a blocked action leads to the state itself."""

    @property
    @abstractmethod
    def xy(self) -> NDArray[Any]:
        """(n, 2): row and column of each state, in cells (int64), or its position in a graph's drawing (float64)."""

    @cached_property
    def open_moves(self) -> Bools:
        """bool (n, A): whether the action leads anywhere."""
        opened: Bools = self.moves != np.arange(self.n)[:, None]
        return opened

    @cached_property
    def W(self) -> Any:
        """float64 CSR (n, n): how many actions lead from row to column, self-loops left out.

        Symmetric unless the world has one-way doors, which ``is_symmetric`` tells.
        """
        from scipy.sparse import csr_array

        state, action = np.nonzero(self.open_moves)
        ones = np.ones(len(state))
        return csr_array((ones, (state, self.moves[state, action])), shape=(self.n, self.n))

    @cached_property
    def walk(self) -> Any:
        """float64 CSR (n, n): transition probabilities of uniformly random actions; a blocked one stays."""
        from scipy.sparse import csr_array

        n_actions = self.moves.shape[1]
        state = np.repeat(np.arange(self.n), n_actions)
        share = np.full(state.shape, 1.0 / n_actions)
        return csr_array((share, (state, self.moves.ravel())), shape=(self.n, self.n))

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every move can be taken back."""
        return bool(abs(self.W - self.W.T).nnz == 0)

    @cached_property
    def components(self) -> Ints:
        """int64 (n,): number of the strongly connected component of each state."""
        from scipy.sparse.csgraph import connected_components

        labels = connected_components(self.W, directed=True, connection="strong")[1]
        return np.asarray(labels, dtype=np.int64)

    def distances(self, goals: ArrayLike) -> NDArray[np.int32]:
        """int32 (g, n): moves of a shortest path from each state to each goal; −1 where there is none.

        Raises
        ------
        InvalidInput
            If a goal is not a state.
        """
        from scipy.sparse.csgraph import dijkstra

        goals = self.states(goals)
        if not len(goals):
            return np.empty((0, self.n), dtype=np.int32)
        found = np.atleast_2d(dijkstra(self.W.T, indices=goals, unweighted=True))
        return np.where(np.isfinite(found), found, -1).astype(np.int32)

    def states(self, states: ArrayLike) -> Ints:
        """``states`` as int64 (k,), each of them checked.

        Raises
        ------
        InvalidInput
            If one is not a whole number or not in 0 … n − 1.
        """
        given = np.atleast_1d(np.asarray(states))
        if given.size == 0:
            return np.empty(0, dtype=np.int64)
        if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
            raise InvalidInput(
                f"states must be whole numbers in one dimension, not {given.dtype} of shape {given.shape}"
            )
        if given.min() < 0 or given.max() >= self.n:
            wrong = int(given[(given < 0) | (given >= self.n)][0])
            raise InvalidInput(f"state {wrong} is not in this world of {self.n} states")
        return given.astype(np.int64)

    def require_path(self, start: int, goal: int) -> int:
        """Moves of a shortest path from ``start`` to ``goal``.

        Raises
        ------
        InvalidInput
            If one is not a state.
        UnreachableError
            If there is no path; the message names both.
        """
        (start,) = self.states([start])
        length = int(self.distances([goal])[0, start])
        if length < 0:
            raise UnreachableError(f"no path leads from {self.name(start)} to {self.name(goal)}")
        return length

    def name(self, state: int) -> str:
        """What a message calls a state."""
        return f"state {int(state)}"


@dataclass(frozen=True, eq=False)
class GridWorld(NavWorld):
    """A map of free cells and walls; the states are the free cells in reading order.

    Parameters
    ----------
    free : bool (H, W)
    neighbours : {4, 8}
        Number of actions. A diagonal one needs both of the cells that it squeezes between to be free.
    periodic : bool
        Whether the map's edges are glued together, as a torus.
    closed : bool (H, W, neighbours) or None
        Moves that are closed although both cells are free: thin walls and one-way doors.
    slip : float
        Probability in [0, 1) that an environment replaces the action by a random one.

    Raises
    ------
    InvalidInput
        If no cell is free, or an argument is of another shape, kind or range.
    """

    free: Bools
    neighbours: Literal[4, 8] = 4
    periodic: bool = False
    closed: Bools | None = None
    slip: float = 0.0

    def __post_init__(self) -> None:
        free = np.array(self.free)
        if free.ndim != 2 or free.dtype != np.bool_:
            raise InvalidInput(f"a map must be a bool array of shape (H, W), not {free.dtype} of shape {free.shape}")
        if not free.any():
            raise InvalidInput("the map has no free cell")
        if isinstance(self.neighbours, bool) or self.neighbours not in (4, 8):
            raise InvalidInput(f"neighbours must be 4 or 8, not {self.neighbours!r}")
        if not isinstance(self.periodic, bool | np.bool_):
            raise InvalidInput(f"periodic must be True or False, not {self.periodic!r}")
        number = isinstance(self.slip, int | float | np.number) and not isinstance(self.slip, bool)
        if not (number and 0 <= self.slip < 1):
            raise InvalidInput(f"slip must be a probability in [0, 1), not {self.slip!r}")
        free.flags.writeable = False
        object.__setattr__(self, "free", free)
        object.__setattr__(self, "periodic", bool(self.periodic))
        object.__setattr__(self, "slip", float(self.slip))
        if self.closed is not None:
            closed = np.array(self.closed)
            wanted = (*free.shape, self.neighbours)
            if closed.shape != wanted or closed.dtype != np.bool_:
                raise InvalidInput(f"closed must be a bool array of shape {wanted}, not {closed.dtype} {closed.shape}")
            closed.flags.writeable = False
            object.__setattr__(self, "closed", closed if closed.any() else None)

    def __reduce__(self) -> tuple[type[GridWorld], tuple[Any, ...]]:
        """Copies and pickles hold the map alone: what follows from it is worked out again, and stays read-only."""
        return type(self), (self.free, self.neighbours, self.periodic, self.closed, self.slip)

    @classmethod
    def from_ascii(cls, text: str | Sequence[str], **options: Any) -> GridWorld:
        """Read a map from text: :func:`scisuite.scenarios.nav.from_ascii`."""
        from scisuite.scenarios.nav.ascii_map import from_ascii

        return from_ascii(text, **options)

    @classmethod
    def from_minigrid(cls, env: Any, **options: Any) -> GridWorld:
        """Read the present map of a Minigrid environment: :func:`scisuite.scenarios.nav.from_minigrid`."""
        from scisuite.scenarios.nav.readers import from_minigrid

        return from_minigrid(env, **options)

    @classmethod
    def from_pointmaze(cls, env_or_map: Any, **options: Any) -> GridWorld:
        """Read the map of a Gymnasium-Robotics maze: :func:`scisuite.scenarios.nav.from_pointmaze`."""
        from scisuite.scenarios.nav.readers import from_pointmaze

        return from_pointmaze(env_or_map, **options)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the map, in cells."""
        return self.free.shape[0], self.free.shape[1]

    @cached_property
    def n(self) -> int:
        """Number of free cells."""
        return int(self.free.sum())

    @cached_property
    def xy(self) -> Ints:
        """int64 (n, 2): row and column of each state."""
        return np.argwhere(self.free)

    @cached_property
    def index(self) -> Ints:
        """int64 (H, W): the state of each cell, −1 in a wall."""
        index = np.full(self.shape, -1, dtype=np.int64)
        index[self.free] = np.arange(self.n)
        return index

    @cached_property
    def moves(self) -> Ints:
        """int64 (n, A): the state that each action leads to; a blocked action leads to the state itself."""
        here = np.arange(self.n)
        targets = np.stack([self._beside(step) for step in OFFSETS[: self.neighbours]], axis=1)
        if self.neighbours == 8:
            for action in range(4, 8):
                row, column = OFFSETS[action]
                squeezed = (self._beside((row, 0)) < 0) | (self._beside((0, column)) < 0)
                targets[squeezed, action] = -1
        if self.closed is not None:
            targets[self.closed[self.free]] = -1
        moves = np.where(targets < 0, here[:, None], targets)
        moves.flags.writeable = False
        return moves

    def state(self, cell: Sequence[int] | NDArray[Any]) -> int:
        """The state of a cell (row, column).

        Raises
        ------
        InvalidInput
            If it is no pair of whole numbers, outside the map, or a wall.
        """
        given = np.asarray(cell)
        if given.shape != (2,) or not np.issubdtype(given.dtype, np.integer):
            raise InvalidInput(f"a cell is a pair of whole numbers (row, column), not {cell!r}")
        row, column = int(given[0]), int(given[1])
        height, width = self.shape
        if not (0 <= row < height and 0 <= column < width):
            raise InvalidInput(f"cell ({row}, {column}) is outside the map of {height} rows and {width} columns")
        if not self.free[row, column]:
            raise InvalidInput(f"cell ({row}, {column}) is a wall")
        return int(self.index[row, column])

    def cell(self, state: int) -> tuple[int, int]:
        """Row and column of a state."""
        (state,) = self.states([state])
        return int(self.xy[state, 0]), int(self.xy[state, 1])

    def name(self, state: int) -> str:
        """What a message calls a state: its cell."""
        row, column = self.xy[int(state)]
        return f"cell ({row}, {column})"

    def to_map(self, values: ArrayLike) -> Floats:
        """float64 (H, W): ``values`` (n,) laid out on the map, NaN in the walls."""
        values = np.asarray(values, dtype=np.float64)
        if values.shape != (self.n,):
            raise InvalidInput(f"values must have shape ({self.n},), one for each free cell, not {values.shape}")
        laid = np.full(self.shape, np.nan)
        laid[self.free] = values
        return laid

    def _beside(self, step: Iterable[int]) -> Ints:
        """int64 (n,): the state one ``step`` away from each, −1 for a wall or the edge of the map."""
        target = self.xy + np.asarray(tuple(step), dtype=np.int64)
        inside: Bools = np.ones(self.n, dtype=bool)
        if self.periodic:
            target = target % np.array(self.shape)
        else:
            inside = np.all((target >= 0) & (target < np.array(self.shape)), axis=1)
            target = np.where(inside[:, None], target, 0)
        return np.where(inside, self.index[target[:, 0], target[:, 1]], -1)
