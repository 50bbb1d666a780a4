"""Where every reaction of a sum message stands in the tables."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.network import Floats, Ints
from scisuite.solvers.crn_reduce.recovery.factors import Edges
from scisuite.solvers.crn_reduce.recovery.partition import Partition

MAX_ENTRIES = 2**27


@dataclass(frozen=True, eq=False)
class Layout:
    """The read-outs of all tables in one array: factor by factor, and for each factor edge by edge.

    The read-out of edge (f, v) is ψ_f as the reactions of the message f → v tell it; its axes are the variables of f.

    Attributes
    ----------
    shapes : list of tuple of int
        Shape of each factor's table.
    first : int64 (n_factors,)
        Where the first read-out of each factor begins.
    begin, stride : int64 (n_edges,)
        Where each edge's read-out begins, and how far apart neighbouring values of the edge's variable lie in any.
    total : int
        Entries of all read-outs.
    """

    shapes: list[tuple[int, ...]]
    first: Ints
    begin: Ints
    stride: Ints
    total: int

    def take(self, readouts: Floats, factors: Ints) -> Floats:
        """float64 (n_factors, n_edges of each, entries): read-outs of factors of one shape."""
        shape = self.shapes[factors[0]]
        entries = math.prod(shape)
        at = self.first[factors][:, None] + np.arange(len(shape) * entries)
        return readouts[at].reshape(len(factors), len(shape), entries)


def lay_out(pools: Partition, edges: Edges) -> Layout:
    """Plan the read-outs.

    Raises
    ------
    InvalidInput
        If the tables would have more than 2²⁷ entries, counted once for every variable of their scopes.
    """
    sizes = pools.size[edges.sum_pool].tolist()
    start = edges.start.tolist()
    shapes = [tuple(sizes[a:b]) for a, b in pairwise(start)]
    lengths = [math.prod(shape) for shape in shapes]
    total = sum(len(shape) * length for shape, length in zip(shapes, lengths, strict=True))
    if total > MAX_ENTRIES:
        largest = max(range(len(shapes)), key=lengths.__getitem__)
        raise InvalidInput(
            f"the tables are too large to be read: {total:,} entries, of which {lengths[largest]:,} for each of the "
            f"{len(shapes[largest])} messages of the factor of {pools.name(int(edges.sum_pool[start[largest]]))}"
        )
    length = np.array(lengths, dtype=np.int64)
    arity = np.diff(edges.start)
    told = arity * length
    first = np.cumsum(told) - told
    within = np.arange(len(sizes)) - edges.start[edges.factor]
    begin = first[edges.factor] + within * length[edges.factor]
    strides: dict[tuple[int, ...], list[int]] = {}
    for shape in shapes:
        if shape not in strides:
            strides[shape] = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    stride = np.array([step for shape in shapes for step in strides[shape]], dtype=np.int64)
    return Layout(shapes, first, begin, stride, int(total))


def positions(pools: Partition, edges: Edges, layout: Layout, rows: Ints, label: Ints) -> Ints:
    """int64 (n,): the place among the read-outs that each reaction of a sum message tells, values as labelled."""
    reactions = pools.reactions
    edge_of = np.zeros(pools.n_pools, dtype=np.int64)
    edge_of[edges.sum_pool] = edge_of[edges.product_pool] = np.arange(len(edges.sum_pool))
    edge = edge_of[pools.pool_of]
    offset = label * layout.stride[edge]
    at = layout.begin[edge[reactions.made[rows]]] + offset[reactions.made[rows]]
    number = np.full(reactions.crn.n_reactions, -1, dtype=np.int64)
    number[rows] = np.arange(len(rows))
    number = number[reactions.catalysed]
    of_sums = number >= 0
    np.add.at(at, number[of_sums], offset[reactions.catalyst[of_sums]])
    return at


def by_shape(layout: Layout, edges: Edges, constant: np.ndarray) -> list[tuple[tuple[bool, ...], Ints]]:
    """Factors of equal shapes, and equal patterns of variables that send them constant messages."""
    flags, start = constant.tolist(), edges.start.tolist()
    groups: dict[tuple[tuple[int, ...], tuple[bool, ...]], list[int]] = defaultdict(list)
    for factor, (shape, (a, b)) in enumerate(zip(layout.shapes, pairwise(start), strict=True)):
        groups[shape, tuple(flags[a:b])].append(factor)
    return [(pattern, np.array(factors)) for (_, pattern), factors in groups.items()]
