"""A picture of an episode of ``sci/CRNReduce-v0``: the graph that is left, and the size of its network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.envs.crn_reduce.board import Board, members

WIDTH, HEIGHT, DPI = 900, 600, 100

VARIABLE, KEPT, FACTOR, LINE, GONE = "#56B4E9", "#E69F00", "#4D4D4D", "#8C8C8C", "#D9D9D9"
"""Okabe and Ito's colours and greys; variables, kept ones and factors differ in their shapes, too."""

GRAPH_AREA = (0.01, 0.09, 0.62, 0.82)
SIZE_AREA = (0.73, 0.40, 0.25, 0.47)

MOST_LABELS = 48
"""Nodes up to which names and sizes are written into them."""

Place = NDArray[np.float64]


class Viewer:
    """Draws the episodes of one environment; variables keep their places, merged factors move to what they hold."""

    def __init__(self) -> None:
        self._first: Board | None = None
        self._places: dict[str, Place] = {}

    def draw(self, first: Board, board: Board, sizes: Sequence[int]) -> NDArray[np.uint8]:
        """The frame, uint8 (600, 900, 3).

        Parameters
        ----------
        first, board : Board
            The board that the episode began with, and that of now.
        sizes : sequence of int
            Species and reactions at the start and after each move.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        if self._first is not first:
            self._first, self._places = first, _layout(first)
        figure = Figure(figsize=(WIDTH / DPI, HEIGHT / DPI), dpi=DPI)
        canvas: Any = FigureCanvasAgg(figure)
        self._draw_graph(figure.add_axes(GRAPH_AREA), first, board)
        _draw_sizes(figure.add_axes(SIZE_AREA), sizes)
        _write(figure, board, sizes, labelled=len(self._places) <= MOST_LABELS)
        canvas.draw()
        return np.ascontiguousarray(np.asarray(canvas.buffer_rgba())[..., :3])

    def _draw_graph(self, axes: Any, first: Board, board: Board) -> None:
        axes.set_axis_off()
        every = np.array(list(self._places.values()))
        low, high = every.min(axis=0), every.max(axis=0)
        margin = 0.07 * np.maximum(high - low, 0.1)
        axes.set_xlim(low[0] - margin[0], high[0] + margin[0])
        axes.set_ylim(low[1] - margin[1], high[1] + margin[1])
        labelled = len(every) <= MOST_LABELS
        area = min(420.0, 13_000 / len(every))
        gone = [self._of_variable(v) for v in members(first.alive & ~board.alive)]
        gone_factors = [self._places[f"f{i}"] for i, scope in enumerate(board.scopes) if not scope]
        for places, shape in ((gone, "o"), (gone_factors, "s")):
            if places:
                axes.scatter(*np.array(places).T, s=area * 0.3, marker=shape, fc="white", ec=GONE, lw=1.2, zorder=1)
        middles = self._of_factors(board, 0.085 * float((high - low).max()))
        for place, at in middles.items():
            scope = board.scopes[place]
            for v in members(scope):
                axes.plot(*np.array([at, self._of_variable(v)]).T, color=LINE, lw=1.4, zorder=2)
            size = area * (0.55 + 0.12 * math.log2(board.entries[place]))
            axes.scatter(*at, s=size, marker="s", fc=FACTOR, ec="white", lw=1.0, zorder=3)
            if labelled:
                self._label(axes, at, str(board.entries[place]), "white")
        for v in board.holders:
            at = self._of_variable(v)
            kept = bool(board.keep >> v & 1)
            axes.scatter(
                *at, s=area * 1.1, fc=KEPT if kept else VARIABLE, ec="black", lw=2.6 if kept else 1.0, zorder=4
            )
            if labelled:
                self._label(axes, at, str(board.card[v]), "black")

    def _label(self, axes: Any, at: Place, text: str, colour: str) -> None:
        axes.text(*at, text, size=9, ha="center", va="center", color=colour, weight="bold", zorder=5)

    def _of_variable(self, v: int) -> Place:
        return self._places[f"v{v}"]

    def _of_factors(self, board: Board, apart: float) -> dict[int, Place]:
        """Between what a factor is made of and what it holds, off what it would cover; a single one where it began."""
        found: dict[int, Place] = {}
        variables = [self._of_variable(v) for v in board.holders]
        for place, scope in enumerate(board.scopes):
            if scope:
                sources = list(members(board.sources[place]))
                at: Place = np.mean([self._places[f"f{i}"] for i in sources], axis=0)
                if len(sources) > 1:
                    at = (at + np.mean([self._of_variable(v) for v in members(scope)], axis=0)) / 2
                    at = _pushed_off(at, np.array([*variables, *found.values()]), apart)
                found[place] = at
        return found


def _pushed_off(at: Place, others: NDArray[np.float64], apart: float) -> Place:
    """A place near ``at`` that is ``apart`` from all ``others``, if a few steps away from the nearest lead to one."""
    for _ in range(12):
        away = at - others
        distances = np.hypot(*away.T)
        nearest = int(distances.argmin())
        if distances[nearest] >= apart:
            break
        direction = away[nearest] if distances[nearest] > 1e-9 else np.array([0.0, 1.0])
        at = others[nearest] + 1.05 * apart * direction / np.hypot(*direction)
    return at


def _layout(board: Board) -> dict[str, Place]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(f"v{v}" for v in members(board.alive))
    for place, scope in enumerate(board.scopes):
        graph.add_node(f"f{place}")
        graph.add_edges_from((f"f{place}", f"v{v}") for v in members(scope))
    parts = [graph.subgraph(nodes) for nodes in nx.connected_components(graph)]
    places: dict[str, Place] = {}
    left = 0.0
    for part in sorted(parts, key=len, reverse=True):
        found = nx.kamada_kawai_layout(part) if len(part) > 1 else {next(iter(part)): np.zeros(2)}
        width = math.sqrt(len(part))
        places |= {node: np.array([left + width * (1 + xy[0]), width * xy[1]]) for node, xy in found.items()}
        left += 2 * width + 0.8
    return places


def _draw_sizes(axes: Any, sizes: Sequence[int]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.plot(range(len(sizes)), sizes, color="#0072B2", lw=2, marker="o", ms=4)
    axes.set_ylim(0, 1.08 * max(sizes))
    axes.set_xlim(-0.5, max(len(sizes) - 0.5, 4.5))
    axes.set_xlabel("move", size=10)
    axes.set_ylabel("species + reactions", size=10)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.tick_params(labelsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#E6E6E6", lw=0.8)


def _write(figure: Any, board: Board, sizes: Sequence[int], labelled: bool) -> None:
    largest = max(board.entries, default=0)
    saved, moves = 1 - sizes[-1] / sizes[0], len(sizes) - 1
    figure.text(0.02, 0.945, "factor graph", size=13, weight="bold", va="center")
    figure.text(0.73, 0.945, f"{saved:.0%} smaller after {moves} move{'s' * (moves != 1)}", size=11, va="center")
    lines = [
        f"species  {board.species:,}",
        f"reactions  {board.reactions:,}",
        f"molecularity  {board.molecularity}{_cap(board.molecularity, board.max_molecularity)}",
        f"largest table  {largest:,}{_cap(largest, board.max_table)}",
    ]
    for i, line in enumerate(lines):
        figure.text(0.73, 0.255 - 0.05 * i, line, size=10.5, va="center")
    keys = [
        (0.01, "o", VARIABLE, 1.0, "variable (values)" if labelled else "variable"),
        *([(0.31, "o", KEPT, 2.4, "to keep")] if board.keep else []),
        (0.48, "s", FACTOR, 1.0, "factor (table entries)" if labelled else "factor"),
        (0.84, "o", "white", 1.2, "gone"),
    ]
    axes = figure.add_axes((0.02, 0.015, 0.62, 0.05))
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(-1, 1)
    for x, shape, colour, width, text in keys:
        edge = GONE if text == "gone" else "black"
        axes.scatter([x], [0], s=90, marker=shape, fc=colour, ec=edge, lw=width, clip_on=False)
        axes.text(x + 0.025, 0, text, size=10, va="center")


def _cap(value: int, cap: int | None) -> str:
    if cap is None:
        return ""
    # No move takes it above the cap; what began there may stay.
    return f"  (began above {cap:,})" if value > cap else f"  (cap {cap:,})"
