"""Simulation by libroadrunner, which compiles a network to machine code and integrates it with CVODE."""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.solvers.crn_reduce.network import CRN, Floats
from scisuite.solvers.crn_reduce.sbml import to_sbml


class Simulated(NamedTuple):
    """``times`` float64 (n_times,), ``concentrations`` float64 (n_times, n_species) in the network's order, and the
    processor time in seconds that libroadrunner's ``simulate`` alone took."""

    times: Floats
    concentrations: Floats
    seconds: float


class RoadRunner:
    """A network loaded into libroadrunner: once compiled, simulated as often as wanted.

    It is loaded from its SBML, with LLVM's newer compiler and without optimisation, and without the code that changes
    initial conditions within libroadrunner: compiling takes most of the time, and that way a sixth of the default (a
    hidden Markov model's 744 reactions .4 s instead of 2.7 s), while simulations take as long as before.

    Parameters
    ----------
    crn : CRN

    Attributes
    ----------
    load_seconds : float
        Processor time that loading took.

    Raises
    ------
    MissingDependency
        If libroadrunner is not installed.
    EngineFailure
        If libroadrunner cannot load the network.
    """

    def __init__(self, crn: CRN) -> None:
        roadrunner = _import_roadrunner()
        self.crn = crn
        # Names that say nothing cannot collide with anything in libroadrunner's selections, and need no annotation.
        identifiers = [f"x{i}" for i in range(crn.n_species)]
        text = to_sbml(replace(crn, species=tuple(identifiers), pools=None))
        options = roadrunner.LoadSBMLOptions()
        options.setLLVMBackend(options.LLJIT)
        options.setLLJitOptimizationLevel(options.NONE)
        options.mutableInitialConditions = False
        options.noDefaultSelections = True
        options.conservedMoieties = False
        before = time.process_time()
        with _quiet(roadrunner), _failures("libroadrunner cannot load the network"):
            self._engine = roadrunner.RoadRunner(text, options)
        self.load_seconds = time.process_time() - before
        place = {identifier: i for i, identifier in enumerate(identifiers)}
        self._order = [place[identifier] for identifier in self._engine.model.getFloatingSpeciesIds()]
        self._engine.timeCourseSelections = ["time", *(f"[{identifier}]" for identifier in identifiers)]

    def simulate(
        self,
        T: float,
        *,
        points: int = 2,
        times: ArrayLike | None = None,
        start: ArrayLike | None = None,
        absolute: float = 1e-12,
        relative: float = 1e-9,
        max_steps: int = 100_000,
    ) -> Simulated:
        """Integrate the network from time 0 to ``T`` with CVODE's stiff method. Runs do not influence each other.

        Parameters
        ----------
        T : float
            End, above 0.
        points : int
            Number of equally spaced times of the result, 0 and ``T`` among them.
        times : array of float, optional
            Times of the result instead: ascending, from 0 to ``T``.
        start : array of float (n_species,), optional
            Concentrations at time 0; the network's own if not given.
        absolute, relative : float
            Tolerances.
        max_steps : int
            Most steps that the integrator may take between two times.

        Raises
        ------
        InvalidInput
            If an argument is out of its range.
        EngineFailure
            If the integrator gives up, with its message, or its result is not finite.
        """
        wanted = _times(T, points, times)
        state = self._start(start)
        for name, value in (("absolute", absolute), ("relative", relative), ("max_steps", max_steps)):
            if not (math.isfinite(value) and value > 0):
                raise InvalidInput(f"{name} must be finite and above 0, not {value!r}")
        engine, roadrunner = self._engine, _import_roadrunner()
        integrator = engine.integrator
        integrator.absolute_tolerance, integrator.relative_tolerance = float(absolute), float(relative)
        integrator.maximum_num_steps = int(max_steps)
        with _quiet(roadrunner), _failures("libroadrunner cannot integrate the network"):
            # reset() alone does not bring concentrations back where initial conditions cannot be changed.
            engine.reset()
            engine.model.setFloatingSpeciesConcentrations(state[self._order])
            before = time.process_time()
            result = engine.simulate(times=wanted.tolist())
            seconds = time.process_time() - before
        table = np.array(result, dtype=np.float64)
        if not np.isfinite(table).all():
            raise EngineFailure("libroadrunner's result is not finite")
        return Simulated(table[:, 0], table[:, 1:], seconds)

    def _start(self, start: ArrayLike | None) -> Floats:
        if start is None:
            return self.crn.initial
        state = np.asarray(start, dtype=np.float64)
        if state.shape != (self.crn.n_species,) or not (np.isfinite(state) & (state >= 0)).all():
            raise InvalidInput(f"start must be {self.crn.n_species} finite concentrations, none of them negative")
        return state


def _times(T: float, points: int, times: ArrayLike | None) -> Floats:
    if not (math.isfinite(T) and T > 0):
        raise InvalidInput(f"T must be finite and above 0, not {T!r}")
    if times is None:
        if points != int(points) or points < 2:
            raise InvalidInput(f"points must be a whole number, at least 2, not {points!r}")
        return np.linspace(0.0, T, int(points))
    wanted = np.asarray(times, dtype=np.float64)
    if wanted.ndim != 1 or len(wanted) < 2 or wanted[0] != 0 or wanted[-1] != T or not (np.diff(wanted) > 0).all():
        raise InvalidInput(f"times must ascend from 0 to T = {T:g}")
    return wanted


@contextlib.contextmanager
def _failures(what: str) -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise EngineFailure(f"{what}: {' '.join(str(error).split())}") from error


@contextlib.contextmanager
def _quiet(roadrunner: Any) -> Iterator[None]:
    """Keep libroadrunner and CVODE from writing to the terminal: what they say comes in the exception too."""
    level = roadrunner.Logger.getLevel()
    before = {variable: os.environ.get(variable) for variable in _CVODE_LOGS}
    roadrunner.Logger.setLevel(roadrunner.Logger.LOG_FATAL)
    os.environ.update(dict.fromkeys(_CVODE_LOGS, os.devnull))
    try:
        yield
    finally:
        roadrunner.Logger.setLevel(level)
        for variable, value in before.items():
            if value is None:
                del os.environ[variable]
            else:
                os.environ[variable] = value


def _import_roadrunner() -> Any:
    try:
        import roadrunner
    except ImportError:
        raise MissingDependency("simulating by libroadrunner needs it", extra="crn-reduce") from None
    return roadrunner


_CVODE_LOGS = ("SUNLOGGER_ERROR_FILENAME", "SUNLOGGER_WARNING_FILENAME")
