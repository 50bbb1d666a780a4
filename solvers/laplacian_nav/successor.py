"""The successor representation, learned by temporal differences."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, checked_goals

Floats = NDArray[np.float64]


def td_successor(
    transitions: Transitions,
    n: int,
    gamma: float = 0.97,
    alpha: float = 0.1,
    initial: Floats | None = None,
    *,
    sweeps: int = 1,
    reverse: bool = False,
) -> Floats:
    """float64 (n, n): TD(0) towards M = (I − γP)⁻¹ of the walk that made ``transitions``.

    M(x, ·) ← (1 − α) M(x, ·) + α (δ_x + γ M(x′, ·)).

    Parameters
    ----------
    transitions : Transitions
    n : int
    gamma : float
        Discount in (0, 1).
    alpha : float
        Rate in (0, 1].
    initial : float64 (n, n) or None
        Where to go on from; by default zero.
    sweeps : int
        Passes over the transitions; one, forwards, is what a learner does while it walks.
    reverse : bool
        Whether a pass begins at the walk's end, which replays it from the last transition to the first.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    transitions.require(n, 1 + int(transitions.action.max(initial=0)))
    if not 0 < alpha <= 1:
        raise InvalidInput(f"alpha must be in (0, 1], not {alpha!r}")
    if not 0 < gamma < 1:
        raise InvalidInput(f"gamma must be in (0, 1), not {gamma!r}")
    if initial is not None and np.shape(initial) != (n, n):
        raise InvalidInput(f"initial must have shape {(n, n)}, not {np.shape(initial)}")
    if isinstance(sweeps, bool) or not isinstance(sweeps, int | np.integer) or sweeps < 1:
        raise InvalidInput(f"sweeps must be a whole number of at least 1, not {sweeps!r}")
    successor = np.zeros((n, n)) if initial is None else np.array(initial, dtype=np.float64)
    rows = list(successor)
    ahead = np.empty(n)
    pairs = list(zip(transitions.state.tolist(), transitions.next_state.tolist(), strict=True))
    for state, following in (pairs[::-1] if reverse else pairs) * int(sweeps):
        row = rows[state]
        # Read before the row is scaled: a blocked move leads back to it.
        np.multiply(rows[following], alpha * gamma, out=ahead)
        np.multiply(row, 1.0 - alpha, out=row)
        np.add(row, ahead, out=row)
        row[state] += alpha
    return successor


def successor_actions(successor: Floats, known: TriedMoves, goals: ArrayLike) -> NDArray[np.int64]:
    """int64 (n, g): ascent on the columns M(·, g) by tried actions; −1 where nothing was tried."""
    return known.ascent(successor[:, checked_goals(goals, known.n)])
