"""Check a certificate by making its moves again, with none of the code that made them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

import numpy as np

from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.scenarios.factor_graphs.graph import Table
from scisuite.solvers.crn_reduce.reduction.certificate import Certificate, GraphSummary
from scisuite.solvers.crn_reduce.reduction.errors import CertificateError
from scisuite.solvers.crn_reduce.reduction.record import Move, Operand

TOLERANCE = 1e-12
"""Largest relative difference between an entry that a certificate or graph states and what the moves lead to."""

_LARGEST_EXPONENT = 4096


def verify_certificate(before: FactorGraph, certificate: Certificate, after: FactorGraph) -> None:
    """Prove that a reduction kept the fixed points of belief propagation, or refuse.

    The moves are made again on ``before``, by sums of products over named axes (``einsum``). For each move the
    conditions under which its kind is exact are checked, that it eliminates nothing that is to be kept, and that the
    tables that it states for lifting are those it found. What is left must be ``after``: variables, scopes, tables to a
    relative 1e-12, and ``log_scale``.

    Raises
    ------
    CertificateError
        Otherwise; the message names the move, factor or graph.
    """
    check(before, certificate, after, with_log_scale=True)


def check(before: FactorGraph, certificate: Certificate, after: FactorGraph, *, with_log_scale: bool) -> None:
    """:func:`verify_certificate`, for graphs read from networks without their ``log_scale``."""
    for what, graph, summary in (("before", before, certificate.before), ("after", after, certificate.after)):
        if GraphSummary.of(graph) != summary:
            raise CertificateError(
                f"the graph {what} the moves is not the one that the certificate names: {GraphSummary.of(graph)}, not "
                f"{summary}"
            )
    for v in certificate.keep:
        if v not in before.card:
            raise CertificateError(f"the certificate keeps {v!r}, which is no variable of the graph")
    replay = _Replay(before, frozenset(certificate.keep))
    for number, move in enumerate(certificate.moves, 1):
        try:
            replay.make(move)
        except _Broken as broken:
            raise CertificateError(f"move {number} of {len(certificate)}, {move!r}: {broken}") from None
    replay.require_equal(after)
    if with_log_scale:
        expected = replay.log_scale
        if abs(expected - after.log_scale) > TOLERANCE * max(1.0, abs(expected)):
            raise CertificateError(f"the moves lead to log_scale {expected!r}, not {after.log_scale!r}")


class _Broken(Exception):
    """What is wrong with a move."""


class _Replay:
    """A graph by name, on which moves are made once more."""

    def __init__(self, graph: FactorGraph, keep: frozenset[str]) -> None:
        self.keep = keep
        self.card = dict(graph.card)
        self.scope = {name: factor.variables for name, factor in graph.factors.items()}
        self.table = {name: factor.table for name, factor in graph.factors.items()}
        self.holders = {v: set(names) for v, names in graph.factors_of.items()}
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
            if not _equal(self.table[name].transpose(axes), factor.table):
                raise CertificateError(f"the moves lead to another table of factor {name!r}")

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
            slices = np.moveaxis(self.table[f], self.scope[f].index(v), 0)
            gone -= {k for k in gone if not slices[k].any()}
        if gone:
            _refuse(f"value {min(gone)} of {v!r} is possible")
        if len(values) == move.card > 1:
            _refuse("it takes no value away")
        self.card[v] = len(values)
        for f in list(self.holders[v]):
            scope = self.scope[f]
            table = self.table[f][tuple(values if u == v else slice(None) for u in scope)]
            if not table.any():
                _refuse(f"nothing is left of factor {f!r}")
            if len(values) > 1:
                self.table[f] = table
            elif len(scope) > 1:
                self._put(f, tuple(u for u in scope if u != v), table.reshape([n for u, n in self._shape(f) if u != v]))
            else:
                self._logarithms.append(math.log(table[0]))
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
            if table.shape != tuple(self.card[v] for v in part.variables) or not _is_legal(table):
                _refuse(f"the table of part {part.name!r} is none over {', '.join(part.variables)}")
        product = _product([first, second], [first.table, second.table], whole.variables)
        if not _equal(product, self.table[whole.name]):
            _refuse("the product of the parts is another table")
        self._put(first.name, first.variables, first.table)
        self._put(second.name, second.variables, second.table)

    def _scale(self, move: Move) -> None:
        (f,) = move.operands
        self._put(f.name, f.variables, _times_power(self.table[f.name], -move.exponent))

    def _contract(self, move: Move, operands: Sequence[Operand], scope: tuple[str, ...]) -> None:
        """Σ over what is not in ``scope`` of the operands' product, in place of the move's first."""
        normal, power = [], 0
        for operand in operands:
            largest = math.frexp(self.table[operand.name].max())[1]
            normal.append(_times_power(self.table[operand.name], -largest))
            power += largest
        table = _product(operands, normal, scope)
        if not table.any():
            _refuse("nothing is left of the factor")
        self._put(move.operands[0].name, scope, _times_power(table, power - move.exponent))

    def _put(self, name: str, scope: tuple[str, ...], table: Table) -> None:
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

    def _shape(self, name: str) -> list[tuple[str, int]]:
        return list(zip(self.scope[name], self.table[name].shape, strict=True))

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
        if not _equal(self.table[operand.name], np.asarray(operand.table)):
            _refuse(f"the table of factor {operand.name!r} is another one")


def _product(operands: Sequence[Operand], tables: Sequence[Table], scope: tuple[str, ...]) -> Table:
    axis: dict[str, int] = {}
    arguments: list[Any] = []
    for operand, table in zip(operands, tables, strict=True):
        arguments += [table, [axis.setdefault(v, len(axis)) for v in operand.variables]]
    product: Table = np.einsum(*[*arguments, [axis[v] for v in scope]])
    return product


def _times_power(table: Table, power: int) -> Table:
    if abs(power) > _LARGEST_EXPONENT:
        _refuse(f"no table is scaled by 2 to the power of {power}")
    return table if power == 0 else np.ldexp(table, power)


def _equal(a: Table, b: Table) -> bool:
    if a.shape != b.shape or not _is_legal(a) or not _is_legal(b):
        return False
    return bool((np.abs(a - b) <= TOLERANCE * np.minimum(a, b)).all())


def _is_legal(table: Table) -> bool:
    return bool(np.isfinite(table).all() and (table >= 0).all())


def _refuse(why: str) -> NoReturn:
    raise _Broken(why)


def _differ(what: str, in_one: Iterable[object]) -> NoReturn:
    listed = ", ".join(sorted(str(item) for item in in_one)[:5])
    raise CertificateError(f"the moves do not lead to the {what} of the graph after them; only one side has {listed}")
