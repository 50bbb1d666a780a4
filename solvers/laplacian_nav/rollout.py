"""Following policies to their goals, all starts and goals at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.errors import UnreachableError
from scisuite.scenarios.nav.world import NavWorld

Ints = NDArray[np.int64]


def roll(actions: ArrayLike, world: NavWorld, goals: ArrayLike, starts: ArrayLike, caps: ArrayLike) -> Ints:
    """Moves that a policy takes from every start to every goal.

    The world and the policy are deterministic, so that a way that comes back to a state never arrives; such ways are
    given up early, with the same result.

    Parameters
    ----------
    actions : int (n, g)
        The action in each state on the way to each goal; −1 stays where it is.
    world : NavWorld
        Without slip.
    goals : int (g,)
    starts : int (s,)
    caps : int or int (g, s)
        Moves that are allowed.

    Returns
    -------
    int64 (g, s)
        0 where the start is the goal, −1 where the goal was not reached.

    Raises
    ------
    InvalidInput
        If the world is slippery, an action, goal or start is out of range, or a shape does not fit.
    """
    goals, starts = world.states(goals), world.states(starts)
    actions = _checked_actions(actions, world, len(goals))
    shape = (len(goals), len(starts))
    allowed = np.asarray(caps)
    if not np.issubdtype(allowed.dtype, np.integer) or allowed.shape not in ((), shape):
        raise InvalidInput(f"caps must be whole numbers of shape {shape} or a single one, not {caps!r}")
    # State x on the way to goal j is number x g + j, and its successor is one look-up away.
    g = len(goals)
    moves = np.concatenate([world.moves, np.arange(world.n)[:, None]], axis=1)
    onward = (np.take_along_axis(moves, actions, axis=1) * g + np.arange(g)).ravel()
    steps = np.full(shape, -1, dtype=np.int64)
    steps[goals[:, None] == starts] = 0
    goal_of, start_of = np.nonzero(steps < 0)
    at = starts[start_of] * g + goal_of
    target = goals[goal_of] * g + goal_of
    cap = np.broadcast_to(allowed, shape)[goal_of, start_of]
    seen, taken, next_look = at, 0, 1
    while len(at):
        going = cap > taken
        if taken:
            going &= at != seen  # back where it was: it turns in a circle
        if not going.all():
            goal_of, start_of, at, target, cap, seen = (
                part[going] for part in (goal_of, start_of, at, target, cap, seen)
            )
        if taken == next_look:
            seen, next_look = at, 2 * next_look
        at = onward[at]
        taken += 1
        there = at == target
        if there.any():
            steps[goal_of[there], start_of[there]] = taken
            goal_of, start_of, at, target, cap, seen = (
                part[~there] for part in (goal_of, start_of, at, target, cap, seen)
            )
    return steps


def success_and_spl(
    policy: Any,
    world: NavWorld,
    goals: ArrayLike,
    starts: ArrayLike,
    max_factor: float = 10.0,
    cap: int | str | None = None,
) -> dict[str, float]:
    r"""How often a policy arrives, and how much longer its ways are than shortest paths.

    Every start is paired with every goal; a start that is its goal is left out. Success weighted by path length is

    .. math:: \mathrm{SPL} = \frac1N \sum_i S_i \frac{\ell_i}{p_i}

    for shortest paths of :math:`\ell_i` moves and :math:`p_i` moves taken, with :math:`S_i` = 1 on arrival and else 0.

    Parameters
    ----------
    policy : int (n, g), or object with ``actions(goals) -> int (n, g)``
        Such as :class:`~scisuite.solvers.laplacian_nav.GreenPolicy`; −1 stays.
    world : NavWorld
        Without slip.
    goals : int (g,)
    starts : int (s,)
    max_factor : float
        A way may take this many times the moves of a shortest path, at least 1.
    cap : int, "n" or None
        Moves that every way may take instead: ``"n"`` is the number of states.

    Returns
    -------
    dict
        ``success`` and ``spl`` in [0, 1], ``steps``: mean moves of the ways that arrived (NaN if none did).

    Raises
    ------
    InvalidInput
        If the world is slippery, an argument is out of range, or no pair is left.
    UnreachableError
        If no path leads from a start to a goal; the message names both.

    Notes
    -----
    Source: brief §Experiments; SPL is Anderson et al., *On Evaluation of Embodied Navigation Agents*, 2018.
    """
    goals, starts = world.states(goals), world.states(starts)
    number = isinstance(max_factor, int | float | np.number) and not isinstance(max_factor, bool)
    if not (number and 1 <= max_factor < np.inf):
        raise InvalidInput(f"max_factor must be a finite number of at least 1, not {max_factor!r}")
    pairs = goals[:, None] != starts
    if not pairs.any():
        raise InvalidInput("there is no pair of a start and another goal")
    shortest = world.distances(goals)[:, starts].astype(np.int64)
    if (shortest < 0).any():
        j, i = np.argwhere(shortest < 0)[0]
        raise UnreachableError(f"no path leads from {world.name(starts[i])} to {world.name(goals[j])}")
    actions = policy.actions(goals) if hasattr(policy, "actions") else policy
    steps = roll(actions, world, goals, starts, _caps(cap, max_factor, shortest, world.n))
    steps, shortest = steps[pairs], shortest[pairs]
    arrived = steps > 0
    ratio = shortest[arrived] / steps[arrived]
    return {
        "success": float(arrived.mean()),
        "spl": float(ratio.sum() / len(steps)),
        "steps": float(steps[arrived].mean()) if arrived.any() else float("nan"),
    }


def _caps(cap: int | str | None, max_factor: float, shortest: Ints, n: int) -> Ints:
    if cap is None:
        return np.asarray(np.floor(max_factor * shortest), dtype=np.int64)
    if isinstance(cap, str) and cap == "n":
        return np.full(shortest.shape, n, dtype=np.int64)
    if isinstance(cap, bool) or not isinstance(cap, int | np.integer) or cap < 1:
        raise InvalidInput(f"cap must be a positive whole number or 'n', not {cap!r}")
    return np.full(shortest.shape, int(cap), dtype=np.int64)


def _checked_actions(actions: ArrayLike, world: NavWorld, g: int) -> Ints:
    if world.slip > 0:
        raise InvalidInput("ways are followed in a world without slip; run the environment for a slippery one")
    given = np.asarray(actions)
    if given.shape != (world.n, g) or not np.issubdtype(given.dtype, np.integer):
        raise InvalidInput(
            f"actions must be whole numbers of shape ({world.n}, {g}), not {given.dtype} of shape {given.shape}"
        )
    most = world.moves.shape[1] - 1
    if given.size and (given.min() < -1 or given.max() > most):
        wrong = int(given[(given < -1) | (given > most)][0])
        raise InvalidInput(f"action {wrong} is not in -1 … {most}")
    return given.astype(np.int64)
