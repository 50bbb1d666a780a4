"""The part of a docs page that is made from rows and never typed."""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scisuite.bench.experiment import Experiment
from scisuite.bench.report.digest import Digest, Judged, Study, digest, reason_of, repeat_command
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
from scisuite.bench.report.tables import verdict_name
from scisuite.core import DamagedFile, InvalidInput
from scisuite.core.files import write_atomic

BEGIN = "<!-- generated: begin -->"
END = "<!-- generated: end -->"
MOST_OTHERS = 6


def build_markdown(rows: Iterable[Mapping[str, Any]], *, experiments: Mapping[str, Experiment] | None = None) -> str:
    """Claims, results, environment and the commands to repeat them, as Markdown; equal rows give equal text.

    Raises
    ------
    InvalidInput
        If there are no rows or one is malformed.
    """
    summary = digest(rows, experiments)
    parts = [part for study in summary.studies for part in _study(study)]
    parts += ["### Environment", _environment(summary), "### Repeat it"]
    commands = "\n".join(dict.fromkeys(repeat_command(study) for study in summary.studies))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", commands)), default=0))
    parts.append(f"{fence}sh\n{commands}\n{fence}")
    return "\n\n".join(parts) + "\n"


def update_page(
    path: str | os.PathLike[str],
    content: str | Iterable[Mapping[str, Any]],
    *,
    experiments: Mapping[str, Experiment] | None = None,
) -> bool:
    """Put tables between the markers of a page and leave the rest as it is.

    Parameters
    ----------
    path : path
    content : str or rows
        What :func:`build_markdown` returned, or what it takes.
    experiments : mapping of str to Experiment, optional
        For rows; see :func:`build_markdown`.

    Returns
    -------
    bool
        Whether the page changed.

    Raises
    ------
    InvalidInput
        If there is no such page, or it does not hold ``<!-- generated: begin -->`` and, behind it,
        ``<!-- generated: end -->``, once each. Nothing is written then.
    """
    path = Path(path)
    try:
        old = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InvalidInput(f"no such file: {path}") from None
    except UnicodeDecodeError as error:
        raise DamagedFile(f"{path} is not UTF-8 text: {error}") from error
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    counts = old.count(BEGIN), old.count(END)
    if counts != (1, 1) or old.index(BEGIN) > old.index(END):
        raise InvalidInput(
            f"{path} must hold {BEGIN} and, behind it, {END}, once each; it has {counts[0]} and {counts[1]}"
            + (" in the wrong order" if counts == (1, 1) else "")
        )
    text = content if isinstance(content, str) else build_markdown(content, experiments=experiments)
    if BEGIN in text or END in text:
        raise InvalidInput(f"the text for {path} must not hold {BEGIN} or {END} itself")
    before, rest = old.split(BEGIN)
    after = rest.split(END)[1]
    newline = "\r\n" if "\r\n" in old else "\n"
    between = f"\n\n{text.strip()}\n\n".replace("\n", newline)
    new = f"{before}{BEGIN}{between}{END}{after}"
    if new == old:
        return False
    write_atomic(path, new)
    return True


def _study(study: Study) -> Iterable[str]:
    states = [row["status"] for row in study.rows]
    cpu = sum(row["cost"].get("cpu_seconds") or 0.0 for row in study.rows)
    yield f"### {_text(study.slug)}, {_text(study.tier)} tier"
    yield (
        f"{len(study.rows)} cells ({states.count('ok')} ok, {states.count('error')} errors, {states.count('skipped')} "
        f"skipped); seeds {whole_numbers(study.seeds)}; {duration(cpu)} of CPU time. Intervals are 95 % bootstrap "
        "intervals over seeds; below six seeds, the least and the greatest seed."
    )
    if study.experiment is None:
        problem = _text(study.problem)
        yield f"This experiment could not be loaded when the tables were made ({problem}): rows only, no claims."
    if study.judged:
        yield _claims(study)
    if study.left_out:
        yield f"Not judged in this tier: {_text(', '.join(study.left_out))}."
    for scenario in study.scenarios:
        yield f"#### {_text(scenario)}"
        yield _results(study, scenario)
    missing = _missing(study)
    if missing:
        yield "#### Cells without a result"
        yield missing


