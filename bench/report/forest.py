"""A forest of claims: what was measured, its interval, and the target it is held against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from scisuite.bench.report.digest import Judged
from scisuite.bench.report.formats import SYMBOLS, interval, number
from scisuite.bench.report.plots import Plot
from scisuite.bench.report.svg import BAD, GOOD, INK, MUTED, OPEN, SURFACE, fitted, style, to_element

_COLOURS = {"holds": GOOD, "fails": BAD, "undecided": OPEN}
_MARKERS = {"holds": "o", "fails": "X", "undecided": "D"}
_STATISTICS = {
    "ratio_of_means": "ratio of means",
    "difference_of_means": "difference of means",
    "resampled": "value",
    "mean": "mean",
    "median": "median",
    "minimum": "minimum",
    "maximum": "maximum",
}


def forest_plot(judged: Sequence[Judged], prefix: str) -> Plot | None:
    """Claims that have a value, those with the same kind of axis together; ``None`` where there are none.

    The shaded side of a target is the good one. A claim of several parts has a line for each. Ratios share an axis;
    any other statistic shares it with the same one of the same metric only, since its unit is the metric's.
    """
    groups: dict[str, list[Judged]] = {}
    for item in (part for whole in judged for part in whole.inequalities):
        if item.verdict.value is not None and math.isfinite(item.verdict.value):
            name = _STATISTICS[item.claim.statistic]
            if item.claim.statistic != "ratio_of_means":
                name = f"{name}: {', '.join(item.claim.metrics)}"
            groups.setdefault(name, []).append(item)
    if not groups:
        return None
    from matplotlib.figure import Figure

    drawn = [item for items in groups.values() for item in items]
    heights = [len(items) + 1.5 for items in groups.values()]
    with style():
        figure = Figure(figsize=(9, 0.3 * sum(heights) + 0.25))
        all_axes = figure.subplots(len(groups), 1, squeeze=False, height_ratios=heights).ravel()
        for axes, (name, items) in zip(all_axes, groups.items(), strict=True):
            _draw_group(axes, items, [drawn.index(item) for item in items])
            axes.set_xlabel(fitted(name, 5), fontsize=9)
        titles = {f"claim{i}": _in_words(item) for i, item in enumerate(drawn)}
        svg = to_element(figure, prefix, "Claims against their targets", "; ".join(titles.values()), titles)
    caption = (
        "Each claim's value with its 95 % interval (below six seeds: the range of the seeds). The bar is the target, "
        "the shaded side of it the good one."
    )
    return Plot("Claims against their targets", caption, svg)


def _draw_group(axes: Any, items: Sequence[Judged], numbers: Sequence[int]) -> None:
    span = [
        v for item in items for v in _finite(item.verdict.value, item.verdict.low, item.verdict.high, item.claim.target)
    ]
    if any(item.claim.statistic == "ratio_of_means" for item in items):
        span.append(1.0)
    margin = 0.06 * (max(span) - min(span)) or 0.06 * abs(max(span)) or 1.0
    left, right = min(span) - margin, max(span) + margin
    for row, (item, index) in enumerate(zip(items, numbers, strict=True)):
        verdict, target = item.verdict, item.claim.target
        colour = _COLOURS.get(verdict.verdict, MUTED) if target is not None else MUTED
        if target is not None:
            good = (left, target) if item.claim.relation == "<=" else (target, right)
            axes.fill_betweenx([row - 0.36, row + 0.36], *good, color=GOOD, alpha=0.1, linewidth=0)
            axes.plot([target, target], [row - 0.36, row + 0.36], color=INK, linewidth=1.6)
        bounds = _finite(verdict.low, verdict.high)
        if len(bounds) == 2:
            axes.plot(bounds, [row, row], color=colour, linewidth=2, solid_capstyle="butt")
        axes.plot(
            [verdict.value],
            [row],
            color=colour,
            marker=_MARKERS.get(verdict.verdict, "s") if target is not None else "s",
            markersize=9 if verdict.verdict == "fails" else 7,
            markeredgecolor=SURFACE,
            linestyle="none",
            gid=f"claim{index}",
        )
        text = f"{SYMBOLS.get(verdict.verdict, '•')} {number(verdict.value)} {interval(verdict.low, verdict.high)}"
        axes.text(1.01, row, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8.5)
    if any(item.claim.statistic == "ratio_of_means" for item in items):
        axes.axvline(1.0, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_xlim(left, right)
    axes.set_ylim(len(items) - 0.5, -0.5)
    axes.set_yticks(range(len(items)), [fitted(item.claim.id, 2.2) for item in items])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)


def _in_words(item: Judged) -> str:
    target = "no target" if item.claim.target is None else f"target {item.claim.relation} {number(item.claim.target)}"
    low_high = interval(item.verdict.low, item.verdict.high)
    return f"{item.claim.id}: {number(item.verdict.value)} {low_high}, {target}, {item.verdict.verdict}"


def _finite(*values: float | None) -> list[float]:
    return [float(v) for v in values if v is not None and math.isfinite(v)]
