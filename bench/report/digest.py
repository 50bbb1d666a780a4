"""Rows put in order: which cells ran, in which arms and scenarios, and what their seeds say together."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from scisuite.bench import experiments as registered
from scisuite.bench.claims import Verdict, judge
from scisuite.bench.experiment import Arm, Claim, Experiment
from scisuite.bench.intervals import FEWEST_SEEDS_TO_RESAMPLE, RESAMPLES
from scisuite.bench.report.elements import cleaned
from scisuite.core import InvalidInput, NewerFormat, generator
from scisuite.core.files import jsonable

_ROLES = ("method", "peer", "floor", "ablation")
_STATUSES = ("ok", "error", "skipped")


@dataclass(frozen=True)
class Mean:
    """Mean over ``seeds`` seeds with its 95 % interval; NaN where no seed has a value."""

    value: float
    low: float
    high: float
    seeds: int


@dataclass(frozen=True)
class Judged:
    """A claim and what the rows of one tier say about it."""

    claim: Claim
    verdict: Verdict
    tier: str

    @property
    def inequalities(self) -> tuple[Judged, ...]:
        """The parts of the claim, or itself where it has none."""
        return tuple(Judged(part.claim, part, self.tier) for part in self.verdict.parts) or (self,)


@dataclass(frozen=True)
class Study:
    """The rows of one experiment in one tier.

    ``experiment`` is ``None`` where it is not registered here or cannot be loaded; ``problem`` then says why.
    """

    slug: str
    tier: str
    rows: tuple[dict[str, Any], ...]
    experiment: Experiment | None
    problem: str = ""

    @property
    def title(self) -> str:
        return self.experiment.title if self.experiment else self.slug

    @cached_property
    def arms(self) -> tuple[str, ...]:
        """The method first, then peers, floors and ablations, each in the order of the experiment; others last."""
        declared = [arm.id for arm in self.experiment.arms] if self.experiment else []
        present = {row["arm"] for row in self.rows}
        known = sorted((a for a in declared if a in present), key=lambda a: _ROLES.index(self.role(a)))
        return (*known, *sorted(present - set(known)))

    @cached_property
    def scenarios(self) -> tuple[str, ...]:
        """In the order of the tier; others last."""
        tier = self.experiment.tiers.get(self.tier) if self.experiment else None
        present = {row["scenario"] for row in self.rows}
        known = [s for s in (tier.scenarios if tier else ()) if s in present]
        return (*known, *sorted(present - set(known)))

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({row["seed"] for row in self.rows}))

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Names of all metrics in the rows, the headline first, then in the experiment's order."""
        present = {name for row in self.rows for name in row["metrics"]}
        declared = [self.experiment.headline, *self.experiment.metrics] if self.experiment else []
        known = [name for name in dict.fromkeys(declared) if name in present]
        return (*known, *sorted(present - set(known)))

    @property
    def headline(self) -> str | None:
        return self.metrics[0] if self.metrics else None

    @cached_property
    def curves(self) -> tuple[str, ...]:
        """Names of all curves: first those whose name is part of the headline metric's, then by name."""
        present = {name for row in self.rows for name in row["curves"]}
        headline = self.headline or ""
        return tuple(sorted(present, key=lambda name: (name != headline, name not in headline, name)))

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """Every claim that the tier can decide, with its verdict."""
        claims = self.experiment.claims_in(self.tier) if self.experiment else ()
        return tuple(Judged(claim, judge(claim, list(self.rows), self.experiment), self.tier) for claim in claims)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Ids of the experiment's claims that the tier cannot decide."""
        judged = {item.claim.id for item in self.judged}
        return tuple(c.id for c in self.experiment.claims if c.id not in judged) if self.experiment else ()

    def arm(self, id: str) -> Arm | None:
        """What the experiment declares of an arm, or ``None``."""
        return next((a for a in self.experiment.arms if a.id == id), None) if self.experiment else None

    def role(self, id: str) -> str:
        arm = self.arm(id)
        return arm.role if arm else ""

    def select(self, arm: str, scenario: str, status: str = "ok") -> list[dict[str, Any]]:
        return [r for r in self.rows if (r["arm"], r["scenario"], r["status"]) == (arm, scenario, status)]

    def metrics_on(self, scenario: str) -> tuple[str, ...]:
        """Those of :attr:`metrics` that some cell of ``scenario`` has: its table shows the first."""
        present = {name for row in self.rows if row["scenario"] == scenario for name in row["metrics"]}
        return tuple(name for name in self.metrics if name in present)

    def metric(self, arm: str, scenario: str, name: str) -> Mean:
        """Mean of a metric over the seeds that succeeded and have it."""
        values = [row["metrics"].get(name) for row in self.select(arm, scenario)]
        return mean_of([v for v in values if v is not None])

    def answered(self, arm: str, scenario: str, name: str) -> int:
        """Seeds that succeeded and have the metric; where the arm measures other things, all that succeeded."""
        rows = self.select(arm, scenario)
        measures = any(name in row["metrics"] for row in rows)
        return sum(row["metrics"].get(name) is not None for row in rows) if measures else len(rows)

    def cost(self, arm: str, scenario: str, name: str) -> list[float]:
        """The finite values of a cost over the seeds that succeeded."""
        values = [row["cost"].get(name) for row in self.select(arm, scenario)]
        return [float(v) for v in values if v is not None]


