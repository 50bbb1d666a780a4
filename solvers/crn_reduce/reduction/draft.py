"""A factor graph while it is being reduced."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean
from scisuite.scenarios.factor_graphs import Factor, FactorGraph
from scisuite.scenarios.factor_graphs.graph import Table
from scisuite.solvers.crn_reduce.reduction.errors import NotExactError
from scisuite.solvers.crn_reduce.reduction.record import SCALE, Move, Operand
from scisuite.solvers.crn_reduce.reduction.tables import scaled


class Draft:
    """Scopes, tables and who holds whom, changed in place by the functions of ``moves``.

    Attributes
    ----------
    keep : frozenset of str
        Variables that may not be eliminated.
    card : dict
    scopes, tables : dict
        By factor, in the order of the graph; a factor that a move made in place of another has its place.
    holders : dict of str to dict
        For each variable the factors that hold it, in the order in which they came to.
    moves : list of Move
        What was done.
    journal : list of str
        All factors, and then the name of one for every time that it was changed, so that a reader can look at what is
        new to it.
    """

    def __init__(self, graph: FactorGraph, keep: Iterable[str] = ()) -> None:
        self.graph = graph
        self.keep = frozenset(graph.require_variables(keep))
        self.card = dict(graph.card)
        self.scopes = {name: factor.variables for name, factor in graph.factors.items()}
        self.tables = {name: factor.table for name, factor in graph.factors.items()}
        self.holders = {v: dict.fromkeys(names) for v, names in graph.factors_of.items()}
        self.moves: list[Move] = []
        self.journal = list(graph.factors)
        self._states = dict(graph.states)
        self._exponent = 0
        self._logarithms: list[float] = []
        self._deleted: dict[str, int] = {}

    def require_free(self, variable: str) -> None:
        """Refuse to eliminate an unknown or kept variable."""
        self.require_variable(variable)
        if variable in self.keep:
            raise NotExactError(f"variable {variable!r} is kept and cannot be eliminated")

    def require_variable(self, variable: str) -> None:
        if variable not in self.card:
            raise InvalidInput(f"there is no variable {variable!r}{did_you_mean(str(variable), self.card)}")

    def require_factor(self, factor: str) -> None:
        if factor not in self.scopes:
            raise InvalidInput(f"there is no factor {factor!r}{did_you_mean(str(factor), self.scopes)}")

    def shared_by(self, a: str, b: str) -> tuple[str, ...]:
        """The variables of two factors' scopes that are in both."""
        return tuple(v for v in self.scopes[a] if v in self.scopes[b])

    def operand(self, factor: str, *, with_table: bool = False) -> Operand:
        """The factor as it is now."""
        return Operand(factor, self.scopes[factor], self.tables[factor] if with_table else None)

    def unused_name(self, factor: str) -> str:
        """A name for a further part of ``factor``."""
        number = 2
        while f"{factor}_{number}" in self.scopes or f"{factor}_{number}" in self.graph.factors:
            number += 1
        return f"{factor}_{number}"

    def replace(self, factor: str, variables: tuple[str, ...], table: Table) -> None:
        """Give a factor, or a new one, a scope and a table.

        Raises
        ------
        InvalidInput
            If the table is zero everywhere; nothing is changed then.
        """
        if not table.any():
            raise InvalidInput(
                f"the graph (or the evidence it was given) is impossible: nothing is left of factor {factor!r} about "
                f"{', '.join(variables)}"
            )
        before = self.scopes.get(factor, ())
        for v in before:
            if v not in variables:
                self._release(v, factor)
        for v in variables:
            if v not in before:
                self.holders[v][factor] = None
        table = np.ascontiguousarray(table)
        table.setflags(write=False)
        self.scopes[factor], self.tables[factor] = variables, table
        self.journal.append(factor)

    def drop(self, factor: str) -> None:
        """Remove a factor."""
        for v in self.scopes.pop(factor):
            self._release(v, factor)
        del self.tables[factor]

    def forget(self, variable: str) -> None:
        """Remove a variable that no factor holds any more."""
        assert not self.holders[variable]
        del self.holders[variable], self.card[variable]

    def restrict(self, variable: str, values: tuple[int, ...]) -> None:
        """Let a variable have those of its values only."""
        self.card[variable] = len(values)
        if variable in self._states:
            names = self._states[variable]
            self._states[variable] = tuple(names[k] for k in values)

    def add_to_log_scale(self, logarithm: float) -> None:
        """Multiply the graph by a number of that logarithm."""
        self._logarithms.append(logarithm)

    def record(self, move: Move) -> Move:
        """Remember a move; its exponent goes into ``log_scale``."""
        self.moves.append(move)
        self._exponent += move.exponent
        return move

    def scale_changed(self) -> None:
        """Bring the largest entry of every table that was changed into [1, 2)."""
        for factor in dict.fromkeys(self.journal[len(self.graph.factors) :]):
            if factor in self.tables:
                table, power = scaled(self.tables[factor])
                if power:
                    table.setflags(write=False)
                    self.tables[factor] = table
                    self.record(Move(SCALE, "", (self.operand(factor),), exponent=power))

    def finished(self) -> FactorGraph:
        """What is left, as a graph."""
        factors = {name: Factor(scope, self.tables[name]) for name, scope in self.scopes.items()}
        log_scale = math.fsum([self.graph.log_scale, self._exponent * math.log(2.0), *self._logarithms])
        return FactorGraph.trusted(self.card, factors, log_scale, self._named())

    def _named(self) -> Mapping[str, tuple[str, ...]]:
        return {v: names for v, names in self._states.items() if v in self.card}

    def _release(self, variable: str, factor: str) -> None:
        """Take a factor from a variable's holders.

        A dict keeps the room of what was deleted, and the next look at its first key walks over it: it is made anew
        whenever more was deleted than is left, so that variables of very many factors cost no more than others.
        """
        held = self.holders[variable]
        del held[factor]
        deleted = self._deleted.get(variable, 0) + 1
        if deleted > len(held) + 8:
            self.holders[variable] = dict.fromkeys(held)
            deleted = 0
        self._deleted[variable] = deleted
