"""Who may move when several navigators move at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def cancelled_moves(here: Sequence[int], wanted: Sequence[int]) -> list[bool]:
    """Whose moves are cancelled: those into a cell that another one holds, enters or swaps out of.

    - *Enters*: where two or more want the same cell, none of them gets it.
    - *Swaps*: two that want each other's cell both stay.
    - *Holds*: a cell is held by who is still in it when all have moved, that is by one that waits, that walks into a
      wall, or whose own move is cancelled. A cell whose navigator leaves may be entered in the same step, so that a
      column walks on as one, and three or more may go round in a circle.

    Which moves are cancelled does not depend on an order among the navigators: an entry or a swap cancels all the moves
    into a cell at once, and a cancelled move cancels the one behind it, and so on down the column.

    Parameters
    ----------
    here : k states
        Where each navigator is; no two are in one cell.
    wanted : k states
        Where each would go were it alone; its own cell if it waits or a wall is in its way.

    Returns
    -------
    list of k bools
        Whether a navigator's move is cancelled; ``False`` for one that stays of its own accord.

    Source: reconstruction; the vertex and swapping conflicts of Stern et al. 2019, "Multi-Agent Pathfinding", following
    and circling allowed.

    Examples
    --------
    >>> cancelled_moves([0, 1], [1, 2])  # the second leaves, the first follows
    [False, False]
    >>> cancelled_moves([0, 1, 5], [1, 2, 2])  # two enter cell 2, and so the first finds cell 1 held
    [True, True, True]
    >>> cancelled_moves([0, 1], [1, 0])
    [True, True]
    >>> cancelled_moves([0, 1, 2], [1, 2, 0])
    [False, False, False]
    """
    holder = {cell: i for i, cell in enumerate(here)}
    entries = Counter(there for cell, there in zip(here, wanted, strict=True) if there != cell)
    follower: dict[int, int] = {}
    cancelled = [False] * len(holder)
    newly: list[int] = []
    for i, (cell, there) in enumerate(zip(here, wanted, strict=True)):
        if there == cell:
            continue
        other = holder.get(there)
        stays_or_swaps = other is not None and wanted[other] in (there, cell)
        if entries[there] > 1 or stays_or_swaps:
            cancelled[i] = True
            newly.append(i)
        elif other is not None:
            follower[other] = i
    while newly:
        behind = follower.pop(newly.pop(), None)
        if behind is not None and not cancelled[behind]:
            cancelled[behind] = True
            newly.append(behind)
    return cancelled
