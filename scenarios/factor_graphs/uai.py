"""Factor graphs and evidence in the text format of the UAI inference competitions.

Read here and not by a library: pyAgrum 3.3 reads numbers in single precision and tables with the first variable
fastest, where the format has the last; pgmpy 1.1 does not read ``1e-05``; neither reads evidence.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.files import write_atomic
from scisuite.scenarios.factor_graphs.graph import Factor, FactorGraph
from scisuite.scenarios.factor_graphs.text import MAX_SCOPE, read_text, refuse_line


def read_uai(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a ``MARKOV`` or ``BAYES`` network in UAI format, plain or gzipped.

    Variables are called ``x0, x1, …`` after their numbers and factors ``f0, f1, …``. In a ``BAYES`` file, where a
    table's own variable comes last in its scope, it is put first, as in
    :func:`~scisuite.scenarios.factor_graphs.read_bif`. A factor of no variables, a constant, goes into ``log_scale``.

    Raises
    ------
    InvalidInput
        If the file cannot be read, is no such network, ends too early or goes on too long, or a table is negative, not
        finite or zero everywhere. The message names the file and, where it can, the line.
    """
    words = _Words(path)
    header = words.next("'MARKOV' or 'BAYES'")
    if header not in ("MARKOV", "BAYES"):
        words.fail(f"a UAI file begins with MARKOV or BAYES, not with {header!r}")
    names = [f"x{i}" for i in range(words.length("the number of variables"))]
    card = {v: words.count(f"the number of values of variable {v[1:]}", least=1) for v in names}
    scopes = [_scope(words, names, i) for i in range(words.length("the number of factors"))]
    factors: dict[str, tuple[tuple[str, ...], np.ndarray]] = {}
    log_scale = 0.0
    for i, scope in enumerate(scopes):
        shape = tuple(card[v] for v in scope)
        values = _entries(words, i, math.prod(shape))
        if not scope:
            log_scale += math.log(values[0])
            continue
        table = values.reshape(shape)
        if header == "BAYES":
            scope, table = (scope[-1], *scope[:-1]), np.moveaxis(table, -1, 0)
        factors[f"f{i}"] = scope, table
    words.end()
    return FactorGraph(card, factors, log_scale=log_scale)


