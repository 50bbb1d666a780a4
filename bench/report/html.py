"""Rows as one page: no network, no external file, nothing from data that is not escaped."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Template
from typing import Any

from scisuite.bench.experiment import Experiment
from scisuite.bench.report import tables
from scisuite.bench.report.digest import Digest, Study, digest, repeat_command
from scisuite.bench.report.elements import Element, cleaned, element, script_json, to_html
from scisuite.bench.report.forest import forest_plot
from scisuite.bench.report.formats import duration, number, whole_numbers
from scisuite.bench.report.plots import Plot, cost_plot, curve_plots
from scisuite.core import InvalidInput, __version__, read_paper
from scisuite.core.files import write_atomic

_DATA = Path(__file__).parent / "data"


def build_html(
    rows: Iterable[Mapping[str, Any]],
    *,
    command: str,
    title: str | None = None,
    experiments: Mapping[str, Experiment] | None = None,
) -> str:
    """The report of ``rows`` as one self-contained page; equal rows give equal bytes.

    Parameters
    ----------
    rows : iterable of mapping
        As the runner writes them; experiments and tiers may be mixed.
    command : str
        What repeats the run; shown as it is.
    title : str, optional
        By default the names of the experiments.
    experiments : mapping of str to Experiment, optional
        By slug, used before the registered ones. Rows of an experiment that is in neither are shown without claims.

    Raises
    ------
    InvalidInput
        If there are no rows or one is malformed.
    """
    summary = digest(rows, experiments)
    heading = cleaned(title) if title else " · ".join(dict.fromkeys(study.title for study in summary.studies))
    sections = [_summary(summary), _claims(summary)]
    sections += [_study(study, index) for index, study in enumerate(summary.studies)]
    sections += [_failures(summary), _environment(summary), _repeat(summary, cleaned(command)), _raw(summary)]
    present = [section for section in sections if section is not None]
    body = element("main", element("header", element("h1", heading), _subtitle(summary)), present)
    style, script = ((_DATA / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    digest_of_script = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template((_DATA / "page.html").read_text(encoding="utf-8")).substitute(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest_of_script}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        title=html.escape(heading),
        style=style,
        navigation=to_html(_navigation(present)),
        body=to_html(body),
        script=script,
    )


def write_html(
    rows: Iterable[Mapping[str, Any]],
    path: str | os.PathLike[str],
    command: str,
    *,
    title: str | None = None,
    experiments: Mapping[str, Experiment] | None = None,
) -> Path:
    """Write :func:`build_html` to ``path``: a reader sees the old page or the whole new one.

    Raises
    ------
    InvalidInput
        If there are no rows, one is malformed, or the folder cannot be written.
    EngineFailure
        If the disk is full or fails.
    """
    page = build_html(rows, command=command, title=title, experiments=experiments)
    write_atomic(path, page)
    return Path(path)


def _subtitle(summary: Digest) -> Element:
    names = ", ".join(dict.fromkeys(f"{study.slug} ({study.tier} tier)" for study in summary.studies))
    return element("p", f"{names} — scisuite {__version__}", class_="subtitle")


def _summary(summary: Digest) -> Element:
    verdicts = tables.verdict_counts([judged for study in summary.studies for judged in study.judged])
    claims = [tables.verdict_badge(name, count) for name, count in verdicts.items()]
    seeds = tuple(sorted({row["seed"] for row in summary.rows}))
    cards = [
        _card(
            "cells",
            str(len(summary.rows)),
            f"{summary.count('ok')} ok, {summary.count('error')} errors, {summary.count('skipped')} skipped",
        ),
        _card("claims", str(sum(verdicts.values())), claims or "none to judge"),
        _card("seeds", str(len(seeds)), whole_numbers(seeds)),
        _card(
            "CPU time",
            duration(summary.total("cpu_seconds")),
            f"{duration(summary.total('wall_seconds'))} of cells' wall time",
        ),
        _card("peak memory", f"{number(summary.peak_mib)} MiB", "of the largest cell"),
    ]
    warnings = []
    if summary.repeated:
        warnings.append(f"{summary.repeated} rows were left out because a later row is of the same cell.")
    if len(summary.environments.get("sources", ())) > 1:
        warnings.append("The rows come from more than one version of the code: see Environment and versions.")
    for study in summary.studies:
        if study.experiment is None:
            warnings.append(
                f"The experiment {study.slug} could not be loaded here ({study.problem}). Its rows are shown; "
                "its claims, the roles of its arms and the meaning of its metrics are unknown."
            )
    return _section(
        "summary",
        "Summary",
        element("div", cards, class_="cards"),
        [element("p", text, class_="warning", role="note") for text in warnings],
        tables.summary_table(summary),
    )


def _claims(summary: Digest) -> Element | None:
    judged = [item for study in summary.studies for item in study.judged]
    if not judged:
        return None
    buttons = [
        element(
            "button",
            tables.verdict_badge(name, count),
            type="button",
            data_filter=name,
            aria_pressed="false",
        )
        for name, count in tables.verdict_counts(judged).items()
    ]
    filters = element(
        "div",
        element(
            "label", "Filter ", element("input", type="search", id="claims-filter", placeholder="words in a claim")
        ),
        element("div", buttons, class_="buttons", role="group", aria_label="Show only these verdicts"),
        element("p", id="claims-shown", role="status", aria_live="polite"),
        class_="filters",
        hidden=True,
    )
    explanation = element(
        "p",
        "A claim holds when the whole interval lies on the good side of its target, fails when it lies on the other, "
        "and is undecided otherwise. Intervals are 95 % bootstrap intervals over seeds; below six seeds, the "
        "least and the greatest seed; a minimum or maximum is exact. Over several scenarios or pairs of arms the worst "
        "is shown; where a claim has several parts, each is listed with its own bar, and all must hold.",
        class_="note",
    )
    return _section("claims", "Claims", explanation, filters, tables.claims_table(judged))


def _study(study: Study, index: int) -> Element:
    anchor = f"experiment-{index}"
    parts: list[Element | None] = [_citation(study)]
    if study.experiment is None:
        parts.append(element("p", f"Not registered here: {study.problem}.", class_="warning"))
    if study.left_out:
        text = f"Claims that this tier does not judge: {', '.join(study.left_out)}."
        parts.append(element("p", text, class_="note"))
    parts.append(_figure(forest_plot(study.judged, f"{anchor}-forest-")))
    for number_, scenario in enumerate(study.scenarios):
        place = f"{anchor}-{number_}"
        metrics = tables.metrics_table(study, scenario)
        parts += [
            element("h3", scenario, id=place),
            tables.results_table(study, scenario),
            element("details", element("summary", "All metrics"), metrics) if metrics is not None else None,
            *(_figure(plot) for plot in curve_plots(study, scenario, f"{place}-")),
        ]
    cost = cost_plot(study, f"{anchor}-cost-")
    if cost is not None:
        parts += [element("h3", "Accuracy and cost", id=f"{anchor}-cost"), _figure(cost)]
    legend = tables.legend_table(study)
    if legend is not None:
        parts += [element("h3", "Arms and metrics", id=f"{anchor}-legend"), legend]
    return _section(anchor, f"{study.title} — {study.tier} tier", parts)


def _citation(study: Study) -> Element | None:
    import scisuite.solvers

    folder = Path(scisuite.solvers.__file__).parent
    # A slug is data: it is looked for among the folders that are there and never made into a path.
    if study.slug not in {path.parent.name for path in folder.glob("*/solver.toml")}:
        return None
    try:
        paper = read_paper(folder, study.slug)
    except InvalidInput as error:
        return element("p", f"The paper's entry could not be read: {error}", class_="note")
    authors = ", ".join("et al." if author == "others" else author for author in paper.authors)
    identifier = f", arXiv {paper.arxiv}" if paper.arxiv else ""
    return element(
        "div",
        element("p", f"{authors}: ", element("cite", paper.title), f". {paper.venue}, {paper.year}{identifier}."),
        element("p", paper.note, class_="note") if paper.note else None,
        element("details", element("summary", "BibTeX"), _copyable(paper.bibtex)),
        class_="paper",
    )


def _failures(summary: Digest) -> Element | None:
    rows = [row for row in summary.rows if row["status"] != "ok"]
    if not rows:
        return None
    return _section(
        "failures", "Errors and skipped cells", tables.failures_table(sorted(rows, key=lambda r: r["status"]))
    )


def _environment(summary: Digest) -> Element:
    return _section("environment", "Environment and versions", tables.environment_table(summary))


def _repeat(summary: Digest, command: str) -> Element:
    commands = list(dict.fromkeys(repeat_command(study) for study in summary.studies))
    parts = [element("p", "The command that made this report:"), _copyable(command)]
    if commands != [command]:
        parts += [element("p", "The runs behind it:"), _copyable("\n".join(commands))]
    return _section("repeat", "Repeat this run", parts)


def _raw(summary: Digest) -> Element:
    data = element("script", script_json(list(summary.rows)), type="application/json", id="rows")
    button = element("button", "Save the rows as JSON", type="button", id="save-rows", class_="action", hidden=True)
    words = f"All {len(summary.rows)} rows, curves included, are part of this page (the element with the id “rows”)."
    return _section("raw", "Raw rows", element("p", words), button, data)


def _figure(plot: Plot | None) -> Element | None:
    if plot is None:
        return None
    save = element("button", "Save SVG", type="button", class_="action save-svg", hidden=True)
    box = element("div", plot.svg, class_="scroll", tabindex=0, role="region", aria_label=plot.title)
    return element("figure", box, element("figcaption", plot.caption, " ", save))


def _copyable(text: str) -> Element:
    button = element("button", "Copy", type="button", class_="action copy", hidden=True)
    return element("div", element("pre", element("code", text), tabindex=0), button, class_="copyable")


def _card(name: str, value: str, detail: Any) -> Element:
    return element(
        "div",
        element("div", name, class_="card-name"),
        element("div", value, class_="card-value"),
        element("div", detail, class_="card-detail"),
        class_="card",
    )


def _section(anchor: str, heading: str, *children: Any) -> Element:
    return element("section", element("h2", heading, id=anchor), *children, aria_labelledby=anchor)


def _navigation(sections: Iterable[Element]) -> Element:
    """A table of contents from the headings, so that no link can lead nowhere."""
    items = []
    for section in sections:
        links = [_link(heading) for heading in section.findall("h3")]
        inner = element("ul", [element("li", link) for link in links]) if links else None
        items += [element("li", _link(heading), inner) for heading in section.findall("h2")]
    return element("nav", element("h2", "Contents"), element("ul", items), aria_label="Contents")


def _link(heading: Element) -> Element:
    return element("a", re.sub(r"\s+", " ", heading.text or ""), href=f"#{heading.get('id')}")
