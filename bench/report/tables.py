"""The tables of a report's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scisuite.bench.claims import ScenarioVerdict, Verdict
from scisuite.bench.experiment import Claim
from scisuite.bench.report.digest import Digest, Judged, Mean, Study, reason_of
from scisuite.bench.report.elements import Child, Element, breakable, element
from scisuite.bench.report.formats import (
    MISSING,
    SYMBOLS,
    bar,
    duration,
    interval,
    number,
    shortened,
    whole_numbers,
)

_CLASSES = {"holds": "good", "fails": "bad", "undecided": "open"}


def verdict_name(judged: Judged) -> str:
    """``holds``, ``fails`` or ``undecided``; ``reported`` for a claim without a target."""
    return str(judged.verdict.verdict)


def verdict_counts(judged: Sequence[Judged]) -> dict[str, int]:
    """How many claims came out as what, in the order that a reader expects."""
    names = [verdict_name(item) for item in judged]
    order = [*SYMBOLS, *sorted(set(names) - set(SYMBOLS))]
    return {name: names.count(name) for name in order if name in names}


def verdict_badge(name: str, count: int | None = None) -> Element:
    """A verdict as symbol, word and colour."""
    text = name if count is None else f"{name} {count}"
    return element("span", f"{SYMBOLS.get(name, '•')} {text}", class_=f"badge {_CLASSES.get(name, 'none')}")


def summary_table(digest: Digest) -> Element:
    """A row for every experiment and tier: what was asked and what came of it."""
    body = []
    for study in digest.studies:
        states = [row["status"] for row in study.rows]
        counted: list[Child] = [verdict_badge(name, count) for name, count in verdict_counts(study.judged).items()]
        cpu = sum(row["cost"].get("cpu_seconds") or 0.0 for row in study.rows)
        body.append(
            [
                _cell(study.slug),
                _cell(study.tier),
                _number_cell(len(study.arms)),
                _number_cell(len(study.scenarios)),
                _cell(whole_numbers(study.seeds)),
                _number_cell(states.count("ok")),
                _number_cell(states.count("error"), class_="bad" if "error" in states else ""),
                _number_cell(states.count("skipped"), class_="open" if "skipped" in states else ""),
                _cell(duration(cpu), value=cpu, class_="number"),
                element("td", *(counted or [MISSING]), class_="badges"),
            ]
        )
    heads = ("experiment", "tier", "arms", "scenarios", "seeds", "ok", "errors", "skipped", "CPU time", "claims")
    return _table(heads, body, "What ran")


def claims_table(judged: Sequence[Judged]) -> Element:
    """All claims. Its rows carry their verdict in ``data-verdict``, for the filter."""
    several_tiers = len({item.tier for item in judged}) > 1
    body = []
    for item in judged:
        claim, verdict = item.claim, item.verdict
        name = verdict_name(item)
        notes = [element("p", text, class_="note") for text in (shortened(verdict.reason, 300), claim.note) if text]
        if verdict.parts:
            notes.append(_parts(verdict.parts))
        if len(verdict.by_scenario) > max(1, len(verdict.parts)):
            notes.append(_by_scenario(verdict.by_scenario))
        low_high = interval(verdict.low, verdict.high)
        ours = element("span", number(verdict.value), class_="value")
        cells = [
            element("td", verdict_badge(name), data_value=name),
            element(
                "td",
                element("code", breakable(claim.id)),
                element("p", item.tier, class_="note") if several_tiers else None,
            ),
            element("td", element("span", claim.statement), notes, class_="statement"),
            element(
                "td",
                ours,
                element("br"),
                element("span", low_high, class_="interval"),
                class_="number",
                data_value=_sort(verdict.value),
            ),
            element(
                "td",
                bar(verdict.shown.relation, verdict.shown.target),
                class_="number",
                data_value=_sort(verdict.shown.target),
            ),
            _cell(claim.paper or MISSING),
            _number_cell(verdict.seeds),
            _cell(breakable(verdict.scenario or MISSING)),
        ]
        body.append(element("tr", cells, data_verdict=name))
    heads = ("verdict", "claim", "statement", "ours [95 %]", "target", "paper", "seeds", "worst case")
    return _table(heads, body, "Claims", id="claims-table", class_="claims")


def results_table(study: Study, scenario: str) -> Element:
    """Arm × the first metric and cost on one scenario."""
    headline = next(iter(study.metrics_on(scenario)), None)
    body = []
    for arm in study.arms:
        rows = [row for row in study.rows if (row["arm"], row["scenario"]) == (arm, scenario)]
        if not rows:
            continue
        mean = study.metric(arm, scenario, headline) if headline else Mean(float("nan"), 0, 0, 0)
        body.append(
            [
                element("th", breakable(arm), scope="row"),
                _cell(study.role(arm) or MISSING),
                element(
                    "td",
                    element("span", number(mean.value), class_="value"),
                    class_="number",
                    data_value=_sort(mean.value),
                ),
                _cell(
                    interval(mean.low, mean.high) if mean.seeds else "", class_="number interval", value=_sort(mean.low)
                ),
                _seeds_cell(rows, study.answered(arm, scenario, headline or "")),
                *(_cost_cells(study, arm, scenario)),
            ]
        )
    heads = (
        "arm",
        "role",
        headline or "metric",
        "95 % interval",
        "seeds",
        "CPU s",
        "wall s",
        "peak MiB",
        "budget used",
    )
    return _table(heads, body, f"Results on {scenario}")


def metrics_table(study: Study, scenario: str) -> Element | None:
    """Every metric's mean, where there is more than one."""
    names = study.metrics_on(scenario)
    if len(names) < 2:
        return None
    body = []
    for arm in study.arms:
        means = [study.metric(arm, scenario, name) for name in names]
        if any(mean.seeds for mean in means):
            cells = [
                element(
                    "td",
                    element("span", number(m.value)),
                    " ",
                    element("span", interval(m.low, m.high) if m.seeds else "", class_="interval"),
                    class_="number",
                    data_value=_sort(m.value),
                )
                for m in means
            ]
            body.append([element("th", breakable(arm), scope="row"), *cells])
    return _table(("arm", *names), body, f"All metrics on {scenario}") if body else None


