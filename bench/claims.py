"""Judging claims on rows: an interval over seeds, and ``holds``, ``fails`` or ``undecided``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Claim, Experiment
from scisuite.core import InvalidInput, generator

RESAMPLES = 10_000
LEVEL = 0.95
FEWEST_SEEDS_TO_RESAMPLE = 6
"""Below this the interval is the least and the greatest seed: at three seeds a 95 % bootstrap covers 73 %."""

Answer = Literal["holds", "fails", "undecided", "reported"]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class ScenarioVerdict:
    """What a claim came out as on one scenario; see :class:`Verdict` for the fields."""

    scenario: str
    verdict: Answer
    value: float | None
    low: float | None
    high: float | None
    seeds: int
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What a claim came out as: the numbers are those of its worst scenario.

    Parameters
    ----------
    claim : Claim
    verdict : {"holds", "fails", "undecided", "reported"}
        ``reported`` is a claim without a target: its value is published and never judged.
    value, low, high : float or None
        The statistic and its 95 % interval; ``None`` where rows are missing.
    scenario : str
        The scenario these numbers belong to.
    seeds : int
        Seeds that the interval rests on: those which both arms share, where they share any.
    reason : str
        Why it is undecided; empty where it is decided.
    by_scenario : tuple of ScenarioVerdict
        Every scenario of the claim, in the claim's order.
    """

    claim: Claim
    verdict: Answer
    value: float | None
    low: float | None
    high: float | None
    scenario: str
    seeds: int
    reason: str
    by_scenario: tuple[ScenarioVerdict, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The claim and its verdict as ``scisuite bench --json`` prints it."""
        claim = self.claim
        return {
            "id": claim.id,
            "statement": claim.statement,
            "verdict": self.verdict,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "target": claim.target,
            "relation": claim.relation,
            "paper": claim.paper,
            "scenario": self.scenario,
            "seeds": self.seeds,
            "reason": self.reason,
            "by_scenario": [vars(part).copy() for part in self.by_scenario],
        }


def judge(claim: Claim, rows: Sequence[Mapping[str, Any]], experiment: Experiment | None = None) -> Verdict:
    """Judge ``claim`` on the rows of one experiment and tier.

    The interval is the percentile interval of 10 000 resamples of the seeds, drawn from a generator that the claim's
    id and the scenario seed, so that the same rows give the same verdict. Where the two arms share seeds, those are
    resampled in pairs and the others left out; where they share none, each arm is resampled by itself. Below six
    seeds ``low`` and ``high`` are the least and the greatest of the statistic taken seed by seed. ``holds`` means
    that the whole interval is on the good side of the target, ``fails`` that it is on the other. All scenarios must
    hold; a scenario that fails outweighs one that is undecided, and among equals the one furthest from the target is
    shown.

    Parameters
    ----------
    claim : Claim
    rows : sequence of rows
        Rows of other experiments are passed over.
    experiment : Experiment or None
        Whose tier says how many seeds each arm was to have: an arm that stops before the others, and not because of
        its :class:`~scisuite.bench.Limit`, makes the claim undecided. Without it only holes are noticed.

    Raises
    ------
    InvalidInput
        If the rows come from more than one tier, or if two of them answer the same arm, scenario and seed.
    """
    own = [row for row in rows if claim.id.startswith(f"{row['experiment']}.")]
    tiers = sorted({row["tier"] for row in own})
    if len(tiers) > 1:
        raise InvalidInput(f"{claim.id} cannot be judged on rows of several tiers at once ({', '.join(tiers)})")
    if not claim.scenarios:
        raise InvalidInput(f"{claim.id} names no scenario")
    planned = _planned_seeds(experiment, own)
    names = claim.scenarios
    if claim.pooled and len(names) > 1:
        own, names = _pool(claim, own), (f"mean of {len(names)} scenarios",)
    parts = tuple(
        _named(claim, arm, against, _judge_on(replace(claim, arm=arm, against=against), scenario, own, planned))
        for arm, against in ((claim.arm, claim.against), *claim.also)
        for scenario in names
    )
    worst = max(parts, key=lambda part: _badness(claim, part))
    return Verdict(
        claim, worst.verdict, worst.value, worst.low, worst.high, worst.scenario, worst.seeds, worst.reason, parts
    )


def interval(claim: Claim, scenario: str, values: Array, against: Array | None, paired: bool) -> tuple[float, float]:
    """The interval of the claim's statistic, as :func:`judge` describes it.

    Parameters
    ----------
    claim : Claim
    scenario : str
        With the claim's id, it seeds the resampling.
    values : float64 (n,)
        The metric of the claim's arm, in the order of its seeds.
    against : float64 (m,) or None
        The metric of the other arm; n = m, seed by seed, where ``paired``.
    paired : bool

    Raises
    ------
    InvalidInput
        If a ratio's denominator reaches zero in a resample, so that the ratio has no finite interval.
    """
    if min(len(values), len(values if against is None else against)) < FEWEST_SEEDS_TO_RESAMPLE:
        per_seed = _per_seed(claim, values, against, paired)
        return float(per_seed.min()), float(per_seed.max())
    rng = generator(0, "claim", claim.id, scenario)
    draws = rng.integers(0, len(values), (RESAMPLES, len(values)))
    means = values[draws].mean(axis=1)
    if against is None:
        resampled = means
    else:
        if not paired:
            draws = rng.integers(0, len(against), (RESAMPLES, len(against)))
        resampled = _compare(claim, means, against[draws].mean(axis=1))
    low, high = np.percentile(resampled, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return float(low), float(high)


def _planned_seeds(experiment: Experiment | None, rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many seeds each limited or unlimited arm should have, judged by the last seed that any arm has."""
    if experiment is None or not rows or rows[0]["tier"] not in experiment.tiers:
        return {}
    tier = experiment.tiers[rows[0]["tier"]]
    reached = 1 + max(int(row["seed"]) for row in rows)
    caps = {id: limit.seeds for id, limit in tier.limits.items() if limit.seeds is not None}
    return {id: min(reached, caps.get(id, reached)) for id in tier.arms}


def _judge_on(
    claim: Claim, scenario: str, rows: Sequence[Mapping[str, Any]], planned: Mapping[str, int]
) -> ScenarioVerdict:
    arms = (claim.arm,) if claim.against is None else (claim.arm, claim.against)
    by_arm = {arm: _by_seed(rows, arm, scenario) for arm in arms}
    for arm, by_seed in by_arm.items():
        if not by_seed:
            return _open(claim, scenario, 0, f"there is no row of {arm} on {scenario}")
    shared = sorted(set.intersection(*(set(by_seed) for by_seed in by_arm.values())))
    used = {arm: shared or sorted(by_seed) for arm, by_seed in by_arm.items()}
    seeds = min(len(s) for s in used.values())
    chosen = [by_arm[arm][seed] for arm in arms for seed in used[arm]]
    if reason := _defect(claim, chosen) or _gap(by_arm, shared, planned):
        return _open(claim, scenario, seeds, reason)
    values = [np.array([float(_figures(by_arm[a][s])[claim.metric]) for s in used[a]]) for a in arms]
    arm_values, against_values = values[0], values[1] if len(values) == 2 else None
    try:
        low, high = interval(claim, scenario, arm_values, against_values, paired=bool(shared))
        value = _point(claim, arm_values, against_values)
    except InvalidInput as error:
        return _open(claim, scenario, seeds, str(error))
    verdict, reason = _side(claim, low, high)
    return ScenarioVerdict(scenario, verdict, value, low, high, seeds, reason)


def _named(claim: Claim, arm: str, against: str | None, part: ScenarioVerdict) -> ScenarioVerdict:
    """``part`` with its pair of arms in the scenario's name, where the claim has several pairs."""
    return replace(part, scenario=f"{part.scenario}, {arm} against {against}") if claim.also else part


def _pool(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per arm and seed, its metric the mean over the claim's scenarios; a defect of any of them stays one."""
    groups: dict[tuple[str, int], dict[str, Mapping[str, Any]]] = {}
    for row in rows:
        if row["arm"] in claim.arms and row["scenario"] in claim.scenarios:
            members = groups.setdefault((row["arm"], int(row["seed"])), {})
            if row["scenario"] in members:
                raise InvalidInput(f"there are two rows of {row['arm']} on {row['scenario']}: keep the current one")
            members[row["scenario"]] = row
    pooled: list[dict[str, Any]] = []
    for members in groups.values():
        found = list(members.values())
        if len(found) < len(claim.scenarios):
            continue
        faulty = [row for row in found if row["status"] != "ok" or _figures(row).get(claim.metric) is None]
        codes = {row.get("code", "") for row in found}
        mean = None if faulty else float(np.mean([_figures(row)[claim.metric] for row in found]))
        pooled.append(
            {
                **(faulty or found)[0],
                "scenario": f"mean of {len(claim.scenarios)} scenarios",
                "metrics": {claim.metric: mean},
                "code": min(codes) if len({c.partition("-")[0] for c in codes}) == 1 else " and ".join(sorted(codes)),
            }
        )
    return pooled


def _by_seed(rows: Sequence[Mapping[str, Any]], arm: str, scenario: str) -> dict[int, Mapping[str, Any]]:
    by_seed: dict[int, Mapping[str, Any]] = {}
    for row in rows:
        if row["arm"] == arm and row["scenario"] == scenario:
            seed = int(row["seed"])
            if seed in by_seed:
                raise InvalidInput(f"there are two rows of {arm} on {scenario} with seed {seed}: keep the current one")
            by_seed[seed] = row
    return by_seed


def _defect(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> str:
    for row in rows:
        where = f"{row['arm']} on {row['scenario']}, seed {row['seed']}"
        if row["status"] != "ok":
            lines = str(row.get("error") or "no reason given").strip().splitlines()
            return f"{where}: {row['status']}: {lines[-1]}"
        figures = _figures(row)
        value = figures.get(claim.metric)
        if value is None or not math.isfinite(value):
            found = "is not finite" if claim.metric in figures else "is missing"
            return f"{where}: the metric {claim.metric} {found}"
    # The first half of a code names the sources, the second the versions of the packages that the arm needs.
    sources = {str(row.get("code", "")).partition("-")[0] for row in rows}
    codes = {(row["arm"], row.get("code", "")) for row in rows}
    if len(sources) > 1 or len(codes) > len({arm for arm, _ in codes}):
        return "its rows were made by different versions of the code: run the experiment again"
    return ""


def _figures(row: Mapping[str, Any]) -> dict[str, Any]:
    """The metrics of a row, and its costs as ``cost.cpu_seconds`` and the like."""
    return {**{f"cost.{name}": value for name, value in row.get("cost", {}).items()}, **row["metrics"]}


def _gap(by_arm: Mapping[str, Mapping[int, Any]], shared: Sequence[int], planned: Mapping[str, int]) -> str:
    first = min(seed for by_seed in by_arm.values() for seed in by_seed)
    for arm, by_seed in by_arm.items():
        start = first if shared else min(by_seed)
        if missing := sorted(set(range(start, planned.get(arm, max(by_seed) + 1))) - set(by_seed)):
            return f"{arm} has no row for seed {', '.join(map(str, missing[:5]))}"
    return ""


def _point(claim: Claim, values: Array, against: Array | None) -> float:
    mean = np.array([values.mean()])
    return float(mean[0] if against is None else _compare(claim, mean, np.array([against.mean()]))[0])


def _per_seed(claim: Claim, values: Array, against: Array | None, paired: bool) -> Array:
    if against is None:
        return values
    if paired:
        return _compare(claim, values, against)
    return _compare(claim, np.repeat(values, len(against)), np.tile(against, len(values)))


def _compare(claim: Claim, values: Array, against: Array) -> Array:
    if claim.statistic == "difference_of_means":
        return values - against
    if against.min() <= 0 <= against.max():
        raise InvalidInput(f"{claim.metric} of {claim.against} is not clear of zero, so the ratio has no interval")
    return values / against


def _side(claim: Claim, low: float, high: float) -> tuple[Answer, str]:
    if claim.target is None:
        return "reported", ""
    target = claim.target
    holds, fails = (high <= target, low > target) if claim.relation == "<=" else (low >= target, high < target)
    if holds:
        return "holds", ""
    if fails:
        return "fails", ""
    return "undecided", f"the interval [{low:.4g}, {high:.4g}] reaches both sides of the target {target:g}"


def _open(claim: Claim, scenario: str, seeds: int, reason: str) -> ScenarioVerdict:
    verdict: Answer = "reported" if claim.target is None else "undecided"
    return ScenarioVerdict(scenario, verdict, None, None, None, seeds, reason)


def _badness(claim: Claim, part: ScenarioVerdict) -> tuple[int, float]:
    rank = {"holds": 0, "reported": 0, "undecided": 1, "fails": 2}[part.verdict]
    if part.value is None:
        return rank, math.inf
    return rank, part.value if claim.relation == "<=" else -part.value
