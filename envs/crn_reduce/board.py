"""The state of the game: which variables and factors are left, what may be done next and how large the network is.

Only the shapes of tables count for that, and where they are zero, so that no table is multiplied while playing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.factor_graphs import FactorGraph

LEAF, UNARY, SERIES, CLUSTER = range(4)
MOVE_NAMES = ("leaf", "unary", "series", "cluster")

Support = NDArray[np.bool_] | None
"""Where a table is above zero, axes in order of the variables' numbers; ``None`` if it is everywhere."""


class Move(NamedTuple):
    """One move, by numbers of variables and of factors' places.

    ``kind`` is :data:`LEAF`, :data:`UNARY`, :data:`SERIES` or :data:`CLUSTER`; ``variable`` is the one that is summed
    out, that the unary factor is about, or that two factors share; the factor that results stays in place ``first``,
    ``second`` is left empty (−1 for a leaf, which merges nothing).
    """

    kind: int
    variable: int
    first: int
    second: int = -1


@dataclass(frozen=True, eq=False)
class Board:
    """Variables and factors by number, sets of them as bits of an int. Immutable: :meth:`after` gives a new one.

    Attributes
    ----------
    variables, factors : tuple of str
        Names, in the order of the graph that the episode began with.
    card : tuple of int
    keep : int
        Set of the variables that may not be eliminated.
    alive : int
        Set of the variables that are left.
    scopes : tuple of int
        Variables of the factor in each place; 0 where there is none any more.
    sources : tuple of int
        The factors of the first graph that are multiplied in each place.
    entries, nonzero : tuple of int
        Entries of each table, and how many of them are above zero.
    supports : tuple
    max_molecularity, max_table : int or None
        Caps: see :meth:`moves`.
    """

    variables: tuple[str, ...]
    factors: tuple[str, ...]
    card: tuple[int, ...]
    keep: int
    alive: int
    scopes: tuple[int, ...]
    sources: tuple[int, ...]
    entries: tuple[int, ...]
    nonzero: tuple[int, ...]
    supports: tuple[Support, ...]
    max_molecularity: int | None = None
    max_table: int | None = None

    @classmethod
    def of(
        cls,
        graph: FactorGraph,
        keep: Iterable[str] = (),
        max_molecularity: int | None = None,
        max_table: int | None = None,
    ) -> Board:
        """The board of a graph."""
        number = {v: i for i, v in enumerate(graph.card)}
        tables = [_ordered(factor.table, [number[v] for v in factor.variables]) for factor in graph.factors.values()]
        return cls(
            variables=tuple(graph.card),
            factors=tuple(graph.factors),
            card=tuple(graph.card.values()),
            keep=_set(number[v] for v in keep),
            alive=(1 << len(number)) - 1,
            scopes=tuple(_set(number[v] for v in factor.variables) for factor in graph.factors.values()),
            sources=tuple(1 << i for i in range(len(graph.factors))),
            entries=tuple(table.size for table in tables),
            nonzero=tuple(int(np.count_nonzero(table)) for table in tables),
            supports=tuple(None if table.all() else table > 0 for table in tables),
            max_molecularity=max_molecularity,
            max_table=max_table,
        )

    @cached_property
    def holders(self) -> Mapping[int, tuple[int, ...]]:
        """For each variable that is left the places of the factors that hold it, in order."""
        held: dict[int, list[int]] = {v: [] for v in members(self.alive)}
        for place, scope in enumerate(self.scopes):
            while scope:
                low = scope & -scope
                held[low.bit_length() - 1].append(place)
                scope ^= low
        return {v: tuple(places) for v, places in held.items()}

    @cached_property
    def molecularity(self) -> int:
        """Largest number of molecules that meet in one reaction: the greatest of degree + 1 and of factors' sizes."""
        degree = max((len(places) for places in self.holders.values()), default=0)
        return max(degree + 1 if self.alive else 0, max((scope.bit_count() for scope in self.scopes), default=0))

    @cached_property
    def species(self) -> int:
        """Species of the compiled network."""
        card, held = self.card, self.holders
        return sum((card[v] + 1) * (2 * len(places) + 1) for v, places in held.items())

    @cached_property
    def reactions(self) -> int:
        """Reactions of the compiled network."""
        card, held = self.card, self.holders
        sums = sum(n * scope.bit_count() for n, scope in zip(self.nonzero, self.scopes, strict=True))
        return sums + sum(card[v] * (3 * len(places) + 2) for v, places in held.items())

    @property
    def size(self) -> int:
        """Species and reactions together: what the reward is about."""
        return self.species + self.reactions

    @cached_property
    def moves(self) -> tuple[tuple[Move, ...], ...]:
        """The legal moves: of leaves in order of variables, of unary factors in order of places, of series in order of
        variables, of clusters in lexicographic order of the pair of places.

        A series or cluster move may not make a table of more than ``max_table`` entries, nor a factor that raises the
        largest molecularity above ``max_molecularity``; what is larger already may stay so.
        """
        leaves, unaries, series, clusters = [], [], [], []
        scopes, keep = self.scopes, self.keep
        for v, places in self.holders.items():
            bit = 1 << v
            if len(places) == 1:
                if not keep & bit and scopes[places[0]] != bit:
                    leaves.append(Move(LEAF, v, places[0]))
            elif len(places) == 2 and not keep & bit:
                a, b = places
                union = scopes[a] | scopes[b]
                if scopes[a] & scopes[b] == bit and union != bit and self._fits(a, b, union ^ bit):
                    series.append(Move(SERIES, v, a, b))
        present = [place for place, scope in enumerate(scopes) if scope]
        for i, a in enumerate(present):
            scope = scopes[a]
            if not scope & (scope - 1):
                v = scope.bit_length() - 1
                target = next((place for place in self.holders[v] if place != a), None)
                if target is not None:
                    unaries.append(Move(UNARY, v, target, a))
                continue
            for b in present[i + 1 :]:
                other = scopes[b]
                shared = scope & other
                single = shared and not shared & (shared - 1)
                if single and other & (other - 1) and self._fits(a, b, scope | other):
                    clusters.append(Move(CLUSTER, shared.bit_length() - 1, a, b))
        return tuple(leaves), tuple(unaries), tuple(series), tuple(clusters)

    def after(self, move: Move) -> Board:
        """The board after a legal move."""
        kind, v, a, b = move
        scopes, sources, entries = list(self.scopes), list(self.sources), list(self.entries)
        nonzero, supports = list(self.nonzero), list(self.supports)
        gone = 1 << v if kind in (LEAF, SERIES) else 0
        before = scopes[a]
        scopes[a] = (before | scopes[b] if b >= 0 else before) & ~gone
        entries[a] = self.table_size(scopes[a])
        if supports[a] is not None or (b >= 0 and supports[b] is not None):
            supports[a] = self._support(a, b, v if gone else None)
        support = supports[a]
        nonzero[a] = entries[a] if support is None else int(np.count_nonzero(support))
        if b >= 0:
            sources[a] |= sources[b]
            scopes[b] = sources[b] = entries[b] = nonzero[b] = 0
            supports[b] = None
        return replace(
            self,
            alive=self.alive & ~gone,
            scopes=tuple(scopes),
            sources=tuple(sources),
            entries=tuple(entries),
            nonzero=tuple(nonzero),
            supports=tuple(supports),
        )

    def table_size(self, scope: int) -> int:
        """Entries of a table over a set of variables."""
        size = 1
        for v in members(scope):
            size *= self.card[v]
        return size

    def _fits(self, a: int, b: int, scope: int) -> bool:
        """Whether the factor over ``scope`` that places a and b would become is within the caps."""
        cap = self.max_molecularity
        if cap is not None and scope.bit_count() > cap and scope.bit_count() > self.molecularity:
            return False
        limit = self.max_table
        if limit is None:
            return True
        return self.table_size(scope) <= max(limit, self.entries[a], self.entries[b])

    def _support(self, a: int, b: int, summed: int | None) -> Support:
        """Support of the product of the tables in two places, b being −1 for none, with a variable summed out."""
        joint = self.scopes[a] | (self.scopes[b] if b >= 0 else 0)
        axes = tuple(members(joint))
        factors = [self._spread(place, axes) for place in (a, b) if place >= 0 and self.supports[place] is not None]
        product = reduce(np.logical_and, factors)
        product = np.broadcast_to(product, tuple(self.card[v] for v in axes))
        support = product if summed is None else product.any(axis=axes.index(summed))
        return None if support.all() else np.ascontiguousarray(support)

    def _spread(self, place: int, axes: tuple[int, ...]) -> NDArray[np.bool_]:
        support = self.supports[place]
        assert support is not None
        scope = self.scopes[place]
        return support.reshape([self.card[v] if scope >> v & 1 else 1 for v in axes])


def members(scope: int) -> Iterator[int]:
    """The numbers in a set, ascending.

    >>> list(members(0b1101))
    [0, 2, 3]
    """
    while scope:
        low = scope & -scope
        yield low.bit_length() - 1
        scope ^= low


def _set(numbers: Iterable[int]) -> int:
    return reduce(or_, (1 << number for number in numbers), 0)


def _ordered(table: NDArray[np.float64], numbers: list[int]) -> NDArray[np.float64]:
    return table.transpose(np.argsort(numbers))
