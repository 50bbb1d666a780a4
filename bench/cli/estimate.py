"""``bench --dry-run``: how many cells there are, how many minutes they take, and what says so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from scisuite.bench.cli.output import figure, new_table, print_table
from scisuite.bench.experiment import Experiment
from scisuite.core import InvalidInput

TIER_MINUTES = {"smoke": 0.5, "quick": 25.0}
"""What a tier may take on two cores: all that is known of an experiment that has not run here before."""


@dataclass(frozen=True)
class Estimate:
    """Cells of one experiment, those still to run, and the minutes these are expected to take.

    ``minutes`` is ``None`` where nothing tells; ``basis`` is ``"earlier rows"`` (of any tier in the output folder) or
    ``"limit of the tier"``, an upper bound. ``timed`` cells run alone, one after the other.
    """

    experiment: str
    tier: str
    seeds: int
    cells: int
    to_run: int
    timed: int
    minutes: float | None
    basis: str
    arms: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def estimate(
    experiment: Experiment,
    tier: str,
    *,
    seeds: int | None,
    arms: Sequence[str] | None,
    claims: Sequence[str] | None,
    jobs: int | None,
    out: Path,
    damaged: list[InvalidInput] | None = None,
) -> Estimate:
    """Count the cells and estimate their wall time from the rows that earlier runs left in ``out``.

    ``damaged`` collects the errors of those that cannot be read.
    """
    from joblib import cpu_count

    from scisuite.bench.plan import pending, plan, planned_minutes
    from scisuite.bench.store import RowStore, read_rows

    cells = plan(experiment, tier, seeds=seeds, arms=arms, claims=claims)
    # What is damaged lies in the experiment's folder, which is read as a whole below.
    waiting = pending(cells, RowStore(out), [])
    folder = out / experiment.slug
    earlier = read_rows(folder, damaged=damaged) if folder.is_dir() else []
    minutes, basis = planned_minutes(waiting, earlier, jobs or cpu_count()), "earlier rows"
    if not waiting:
        minutes = 0.0
    elif minutes is None:
        minutes = TIER_MINUTES.get(tier)
        basis = "limit of the tier" if minutes is not None else "no earlier rows"
    per_arm: dict[str, int] = {}
    for cell in cells:
        per_arm[cell.arm] = per_arm.get(cell.arm, 0) + 1
    return Estimate(
        experiment=experiment.slug,
        tier=tier,
        seeds=seeds if seeds is not None else experiment.tiers[tier].seeds,
        cells=len(cells),
        to_run=len(waiting),
        timed=sum(cell.exclusive for cell in cells),
        minutes=None if minutes is None else round(minutes, 3),
        basis=basis,
        arms=per_arm,
    )


def print_estimates(estimates: Iterable[Estimate]) -> None:
    """Print a table of the estimates."""
    right = ("seeds", "cells", "to run", "timed", "minutes")
    table = new_table("dry run: nothing is computed", "experiment", "tier", *right, "from", "cells an arm", right=right)
    for each in estimates:
        bound = "≤ " if each.basis == "limit of the tier" else ""
        minutes = "unknown" if each.minutes is None else bound + figure(each.minutes)
        per_arm = ", ".join(f"{arm} {number}" for arm, number in each.arms.items())
        numbers = (each.seeds, each.cells, each.to_run, each.timed)
        table.add_row(each.experiment, each.tier, *map(str, numbers), minutes, each.basis, per_arm)
    print_table(table)
