"""The factor graph under the names of a network's annotation, once the network is seen to agree with it."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace

import numpy as np

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import Factor, FactorGraph
from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, PRODUCT, SUM, UNASSIGNED, Ints, PoolKey, Pools
from scisuite.solvers.crn_reduce.recovery.factors import Edges
from scisuite.solvers.crn_reduce.recovery.layout import lay_out, positions
from scisuite.solvers.crn_reduce.recovery.partition import Partition
from scisuite.solvers.crn_reduce.recovery.recover import recover_with_partition, require_recompiles
from scisuite.solvers.crn_reduce.recovery.result import ISOLATED_FACTOR, Ambiguity, Recovery


def recover_named(crn: CRN) -> Recovery:
    """The factor graph of a network that says what its species stand for: names, scopes and values as annotated.

    The network is first recovered as if it were anonymous, so that one which is no compilation is refused for the
    reason that :func:`~scisuite.solvers.crn_reduce.recovery.recover_factor_graph` gives. Then it is read by
    ``crn.pools``, and what was read is compiled and must give the network back. Isolated factors are no ambiguity here:
    the annotation knows them.

    Raises
    ------
    NotNappAdams
        If the network is no compiled factor graph, or not of the one that its annotation describes. The message names
        the pool, species or reaction that shows it.
    InvalidInput
        If the network has no annotation, or tables too large to be read.
    """
    if crn.pools is None:
        raise InvalidInput("the network does not say what its species stand for; recover_factor_graph needs no names")
    anonymous, partition = recover_with_partition(crn)
    _require_same_pools(crn, crn.pools, anonymous.pools)
    _require_all_pools(crn.pools)
    graph = _read(crn.pools, partition)
    recovery = Recovery(graph, crn.pools, anonymous.rates, _renamed(crn.pools, anonymous))
    require_recompiles(recovery, crn)
    return recovery


def _renamed(annotated: Pools, anonymous: Recovery) -> tuple[Ambiguity, ...]:
    found = []
    for item in anonymous.ambiguities:
        if item.kind != ISOLATED_FACTOR:
            pool = anonymous.pools.number[PoolKey(SUM, item.variable, item.factor)]
            key = annotated.keys[annotated.pool_of[anonymous.pools.centre[pool]]]
            found.append(replace(item, factor=key.factor, variable=key.variable))
    return tuple(found)


def _require_same_pools(crn: CRN, annotated: Pools, found: Pools) -> None:
    if len(annotated.pool_of) != crn.n_species or len(annotated.value_of) != crn.n_species:
        raise NotNappAdams(f"the annotation is about {len(annotated.pool_of)} species, the network has {crn.n_species}")
    size = np.bincount(np.maximum(annotated.pool_of, 0), minlength=len(annotated.keys))
    if annotated.pool_of.min() < 0 or len(size) > len(annotated.keys):
        raise NotNappAdams("the annotation puts a species into a pool without a key")
    if not size.all():
        raise NotNappAdams(f"the annotation has no species in the {annotated.keys[int(size.argmin())]}")
    wrong = (annotated.value_of == UNASSIGNED) != (found.value_of == UNASSIGNED)
    if wrong.any():
        species = int(wrong.argmax())
        said, is_ = "a value", "the unassigned species"
        if annotated.value_of[species] == UNASSIGNED:
            said, is_ = is_, said
        raise NotNappAdams(f"the annotation calls {crn.species[species]} {said} of its pool, but it is {is_}")
    of_found = annotated.pool_of[found.centre]
    wrong = annotated.pool_of != of_found[found.pool_of]
    if wrong.any():
        species = int(wrong.argmax())
        centre = crn.species[found.centre[found.pool_of[species]]]
        raise NotNappAdams(
            f"the annotation puts {crn.species[species]} and {centre} into different pools, but they share one"
        )
    order = np.lexsort((annotated.value_of, annotated.pool_of))
    start = np.searchsorted(annotated.pool_of[order], np.arange(len(annotated.keys)))
    wrong = annotated.value_of[order] != np.arange(len(order)) - start[annotated.pool_of[order]] - 1
    if wrong.any():
        species = int(order[wrong.argmax()])
        raise NotNappAdams(
            f"the annotation calls {crn.species[species]} value {annotated.value_of[species]} of the "
            f"{annotated.keys[annotated.pool_of[species]]}; the values of a pool are numbered 0, 1, 2, … once each"
        )


def _require_all_pools(pools: Pools) -> None:
    if len(pools.number) < len(pools.keys):
        twice = next(key for i, key in enumerate(pools.keys) if pools.number[key] != i)
        raise NotNappAdams(f"the annotation has two pools called {twice}")
    size = np.bincount(pools.pool_of, minlength=len(pools.keys))
    for key in pools.keys:
        needed = [PoolKey(BELIEF, key.variable)]
        if key.kind != BELIEF:
            needed.append(PoolKey(SUM + PRODUCT - key.kind, key.variable, key.factor))
        for other in needed:
            if other not in pools.number:
                raise NotNappAdams(f"the annotation has a pool called {key}, but none called {other}")
            if size[pools.number[other]] != size[pools.number[key]]:
                raise NotNappAdams(f"the annotation's pools {key} and {other} have different numbers of values")


def _read(pools: Pools, partition: Partition) -> FactorGraph:
    start, members = pools.members
    annotated = replace(
        partition,
        pool_of=pools.pool_of,
        place=pools.value_of,
        centre=pools.centre,
        size=np.diff(start),
        start=start,
        members=members,
    )
    card = {key.variable: int(annotated.size[i]) for i, key in enumerate(pools.keys) if key.kind == BELIEF}
    scopes: dict[str, list[str]] = defaultdict(list)
    for key in pools.keys:
        if key.kind == SUM:
            scopes[key.factor].append(key.variable)
    if not scopes:
        return FactorGraph.trusted(card, {})
    edges = _edges(pools, scopes)
    layout = lay_out(annotated, edges)
    rows = _sum_reactions(pools, annotated, edges)
    readouts = np.zeros(layout.total)
    at = positions(annotated, edges, layout, rows, pools.value_of)
    readouts[at] = annotated.reactions.crn.rates[rows]
    factors = {}
    for name, shape, first in zip(scopes, layout.shapes, layout.first.tolist(), strict=True):
        table = readouts[first : first + math.prod(shape)].reshape(shape).copy()
        factors[name] = Factor(tuple(scopes[name]), table)
    return FactorGraph.trusted(card, factors)


def _edges(pools: Pools, scopes: dict[str, list[str]]) -> Edges:
    belief = np.array([i for i, key in enumerate(pools.keys) if key.kind == BELIEF], dtype=np.int64)
    number = {pools.keys[pool].variable: i for i, pool in enumerate(belief.tolist())}
    pairs = [(f, v) for f, variables in scopes.items() for v in variables]
    sums, products = (
        np.array([pools.number[PoolKey(kind, v, f)] for f, v in pairs], dtype=np.int64) for kind in (SUM, PRODUCT)
    )
    variable = np.array([number[v] for _, v in pairs], dtype=np.int64)
    start = np.cumsum([0, *(len(variables) for variables in scopes.values())])
    return Edges(belief, sums, products, variable, start.astype(np.int64))


def _sum_reactions(pools: Pools, annotated: Partition, edges: Edges) -> Ints:
    """The reactions of sum messages, each catalysed by messages to its factor from other variables only."""
    reactions = annotated.reactions
    is_sum = np.array([key.kind == SUM for key in pools.keys])
    edge_of = np.full(len(pools.keys), -1, dtype=np.int64)
    edge_of[edges.product_pool] = np.arange(len(edges.product_pool))
    own = np.full(len(pools.keys), -1, dtype=np.int64)
    own[edges.sum_pool] = np.arange(len(edges.sum_pool))
    into = pools.pool_of[reactions.made[reactions.catalysed]]
    read = edge_of[pools.pool_of[reactions.catalyst]]
    strange = is_sum[into] & ((read < 0) | (edges.factor[read] != edges.factor[own[into]]) | (read == own[into]))
    if strange.any():
        at = int(strange.argmax())
        catalyst = int(reactions.catalyst[at])
        raise NotNappAdams(
            f"{reactions.text(int(reactions.catalysed[at]))} makes a species of the {pools.keys[into[at]]}, and its "
            f"catalyst {reactions.name(catalyst)} is annotated as one of the {pools.keys[pools.pool_of[catalyst]]}"
        )
    rows: Ints = annotated.production[is_sum[pools.pool_of[reactions.made[annotated.production]]]]
    return rows
