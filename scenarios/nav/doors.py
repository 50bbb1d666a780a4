"""One-way doors: cells that can be passed in one direction only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scisuite.scenarios.nav.world import OFFSETS, Bools


def one_way_doors(
    free: Bools, doors: Mapping[tuple[int, int], int], *, neighbours: int = 4, periodic: bool = False
) -> Bools:
    """The moves that one-way doors close: what :class:`~scisuite.scenarios.nav.GridWorld` takes as ``closed``.

    Parameters
    ----------
    free : bool (H, W)
    doors : mapping of (row, column) to action
        A navigator enters such a cell by this move only, and leaves it by this move only.
    neighbours : {4, 8}
    periodic : bool

    Returns
    -------
    bool (H, W, neighbours)

    Source: reconstruction.
    """
    height, width = free.shape
    closed = np.zeros((height, width, neighbours), dtype=bool)
    for (row, column), way in doors.items():
        for action in range(neighbours):
            if action == way:
                continue
            closed[row, column, action] = True
            before_row, before_column = row - int(OFFSETS[action, 0]), column - int(OFFSETS[action, 1])
            if periodic:
                closed[before_row % height, before_column % width, action] = True
            elif 0 <= before_row < height and 0 <= before_column < width:
                closed[before_row, before_column, action] = True
    return closed
