"""Simulation of a reaction network from its start."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import BDF

from scisuite.core import EngineFailure, InvalidInput
from scisuite.solvers.crn_reduce.conserved import conserved_pools
from scisuite.solvers.crn_reduce.mass_action import MassAction
from scisuite.solvers.crn_reduce.network import CRN, Floats, Pools
from scisuite.solvers.crn_reduce.trajectory import Trajectory

METHODS = ("bdf", "roadrunner")


def simulate(
    crn: CRN,
    T: float,
    method: str = "bdf",
    x0: ArrayLike | None = None,
    *,
    absolute: float = 1e-12,
    relative: float = 1e-9,
    points: int = 101,
    times: ArrayLike | None = None,
    pools: Pools | None = None,
) -> Trajectory:
    """What the network does from time 0 to ``T``; the arbiter of where it comes to rest.

    ``"bdf"`` is SciPy's variable-order BDF with the network's own sparse Jacobian, ``"roadrunner"`` libroadrunner's
    CVODE. Both keep pool totals to rounding, as linear multistep methods do. The first takes no further steps once the
    network is at rest (see :func:`steps`) and holds the concentrations until ``T``: rounding would else cut its steps
    down to a crawl.

    Parameters
    ----------
    T : float
        End, above 0. The slow scale of a compiled network is 1/k_rec times the length of its longest chain of
        messages: 30 to 100 / k_rec settles most.
    method : str
        ``"bdf"`` or ``"roadrunner"``.
    x0 : float (n_species,), optional
        Concentrations at time 0; ``crn.initial`` if not given.
    absolute, relative : float
        Tolerances of the integrator, above 0; the first is a concentration, so that it should be well below the pools'
        totals.
    points : int
        Number of equally spaced times of the result, 0 and ``T`` among them.
    times : array of float, optional
        Times of the result instead: ascending, from 0 to ``T``.
    pools : Pools, optional
        What the species stand for, where ``crn.pools`` does not say it.

    Raises
    ------
    InvalidInput
        If an argument is out of its range, ``x0`` or ``pools`` does not fit the network, or there is no such method.
    EngineFailure
        If the integrator gives up.
    MissingDependency
        If libroadrunner is asked for and not installed.
    """
    if method not in METHODS:
        raise InvalidInput(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    wanted = _wanted(T, points, times)
    start = checked_start(crn, x0)
    _require_tolerances(absolute, relative)
    if pools is not None:
        conserved_pools(crn, pools)
    kinetics = MassAction(crn)
    rest_time = None
    if method == "roadrunner":
        from scisuite.solvers.crn_reduce.roadrunner import RoadRunner

        result = RoadRunner(crn).simulate(T, times=wanted, start=start, absolute=absolute, relative=relative)
        concentrations, seconds = result.concentrations, result.seconds
    else:
        before = time.process_time()
        concentrations, rest_time = _integrated(kinetics, start, wanted, absolute, relative)
        seconds = time.process_time() - before
    residual = float(np.abs(kinetics.derivative(concentrations[-1])).max(initial=0.0))
    return Trajectory(wanted, concentrations, crn, pools, residual, seconds, rest_time)


def steps(
    kinetics: MassAction, start: Floats, T: float, absolute: float | Floats, relative: float
) -> Iterator[tuple[BDF, bool]]:
    """Step from time 0 to ``T``, which may be infinite, with SciPy's BDF: the integrator after each step, and whether
    the network is at rest.

    At rest means that at its present speed no species would move by a tenth of its tolerance until ``T``, or until ten
    times the time that has passed, or that the speeds are rounding errors of the terms that make them up. It is not
    looked at in the first twenty steps.

    Raises
    ------
    EngineFailure
        If the integrator gives up; the message names the largest concentration or rate constant if that is above 1e6.
    """
    taken = 0
    with np.errstate(all="ignore"):
        solver = BDF(
            lambda _, x: kinetics.derivative(x),
            0.0,
            start,
            T,
            jac=lambda _, x: kinetics.jacobian(x),
            atol=absolute,
            rtol=relative,
        )
        while solver.status == "running":
            try:
                message = solver.step()
            except RuntimeError as error:
                raise _stopped(kinetics, start, solver, str(error)) from error
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                raise _stopped(kinetics, start, solver, message or "overflow")
            taken += 1
            yield solver, taken > _FEWEST_STEPS and _at_rest(kinetics, solver, absolute, relative)


def rounding_alone(kinetics: MassAction, x: Floats) -> bool:
    """Whether dx/dt at ``x`` (n_species,) is nothing but the rounding of the terms that make it up."""
    with np.errstate(over="ignore", invalid="ignore"):
        speed = np.abs(kinetics.derivative(x))
        return bool((np.isfinite(speed) & (speed <= _ROUNDING * kinetics.turnover(x))).all())


def checked_start(crn: CRN, x0: ArrayLike | None) -> Floats:
    """``x0`` or, for want of it, the network's own start, float64 (n_species,).

    Raises
    ------
    InvalidInput
        If it has another shape, or a concentration is negative or not finite; the message names the species.
    """
    if x0 is None:
        return crn.initial.astype(np.float64)
    start = np.array(x0, dtype=np.float64)
    if start.shape != (crn.n_species,):
        raise InvalidInput(
            f"x0 must have shape ({crn.n_species},), one concentration for each species, not {start.shape}"
        )
    wrong = ~(np.isfinite(start) & (start >= 0))
    if wrong.any():
        at = int(wrong.argmax())
        raise InvalidInput(
            f"x0: the concentration of {crn.species[at]} must be finite and not negative, not {start[at]}"
        )
    return start


_FEWEST_STEPS = 20
_LARGE = 1e6
_ROUNDING = 16 * np.finfo(np.float64).eps


def _stopped(kinetics: MassAction, start: Floats, solver: BDF, reason: str) -> EngineFailure:
    """The failure, with the numbers that are the likeliest cause: nobody knows his model by its factorisation."""
    crn = kinetics.crn
    causes = [(float(start.max()), f"concentration, {start.max():.3g} of {crn.species[int(start.argmax())]}")]
    if crn.n_reactions:
        fastest = int(crn.rates.argmax())
        causes.append(
            (float(crn.rates[fastest]), f"rate constant, {crn.rates[fastest]:.3g} of {crn.reaction(fastest)}")
        )
    largest, what = max(causes)
    why = f"most likely because of its largest {what}" if largest >= _LARGE else reason
    return EngineFailure(f"the integrator stopped at time {solver.t:.6g}: {why}")


def _at_rest(kinetics: MassAction, solver: BDF, absolute: float | Floats, relative: float) -> bool:
    speed = np.abs(kinetics.derivative(solver.y))
    within = 0.1 * (absolute + relative * np.abs(solver.y)) / min(solver.t_bound, 10 * solver.t)
    return bool((speed <= within).all()) or rounding_alone(kinetics, solver.y)


def _integrated(
    kinetics: MassAction, start: Floats, times: Floats, absolute: float, relative: float
) -> tuple[Floats, float | None]:
    found = np.empty((len(times), len(start)))
    found[0] = start
    filled = 1
    for solver, at_rest in steps(kinetics, start, float(times[-1]), absolute, relative):
        reached = int(np.searchsorted(times, solver.t, side="right"))
        if reached > filled:
            found[filled:reached] = solver.dense_output()(times[filled:reached]).T
            filled = reached
        if at_rest:
            found[filled:] = solver.y
            return found, float(solver.t)
    found[-1] = solver.y
    return found, None


def _wanted(T: float, points: int, times: ArrayLike | None) -> Floats:
    if isinstance(T, bool) or not isinstance(T, int | float | np.number) or not (math.isfinite(T) and T > 0):
        raise InvalidInput(f"T must be a finite time above 0, not {T!r}")
    if times is None:
        if isinstance(points, bool) or not isinstance(points, int | np.integer) or points < 2:
            raise InvalidInput(f"points must be a whole number of at least 2, not {points!r}")
        return np.linspace(0.0, float(T), int(points))
    wanted = np.asarray(times, dtype=np.float64)
    if wanted.ndim != 1 or len(wanted) < 2 or wanted[0] != 0 or wanted[-1] != T or not (np.diff(wanted) > 0).all():
        raise InvalidInput(f"times must ascend from 0 to T = {T:g}")
    return wanted


def _require_tolerances(absolute: float, relative: float) -> None:
    for name, value in (("absolute", absolute), ("relative", relative)):
        if not (math.isfinite(value) and value > 0):
            raise InvalidInput(f"{name} must be finite and above 0, not {value!r}")
