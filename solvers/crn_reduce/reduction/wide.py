"""Tables whose entries have an exponent each, so that no sum or product of them is lost beyond float64's range.

For :mod:`verify`, which may not share the arithmetic of the moves that it checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.factor_graphs.graph import Table

_OF_ZERO = -(1 << 40)
"""Exponent of an entry that is zero: below all others, of which the least is a few thousand times the moves made."""

_MOST_ENTRIES = 1 << 22
"""Of a product that is summed at once; a larger one is summed value by value."""


class WideTable(NamedTuple):
    """Entries ``mantissa``·2 to the power of ``exponent``.

    ``mantissa`` is float64, in [1/2, 1) or zero (not finite where the table is not), ``exponent`` int64.
    """

    mantissa: Table
    exponent: NDArray[np.int64]

    @classmethod
    def of(cls, table: Table) -> WideTable:
        """A table of float64, exactly."""
        return _normalised(table, np.int64(0))

    def any(self) -> bool:
        """Whether an entry is not zero."""
        return bool(self.mantissa.any())

    def transpose(self, axes: Sequence[int]) -> WideTable:
        return WideTable(self.mantissa.transpose(axes), self.exponent.transpose(axes))

    def reshape(self, shape: Sequence[int]) -> WideTable:
        return WideTable(self.mantissa.reshape(shape), self.exponent.reshape(shape))

    def take(self, values: Sequence[int], axis: int) -> WideTable:
        """Some of the values along an axis."""
        return WideTable(self.mantissa.take(values, axis), self.exponent.take(values, axis))

    def times_power(self, power: int) -> WideTable:
        """Times 2 to a power."""
        return _normalised(self.mantissa, self.exponent + power) if power else self


def summed_product(scopes: Sequence[tuple[str, ...]], tables: Sequence[WideTable], scope: tuple[str, ...]) -> WideTable:
    """Σ over the variables that are not in ``scope`` of the product of tables, each entry to float64's precision."""
    size = {
        v: n for names, table in zip(scopes, tables, strict=True) for v, n in zip(names, table[0].shape, strict=True)
    }
    order = (*(v for v in size if v not in scope), *scope)
    n_summed = len(order) - len(scope)
    spread = [_spread(table, names, order) for names, table in zip(scopes, tables, strict=True)]
    if not n_summed:
        return _product(spread)
    entries = 1
    for v in order:
        entries *= size[v]
    if entries <= _MOST_ENTRIES:
        return _summed(_product(spread), tuple(range(n_summed)))
    total: WideTable | None = None
    for at in np.ndindex(*(size[v] for v in order[:n_summed])):
        term = _product([_slice(table, at) for table in spread])
        total = term if total is None else _summed(_stacked(total, term), (0,))
    assert total is not None
    return total


def agree(a: WideTable, b: WideTable, tolerance: float) -> bool:
    """Whether two tables have one shape and finite entries, none negative, that differ by no more than ``tolerance``
    relative to the smaller: zeros are in the same places."""
    if a.mantissa.shape != b.mantissa.shape:
        return False
    apart = np.minimum(np.maximum(a.exponent - b.exponent, -2), 2)
    first = np.ldexp(a.mantissa, apart)
    with np.errstate(invalid="ignore"):
        return bool((np.abs(first - b.mantissa) <= tolerance * np.minimum(first, b.mantissa)).all())


def _normalised(mantissa: Table, exponent: NDArray[np.int64] | np.int64) -> WideTable:
    mantissa, shift = np.frexp(mantissa)
    return WideTable(mantissa, np.where(mantissa, exponent + shift, _OF_ZERO))


def _product(tables: Sequence[WideTable]) -> WideTable:
    product = tables[0]
    for table in tables[1:]:
        product = _normalised(product.mantissa * table.mantissa, product.exponent + table.exponent)
    return product


def _summed(table: WideTable, axes: tuple[int, ...]) -> WideTable:
    """Σ over axes: what is left out of a sum is 2⁻¹⁰⁰⁰ of its largest term, none of which is negative."""
    largest = table.exponent.max(axis=axes)
    return _normalised(np.ldexp(table.mantissa, table.exponent - largest).sum(axis=axes), largest)


def _spread(table: WideTable, scope: tuple[str, ...], order: tuple[str, ...]) -> WideTable:
    """With an axis for each variable in ``order``, of length one for those that the table does not have."""
    if scope == order:
        return table
    place = [order.index(v) for v in scope]
    ascending = sorted(range(len(place)), key=place.__getitem__)
    if ascending != list(range(len(place))):
        table = table.transpose(ascending)
    shape = [1] * len(order)
    for axis, n in zip(sorted(place), table.mantissa.shape, strict=True):
        shape[axis] = n
    return table.reshape(shape)


def _slice(table: WideTable, at: tuple[int, ...]) -> WideTable:
    index = tuple(i if n > 1 else 0 for i, n in zip(at, table.mantissa.shape, strict=False))
    return WideTable(table.mantissa[index], table.exponent[index])


def _stacked(a: WideTable, b: WideTable) -> WideTable:
    return WideTable(np.stack([a.mantissa, b.mantissa]), np.stack([a.exponent, b.exponent]))
