"""What proves a reduction: the moves, what was kept, and which graphs it leads from and to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.compile import compiled_size
from scisuite.solvers.crn_reduce.reduction.record import Move

FORMAT = "scisuite-crn-certificate"
VERSION = 1


@dataclass(frozen=True)
class GraphSummary:
    """Size and hash of a graph.

    Attributes
    ----------
    variables, factors : int
    species, reactions : int
        Of the network it compiles to.
    sha256 : str
        :func:`graph_hash`.
    """

    variables: int
    factors: int
    species: int
    reactions: int
    sha256: str

    @classmethod
    def of(cls, graph: FactorGraph) -> GraphSummary:
        """The summary of a graph."""
        return cls(len(graph.card), len(graph.factors), *compiled_size(graph), graph_hash(graph))


@dataclass(frozen=True, eq=False)
class Certificate(Sequence[Move]):
    """The moves of a reduction, in order, as a sequence.

    Attributes
    ----------
    moves : tuple of Move
    keep : tuple of str
        Variables that no move eliminates.
    before, after : GraphSummary
        The graphs it leads from and to.
    """

    moves: tuple[Move, ...]
    keep: tuple[str, ...]
    before: GraphSummary
    after: GraphSummary

    def __len__(self) -> int:
        return len(self.moves)

    @overload
    def __getitem__(self, index: int) -> Move: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Move, ...]: ...
    def __getitem__(self, index: int | slice) -> Move | tuple[Move, ...]:
        return self.moves[index]

    def __iter__(self) -> Iterator[Move]:
        return iter(self.moves)

    def __repr__(self) -> str:
        return f"Certificate({len(self.moves)} moves, {self.before.reactions} → {self.after.reactions} reactions)"


def graph_hash(graph: FactorGraph) -> str:
    """SHA-256 of names, cardinalities and tables, whatever the order of variables, factors and axes.

    Names of values and ``log_scale`` have no part in it: a network knows neither.
    """
    digest = hashlib.sha256(json.dumps(sorted(graph.card.items())).encode())
    for name in sorted(graph.factors):
        variables, table = graph.factors[name]
        order = sorted(range(len(variables)), key=variables.__getitem__)
        digest.update(json.dumps([name, *(variables[i] for i in order)]).encode())
        digest.update((table.transpose(order) + 0.0).astype("<f8").tobytes())
    return digest.hexdigest()
