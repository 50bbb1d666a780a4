"""Worlds from other people's maps: pictures, graphs, Minigrid and PointMaze."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.graph import GraphWorld
from scisuite.scenarios.nav.world import OFFSETS, GridWorld, NavWorld

MINIGRID_WALLS = ("wall", "lava")
POINTMAZE_FREE = (0, "0", "r", "g", "c")


def from_png(
    source: str | Path | NDArray[Any],
    *,
    threshold: float = 0.5,
    neighbours: Literal[4, 8] = 4,
    periodic: bool = False,
    slip: float = 0.0,
) -> GridWorld:
    """Read a map from a picture: one cell for each pixel, bright ones free.

    Parameters
    ----------
    source : path or array
        A picture that matplotlib reads, or its pixels: (H, W) or (H, W, 1 to 4), uint8 in 0 … 255 or floats in [0, 1].
        Colours are averaged; a fourth channel, or a second of two, is transparency and is left out.
    threshold : float
        Brightness in (0, 1] from which a pixel is free.
    neighbours, periodic, slip
        As in :class:`~scisuite.scenarios.nav.GridWorld`.

    Raises
    ------
    InvalidInput
        If there is no such picture, the pixels are of another shape or kind, or none is bright enough.
    """
    number = isinstance(threshold, int | float | np.number) and not isinstance(threshold, bool)
    if not (number and 0 < threshold <= 1):
        raise InvalidInput(f"threshold must be in (0, 1], not {threshold!r}")
    free = _brightness(_pixels(source)) >= threshold
    return GridWorld(free, neighbours=neighbours, periodic=periodic, slip=slip)


def from_networkx(graph: Any, *, weight: str = "weight", slip: float = 0.0) -> NavWorld:
    """Read a ``networkx`` graph, directed or not.

    A graph whose nodes are pairs of whole numbers from 0 and whose edges, all of weight 1, join neighbouring pairs (as
    those of ``networkx.grid_2d_graph``, periodic or not) becomes a :class:`~scisuite.scenarios.nav.GridWorld`: nodes
    are free cells, and an edge that is missing between two of them is a thin wall. Any other becomes a
    :class:`~scisuite.scenarios.nav.GraphWorld` with the nodes in the graph's own order, their names in ``labels`` and
    their attribute ``pos``, where it is a pair of numbers for each of them, in ``positions``.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Parallel edges add up; self-loops and edges of weight 0 are left out.
    weight : str
        Edge attribute that holds the weight; 1 where an edge has none.
    slip : float
        As in :class:`~scisuite.scenarios.nav.GridWorld`.

    Raises
    ------
    InvalidInput
        If it is no graph, has no node or no edge, or a weight is negative or not finite.
    """
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InvalidInput(f"from_networkx takes a networkx graph, not {type(graph).__name__}")
    if not len(graph):
        raise InvalidInput("the graph has no nodes")
    weights = _edge_weights(graph, weight)
    if not weights:
        raise InvalidInput("the graph has no edges")
    grid = _as_grid(set(graph), weights, slip)
    return grid if grid is not None else _as_graph(graph, weights, slip)


def from_minigrid(env: Any, *, neighbours: Literal[4, 8] = 4, slip: float = 0.0) -> GridWorld:
    """Read the present map of a Minigrid environment.

    Walls and lava are walls. Everything else is free: floor, goals, doors (locked ones too) and whatever can be picked
    up or opened, because what is asked of the world is where a navigator could go. What is cut off from the agent, such
    as the void around the rooms of MultiRoom, is wall. Minigrid's positions are (column, row): the start is
    ``env.unwrapped.agent_pos[::-1]``.

    Parameters
    ----------
    env : gymnasium.Env
        After ``reset``, which draws the map.
    neighbours, slip
        As in :class:`~scisuite.scenarios.nav.GridWorld`.

    Raises
    ------
    InvalidInput
        If it has no map, or not yet.
    """
    inner = getattr(env, "unwrapped", env)
    grid: Any = getattr(inner, "grid", None)
    drawn = getattr(inner, "agent_pos", None) is not None  # before the first reset its grid is there, but empty
    if not (drawn and all(hasattr(grid, name) for name in ("get", "width", "height"))):
        raise InvalidInput("the environment has no Minigrid map; reset it first")
    cells = [[grid.get(column, row) for column in range(grid.width)] for row in range(grid.height)]
    free = [[cell is None or cell.type not in MINIGRID_WALLS for cell in row] for row in cells]
    world = GridWorld(np.array(free, dtype=bool), neighbours=neighbours, slip=slip)
    column, row = inner.agent_pos
    reached = world.components == world.components[world.state((int(row), int(column)))]
    return GridWorld(np.isin(world.index, np.flatnonzero(reached)), neighbours=neighbours, slip=slip)


def from_pointmaze(env_or_map: Any, *, neighbours: Literal[4, 8] = 4, slip: float = 0.0) -> GridWorld:
    """Read the map of a Gymnasium-Robotics maze (PointMaze, AntMaze): 1 is a wall, 0 and the letters are free.

    Parameters
    ----------
    env_or_map : gymnasium.Env, or list of rows
        An environment with ``unwrapped.maze.maze_map``, or such a map: 1, 0, ``"r"``, ``"g"`` (where a navigator or a
        goal may be put) and ``"c"`` (both).
    neighbours, slip
        As in :class:`~scisuite.scenarios.nav.GridWorld`.

    Raises
    ------
    InvalidInput
        If there is no map, or it is empty, has rows of different lengths or an unknown entry.
    """
    maze = getattr(getattr(env_or_map, "unwrapped", None), "maze", None)
    rows = getattr(maze, "maze_map", env_or_map)
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) for row in rows):
        raise InvalidInput(f"a maze map is a list of rows, or an environment that has one, not {type(rows).__name__}")
    if not rows or not rows[0]:
        raise InvalidInput("the map is empty")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise InvalidInput(f"row {number} of the maze map has {len(row)} entries, but row 0 has {len(rows[0])}")
        for column, entry in enumerate(row):
            if entry not in (1, "1", *POINTMAZE_FREE):
                where = f"entry {entry!r} in row {number}, column {column} of the maze map"
                raise InvalidInput(f"unknown {where}; known: 1 wall, 0, 'r', 'g' and 'c' free")
    free = np.array([[entry in POINTMAZE_FREE for entry in row] for row in rows], dtype=bool)
    return GridWorld(free, neighbours=neighbours, slip=slip)


def _pixels(source: Any) -> NDArray[Any]:
    if not isinstance(source, str | Path):
        return np.asarray(source)
    from matplotlib.image import imread

    try:
        return np.asarray(imread(source))
    except (OSError, ValueError, SyntaxError) as error:
        raise InvalidInput(f"cannot read {source} as a picture: {error}") from None


def _brightness(pixels: NDArray[Any]) -> NDArray[np.float64]:
    """float64 (H, W) in [0, 1]."""
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and not 1 <= pixels.shape[2] <= 4):
        raise InvalidInput(f"a picture has shape (H, W) or (H, W, 1 to 4), not {pixels.shape}")
    if not pixels.size:
        raise InvalidInput("the picture is empty")
    if pixels.dtype == np.uint8:
        scaled = pixels / 255.0
    elif np.issubdtype(pixels.dtype, np.floating) or pixels.dtype == np.bool_:
        scaled = pixels.astype(np.float64)
    else:
        raise InvalidInput(f"pixels must be uint8 in 0 ... 255 or floats in [0, 1], not {pixels.dtype}")
    if not ((scaled >= 0) & (scaled <= 1)).all():
        raise InvalidInput("pixels given as floats must lie in [0, 1]")
    if scaled.ndim == 3:
        colours = 1 if scaled.shape[2] == 2 else min(scaled.shape[2], 3)
        return np.asarray(scaled[:, :, :colours].mean(axis=2))
    return scaled


def _edge_weights(graph: Any, attribute: str) -> dict[tuple[Hashable, Hashable], float]:
    """Total weight of every move, both ways for an undirected edge."""
    weights: dict[tuple[Hashable, Hashable], float] = {}
    for one, other, data in graph.edges(data=True):
        value = data.get(attribute, 1)
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and np.isfinite(value) and value >= 0):
            wrong = f"edge ({one!r}, {other!r}) has weight {value!r}"
            raise InvalidInput(f"{wrong}; a weight must be finite and not negative")
        if one == other or value == 0:
            continue
        for move in [(one, other)] if graph.is_directed() else [(one, other), (other, one)]:
            weights[move] = weights.get(move, 0.0) + float(value)
    return weights


def _as_graph(graph: Any, weights: dict[tuple[Hashable, Hashable], float], slip: float) -> GraphWorld:
    from scipy.sparse import coo_array

    nodes = tuple(graph)
    number = {node: k for k, node in enumerate(nodes)}
    row, column = [number[one] for one, _ in weights], [number[other] for _, other in weights]
    W = coo_array((list(weights.values()), (row, column)), shape=(len(nodes), len(nodes)))
    return GraphWorld(W, positions=_places(graph, nodes), labels=nodes, slip=slip)


def _places(graph: Any, nodes: tuple[Hashable, ...]) -> NDArray[np.float64] | None:
    """The nodes' attribute ``pos``, or ``None`` unless each of them has a pair of finite numbers there."""
    try:
        places = np.array([graph.nodes[node].get("pos") for node in nodes], dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return places if places.shape == (len(nodes), 2) and np.isfinite(places).all() else None


def _as_grid(nodes: set[Any], weights: dict[tuple[Any, Any], float], slip: float) -> GridWorld | None:
    """The graph as a map, or ``None`` where it is none."""
    if not all(_is_cell(node) for node in nodes) or any(value != 1 for value in weights.values()):
        return None
    height, width = (1 + max(node[axis] for node in nodes) for axis in (0, 1))
    steps = {step: action for action, step in enumerate(map(tuple, OFFSETS[:4].tolist()))}
    periodic = not all((b[0] - a[0], b[1] - a[1]) in steps for a, b in weights)
    if periodic and min(height, width) < 3:
        return None  # two actions would then lead to the same cell, which one edge does not tell apart
    free = np.zeros((height, width), dtype=bool)
    free[tuple(np.array(sorted(nodes)).T)] = True
    closed = np.repeat(free[:, :, None], 4, axis=2)
    for one, other in weights:
        down, along = other[0] - one[0], other[1] - one[1]
        if periodic:
            down, along = (down + 1) % height - 1, (along + 1) % width - 1
        if (down, along) not in steps:
            return None
        closed[one[0], one[1], steps[down, along]] = False
    return GridWorld(free, periodic=periodic, closed=_needed(free, closed, periodic), slip=slip)


def _needed(free: NDArray[np.bool_], closed: NDArray[np.bool_], periodic: bool) -> NDArray[np.bool_]:
    """``closed`` without the moves that end at a wall anyway."""
    world = GridWorld(free, periodic=periodic)
    needed = np.zeros_like(closed)
    needed[free] = closed[free] & world.open_moves
    return needed


def _is_cell(node: Any) -> bool:
    whole = isinstance(node, tuple) and len(node) == 2 and all(type(part) is int for part in node)
    return whole and min(node) >= 0
