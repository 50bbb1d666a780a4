"""The potential by which rewards are shaped: the logarithm of the Green's function of the goal."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.nav import NavWorld

Floats = NDArray[np.float64]

KEPT_BYTES = 2**24


class Potentials:
    """Φ(x) = log(G(x, g) / G(g, g)) with G = (L + εI)⁻¹, worked out for a goal when it is first asked for.

    Φ is 0 at the goal and negative elsewhere. Where no path leads to the goal, and G is 0, it takes the least value of
    all other states, so that it is finite.

    With one-way doors L is not symmetric. The discounted walk takes its place, (I − γP)⁻¹ with γ = A / (A + ε) for A
    actions: of a symmetric world with weights of one it is the same potential, as P = I − L/A there
    (*reconstruction*).

    Parameters
    ----------
    world : NavWorld
    eps : float
        ε > 0.
    """

    def __init__(self, world: NavWorld, eps: float) -> None:
        self.world = world
        self.eps = eps
        self._solver: Any = None
        self._columns: OrderedDict[int, Floats] = OrderedDict()

    def column(self, goal: int) -> Floats:
        """float64 (n,): Φ of every state for one goal; the last few are kept."""
        if (column := self._columns.get(goal)) is not None:
            self._columns.move_to_end(goal)
            return column
        column = self._worked_out(goal)
        self._columns[goal] = column
        if len(self._columns) > max(1, KEPT_BYTES // column.nbytes):
            self._columns.popitem(last=False)
        return column

    def _worked_out(self, goal: int) -> Floats:
        if self._solver is None:
            self._solver = self._solver_of_world()
        column = np.array(self._solver.log_potential([goal])[:, 0])
        reached = np.isfinite(column)
        column[~reached] = column[reached].min()
        column[goal] = 0.0
        column.flags.writeable = False
        return column

    def _solver_of_world(self) -> Any:
        from scisuite.solvers.laplacian_nav import DiscountedWalk, GreenPotential

        if self.world.is_symmetric:
            return GreenPotential(self.world, eps=self.eps)
        n_actions = self.world.moves.shape[1]
        return DiscountedWalk(self.world.walk, n_actions / (n_actions + self.eps))
