"""The steady state in which a network comes to rest."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.linalg import splu

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.conserved import ConservedPools, conserved_pools
from scisuite.solvers.crn_reduce.mass_action import MassAction
from scisuite.solvers.crn_reduce.network import CRN, Floats, Pools
from scisuite.solvers.crn_reduce.simulation import checked_start, rounding_alone, steps
from scisuite.solvers.crn_reduce.trajectory import PoolReading


@dataclass(frozen=True, eq=False)
class SteadyState(PoolReading):
    """Concentrations at rest. Look at :meth:`extinct` too: a network whose messages have died out is also at rest.

    Attributes
    ----------
    concentrations : float64 (n_species,)
    residual : float
        Largest |dx/dt| there.
    relative_residual : float
        That in units of the fastest turnover there, Σ_r |N_rs| v_r of a species s: what counts as rest, unless in unit
        time nothing moves by the integration's tolerance.
    converged : bool
        Whether the network came to rest and Newton's method then found a steady state where it was. If not, the
        concentrations are where the search ended, and no answer.
    iterations : int
        Steps of the integrator and of Newton's method.
    rest_time : float or None
        Time at which the network was at rest, None if it was not.
    seconds : float
        Processor time.
    crn : CRN
    pools : Pools or None
        What the species stand for, if it is not in ``crn.pools``.
    """

    concentrations: Floats
    residual: float
    relative_residual: float
    converged: bool
    iterations: int
    rest_time: float | None
    seconds: float
    crn: CRN = field(repr=False)
    pools: Pools | None = field(repr=False, default=None)

    @property
    def final(self) -> Floats:
        """The concentrations."""
        return self.concentrations


def steady_state(
    crn: CRN,
    x0: ArrayLike | None = None,
    *,
    pools: Pools | None = None,
    absolute: float = 1e-12,
    relative: float = 1e-9,
    max_steps: int = 20_000,
) -> SteadyState:
    """The steady state to which the network goes from its start.

    The network is integrated until it is at rest, however long that takes; Newton's method then makes the residual as
    small as rounding allows. Because every pool is conserved the Jacobian is singular (tellurium#481, roadrunner#356
    and #571); so in each pool the species of largest concentration is eliminated by conservation, which leaves a
    regular system whatever the order of species is (roadrunner#1245). A solution of Newton's method further away than
    the integration's error is refused: it would be another steady state. For the same reason nothing faster than the
    integration is used to come near: with several steady states, of which the one without messages is always one,
    only the network's course from its start says which is meant. What :func:`~scisuite.solvers.crn_reduce.simulation`
    ends in is what the network does.

    Parameters
    ----------
    x0 : float (n_species,), optional
        Concentrations at time 0; ``crn.initial`` if not given.
    pools : Pools, optional
        What the species stand for, where ``crn.pools`` does not say it; without either, pools are found in the
        reactions.
    absolute, relative : float
        Tolerances of the integration; the first is taken relative to each pool's total.
    max_steps : int
        Most steps of the integration.

    Raises
    ------
    InvalidInput
        If ``x0`` or ``pools`` does not fit the network, a number is out of its range, or no pools are known or found.
    EngineFailure
        If the integrator gives up.
    """
    start = checked_start(crn, x0)
    for name, value in (("absolute", absolute), ("relative", relative), ("max_steps", max_steps)):
        if not (math.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} must be finite and above 0, not {value!r}")
    before = time.process_time()
    conserved = conserved_pools(crn, pools)
    totals = conserved.totals(start)
    # An empty pool stays empty, so that any scale will do for it.
    scale = np.where(totals > 0, totals, totals.max(initial=0.0) or 1.0)[conserved.pool_of]
    kinetics = MassAction(crn)
    x, taken, rest_time = start, 0, None
    for solver, at_rest in steps(kinetics, start, math.inf, absolute * scale, relative):
        x, taken = solver.y, taken + 1
        if at_rest:
            rest_time = float(solver.t)
        if at_rest or taken >= max_steps:
            break
    converged = False
    if rest_time is not None:
        found, newton_steps, converged = _newton(kinetics, conserved, totals, x, scale)
        taken += newton_steps
        converged = converged and bool((np.abs(found - x) <= _NEAR * scale).all())
        # What is left of a message that has died out is a rounding error of either sign.
        x = np.maximum(found, 0.0) if converged else x
        # Where steady states make up a line the Jacobian is singular, and a point of it needs no improvement.
        converged = converged or rounding_alone(kinetics, x)
    with np.errstate(over="ignore", invalid="ignore"):
        residual = float(np.abs(kinetics.derivative(x)).max(initial=0.0))
        turnover = float(kinetics.turnover(x).max(initial=0.0))
    share = residual / turnover if turnover > 0 else residual
    # Where all messages have died out turnovers are rounding errors as well: then it is enough that in unit time
    # nothing moves by the integration's tolerance. Both are false where the residual has overflown.
    converged = converged and (share <= _REST or residual <= absolute * float(totals.max(initial=0.0)))
    return SteadyState(x, residual, share, converged, taken, rest_time, time.process_time() - before, crn, pools)


_NEAR = 1e-6
_REST = 1e-9
_SETTLED = 1e-12
_MOST_NEWTON_STEPS = 20


def _newton(
    kinetics: MassAction, conserved: ConservedPools, totals: Floats, x: Floats, scale: Floats
) -> tuple[Floats, int, bool]:
    """Newton's method on all species but the largest of each pool, which takes what is left of its total: the
    concentrations of least residual met, the steps made, and whether the last one was of rounding size."""
    n = kinetics.n_species
    order = np.lexsort((-x, conserved.pool_of))
    pivot = order[np.unique(conserved.pool_of[order], return_index=True)[1]]
    free = np.setdiff1d(np.arange(n), pivot)
    if not len(free):
        return x, 0, True
    others = pivot[conserved.pool_of[free]]
    column = np.arange(len(free))
    # dx of all species as a function of dx of the free ones: a pivot loses what its pool's other species gain.
    spread = sparse.csc_array(
        (
            np.concatenate([np.ones(len(free)), -np.ones(len(free))]),
            (np.concatenate([free, others]), np.tile(column, 2)),
        ),
        shape=(n, len(free)),
    )
    best, least = x, math.inf
    for taken in range(1, _MOST_NEWTON_STEPS + 1):
        speed = kinetics.derivative(x)
        residual = float(np.abs(speed).max())
        if residual < least:
            best, least = x, residual
        try:
            step = splu((kinetics.jacobian(x)[free] @ spread).tocsc()).solve(-speed[free])
        except RuntimeError:
            return best, taken, False
        if not np.isfinite(step).all():
            return best, taken, False
        x = x + spread @ step
        x[pivot] += totals - conserved.totals(x)
        if (np.abs(step) <= _SETTLED * scale[free]).all():
            settled = float(np.abs(kinetics.derivative(x)).max())
            return (x if settled < least else best), taken, True
    return best, _MOST_NEWTON_STEPS, False
