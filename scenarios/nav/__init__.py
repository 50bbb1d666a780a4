"""Worlds to find a way in: mazes, rooms, a torus, any map or graph of your own.

``make_world("maze", layout_seed=3)`` gives the world itself, ``scenarios.make("nav/maze")`` the scenario that draws it.
"""

from scisuite.scenarios.nav.ascii_map import ascii_marks, from_ascii, to_ascii
from scisuite.scenarios.nav.errors import UnreachableError
from scisuite.scenarios.nav.graph import GraphWorld
from scisuite.scenarios.nav.readers import from_minigrid, from_networkx, from_png, from_pointmaze
from scisuite.scenarios.nav.scenario import NavScenario, make_world
from scisuite.scenarios.nav.world import ACTION_NAMES, DOWN, LEFT, OFFSETS, RIGHT, UP, GridWorld, NavWorld

__all__ = [
    "ACTION_NAMES",
    "DOWN",
    "LEFT",
    "OFFSETS",
    "RIGHT",
    "UP",
    "GraphWorld",
    "GridWorld",
    "NavScenario",
    "NavWorld",
    "UnreachableError",
    "ascii_marks",
    "from_ascii",
    "from_minigrid",
    "from_networkx",
    "from_png",
    "from_pointmaze",
    "make_world",
    "to_ascii",
]
