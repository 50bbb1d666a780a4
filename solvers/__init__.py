"""The methods, one folder per paper. ``solvers.make("labo", tau=0.75)``, ``solvers.load("folder/")``."""

import os
from pathlib import Path
from typing import Any

from scisuite.core.registry import Registry
from scisuite.solvers.base import FitReport, Solver, read_saved, restore
from scisuite.solvers.checks import check_solver

registry: Registry[Solver] = Registry("solver", "scisuite.solvers")
registry.add_folder(Path(__file__).parent)


def make(id: str, **config: Any) -> Solver:
    """Build an unfitted solver by the slug of its paper.

    Raises
    ------
    UnknownName
        If there is none; the message names the nearest.
    MissingDependency
        If an extra is missing; the message holds the ``pip`` command.
    """
    return registry.make(id, **config)


def load(folder: str | os.PathLike[str]) -> Solver:
    """Load any solver that ``save`` wrote.

    Raises
    ------
    InvalidInput
        If there is none (:class:`~scisuite.core.DamagedFile` and :class:`~scisuite.core.NewerFormat` included).
    """
    id, config, state, tensors = read_saved(folder)
    return restore(make(id, **config), state, tensors)


__all__ = ["FitReport", "Solver", "check_solver", "load", "make", "registry"]
