"""Planning on the graph that a walk has seen: Green's function, and shortest paths as its peer."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, checked_goals

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def estimated_green_values(known: TriedMoves, goals: ArrayLike, gamma: float = 0.97) -> Floats:
    """float64 (n, g): columns of (I − γP̂)⁻¹, zero where no tried moves lead to the goal.

    One sparse factorisation serves all ``goals`` (g,). Away from the goal v(x) = γ Σ P̂ v < max v, so that ascent
    arrives although P̂ is not symmetric. A column that would underflow is given as its logarithm relative to the goal,
    −∞ where no tried moves lead there.
    """
    from scisuite.solvers.laplacian_nav.discounted import DiscountedWalk

    goals = checked_goals(goals, known.n)
    return np.asarray(DiscountedWalk(known.walk(), gamma).ranking(goals))


def estimated_green_actions(
    transitions: Transitions, n: int, n_actions: int, goals: ArrayLike, gamma: float = 0.97
) -> Ints:
    """int64 (n, g): ascent on Green's function of the walk that was estimated from ``transitions``.

    Only tried actions are chosen: −1 where there is none. A goal to which no tried moves lead is not reached.

    Parameters
    ----------
    transitions : Transitions
    n, n_actions : int
        States and actions of the world.
    goals : int (g,)
    gamma : float
        Discount in (0, 1).

    Raises
    ------
    InvalidInput
        If a state, action or goal is out of range, or ``gamma`` is no discount.

    Notes
    -----
    Reconstruction. The graph is directed; P̂ is :func:`~scisuite.solvers.laplacian_nav.walks.estimated_walk`.
    """
    known = TriedMoves.of(transitions, n, n_actions)
    return known.ascent(estimated_green_values(known, goals, gamma))


def estimated_bfs_actions(transitions: Transitions, n: int, n_actions: int, goals: ArrayLike) -> Ints:
    """int64 (n, g): shortest paths on the same directed graph of tried moves; −1 where nothing was tried.

    Where an action had several outcomes, the mean of their distances counts.

    Raises
    ------
    InvalidInput
        If a state, action or goal is out of range.
    """
    known = TriedMoves.of(transitions, n, n_actions)
    return known.ascent(estimated_bfs_values(known, goals))


def estimated_bfs_values(known: TriedMoves, goals: ArrayLike) -> Floats:
    """float64 (n, g): minus the moves of a shortest path of tried moves; −n where there is none."""
    from scipy.sparse.csgraph import dijkstra

    goals = checked_goals(goals, known.n)
    if not len(goals):
        return np.empty((known.n, 0))
    moves = np.atleast_2d(dijkstra(known.walk().T, indices=goals, unweighted=True))
    return -np.where(np.isfinite(moves), moves, known.n).T


def symmetrised_green_actions(
    transitions: Transitions, n: int, n_actions: int, goals: ArrayLike, eps: float = 0.1
) -> Ints:
    """int64 (n, g): ascent on (L + εI)⁻¹ of an undirected estimate, as an ablation.

    An edge of weight one joins two states where a move was seen either way; still, only tried actions are chosen, so
    that ascent stops where the way up was never tried.

    Raises
    ------
    InvalidInput
        If a state, action or goal is out of range, no move was seen, or ``eps`` is not positive.
    """
    from scipy.sparse import csr_array

    from scisuite.solvers.laplacian_nav.green import GreenPotential
    from scisuite.solvers.laplacian_nav.operators import laplacian

    known = TriedMoves.of(transitions, n, n_actions)
    goals = checked_goals(goals, n)
    if not eps > 0:
        raise InvalidInput(f"eps must be positive, because an estimated graph may fall apart, not {eps!r}")
    seen = transitions.state != transitions.next_state
    one, other = transitions.state[seen], transitions.next_state[seen]
    ends = np.concatenate([one, other]), np.concatenate([other, one])
    weights = csr_array((np.ones(len(ends[0])), ends), shape=(n, n))
    weights.sum_duplicates()
    weights.data[:] = 1.0
    return known.ascent(np.asarray(GreenPotential(laplacian(weights), eps=eps).ranking(goals)))
