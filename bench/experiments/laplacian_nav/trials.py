"""What every arm that navigates shares: which goals and starts a seed has, how ways and
learners are scored, how time is taken."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Curve, Outcome
from scisuite.core import Budget, InvalidInput, generator
from scisuite.scenarios.nav import NavWorld

GOALS, STARTS = 20, 40
CLAIMED_STEPS = 10_000
CHECKPOINTS = (1_000, 3_000, CLAIMED_STEPS, 30_000)

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


def checkpoints(budget: Budget) -> list[int]:
    """After how many steps a learner is scored: 1k, 3k, 10k and 30k as far as the budget goes, and at its end.

    Raises
    ------
    InvalidInput
        If the budget is not in steps.
    """
    if budget.unit != "steps":
        raise InvalidInput(f"laplacian_nav counts steps of experience, not {budget.unit}")
    return sorted({steps for steps in CHECKPOINTS if steps < budget.count} | {budget.count})


def learned(found: Mapping[int, Mapping[str, float]]) -> Outcome:
    """What :func:`scores` gave after some steps each.

    ``success``, which claims are judged on, is that after 10k steps. Where the budget ended before there is no such
    metric, so that those claims stay undecided, and what was reached is called ``success_at_end``.
    """
    end = max(found)
    claimed = found.get(CLAIMED_STEPS, {"success_at_end": found[end]["success"]})
    metrics = {f"success_{short(steps)}": found[steps]["success"] for steps in CHECKPOINTS if steps in found}
    curves = {"success": by_steps(found, "steps of experience")}
    return Outcome({**claimed, **metrics}, curves, budget_used=float(end))


def by_steps(found: Mapping[int, Mapping[str, float]], x_label: str) -> Curve:
    """Success against steps."""
    return Curve(tuple(map(float, found)), tuple(each["success"] for each in found.values()), x_label, "success")


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
