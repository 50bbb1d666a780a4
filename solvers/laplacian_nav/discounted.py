"""The discounted walk: expected visits to the goal, which lead there along one-way moves as well."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from scisuite.core import EngineFailure, InvalidInput
from scisuite.solvers.laplacian_nav.columns import Columns, Floats
from scisuite.solvers.laplacian_nav.direct import factorise
from scisuite.solvers.laplacian_nav.operators import Bools, Ints, can_reach, check_not_negative

_ROW_SUM = 1e-9
_BACKWARD_ERROR = 1e-10


class DiscountedWalk(Columns):
    r"""Columns of :math:`(I - \gamma P)^{-1}`: discounted visits of a walk P to a goal, by one sparse factorisation.

    The column v of a goal obeys :math:`v(x) = \gamma \sum_y P(x, y)\, v(y) < \max_y v(y)` wherever :math:`x \ne g` and
    :math:`v(x) > 0`. So ascent along the moves of P arrives from every state that a path leads on to the goal, without
    P being symmetric. Where no path leads to the goal v is exactly zero.

    Parameters
    ----------
    P : array or sparse (n, n)
        Transition probabilities, P[x, y] from x to y; a row may sum to less than one, not to more.
    gamma : float
        Discount in (0, 1).

    Attributes
    ----------
    residual : float or None
        Largest ‖A x − b‖ / ‖b‖ of the goals of the latest call.

    Raises
    ------
    InvalidInput
        If P is no such matrix, or ``gamma`` no discount.

    Notes
    -----
    Source: the successor representation, brief §Potential; that ascent needs no symmetry is a reconstruction.

    Examples
    --------
    >>> one_way = [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
    >>> DiscountedWalk(one_way, 0.5).potential([2]).ravel().round(3).tolist()
    [0.333, 0.667, 1.333]
    """

    _remedy = "a larger gamma"

    def __init__(self, P: Any, gamma: float) -> None:
        number = isinstance(gamma, int | float | np.number) and not isinstance(gamma, bool)
        if not (number and 0 < gamma < 1):
            raise InvalidInput(f"gamma must be a discount in (0, 1), not {gamma!r}")
        self.P = _checked_walk(P)
        self.gamma = float(gamma)
        self.residual: float | None = None

    @cached_property
    def matrix(self) -> Any:
        """float64 CSR (n, n): I − γP."""
        from scipy.sparse import eye_array

        return (eye_array(self.P.shape[0]) - self.gamma * self.P).tocsr()

    def _solve(self, goals: Ints) -> Floats:
        right = np.zeros((self.n, len(goals)), order="F")
        right[goals, np.arange(len(goals))] = 1.0
        values = np.asarray(self._factors.solve(right), order="F")
        wrong = np.abs(self.matrix @ values - right)
        self.residual = float(np.linalg.norm(wrong, axis=0).max(initial=0.0))
        backward = wrong.max(initial=0.0) / (2.0 * np.abs(values).max(initial=0.0) + 1.0)
        if not backward <= _BACKWARD_ERROR:
            raise EngineFailure(f"the potential does not solve its equations: backward error {backward:.1e}")
        return values

    def _connected(self, goals: Ints) -> Bools:
        return np.stack([can_reach(self.P, goal) for goal in goals], axis=1)

    @cached_property
    def _factors(self) -> Any:
        return factorise(self.matrix)

    def __getstate__(self) -> dict[str, Any]:
        """Without the factors, which cannot be pickled: they are made again."""
        return {k: v for k, v in self.__dict__.items() if k != "_factors"}


def _checked_walk(P: Any) -> Any:
    walk = check_not_negative(P, "P")
    total = walk.sum(axis=1)
    if total.max() > 1 + _ROW_SUM:
        row = int(total.argmax())
        raise InvalidInput(f"row {row} of P sums to {total[row]:g}; probabilities sum to at most 1")
    return walk
