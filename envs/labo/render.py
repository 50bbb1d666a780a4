"""A picture of an episode of ``sci/LABO-v0``: what it has reached, and where the two sources were spent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.envs.labo.task import Array, Task

WIDTH, HEIGHT, DPI = 960, 480, 100

BLUE, ORANGE, VERMILION, GREY = "#0072B2", "#E69F00", "#D55E00", "#C8C8C8"
"""Okabe and Ito's colours, which people with any colour vision tell apart; shape and filling say the same again."""


class Viewer:
    """Draws the episodes of one environment; the figure and everything in it that stays is made once.

    Left: best real value over real experiments. Right: the points asked for in the plane of the pool's first two
    principal components, or of the first two columns where there is no pool.

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.task = task
        self.projection = Projection(task)
        figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        self.canvas = FigureCanvasAgg(figure)
        self.values_axes = figure.add_axes((0.085, 0.13, 0.345, 0.68))
        self.points_axes = figure.add_axes((0.595, 0.13, 0.385, 0.68))
        name = task.scenario.id.rpartition("/")[2] or "scenario"
        figure.text(0.02, 0.955, name, size=13, weight="bold", va="center")
        self.counters = figure.text(0.98, 0.955, "", size=10.5, va="center", ha="right")
        self.reached = figure.text(0.085, 0.885, "", size=10.5, va="center", color=BLUE)
        self._prepare_values()
        self._prepare_points()

    def draw(
        self, measured: Any, real_values: list[float], asked: Any, answered: NDArray[np.bool_], spent: float
    ) -> NDArray[np.uint8]:
        """The frame, uint8 (480, 960, 3).

        Parameters
        ----------
        measured : (n, d)
            Encoded points of the real experiments, in their order.
        real_values : list of n floats
            Their values in their own unit.
        asked : (m, d)
            Encoded points the predictor was asked about.
        answered : bool (m,)
            Which of them it answered.
        spent : float
        """
        self._draw_values(real_values)
        self._draw_points(np.asarray(measured), real_values, np.asarray(asked), answered)
        task, n, m = self.task, len(real_values), len(answered)
        failed = m - int(answered.sum())
        self.counters.set_text(
            f"real {n} / {task.budget}      LLM {m} / {task.max_llm}"
            + (f" ({failed} failed)" if failed else "")
            + f"      spent {spent:.2f}"
        )
        canvas: Any = self.canvas
        canvas.draw()
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])

    def _prepare_values(self) -> None:
        from matplotlib.ticker import MaxNLocator

        axes, scenario = self.values_axes, self.task.scenario
        unit = f" ({scenario.unit})" if scenario.unit else ""
        better = "larger" if scenario.maximise else "smaller"
        axes.set_title(f"Best value ({better} is better)", size=11, loc="left")
        axes.set_xlabel("real experiments", size=10)
        axes.set_ylabel(f"{scenario.value_name.replace('_', ' ')}{unit}", size=10)
        axes.set_xlim(0, 1.03 * self.task.budget)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.axhline(self.task.median, color="#555555", lw=1, ls=":")
        self._name_line(self.task.median, "median")
        if scenario.optimum is not None:
            axes.axhline(scenario.optimum, color="#555555", lw=1, ls="--")
            self._name_line(scenario.optimum, "optimum")
        (self.each,) = axes.plot([], [], ls="none", marker="s", ms=4.5, mfc="white", mec=BLUE, mew=1)
        (self.best,) = axes.plot([], [], color=BLUE, lw=2.2, drawstyle="steps-post")
        (self.latest,) = axes.plot([], [], ls="none", marker="*", ms=15, color=VERMILION, mec="black", mew=0.7)
        _quiet(axes)

    def _name_line(self, value: float, name: str) -> None:
        axes = self.values_axes
        across = axes.get_yaxis_transform()
        axes.text(1.01, value, name, transform=across, ha="left", va="center", size=8.5, color="#333333")

    def _draw_values(self, values: list[float]) -> None:
        steps = np.arange(1, len(values) + 1)
        maximise = self.task.scenario.maximise
        best = np.maximum.accumulate(values) if maximise else np.minimum.accumulate(values)
        self.each.set_data(steps, values)
        self.best.set_data(np.append(steps, steps[-1:]), np.append(best, best[-1:]))
        self.latest.set_data(steps[-1:], best[-1:])
        self.reached.set_text("")
        if values:
            regret = self.task.scenario.regret(float(best[-1]))
            shown = f"best {best[-1]:.4g}" + ("" if math.isnan(regret) else f", regret {regret:.3f}")
            self.reached.set_text(shown)
        ends = [self.task.median, *values]
        if self.task.scenario.optimum is not None:
            ends.append(self.task.scenario.optimum)
        margin = 0.08 * ((max(ends) - min(ends)) or 1.0)
        self.values_axes.set_ylim(min(ends) - margin, max(ends) + margin)

    def _prepare_points(self) -> None:
        axes, projection = self.points_axes, self.projection
        axes.set_title("Where the sources were spent", size=11, loc="left")
        axes.set_xlabel(projection.names[0], size=10)
        axes.set_ylabel(projection.names[1], size=10)
        if (pool := projection.pool) is not None:
            axes.scatter(pool[:, 0], pool[:, 1], s=7, c=GREY, lw=0, rasterized=True)
        (self.llm,) = axes.plot([], [], ls="none", marker="o", ms=6, mfc="none", mec=ORANGE, mew=1.6)
        (self.failed,) = axes.plot([], [], ls="none", marker="x", ms=5, color=ORANGE, mew=1.2)
        (self.real,) = axes.plot([], [], ls="none", marker="s", ms=6, mfc=BLUE, mec="white", mew=0.6)
        (self.star,) = axes.plot([], [], ls="none", marker="*", ms=17, mfc=VERMILION, mec="black", mew=0.8)
        names = ["LLM", "LLM, failed", "real", "best"]
        handles: list[Any] = [self.llm, self.failed, self.real, self.star]
        if projection.pool is not None:
            from matplotlib.lines import Line2D

            handles.insert(0, Line2D([], [], ls="none", marker="o", ms=4, color=GREY))
            names.insert(0, "pool")
        axes.legend(
            handles, names, loc="lower right", bbox_to_anchor=(1.02, 1.07), ncols=len(names), fontsize=9,
            frameon=False, handletextpad=0.1, columnspacing=0.9, borderaxespad=0.0, markerscale=0.9,
        )  # fmt: skip
        low, high = projection.limits
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        _quiet(axes)

    def _draw_points(self, measured: Any, values: list[float], asked: Any, answered: NDArray[np.bool_]) -> None:
        real, llm = self.projection(measured), self.projection(asked)
        self.real.set_data(real[:, 0], real[:, 1])
        self.llm.set_data(llm[answered, 0], llm[answered, 1])
        self.failed.set_data(llm[~answered, 0], llm[~answered, 1])
        at = [] if not values else [int(np.argmax(values) if self.task.scenario.maximise else np.argmin(values))]
        self.star.set_data(real[at, 0], real[at, 1])


class Projection:
    """Encoded points (n, d) → the plane (n, 2) that is drawn.

    Attributes
    ----------
    names : (str, str)
        Of the two axes, with units or the share of variance.
    pool : float64 (N, 2) or None
    limits : (low, high)
        Corners of what is shown.
    """

    def __init__(self, task: Task) -> None:
        space = task.scenario.space
        self._centre: Array = np.zeros(task.d)
        self._axes: Array = np.eye(max(task.d, 2))[: task.d, :2]
        self.pool: Array | None = None
        if task.pool is not None and task.d > 2:
            self._centre = task.pool.mean(axis=0)
            _, singular, components = np.linalg.svd(task.pool - self._centre, full_matrices=False)
            self._axes = components[:2].T
            share = singular**2 / (singular**2).sum()
            names = [f"principal component {i + 1} ({100 * share[i]:.0f} % of the pool)" for i in range(2)]
        else:
            columns = [
                f"{name}{f' ({unit})' if unit else ''}, scaled"
                for (name, unit), where in zip(space.units.items(), space.slices, strict=True)
                for _ in range(where.stop - where.start)
            ]
            names = [*columns[:2], ""][:2]
        self.names = (names[0], names[1])
        if task.pool is not None:
            self.pool = self(task.pool)
        shown = self.pool if self.pool is not None else np.array([[0.0, 0.0], [1.0, 1.0]])
        low, high = shown.min(axis=0), shown.max(axis=0)
        margin = 0.05 * np.where(high > low, high - low, 1.0)
        self.limits = (low - margin, high + margin)

    def __call__(self, x: Any) -> Array:
        projected: Array = (np.asarray(x, dtype=np.float64) - self._centre) @ self._axes
        return projected


def _quiet(axes: Any) -> None:
    axes.tick_params(labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
