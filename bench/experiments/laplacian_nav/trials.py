"""What every arm that navigates shares: which goals and starts a seed has, how ways are scored, how time is taken."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import generator
from scisuite.scenarios.nav import NavWorld

GOALS, STARTS = 20, 40

Ints = NDArray[np.int64]


def goals_and_starts(world: NavWorld, seed: int, purpose: str = "goals") -> tuple[Ints, Ints]:
    """Twenty goals and forty starts, each drawn without repetition from the largest connected part; fewer of few.

    All arms that meet the same world and seed get the same ones.
    """
    rng = generator(seed, purpose)
    largest = np.flatnonzero(world.components == np.bincount(world.components).argmax())
    goals = rng.choice(largest, min(GOALS, len(largest)), replace=False)
    starts = rng.choice(largest, min(STARTS, len(largest)), replace=False)
    return goals, starts


def scores(actions: Ints, world: NavWorld, goals: Ints, starts: Ints, **cap: Any) -> dict[str, float]:
    """``success`` and ``spl`` of the ways that ``actions`` (n, g) take; a start that is its goal is left out.

    ``cap`` is that of :func:`~scisuite.solvers.laplacian_nav.success_and_spl`.
    """
    from scisuite.solvers.laplacian_nav import success_and_spl

    found = success_and_spl(actions, world, goals, starts, **cap)
    return {name: float(found[name]) for name in ("success", "spl")}


def median_cpu_seconds(run: Callable[[], object], repeats: int) -> float:
    """Median CPU time of this process over ``repeats`` calls."""
    seconds = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return statistics.median(seconds)


def short(number: float) -> str:
    """How a metric's name writes a count.

    >>> short(3000), short(10_035), short(250)
    ('3k', '10k', '250')
    """
    return f"{round(number / 1000)}k" if number >= 1000 else f"{round(number)}"
