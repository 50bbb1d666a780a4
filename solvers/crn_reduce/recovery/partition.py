"""The species sorted into pools: those that flow back, unaided, into one unassigned species."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import UNASSIGNED, Floats, Ints
from scisuite.solvers.crn_reduce.recovery.parse import Reactions

SAME = 1e-12
"""Two rates are the same number when they differ by less than this part of the larger."""


@dataclass(frozen=True, eq=False)
class Partition:
    """The pools of a network, numbered by their first species.

    Attributes
    ----------
    pool_of : int64 (n_species,)
    place : int64 (n_species,)
        Place of a value species in its pool, in the order of the species; UNASSIGNED for the unassigned one.
    centre, size : int64 (n_pools,)
        Unassigned species and number of values of each pool.
    start, members : int64 (n_pools + 1,), (n_values,)
        The value species of pool p are ``members[start[p]:start[p + 1]]``, by their places.
    production : int64 (n,)
        The reactions that are not recycling. Each takes from a pool's unassigned species and makes one of its values,
        catalysed by value species of pools that are different from each other and from its own.
    k_rec : float
        The rate constant of recycling.
    """

    reactions: Reactions
    pool_of: Ints
    place: Ints
    centre: Ints
    size: Ints
    start: Ints
    members: Ints
    production: Ints
    k_rec: float

    @property
    def n_pools(self) -> int:
        """Number of pools."""
        return len(self.centre)

    def name(self, pool: int) -> str:
        """The pool, for messages."""
        return f"the pool around {self.reactions.name(int(self.centre[pool]))}"


def partition_species(reactions: Reactions) -> Partition:
    """Find the pools.

    A pool's unassigned species is made by two or more reactions without catalysts, from its values. A value species is
    made by at most one such reaction (a constant message's), so that no value is taken for an unassigned species.

    Raises
    ------
    NotNappAdams
        If a species belongs to no pool or to two, a pool has one value only, recycling rates differ, or a reaction
        crosses pools or has an unassigned species, its own pool or a pool twice among its catalysts.
    """
    n_species = reactions.crn.n_species
    alone = np.flatnonzero(reactions.n_catalysts == 0)
    is_centre = np.bincount(reactions.made[alone], minlength=n_species) >= 2
    recycling = alone[is_centre[reactions.made[alone]]]
    _check_recycling(reactions, is_centre, recycling)

    flows_to = np.arange(n_species)
    flows_to[reactions.used[recycling]] = reactions.made[recycling]
    _, first, pool_of = np.unique(flows_to, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    pool_of = rank[pool_of]

    centre = np.empty(len(first), dtype=np.int64)
    centre[pool_of[is_centre]] = np.flatnonzero(is_centre)
    values = np.flatnonzero(~is_centre)
    members = values[np.argsort(pool_of[values], kind="stable")]
    size = np.bincount(pool_of[members], minlength=len(centre))
    start = np.concatenate([[0], np.cumsum(size)])
    place = np.full(n_species, UNASSIGNED, dtype=np.int64)
    place[members] = np.arange(len(members)) - start[pool_of[members]]

    productive = np.ones(reactions.crn.n_reactions, dtype=bool)
    productive[recycling] = False
    _check_production(reactions, pool_of, is_centre, productive)
    rates = reactions.crn.rates[recycling]
    k_rec = typical(rates)
    odd = np.flatnonzero(~same(rates, k_rec))
    if len(odd):
        name, rate = reactions.name(int(reactions.used[recycling[odd[0]]])), rates[odd[0]]
        raise NotNappAdams(f"species {name} is recycled at the rate {rate:.15g}, other species at {k_rec:.15g}")
    return Partition(
        reactions, pool_of, place, centre, size, start, members, production=np.flatnonzero(productive), k_rec=k_rec
    )


def same(a: Floats, b: Floats | float) -> np.ndarray:
    """bool: which rates are the same number up to rounding."""
    return np.asarray(np.abs(a - b) <= SAME * np.maximum(a, b))


def typical(rates: Floats) -> float:
    """The middle one of some rates, one of them itself."""
    return float(np.partition(rates, len(rates) // 2)[len(rates) // 2])


def _check_recycling(reactions: Reactions, is_centre: np.ndarray, recycling: Ints) -> None:
    crossing = recycling[is_centre[reactions.used[recycling]]]
    if len(crossing):
        raise NotNappAdams(
            f"{reactions.text(int(crossing[0]))} turns one unassigned species into another: two or more reactions "
            "without catalysts make each of them"
        )
    times = np.bincount(reactions.used[recycling], minlength=len(is_centre))
    twice = np.flatnonzero(times > 1)
    if len(twice):
        species = int(twice[0])
        into = [reactions.name(int(s)) for s in reactions.made[recycling[reactions.used[recycling] == species]]]
        raise NotNappAdams(
            f"species {reactions.name(species)} is recycled {len(into)} times, into {' and '.join(into)}"
        )
    orphans = (times == 0) & ~is_centre
    if not orphans.any():
        return
    alone = np.flatnonzero((reactions.n_catalysts == 0) & orphans[reactions.used])
    if len(alone):
        x, y = (reactions.name(int(side[alone[0]])) for side in (reactions.used, reactions.made))
        raise NotNappAdams(
            f"species {x} belongs to no pool: it turns into {y} without a catalyst, but nothing else does. In a pool "
            "of one value the value cannot be told from the unassigned species"
        )
    raise NotNappAdams(
        f"species {reactions.name(int(orphans.argmax()))} belongs to no pool: no reaction without catalysts recycles it"
    )


def _check_production(reactions: Reactions, pool_of: Ints, is_centre: np.ndarray, productive: np.ndarray) -> None:
    used, made = reactions.used, reactions.made
    wrong = np.flatnonzero(productive & (~is_centre[used] | is_centre[made] | (pool_of[used] != pool_of[made])))
    if len(wrong):
        row = int(wrong[0])
        raise NotNappAdams(
            f"{reactions.text(row)} makes {reactions.name(int(made[row]))} from {reactions.name(int(used[row]))}; only "
            "a pool's unassigned species may be made into one of its values"
        )
    reaction, catalyst = reactions.catalysed, reactions.catalyst
    for odd, what in (
        (is_centre[catalyst], "an unassigned species"),
        (pool_of[catalyst] == pool_of[made[reaction]], "a species of the pool that it fills"),
    ):
        if odd.any():
            at = int(odd.argmax())
            raise NotNappAdams(
                f"{reactions.text(int(reaction[at]))} has the catalyst {reactions.name(int(catalyst[at]))}, {what}"
            )
    key = np.sort(reaction * (pool_of.max() + 1) + pool_of[catalyst])
    again = np.flatnonzero(key[1:] == key[:-1])
    if len(again):
        row = int(key[again[0]] // (pool_of.max() + 1))
        raise NotNappAdams(f"{reactions.text(row)} has two catalysts of one pool")
