"""Which cells a bench is made of, and how long they will take."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scisuite import scenarios
from scisuite.bench import experiments
from scisuite.bench.experiment import Arm, Claim, Experiment, Limit, Tier
from scisuite.bench.provenance import packages_hash, sources_hash
from scisuite.bench.store import Row, RowStore
from scisuite.core import Budget, InvalidInput, UnknownName
from scisuite.core.files import canonical_json, jsonable, sha256
from scisuite.core.registry import Entry, did_you_mean

_ASKED = ("experiment", "tier", "arm", "scenario", "seed", "config", "budget", "run")


@dataclass(frozen=True)
class Cell:
    """One arm on one scenario with one seed: what becomes one row.

    Parameters
    ----------
    experiment, tier, arm, scenario : str
    seed : int
    config : mapping
        JSON keyword arguments of the arm's function.
    budget : str
        As :meth:`scisuite.core.Budget.parse` reads it.
    run : str
        ``"module:function"``.
    extras : tuple of str
        Those of the arm and of its scenario.
    exclusive : bool
        Whether it is timed and so must run alone.
    code : str
        What would answer it now: ``<sources>-<packages>``, twelve digits each (:mod:`scisuite.bench.provenance`).
        The sources are those that any arm of the experiment can reach, so that one experiment has one hash of them.
    """

    experiment: str
    tier: str
    arm: str
    scenario: str
    seed: int
    config: Mapping[str, Any]
    budget: str
    run: str
    extras: tuple[str, ...] = ()
    exclusive: bool = False
    code: str = ""

    @property
    def key(self) -> str:
        """Sixteen hexadecimal digits that name what was asked: all but ``extras``, ``exclusive`` and ``code``."""
        return sha256(canonical_json({name: getattr(self, name) for name in _ASKED}).encode())[:16]


def find_experiment(experiment: Experiment | str) -> Experiment:
    """An experiment by its slug; an experiment is returned as it is."""
    return experiments.make(experiment) if isinstance(experiment, str) else experiment


def select_claims(experiment: Experiment, claims: Iterable[str] | None = None) -> list[Claim]:
    """The claims of some ids, with or without their prefix in front; all of them for ``None``.

    Raises
    ------
    UnknownName
        If the experiment has no such claim.
    """
    if claims is None:
        return list(experiment.claims)
    by_id = {claim.id: claim for claim in experiment.claims}
    chosen = []
    for id in claims:
        full = id if id in by_id else f"{experiment.claim_prefix}.{id}"
        if full not in by_id:
            raise UnknownName(f"{experiment.slug} has no claim {id!r}{did_you_mean(id, by_id)}")
        chosen.append(by_id[full])
    return chosen


def plan(
    experiment: Experiment | str,
    tier: str,
    *,
    seeds: int | None = None,
    arms: Iterable[str] | None = None,
    claims: Iterable[str] | None = None,
) -> list[Cell]:
    """The cells of a tier, seed by seed, so that a bench that was stopped half-way has compared its arms fairly.

    Parameters
    ----------
    experiment : Experiment or str
    tier : str
    seeds : int or None
        Seeds 0 … n−1 in place of the tier's number; an arm's :class:`Limit` stays its upper bound.
    arms, claims : iterable of str or None
        Only these arms; only the arms and scenarios that these claims need. Both narrow.

    Raises
    ------
    InvalidInput
        If something is not registered or declared, or if nothing is left to run.
    """
    experiment = find_experiment(experiment)
    if tier not in experiment.tiers:
        raise UnknownName(f"{experiment.slug} has no tier {tier!r}{did_you_mean(tier, experiment.tiers)}")
    asked = experiment.tiers[tier]
    n_seeds = _positive(seeds, "the number of seeds") if seeds is not None else asked.seeds
    only = None if arms is None else [_known_arm(experiment, id) for id in arms]
    needed = None if claims is None else _needs(select_claims(experiment, claims))
    sources = _sources_hash(experiment)
    packages: dict[tuple[str, ...], str] = {}
    cells: dict[str, Cell] = {}
    for seed in range(n_seeds):
        for scenario in asked.scenarios:
            for arm in map(experiment.arm, asked.arms):
                wanted = (only is None or arm.id in only) and (needed is None or (arm.id, scenario) in needed)
                if wanted and _within(asked.limits.get(arm.id), scenario, seed):
                    cell = _cell(experiment, tier, asked, arm, scenario, seed, sources, packages)
                    cells[cell.key] = cell
    if not cells:
        raise InvalidInput(
            f"nothing to run: tier {tier} of {experiment.slug} has none of the arms and scenarios asked for"
        )
    return list(cells.values())


def pending(cells: Iterable[Cell], store: RowStore, damaged: list[InvalidInput] | None = None) -> list[Cell]:
    """The cells that have no ``ok`` row from the present code; errors and skipped ones are tried again.

    ``damaged`` collects the errors of rows that cannot be read, as in :meth:`RowStore.get`; their cells are pending.
    """
    return [cell for cell in cells if not _is_current(store.get(cell.key, damaged), cell)]


def planned_minutes(cells: Sequence[Cell], rows: Iterable[Row], jobs: int = 1) -> float | None:
    """About how many minutes the cells will take with so many workers, judged by earlier rows of the experiment.

    A cell is taken to last as long as the mean row of its arm and scenario, else of its arm, else of all rows;
    where the budgets differ in amount, in proportion. ``None`` where there is no earlier row.
    """
    timed = [row for row in rows if row["status"] == "ok" and row["cost"].get("wall_seconds") is not None]
    own = [row for row in timed if cells and row["experiment"] == cells[0].experiment]
    if not own:
        return None
    side_by_side = alone = 0.0
    for cell in cells:
        same_arm = [row for row in own if row["arm"] == cell.arm]
        same_scenario = [row for row in same_arm if row["scenario"] == cell.scenario]
        seconds = statistics.fmean(_scaled_seconds(row, cell) for row in same_scenario or same_arm or own)
        if cell.exclusive:
            alone += seconds
        else:
            side_by_side += seconds
    return (side_by_side / max(1, jobs) + alone) / 60


def cell_of(row: Mapping[str, Any]) -> Cell:
    """The cell that a row answered, with the present code.

    Raises
    ------
    InvalidInput
        If the row does not say what was run.
    """
    if missing := [name for name in ("run", "budget") if name not in row]:
        raise InvalidInput(f"the row does not say its {' and '.join(missing)}, so it cannot be repeated")
    entry = scenarios.registry.entry(row["scenario"])
    extras: tuple[str, ...] = entry.extras
    try:
        experiment = find_experiment(row["experiment"])
        sources = _sources_hash(experiment)
        extras = _extras(experiment.arm(row["arm"]), entry)
    except InvalidInput:
        # The experiment, or the arm, is gone, but what it ran may still be there.
        sources = sources_hash([_module(row["run"]), _module(entry.target)], _texts(row["config"]))
    asked = {name: row[name] for name in _ASKED}
    return Cell(**asked, extras=extras, code=f"{sources}-{packages_hash(extras)}")


def _cell(
    experiment: Experiment,
    tier: str,
    asked: Tier,
    arm: Arm,
    scenario: str,
    seed: int,
    sources: str,
    packages: dict[tuple[str, ...], str],
) -> Cell:
    entry = scenarios.registry.entry(scenario)
    extras = _extras(arm, entry)
    limit = asked.limits.get(arm.id)
    budget = str(Budget.parse((limit.budget if limit is not None else None) or asked.budget))
    if extras not in packages:
        packages[extras] = packages_hash(extras)
    return Cell(
        experiment=experiment.slug,
        tier=tier,
        arm=arm.id,
        scenario=entry.id,
        seed=seed,
        config=jsonable(arm.config),
        budget=budget,
        run=arm.run,
        extras=extras,
        exclusive=arm.exclusive,
        code=f"{sources}-{packages[extras]}",
    )


def _sources_hash(experiment: Experiment) -> str:
    names = {name for tier in experiment.tiers.values() for name in tier.scenarios}
    targets = [scenarios.registry.entry(name).target for name in sorted(names)]
    modules = [_module(target) for target in [*(arm.run for arm in experiment.arms), *targets]]
    return sources_hash(modules, [text for arm in experiment.arms for text in _texts(arm.config)])


def _extras(arm: Arm, scenario: Entry) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*arm.extras, *scenario.extras)))


def _module(target: str) -> str:
    return target.partition(":")[0]


def _texts(config: Any) -> list[str]:
    """All strings in a JSON value."""
    if isinstance(config, str):
        return [config]
    if isinstance(config, Mapping):
        return [text for value in config.values() for text in _texts(value)]
    return [text for value in config for text in _texts(value)] if isinstance(config, list | tuple) else []


def _known_arm(experiment: Experiment, id: str) -> str:
    known = [arm.id for arm in experiment.arms]
    if id not in known:
        raise UnknownName(f"{experiment.slug} has no arm {id!r}{did_you_mean(id, known)}")
    return id


def _needs(claims: Iterable[Claim]) -> set[tuple[str, str]]:
    return {pair for claim in claims for pair in claim.needs}


def _within(limit: Limit | None, scenario: str, seed: int) -> bool:
    if limit is None:
        return True
    return (limit.scenarios is None or scenario in limit.scenarios) and seed < (
        math.inf if limit.seeds is None else limit.seeds
    )


def _is_current(row: Row | None, cell: Cell) -> bool:
    return row is not None and row["status"] == "ok" and row["code"] == cell.code


def _scaled_seconds(row: Row, cell: Cell) -> float:
    seconds = float(row["cost"]["wall_seconds"])
    if "budget" not in row:
        return seconds
    was, asked = Budget.parse(row["budget"]), Budget.parse(cell.budget)
    return seconds * asked.amount / was.amount if was.unit == asked.unit else seconds


def _positive(number: Any, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InvalidInput(f"{what} must be a positive integer, not {number!r}")
    return number
