"""Timed arms: Green's potential in fields of up to a million free cells, by algebraic multigrid and by sparse LU."""

from __future__ import annotations

import math
import statistics
import time
import warnings
from typing import Any, Literal

import numpy as np

from scisuite.bench.experiment import Curve, Outcome
from scisuite.bench.experiments.laplacian_nav.trials import median_cpu_seconds
from scisuite.core import Budget, generator
from scisuite.scenarios.nav import NavScenario, NavWorld

Solver = Literal["amg", "splu"]

SIDES = (112, 354, 1120)
"""Sides of square fields, a fifth of whose cells are blocked: about 10⁴, 10⁵ and 10⁶ free cells."""


def warm_up() -> None:
    """Import the engines before a cell's clock starts, and let them compile and allocate what they do once."""
    import pyamg  # noqa: F401
    import scipy.sparse.linalg  # noqa: F401

    from scisuite.scenarios.nav import make_world
    from scisuite.solvers.laplacian_nav import GreenPotential, laplacian, local_maxima

    world = make_world("obstacles", 0)
    solvers: tuple[Solver, ...] = ("amg", "splu")
    for solver in solvers:
        local_maxima(GreenPotential(laplacian(world.W), eps=0.1, solver=solver).potential([0])[:, 0], world)


def scale(
    scenario: NavScenario,
    seed: int,
    budget: Budget,
    *,
    solver: Solver,
    eps: float = 1e-4,
    sides: tuple[int, ...] = SIDES,
    repeats: int = 5,
) -> Outcome:
    """CPU time of one goal's potential from the weights on, and of a further goal's, in fields of several sizes.

    Metrics end in the nearest power of ten of the free cells, such as ``cpu_seconds_1e6``. ``slope`` is that of a
    straight line through log time against log cells. ``residual``, ``spurious_maxima`` (local maxima other than the
    goal) and ``certified`` are the worst over the sizes. What the cell cost in memory includes making the worlds.
    """
    from scisuite.scenarios.nav import make_world

    metrics: dict[str, float] = {}
    cells, seconds = [], []
    worst = {"residual": 0.0, "spurious_maxima": 0.0, "certified": 1.0}
    for side in sides:
        world = make_world("obstacles", seed, size=side)
        found = _solve(world, eps, solver, seed, repeats)
        decade = f"1e{round(math.log10(world.n))}"
        metrics |= {f"{name}_{decade}": value for name, value in found.items()}
        worst["residual"] = max(worst["residual"], found["residual"])
        worst["spurious_maxima"] = max(worst["spurious_maxima"], found["spurious_maxima"])
        worst["certified"] = min(worst["certified"], found["certified"])
        cells.append(float(world.n))
        seconds.append(found["cpu_seconds"])
    slope = float(np.polyfit(np.log(cells), np.log(seconds), 1)[0])
    curves = {"cpu_by_cells": Curve(tuple(cells), tuple(seconds), "free cells", "CPU time of one goal [s]")}
    return Outcome({**metrics, **worst, "slope": slope}, curves)


def _solve(world: NavWorld, eps: float, solver: Solver, seed: int, repeats: int) -> dict[str, float]:
    from scisuite.solvers.laplacian_nav import GreenPotential, laplacian, local_maxima

    goal, further = generator(seed, "goals").choice(world.n, 2, replace=False)
    weights = world.W
    kept: dict[str, Any] = {}  # one factorisation at a time: the old one makes room before the new one is made
    building: list[float] = []

    def one_goal() -> None:
        kept.clear()
        begin = time.process_time()
        L = laplacian(weights)
        building.append(time.process_time() - begin)
        kept["potential"] = GreenPotential(L, eps=eps, solver=solver)
        kept["field"] = kept["potential"].potential([goal])

    with warnings.catch_warnings():
        # Whether ascent is certified is a metric; it need not be said for every repeat.
        warnings.simplefilter("ignore", RuntimeWarning)
        seconds = median_cpu_seconds(one_goal, repeats)
        potential, field = kept["potential"], kept["field"]
        residual = float(potential.residual)
        again = median_cpu_seconds(lambda: potential.potential([further]), repeats)
    return {
        "cells": float(world.n),
        "cpu_seconds": seconds,
        # Of factorising and solving alone: building L would make the share smaller.
        "extra_goal_share": again / (seconds - statistics.median(building)),
        "residual": residual,
        "spurious_maxima": float(local_maxima(field[:, 0], world, goal=int(goal))),
        "certified": float(potential.certificate([goal], field)[0]),
    }
