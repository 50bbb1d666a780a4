"""What a recovery gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.compile import Rates
from scisuite.solvers.crn_reduce.network import Pools

NEVER_PRODUCED = "never produced"
ISOLATED_FACTOR = "isolated factor"


@dataclass(frozen=True)
class Ambiguity:
    """Something that the network does not say, and that was settled by choice.

    Attributes
    ----------
    kind : str
        :data:`NEVER_PRODUCED`: a table has only zeros at a value of ``variable``, so that no reaction makes the species
        of ``factor``'s message about it; its label comes from what it would catalyse.
        :data:`ISOLATED_FACTOR`: all variables of ``factor`` are in no other factor, so that it is told from its like,
        and its variables' constant messages from each other, by tables and sizes only. Every choice gives the same
        graph up to names; an annotation may have made another.
    factor, variable : str
        Where in the recovered graph; ``variable`` is empty for an isolated factor.
    species : tuple of str
        The species never made, or the unassigned species of the constant messages.
    """

    kind: str
    factor: str
    variable: str
    species: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Recovery:
    """A factor graph read from a network; unpacks as ``graph, pools, ambiguities``.

    Attributes
    ----------
    graph : FactorGraph
        Its tables include the factor ``k_sum``.
    pools : Pools
        What each species of the network stands for.
    rates : Rates
        With which the graph compiles to the network; ``k_sum`` is 1.
    ambiguities : tuple of Ambiguity
        What was settled by choice.
    """

    graph: FactorGraph
    pools: Pools
    rates: Rates
    ambiguities: tuple[Ambiguity, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.graph, self.pools, self.ambiguities))
