"""Worlds from pictures, graphs, Minigrid and PointMaze."""

from __future__ import annotations

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.nav import (
    GraphWorld,
    GridWorld,
    from_minigrid,
    from_networkx,
    from_png,
    from_pointmaze,
    layouts,
)

ROOM = np.array([[1, 1, 0], [0, 1, 1]], dtype=bool)


# --- pictures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pixels",
    [
        ROOM,
        ROOM.astype(np.float32),
        ROOM * np.uint8(255),
        np.where(ROOM, 0.5, 0.49),
        np.repeat(ROOM[:, :, None] * np.uint8(200), 3, axis=2),
        np.dstack([ROOM, ROOM, ROOM, np.ones_like(ROOM)]).astype(float),
        np.dstack([ROOM, np.zeros_like(ROOM)]).astype(float),
        ROOM[:, :, None].astype(float),
    ],
)
def test_bright_pixels_are_free(pixels):
    assert np.array_equal(from_png(pixels).free, ROOM)


def test_a_picture_file_its_threshold_and_the_kind_of_moves(tmp_path):
    from matplotlib.image import imsave

    path = tmp_path / "map.png"
    imsave(path, np.where(ROOM, 0.7, 0.2), cmap="gray", vmin=0, vmax=1)
    for source in (path, str(path)):
        assert np.array_equal(from_png(source).free, ROOM)
    assert from_png(path, threshold=0.1).n == 6
    world = from_png(path, neighbours=8, periodic=True, slip=0.5)
    assert (world.neighbours, world.periodic, world.slip) == (8, True, 0.5)


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.zeros((2, 2)), "the map has no free cell"),
        (np.zeros((0, 2)), "the picture is empty"),
        (np.zeros(3), "a picture has shape (H, W) or (H, W, 1 to 4), not (3,)"),
        (np.zeros((2, 2, 5)), "a picture has shape (H, W) or (H, W, 1 to 4), not (2, 2, 5)"),
        (np.ones((2, 2), int), "pixels must be uint8 in 0 ... 255 or floats in [0, 1], not int64"),
        (np.full((2, 2), 255.0), "pixels given as floats must lie in [0, 1]"),
        (np.full((2, 2), np.nan), "pixels given as floats must lie in [0, 1]"),
        (None, "a picture has shape (H, W) or (H, W, 1 to 4), not ()"),
    ],
)
def test_bad_pixels(pixels, message):
    with pytest.raises(InvalidInput) as caught:
        from_png(pixels)
    assert str(caught.value) == message


def test_no_picture(tmp_path):
    with pytest.raises(InvalidInput, match="cannot read .*nothing.png as a picture"):
        from_png(tmp_path / "nothing.png")
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(InvalidInput, match="cannot read .*text.png as a picture"):
        from_png(tmp_path / "text.png")


@pytest.mark.parametrize("threshold", [0, 1.1, float("nan"), True, "half"])
def test_bad_threshold(threshold):
    with pytest.raises(InvalidInput) as caught:
        from_png(ROOM, threshold=threshold)
    assert str(caught.value) == f"threshold must be in (0, 1], not {threshold!r}"


# --- graphs --------------------------------------------------------------------------------------------------------


def test_a_graph_keeps_its_order_names_weights_and_places():
    graph = nx.Graph()
    graph.add_node("c", pos=(0, 1))
    graph.add_node("a", pos=(2, 3))
    graph.add_node("b", pos=(4, 5))
    graph.add_edge("a", "c", weight=2.5)
    graph.add_edge("a", "b")
    graph.add_edge("b", "b", weight=9)
    graph.add_edge("b", "c", weight=0)
    world = from_networkx(graph, slip=0.1)
    assert isinstance(world, GraphWorld)
    assert world.labels == ("c", "a", "b")
    assert world.W.toarray().tolist() == [[0, 2.5, 0], [2.5, 0, 1], [0, 1, 0]]
    assert world.xy.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert world.slip == 0.1
    assert world.name(1) == "node 'a'"


@pytest.mark.parametrize("place", [None, "here", (0, 0, 0), (0, float("nan")), 1.0])
def test_without_a_pair_for_each_of_them_nodes_lie_on_a_circle(place):
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {0: (0, 0), 1: (0, 1), 2: (1, 0), 3: place}, "pos")
    assert from_networkx(graph).positions is None


def test_directed_and_parallel_edges():
    directed = nx.MultiDiGraph([("a", "b"), ("a", "b"), ("b", "c"), ("c", "a")])
    world = from_networkx(directed)
    assert world.W.toarray().tolist() == [[0, 2, 0], [0, 0, 1], [1, 0, 0]]
    assert not world.is_symmetric
    assert from_networkx(nx.Graph([(0, 1, {"length": 3.0})]), weight="length").W[0, 1] == 3


