"""A picture of an episode of ``sci/LaplacianNav-v0``: the potential of its goal, the path so far, and eigenmodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.envs.laplacian_nav.layout import Layout
from scisuite.envs.laplacian_nav.task import Task
from scisuite.scenarios.nav import GridWorld, NavWorld

WIDTH, HEIGHT, DPI = 900, 600, 100

WALL, PATH, START, GOAL = "#D4D4D4", "#D55E00", "#FFFFFF", "#CC79A7"
"""Walls grey, the rest Okabe and Ito's colours; start, goal and navigator differ in their shapes, too."""

POTENTIAL_COLOURS, MODE_COLOURS = "viridis", "RdBu_r"

N_MODES = 6
MOST_STATES = 20_000
"""In a larger world the eigenmodes, which take longer than the potential, are left out."""

LONGEST = 4
"""How many times as long as wide an eigenmode is drawn at most."""

MAP_AREA = (0.02, 0.085, 0.565, 0.80)
BAR_AREA = (0.602, 0.085, 0.014, 0.80)
MODES_LEFT, MODES_WIDTH, MODES_BOTTOM, MODES_HEIGHT, MODES_APART = 0.72, 0.128, 0.085, 0.195, 0.28


class Viewer:
    """Draws the episodes of one environment; what stays in an episode is drawn once and kept as a picture.

    Left: the map, coloured by log(G(x, g) / G(g, g)), with start, goal, navigator and path. Right: the smoothest
    eigenmodes of the Laplacian.

    Parameters
    ----------
    task : Task
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        name = getattr(task.source, "id", "").rpartition("/")[2]
        self.name = name or ("map" if task.shape is not None else "graph")
        self.canvas: Any = None
        self._background: Any = None
        self._shown: tuple[Layout, int, int] | None = None
        self._modes: tuple[Layout, int, Any, Any] | None = None

    def draw(self, layout: Layout, goal: int, path: Sequence[int], shortest: int, most_steps: int) -> NDArray[np.uint8]:
        """The frame, uint8 (600, 900, 3).

        Parameters
        ----------
        layout : Layout
        goal : int
        path : sequence of int
            States from the start to where the navigator is.
        shortest, most_steps : int
            Moves of a shortest path, and steps after which the episode is truncated.
        """
        if self._shown is None or self._shown[0] is not layout or self._shown[1:] != (goal, path[0]):
            self._draw_background(layout, goal, path[0])
            self._shown = (layout, goal, path[0])
        self.canvas.restore_region(self._background)
        rows, columns = _unbroken(layout.world, path)
        self.outline.set_data(columns, rows)
        self.line.set_data(columns, rows)
        self.navigator.set_data(columns[-1:], rows[-1:])
        state = "arrived" if path[-1] == goal else "truncated" if len(path) > most_steps else ""
        self.counter.set_text(f"{state}   step {len(path) - 1} of {most_steps}   shortest path {shortest}".lstrip())
        for artist in (self.outline, self.line, self.navigator):
            self.axes.draw_artist(artist)
        self.figure.draw_artist(self.counter)
        return np.ascontiguousarray(np.asarray(self.canvas.buffer_rgba())[..., :3])

    def _draw_background(self, layout: Layout, goal: int, start: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        world = layout.world
        self.figure = figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        canvas: Any = FigureCanvasAgg(figure)
        self.canvas = canvas
        self.axes = figure.add_axes(MAP_AREA)
        figure.text(0.02, 0.945, self.name, size=13, weight="bold", va="center")
        self.counter = figure.text(0.585, 0.945, "", size=11, va="center", ha="right", animated=True)
        figure.text(MODES_LEFT, 0.945, "eigenmodes of L", size=11, va="center")
        field = np.array(layout.potentials.column(goal))
        field[world.distances([goal])[0] < 0] = np.nan
        painted = _paint(self.axes, world, field, POTENTIAL_COLOURS, float(np.nanmin(field)), 0.0)
        bar = figure.colorbar(painted, cax=figure.add_axes(BAR_AREA))
        bar.set_label(f"log G(x, g) / G(g, g)   (nats, ε = {self.task.eps:g})", size=10, labelpad=7)
        bar.ax.tick_params(labelsize=9)
        bar.outline.set_visible(False)
        _mark_doors(self.axes, world)
        self._place_marks(world, goal, start)
        self._draw_modes(layout, goal)
        canvas.draw()
        self._background = canvas.copy_from_bbox(figure.bbox)

    def _place_marks(self, world: NavWorld, goal: int, start: int) -> None:
        axes, size = self.axes, _mark_size(world)
        row, column = world.xy[goal]
        axes.plot([column], [row], ls="none", marker="*", ms=1.9 * size, mfc=GOAL, mec="black", mew=0.9, label="goal")
        row, column = world.xy[start]
        axes.plot([column], [row], ls="none", marker="s", ms=size, mfc=START, mec="black", mew=1.2, label="start")
        width = max(1.2, 0.26 * size)
        (self.outline,) = axes.plot([], [], color="white", lw=2.0 * width, solid_capstyle="round", animated=True)
        (self.line,) = axes.plot([], [], color=PATH, lw=width, solid_capstyle="round", animated=True, label="path")
        (self.navigator,) = axes.plot(
            [], [], ls="none", marker="o", ms=1.05 * size, mfc=PATH, mec="white", mew=1.4, animated=True,
            label="navigator",
        )  # fmt: skip
        handles: list[Any]
        handles, names = axes.get_legend_handles_labels()
        legend = axes.legend(
            handles, names, loc="upper left", bbox_to_anchor=(0.012, 0.075), ncols=4, fontsize=10, frameon=False,
            bbox_transform=self.figure.transFigure, handletextpad=0.4, columnspacing=1.6, borderaxespad=0.0,
        )  # fmt: skip
        handles = list(legend.legend_handles)
        for handle in handles:
            handle.set_animated(False)
            if handle.get_marker() not in ("None", None, ""):
                handle.set_markersize({"*": 13}.get(handle.get_marker(), 8))

    def _draw_modes(self, layout: Layout, goal: int) -> None:
        world = layout.world
        reason = ""
        if not world.is_symmetric:
            reason = "none: with one-way doors\nL is not symmetric"
        elif world.n > MOST_STATES:
            reason = f"left out above\n{MOST_STATES:,} states"
        if reason:
            self.figure.text(MODES_LEFT, 0.85, reason, size=10, va="top", color="#333333")
            return
        values, modes = self._modes_of(layout, goal)
        for k in range(modes.shape[1]):
            left = MODES_LEFT + (k % 2) * (MODES_WIDTH + 0.015)
            bottom = MODES_BOTTOM + (2 - k // 2) * MODES_APART
            axes = self.figure.add_axes((left, bottom, MODES_WIDTH, MODES_HEIGHT))
            most = float(np.nanmax(np.abs(modes[:, k])))
            _paint(axes, world, modes[:, k], MODE_COLOURS, -most, most)
            _fit(axes, world)
            axes.set_title(rf"$\varphi_{k + 1}$   $\lambda$ = {values[k]:.2g}", size=9.5, pad=3)

    def _modes_of(self, layout: Layout, goal: int) -> tuple[Any, Any]:
        """Eigenvalues (k,) and modes (n, k), the constant one left out; NaN where no path leads to the goal."""
        component = int(layout.world.components[goal])
        if self._modes is None or self._modes[0] is not layout or self._modes[1] != component:
            from scisuite.solvers.laplacian_nav import eigenmodes, laplacian

            inside = np.flatnonzero(layout.world.components == component)
            values, found = eigenmodes(laplacian(layout.world.W[inside][:, inside]), min(N_MODES + 1, len(inside)))
            modes = np.full((layout.n, len(values) - 1), np.nan)
            modes[inside] = found[:, 1:]
            self._modes = (layout, component, values[1:], modes)
        return self._modes[2], self._modes[3]


def _paint(axes: Any, world: NavWorld, values: Any, colours: str, low: float, high: float) -> Any:
    """Colour the states by ``values`` (n,); NaN is left in the colour of walls."""
    import matplotlib

    palette = matplotlib.colormaps[colours].with_extremes(bad=WALL)
    axes.set_xticks([])
    axes.set_yticks([])
    if isinstance(world, GridWorld):
        axes.spines[:].set_linestyle((0, (4, 3)) if world.periodic else "-")
        shown = world.to_map(values)
        return axes.imshow(shown, cmap=palette, vmin=low, vmax=high, interpolation="nearest")
    from matplotlib.collections import LineCollection

    places = world.xy[:, ::-1]
    state, action = np.nonzero(world.open_moves)
    ends: Any = np.stack((places[state], places[world.moves[state, action]]), axis=1)
    axes.add_collection(LineCollection(ends, colors=WALL, linewidths=1.0, zorder=0))
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.margins(0.06)
    size = np.clip(25_000 * axes.get_position().width / world.n, 4, 200)
    return axes.scatter(
        places[:, 0], places[:, 1], c=values, s=size, cmap=palette, vmin=low, vmax=high, plotnonfinite=True, lw=0
    )


def _fit(axes: Any, world: NavWorld) -> None:
    """Stretch the cells of a map that is longer than :data:`LONGEST` times its width, or it would be a hairline."""
    if isinstance(world, GridWorld) and max(world.shape) > LONGEST * min(world.shape):
        height, width = world.shape
        axes.set_aspect(width / height / LONGEST if width > height else width * LONGEST / height)


def _mark_doors(axes: Any, world: NavWorld) -> None:
    """Thin walls as lines, and one-way moves as triangles that point where they lead."""
    if not isinstance(world, GridWorld) or world.closed is None:
        return
    for action in (1, 2):
        # Actions 1 (right) and 2 (down) meet each pair of neighbours once; 3 and 0 lead back.
        back = (action + 2) % 4
        step = np.array([0.0, 0.5]) if action == 1 else np.array([0.5, 0.0])
        along = GridWorld(world.free, periodic=world.periodic).moves[:, action]
        beside = np.flatnonzero(along != np.arange(world.n))
        forth = world.moves[beside, action] == along[beside]
        returns = world.moves[along[beside], back] == beside
        middle = world.xy[beside] + step
        thin = middle[~forth & ~returns]
        half = step[::-1]
        for row, column in thin:
            axes.plot([column - half[1], column + half[1]], [row - half[0], row + half[0]], color="black", lw=2)
        leads = ">" if action == 1 else "v"
        for one, shape in ((forth & ~returns, leads), (returns & ~forth, {">": "<", "v": "^"}[leads])):
            axes.plot(middle[one, 1], middle[one, 0], ls="none", marker=shape, ms=6, mfc="white", mec="black", mew=0.8)


def _mark_size(world: NavWorld) -> float:
    """Size of a mark in points: two thirds of a cell, but never so small or large that it is hard to see."""
    across = max(world.shape) if isinstance(world, GridWorld) else max(8.0, 2.0 * np.sqrt(world.n))
    return float(np.clip(0.62 * 480 / across * 72 / DPI, 6.5, 13.0))


def _unbroken(world: NavWorld, path: Sequence[int]) -> tuple[Any, Any]:
    """Rows and columns of a path, with a gap where it leaves the map on one side and enters it on the other."""
    places = world.xy[np.asarray(path)].astype(np.float64)
    if isinstance(world, GridWorld) and world.periodic:
        jumps = np.flatnonzero((np.abs(np.diff(places, axis=0)) > 1).any(axis=1)) + 1
        places = np.insert(places, jumps, np.nan, axis=0)
    return places[:, 0], places[:, 1]
