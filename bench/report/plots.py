"""The plots of a report: curves, accuracy against cost, and a forest of claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scisuite.bench.intervals import FEWEST_SEEDS_TO_RESAMPLE
from scisuite.bench.report.digest import Mean, Study, mean_interval
from scisuite.bench.report.elements import Element
from scisuite.bench.report.formats import interval, number
from scisuite.bench.report.svg import GRID, PALETTE, fitted, style, to_element

MOST_LINES = 8
"""More arms than this share no panel: the ablations move to small panels of their own."""

_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (1.5, 1.5)), (0, (7, 2, 1.5, 2)), (0, (3.5, 1.5)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
_MOST_POINTS = 240
_PANEL_COLUMNS = 4


@dataclass(frozen=True)
class Plot:
    """A drawn plot with its caption."""

    title: str
    caption: str
    svg: Element


@dataclass(frozen=True)
class Look:
    """How one arm is drawn; up to 64 arms, no two share both colour and marker."""

    colour: str
    dash: Any
    marker: str


@dataclass(frozen=True)
class Line:
    """Mean curve of an arm on ``x``, with its 95 % band, and the number of seeds in it."""

    x: np.ndarray[Any, Any]
    mean: np.ndarray[Any, Any]
    low: np.ndarray[Any, Any]
    high: np.ndarray[Any, Any]
    seeds: int


def looks(arms: Sequence[str]) -> dict[str, Look]:
    """A look for every arm, the same in all plots of a study; after a round of colours the markers move on by one."""
    found = {}
    for index, arm in enumerate(arms):
        shift = index + index // len(PALETTE)
        found[arm] = Look(PALETTE[index % len(PALETTE)], _DASHES[shift % len(_DASHES)], _MARKERS[shift % len(_MARKERS)])
    return found


def shared_and_apart(study: Study, arms: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arms that share one panel, and those that get small panels of their own."""
    if len(arms) <= MOST_LINES:
        return list(arms), []
    shared = [arm for arm in arms if study.role(arm) != "ablation"][:MOST_LINES]
    return shared, [arm for arm in arms if arm not in shared]


def curve_plots(study: Study, scenario: str, prefix: str) -> list[Plot]:
    """One plot for every curve of a scenario, and a second with small panels where there are more than eight arms."""
    plots = []
    for index, name in enumerate(study.curves):
        lines = {arm: line for arm in study.arms if (line := _line(study, arm, scenario, name)) is not None}
        if not lines:
            continue
        labels = _axis_labels(study, scenario, name)
        shared, apart = shared_and_apart(study, list(lines))
        title = f"{name} on {scenario}"
        caption = f"{title}: mean over seeds, with {_band(lines.values())}."
        ends = {arm: f"{arm} {number(_last(line.mean))} ({line.seeds} seeds)" for arm, line in lines.items()}
        description = f"At the end: {', '.join(ends.values())}."
        ids = f"{prefix}c{index}-"
        if shared:
            svg = _shared_panel(study, {a: lines[a] for a in shared}, labels, title, ids, description)
            plots.append(Plot(title, caption, svg))
        if apart:
            svg = _small_panels(study, lines, apart, labels, f"{title}: ablations", ids + "s-", description)
            text = (
                f"{title}, one arm a panel, with {_band(lines.values())}; the solid blue line is "
                f"{_reference(study, lines) or 'absent'}, grey lines are all other arms."
            )
            plots.append(Plot(f"{title}, arms one by one", text, svg))
    return plots