@given(st.integers(0, 2**32), st.integers(3, 8))
def test_distances_on_any_graph_are_those_of_networkx(seed, n):
    graph = nx.gnp_random_graph(n, 0.4, seed=seed, directed=True)
    graph.add_edge(0, 1)
    world = from_networkx(graph)
    for goal in range(n):
        expected = nx.single_target_shortest_path_length(graph, goal)
        assert world.distances([goal])[0].tolist() == [dict(expected).get(state, -1) for state in range(n)]


@pytest.mark.parametrize("periodic", [False, True])
def test_a_grid_graph_is_a_map(periodic):
    world = from_networkx(nx.grid_2d_graph(3, 4, periodic=periodic))
    assert isinstance(world, GridWorld)
    assert np.array_equal(world.moves, GridWorld(np.ones((3, 4), bool), periodic=periodic).moves)
    assert world.closed is None


def test_missing_nodes_are_walls_and_missing_edges_thin_walls():
    graph = nx.grid_2d_graph(3, 3)
    graph.remove_node((1, 1))
    graph.remove_edge((0, 0), (0, 1))
    world = from_networkx(graph)
    assert isinstance(world, GridWorld)
    assert not world.free[1, 1]
    assert world.distances([world.state((0, 0))])[0, world.state((0, 1))] == 7
    assert world.is_symmetric


@given(arrays(bool, (4, 5)).filter(lambda free: free[0, :2].all()), st.integers(0, 2**32), st.booleans())
def test_a_map_through_networkx_and_back(free, seed, directed):
    """Every open move an edge, some of them lost; reading the graph gives the same moves."""
    rng = np.random.default_rng(seed)
    whole = GridWorld(free)
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(whole.cell(state) for state in range(whole.n))
    graph.add_edge((0, 0), (0, 1))
    for state, action in np.argwhere(whole.open_moves):
        if rng.random() < 0.5:
            graph.add_edge(whole.cell(state), whole.cell(whole.moves[state, action]))
    world = from_networkx(graph)
    assert isinstance(world, GridWorld)
    found = {
        (world.cell(state), world.cell(world.moves[state, action])) for state, action in np.argwhere(world.open_moves)
    }
    assert found == set(graph.to_directed().edges)


def test_pairs_that_are_no_grid_become_a_graph():
    for edges in (
        [((0, 0), (1, 1))],
        [((0, 0), (0, 2)), ((0, 0), (0, 1)), ((3, 3), (0, 0))],
        [((0, 0), (0, -1))],
        [((0, 0), (0, 1), {"weight": 2})],
        [((0, 0), (0.0, 1.5))],
        [((0, 0), (0, 4)), ((0, 0), (0, 1))],
    ):
        assert isinstance(from_networkx(nx.Graph(edges)), GraphWorld)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph(), "the graph has no nodes"),
        (nx.empty_graph(3), "the graph has no edges"),
        (nx.Graph([(0, 0)]), "the graph has no edges"),
        (nx.Graph([(0, 1, {"weight": 0})]), "the graph has no edges"),
        (
            nx.Graph([("a", "b", {"weight": -1})]),
            "edge ('a', 'b') has weight -1; a weight must be finite and not negative",
        ),
        (
            nx.Graph([("a", "b", {"weight": float("nan")})]),
            "edge ('a', 'b') has weight nan; a weight must be finite and not negative",
        ),
        (
            nx.Graph([("a", "b", {"weight": "far"})]),
            "edge ('a', 'b') has weight 'far'; a weight must be finite and not negative",
        ),
        ([[0, 1]], "from_networkx takes a networkx graph, not list"),
    ],
)
def test_bad_graphs(graph, message):
    with pytest.raises(InvalidInput) as caught:
        from_networkx(graph)
    assert str(caught.value) == message


# --- Minigrid ------------------------------------------------------------------------------------------------------


def test_a_minigrid_map_by_its_interface():
    kinds = [[None, "goal", "wall"], ["lava", "door", "key"], ["wall", "wall", "wall"], [None, None, None]]
    things = [[kind and SimpleNamespace(type=kind) for kind in row] for row in kinds]
    grid = SimpleNamespace(width=3, height=4, get=lambda i, j: things[j][i])
    world = from_minigrid(
        SimpleNamespace(unwrapped=SimpleNamespace(grid=grid, agent_pos=(0, 0))), neighbours=8, slip=0.5
    )
    # The last row is cut off.
    assert world.free.tolist() == [[True, True, False], [False, True, True], [False] * 3, [False] * 3]
    assert (world.neighbours, world.slip) == (8, 0.5)


