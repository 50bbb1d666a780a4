"""A world as pictures: where the walls are, and where the navigator is."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import GridWorld

WALL_CHANNEL, AGENT_CHANNEL = range(2)


def images(world: GridWorld, states: ArrayLike | None = None) -> NDArray[np.float32]:
    """float32 (n, 2, H, W): one picture of the whole map for each state, seen from above and never turned.

    Channel 0 is 1 in the walls, channel 1 is 1 in the navigator's cell; all else is 0. No two states look alike, which
    partial views from the navigator's own place do not give: those alias states.

    Parameters
    ----------
    world : GridWorld
    states : whole numbers (b,) or None
        Which states to draw, in this order; all of them by default.

    Raises
    ------
    InvalidInput
        If the world has no map, or one of ``states`` is none of its states.

    Notes
    -----
    Source: brief, "two-channel 13×19 wall+agent image".
    """
    if not isinstance(world, GridWorld):
        raise InvalidInput(f"images need a GridWorld, which has a map, not a {type(world).__name__}")
    wanted = np.arange(world.n) if states is None else world.states(states)
    drawn = np.zeros((len(wanted), 2, *world.shape), dtype=np.float32)
    drawn[:, WALL_CHANNEL] = ~world.free
    rows, columns = world.xy[wanted].T
    drawn[np.arange(len(wanted)), AGENT_CHANNEL, rows, columns] = 1.0
    return drawn
