"""By how much a move changes the size, species and reactions together, of the compiled network.

That size is Σ_f nnz(ψ_f)·|f| + Σ_edges (5K_v + 2) + Σ_v (3K_v + 1), see
:func:`~scisuite.solvers.crn_reduce.compile.compiled_size`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.factor_graphs.graph import Table
from scisuite.solvers.crn_reduce.reduction.draft import Draft

MOST_ENTRIES = 1 << 24
"""Largest table that a move is tried on whose gain depends on where that table is zero."""


def series_shrinks(draft: Draft, variable: str, a: str, b: str) -> bool:
    """Whether summing a variable out of the product of its two factors makes the network smaller.

    The number of entries above zero of the result lies between bounds that need no table; where those do not decide,
    its zeros are found, unless it would have more than :data:`MOST_ENTRIES` entries.
    """
    axis_a, axis_b = draft.scopes[a].index(variable), draft.scopes[b].index(variable)
    table_a, table_b = draft.tables[a], draft.tables[b]
    n = table_a.ndim + table_b.ndim - 2
    k = draft.card[variable]
    gone = _sums(table_a) + _sums(table_b) + 2 * (5 * k + 2) + 3 * k + 1
    entries = math.prod(table_a.shape) * math.prod(table_b.shape) // (k * k)
    products = [x * y for x, y in zip(_nonzero_by(table_a, axis_a), _nonzero_by(table_b, axis_b), strict=True)]
    if min(sum(products), entries) * n < gone:
        return True
    if max(products) * n >= gone or entries > MOST_ENTRIES:
        return False
    above = _support_matrix(table_a, axis_a).T @ _support_matrix(table_b, axis_b)
    return int(np.count_nonzero(above)) * n < gone


def cluster_growth(draft: Draft, variable: str, a: str, b: str) -> int:
    """By how much the network grows if two factors that share one variable are multiplied."""
    table_a, table_b = draft.tables[a], draft.tables[b]
    by_value = zip(
        _nonzero_by(table_a, draft.scopes[a].index(variable)),
        _nonzero_by(table_b, draft.scopes[b].index(variable)),
        strict=True,
    )
    made = sum(x * y for x, y in by_value) * (table_a.ndim + table_b.ndim - 1)
    return made - _sums(table_a) - _sums(table_b) - (5 * draft.card[variable] + 2)


def _sums(table: Table) -> int:
    return int(np.count_nonzero(table)) * table.ndim


def _nonzero_by(table: Table, axis: int) -> list[int]:
    counts = np.count_nonzero(table, axis=tuple(i for i in range(table.ndim) if i != axis))
    found: list[int] = np.atleast_1d(counts).tolist()
    return found


def _support_matrix(table: Table, axis: int) -> NDArray[np.float32]:
    return (np.moveaxis(table, axis, 0).reshape(table.shape[axis], -1) > 0).astype(np.float32)
