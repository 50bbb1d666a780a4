"""Tabular Q-learning of many goals from one walk: once through, replayed, with a model (Dyna), with hindsight (HER).

All learn Q(g, x, a) ≈ γ^(moves to g − 1): reward 1 on entering the goal, which is terminal, and 0 elsewhere. Zero is a
lower bound to begin from, so that an action that was never tried is never the best. Goals share the transitions, and
their updates are one NumPy operation; transitions cannot be batched exactly, for each reads what the last one wrote.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput, generator
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, checked_goals

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def all_goals_q(
    transitions: Transitions,
    n: int,
    n_actions: int,
    goals: ArrayLike,
    alpha: float = 0.5,
    gamma: float = 0.97,
    sweeps: int = 1,
    reverse: bool = False,
    initial: Floats | None = None,
) -> Floats:
    """float64 (g, n, A): Q-learning in which every transition updates every goal.

    Q(g, x, a) ← (1 − α) Q(g, x, a) + α (1 if x′ = g else γ maxₐ′ Q(g, x′, a′)).

    Parameters
    ----------
    transitions : Transitions
    n, n_actions : int
    goals : int (g,)
    alpha : float
        Rate in (0, 1].
    gamma : float
        Discount in (0, 1).
    sweeps : int
        How many times the transitions are gone through: 1 is one pass, more is replay.
    reverse : bool
        Whether each sweep goes from the last transition to the first, which carries a goal's value back at once.
    initial : float64 (g, n, A) or None
        Where to go on from, in [0, 1]; by default zero.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    goals = _checked(transitions, n, n_actions, goals, alpha, gamma)
    _positive("sweeps", sweeps)
    table = np.zeros((n, n_actions, len(goals)))
    if initial is not None:
        if np.shape(initial) != (len(goals), n, n_actions) or not (np.min(initial) >= 0 and np.max(initial) <= 1):
            wanted = (len(goals), n, n_actions)
            raise InvalidInput(f"initial must be of shape {wanted} and in [0, 1], not {np.shape(initial)}")
        table[:] = np.moveaxis(initial, 0, -1)
    order = transitions[::-1] if reverse else transitions
    # From zero and with one outcome for each action no Q ever falls, so that a maximum can be kept up to date.
    rising = initial is None and len(transitions.still_true()) == len(transitions)
    for _ in range(sweeps):
        (_sweep_rising if rising else _sweep)(order, table, goals, alpha, gamma)
    return np.ascontiguousarray(np.moveaxis(table, -1, 0))


def dyna_q(
    transitions: Transitions,
    n: int,
    n_actions: int,
    goals: ArrayLike,
    alpha: float = 0.5,
    gamma: float = 0.97,
    planning: int = 10,
    seed: int = 0,
) -> Floats:
    """float64 (g, n, A): one pass, with ``planning`` remembered moves updated after each transition.

    The model keeps the latest outcome of every tried move; the moves to plan with are drawn uniformly from them and
    updated together, for all goals in one operation.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    goals = _checked(transitions, n, n_actions, goals, alpha, gamma)
    _positive("planning", planning)
    table = np.zeros((n, n_actions, len(goals)))
    of_pair = table.reshape(n * n_actions, len(goals))
    pinned = _pinned(n, goals)
    value = pinned.copy()
    pairs = transitions.state * n_actions + transitions.action
    outcome = np.zeros(n * n_actions, dtype=np.int64)
    first, numbers = np.unique(pairs, return_index=True)[1], np.zeros(len(pairs), dtype=np.int64)
    numbers[first] = 1
    n_known = np.cumsum(numbers)
    known = pairs[np.sort(first)]
    draws = (generator(seed, "dyna").random((len(pairs), planning)) * n_known[:, None]).astype(np.int64)
    updated = np.concatenate([pairs[:, None], known[draws]], axis=1)
    for pair, following, chosen in zip(pairs.tolist(), transitions.next_state.tolist(), updated, strict=True):
        outcome[pair] = following
        now = of_pair[chosen]
        now += alpha * (value[outcome[chosen]] - now)
        of_pair[chosen] = now
        states = chosen // n_actions
        value[states] = np.maximum(gamma * table[states].max(axis=1), pinned[states])
    return np.ascontiguousarray(np.moveaxis(table, -1, 0))


def her_q(
    transitions: Transitions,
    n: int,
    n_actions: int,
    goals: ArrayLike,
    alpha: float = 0.5,
    gamma: float = 0.97,
    relabels: int = 4,
    episode: int | None = None,
    sweeps: int = 1,
    seed: int = 0,
) -> Floats:
    """float64 (g, n, A): Q-learning with hindsight goals, the "future" strategy.

    Each transition is relabelled with ``relabels`` states that were reached later in its episode, drawn uniformly.
    Goals do not share values, so that only relabels with one of ``goals`` are carried out; the others would change
    nothing.

    Parameters
    ----------
    episode : int or None
        Steps after which a walk counts as another episode; by default ``n``, where the environment truncates.
    sweeps : int
        How many times the transitions are gone through, each time with relabels of its own.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    goals = _checked(transitions, n, n_actions, goals, alpha, gamma)
    episode = n if episode is None else episode
    for name, count in (("relabels", relabels), ("episode", episode), ("sweeps", sweeps)):
        _positive(name, count)
    distinct, column = np.unique(goals, return_inverse=True)
    column_of = np.full(n, -1, dtype=np.int64)
    column_of[distinct] = np.arange(len(distinct))
    rng = generator(seed, "her")
    steps, ends = np.arange(len(transitions)), _episode_ends(transitions, episode)
    q = [0.0] * (len(distinct) * n * n_actions)
    for _ in range(sweeps):
        later = steps[:, None] + (rng.random((len(steps), relabels)) * (ends - steps)[:, None]).astype(np.int64)
        achieved = transitions.next_state[later].ravel()
        step = np.repeat(steps, relabels)[column_of[achieved] >= 0]
        achieved = achieved[column_of[achieved] >= 0]
        block = column_of[achieved] * n
        following = transitions.next_state[step]
        here = (block + transitions.state[step]) * n_actions + transitions.action[step]
        there = (block + following) * n_actions
        rows = zip(here.tolist(), there.tolist(), (following == achieved).tolist(), strict=True)
        for pair, beyond, arrived in rows:
            target = 1.0 if arrived else gamma * max(q[beyond : beyond + n_actions])
            q[pair] += alpha * (target - q[pair])
    return np.array(q).reshape(len(distinct), n, n_actions)[column]


