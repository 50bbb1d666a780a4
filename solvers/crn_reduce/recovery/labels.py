"""Values given the same label wherever they occur, through the reactions that copy them."""

from __future__ import annotations

import numpy as np

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import Ints
from scisuite.solvers.crn_reduce.recovery.partition import Partition, same, typical
from scisuite.solvers.crn_reduce.recovery.roles import NONE, Roles, require_all_catalysts


def align_values(pools: Partition, roles: Roles) -> tuple[Ints, float]:
    """Label the values of every pool but the constant ones'.

    The places in a belief pool are the labels. A belief's reactions carry them to the sum pools that it reads, and the
    reactions of products carry them on. Constant pools keep their own places.

    Returns
    -------
    int64 (n_species,)
        Label of each value species; UNASSIGNED for unassigned ones.
    float
        The rate constant of products and beliefs.

    Raises
    ------
    NotNappAdams
        If a value of a belief or product has no reaction, or several, or a reaction with missing catalysts, or with
        catalysts of different values; or if the rates of these reactions differ.
    """
    reactions = pools.reactions
    copying = ~roles.is_sum
    pool = pools.pool_of[reactions.made]
    rows = pools.production[copying[pool[pools.production]]]
    made = np.bincount(reactions.made[rows], minlength=len(pools.place))
    values = pools.members[copying[pools.pool_of[pools.members]]]
    wrong = values[made[values] != 1]
    if len(wrong):
        species = int(wrong[0])
        raise NotNappAdams(
            f"species {reactions.name(species)} is made by {made[species] or 'no'} reactions; every value of a belief "
            "or of a message from a variable is made by exactly one"
        )
    k_prod = _shared_rate(pools, rows)
    require_all_catalysts(pools, roles, rows)
    owned = np.flatnonzero(roles.owner != NONE)
    unequal = owned[pools.size[owned] != pools.size[roles.owner[owned]]]
    if len(unequal):
        one, belief = int(unequal[0]), int(roles.owner[unequal[0]])
        raise NotNappAdams(
            f"{pools.name(one)} has {pools.size[one]} values, but the belief of its variable, {pools.name(belief)}, "
            f"has {pools.size[belief]}"
        )
    return _carry(pools, roles), k_prod


def _shared_rate(pools: Partition, rows: Ints) -> float:
    reactions = pools.reactions
    rates = reactions.crn.rates[rows]
    k_prod = typical(rates)
    odd = np.flatnonzero(~same(rates, k_prod))
    if len(odd):
        row = int(rows[odd[0]])
        raise NotNappAdams(
            f"{reactions.text(row)} runs at the rate {reactions.crn.rates[row]:.15g}, other beliefs and messages from "
            f"variables at {k_prod:.15g}"
        )
    return k_prod


def _carry(pools: Partition, roles: Roles) -> Ints:
    reactions = pools.reactions
    label = pools.place.copy()
    pool = pools.pool_of[reactions.made[reactions.catalysed]]
    product, catalyst = reactions.made[reactions.catalysed], reactions.catalyst

    beliefs = roles.is_belief[pool]
    times = np.bincount(catalyst[beliefs], minlength=len(label))
    sums = pools.members[roles.is_sum[pools.pool_of[pools.members]]]
    wrong = sums[times[sums] != 1]
    if len(wrong):
        species = int(wrong[0])
        raise NotNappAdams(
            f"species {reactions.name(species)} catalyses {times[species] or 'no'} values of a belief; it should be one"
        )
    label[catalyst[beliefs]] = label[product[beliefs]]

    products = roles.is_product[pool]
    label[product[products]] = label[catalyst[products]]
    mixed = np.flatnonzero(products)[label[product[products]] != label[catalyst[products]]]
    if len(mixed):
        at = int(mixed[0])
        raise NotNappAdams(
            f"{reactions.text(int(reactions.catalysed[at]))} is catalysed by messages about different values of the "
            f"variable whose belief is {pools.name(int(roles.owner[pool[at]]))}"
        )
    labelled = pools.members[(roles.owner[pools.pool_of[pools.members]] != NONE)]
    width = int(pools.size.max())
    key, counts = np.unique(pools.pool_of[labelled] * width + label[labelled], return_counts=True)
    if (counts > 1).any():
        clash = int(key[counts.argmax()] // width)
        raise NotNappAdams(f"two species of {pools.name(clash)} stand for the same value")
    return label
