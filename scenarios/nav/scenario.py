"""The scenarios ``nav/…`` and the one way to come by a world."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scisuite.core import InvalidInput, UnknownName, generator
from scisuite.core.registry import did_you_mean, refuse_unknown_arguments
from scisuite.scenarios.base import Description, WorldScenario
from scisuite.scenarios.nav import layouts
from scisuite.scenarios.nav.ascii_map import SYMBOLS, from_ascii
from scisuite.scenarios.nav.readers import from_networkx, from_png
from scisuite.scenarios.nav.world import GridWorld, NavWorld

KEPT_LAYOUTS = 8
KEPT_CELLS = 100_000  # a larger world, with what it has worked out, takes too much memory to be kept


@dataclass(frozen=True)
class Kind:
    """A family of layouts: the function that draws one, what it is, and whether two of them differ."""

    draw: Callable[..., GridWorld]
    summary: str
    varies: bool


KINDS = {
    "fourrooms": Kind(layouts.four_rooms, "four rooms joined by doors at drawn places", True),
    "one_way": Kind(
        partial(layouts.four_rooms, one_way=True),
        "four rooms joined in a circle by one-way doors at drawn places",
        True,
    ),
    "maze": Kind(layouts.maze, "a depth-first maze, some of its inner walls removed where loop > 0", True),
    "open": Kind(layouts.open_box, "an empty room", False),
    "torus": Kind(layouts.torus, "an empty room whose opposite edges are glued together", False),
    "spiral": Kind(layouts.spiral, "one corridor wound inwards", True),
    "u_trap": Kind(layouts.u_trap, "a room with a U-shaped wall into which a straight line leads", True),
    "obstacles": Kind(layouts.obstacles, "a room with cells blocked at random, its largest connected part", True),
}


class NavScenario(WorldScenario):
    """Layouts of one kind, all of one shape.

    Parameters
    ----------
    kind : str
        ``fourrooms``, ``one_way``, ``maze``, ``open``, ``torus``, ``spiral``, ``u_trap`` or ``obstacles``.
    size : int, (int, int) or None
        Rows and columns of the map, of rooms for a maze; ``None`` for the usual size of the kind.
    loop : float or None
        Of a maze: probability that each remaining inner wall is removed.
    share : float or None
        Of obstacles: share of the cells that are blocked.
    neighbours : {4, 8}
        Number of actions.
    slip : float
        Probability in [0, 1) that an environment replaces the action by a random one.
    seed : int
        Kept for the contract; a layout depends on its own seed alone.

    Attributes
    ----------
    shape : (int, int)
        Rows and columns of every layout's map, in cells.
    max_cells : int
        The largest number of free cells that a layout can have.
    varies : bool
        Whether different layout seeds give different layouts.

    Raises
    ------
    InvalidInput
        If there is no such kind, or it does not take one of the arguments.
    """

    def __init__(
        self,
        kind: str,
        *,
        size: int | Sequence[int] | None = None,
        loop: float | None = None,
        share: float | None = None,
        neighbours: Literal[4, 8] = 4,
        slip: float = 0.0,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        if not isinstance(kind, str) or kind not in KINDS:
            raise InvalidInput(f"unknown kind of layout {kind!r}{did_you_mean(str(kind), KINDS)}")
        given = {"size": size, "loop": loop, "share": share}
        self.arguments: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        self.arguments |= {"neighbours": neighbours, "slip": slip}
        refuse_unknown_arguments(partial(KINDS[kind].draw, None), self.arguments, f"layout {kind!r}")
        self.kind = kind
        self.varies = KINDS[kind].varies
        self._kept: OrderedDict[int, GridWorld] = OrderedDict()
        first = self.layout(0)
        self.shape = first.shape
        self.max_cells = self._max_cells(first)

    def generate(self, rng: np.random.Generator) -> GridWorld:
        """One layout, drawn from ``rng``."""
        return KINDS[self.kind].draw(rng, **self.arguments)

    def layout(self, layout_seed: int) -> GridWorld:
        """The layout of a seed; the last few are kept.

        Raises
        ------
        InvalidInput
            If it is no seed.
        """
        rng = generator(layout_seed, "layout")
        key = int(layout_seed) if self.varies else 0
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        world = self.generate(rng)
        if world.n <= KEPT_CELLS:
            self._kept[key] = world
            if len(self._kept) > KEPT_LAYOUTS:
                self._kept.popitem(last=False)
        return world

    def describe(self) -> Description:
        height, width = self.shape
        at_most = "at most " if self.kind in ("maze", "obstacles") else ""
        return Description(
            id=self.id,
            summary=f"{KINDS[self.kind].summary}: {height} × {width} cells, {at_most}{self.max_cells} of them free",
            source="drawn by a generator of scisuite; the sizes are a reconstruction",
            licence="none needed (generated)",
            real=False,
            shapes={"free": self.shape},
            units={"position": "cells", "path": "moves"},
        )

    def _max_cells(self, first: GridWorld) -> int:
        height, width = self.shape
        if self.kind == "maze":
            rows, columns = height // 2, width // 2
            inner_walls = rows * (columns - 1) + columns * (rows - 1)
            return rows * columns + (inner_walls if self.arguments.get("loop") else rows * columns - 1)
        if self.kind == "obstacles":
            blocked = layouts.n_blocked(self.shape, self.arguments.get("share", layouts.SHARE))
            return height * width - blocked
        return first.n

    def __getstate__(self) -> dict[str, Any]:
        """Without the kept layouts: they are drawn again."""
        return {**self.__dict__, "_kept": OrderedDict()}


def make_world(world: Any, layout_seed: int = 0, **config: Any) -> NavWorld:
    """A world from whatever describes one.

    Parameters
    ----------
    world : str, Path, array, list, networkx graph, NavScenario or NavWorld
        The id of a scenario (``"nav/maze"``, or ``"maze"``); a map as text (:func:`~scisuite.scenarios.nav.from_ascii`)
        or as a list of its lines; a bool array (H, W), true where free; a path to a picture (``.png``) or to a map as
        text (``.txt``); a graph; a scenario; or a world, which is returned as it is.
    layout_seed : int
        Seed of the layout, where a scenario draws it; it has no effect on a map that is given.
    **config
        Arguments of the scenario, or of the function that reads the map: ``neighbours``, ``periodic``, ``slip``, ….

    Raises
    ------
    InvalidInput
        If nothing of this kind describes a world, the id is unknown, or an argument is not taken.

    Examples
    --------
    >>> make_world("maze", layout_seed=3, size=5).n
    49
    >>> make_world("S.#\\n..G", slip=0.1).n
    5
    """
    if isinstance(world, NavWorld | NavScenario) and config:
        raise InvalidInput(f"a {type(world).__name__} that is given takes no arguments: {', '.join(sorted(config))}")
    if isinstance(world, NavWorld):
        return world
    if isinstance(world, NavScenario):
        return world.layout(layout_seed)
    if isinstance(world, Path) or (isinstance(world, str) and world.lower().endswith((".png", ".txt"))):
        return _from_file(Path(world), config)
    if isinstance(world, str):
        if "\n" in world or not world or SYMBOLS.issuperset(world):
            return _read(from_ascii, "a map as text", world, config)
        return _scenario(world, config).layout(layout_seed)
    if isinstance(world, list | tuple) and all(isinstance(line, str) for line in world):
        return _read(from_ascii, "a map as text", world, config)
    if hasattr(world, "is_directed"):
        return _read(from_networkx, "a graph", world, config)
    if isinstance(world, np.ndarray | list | tuple):
        return _read(GridWorld, "a map as an array", _array(world), config)
    raise InvalidInput(f"a world is a scenario's id, a map, a graph or a NavWorld, not {type(world).__name__}")


def _scenario(id: str, config: dict[str, Any]) -> NavScenario:
    from scisuite.scenarios import registry

    known = registry.ids()
    full = id if id in known or "/" in id else f"nav/{id}"
    if full not in known:
        worlds = [name for name in known if name.startswith("nav/")]
        raise UnknownName(f"unknown world {id!r}{did_you_mean(id, worlds)}")
    scenario = registry.make(full, **config)
    if not isinstance(scenario, NavScenario):
        raise InvalidInput(f"scenario {full!r} is no world to navigate in")
    return scenario


def _from_file(path: Path, config: dict[str, Any]) -> NavWorld:
    if path.suffix.lower() != ".txt":
        return _read(from_png, "a picture", path, config)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read {path} as text: {error}") from None
    return _read(from_ascii, "a map as text", text, config)


def _array(rows: Any) -> Any:
    try:
        return np.asarray(rows)
    except ValueError:
        raise InvalidInput("the rows of a map as an array must have the same length") from None


def _read(reader: Callable[..., NavWorld], what: str, given: Any, config: dict[str, Any]) -> NavWorld:
    """``reader(given, **config)``, unknown arguments refused."""
    refuse_unknown_arguments(partial(reader, given), config, what)
    return reader(given, **config)