@pytest.mark.parametrize("id", ["MiniGrid-FourRooms-v0", "MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0"])
def test_minigrid_itself(id):
    gym = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    env = gym.make(id)
    env.reset(seed=3)
    world = GridWorld.from_minigrid(env)
    inner = env.unwrapped
    assert world.shape == (inner.grid.height, inner.grid.width)
    column, row = inner.agent_pos
    start = world.state((int(row), int(column)))
    drawn = {"wall": 0, "lava": 0}
    for k in range(inner.grid.width * inner.grid.height):
        cell = inner.grid.get(k % inner.grid.width, k // inner.grid.width)
        if cell is not None and cell.type in drawn:
            drawn[cell.type] += 1
        if cell is not None and cell.type == "goal":
            goal = world.state((k // inner.grid.width, k % inner.grid.width))
    open_cells = inner.grid.width * inner.grid.height - sum(drawn.values())
    assert world.n <= open_cells if drawn["lava"] else world.n == open_cells  # lava may cut cells off
    assert drawn["lava"] > 0 or "Lava" not in id
    assert world.require_path(start, goal) > 0
    env.close()


def test_the_void_around_minigrids_rooms_is_no_place():
    gym = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    env = gym.make("MiniGrid-MultiRoom-N2-S4-v0")
    env.reset(seed=0)
    world = from_minigrid(env)
    assert world.n < 40
    assert len(np.unique(world.components)) == 1
    env.close()


def test_a_minigrid_move_forward_is_a_move_of_the_world():
    gym = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    env = gym.make("MiniGrid-FourRooms-v0")
    env.reset(seed=0)
    world = from_minigrid(env)
    towards = {0: 1, 1: 2, 2: 3, 3: 0}  # Minigrid's directions right, down, left, up as actions of the world
    rng = np.random.default_rng(0)
    blocked = 0
    for _ in range(300):
        action = int(rng.integers(3))
        column, row = (int(part) for part in env.unwrapped.agent_pos)
        direction = int(env.unwrapped.agent_dir)
        _, _, terminated, truncated, _ = env.step(action)
        if action == 2:
            expected = world.moves[world.state((row, column)), towards[direction]]
            assert world.cell(expected) == tuple(int(part) for part in env.unwrapped.agent_pos[::-1])
            blocked += world.cell(expected) == (row, column)
        if terminated or truncated:
            break
    assert blocked > 0
    env.close()


def test_minigrid_before_its_map_is_drawn():
    gym = pytest.importorskip("gymnasium")
    pytest.importorskip("minigrid")
    env = gym.make("MiniGrid-FourRooms-v0")
    with pytest.raises(InvalidInput, match="the environment has no Minigrid map; reset it first"):
        from_minigrid(env)
    env.close()


@pytest.mark.parametrize("env", [None, 7, SimpleNamespace(unwrapped=SimpleNamespace(grid=None, agent_pos=(0, 0)))])
def test_no_minigrid(env):
    with pytest.raises(InvalidInput) as caught:
        from_minigrid(env)
    assert str(caught.value) == "the environment has no Minigrid map; reset it first"


# --- PointMaze -----------------------------------------------------------------------------------------------------


def test_a_pointmaze_map():
    rows = [[1, 1, 1, 1], [1, "r", 0, 1], [1, "g", "c", 1]]
    for given_map in (rows, np.array([[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1]]), np.array(rows)):
        assert from_pointmaze(given_map).xy.tolist() == [[1, 1], [1, 2], [2, 1], [2, 2]]
    env = SimpleNamespace(unwrapped=SimpleNamespace(maze=SimpleNamespace(maze_map=rows)))
    assert from_pointmaze(env, neighbours=8, slip=0.5).neighbours == 8


def test_pointmaze_itself():
    gym = pytest.importorskip("gymnasium")
    robotics = pytest.importorskip("gymnasium_robotics")
    from gymnasium_robotics.envs.maze import maps

    gym.register_envs(robotics)
    env = gym.make("PointMaze_UMaze-v3", maze_map=maps.MEDIUM_MAZE_DIVERSE_GR)
    world = GridWorld.from_pointmaze(env)
    env.close()
    assert world.n == sum(entry != 1 for row in maps.MEDIUM_MAZE_DIVERSE_GR for entry in row)
    assert from_pointmaze(maps.LARGE_MAZE).shape == (9, 12)
    assert len(set(world.components.tolist())) == 1


@pytest.mark.parametrize(
    ("given_map", "message"),
    [
        ([], "the map is empty"),
        ([[]], "the map is empty"),
        ([[1, 1]], "the map has no free cell"),
        ([[1, 0], [1]], "row 1 of the maze map has 1 entries, but row 0 has 2"),
        (
            [[1, 0], [1, "x"]],
            "unknown entry 'x' in row 1, column 1 of the maze map; known: 1 wall, 0, 'r', 'g' and 'c' free",
        ),
        ([[1, 2]], "unknown entry 2 in row 0, column 1 of the maze map; known: 1 wall, 0, 'r', 'g' and 'c' free"),
        (7, "a maze map is a list of rows, or an environment that has one, not int"),
        ([1, 0], "a maze map is a list of rows, or an environment that has one, not list"),
    ],
)
def test_bad_maze_maps(given_map, message):
    with pytest.raises(InvalidInput) as caught:
        from_pointmaze(given_map)
    assert str(caught.value) == message


def test_a_layout_drawn_as_a_picture_is_the_same_layout():
    world = layouts.maze(generator(1, "layout"), 5, 0.2)
    assert np.array_equal(from_png(world.free.astype(float)).free, world.free)
