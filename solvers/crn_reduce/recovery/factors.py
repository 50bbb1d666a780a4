"""Messages gathered into factors, and the two pools of every edge of the factor graph."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import Ints
from scisuite.solvers.crn_reduce.recovery.matching import match_matrices, rate_classes
from scisuite.solvers.crn_reduce.recovery.partition import SAME, Partition
from scisuite.solvers.crn_reduce.recovery.roles import NONE, Roles


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of the factor graph, factor by factor, and variable by variable within one.

    Attributes
    ----------
    belief : int64 (n_variables,)
        Belief pool of each variable, ascending.
    sum_pool, product_pool, variable : int64 (n_edges,)
        The pools of the messages to and from the variable, and the variable.
    start : int64 (n_factors + 1,)
        The edges of factor f are ``start[f]`` to ``start[f + 1] - 1``.
    """

    belief: Ints
    sum_pool: Ints
    product_pool: Ints
    variable: Ints
    start: Ints

    @property
    def factor(self) -> Ints:
        """int64 (n_edges,): factor of each edge."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def find_factors(pools: Partition, roles: Roles, label: Ints) -> Edges:
    """Gather the messages that read each other into factors (reconstruction).

    The message f → v reads u → f for every other variable u of f, and u → f is known by f → u, which it does not read.
    Linked so, the messages of a factor hang together, except where a factor of two has no other factor beside it: then
    its two halves are put together by their tables. A lone variable's message from its unary factor and its own
    constant message are not linked either, and any constant pool of as many values will do. What remains are the
    beliefs of variables without factors.

    Raises
    ------
    NotNappAdams
        If the messages of a group are not those of one factor. The message names a pool.
    """
    n = pools.n_pools
    links = roles.is_sum[roles.reader]
    strange = np.flatnonzero(links & ~roles.is_product[roles.read])
    if len(strange):
        raise NotNappAdams(
            f"{pools.name(int(roles.reader[strange[0]]))}, a message from a factor, reads "
            f"{pools.name(int(roles.read[strange[0]]))}, which is no message from a variable"
        )
    reading = np.flatnonzero(roles.missing != NONE)
    ends = np.concatenate([roles.reader[links], reading]), np.concatenate([roles.read[links], roles.missing[reading]])
    group = connected_components(sparse.coo_array((np.ones(len(ends[0])), ends), shape=(n, n)), directed=False)[1]

    sums, products = np.flatnonzero(roles.is_sum), np.flatnonzero(roles.is_product)
    n_sums, n_products = (np.bincount(group[these], minlength=n) for these in (sums, products))
    lone = sums[(n_sums[group[sums]] == 1) & (roles.degree[roles.owner[sums]] == 1)]
    unary = lone[roles.n_read[lone] == 0]
    half = lone[(roles.n_read[lone] == 1) & (n_products[group[lone]] == 1)]
    whole = sums[~np.isin(sums, np.concatenate([unary, half]))]

    partner = np.full(n, NONE, dtype=np.int64)
    partner[whole] = _left_out(pools, roles, group, whole, n_sums, n_products)
    mates = _pair_halves(pools, roles, label, half)
    only_read = np.full(n, NONE, dtype=np.int64)
    only_read[roles.reader[links]] = roles.read[links]
    partner[half] = only_read[mates]
    group[half] = np.minimum(group[half], group[mates])
    partner[unary], isolated = _loose_pools(pools, roles, unary)
    _check_partners(pools, roles, sums, partner, group)

    belief = np.sort(np.concatenate([np.flatnonzero(roles.is_belief), isolated]))
    variable = np.searchsorted(belief, roles.owner[sums])
    first = np.full(n, n)
    np.minimum.at(first, group[sums], sums)
    order = np.lexsort((variable, first[group[sums]]))
    sums, variable = sums[order], variable[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(group[sums]) != 0])) if len(sums) else np.array([], int)
    return Edges(belief, sums, partner[sums], variable, np.append(starts, len(sums)).astype(np.int64))


def _left_out(pools: Partition, roles: Roles, group: Ints, whole: Ints, n_sums: Ints, n_products: Ints) -> Ints:
    """For each sum pool of a group the one product pool of the group that it does not read."""
    n = pools.n_pools
    wrong = whole[
        (n_products[group[whole]] != n_sums[group[whole]]) | (roles.n_read[whole] != n_sums[group[whole]] - 1)
    ]
    if len(wrong):
        pool = int(wrong[0])
        raise NotNappAdams(
            f"{pools.name(pool)} reads {roles.n_read[pool]} messages in a factor of {n_sums[group[pool]]} messages "
            f"to and {n_products[group[pool]]} from variables; there should be as many, and all but one be read"
        )
    total, partial = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    products = np.flatnonzero(roles.is_product)
    np.add.at(total, group[products], products)
    np.add.at(partial, roles.reader, roles.read)
    return total[group[whole]] - partial[whole]


def _loose_pools(pools: Partition, roles: Roles, unary: Ints) -> tuple[Ints, Ints]:
    """A constant, unread pool for each lone variable with a unary factor, and the pools that are left over."""
    free = defaultdict(list)
    for pool in np.flatnonzero(roles.is_loose)[::-1].tolist():
        free[int(pools.size[pool])].append(pool)
    taken = []
    for pool in unary.tolist():
        size = int(pools.size[pool])
        if not free[size]:
            raise NotNappAdams(
                f"{pools.name(pool)} is a unary factor's message to a variable, and no constant pool of {size} values "
                "can be the variable's message to that factor"
            )
        taken.append(free[size].pop())
    left = sorted(pool for of_size in free.values() for pool in of_size)
    return np.array(taken, dtype=np.int64), np.array(left, dtype=np.int64)


def _pair_halves(pools: Partition, roles: Roles, label: Ints, half: Ints) -> Ints:
    """For each message of an isolated factor of two variables the other one, by their tables."""
    tables = _half_tables(pools, roles, label, half)
    waiting: dict[tuple[object, ...], list[int]] = defaultdict(list)
    mate = np.full(len(half), NONE, dtype=np.int64)
    for i, table in enumerate(tables):
        key = _profile(table)
        asked = (key[1], key[0])
        for at, other in enumerate(waiting[asked]):
            if match_matrices(table, tables[other].T) is not None:
                mate[i], mate[other] = other, i
                del waiting[asked][at]
                break
        else:
            waiting[key].append(i)
    alone = np.flatnonzero(mate == NONE)
    if len(alone):
        raise NotNappAdams(
            f"{pools.name(int(half[alone[0]]))} is one of the two messages of an isolated factor of two variables, and "
            "no other pool has the same table for the other message"
        )
    return half[mate]


def _half_tables(pools: Partition, roles: Roles, label: Ints, half: Ints) -> list[Ints]:
    """For each message of a factor of two its table, rates as classes: its own values by what it reads."""
    reactions = pools.reactions
    is_half = np.zeros(pools.n_pools, dtype=bool)
    is_half[half] = True
    at = np.flatnonzero(is_half[pools.pool_of[reactions.made[reactions.catalysed]]])
    row, read = reactions.catalysed[at], reactions.catalyst[at]
    pool = pools.pool_of[reactions.made[row]]
    width = np.zeros(pools.n_pools, dtype=np.int64)
    width[pool] = pools.size[pools.pool_of[read]]
    sizes = pools.size[half] * width[half]
    start = np.zeros(pools.n_pools, dtype=np.int64)
    start[half] = np.cumsum(sizes) - sizes
    rates = np.zeros(int(sizes.sum()))
    rates[start[pool] + label[reactions.made[row]] * width[pool] + pools.place[read]] = reactions.crn.rates[row]
    classes = rate_classes(rates, SAME)
    return [classes[start[h] : start[h] + size].reshape(-1, width[h]) for h, size in zip(half, sizes, strict=True)]


def _profile(table: Ints) -> tuple[bytes, bytes]:
    """What does not change when rows and columns change places, of the rows and of the columns."""
    rows, columns = (np.sort(side, axis=1) for side in (table, table.T))
    rows, columns = (side[np.lexsort(side.T)] for side in (rows, columns))
    return (np.append(rows, rows.shape).tobytes(), np.append(columns, columns.shape).tobytes())


def _check_partners(pools: Partition, roles: Roles, sums: Ints, partner: Ints, group: Ints) -> None:
    product = partner[sums]
    expected = np.where(roles.degree[roles.owner[sums]] > 1, sums, NONE)
    wrong = np.flatnonzero((roles.missing[product] != expected) | (pools.size[product] != pools.size[sums]))
    taken, counts = np.unique(product, return_counts=True)
    if len(wrong) or (counts > 1).any():
        pool = int(sums[wrong[0]]) if len(wrong) else int(sums[product == taken[counts.argmax()]][0])
        raise NotNappAdams(
            f"{pools.name(pool)} and {pools.name(int(partner[pool]))} should be the two messages between a factor and "
            "a variable, and do not read what those would"
        )
    key = np.sort(group[sums] * pools.n_pools + roles.owner[sums])
    twice = np.flatnonzero(key[1:] == key[:-1])
    if len(twice):
        belief = int(key[twice[0]] % pools.n_pools)
        raise NotNappAdams(f"a factor sends two messages to the variable whose belief is {pools.name(belief)}")