def _claims(study: Study) -> str:
    lines = []
    for item in study.judged:
        lines.append(_claim_line(item))
        lines += [_claim_line(part, mark="↳ ") for part in item.inequalities if part is not item]
    heads = ("claim", "statement", "ours [95 %]", "target", "paper", "verdict", "seeds", "worst case", "note")
    return _table(heads, lines)


def _claim_line(item: Judged, mark: str = "") -> tuple[str, ...]:
    claim, verdict, name = item.claim, item.verdict, verdict_name(item)
    ours = f"{number(verdict.value)} {interval(verdict.low, verdict.high)}".strip()
    target = bar(verdict.shown.relation, verdict.shown.target)
    notes = ". ".join(note.strip().rstrip(".") for note in (shortened(verdict.reason, 300), claim.note) if note)
    cells = (mark + claim.id, claim.statement, ours, target, claim.paper or MISSING)
    return (*cells, f"{SYMBOLS.get(name, '•')} {name}", str(verdict.seeds), verdict.scenario or MISSING, notes)


def _results(study: Study, scenario: str) -> str:
    lines = []
    shown = study.metrics_on(scenario)[:1]
    for arm in study.arms:
        if not study.select(arm, scenario):
            continue
        means = [study.metric(arm, scenario, name) for name in shown]
        costs = [study.cost(arm, scenario, name) for name in ("cpu_seconds", "peak_mib")]
        seconds, peak = (sum(costs[0]) / len(costs[0]) if costs[0] else None), max(costs[1], default=None)
        ours = [f"{number(m.value)} {interval(m.low, m.high)}".strip() for m in means] or [MISSING]
        seeds = study.answered(arm, scenario, *(shown or [""]))
        others = _others(study, arm, scenario, shown)
        lines.append((arm, study.role(arm) or MISSING, *ours, str(seeds), number(seconds), number(peak), others))
    if not lines:
        return "No cell of this scenario has a result."
    return _table(("arm", "role", *(shown or ["metric"]), "seeds", "CPU s", "peak MiB", "also"), lines)


def _others(study: Study, arm: str, scenario: str, shown: Sequence[str]) -> str:
    """Means of the metrics that have no column of their own, in the experiment's order; the first few of many."""
    means = ((name, study.metric(arm, scenario, name).value) for name in study.metrics_on(scenario))
    found = [f"{name} {number(value)}" for name, value in means if name not in shown and math.isfinite(value)]
    return ", ".join(found[:MOST_OTHERS])


def _missing(study: Study) -> str:
    groups: dict[tuple[str, str, str, str], list[int]] = {}
    for row in study.rows:
        if row["status"] != "ok":
            groups.setdefault((row["status"], row["arm"], row["scenario"], reason_of(row)), []).append(row["seed"])
    lines = [(*key[:3], whole_numbers(tuple(sorted(seeds))), key[3]) for key, seeds in sorted(groups.items())]
    return _table(("status", "arm", "scenario", "seeds", "reason"), lines) if lines else ""


def _environment(summary: Digest) -> str:
    lines = []
    for name, counts in summary.environments.items():
        values = [
            value if len(counts) == 1 else f"{value} ({n} of {len(summary.rows)} rows)" for value, n in counts.items()
        ]
        lines.append((name.removeprefix("packages."), "; ".join(values)))
    return _table(("name", "value"), lines)


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [heads, ["---"] * len(heads), *([_text(cell) for cell in line] for line in lines)]
    rows[0] = [_text(head) for head in heads]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _text(value: str) -> str:
    """``value`` as plain text of one table cell or heading: no markup, no line break, no pipe.

    Only what every Markdown knows as an escape gets a backslash; the rest becomes a character reference.
    """
    line = html.escape(" ".join(str(value).split()), quote=False)
    line = re.sub(r"([\\`*_\[\]{}|])", r"\\\1", line)
    return re.sub(r"[~$^]|^#|:(?=[a-z0-9_+-]+:)", lambda match: f"&#{ord(match[0])};", line)
