"""A world some of whose walls are moved after it has been explored, and what each learner makes of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import OFFSETS, GridWorld
from scisuite.solvers.laplacian_nav.estimated import estimated_bfs_actions, estimated_green_actions
from scisuite.solvers.laplacian_nav.q_learning import all_goals_q, q_actions
from scisuite.solvers.laplacian_nav.successor import successor_actions, td_successor
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions

Ints = NDArray[np.int64]


def changed_walls(world: GridWorld, rng: np.random.Generator, n_toggles: int) -> tuple[GridWorld, GridWorld]:
    """The world before and after ``n_toggles`` of its cells change between wall and free, with the same states.

    Every second toggle opens a wall between two free cells that face each other, the others fill a free cell with as
    many free ones beside it where the rest stays connected. Both worlds number the cells that are free in either; a
    cell that is a wall in one is a state there without moves (see :func:`usable_states`).

    Parameters
    ----------
    world : GridWorld
        Symmetric, with four neighbours.
    rng : numpy.random.Generator
    n_toggles : int

    Raises
    ------
    InvalidInput
        If the world is of another kind, or has not so many walls to open and cells to fill.
    """
    if isinstance(n_toggles, bool) or not isinstance(n_toggles, int | np.integer) or n_toggles < 1:
        raise InvalidInput(f"n_toggles must be a positive whole number, not {n_toggles!r}")
    if world.neighbours != 4 or world.closed is not None:
        raise InvalidInput("walls can be changed in a world of four neighbours without thin walls or one-way doors")
    free = world.free.copy()
    toggled = np.zeros_like(free)
    for toggle in range(n_toggles):
        cells = _openable(free, world.periodic) if toggle % 2 == 0 else _fillable(free, world.periodic)
        cells = cells[~toggled[cells[:, 0], cells[:, 1]]]
        if not len(cells):
            what = "wall between two free cells" if toggle % 2 == 0 else "free cell whose filling cuts nothing off"
            raise InvalidInput(f"{n_toggles} toggles were asked for, but after {toggle} there is no further {what}")
        row, column = cells[rng.integers(len(cells))]
        free[row, column] = not free[row, column]
        toggled[row, column] = True
    union = world.free | free
    return _within(union, world.free, world), _within(union, free, world)


def usable_states(*worlds: GridWorld) -> Ints:
    """int64 (k,): the states that have moves in every one of ``worlds``: where starts and goals may lie."""
    return np.flatnonzero(np.logical_and.reduce([world.open_moves.any(axis=1) for world in worlds]))


def adapted_actions(
    before: Transitions,
    after: Transitions,
    n: int,
    n_actions: int,
    goals: ArrayLike,
    gamma: float = 0.97,
    alpha: float = 0.5,
    sr_alpha: float = 0.1,
    sweeps: int = 3,
) -> dict[str, Ints]:
    """What four learners do once they have seen ``after``, having seen ``before`` when the walls were others.

    Those with a memory forget what was contradicted since (:meth:`Transitions.still_true`): ``"green"`` and ``"bfs"``
    solve anew on what remains, ``"replayed_q"`` replays it, starting from the table that it had; ``"td_successor"``,
    which remembers nothing, goes on from its matrix. All choose among the moves that were tried and still hold.

    Returns
    -------
    dict
        Name of the learner to int64 (n, g) actions, −1 where nothing is known.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    remembered = (before + after).still_true()
    known = TriedMoves.of(remembered, n, n_actions)
    old_q = all_goals_q(before, n, n_actions, goals, alpha, gamma, sweeps, reverse=True)
    new_q = all_goals_q(remembered, n, n_actions, goals, alpha, gamma, sweeps, reverse=True, initial=old_q)
    successor = td_successor(after, n, gamma, sr_alpha, initial=td_successor(before, n, gamma, sr_alpha))
    return {
        "green": estimated_green_actions(remembered, n, n_actions, goals, gamma),
        "bfs": estimated_bfs_actions(remembered, n, n_actions, goals),
        "replayed_q": q_actions(new_q, known),
        "td_successor": successor_actions(successor, known, goals),
    }


def _openable(free: NDArray[np.bool_], periodic: bool) -> Ints:
    """int64 (k, 2): walls with free cells on two opposite sides and walls on the other two."""
    up, right, down, left = _sides(free, periodic)
    facing = (up & down & ~left & ~right) | (left & right & ~up & ~down)
    return np.argwhere(~free & facing)


def _fillable(free: NDArray[np.bool_], periodic: bool) -> Ints:
    """int64 (k, 2): free cells of a corridor whose filling leaves all others connected as they were."""
    import networkx as nx

    up, right, down, left = _sides(free, periodic)
    corridor = free & ((up & down & ~left & ~right) | (left & right & ~up & ~down))
    world = GridWorld(free, periodic=periodic)
    cuts = np.array(list(nx.articulation_points(nx.from_scipy_sparse_array(world.W))), dtype=np.int64)
    corridor[tuple(world.xy[cuts].T)] = False
    return np.argwhere(corridor)


def _sides(free: NDArray[np.bool_], periodic: bool) -> list[NDArray[np.bool_]]:
    """Whether the cell above, right of, below and left of each is free."""
    padded = np.pad(free, 1, mode="wrap" if periodic else "constant")
    height, width = free.shape
    return [padded[1 + row : 1 + row + height, 1 + col : 1 + col + width] for row, col in OFFSETS[:4]]


def _within(union: NDArray[np.bool_], free: NDArray[np.bool_], world: GridWorld) -> GridWorld:
    """The world whose states are the cells of ``union`` and whose moves are those between the cells of ``free``."""
    enterable = np.stack(_sides(free, world.periodic), axis=-1)
    closed = ~(free[:, :, None] & enterable) & union[:, :, None]
    return GridWorld(union, periodic=world.periodic, closed=closed, slip=world.slip)
