"""The factors' tables, read from the rates of the sum messages."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import Floats, Ints
from scisuite.solvers.crn_reduce.recovery.factors import Edges
from scisuite.solvers.crn_reduce.recovery.layout import Layout, by_shape, lay_out, positions
from scisuite.solvers.crn_reduce.recovery.matching import match_matrices, rate_classes, row_classes
from scisuite.solvers.crn_reduce.recovery.partition import SAME, Partition, same
from scisuite.solvers.crn_reduce.recovery.roles import Roles, require_all_catalysts


def read_tables(pools: Partition, roles: Roles, edges: Edges, label: Ints) -> tuple[list[Floats], Ints]:
    """The table of every factor, and the labels of all values, those of constant messages now among them.

    Every message of a factor tells the whole table. In that of f → v the values of v have labels; those of another
    variable u have labels too unless u is in no other factor: then its message to f is constant, and its values are
    recognised by comparing two read-outs. Where all variables of f are such, this is the isomorphism of two matrices
    (:func:`~scisuite.solvers.crn_reduce.recovery.matching.match_matrices`).

    Raises
    ------
    NotNappAdams
        If a reaction of a message from a factor lacks a catalyst or is there twice, or the read-outs of a table differ
        by more than 1e-12 of an entry.
    InvalidInput
        If the tables would have more than 2²⁷ entries, counted once for every variable of their scopes.
    """
    if not len(edges.sum_pool):
        return [], label
    reactions = pools.reactions
    layout = lay_out(pools, edges)
    rows = pools.production[roles.is_sum[pools.pool_of[reactions.made[pools.production]]]]
    require_all_catalysts(pools, roles, rows)
    at = positions(pools, edges, layout, rows, label)
    _check_repeats(pools, rows, at)
    readouts = np.zeros(layout.total)
    readouts[at] = reactions.crn.rates[rows]

    constant = roles.degree[roles.owner[edges.sum_pool]] == 1
    groups = by_shape(layout, edges, constant)
    if constant.any():
        label = label.copy()
        for pattern, factors in groups:
            if any(pattern):
                _label_constant(
                    pools, edges, layout.take(readouts, factors), layout.shapes[factors[0]], pattern, factors, label
                )
        at = positions(pools, edges, layout, rows, label)
        readouts[:] = 0
        readouts[at] = reactions.crn.rates[rows]

    tables: list[Floats] = [np.empty(0)] * len(layout.shapes)
    for _, factors in groups:
        several = layout.take(readouts, factors)
        odd = ~same(several, several[:, :1])
        if odd.any():
            _refuse_entry(pools, layout, readouts, rows, at, factors, np.argwhere(odd)[0])
        for factor, table in zip(factors.tolist(), several[:, 0], strict=True):
            tables[factor] = table.reshape(layout.shapes[factor]).copy()
    return tables, label


def _check_repeats(pools: Partition, rows: Ints, at: Ints) -> None:
    order = np.argsort(at, kind="stable")
    again = np.flatnonzero(np.diff(at[order]) == 0)
    if len(again):
        one, two = (int(rows[order[again[0] + i]]) for i in (0, 1))
        raise NotNappAdams(f"{pools.reactions.text(two)} is there already, as {pools.reactions.crn.reaction(one)}")


def _label_constant(
    pools: Partition,
    edges: Edges,
    several: Floats,
    shape: tuple[int, ...],
    pattern: tuple[bool, ...],
    factors: Ints,
    label: Ints,
) -> None:
    """Label the values of constant messages to factors of one shape and pattern; ``several`` (n, arity, entries)."""
    arity = len(shape)
    if arity == 1:
        return
    classes = rate_classes(several, SAME).reshape(len(factors), arity, *shape)
    leaves = [axis for axis in range(arity) if pattern[axis]]
    if len(leaves) < arity:
        settled = pattern.index(False)
        for axis in leaves:
            named, own = (
                np.moveaxis(classes[:, readout], 1 + axis, 1).reshape(len(factors) * shape[axis], -1)
                for readout in (axis, settled)
            )
            rows = row_classes(np.concatenate([named, own])).reshape(2, len(factors), shape[axis])
            order = np.argsort(rows, axis=2, kind="stable")
            found = np.take_along_axis(rows, order, axis=2)
            wrong = (found[0] != found[1]).any(axis=1)
            if wrong.any():
                _refuse_labels(pools, edges, int(factors[wrong.argmax()]), [axis])
            for factor, names, places in zip(factors.tolist(), *order, strict=True):
                _put(pools, edges, factor, axis, places, names, label)
        return
    for factor, readouts in zip(factors.tolist(), classes, strict=True):
        for axis, (places, names) in enumerate(_match_readouts(pools, edges, factor, readouts)):
            _put(pools, edges, factor, axis, places, names, label)


def _match_readouts(pools: Partition, edges: Edges, factor: int, readouts: Ints) -> list[tuple[Ints, Ints]]:
    """Places and labels along every axis, where no read-out has labels along another axis than its own.

    Read-out 0 and read-out b part on the axes 0 and b only. So all of them agree when the matrices (axis 0 × axis b,
    entries the tables over the other axes), set side by side for all b, are equal up to one order of rows and one order
    of columns for each b.
    """
    shape = readouts.shape[1:]
    left, right, blocks = [], [], []
    for b in range(1, len(shape)):
        pair = np.stack([np.moveaxis(readouts[i], (0, b), (0, 1)) for i in (0, b)])
        one, two = row_classes(pair.reshape(2 * shape[0] * shape[b], -1)).reshape(2, shape[0], shape[b])
        left.append(one)
        right.append(two)
        blocks.append(np.full(shape[b], b))
    matched = match_matrices(np.concatenate(left, axis=1), np.concatenate(right, axis=1), np.concatenate(blocks))
    if matched is None:
        _refuse_labels(pools, edges, factor, list(range(len(shape))))
    rows, columns = matched
    found = [(np.arange(shape[0]), rows)]
    start = 0
    for b in range(1, len(shape)):
        found.append((columns[start : start + shape[b]] - start, np.arange(shape[b])))
        start += shape[b]
    return found


def _put(pools: Partition, edges: Edges, factor: int, axis: int, places: Ints, names: Ints, label: Ints) -> None:
    first = pools.start[edges.product_pool[edges.start[factor] + axis]]
    label[pools.members[first + places]] = names


def _refuse_labels(pools: Partition, edges: Edges, factor: int, axes: list[int]) -> NoReturn:
    a, b = (pools.name(int(pool)) for pool in edges.sum_pool[edges.start[factor] : edges.start[factor] + 2])
    constant = " and ".join(pools.name(int(edges.product_pool[edges.start[factor] + axis])) for axis in axes)
    raise NotNappAdams(
        f"the messages of one factor tell different tables, however the values of {constant} are ordered: among others "
        f"those of {a} and {b}"
    )


def _refuse_entry(
    pools: Partition, layout: Layout, readouts: Floats, rows: Ints, at: Ints, factors: Ints, where: Ints
) -> NoReturn:
    which, edge, entry = (int(i) for i in where)
    shape = layout.shapes[factors[which]]
    length = int(np.prod(shape))
    first = int(layout.first[factors[which]]) + entry
    told = {first + i * length: readouts[first + i * length] for i in (0, edge)}
    place, rate = max(told.items(), key=lambda item: item[1])
    row = int(rows[np.flatnonzero(at == place)[0]])
    other = min(told.values())
    rest = (
        f"another message of the factor tells {other:.15g}"
        if other
        else "another message of the factor has no such reaction"
    )
    raise NotNappAdams(
        f"{pools.reactions.text(row)} runs at the rate {rate:.15g}, but for the same entry of the table {rest}"
    )
