"""Random walks in a world, and the walk that can be estimated from what they saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.nav.world import NavWorld

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Transitions:
    """What a navigator saw, in the order in which it saw it.

    Parameters
    ----------
    state, action, next_state : int64 (T,)
        ``action`` is the one that was chosen; where a world slips, another may have been carried out. Where
        ``next_state[t] != state[t + 1]`` one walk ends and another begins.

    Raises
    ------
    InvalidInput
        If they are not whole numbers ≥ 0 in one dimension and of one length.
    """

    state: Ints
    action: Ints
    next_state: Ints

    def __post_init__(self) -> None:
        for name in ("state", "action", "next_state"):
            given = np.asarray(getattr(self, name))
            if given.ndim != 1 or not (np.issubdtype(given.dtype, np.integer) or given.size == 0):
                raise InvalidInput(f"{name} must be whole numbers in one dimension, not {given.dtype} {given.shape}")
            if given.size and given.min() < 0:
                raise InvalidInput(f"{name} must not be negative, but one is {given.min()}")
            object.__setattr__(self, name, given.astype(np.int64))
        lengths = len(self.state), len(self.action), len(self.next_state)
        if len(set(lengths)) > 1:
            raise InvalidInput(f"state, action and next_state must have one length, not {lengths}")

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, rows: slice | NDArray[Any]) -> Transitions:
        return Transitions(self.state[rows], self.action[rows], self.next_state[rows])

    def __add__(self, later: Transitions) -> Transitions:
        pairs = [(getattr(self, name), getattr(later, name)) for name in ("state", "action", "next_state")]
        return Transitions(*(np.concatenate(pair) for pair in pairs))

    def require(self, n: int, n_actions: int) -> Transitions:
        """Themselves, if every state is below ``n`` and every action below ``n_actions``.

        Raises
        ------
        InvalidInput
            If one is not.
        """
        if len(self) and max(self.state.max(), self.next_state.max()) >= n:
            raise InvalidInput(f"state {max(self.state.max(), self.next_state.max())} is not among {n} states")
        if len(self) and self.action.max() >= n_actions:
            raise InvalidInput(f"action {self.action.max()} is not among {n_actions} actions")
        return self

    def still_true(self) -> Transitions:
        """Without those whose state and action had another outcome the last time that they were tried.

        For a world that does not slip but whose walls may have changed.
        """
        if not len(self):
            return self
        pair = self.state * (self.action.max() + 1) + self.action
        latest = np.empty(pair.max() + 1, dtype=np.int64)
        # NumPy assigns in order, so that of equal pairs the last one stays.
        latest[pair] = self.next_state
        return self[self.next_state == latest[pair]]


def random_walk(world: NavWorld, steps: int, seed: int, start: int | None = None) -> Transitions:
    """A walk of uniformly random actions; a longer one of the same seed begins with the same steps.

    Parameters
    ----------
    world : NavWorld
        Where it slips, the executed action is replaced by a random one with probability ``world.slip``.
    steps : int
    seed : int
    start : int or None
        First state; by default drawn uniformly from the largest strongly connected component.

    Raises
    ------
    InvalidInput
        If ``steps`` is no positive whole number, or the seed or start is none.
    """
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidInput(f"steps must be a positive whole number, not {steps!r}")
    rng = generator(seed, "random walk")
    if start is None:
        largest = np.flatnonzero(world.components == np.bincount(world.components).argmax())
        start = int(rng.choice(largest))
    (state,) = world.states([start]).tolist()
    n_actions = world.moves.shape[1]
    chosen = rng.integers(n_actions, size=steps)
    done = chosen
    if world.slip > 0:
        luck = generator(seed, "slip").random((steps, 2))
        done = np.where(luck[:, 0] < world.slip, (luck[:, 1] * n_actions).astype(np.int64), chosen)
    moves, path = world.moves.tolist(), [state]
    for action in done.tolist():
        state = moves[state][action]
        path.append(state)
    visited = np.array(path, dtype=np.int64)
    return Transitions(visited[:-1], chosen, visited[1:])


def estimated_walk(transitions: Transitions, n: int, n_actions: int) -> Any:
    """float64 CSR (n, n): the walk that chooses uniformly among the actions that were tried.

    P̂(x′|x) = mean over the actions a tried in x of N(x, a, x′) / N(x, a). Its graph is directed: a move that was made
    one way is not known the other way. A state in which nothing was tried stays where it is. Rows sum to one.

    Raises
    ------
    InvalidInput
        If a state or action is out of range.

    Notes
    -----
    Reconstruction. A symmetrised estimate promises moves that were never tried, and ascent then stops where only they
    lead on (:func:`~scisuite.solvers.laplacian_nav.tabular.symmetrised_green_actions`).
    """
    from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves

    return TriedMoves.of(transitions, n, n_actions).walk()


def checked_goals(goals: ArrayLike, n: int) -> Ints:
    """``goals`` as int64 (g,), each of them one of ``n`` states.

    Raises
    ------
    InvalidInput
        If one is not.
    """
    given = np.atleast_1d(np.asarray(goals))
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InvalidInput(f"goals must be whole numbers in one dimension, not {given.dtype} of shape {given.shape}")
    if given.size and (given.min() < 0 or given.max() >= n):
        raise InvalidInput(f"goal {given[(given < 0) | (given >= n)][0]} is not among {n} states")
    return given.astype(np.int64)