def q_actions(q: Floats, known: TriedMoves) -> Ints:
    """int64 (n, g): the tried action of the largest ``q`` (g, n, A), the lowest of equals; −1 where none was tried."""
    return known.best(np.moveaxis(q, 0, -1))


def _sweep_rising(order: Transitions, table: Floats, goals: Ints, alpha: float, gamma: float) -> None:
    """One sweep where no Q falls: then max Q(x, ·) is the larger of what it was and of the Q that was updated.

    ``table`` (n, A, g) is updated in place. What is kept beside it is αγ max Q(x, ·), and α at the goal itself: what an
    arrival in x adds to a Q.
    """
    n, n_actions, n_goals = table.shape
    arrival = np.maximum(alpha * gamma * table.max(axis=1), alpha * _pinned(n, goals))
    rows, arrivals = list(table.reshape(n * n_actions, n_goals)), list(arrival)
    scaled = np.empty(n_goals)
    multiply, add, maximum, keep, factor = np.multiply, np.add, np.maximum, 1.0 - alpha, alpha * gamma
    pairs = (order.state * n_actions + order.action).tolist()
    for pair, state, following in zip(pairs, order.state.tolist(), order.next_state.tolist(), strict=True):
        row, here = rows[pair], arrivals[state]
        multiply(row, keep, out=row)
        add(row, arrivals[following], out=row)
        multiply(row, factor, out=scaled)
        maximum(here, scaled, out=here)


def _sweep(order: Transitions, table: Floats, goals: Ints, alpha: float, gamma: float) -> None:
    """One sweep in general, in place; kept beside ``table`` (n, A, g) is γ max Q(x, ·), and 1 at the goal itself."""
    pinned = _pinned(len(table), goals)
    value = np.maximum(gamma * table.max(axis=1), pinned)
    steps = zip(order.state.tolist(), order.action.tolist(), order.next_state.tolist(), strict=True)
    for state, action, following in steps:
        row = table[state, action]
        row += alpha * (value[following] - row)
        np.maximum(gamma * table[state].max(axis=0), pinned[state], out=value[state])


def _pinned(n: int, goals: Ints) -> Floats:
    """float64 (n, g): 1 in each goal's own state, which is worth that whatever its actions are, else 0."""
    pinned = np.zeros((n, len(goals)))
    pinned[goals, np.arange(len(goals))] = 1.0
    return pinned


def _episode_ends(transitions: Transitions, episode: int) -> Ints:
    """int64 (T,): for each step the first one that belongs to a later episode."""
    steps = np.arange(len(transitions))
    breaks = np.flatnonzero(transitions.next_state[:-1] != transitions.state[1:]) + 1
    begins = np.concatenate([[0], breaks]).astype(np.int64)
    ends = np.concatenate([breaks, [len(transitions)]]).astype(np.int64)
    walk = np.searchsorted(begins, steps, side="right") - 1
    into = steps - begins[walk]
    return np.minimum(begins[walk] + (into // episode + 1) * episode, ends[walk])


def _checked(transitions: Transitions, n: int, n_actions: int, goals: ArrayLike, alpha: float, gamma: float) -> Ints:
    transitions.require(n, n_actions)
    if not 0 < alpha <= 1:
        raise InvalidInput(f"alpha must be in (0, 1], not {alpha!r}")
    if not 0 < gamma < 1:
        raise InvalidInput(f"gamma must be in (0, 1), not {gamma!r}")
    return checked_goals(goals, n)


def _positive(name: str, count: object) -> None:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise InvalidInput(f"{name} must be a positive whole number, not {count!r}")
