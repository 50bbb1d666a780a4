"""Which pools are beliefs, which sum and which product messages, from who catalyses whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import Ints
from scisuite.solvers.crn_reduce.recovery.partition import Partition

NONE = -1


@dataclass(frozen=True, eq=False)
class Roles:
    """What each pool is; every array has one entry a pool.

    Attributes
    ----------
    reader, read : int64 (n,)
        The pairs of pools of which the second's species catalyse production in the first.
    n_read : int64
        Number of pools that a pool reads.
    is_belief, is_sum, is_product : bool
        The kind, of those pools that read others or are read. The rest (``is_loose``) are constant and not read: a
        lone variable's message to its unary factor, or the belief of a variable without factors.
    owner : int64
        Belief pool of the variable that a sum pool sends to, or that a product pool which reads sends from; else NONE.
    missing : int64
        For a product pool v → f that reads, the sum pool f → v: the only one of v that it does not read; else NONE.
    degree : int64
        Number of sum pools that a belief pool reads.
    """

    reader: Ints
    read: Ints
    n_read: Ints
    is_belief: np.ndarray
    is_sum: np.ndarray
    is_product: np.ndarray
    is_loose: np.ndarray
    owner: Ints
    missing: Ints
    degree: Ints


def find_roles(pools: Partition) -> Roles:
    """Tell beliefs, sum messages and product messages apart (reconstruction).

    A belief is never read and reads every sum message of its variable, of which a product message lacks one. So among
    the pools that nobody reads, a belief is the one that reads most of any sum pool's readers; and no table, were it
    the identity's, makes a sum message look like a product: sum messages are what beliefs read.

    Raises
    ------
    NotNappAdams
        If no pool can be a belief, or a product pool does not read all sum pools of one variable but one.
    """
    n = pools.n_pools
    reactions = pools.reactions
    pairs = np.unique(pools.pool_of[reactions.made[reactions.catalysed]] * n + pools.pool_of[reactions.catalyst])
    reader, read = pairs // n, pairs % n
    n_read = np.bincount(reader, minlength=n)
    never_read = np.bincount(read, minlength=n) == 0
    if not never_read.any():
        raise NotNappAdams(
            f"no pool is a belief: {pools.name(0)} and every other catalyse production elsewhere, and a belief does not"
        )
    is_belief, owner = _beliefs(reader, read, n_read, never_read)
    is_sum = owner != NONE
    is_loose = never_read & (n_read == 0)
    is_product = ~(is_belief | is_sum | is_loose)
    degree = np.where(is_belief, n_read, 0)
    missing = _read_all_but_one(pools, reader, read, n_read, is_product, owner, degree)
    reads = is_product & (n_read > 0)
    owner[reads] = owner[missing[reads]]
    return Roles(reader, read, n_read, is_belief, is_sum, is_product, is_loose, owner, missing, degree)


def require_all_catalysts(pools: Partition, roles: Roles, rows: Ints) -> None:
    """Refuse production without a catalyst of some pool that other reactions of the same pool read."""
    reactions = pools.reactions
    pool = pools.pool_of[reactions.made]
    lacking = rows[reactions.n_catalysts[rows] != roles.n_read[pool[rows]]]
    if len(lacking):
        row = int(lacking[0])
        raise NotNappAdams(
            f"{reactions.text(row)} lacks a catalyst: the reactions of {pools.name(int(pool[row]))} read "
            f"{roles.n_read[pool[row]]} pools, and this one {reactions.n_catalysts[row]}"
        )


def _beliefs(reader: Ints, read: Ints, n_read: Ints, never_read: np.ndarray) -> tuple[np.ndarray, Ints]:
    """Which pools are beliefs, and the belief that reads each pool."""
    ends = np.flatnonzero(never_read[reader])
    ends = ends[np.argsort(n_read[reader[ends]], kind="stable")]
    largest = np.full(len(n_read), NONE, dtype=np.int64)
    largest[read[ends]] = reader[ends]
    is_belief = never_read & (n_read > 0)
    is_belief[reader[ends[largest[read[ends]] != reader[ends]]]] = False
    owner = np.where((largest != NONE) & is_belief[largest], largest, NONE)
    return is_belief, owner


def _read_all_but_one(
    pools: Partition, reader: Ints, read: Ints, n_read: Ints, is_product: np.ndarray, owner: Ints, degree: Ints
) -> Ints:
    """The sum pool that each product pool leaves out, checked to be the only one."""
    n = len(owner)
    of_products = is_product[reader]
    reader, read = reader[of_products], read[of_products]
    strange = np.flatnonzero(owner[read] == NONE)
    if len(strange):
        raise NotNappAdams(
            f"{pools.name(int(reader[strange[0]]))} reads {pools.name(int(read[strange[0]]))}, which no belief reads"
        )
    belief = np.full(n, NONE, dtype=np.int64)
    belief[reader] = owner[read]
    mixed = np.flatnonzero(owner[read] != belief[reader])
    if len(mixed):
        raise NotNappAdams(
            f"{pools.name(int(reader[mixed[0]]))} reads messages to two variables, whose beliefs are "
            f"{pools.name(int(belief[reader[mixed[0]]]))} and {pools.name(int(owner[read[mixed[0]]]))}"
        )
    product = np.flatnonzero(is_product & (n_read > 0))
    wrong = product[n_read[product] != degree[belief[product]] - 1]
    if len(wrong):
        pool = int(wrong[0])
        raise NotNappAdams(
            f"{pools.name(pool)} reads {n_read[pool]} of the {degree[belief[pool]]} messages to the variable whose "
            f"belief is {pools.name(int(belief[pool]))}; a message from that variable reads all but one"
        )
    total, partial = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    sums = np.flatnonzero(owner != NONE)
    np.add.at(total, owner[sums], sums)
    np.add.at(partial, reader, read)
    missing = np.full(n, NONE, dtype=np.int64)
    missing[product] = total[belief[product]] - partial[product]
    answers = np.bincount(missing[product], minlength=n)
    wrong = sums[answers[sums] != (degree[owner[sums]] > 1)]
    if len(wrong):
        pool = int(wrong[0])
        raise NotNappAdams(
            f"{answers[pool] or 'no'} pools read all messages to the variable whose belief is "
            f"{pools.name(int(owner[pool]))} but that of {pools.name(pool)}; there should be one"
        )
    return missing