def failures_table(rows: Sequence[dict[str, Any]]) -> Element:
    """Cells without a result and why; equal reasons of one arm on one scenario share a row."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        whole = row["error"].strip()
        key = tuple(row[name] for name in ("status", "experiment", "tier", "arm", "scenario"))
        groups.setdefault((*key, reason_of(row), whole or reason_of(row)), []).append(row["seed"])
    body = []
    for (status, experiment, tier, arm, scenario, reason, whole), seeds in groups.items():
        told: Element | str = reason
        if whole != reason:
            told = element("details", element("summary", reason), element("pre", whole))
        badge = element(
            "span",
            "✗ error" if status == "error" else "– skipped",
            class_=f"badge {'bad' if status == 'error' else 'open'}",
        )
        body.append(
            [
                element("td", badge, data_value=status),
                _cell(f"{experiment} ({tier})"),
                element("th", breakable(arm), scope="row"),
                _cell(breakable(scenario)),
                _cell(whole_numbers(tuple(sorted(seeds)))),
                element("td", told, class_="statement"),
            ]
        )
    return _table(("status", "experiment", "arm", "scenario", "seeds", "reason"), body, "Errors and skipped cells")


def environment_table(digest: Digest) -> Element:
    """Versions and machine; a name whose value is not the same in all rows is marked."""
    body = []
    for name, counts in digest.environments.items():
        told: Element | str = next(iter(counts))
        if len(counts) > 1:
            told = element(
                "ul", [element("li", f"{value} — {_rows(n)}") for value, n in counts.items()], class_="plain"
            )
        known = sum(counts.values())
        where: Element | str = "" if known == len(digest.rows) else f"in {known} of {_rows(len(digest.rows))}"
        if len(counts) > 1:
            where = element("span", "≠ differs", class_="badge open")
        body.append([element("th", breakable(name), scope="row"), element("td", told), element("td", where)])
    if digest.finished:
        span = element("td", " to ".join(dict.fromkeys(digest.finished)))
        body.append([element("th", "finished", scope="row"), span, element("td")])
    return _table(("name", "value", "over the rows"), body, "Environment and versions")


def legend_table(study: Study) -> Element | None:
    """What the arms and metrics are, in the experiment's words."""
    if study.experiment is None:
        return None
    arms = [
        [
            element("th", breakable(a), scope="row"),
            _cell(study.role(a) or MISSING),
            _cell((arm.summary if (arm := study.arm(a)) else "") or MISSING),
        ]
        for a in study.arms
    ]
    meanings = study.experiment.metrics
    metrics = [
        [element("th", breakable(m), scope="row"), _cell("metric"), _cell(meanings.get(m) or MISSING)]
        for m in study.metrics
    ]
    return _table(("name", "role", "what it is"), [*arms, *metrics], f"Arms and metrics of {study.slug}")


