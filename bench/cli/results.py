"""The result of one experiment in one tier: as the JSON line that ``bench --json`` prints, and as tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scisuite.bench.cli.output import figure, mean_and_error, new_table, print_table, say
from scisuite.bench.experiment import Claim, Experiment

if TYPE_CHECKING:
    from scisuite.bench.claims import Verdict

CLAIM_KEYS = ("id", "statement", "verdict", "value", "low", "high", "target", "paper", "relation", "by_scenario")
_SHOWN_FAILURES = 5


@dataclass(frozen=True)
class Result:
    """Rows of one experiment in one tier, and the verdicts on its claims."""

    experiment: Experiment
    tier: str
    seeds: int
    rows: Sequence[dict[str, Any]]
    verdicts: Sequence[Verdict]

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        tier: str,
        seeds: int | None,
        rows: Sequence[dict[str, Any]],
        claims: Iterable[Claim],
    ) -> Result:
        """Judge ``claims`` on ``rows``; without ``seeds``, the tier's own number."""
        from scisuite.bench.claims import judge

        number = seeds if seeds is not None else experiment.tiers[tier].seeds
        return cls(experiment, tier, number, rows, [judge(claim, list(rows), experiment) for claim in claims])

    @property
    def failed(self) -> bool:
        """Whether a cell failed; a skipped one did not."""
        return any(row["status"] == "error" for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """The line that ``bench --json`` prints."""
        claims = [{key: verdict.to_json()[key] for key in CLAIM_KEYS} for verdict in self.verdicts]
        return {
            "experiment": self.experiment.slug,
            "tier": self.tier,
            "seeds": self.seeds,
            "rows": list(self.rows),
            "claims": claims,
        }

    def explain_failures(self) -> None:
        """Say on standard error which arms were skipped and why, and which cells failed."""
        reasons = dict.fromkeys((row["arm"], row["error"]) for row in self.rows if row["status"] == "skipped")
        for arm, reason in reasons:
            say(f"skipped {arm}: {reason}")
        errors = [row for row in self.rows if row["status"] == "error"]
        for row in errors[:_SHOWN_FAILURES]:
            last_line = str(row["error"]).strip().split("\n")[-1]
            say(f"failed {row['arm']} on {row['scenario']}, seed {row['seed']}: {last_line}")
        if len(errors) > _SHOWN_FAILURES:
            say(f"and {len(errors) - _SHOWN_FAILURES} more cells failed: the report lists them")


def results_of(rows: Sequence[dict[str, Any]]) -> tuple[list[Result], list[str]]:
    """Rows sorted into results, and the slugs of those whose experiment is not registered here."""
    from scisuite.bench import experiments
    from scisuite.core import UnknownName

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["experiment"], row["tier"]), []).append(row)
    results: list[Result] = []
    unknown: list[str] = []
    for (slug, tier), members in sorted(groups.items()):
        try:
            experiment = experiments.make(slug)
        except UnknownName:
            unknown.append(slug)
            continue
        seeds = len({row["seed"] for row in members})
        results.append(Result.of(experiment, tier, seeds, members, experiment.claims_in(tier)))
    return results, list(dict.fromkeys(unknown))


def bench_command_line(
    slug: str,
    tier: str,
    seeds: int | None,
    arms: Iterable[str] | None,
    claims: Iterable[str] | None,
    backend: str,
    out: Path,
) -> str:
    """The command that runs exactly these cells again."""
    words = ["scisuite", "bench", slug, "--tier", tier]
    words += ["--seeds", str(seeds)] if seeds is not None else []
    for arm in arms or ():
        words += ["--arm", arm]
    for claim in claims or ():
        words += ["--claim", claim]
    words += ["--backend", backend] if backend != "loky" else []
    words += ["--out", str(out)] if out != Path("runs") else []
    return shlex.join(words)


