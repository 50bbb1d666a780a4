"""Goals that nobody had in mind while the world was explored."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.solvers.laplacian_nav.estimated import estimated_bfs_values, estimated_green_actions
from scisuite.solvers.laplacian_nav.q_learning import all_goals_q, q_actions
from scisuite.solvers.laplacian_nav.successor import successor_actions, td_successor
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, checked_goals

Ints = NDArray[np.int64]


def new_goal_actions(
    transitions: Transitions,
    n: int,
    n_actions: int,
    trained: ArrayLike,
    new: ArrayLike,
    gamma: float = 0.97,
    alpha: float = 0.5,
    sr_alpha: float = 0.1,
    sweeps: int = 3,
) -> dict[str, Ints]:
    """What four learners do about ``new`` goals without another look at the transitions.

    ``"green"`` has the factors of its walk, ``"bfs"`` its graph and ``"td_successor"`` its matrix: each is asked for
    further columns. ``"replayed_q"`` has tables for the ``trained`` goals, by ``sweeps`` reverse sweeps, and none for a
    new one; it goes by that of the trained goal from which tried moves lead to the new one soonest (*reconstruction*:
    a table says nothing of other goals).

    Parameters
    ----------
    transitions : Transitions
    n, n_actions : int
    trained : int (k,)
        At least one.
    new : int (g,)
    gamma, alpha, sr_alpha, sweeps
        Discount, rate of Q-learning and of the successor representation, sweeps of replay.

    Returns
    -------
    dict
        Name of the learner to int64 (n, g) actions, −1 where nothing was tried.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    trained, new = checked_goals(trained, n), checked_goals(new, n)
    if not len(trained):
        raise InvalidInput("at least one goal must have been trained for")
    known = TriedMoves.of(transitions, n, n_actions)
    closeness = estimated_bfs_values(known, new)
    tables = q_actions(all_goals_q(transitions, n, n_actions, trained, alpha, gamma, sweeps, reverse=True), known)
    return {
        "green": estimated_green_actions(transitions, n, n_actions, new, gamma),
        "bfs": known.ascent(closeness),
        "replayed_q": tables[:, closeness[trained].argmax(axis=0)],
        "td_successor": successor_actions(td_successor(transitions, n, gamma, sr_alpha), known, new),
    }
