"""Judging claims on rows: an interval over seeds, and ``holds``, ``fails`` or ``undecided``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from scisuite.bench.experiment import Claim, Experiment
from scisuite.bench.intervals import interval, joint_interval, joint_point, point
from scisuite.core import InvalidInput

Answer = Literal["holds", "fails", "undecided", "reported"]


@dataclass(frozen=True)
class ScenarioVerdict:
    """What one inequality came out as for one pair of arms on one scenario; see :class:`Verdict` for the fields."""

    claim: Claim
    scenario: str
    verdict: Answer
    value: float | None
    low: float | None
    high: float | None
    seeds: int
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """The inequality, its metric and arms, and what came of it."""
        claim = self.claim
        return {
            "id": claim.id,
            "scenario": self.scenario,
            "metric": ", ".join(claim.metrics),
            "arm": claim.arm,
            "against": claim.against,
            "statistic": claim.statistic,
            "relation": claim.relation,
            "target": claim.target,
            "verdict": self.verdict,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "seeds": self.seeds,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Verdict:
    """What a claim came out as: the numbers are those of its worst scenario, arms and part.

    Parameters
    ----------
    claim : Claim
    verdict : {"holds", "fails", "undecided", "reported"}
        ``reported`` is a claim without a target: its value is published and never judged. Where there is no value for
        want of rows it is ``undecided`` like any other.
    value, low, high : float or None
        The statistic and its 95 % interval; ``None`` where rows are missing.
    scenario : str
        The scenario these numbers belong to.
    seeds : int
        Seeds that the interval rests on: those which both arms share, where they share any.
    reason : str
        Why it is undecided; empty where it is decided.
    by_scenario : tuple of ScenarioVerdict
        Every part, pair of arms and scenario, in the claim's order.
    parts : tuple of Verdict
        One for each part of the claim; empty where it has none.
    shown : Claim
        The inequality that the numbers belong to: it has their metric, arms, relation and target.
    """

    claim: Claim
    verdict: Answer
    value: float | None
    low: float | None
    high: float | None
    scenario: str
    seeds: int
    reason: str
    by_scenario: tuple[ScenarioVerdict, ...]
    parts: tuple[Verdict, ...]
    shown: Claim

    def to_json(self) -> dict[str, Any]:
        """The claim and its verdict as ``scisuite bench --json`` prints it."""
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "verdict": self.verdict,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "target": self.shown.target,
            "relation": self.shown.relation,
            "paper": self.claim.paper,
            "scenario": self.scenario,
            "seeds": self.seeds,
            "reason": self.reason,
            "by_scenario": [each.to_json() for each in self.by_scenario],
        }


def judge(claim: Claim, rows: Sequence[Mapping[str, Any]], experiment: Experiment | None = None) -> Verdict:
    """Judge ``claim`` on the rows of one experiment and tier.

    The interval is the percentile interval of 10 000 resamples of the seeds, drawn from a generator that the claim's
    id and the scenario seed, so that the same rows give the same verdict. (A cell may have resampled units of its own:
    then the interval is the cell's.) Where the two arms share seeds, those are
    resampled in pairs and the others left out; where they share none, each arm is resampled by itself. Several pooled
    metrics of one seed stay together. Below six seeds ``low`` and ``high`` are the least and the greatest of the
    statistic taken seed by seed; of a minimum or maximum both are the value itself. ``holds`` means that the whole
    interval is on the good side of the target, ``fails`` that it is on the other. All scenarios, pairs of arms and
    parts must hold; one that fails outweighs one that is undecided. Among equals the scenario or pair furthest from
    the target is shown, and of parts the first. A claim that is judged ``jointly`` shows the scenario and arm furthest
    from the target, with the interval of the worst value, or the median over scenarios and arms with its interval.

    Parameters
    ----------
    claim : Claim
    rows : sequence of rows
        Rows of other experiments are passed over.
    experiment : Experiment or None
        Whose rows they are, and whose tier says how many seeds each arm was to have: an arm that stops before the
        others, and not because of its :class:`~scisuite.bench.Limit`, makes the claim undecided. Without it only
        holes are noticed, and the rows are those of the experiment whose slug begins the claim's id.

    Raises
    ------
    InvalidInput
        If the rows come from more than one tier, or if two of them answer the same arm, scenario and seed.
    """
    own: Sequence[Mapping[str, Any]] = [row for row in rows if _is_of(row, claim, experiment)]
    tiers = sorted({row["tier"] for row in own})
    if len(tiers) > 1:
        raise InvalidInput(f"{claim.id} cannot be judged on rows of several tiers at once ({', '.join(tiers)})")
    if claim.parts:
        parts = tuple(judge(part, own, experiment) for part in claim.parts)
        worst = max(parts, key=lambda part: _RANK[part.verdict])
        every = tuple(each for part in parts for each in part.by_scenario)
        return replace(worst, claim=claim, by_scenario=every, parts=parts)
    if not claim.scenarios:
        raise InvalidInput(f"{claim.id} names no scenario")
    planned = _planned_seeds(experiment, own)
    names = claim.scenarios
    if claim.pooled and len(names) > 1:
        own, names = _pool(claim, own), (f"mean of {len(names)} scenarios",)
    asked = [(replace(claim, arm=arm, against=against), name) for arm, against in claim.pairs for name in names]
    every = tuple(_judge_on(each, scenario, own, planned) for each, scenario in asked)
    case = _joint(asked, every, own) if claim.jointly else max(every, key=_badness)
    return Verdict(
        claim,
        case.verdict,
        case.value,
        case.low,
        case.high,
        case.scenario,
        case.seeds,
        case.reason,
        by_scenario=every,
        parts=(),
        shown=case.claim,
    )


def _is_of(row: Mapping[str, Any], claim: Claim, experiment: Experiment | None) -> bool:
    if experiment is not None:
        return bool(row["experiment"] == experiment.slug)
    return claim.id.startswith(f"{row['experiment']}.")


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
    """``claim`` has the pair of arms to be judged; where it has several, the scenario's name tells them apart."""
    name = scenario
    if claim.also:
        name = f"{scenario}, {claim.arm}" + ("" if claim.against is None else f" against {claim.against}")
    arms = [arm for arm in (claim.arm, claim.against) if arm is not None]
    by_arm = {arm: _by_seed(rows, arm, scenario) for arm in arms}
    for arm, by_seed in by_arm.items():
        if not by_seed:
            return _open(claim, name, 0, f"there is no row of {arm} on {scenario}")
    if claim.statistic == "resampled":
        return _resampled_within(claim, name, by_arm[claim.arm])
    shared = sorted(set.intersection(*(set(by_seed) for by_seed in by_arm.values())))
    used = {arm: shared or sorted(by_seed) for arm, by_seed in by_arm.items()}
    seeds = min(len(s) for s in used.values())
    chosen = [by_arm[arm][seed] for arm in arms for seed in used[arm]]
    if reason := _defect(claim, chosen) or _gap(by_arm, shared, planned):
        return _open(claim, name, seeds, reason)
    values = [np.array([_values(claim, by_arm[arm][seed]) for seed in used[arm]], dtype=float) for arm in arms]
    arm_values, against_values = values[0], values[1] if len(values) == 2 else None
    try:
        low, high = interval(claim, scenario, arm_values, against_values, paired=bool(shared))
        value = point(claim, arm_values, against_values)
    except InvalidInput as error:
        return _open(claim, name, seeds, str(error))
    verdict, reason = _side(claim, low, high)
    return ScenarioVerdict(claim, name, verdict, value, low, high, seeds, reason)


def _resampled_within(claim: Claim, name: str, by_seed: Mapping[int, Mapping[str, Any]]) -> ScenarioVerdict:
    """The interval that the arm's one cell has found by resampling units of its own."""
    if len(by_seed) > 1:
        return _open(
            claim, name, len(by_seed), f"{claim.arm} has {len(by_seed)} seeds, each with an interval of its own"
        )
    rows = list(by_seed.values())
    parts = [claim.metrics[0] + ending for ending in ("", "_low", "_high")]
    if reason := _defect(replace(claim, metric=tuple(parts)), rows):
        return _open(claim, name, 1, reason)
    value, low, high = (float(_figures(rows[0])[part]) for part in parts)
    verdict, reason = _side(claim, low, high)
    return ScenarioVerdict(claim, name, verdict, value, low, high, 1, reason)


def _joint(
    asked: Sequence[tuple[Claim, str]], every: Sequence[ScenarioVerdict], rows: Sequence[Mapping[str, Any]]
) -> ScenarioVerdict:
    """The worst or the median case, with the interval of one that is chosen anew in every resample of the seeds."""
    worst = max(every, key=lambda case: _badness(case)[1])
    if worst.value is None:
        return worst
    by_seed = [_by_seed(rows, claim.arm, scenario) for claim, scenario in asked]
    seeds = sorted(by_seed[0])
    if any(sorted(each) != seeds for each in by_seed):
        return _open(worst.claim, worst.scenario, 0, "its arms and scenarios do not all have the same seeds")
    values = [
        np.array([_values(claim, each[seed]) for seed in seeds], dtype=float)
        for (claim, _), each in zip(asked, by_seed, strict=True)
    ]
    low, high = joint_interval(worst.claim, values)
    verdict, reason = _side(worst.claim, low, high)
    joint = replace(worst, verdict=verdict, low=low, high=high, reason=reason)
    if worst.claim.across == "median":
        value = joint_point(worst.claim, [case.value for case in every if case.value is not None])
        return replace(joint, value=value, scenario=f"median of {len(every)} scenarios")
    return joint


def _pool(claim: Claim, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per arm and seed, its metrics the means over the claim's scenarios; a defect of any stays one."""
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
        faulty = [row for row in found if row["status"] != "ok" or None in _values(claim, row)]
        codes = {row.get("code", "") for row in found}
        means = {} if faulty else dict(zip(claim.metrics, np.mean([_values(claim, r) for r in found], 0), strict=True))
        pooled.append(
            {
                **(faulty or found)[0],
                "scenario": f"mean of {len(claim.scenarios)} scenarios",
                "metrics": {name: means.get(name) for name in claim.metrics},
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
        for metric, value in zip(claim.metrics, _values(claim, row), strict=True):
            if value is None or not math.isfinite(value):
                found = "is not finite" if metric in _figures(row) else "is missing"
                return f"{where}: the metric {metric} {found}"
    # The first half of a code names the sources, the second the versions of the packages that the arm needs.
    sources = {str(row.get("code", "")).partition("-")[0] for row in rows}
    codes = {(row["arm"], row.get("code", "")) for row in rows}
    if len(sources) > 1 or len(codes) > len({arm for arm, _ in codes}):
        return "its rows were made by different versions of the code: run the experiment again"
    return ""


def _values(claim: Claim, row: Mapping[str, Any]) -> list[Any]:
    figures = _figures(row)
    return [figures.get(metric) for metric in claim.metrics]


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
    return ScenarioVerdict(claim, scenario, "undecided", None, None, None, seeds, reason)


_RANK: Mapping[str, int] = {"reported": -1, "holds": 0, "undecided": 1, "fails": 2}


def _badness(case: ScenarioVerdict) -> tuple[int, float]:
    if case.value is None:
        return _RANK[case.verdict], math.inf
    return _RANK[case.verdict], case.value if case.claim.relation == "<=" else -case.value
