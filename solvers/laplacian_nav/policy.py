"""Greedy ascent on a potential."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.errors import UnreachableError
from scisuite.scenarios.nav.world import NavWorld
from scisuite.solvers.laplacian_nav.operators import can_reach, check_weights

Ints = NDArray[np.int64]

_CACHE_BYTES = 2**28


def greedy_actions(values: ArrayLike, world: NavWorld) -> Ints:
    """The open action that leads to the neighbour of largest value, for each state and goal.

    Ties go to the lowest action, so that runs repeat. A blocked action, which would keep the state and its value, is
    never chosen before an open one; a state without open actions gets action 0.

    Parameters
    ----------
    values : float (n, g)
        One potential a column; −∞ is allowed.
    world : NavWorld
        n states and A actions.

    Returns
    -------
    int64 (n, g)

    Raises
    ------
    InvalidInput
        If ``values`` has another shape or holds NaN.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or len(values) != world.n:
        raise InvalidInput(f"values must have shape ({world.n}, g), one column for each goal, not {values.shape}")
    if np.isnan(values).any():
        raise InvalidInput("values hold NaN")
    opened, moves = world.open_moves, world.moves
    first = opened.argmax(axis=1)
    actions = np.repeat(first[:, None], values.shape[1], axis=1)
    best = values[moves[np.arange(world.n), first]]
    for action in range(1, moves.shape[1]):
        there = values[moves[:, action]]
        better = (there > best) & opened[:, action, None]
        best[better] = there[better]
        actions[better] = action
    return actions


class GreenPolicy:
    """Greedy ascent on a potential, remembered for each goal.

    Parameters
    ----------
    potential : object
        With ``n`` and ``potential(goals) -> float64 (n, g)``. If it has ``ranking``, as
        :class:`~scisuite.solvers.laplacian_nav.GreenPotential` does, that is climbed instead, which survives underflow.
    world : NavWorld
        Whose moves are made.

    Raises
    ------
    InvalidInput
        If they have different numbers of states.

    Examples
    --------
    >>> from scisuite.scenarios.nav.world import GridWorld
    >>> from scisuite.solvers.laplacian_nav import GreenPotential
    >>> corridor = GridWorld(np.ones((1, 4), dtype=bool))
    >>> GreenPolicy(GreenPotential(corridor, eps=0.1), corridor).act(0, 3)
    1
    """

    def __init__(self, potential: Any, world: NavWorld) -> None:
        if potential.n != world.n:
            raise InvalidInput(f"the potential has {potential.n} states and the world has {world.n}")
        self.potential = potential
        self.world = world
        self._columns: OrderedDict[int, NDArray[Any]] = OrderedDict()
        self._dtype = np.min_scalar_type(world.moves.shape[1] - 1)
        self._most = max(1, _CACHE_BYTES // (world.n * self._dtype.itemsize))

    def act(self, state: int, goal: int) -> int:
        """The action in ``state`` on the way to ``goal``.

        Raises
        ------
        InvalidInput
            If one of them is not a state.
        UnreachableError
            If no path leads from the state to the goal; the message names both.
        """
        (state,), (goal,) = self.world.states([state]), self.world.states([goal])
        if not self._reachable(int(state), int(goal)):
            raise UnreachableError(f"no path leads from {self.world.name(state)} to {self.world.name(goal)}")
        return int(self._column(int(goal))[state])

    def actions(self, goals: ArrayLike) -> Ints:
        """int64 (n, g): the action in every state on the way to each of ``goals`` (g,).

        Raises
        ------
        InvalidInput
            If a goal is not a state.
        """
        goals = self.world.states(goals)
        new = [int(goal) for goal in dict.fromkeys(goals.tolist()) if goal not in self._columns]
        fresh = dict(zip(new, self._computed(new).T, strict=True)) if new else {}
        actions = np.empty((self.world.n, len(goals)), dtype=np.int64)
        for j, goal in enumerate(goals.tolist()):
            actions[:, j] = fresh[goal] if goal in fresh else self._columns[goal]
        for goal, column in fresh.items():
            self._remember(goal, column)
        return actions

    def _column(self, goal: int) -> NDArray[Any]:
        if goal not in self._columns:
            self._remember(goal, self._computed([goal])[:, 0])
        self._columns.move_to_end(goal)
        return self._columns[goal]

    def _computed(self, goals: list[int]) -> Ints:
        climbed = getattr(self.potential, "ranking", self.potential.potential)
        return greedy_actions(climbed(np.array(goals, dtype=np.int64)), self.world)

    def _remember(self, goal: int, column: NDArray[Any]) -> None:
        self._columns[goal] = column.astype(self._dtype)
        while len(self._columns) > self._most:
            self._columns.popitem(last=False)

    def _reachable(self, state: int, goal: int) -> bool:
        components = self.world.components
        if components[state] == components[goal]:
            return True
        # Only one-way moves lead from one component to another.
        return not self.world.is_symmetric and bool(can_reach(self.world.W, goal)[state])


def local_maxima(values: ArrayLike, world_or_W: Any, goal: int | None = None) -> int:
    """Local maxima other than the goal: places from which no path of moves that never lower the value leads higher.

    A plateau of equal values counts once, and not at all if it has a way up or holds the goal. Only states from which
    the goal can be reached count.

    Parameters
    ----------
    values : float (n,)
    world_or_W : NavWorld, or array or sparse (n, n)
        Where a state's neighbours are: the positive entries of its row.
    goal : int or None
        By default the first state of largest value.

    Raises
    ------
    InvalidInput
        If ``values`` has another shape or holds NaN, or the goal is not a state.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    W = world_or_W.W if isinstance(world_or_W, NavWorld) else check_weights(world_or_W, symmetric=False)
    n = W.shape[0]
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (n,):
        raise InvalidInput(f"values must have shape ({n},), not {values.shape}")
    if np.isnan(values).any():
        raise InvalidInput("values hold NaN")
    if goal is None:
        goal = int(values.argmax())
    elif not 0 <= goal < n:
        raise InvalidInput(f"goal {goal} is not one of the {n} states")
    edges = W.tocoo()
    tail, head = edges.row[edges.row != edges.col], edges.col[edges.row != edges.col]
    leaves = np.zeros(n, dtype=bool)
    leaves[tail[values[head] > values[tail]]] = True
    leaves[goal] = True
    level = values[head] == values[tail]
    plateaus = csr_array((np.ones(int(level.sum())), (tail[level], head[level])), shape=(n, n))
    trapped = np.flatnonzero(can_reach(W, goal) & ~can_reach(plateaus, np.flatnonzero(leaves)))
    return int(connected_components(plateaus[trapped][:, trapped], directed=False)[0]) if len(trapped) else 0