def read_uai_evidence(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read the evidence of a UAI network: variables, called as by :func:`read_uai`, and the places of their values.

    Both forms are read, ``n v k v k …`` and the older one with the number of cases, which must be one, in front.

    Raises
    ------
    InvalidInput
        If the file cannot be read, is no such list, or names a variable twice. The message names the file and the line.
    """
    words = _Words(path)
    with_cases = len(words.words) % 2 == 0
    if with_cases and words.count("the number of cases", least=0) != 1:
        words.fail("only one case of evidence can be read")
    evidence: dict[str, int] = {}
    for _ in range(words.length("the number of observed variables")):
        v = f"x{words.count('a variable', least=0)}"
        if v in evidence:
            words.fail(f"variable {v[1:]} is observed twice")
        evidence[v] = words.count("a value", least=0)
    words.end()
    return evidence


def write_uai(
    graph: FactorGraph,
    path: str | os.PathLike[str],
    *,
    header: Literal["MARKOV", "BAYES"] = "MARKOV",
    overwrite: bool = False,
) -> None:
    """Write a factor graph in UAI format, so that :func:`read_uai` gives the same tables to the last bit.

    Names and the names of values have no place in the format: variables are numbered in the order of ``card`` and
    factors in their own. A ``log_scale`` other than 0 is multiplied into the first table, since many programs refuse a
    factor of no variables.

    Parameters
    ----------
    graph : FactorGraph
    path : path
    header : str
        ``"BAYES"`` says that each table is that of the first variable in its scope given the others.
    overwrite : bool
        Whether a file that is there may be replaced.

    Raises
    ------
    InvalidInput
        If the file is there and may not be replaced or cannot be written, the graph is no Bayesian network although the
        header says so, or the table that takes the constant would overflow or vanish.
    """
    if header not in ("MARKOV", "BAYES"):
        raise InvalidInput(f"header must be 'MARKOV' or 'BAYES', not {header!r}")
    if Path(path).exists() and not overwrite:
        raise InvalidInput(f"{path} is there already; say that it may be overwritten")
    if header == "BAYES":
        from scisuite.scenarios.factor_graphs.bayesian_network import parents

        parents(graph)
    number = {v: i for i, v in enumerate(graph.card)}
    factors = _with_constant(graph)
    if header == "BAYES":
        factors = [Factor((*f.variables[1:], f.variables[0]), np.moveaxis(f.table, 0, -1)) for f in factors]
    lines = [header, str(len(number)), " ".join(str(k) for k in graph.card.values()), str(len(factors))]
    lines += [" ".join(str(i) for i in (len(f.variables), *(number[v] for v in f.variables))) for f in factors]
    for f in factors:
        rows = f.table.reshape(-1, f.table.shape[-1]).tolist()
        lines += ["", str(f.table.size), *(" ".join(map(repr, row)) for row in rows)]
    write_atomic(path, "\n".join(lines) + "\n")


def _with_constant(graph: FactorGraph) -> list[Factor]:
    factors = list(graph.factors.values())
    if graph.log_scale == 0:
        return factors
    if not factors:
        raise InvalidInput("a graph without factors has no table that could take its log_scale")
    first = factors[0]
    with np.errstate(over="ignore", under="ignore"):
        table = first.table * np.exp(graph.log_scale)
    if not np.isfinite(table).all() or ((table == 0) != (first.table == 0)).any():
        name = next(iter(graph.factors))
        raise InvalidInput(f"factor {name!r} cannot take log_scale {graph.log_scale:.6g}: it would overflow or vanish")
    return [Factor(first.variables, table), *factors[1:]]


def _scope(words: _Words, names: list[str], factor: int) -> tuple[str, ...]:
    scope: list[str] = []
    for _ in range(words.length(f"the number of variables of factor {factor}")):
        i = words.count(f"a variable of factor {factor}", least=0)
        if i >= len(names):
            words.fail(f"factor {factor} names variable {i}, and there are {len(names)}, from 0")
        if names[i] in scope:
            words.fail(f"factor {factor} names variable {i} twice")
        scope.append(names[i])
    if len(scope) > MAX_SCOPE:
        words.fail(f"factor {factor} has {len(scope)} variables, and {MAX_SCOPE} is the most")
    return tuple(scope)


def _entries(words: _Words, factor: int, expected: int) -> np.ndarray:
    n = words.count(f"the number of entries of factor {factor}", least=0)
    if n != expected:
        words.fail(f"the table of factor {factor} has {n} entries, its variables ask for {expected}")
    begun = words.at
    values = np.array(words.numbers(n, f"an entry of factor {factor}"))
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        words.at = begun + int(wrong[0]) + 1
        words.fail(f"an entry of factor {factor} must be finite and not negative, not {words.words[words.at - 1]}")
    if not values.any():
        words.fail(f"the table of factor {factor} is zero everywhere")
    return values


class _Words:
    """The words of a file, one after the other; a line number is worked out only for a message."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.text, self.at = path, read_text(path), 0
        self.words = self.text.split()

    def next(self, what: str) -> str:
        if self.at >= len(self.words):
            refuse_line(self.path, self.text, len(self.text), f"the file ends where {what} should follow")
        self.at += 1
        return self.words[self.at - 1]

    def count(self, what: str, least: int) -> int:
        word = self.next(what)
        if not (word.isascii() and word.isdecimal() and len(word) < 10 and int(word) >= least):
            self.fail(f"{what} must be a whole number from {least} to {10**9 - 1}, not {word!r}")
        return int(word)

    def length(self, what: str) -> int:
        """The length of a list of which each member takes a word or more."""
        n = self.count(what, least=0)
        if n > len(self.words) - self.at:
            self.fail(f"{what} is {n}, and the file ends before as many can follow")
        return n

    def numbers(self, n: int, what: str) -> list[float]:
        taken = self.words[self.at : self.at + n]
        values = [self.number(word, what, i) for i, word in enumerate(taken)]
        self.at += len(taken)
        if len(taken) < n:
            self.next(what)
        return values

    def number(self, word: str, what: str, place: int) -> float:
        try:
            return float(word if "_" not in word else "?")
        except ValueError:
            self.at += place + 1
            self.fail(f"{what} must be a number, not {word!r}")

    def end(self) -> None:
        if self.at < len(self.words):
            self.at += 1
            self.fail(f"nothing should follow, and there is {self.words[self.at - 1]!r}")

    def fail(self, message: str) -> NoReturn:
        """Refuse the word that was read last."""
        for i, match in enumerate(re.finditer(r"\S+", self.text), 1):
            if i == self.at:
                refuse_line(self.path, self.text, match.start(), message)
        raise InvalidInput(f"{self.path}: {message}")