def cost_plot(study: Study, prefix: str) -> Plot | None:
    """The headline metric against CPU seconds, one panel a scenario; ``None`` where nothing was measured."""
    if study.headline is None:
        return None
    points: dict[str, dict[str, tuple[float, Mean]]] = {}
    for scenario in study.scenarios:
        for arm in study.arms:
            measured = study.cost(arm, scenario, "cpu_seconds")
            mean = study.metric(arm, scenario, study.headline)
            if measured and mean.seeds:
                points.setdefault(scenario, {})[arm] = (float(np.mean(measured)), mean)
    if not points:
        return None
    from matplotlib.figure import Figure

    look = looks(study.arms)
    columns = min(3, len(points))
    rows = -(-len(points) // columns)
    with style():
        figure = Figure(figsize=(2.6 * columns + 2.9, max(2.6 * rows, 0.19 * len(look) + 0.5)))
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        titles = {}
        for index, (panel, (scenario, arms)) in enumerate(zip(axes, points.items(), strict=False)):
            for arm, (seconds, mean) in arms.items():
                group = f"arm{study.arms.index(arm)}-{index}"
                titles[group] = f"{arm}: {number(mean.value)} {interval(mean.low, mean.high)}, {number(seconds)} s"
                panel.vlines(seconds, mean.low, mean.high, color=look[arm].colour, linewidth=1.2)
                panel.plot(
                    [seconds],
                    [mean.value],
                    color=look[arm].colour,
                    marker=look[arm].marker,
                    markersize=6,
                    linestyle="none",
                    gid=group,
                )
            panel.set_title(fitted(scenario, 2.0), fontsize=9)
            if index % columns == 0:
                panel.set_ylabel(fitted(study.headline, 2.1))
            if index + columns >= len(points):
                panel.set_xlabel("CPU time of one cell [s]")
            spread = [seconds for seconds, _ in arms.values()]
            if min(spread) > 0 and max(spread) / min(spread) > 8:
                _logarithmic(panel, "x")
            else:
                panel.set_xlim(left=0, right=max(spread) * 1.15 or 1)
        for panel in axes[len(points) :]:
            panel.remove()
        present = [arm for arm in study.arms if any(arm in arms for arms in points.values())]
        _legend(figure, present, look, lines=False)
        label = f"{study.headline} against CPU seconds"
        described = "; ".join(
            f"{scenario}: " + ", ".join(f"{arm} {number(m.value)} at {number(s)} s" for arm, (s, m) in arms.items())
            for scenario, arms in points.items()
        )
        svg = to_element(figure, prefix, label, described, titles)
    return Plot(label, f"{study.headline} against the CPU time it cost, means over seeds with 95 % intervals.", svg)


def _shared_panel(
    study: Study, lines: dict[str, Line], labels: tuple[str, str], title: str, prefix: str, description: str
) -> Element:
    from matplotlib.figure import Figure

    look = looks(study.arms)
    with style():
        figure = Figure(figsize=(9, max(3.7, 0.2 * len(lines) + 0.6)))
        axes = figure.subplots()
        for order, (arm, line) in enumerate(reversed(lines.items())):
            width = 2.4 if study.role(arm) == "method" else 1.6
            _draw(axes, line, look[arm], width=width, order=3 + order, group=f"arm{study.arms.index(arm)}")
        _scales(axes, lines.values())
        axes.set_xlabel(fitted(labels[0], 5.5))
        axes.set_ylabel(fitted(labels[1], 2.9))
        axes.set_title(fitted(title, 5.5, size=10))
        _legend(figure, list(lines), look)
        titles = {f"arm{i}": arm for i, arm in enumerate(study.arms)}
        return to_element(figure, prefix, title, description, titles)


def _small_panels(
    study: Study,
    lines: dict[str, Line],
    apart: Sequence[str],
    labels: tuple[str, str],
    title: str,
    prefix: str,
    description: str,
) -> Element:
    from matplotlib.figure import Figure

    reference = _reference(study, lines)
    columns = min(_PANEL_COLUMNS, len(apart))
    rows = -(-len(apart) // columns)
    with style():
        figure = Figure(figsize=(9, 1.75 * rows + 0.5))
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
        for index, (axes, arm) in enumerate(zip(panels.ravel(), apart, strict=False)):
            for other, line in lines.items():
                if other not in (arm, reference):
                    axes.plot(line.x, line.mean, color=GRID, linewidth=1)
            if reference is not None and arm != reference:
                axes.plot(lines[reference].x, lines[reference].mean, color=PALETTE[0], linewidth=1.4)
            _draw(axes, lines[arm], Look(PALETTE[1], "-", ""), width=1.8, order=5, group=f"arm{study.arms.index(arm)}")
            axes.set_title(fitted(arm, 1.75, size=8.5), fontsize=8.5)
            axes.tick_params(labelsize=8)
            axes.tick_params(labelbottom=index + columns >= len(apart))
        _scales(panels[0, 0], lines.values(), ticks=4)
        for axes in panels.ravel()[len(apart) :]:
            axes.remove()
        figure.supxlabel(fitted(labels[0], 6), fontsize=9)
        figure.supylabel(fitted(labels[1], 1.6 * rows), fontsize=9)
        titles = {f"arm{i}": arm for i, arm in enumerate(study.arms)}
        return to_element(figure, prefix, title, description, titles)


def _draw(axes: Any, line: Line, look: Look, *, width: float, order: int, group: str) -> None:
    axes.fill_between(line.x, line.low, line.high, color=look.colour, alpha=0.14, linewidth=0, zorder=2)
    step = max(1, len(line.x) // 8)
    axes.plot(
        line.x,
        line.mean,
        color=look.colour,
        linestyle=look.dash,
        linewidth=width,
        marker=look.marker or None,
        markersize=5,
        markevery=((order * 3) % step, step),
        zorder=order,
        gid=group,
    )


def _legend(figure: Any, arms: Sequence[str], look: dict[str, Look], *, lines: bool = True) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=look[arm].colour,
            marker=look[arm].marker,
            markersize=5 if lines else 6,
            linestyle=look[arm].dash if lines else "none",
            linewidth=1.8,
            label=fitted(arm, 1.9, size=8.5),
        )
        for arm in arms
    ]
    # A list of labels, because matplotlib leaves out a handle whose own label begins with "_".
    figure.legend(handles, [handle.get_label() for handle in handles], loc="outside right upper")


def _scales(axes: Any, lines: Iterable[Line], ticks: int = 8) -> None:
    from matplotlib.ticker import MaxNLocator

    drawn = list(lines)
    for name, values in (("x", [line.x for line in drawn]), ("y", [line.mean for line in drawn])):
        finite = np.concatenate(values)
        finite = finite[np.isfinite(finite)]
        axis = getattr(axes, f"{name}axis")
        if len(finite) and finite.min() > 0 and finite.max() / finite.min() > (100 if name == "y" else 1000):
            _logarithmic(axes, name)
            if name == "y":
                axes.set_ylim(finite.min() / 1.6, max(finite.max(), *(np.nanmax(line.high) for line in drawn)) * 1.3)
        else:
            whole = bool(len(finite)) and bool(np.all(finite == np.round(finite)))
            axis.set_major_locator(MaxNLocator(ticks if name == "x" else min(ticks, 6), integer=name == "x" and whole))


def _logarithmic(axes: Any, name: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    getattr(axes, f"set_{name}scale")("log")
    axis = getattr(axes, f"{name}axis")
    low, high = getattr(axes, f"get_{name}lim")()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 60 else (1,), numticks=6))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _line(study: Study, arm: str, scenario: str, name: str) -> Line | None:
    """Seeds on one grid. Where their ``x`` differ, each is interpolated linearly inside its own range only."""
    seeds = []
    for row in study.select(arm, scenario):
        if name in row["curves"]:
            curve = row["curves"][name]
            x, y = (np.array([np.nan if v is None else v for v in curve[axis]], dtype=float) for axis in "xy")
            known = np.isfinite(x)
            if known.any():
                order = np.argsort(x[known], kind="stable")
                seeds.append((x[known][order], y[known][order]))
    if not seeds:
        return None
    grid = np.unique(np.concatenate([x for x, _ in seeds]))
    if len(grid) > _MOST_POINTS:
        grid = grid[np.unique(np.linspace(0, len(grid) - 1, _MOST_POINTS).round().astype(int))]
    values = np.stack([np.interp(grid, x, y, left=np.nan, right=np.nan) for x, y in seeds])
    covered = np.isfinite(values)
    if (full := covered.all(0)).any():
        keep = full
    elif (keep := covered.any(0)).any():
        pass
    else:
        return None
    mean, low, high = mean_interval(values[:, keep], resamples=2000)
    return Line(grid[keep], mean, low, high, len(seeds))


def _axis_labels(study: Study, scenario: str, name: str) -> tuple[str, str]:
    for row in study.rows:
        if row["scenario"] == scenario and name in row["curves"]:
            curve = row["curves"][name]
            return str(curve.get("x_label") or "x"), str(curve.get("y_label") or name)
    return "x", name


def _reference(study: Study, lines: dict[str, Line]) -> str | None:
    return next((arm for arm in lines if study.role(arm) == "method"), None)


def _band(lines: Iterable[Line]) -> str:
    seeds = [line.seeds for line in lines]
    few, many = "the range of the seeds", "95 % bootstrap bands"
    if min(seeds) >= FEWEST_SEEDS_TO_RESAMPLE:
        return many
    return (
        few
        if max(seeds) < FEWEST_SEEDS_TO_RESAMPLE
        else f"{many} ({few} where there are fewer than {FEWEST_SEEDS_TO_RESAMPLE})"
    )


def _last(values: np.ndarray[Any, Any]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else float("nan")
