"""Columns of the inverse of an M-matrix: positive fields with their only peak at the goal, and their logarithms."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import EngineFailure
from scisuite.solvers.laplacian_nav.direct import factorise
from scisuite.solvers.laplacian_nav.operators import Bools, Ints, check_states

Floats = NDArray[np.float64]

TINY = float(np.finfo(np.float64).tiny)
"""Below this, about 2e-308, digits are lost until nothing is left."""
_TRUSTED = 1e-200


class Columns(ABC):
    """Fields over n states, one for each goal, that a navigator climbs.

    A subclass sets :attr:`matrix`, the M-matrix A whose inverse has the fields as its columns, solves, and knows which
    states are connected to a goal.
    """

    matrix: Any
    _remedy: str

    @property
    def n(self) -> int:
        """Number of states."""
        return int(self.matrix.shape[0])

    def potential(self, goals: ArrayLike) -> Floats:
        """float64 (n, g): the field of each of ``goals`` (g,).

        Raises
        ------
        InvalidInput
            If a goal is not a state.
        EngineFailure
            If the solution does not solve the equations.

        Warns
        -----
        RuntimeWarning
            If a field underflows where the goal can still be reached; ascent may stop there. :meth:`log_potential`
            does not.
        """
        goals = check_states(goals, self.n)
        values = self._solve(goals)
        doubt = self._doubt(values, goals)
        if doubt is not None:
            warnings.warn(doubt, RuntimeWarning, stacklevel=2)
        return values

    def log_potential(self, goals: ArrayLike) -> Floats:
        """float64 (n, g): log(G(x, g) / G(g, g)), at most 0, however small G is; −∞ where no path leads to the goal.

        See :func:`log_columns` for what happens below the smallest number.

        Raises
        ------
        InvalidInput
            If a goal is not a state.
        EngineFailure
            If the solution does not solve the equations.
        """
        goals = check_states(goals, self.n)
        values = self._solve(goals)
        return log_columns(self.matrix, values, goals, self._connected(goals))

    def ranking(self, goals: ArrayLike) -> Floats:
        """float64 (n, g): what ascent compares: the potential, or its logarithm for a goal whose potential underflows.

        Raises
        ------
        InvalidInput
            If a goal is not a state.
        EngineFailure
            If the solution does not solve the equations.

        Warns
        -----
        RuntimeWarning
            If ascent is in doubt for another reason than underflow.
        """
        goals = check_states(goals, self.n)
        values = self._solve(goals)
        low = self._underflow(values, goals) > 0
        if low.any():
            values[:, low] = log_columns(self.matrix, values[:, low], goals[low], self._connected(goals[low]))
        elif (doubt := self._doubt(values, goals)) is not None:
            warnings.warn(doubt, RuntimeWarning, stacklevel=2)
        return values

    @abstractmethod
    def _solve(self, goals: Ints) -> Floats:
        """float64 (n, g): solutions of A x = δ_g."""

    @abstractmethod
    def _connected(self, goals: Ints) -> Bools:
        """bool (n, g): whether a path leads from the state to the goal."""

    def _doubt(self, values: Floats, goals: Ints) -> str | None:
        """What a user should know about a field before climbing it."""
        low = self._underflow(values, goals)
        if not low.any():
            return None
        worst = int(low.argmax())
        where = f"the potential of goal {goals[worst]} underflows at {low[worst]} states"
        return f"{where}: use log_potential, or {self._remedy}"

    def _underflow(self, values: Floats, goals: Ints) -> Ints:
        """int64 (g,): states that can reach the goal and whose value has lost digits."""
        lost = np.zeros(len(goals), dtype=np.int64)
        low = np.flatnonzero(values.min(axis=0) < TINY)
        if len(low):
            lost[low] = ((values[:, low] < TINY) & self._connected(goals[low])).sum(axis=0)
        return lost


def log_columns(A: Any, columns: Floats, goals: Ints, connected: Bools) -> Floats:
    r"""Logarithms of the columns of A⁻¹, relative to their peaks, beyond what floating point holds.

    Where a column is within 1e-200 of its peak its logarithm is taken. The states U beyond see the known ones R as a
    boundary,

    .. math:: A_{UU}\, x_U = -A_{UR}\, x_R ,

    whose right side is scaled so that its largest entry is 1; the solution is exact again down to 1e-200 of its peak,
    and so on outwards until every state is reached. The equations are never approximated, only read in windows of 460
    nats, and nothing is subtracted, so that each logarithm is as accurate as the solution is relative to itself.

    Parameters
    ----------
    A : CSR (n, n)
        M-matrix.
    columns : float64 (n, g)
        Solutions of A x = δ_g, accurate relative to themselves where they have not underflown.
    goals : int64 (g,)
    connected : bool (n, g)
        Where the logarithm is finite.

    Returns
    -------
    float64 (n, g)
        Zero at the goal, −∞ where the goal cannot be reached.

    Raises
    ------
    EngineFailure
        If one edge alone lowers the field by more than 1e-300.

    Notes
    -----
    Reconstruction: the brief asks for a logarithm and gives no method.
    """
    logs = np.full(columns.shape, -np.inf)
    for j, goal in enumerate(goals):
        column, peak = columns[:, j], columns[goal, j]
        known = connected[:, j] & (column > _TRUSTED * peak)
        logs[known, j] = np.log(column[known]) - np.log(peak)
        _continue_outwards(A, logs[:, j], known, connected[:, j])
    return np.asarray(np.minimum(logs, 0.0))


def _continue_outwards(A: Any, logs: Floats, known: Bools, connected: Bools) -> None:
    """Fill ``logs`` where it is not ``known`` though ``connected``, window by window."""
    rest = np.flatnonzero(connected & ~known)
    while len(rest):
        rows = A[rest]
        boundary = rows.tocoo()
        seen = known[boundary.col]
        if not seen.any():
            raise EngineFailure("the logarithm of the potential cannot be continued: no edge leads on")
        top = logs[boundary.col[seen]].max()
        inflow = np.zeros(len(rest))
        shares = -boundary.data[seen] * np.exp(logs[boundary.col[seen]] - top)
        np.add.at(inflow, boundary.row[seen], shares)
        scaled = factorise(rows[:, rest]).solve(inflow)
        peak = scaled.max()
        if not peak > TINY:
            raise EngineFailure("the logarithm of the potential cannot be continued: one edge lowers it by over 1e-300")
        accepted = scaled > _TRUSTED * peak
        logs[rest[accepted]] = np.log(scaled[accepted]) + top
        known[rest[accepted]] = True
        rest = rest[~accepted]