@dataclass(frozen=True)
class Digest:
    """All rows of a report, cleaned and in a fixed order, and the studies they belong to."""

    rows: tuple[dict[str, Any], ...]
    studies: tuple[Study, ...]
    repeated: int
    """Rows left out because a later one is of the same cell."""

    def count(self, status: str) -> int:
        return sum(row["status"] == status for row in self.rows)

    @cached_property
    def environments(self) -> dict[str, dict[str, int]]:
        """Each entry of the rows' environments, nested names joined by dots, with how many rows have each value.

        Of ``code`` only the half that names the sources: the other half names the packages that an arm needs, and
        those are listed one by one.
        """
        table: dict[str, dict[str, int]] = {}
        for row in self.rows:
            sources = str(row.get("code", "")).partition("-")[0]
            found = {name: value for name, value in row["environment"].items() if name != "finished"}
            for name, value in _flat({"sources": sources, **found}):
                counts = table.setdefault(name, {})
                counts[value] = counts.get(value, 0) + 1
        return {name: dict(sorted(table[name].items())) for name in sorted(table, key=lambda n: ("packages" in n, n))}

    @property
    def finished(self) -> tuple[str, str] | None:
        """When the first and the last cell were finished, where the rows say so."""
        times = sorted(str(row["environment"]["finished"]) for row in self.rows if row["environment"].get("finished"))
        return (times[0], times[-1]) if times else None

    def total(self, cost: str) -> float:
        return sum(row["cost"].get(cost) or 0.0 for row in self.rows)

    @property
    def peak_mib(self) -> float | None:
        peaks = [row["cost"]["peak_mib"] for row in self.rows if row["cost"].get("peak_mib") is not None]
        return max(peaks, default=None)


def digest(rows: Iterable[Mapping[str, Any]], experiments: Mapping[str, Experiment] | None = None) -> Digest:
    """Check and order rows.

    Parameters
    ----------
    rows : iterable of mapping
        As the runner writes them.
    experiments : mapping of str to Experiment, optional
        Used before the registered ones.

    Raises
    ------
    InvalidInput
        If there are none, or one is not a row; the message names it.
    NewerFormat
        If a later scisuite wrote one.
    """
    cells: dict[tuple[Any, ...], dict[str, Any]] = {}
    given = 0
    for given, row in enumerate(rows, 1):
        checked = _check(row, given)
        cells[tuple(checked[name] for name in ("experiment", "tier", "scenario", "arm", "seed"))] = checked
    if not cells:
        raise InvalidInput("there are no rows to report; `scisuite bench SLUG` makes some")
    ordered = [cells[cell] for cell in sorted(cells)]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in ordered:
        groups.setdefault((row["experiment"], row["tier"]), []).append(row)
    studies = []
    for (slug, tier), members in groups.items():
        experiment, problem = _find(slug, experiments or {})
        studies.append(Study(slug, tier, tuple(members), experiment, problem))
    return Digest(tuple(ordered), tuple(studies), given - len(ordered))