def print_result(result: Result) -> None:
    """Print the arms × scenarios table of the headline metric, and the claims."""
    experiment = result.experiment
    metric = experiment.headline or next(iter(experiment.metrics), "")
    lines: dict[str, tuple[str, str, list[str], str]] = {}
    apart = []
    found = {row["scenario"] for row in result.rows}
    tier = experiment.tiers.get(result.tier)
    known = [scenario for scenario in (tier.scenarios if tier else ()) if scenario in found]
    every = [*known, *dict.fromkeys(row["scenario"] for row in result.rows if row["scenario"] not in known)]
    shown = [scenario for scenario in every if _has(result.rows, scenario, metric)] or every
    for arm in experiment.arms:
        rows = [row for row in result.rows if row["arm"] == arm.id]
        if not rows:
            continue
        cells = [_cell([row for row in rows if row["scenario"] == scenario], metric) for scenario in shown]
        if all(cell == "–" for cell in cells):
            apart.append(arm.id)
            continue
        costs = [float(row["cost"].get("cpu_seconds") or 0.0) for row in rows if row["status"] == "ok"]
        lines[arm.id] = (arm.id, arm.role, cells, figure(sum(costs) / len(costs)) if costs else "–")
    family = shown[0].rpartition("/")[0] + "/" if shown else ""
    if not all(scenario.startswith(family) for scenario in shown):
        family = ""
    meaning = f": {experiment.metrics[metric]}" if metric in experiment.metrics else ""
    where = f"; scenarios {family}…" if len(family) > 1 and len(shown) > 1 else ""
    title = f"{experiment.title} ({result.tier}, {result.seeds} seeds)\n{metric}{meaning}{where}"
    names = [scenario.removeprefix(family) if where else scenario for scenario in shown]
    table = new_table(title, "arm", "role", *names, "CPU s", right=(*names, "CPU s"))
    for id, role, cells, cost in lines.values():
        table.add_row(id, role, *cells, cost)
    print_table(table)
    if apart:
        print(f"Measured by other figures, which the report has: {', '.join(apart)}.\n")
    if result.verdicts:
        columns = ("claim", "statement", "ours [95 %]", "target", "paper", "verdict")
        table = new_table("claims", *columns)
        for verdict in result.verdicts:
            table.add_row(*_claim_line(verdict))
            for part in verdict.parts:
                table.add_row(*_claim_line(part, mark="↳ "))
        print_table(table)


def _has(rows: Sequence[Mapping[str, Any]], scenario: str, metric: str) -> bool:
    """Whether a row of the scenario has the metric, or failed."""
    return any(
        row["scenario"] == scenario and (row["status"] != "ok" or row["metrics"].get(metric) is not None)
        for row in rows
    )


def _cell(rows: Sequence[Mapping[str, Any]], metric: str) -> str:
    values = [float(row["metrics"][metric]) for row in rows if row["metrics"].get(metric) is not None]
    parts = [mean_and_error(values)] if values else []
    for status, word in (("error", "failed"), ("skipped", "skipped")):
        number = sum(row["status"] == status for row in rows)
        if number:
            parts.append(f"{number} {word}")
    return ", ".join(parts) or "–"


def _claim_line(verdict: Verdict, mark: str = "") -> tuple[str, ...]:
    claim, shown = verdict.claim, verdict.shown
    sign = {"<=": "≤", ">=": "≥"}[shown.relation]
    target = "–" if shown.target is None else f"{sign} {figure(shown.target)}"
    return mark + claim.id, claim.statement, _interval(verdict), target, claim.paper or "–", _in_words(verdict)


def _interval(verdict: Verdict) -> str:
    if verdict.value is None:
        return "–"
    return f"{figure(verdict.value)} [{figure(verdict.low)}, {figure(verdict.high)}]"


def _in_words(verdict: Verdict) -> str:
    """The verdict, with the reason where there are no numbers to see it from."""
    return f"{verdict.verdict} ({verdict.reason})" if verdict.value is None and verdict.reason else verdict.verdict
