"""Two matrices that are the same up to the order of their rows and columns."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import Floats, Ints

MAX_TRIALS = 20_000


def rate_classes(rates: Floats, tolerance: float) -> Ints:
    """Whole numbers that are equal where rates are: neighbours in size that differ by a part ``tolerance`` at most."""
    flat = rates.ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    steps = np.diff(ordered) > tolerance * ordered[1:]
    classes = np.empty(len(flat), dtype=np.int64)
    classes[order] = np.concatenate([[0], np.cumsum(steps)])
    return classes.reshape(rates.shape)


def row_classes(rows: Ints) -> Ints:
    """int64 (n,): whole numbers that are equal where rows (n, m) are, and ordered as the rows are."""
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    classes = np.empty(len(rows), dtype=np.int64)
    classes[order] = np.concatenate([[0], np.cumsum((ordered[1:] != ordered[:-1]).any(axis=1))])
    return classes


def match_matrices(a: Ints, b: Ints, blocks: Ints | None = None) -> tuple[Ints, Ints] | None:
    """Orders of rows and columns with ``a[rows][:, columns] == b``; None where there are none.

    Colour refinement, and where it leaves equal colours, one row after another tried (individualised) in turn.

    Parameters
    ----------
    a, b : int64 (n, m)
    blocks : int64 (m,), optional
        Columns move only within a block.

    Raises
    ------
    NotNappAdams
        If 20,000 trials do not decide: the matrices are too symmetric to be matched in reasonable time.
    """
    if a.shape != b.shape:
        return None
    n, m = a.shape
    blocks = np.zeros(m, dtype=np.int64) if blocks is None else blocks
    entries = np.stack([a, b])
    budget = iter(range(MAX_TRIALS))
    rows = _match_rows(entries, np.zeros((2, n), dtype=np.int64), np.stack([blocks, blocks]), budget)
    if rows is None:
        return None
    columns = _line_classes(np.stack([a[rows], b]).transpose(0, 2, 1), np.stack([blocks, blocks]))
    order = np.empty(m, dtype=np.int64)
    order[np.argsort(columns[1], kind="stable")] = np.argsort(columns[0], kind="stable")
    return rows, order


def _match_rows(entries: Ints, rows: Ints, columns: Ints, budget: Iterator[int]) -> Ints | None:
    if next(budget, None) is None:
        raise NotNappAdams(f"{MAX_TRIALS:,} trials did not match two read-outs of a table: it is too symmetric")
    refined = _refine(entries, rows, columns)
    if refined is None:
        return None
    rows, columns = refined
    counts = np.bincount(rows[0])
    shared = np.flatnonzero(counts > 1)
    if not len(shared):
        order = np.empty(rows.shape[1], dtype=np.int64)
        order[np.argsort(rows[1])] = np.argsort(rows[0])
        return order if _columns_agree(entries[0][order], entries[1], columns) else None
    colour = shared[counts[shared].argmin()]
    chosen = int(np.flatnonzero(rows[0] == colour)[0])
    for candidate in np.flatnonzero(rows[1] == colour):
        marked = rows * 2
        marked[0, chosen] += 1
        marked[1, candidate] += 1
        found = _match_rows(entries, marked, columns, budget)
        if found is not None:
            return found
    return None


def _refine(entries: Ints, rows: Ints, columns: Ints) -> tuple[Ints, Ints] | None:
    """Colours of the rows and columns of both matrices that tell apart what counting can; None where they part."""
    n_colours = 0
    while True:
        rows = _coloured(entries, rows, columns)
        columns = _coloured(entries.transpose(0, 2, 1), columns, rows)
        for colours in (rows, columns):
            if not np.array_equal(np.sort(colours[0]), np.sort(colours[1])):
                return None
        now = int(rows.max()) + int(columns.max())
        if now == n_colours:
            return rows, columns
        n_colours = now


def _coloured(entries: Ints, lines: Ints, across: Ints) -> Ints:
    """New colours of lines (2, n) from their entries (2, n, m), taken with the colours (2, m) they meet."""
    seen = np.sort(entries * (across.max() + 1) + across[:, None, :], axis=2)
    return _line_classes(seen, lines)


def _line_classes(lines: Ints, colours: Ints) -> Ints:
    both = np.concatenate([colours[:, :, None], lines], axis=2)
    return row_classes(both.reshape(-1, both.shape[2])).reshape(colours.shape)


def _columns_agree(a: Ints, b: Ints, columns: Ints) -> bool:
    classes = _line_classes(np.stack([a, b]).transpose(0, 2, 1), columns)
    return bool(np.array_equal(np.sort(classes[0]), np.sort(classes[1])))