def _parts(parts: Sequence[Verdict]) -> Element:
    """What a claim of several parts is made of: each with its number, its interval and its bar."""
    lines = [
        element(
            "li",
            verdict_badge(part.verdict),
            f" {part.claim.statement}: {_number_and_bar(part, part.shown)}, {part.scenario} ({_seeds(part.seeds)})",
            f" {shortened(part.reason, 160)}" if part.value is None else "",
        )
        for part in parts
    ]
    return element("ul", lines, class_="plain note")


def _by_scenario(cases: Sequence[ScenarioVerdict]) -> Element:
    several = len({case.claim.id for case in cases}) > 1
    lines = [
        element(
            "li",
            verdict_badge(case.verdict),
            f" {case.claim.id}," if several else "",
            f" {case.scenario}: {_number_and_bar(case, case.claim)} ({_seeds(case.seeds)})",
            f" {shortened(case.reason, 160)}" if case.value is None else "",
        )
        for case in cases
    ]
    return element(
        "details",
        element("summary", f"all {len(cases)} cases"),
        element("ul", lines, class_="plain"),
        class_="note",
    )


def _number_and_bar(case: Verdict | ScenarioVerdict, claim: Claim) -> str:
    held = "" if claim.target is None else f"; {bar(claim.relation, claim.target)}"
    return f"{number(case.value)} {interval(case.low, case.high)}".strip() + held


def _table(heads: Sequence[str], body: Sequence[Element | list[Element]], label: str, **attributes: str) -> Element:
    """A sortable table that scrolls inside its own box when the page is narrow."""
    rows = [row if isinstance(row, type(element("tr"))) else element("tr", row) for row in body]
    header = element("thead", element("tr", [element("th", breakable(head), scope="col") for head in heads]))
    table = element("table", element("caption", label, class_="hidden"), header, element("tbody", rows), **attributes)
    return element("div", table, class_="scroll", role="region", aria_label=label, tabindex=0)


def _cell(text: Child, class_: str = "", value: Any = None) -> Element:
    return element("td", text, class_=class_ or None, data_value=value)


def _number_cell(value: int | float | None, class_: str = "") -> Element:
    text = MISSING if value is None else str(value)
    return element("td", text, class_=f"number {class_}".strip(), data_value=_sort(value))


def _seeds_cell(rows: Sequence[dict[str, Any]], answered: int) -> Element:
    text = str(answered) if answered == len(rows) else f"{answered} of {len(rows)}"
    return element("td", text, class_="number" if answered == len(rows) else "number open", data_value=answered)


def _cost_cells(study: Study, arm: str, scenario: str) -> list[Element]:
    cells = []
    for name, combine in (("cpu_seconds", _mean), ("wall_seconds", _mean), ("peak_mib", max), ("budget_used", _mean)):
        values = study.cost(arm, scenario, name)
        value = combine(values) if values else None
        cells.append(element("td", number(value), class_="number", data_value=_sort(value)))
    return cells


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _sort(value: float | None) -> str:
    return "" if value is None or value != value else repr(float(value))


def _seeds(count: int) -> str:
    return "1 seed" if count == 1 else f"{count} seeds"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"