def mean_interval(values: np.ndarray[Any, Any], resamples: int = RESAMPLES) -> tuple[np.ndarray[Any, Any], ...]:
    """Means over the rows of ``values`` with a 95 % interval.

    Parameters
    ----------
    values : float64 (seeds, points)
        NaN where a seed has no value; it is left out there.
    resamples : int
        Seeds are resampled so often, the same seeds at every point, and the interval is the percentile one. Below
        six seeds it is the least and the greatest seed instead.

    Returns
    -------
    mean, low, high : float64 (points,)
    """
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = filled.sum(0) / known.sum(0)
    if len(values) < FEWEST_SEEDS_TO_RESAMPLE:
        low = np.where(known, values, np.inf).min(0)
        high = np.where(known, values, -np.inf).max(0)
        empty = ~known.any(0)
        return mean, np.where(empty, np.nan, low), np.where(empty, np.nan, high)
    rng = generator(0, "report intervals")
    weights = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), size=resamples).astype(float)
    low, high = np.full(values.shape[1], np.nan), np.full(values.shape[1], np.nan)
    for start in range(0, values.shape[1], 64):
        part = slice(start, start + 64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (weights @ filled[:, part]) / (weights @ known[:, part])
        some = known[:, part].any(0)
        low[part][some], high[part][some] = np.nanpercentile(means[:, some], [2.5, 97.5], axis=0)
    return mean, low, high


def mean_of(values: Sequence[float]) -> Mean:
    """Mean and interval of one number a seed."""
    if not len(values):
        return Mean(math.nan, math.nan, math.nan, 0)
    mean, low, high = mean_interval(np.asarray(values, dtype=float)[:, None])
    return Mean(float(mean[0]), float(low[0]), float(high[0]), len(values))


def repeat_command(study: Study) -> str:
    """The command that runs the cells of ``study`` again."""
    words = ["scisuite", "bench", study.slug, "--tier", study.tier, "--seeds", str(max(study.seeds) + 1)]
    tier = study.experiment.tiers.get(study.tier) if study.experiment else None
    if tier is not None and set(tier.arms) - set(study.arms):
        words += [word for arm in study.arms for word in ("--arm", arm)]
    return shlex.join(words)


def reason_of(row: Mapping[str, Any]) -> str:
    """Why a row has no result, in one line: the last one, since an error's follows those of its traceback."""
    lines = [line.strip() for line in row["error"].splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was recorded"


def _find(slug: str, given: Mapping[str, Experiment]) -> tuple[Experiment | None, str]:
    if slug in given:
        return given[slug], ""
    try:
        return registered.make(slug), ""
    except Exception as error:  # a plugin's module may raise anything; the rows are worth showing all the same
        return None, f"{type(error).__name__}: {error}"


def _check(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise InvalidInput(f"row {number} is a {type(row).__name__}, not a mapping")
    checked: dict[str, Any] = cleaned(jsonable(row))
    where = f"row {number} ({str(checked.get('key', 'no key'))[:60]})"
    schema = checked.get("schema", 1)
    if isinstance(schema, int) and schema > 1:
        raise NewerFormat(f"{where} has schema {schema}; this scisuite reads 1")
    for name in ("experiment", "tier", "arm", "scenario"):
        if not isinstance(checked.get(name), str):
            raise InvalidInput(f"{where} has no {name}")
    if not isinstance(checked.get("seed"), int) or isinstance(checked["seed"], bool):
        raise InvalidInput(f"{where}: seed must be an integer, not {checked.get('seed')!r}")
    if checked.get("status") not in _STATUSES:
        raise InvalidInput(f"{where}: status must be one of {', '.join(_STATUSES)}, not {checked.get('status')!r}")
    for name in ("metrics", "curves", "cost", "environment", "config"):
        checked[name] = checked.get(name) or {}
        if not isinstance(checked[name], dict):
            raise InvalidInput(f"{where}: {name} must be a mapping")
    checked["error"] = str(checked.get("error") or "")
    for kind in ("metrics", "cost"):
        for name, value in checked[kind].items():
            if not _is_number(value):
                raise InvalidInput(f"{where}: {kind} {name!r} is {value!r}, not a number")
    for name, curve in checked["curves"].items():
        if not isinstance(curve, dict) or not all(isinstance(curve.get(axis), list) for axis in "xy"):
            raise InvalidInput(f"{where}: curve {name!r} must have lists x and y")
        if len(curve["x"]) != len(curve["y"]):
            raise InvalidInput(f"{where}: curve {name!r} has {len(curve['x'])} x but {len(curve['y'])} y")
        if not all(_is_number(value) for axis in "xy" for value in curve[axis]):
            raise InvalidInput(f"{where}: curve {name!r} holds something that is not a number")
    return checked


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from _flat(item, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", ", ".join(map(str, item)) if isinstance(item, list) else str(item)
