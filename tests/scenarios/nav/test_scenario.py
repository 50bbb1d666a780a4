"""The registered ids, the scenario behind them, and make_world."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite import scenarios
from scisuite.core import InvalidInput, UnknownName, generator
from scisuite.scenarios.nav import GraphWorld, GridWorld, NavScenario, make_world, to_ascii

IDS = tuple(id for id in scenarios.registry.ids() if id.startswith("nav/"))
PROMISED = {
    # id: (shape of the map, largest number of cells, whether layouts differ)
    "nav/fourrooms": ((19, 19), 260, True),
    "nav/maze": ((41, 41), 799, True),
    "nav/loopy_maze": ((41, 41), 1160, True),
    "nav/loopy_maze_10": ((41, 41), 1160, True),
    "nav/loopy_maze_40": ((41, 41), 1160, True),
    "nav/small_maze": ((21, 21), 280, True),
    "nav/open": ((21, 21), 441, False),
    "nav/torus": ((20, 20), 400, False),
    "nav/spiral": ((21, 21), 241, True),
    "nav/u_trap": ((21, 21), 410, True),
    "nav/obstacles": ((32, 32), 819, True),
    "nav/pixels": ((13, 19), 164, True),
    "nav/slippery": ((19, 19), 260, True),
    "nav/one_way": ((19, 19), 260, True),
}
ONE_SIZE = {id for id, (_, _, varies) in PROMISED.items() if "loopy" not in id} - {"nav/small_maze", "nav/obstacles"}


def test_every_id_is_promised_here():
    assert set(IDS) == set(PROMISED)


@pytest.mark.parametrize("id", IDS)
def test_what_an_id_promises(id):
    shape, max_cells, varies = PROMISED[id]
    scenario = scenarios.make(id)
    assert (scenario.shape, scenario.max_cells, scenario.varies) == (shape, max_cells, varies)
    worlds = [scenario.layout(seed) for seed in range(6)]
    assert {world.shape for world in worlds} == {shape}
    assert max(world.n for world in worlds) <= max_cells
    if id in ONE_SIZE:
        assert {world.n for world in worlds} == {max_cells}
    assert all(len(set(world.components.tolist())) == 1 for world in worlds)
    assert all(world.is_symmetric for world in worlds) == (id != "nav/one_way")
    assert (len({world.free.tobytes() for world in worlds}) > 1) == varies


@pytest.mark.parametrize("id", IDS)
def test_a_layout_depends_on_its_seed_alone(id):
    one, other = scenarios.make(id), scenarios.make(id, seed=7)
    other.layout(1), other.layout(2)
    for seed in (0, 5, 1):
        drawn = one.generate(generator(seed, "layout"))
        assert np.array_equal(one.layout(seed).moves, drawn.moves)
        assert np.array_equal(other.layout(seed).moves, drawn.moves)


def test_the_contract_of_a_scenario_made_by_hand():
    def make(seed=0):
        scenario = NavScenario("maze", size=(3, 4), loop=0.5, neighbours=8, slip=0.5, seed=seed)
        scenario.id = "nav/mine"
        return scenario

    scenarios.check_scenario(make)


def test_arguments_reach_the_layout():
    assert scenarios.make("nav/open", size=[4, 6], neighbours=8, slip=0.1).layout(0).neighbours == 8
    assert scenarios.make("nav/obstacles", size=9, share=0.5).max_cells == 81 - 40
    assert (
        scenarios.make("nav/maze", size=4, loop=1).layout(0).n == scenarios.make("nav/maze", size=4, loop=1).max_cells
    )
    assert scenarios.make("nav/slippery").layout(0).slip == 0.2


def test_mazes_of_one_seed_differ_in_their_loops_only():
    perfect, loopy = (scenarios.make(f"nav/{name}").layout(3).free for name in ("maze", "loopy_maze_40"))
    assert not (perfect & ~loopy).any()
    removed = [scenarios.make("nav/loopy_maze_10").layout(seed).n - 799 for seed in range(20)]
    assert np.mean(removed) == pytest.approx(36.1, rel=0.1)


def test_the_last_few_layouts_are_kept_and_not_carried_along():
    scenario = scenarios.make("nav/small_maze")
    kept = scenario.layout(3)
    assert scenario.layout(3) is kept
    for seed in range(10, 30):
        scenario.layout(seed)
    again = scenario.layout(3)
    assert again is not kept
    assert np.array_equal(again.free, kept.free)
    for twin in (pickle.loads(pickle.dumps(scenario)), copy.deepcopy(scenario)):
        assert np.array_equal(twin.layout(3).free, kept.free)
    assert len(pickle.dumps(scenario)) < 1000
    unvaried = scenarios.make("nav/open")
    assert unvaried.layout(1) is unvaried.layout(2)


def test_what_a_scenario_says_of_itself():
    about = scenarios.make("nav/obstacles").describe()
    assert about.summary == (
        "a room with cells blocked at random, its largest connected part: 32 × 32 cells, at most 819 of them free"
    )
    assert scenarios.make("nav/open").describe().summary == "an empty room: 21 × 21 cells, 441 of them free"
    assert about.shapes == {"free": (32, 32)}
    assert not about.real


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "mase"}, "unknown kind of layout 'mase'; did you mean 'maze'?"),
        ({"kind": 3}, "unknown kind of layout 3; known: "),
        ({"kind": "open", "loop": 0.5}, "layout 'open' has no argument 'loop'; known: neighbours, size, slip"),
        ({"kind": "maze", "share": 0.5}, "layout 'maze' has no argument 'share'; "),
        ({"kind": "maze", "loop": -1}, "loop must be a probability in [0, 1], not -1"),
        ({"kind": "maze", "size": 0}, "size must be a whole number of at least 2, not 0"),
        ({"kind": "open", "slip": 1.0}, "slip must be a probability in [0, 1), not 1.0"),
        ({"kind": "open", "neighbours": 3}, "neighbours must be 4 or 8, not 3"),
        ({"kind": "open", "seed": -1}, "seed must be in [0, 2**63), not -1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInput) as caught:
        NavScenario(**arguments)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "0", None])
@pytest.mark.parametrize("id", ["nav/maze", "nav/open"])
def test_bad_layout_seeds(id, seed):
    with pytest.raises(InvalidInput, match="seed must be"):
        scenarios.make(id).layout(seed)


# --- make_world ----------------------------------------------------------------------------------------------------


def test_a_world_from_anything_that_describes_one(tmp_path):
    maze = scenarios.make("nav/small_maze")
    world = maze.layout(4)
    text = to_ascii(world)
    (tmp_path / "map.txt").write_text(text)
    from matplotlib.image import imsave

    imsave(tmp_path / "map.png", world.free.astype(float), cmap="gray")
    for given_world in (
        "nav/small_maze",
        "small_maze",
        maze,
        world,
        text,
        text.splitlines(),
        world.free,
        world.free.tolist(),
        tmp_path / "map.txt",
        str(tmp_path / "map.png"),
    ):
        assert np.array_equal(make_world(given_world, layout_seed=4).moves, world.moves)
    assert make_world(world) is world
    assert make_world(maze, 4) is world
    assert isinstance(make_world(nx.path_graph(3)), GraphWorld)
    assert isinstance(make_world("S..G"), GridWorld)


def test_arguments_of_each_kind_of_world():
    assert make_world("maze", size=3, loop=1).n == 9 + 12
    assert make_world("...", neighbours=8, periodic=True, slip=0.5).periodic
    assert make_world(np.ones((2, 2), bool), neighbours=8).moves.shape == (4, 8)
    assert make_world(nx.path_graph(3), slip=0.25).slip == 0.25


@settings(max_examples=10)
@given(st.sampled_from(IDS), st.integers(0, 2**40))
def test_ids_long_and_short(id, layout_seed):
    long, short = make_world(id, layout_seed), make_world(id.removeprefix("nav/"), layout_seed)
    assert np.array_equal(long.moves, short.moves)


@pytest.mark.parametrize(
    ("given_world", "config", "message"),
    [
        ("mase", {}, "unknown world 'mase'; did you mean 'nav/maze'"),
        ("functions/branin", {}, "scenario 'functions/branin' is no world to navigate in"),
        ("open", {"loop": 1}, "layout 'open' has no argument 'loop'; "),
        ("open", {"sise": 1}, "scenario 'nav/open' has no argument 'sise'; did you mean 'size'?"),
        ("..", {"size": 1}, "a map as text has no argument 'size'; "),
        (np.ones((2, 2), bool), {"size": 1}, "a map as an array has no argument 'size'; "),
        (nx.path_graph(2), {"neighbours": 8}, "a graph has no argument 'neighbours'; "),
        (GridWorld(np.ones((2, 2), bool)), {"slip": 0.5}, "a GridWorld that is given takes no arguments: slip"),
        (np.ones((2, 2)), {}, "a map must be a bool array of shape (H, W), not float64 of shape (2, 2)"),
        ([[True, False], [True]], {}, "the rows of a map as an array must have the same length"),
        ("", {}, "the map is empty"),
        ([], {}, "the map is empty"),
        (None, {}, "a world is a scenario's id, a map, a graph or a NavWorld, not NoneType"),
        (7, {}, "a world is a scenario's id, a map, a graph or a NavWorld, not int"),
        ("nowhere/map.txt", {}, "cannot read nowhere/map.txt as text: "),
        ("nowhere/map.png", {}, "cannot read nowhere/map.png as a picture: "),
    ],
)
def test_what_describes_no_world(given_world, config, message):
    with pytest.raises(InvalidInput) as caught:
        make_world(given_world, **config)
    assert str(caught.value).startswith(message)


def test_an_unknown_world_is_an_unknown_name():
    with pytest.raises(UnknownName, match="unknown world 'nothing_like_it'"):
        make_world("nothing_like_it")


def test_a_plain_world_loads_no_heavy_package():
    heavy = ("scipy", "torch", "networkx", "matplotlib")
    code = (
        "import sys; from scisuite.scenarios.nav import make_world;"
        "[make_world(id).moves for id in ('maze', 'fourrooms', 'open', 'torus', 'spiral', 'u_trap', 'one_way')];"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
