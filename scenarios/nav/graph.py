"""A world whose states are the nodes of any graph."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import Floats, Ints, NavWorld


@dataclass(frozen=True, eq=False)
class GraphWorld(NavWorld):
    """A weighted graph; action k of a state leads to its k-th neighbour, in ascending order of states.

    There are as many actions as the node with most neighbours has. Where a state has fewer, the others are blocked.
    Weights enter the Laplacian. A navigator that chooses uniformly takes no notice of them, and a path is as long as
    it has moves.

    Parameters
    ----------
    W : array or sparse array (n, n)
        Weights, kept as float64 CSR: entry (i, j) is the weight of the move from i to j, zero where there is none.
        Self-loops are left out.
    positions : float (n, 2) or None
        Row and column of each node in a drawing; without them the nodes lie on a circle.
    labels : sequence of n, or None
        What the nodes are called.
    slip : float
        Probability in [0, 1) that an environment replaces the action by a random one.

    Raises
    ------
    InvalidInput
        If ``W`` is not square, has a negative or non-finite weight or no edge, or another argument does not fit it.

    Examples
    --------
    >>> ring = GraphWorld([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    >>> ring.n, ring.moves.tolist()
    (3, [[1, 2], [0, 2], [0, 1]])
    """

    W: Any = field()  # without field() the dataclass would take the base class's property for a default
    positions: Floats | None = None
    labels: tuple[Hashable, ...] | None = None
    slip: float = 0.0

    def __post_init__(self) -> None:
        weights = _weights(self.W)
        n = weights.shape[0]
        object.__setattr__(self, "W", weights)
        object.__setattr__(self, "slip", _slip(self.slip))
        if self.positions is not None:
            object.__setattr__(self, "positions", _positions(self.positions, n))
        if self.labels is not None:
            object.__setattr__(self, "labels", _labels(self.labels, n))

    def __reduce__(self) -> tuple[type[GraphWorld], tuple[Any, ...]]:
        """Copies and pickles hold the graph alone: what follows from it is worked out again."""
        return type(self), (self.W, self.positions, self.labels, self.slip)

    @property
    def n(self) -> int:
        """Number of states."""
        return int(self.W.shape[0])

    @cached_property
    def xy(self) -> Floats:
        """float64 (n, 2): row and column of each state in a drawing."""
        if self.positions is not None:
            return self.positions
        angle = 2 * np.pi * np.arange(self.n) / self.n
        return np.stack([np.sin(angle), np.cos(angle)], axis=1)

    @cached_property
    def moves(self) -> Ints:
        """int64 (n, A): the state that each action leads to; a blocked action leads to the state itself."""
        degree = np.diff(self.W.indptr)
        state = np.repeat(np.arange(self.n), degree)
        action = np.arange(len(state)) - self.W.indptr[state]
        moves = np.tile(np.arange(self.n)[:, None], (1, int(degree.max())))
        moves[state, action] = self.W.indices
        moves.flags.writeable = False
        return moves

    def name(self, state: int) -> str:
        """What a message calls a state: its label, or its number."""
        return f"node {self.labels[int(state)]!r}" if self.labels is not None else f"state {int(state)}"


def _weights(W: Any) -> Any:
    """``W`` as float64 CSR without self-loops or stored zeros, columns ascending."""
    from scipy.sparse import coo_array, issparse

    try:
        given = coo_array(W if issparse(W) else np.asarray(W, dtype=np.float64)).astype(np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"W must be a matrix of numbers, not {type(W).__name__}") from None
    if len(given.shape) != 2 or given.shape[0] != given.shape[1]:
        raise InvalidInput(f"W must be square, not of shape {given.shape}")
    wrong = ~(np.isfinite(given.data) & (given.data >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        where = f"({given.row[at]}, {given.col[at]})"
        raise InvalidInput(f"weight {where} is {given.data[at]:g}; a weight must be finite and not negative")
    kept = (given.row != given.col) & (given.data > 0)
    if not kept.any():
        raise InvalidInput("the graph has no edges")
    weights = coo_array((given.data[kept], (given.row[kept], given.col[kept])), shape=given.shape).tocsr()
    weights.sort_indices()
    return weights


def _positions(positions: ArrayLike, n: int) -> Floats:
    try:
        placed: NDArray[np.float64] = np.array(positions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("positions must be numbers") from None
    if placed.shape != (n, 2):
        raise InvalidInput(f"positions must have shape ({n}, 2), not {placed.shape}")
    if not np.isfinite(placed).all():
        raise InvalidInput("positions must be finite")
    placed.flags.writeable = False
    return placed


def _labels(labels: Sequence[Hashable], n: int) -> tuple[Hashable, ...]:
    given = tuple(labels)
    if len(given) != n or len(set(given)) != n:
        raise InvalidInput(f"labels must be {n} distinct names, not {len(set(given))} in {len(given)}")
    return given


def _slip(slip: Any) -> float:
    number = isinstance(slip, int | float | np.number) and not isinstance(slip, bool)
    if not (number and 0 <= slip < 1):
        raise InvalidInput(f"slip must be a probability in [0, 1), not {slip!r}")
    return float(slip)
