"""The algebra of tables that the moves are made of, never beyond float64's range without notice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.factor_graphs.graph import Table
from scisuite.solvers.crn_reduce.reduction.errors import BeyondFloat64

COMFORTABLE = (2.0**-64, 2.0**64)
"""Between these a table's largest entry may lie while a reduction goes on."""

RANK_ONE = 1e-13
"""Largest relative difference of an entry between a table and the product of the two that replace it."""

_MOST_COMPARISONS = 1 << 24
"""Entries looked at in search of a split into parts of several variables each; above it only single ones are tried."""


def scaled(table: Table) -> tuple[Table, int]:
    """The table over the power of two that brings its largest entry into [1, 2), and that power.

    [1, 2) and not [1/2, 1): entries are rates, and faster sums leave more mass assigned in the pools, while a table of
    conditional probabilities that has a 1 stays as it is. (Measured: a hidden Markov model reduced to two kept states
    has a least assigned share of .06 at κ_r = .1 with its tables as products leave them, .73 with [1/2, 1) and .75 with
    [1, 2).) Nothing is divided where that would round an entry, the power is then 0.
    """
    power = math.frexp(table.max())[1] - 1
    if not power:
        return table, 0
    try:
        with np.errstate(under="raise"):
            return np.ldexp(table, -power), power
    except FloatingPointError:
        return table, 0


def exactly(operation: Callable[..., Table], *tables: Table) -> tuple[Table, int]:
    """The result of an operation that is linear in each table, for a power of two.

    Returns
    -------
    array, int
        2 to the power of the int times the array is ``operation(*tables)``; the power is not 0 only where the largest
        entry would otherwise lie outside of :data:`COMFORTABLE`, or an entry beyond float64.

    Raises
    ------
    BeyondFloat64
        If an entry would overflow or underflow whatever the power.
    """
    result, power, _ = in_range(operation, *tables)
    largest = result.max()
    if largest and not COMFORTABLE[0] <= largest <= COMFORTABLE[1]:
        result, further = scaled(result)
        power += further
    return result, power


def in_range(operation: Callable[..., Table], *tables: Table) -> tuple[Table, int, tuple[Table, ...]]:
    """As :func:`exactly`, with ``operation(*used) = result``: ``used`` are the tables, scaled if they have to be."""
    with np.errstate(under="raise", over="raise"):
        try:
            return operation(*tables), 0, tables
        except FloatingPointError:
            pairs = [scaled(table) for table in tables]
        used = tuple(table for table, _ in pairs)
        try:
            return operation(*used), sum(power for _, power in pairs), used
        except FloatingPointError:
            raise BeyondFloat64("products of the tables' entries would leave the range of float64") from None


def summed_out(table: Table, axis: int) -> Table:
    """Σ over one axis."""
    summed: Table = np.add.reduce(table, axis=axis)
    return summed


def multiplied_along(table: Table, vector: Table, axis: int) -> Table:
    """The table times a vector that lies along one axis."""
    return table * vector.reshape([-1 if i == axis else 1 for i in range(table.ndim)])


def contracted(a: Table, b: Table, axis_a: int, axis_b: int) -> Table:
    """Σ_k a[…, k, …]·b[…, k, …], axes those of ``a`` without ``axis_a`` and then those of ``b`` without ``axis_b``.

    By ufuncs and not by BLAS, which says nothing of underflow.
    """
    first, second = np.moveaxis(a, axis_a, 0), np.moveaxis(b, axis_b, 0)
    total: Table = np.multiply.outer(first[0], second[0])
    for x, y in zip(first[1:], second[1:], strict=True):
        total += np.multiply.outer(x, y)
    return total


def joined(a: Table, b: Table, axis_a: int, axis_b: int) -> Table:
    """a[…, k, …]·b[…, k, …], axes those of ``a`` and then those of ``b`` without ``axis_b``."""
    aligned = np.moveaxis(b, axis_b, 0)
    along = [1] * (b.ndim - 1)
    wide = np.moveaxis(a, axis_a, -1).reshape(*np.delete(a.shape, axis_a), a.shape[axis_a], *along)
    return np.ascontiguousarray(np.moveaxis(wide * aligned, a.ndim - 1, axis_a))


def possible_values(table: Table, axis: int) -> NDArray[np.bool_]:
    """bool (K,): the values along an axis at which the table is not zero everywhere."""
    possible: NDArray[np.bool_] = np.any(table, axis=tuple(i for i in range(table.ndim) if i != axis))
    return possible


def factorised(table: Table, part: tuple[int, ...]) -> tuple[Table, Table] | None:
    """Two tables over the axes in ``part`` and over the others whose product the table is, if there are such.

    Equal entry by entry to :data:`RANK_ONE` of each, zeros exactly.
    """
    rest = tuple(i for i in range(table.ndim) if i not in part)
    shape, shape_rest = ([table.shape[i] for i in axes] for axes in (part, rest))
    matrix = table.transpose(*part, *rest).reshape(math.prod(shape), math.prod(shape_rest))
    row, column = np.unravel_index(matrix.argmax(), matrix.shape)
    first, second = matrix[:, column], matrix[row] / matrix[row, column]
    if not (np.abs(np.multiply.outer(first, second) - matrix) <= RANK_ONE * matrix).all():
        return None
    return np.array(first).reshape(shape), second.reshape(shape_rest)


def find_factorisation(table: Table) -> tuple[int, ...] | None:
    """Axes of the smaller part of some split of the table into two, if it is of rank one across any.

    Parts of one axis are tried first; larger ones only while that looks at no more than 2²⁴ entries in all.
    """
    n = table.ndim
    for part in _parts(n, n // 2 if (1 << n - 1) * table.size <= _MOST_COMPARISONS else 1):
        if factorised(table, part) is not None:
            return part
    return None


def _parts(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, min(largest, n - 1) + 1):
        for part in combinations(range(n), size):
            if 2 * size < n or 0 in part:
                yield part
