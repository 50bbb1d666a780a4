"""Check a certificate by making its moves again, with none of the code that made them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NoReturn

import numpy as np

from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.reduction.certificate import Certificate, GraphSummary
from scisuite.solvers.crn_reduce.reduction.errors import CertificateError
from scisuite.solvers.crn_reduce.reduction.record import Move, Operand
from scisuite.solvers.crn_reduce.reduction.wide import WideTable, agree, summed_product

TOLERANCE = 1e-12
"""Largest relative difference between an entry that a certificate or graph states and what the moves lead to."""

_EXPONENTS = range(-4096, 4097)
"""Of moves. No two numbers of float64 are further apart."""


def verify_certificate(
    before: FactorGraph, certificate: Certificate, after: FactorGraph, *, keep: Iterable[str] = ()
) -> None:
    """Prove that a reduction kept the fixed points of belief propagation, or refuse.

    The moves are made again on ``before``, with arithmetic in which nothing overflows or underflows. For each move the
    conditions under which its kind is exact are checked, that it eliminates nothing that is to be kept, and that the
    tables that it states for lifting are those it found. What is left must be ``after``: variables, scopes, tables to a
    relative 1e-12, ``log_scale``, and the names of values where both graphs have them.

    Parameters
    ----------
    before, after : FactorGraph
    certificate : Certificate
        It says itself what it keeps; a shorter list proves no less about what is left.
    keep : iterable of str
        Variables that it must keep.

    Raises
    ------
    CertificateError
        Otherwise; the message names the move, variable, factor or graph.
    InvalidInput
        If a variable in ``keep`` is unknown.
    """
    check(before, certificate, after, keep=before.require_variables(keep), with_log_scale=True)


def check(
    before: FactorGraph,
    certificate: Certificate,
    after: FactorGraph,
    *,
    keep: Iterable[str] = (),
    with_log_scale: bool,
) -> None:
    """:func:`verify_certificate`, for graphs read from networks without their ``log_scale``."""
    for what, graph, summary in (("before", before, certificate.before), ("after", after, certificate.after)):
        found = GraphSummary.of(graph)
        if found != summary:
            raise CertificateError(
                f"the graph {what} the moves is not the one that the certificate names: {_difference(found, summary)}"
            )
    for v in certificate.keep:
        if v not in before.card:
            raise CertificateError(f"the certificate keeps {v!r}, which is no variable of the graph")
    for v in keep:
        if v not in certificate.keep:
            kept = ", ".join(certificate.keep) or "nothing"
            raise CertificateError(f"the certificate does not keep {v!r}; it keeps {kept}")
    replay = _Replay(before, frozenset(certificate.keep))
    for number, move in enumerate(certificate.moves, 1):
        try:
            replay.make(move)
        except _Broken as broken:
            raise CertificateError(f"move {number} of {len(certificate)}, {move!r}: {broken}") from None
    replay.require_equal(after)
    if with_log_scale:
        expected = replay.log_scale
        if not abs(expected - after.log_scale) <= TOLERANCE * max(1.0, abs(expected)):
            raise CertificateError(f"the moves lead to log_scale {expected!r}, not {after.log_scale!r}")


class _Broken(Exception):
    """What is wrong with a move."""


class _Replay:
    """A graph by name, on which moves are made once more."""

    def __init__(self, graph: FactorGraph, keep: frozenset[str]) -> None:
        self.keep = keep
        self.card = dict(graph.card)
        self.scope = {name: factor.variables for name, factor in graph.factors.items()}
        self.table = {name: WideTable.of(factor.table) for name, factor in graph.factors.items()}
        self.holders = {v: set(names) for v, names in graph.factors_of.items()}
        self.states = {v: tuple(names) for v, names in graph.states.items()}
        self._start = graph.log_scale
        self._exponent = 0
        self._logarithms: list[float] = []

    @property
    def log_scale(self) -> float:
        return math.fsum([self._start, self._exponent * math.log(2.0), *self._logarithms])

    def make(self, move: Move) -> None:
        handlers = {
            "leaf": (self._leaf, 1),
            "unary": (self._unary, 2),
            "series": (self._series, 2),
            "cluster": (self._cluster, 2),
            "support": (self._support, None),
            "split": (self._split, 1),
            "scale": (self._scale, 1),
        }
        if move.kind not in handlers:
            _refuse(f"{move.kind!r} is no exact move")
        handler, n_operands = handlers[move.kind]
        if n_operands not in (None, len(move.operands)):
            _refuse(f"it names {len(move.operands)} factors instead of {n_operands}")
        for operand in move.operands:
            self._require_as_stated(operand)
        if len({operand.name for operand in move.operands}) < len(move.operands):
            _refuse("it names a factor twice")
        if move.kind in ("support", "split") and move.exponent:
            _refuse("it has an exponent")
        if move.exponent not in _EXPONENTS:
            _refuse(f"no table is scaled by 2 to the power of {-move.exponent}")
        handler(move)
        self._exponent += move.exponent

    def require_equal(self, after: FactorGraph) -> None:
        if self.card != dict(after.card):
            _differ("variables", set(self.card.items()) ^ set(after.card.items()))
        if self.scope.keys() != after.factors.keys():
            _differ("factors", set(self.scope) ^ set(after.factors))
        for name, factor in after.factors.items():
            if set(factor.variables) != set(self.scope[name]):
                raise CertificateError(f"the moves lead to another scope of factor {name!r}: {self.scope[name]}")
            axes = [self.scope[name].index(v) for v in factor.variables]
            if not agree(self.table[name].transpose(axes), WideTable.of(factor.table), TOLERANCE):
                raise CertificateError(f"the moves lead to another table of factor {name!r}")
        for v, names in after.states.items():
            if v in self.states and self.states[v] != tuple(names):
                raise CertificateError(
                    f"the moves lead to the values {', '.join(self.states[v])} of variable {v!r}, not "
                    f"{', '.join(names)}"
                )

    def _leaf(self, move: Move) -> None:
        (f,) = move.operands
        self._require_free(move.variable)
        self._require_holders(move.variable, [f.name])
        if f.variables == (move.variable,):
            _refuse(f"factor {f.name!r} is about nothing else")
        self._require_table(f)
        self._contract(move, [f], tuple(v for v in f.variables if v != move.variable))
        self._forget(move.variable)

    def _unary(self, move: Move) -> None:
        into, absorbed = move.operands
        if absorbed.variables != (move.variable,):
            _refuse(f"factor {absorbed.name!r} is not a unary factor of {move.variable!r}")
        if move.variable not in into.variables:
            _refuse(f"factor {into.name!r} is not about {move.variable!r}")
        self._contract(move, [absorbed, into], into.variables)
        self._drop(absorbed.name)

    def _series(self, move: Move) -> None:
        a, b = move.operands
        self._require_free(move.variable)
        self._require_holders(move.variable, [a.name, b.name])
        self._require_shared(move, a, b)
        rest = tuple(v for v in a.variables + b.variables if v != move.variable)
        if not rest:
            _refuse("its factors are about nothing else")
        for operand in (a, b):
            self._require_table(operand)
        self._contract(move, [b, a], rest)
        self._drop(b.name)
        self._forget(move.variable)

    def _cluster(self, move: Move) -> None:
        a, b = move.operands
        self._require_shared(move, a, b)
        self._contract(move, [b, a], a.variables + tuple(v for v in b.variables if v != move.variable))
        self._drop(b.name)

    def _support(self, move: Move) -> None:
        v, values = move.variable, list(move.values)
        self._require_free(v)
        self._require_holders(v, [operand.name for operand in move.operands])
        if move.card != self.card[v] or not values or values != sorted(set(values) & set(range(move.card))):
            _refuse(f"{values} of {move.card} are not some of the {self.card[v]} values of {v!r}")
        gone = set(range(move.card)) - set(values)
        for f in self.holders[v]:
            slices = np.moveaxis(self.table[f].mantissa, self.scope[f].index(v), 0)
            gone -= {k for k in gone if not slices[k].any()}
        if gone:
            _refuse(f"value {min(gone)} of {v!r} is possible")
        if len(values) == move.card > 1:
            _refuse("it takes no value away")
        self.card[v] = len(values)
        if v in self.states:
            self.states[v] = tuple(self.states[v][k] for k in values)
        for f in list(self.holders[v]):
            scope = self.scope[f]
            table = self.table[f].take(values, scope.index(v))
            if not table.any():
                _refuse(f"nothing is left of factor {f!r}")
            if len(values) > 1:
                self.table[f] = table
            elif len(scope) > 1:
                self._put(f, tuple(u for u in scope if u != v), table.reshape([n for u, n in self._shape(f) if u != v]))
            else:
                self._logarithms += [math.log(table.mantissa[0]), int(table.exponent[0]) * math.log(2.0)]
                self._drop(f)
        if len(values) == 1:
            self._forget(v)

    def _split(self, move: Move) -> None:
        (whole,) = move.operands
        if len(move.results) != 2:
            _refuse("it has not two results")
        first, second = move.results
        if first.name != whole.name or second.name in self.scope:
            _refuse(f"its parts cannot be called {first.name!r} and {second.name!r}")
        if not first.variables or not second.variables:
            _refuse("a part is about nothing")
        if sorted(first.variables + second.variables) != sorted(whole.variables):
            _refuse("the parts' variables are not those of the factor")
        if first.table is None or second.table is None:
            _refuse("the table of a part is missing")
        for part in move.results:
            table = np.asarray(part.table)
            legal = np.isfinite(table).all() and (table >= 0).all()
            if table.shape != tuple(self.card[v] for v in part.variables) or not legal:
                _refuse(f"the table of part {part.name!r} is none over {', '.join(part.variables)}")
        parts = [WideTable.of(np.asarray(first.table)), WideTable.of(np.asarray(second.table))]
        product = summed_product([first.variables, second.variables], parts, whole.variables)
        if not agree(product, self.table[whole.name], TOLERANCE):
            _refuse("the product of the parts is another table")
        for part, wide in zip(move.results, parts, strict=True):
            self._put(part.name, part.variables, wide)

    def _scale(self, move: Move) -> None:
        (f,) = move.operands
        self._put(f.name, f.variables, self.table[f.name].times_power(-move.exponent))

    def _contract(self, move: Move, operands: Sequence[Operand], scope: tuple[str, ...]) -> None:
        """Σ over what is not in ``scope`` of the operands' product, in place of the move's first."""
        scopes, tables = [operand.variables for operand in operands], [self.table[f.name] for f in operands]
        table = summed_product(scopes, tables, scope)
        if not table.any():
            _refuse("nothing is left of the factor")
        self._put(move.operands[0].name, scope, table.times_power(-move.exponent))

    def _put(self, name: str, scope: tuple[str, ...], table: WideTable) -> None:
        for v in self.scope.get(name, ()):
            self.holders[v].discard(name)
        for v in scope:
            self.holders[v].add(name)
        self.scope[name], self.table[name] = scope, table

    def _drop(self, name: str) -> None:
        for v in self.scope.pop(name):
            self.holders[v].discard(name)
        del self.table[name]

    def _forget(self, variable: str) -> None:
        del self.card[variable], self.holders[variable]
        self.states.pop(variable, None)

    def _shape(self, name: str) -> list[tuple[str, int]]:
        return list(zip(self.scope[name], self.table[name].mantissa.shape, strict=True))

    def _require_as_stated(self, operand: Operand) -> None:
        if operand.name not in self.scope:
            _refuse(f"there is no factor {operand.name!r} any more, or there never was")
        if operand.variables != self.scope[operand.name]:
            _refuse(f"factor {operand.name!r} is about {self.scope[operand.name]}, not {operand.variables}")

    def _require_free(self, variable: str) -> None:
        if variable not in self.card:
            _refuse(f"there is no variable {variable!r} any more, or there never was")
        if variable in self.keep:
            _refuse(f"variable {variable!r} is kept")

    def _require_holders(self, variable: str, names: Sequence[str]) -> None:
        if self.holders[variable] != set(names):
            _refuse(f"variable {variable!r} is in {sorted(self.holders[variable])}, not in {sorted(names)}")

    def _require_shared(self, move: Move, a: Operand, b: Operand) -> None:
        shared = set(a.variables) & set(b.variables)
        if shared != {move.variable}:
            _refuse(f"factors {a.name!r} and {b.name!r} share {sorted(shared)}, not {move.variable!r} alone")

    def _require_table(self, operand: Operand) -> None:
        if operand.table is None:
            _refuse(f"the table of factor {operand.name!r} is missing")
        if not agree(self.table[operand.name], WideTable.of(np.asarray(operand.table)), TOLERANCE):
            _refuse(f"the table of factor {operand.name!r} is another one")


def _difference(found: GraphSummary, named: GraphSummary) -> str:
    sizes = [
        f"{getattr(found, what)} {what} instead of {getattr(named, what)}"
        for what in ("variables", "factors", "species", "reactions")
        if getattr(found, what) != getattr(named, what)
    ]
    if sizes:
        return "it has " + ", ".join(sizes)
    return "it has the same sizes, but other names or table entries"


def _refuse(why: str) -> NoReturn:
    raise _Broken(why)


def _differ(what: str, in_one: Iterable[object]) -> NoReturn:
    listed = ", ".join(sorted(str(item) for item in in_one)[:5])
    raise CertificateError(f"the moves do not lead to the {what} of the graph after them; only one side has {listed}")
