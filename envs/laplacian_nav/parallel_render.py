"""A picture of several navigators on their way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.nav import GridWorld

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#595959")
"""Okabe and Ito's, which people with any colour vision tell apart; every navigator and its goal bear a number, too."""

WALL, FLOOR, LINES = "#3A3A3A", "#FFFFFF", "#E4E4E4"
TRAIL = 30  # cells of its way that are drawn
DPI, HEADER, LONGER_SIDE, SHORTEST_SIDE = 100, 40, 640, 360


class Viewer:
    """Draws the episodes in one world; the figure and everything in it that stays is made once.

    A disc is a navigator, the square of its colour and number its goal, the line its last steps. A disc with a red
    rim could not make its last move because of another; a pale square is a goal that has been reached.

    Parameters
    ----------
    world : GridWorld
    n_agents : int
    """

    def __init__(self, world: GridWorld, n_agents: int) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.world = world
        height, width = world.shape
        cell = max(LONGER_SIDE // max(height, width), 4)
        across, down = max(cell * width, SHORTEST_SIDE), cell * height + HEADER
        across, down = across + across % 2, down + down % 2  # video codecs want even numbers
        figure = Figure(figsize=(across / DPI, down / DPI), dpi=DPI)
        self.canvas = FigureCanvasAgg(figure)
        left = (across - cell * width) / 2 / across
        self.axes = figure.add_axes((left, 0.0, cell * width / across, cell * height / down))
        self.header = figure.text(8 / across, 1 - HEADER / 2 / down, "", size=11, va="center")
        self._cell_points = cell * 72 / DPI
        self._draw_map()
        self.navigators = [self._navigator(i) for i in range(n_agents)]

    def draw(
        self,
        paths: Sequence[Sequence[int]],
        goals: Sequence[int],
        under_way: Sequence[bool],
        cancelled: Sequence[bool],
    ) -> NDArray[np.uint8]:
        """The frame, uint8 (H, W, 3).

        Parameters
        ----------
        paths : n_agents sequences of states
            Where each navigator has been since the start, last where it is.
        goals : n_agents states
        under_way : n_agents bools
        cancelled : n_agents bools
            Whose last move was cancelled because of another.
        """
        for navigator, path, goal, going, stopped in zip(
            self.navigators, paths, goals, under_way, cancelled, strict=True
        ):
            self._place(navigator, path, goal, going, stopped)
        step = max(len(path) for path in paths) - 1
        self.header.set_text(f"step {step}      {len(goals) - sum(under_way)} of {len(goals)} at their goal")
        canvas: Any = self.canvas
        canvas.draw()
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])

    def _draw_map(self) -> None:
        from matplotlib.colors import ListedColormap

        height, width = self.world.shape
        axes = self.axes
        axes.imshow(self.world.free, cmap=ListedColormap([WALL, FLOOR]), vmin=0, vmax=1, interpolation="nearest")
        axes.hlines(np.arange(1, height) - 0.5, -0.5, width - 0.5, color=LINES, lw=0.6, zorder=1)
        axes.vlines(np.arange(1, width) - 0.5, -0.5, height - 0.5, color=LINES, lw=0.6, zorder=1)
        axes.set_xlim(-0.5, width - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
        axes.set_axis_off()

    def _navigator(self, i: int) -> dict[str, Any]:
        """What one navigator is drawn with."""
        axes, size, colour = self.axes, self._cell_points, COLOURS[i % len(COLOURS)]
        (way,) = axes.plot([], [], color=colour, lw=0.16 * size, alpha=0.45, solid_capstyle="round", zorder=2)
        (goal,) = axes.plot([], [], ls="none", marker="s", ms=0.74 * size, mfc="none", mec=colour, mew=0.14 * size)
        (disc,) = axes.plot([], [], ls="none", marker="o", ms=0.84 * size, mfc=colour, mew=0.1 * size, zorder=5)
        goal.set_zorder(4)
        text: dict[str, Any] = {"ha": "center", "va": "center_baseline", "size": 0.44 * size, "weight": "bold"}
        on_disc = axes.text(0, 0, str(i), color="black" if _is_bright(colour) else "white", zorder=6, **text)
        on_goal = axes.text(0, 0, str(i), color="black", zorder=4, **text)
        return {"way": way, "goal": goal, "disc": disc, "on_disc": on_disc, "on_goal": on_goal}

    def _place(self, drawn: dict[str, Any], path: Sequence[int], goal: int, going: bool, stopped: bool) -> None:
        rows, columns = self.world.xy[goal]
        drawn["goal"].set_data([columns], [rows])
        drawn["on_goal"].set_position((columns, rows))
        drawn["goal"].set_alpha(1.0 if going else 0.3)
        drawn["on_goal"].set_alpha(1.0 if going else 0.3)
        way = _without_jumps(self.world.xy[list(path[-TRAIL:])].astype(np.float64))
        drawn["way"].set_data(way[:, 1], way[:, 0])
        row, column = self.world.xy[path[-1]]
        drawn["disc"].set_data([column], [row])
        drawn["disc"].set_markeredgecolor("#CC0000" if stopped else "black")
        drawn["on_disc"].set_position((column, row))
        for name in ("disc", "on_disc"):
            drawn[name].set_visible(going)


def _without_jumps(way: NDArray[np.float64]) -> NDArray[np.float64]:
    """The way (k, 2) with a gap wherever it leaves a torus on one side and enters on the other."""
    jumps = np.flatnonzero(np.abs(np.diff(way, axis=0)).max(axis=1, initial=0.0) > 1.5) + 1
    return np.insert(way, jumps, np.nan, axis=0)


def _is_bright(colour: str) -> bool:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140
