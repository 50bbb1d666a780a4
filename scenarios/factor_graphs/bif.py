"""Bayesian networks from files in the Interchange Format (BIF).

Read here and not by a library: pyAgrum 3.3 reads numbers in single precision, fills missing rows with zeros, and stops
at values such as ``Asy/Patch`` in the bundled network *child*; pgmpy 1.1 takes seconds to import and names no line.
"""

from __future__ import annotations

import math
import os
import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean
from scisuite.scenarios.factor_graphs.bayesian_network import parents
from scisuite.scenarios.factor_graphs.graph import FactorGraph
from scisuite.scenarios.factor_graphs.text import MAX_ENTRIES, MAX_SCOPE, read_text, refuse_line

ROW_TOLERANCE = 0.01


def read_bif(path: str | os.PathLike[str]) -> FactorGraph:
    """Read a discrete Bayesian network in BIF, plain or gzipped.

    The table of a variable A becomes the factor ``"p_A"`` over A and then its parents, in the order of the file.
    Numbers are taken as they stand, not normalised: a row may add up to 1 ± .01, as rounded ones do. ``property``
    statements and comments are skipped; a ``default`` row stands in for those that are missing.

    Parameters
    ----------
    path : path
        The file, in UTF-8.

    Returns
    -------
    FactorGraph
        Variables in the order in which they are declared, with the names of their values in ``states``.

    Raises
    ------
    InvalidInput
        If the file cannot be read, is no BIF, or is no network: a name that is declared nowhere or twice, a number that
        is none, negative or too much, a row that is missing, given twice or does not add up to 1, a variable without a
        table or with two, parents in a circle. The message names the file and the line.
    """
    text = read_text(path)
    return _Parser(path, _without_comments(text)).parse()


_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TOKEN = re.compile(r'\s*(?:"([^"\n]*)"|([{}()\[\];,|])|([^\s{}()\[\];,|"]+))')
_ROW = re.compile(r"\s*\(([^(){};]*)\)([^;{}()]*);")
_NUMBERS = re.compile(r"[^;{}()]*;")
_NUMBER = re.compile(r"[^\s,]+")
_LABEL = re.compile(r'"([^"\n]*)"|([^\s,"]+)')


def _without_comments(text: str) -> str:
    """Blanks in place of comments, so that every position stays on its line."""
    if "//" not in text and "/*" not in text:
        return text

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return _COMMENT.sub(blank, text)


class _Parser:
    def __init__(self, path: str | os.PathLike[str], text: str) -> None:
        self.path, self.text, self.at = path, text, 0
        self.token_at = 0
        self.states: dict[str, tuple[str, ...]] = {}
        self.factors: dict[str, tuple[tuple[str, ...], NDArray[np.float64]]] = {}

    def parse(self) -> FactorGraph:
        if self.peek() != "network":
            self.fail(f"a BIF file begins with 'network', not with {self.peek() or 'its end'!r}", self.token_at)
        blocks = {"network": self.network, "variable": self.variable, "probability": self.probability}
        while word := self.peek():
            if word not in blocks:
                self.fail(f"expected 'variable' or 'probability', found {word!r}", self.token_at)
            self.token()
            blocks[word]()
        if not self.states:
            raise InvalidInput(f"{self.path} declares no variables")
        for name in self.states:
            if f"p_{name}" not in self.factors:
                raise InvalidInput(f"{self.path} has no probability table for the variable {name!r}")
        factors = {f"p_{name}": self.factors[f"p_{name}"] for name in self.states}
        graph = FactorGraph({v: len(names) for v, names in self.states.items()}, factors, states=self.states)
        try:
            parents(graph)
        except InvalidInput as error:
            raise InvalidInput(f"{self.path}: {error}") from None
        return graph

    def network(self) -> None:
        if self.peek() != "{":
            self.name("the network's name")
        self.expect("{")
        while self.peek() != "}":
            self.statement()
        self.expect("}")

    def variable(self) -> None:
        name = self.name("a variable's name")
        if name in self.states:
            self.fail(f"the variable {name!r} is declared twice", self.token_at)
        self.expect("{")
        found: tuple[str, ...] = ()
        while self.peek() != "}":
            if self.peek() != "type":
                self.statement()
                continue
            if found:
                self.fail(f"the variable {name!r} has two types", self.token_at)
            self.token()
            found = self.discrete(name)
        if not found:
            self.fail(f"the variable {name!r} has no type", self.token_at)
        self.expect("}")
        self.states[name] = found

    def discrete(self, variable: str) -> tuple[str, ...]:
        kind = self.name("a type")
        if kind != "discrete":
            self.fail(f"the variable {variable!r} is {kind}; only discrete ones can be read", self.token_at)
        self.expect("[")
        number = self.name("a number of values")
        if not (number.isascii() and number.isdecimal() and len(number) < 10 and int(number) >= 1):
            self.fail(f"the number of values must be a whole number above zero, not {number!r}", self.token_at)
        self.expect("]")
        self.expect("{")
        names: list[str] = []
        while self.peek() != "}":
            name = self.name("a value")
            if name in names:
                self.fail(f"the variable {variable!r} has the value {name!r} twice", self.token_at)
            names.append(name)
            if self.peek() == ",":
                self.token()
        self.expect("}")
        if len(names) != int(number):
            self.fail(f"the variable {variable!r} should have {number} values and lists {len(names)}", self.token_at)
        self.expect(";")
        return tuple(names)

    def probability(self) -> None:
        self.expect("(")
        scope: list[str] = []
        while self.peek() != ")":
            name = self.name("a variable")
            if name not in self.states:
                self.fail(f"there is no variable {name!r}{did_you_mean(name, self.states)}", self.token_at)
            if name in scope:
                self.fail(f"the variable {name!r} stands twice in a probability", self.token_at)
            scope.append(name)
            if self.peek() == ("|" if len(scope) == 1 else ",") or self.peek() == ",":
                self.token()
        self.expect(")")
        if not scope:
            self.fail("a probability of no variable", self.token_at)
        if len(scope) > MAX_SCOPE or math.prod(len(self.states[v]) for v in scope) > MAX_ENTRIES:
            self.fail(f"the table of {scope[0]!r}, with {len(scope) - 1} parents, is too large", self.token_at)
        if f"p_{scope[0]}" in self.factors:
            self.fail(f"a second probability table for the variable {scope[0]!r}", self.token_at)
        begun = self.token_at
        self.expect("{")
        table = self.table(scope, begun)
        self.expect("}")
        self.factors[f"p_{scope[0]}"] = (tuple(scope), table)

    def table(self, scope: list[str], begun: int) -> NDArray[np.float64]:
        """float64 (K, parents' K…), from a ``table`` or from a row for each assignment of the parents."""
        child, above = scope[0], scope[1:]
        shape = tuple(len(self.states[v]) for v in scope)
        rows: dict[tuple[int, ...], list[float]] = {}
        default: list[float] | None = None
        whole: NDArray[np.float64] | None = None
        place = [{name: i for i, name in enumerate(self.states[v])} for v in above]
        while (word := self.peek()) != "}":
            start = self.token_at
            complete = whole is not None or (default is not None and not above)
            if word == "table":
                complete = complete or bool(rows) or default is not None
            elif word == "default":
                complete = complete or default is not None
            if complete and word in ("(", "table", "default"):
                self.fail(f"the probabilities of {child!r} are given a second time", start)
            if word == "(":
                given = self.row_key(above, place)
                if given in rows:
                    self.fail(f"a second row of {child!r} for {self.assignment(above, given)}", start)
                rows[given] = self.row(shape[0], start)
            elif word in ("table", "default"):
                self.token()
                if word == "default" or not above:
                    default = self.row(shape[0], start)
                else:
                    whole = self.joint(shape, start)
            else:
                self.statement()
        if whole is not None:
            return whole
        if default is None and len(rows) < math.prod(shape[1:]):
            missing = next(key for key in np.ndindex(shape[1:]) if key not in rows)
            where = f" for {self.assignment(above, missing)}" if above else ""
            self.fail(f"the table of {child!r} has no row{where}", begun)
        table = np.empty((*shape[1:], shape[0]))
        if default is not None:
            table[...] = default
        for key, row in rows.items():
            table[key] = row
        return np.ascontiguousarray(np.moveaxis(table, -1, 0))

    def row_key(self, above: list[str], place: list[dict[str, int]]) -> tuple[int, ...]:
        """The parents' values in front of a row; the reader then stands at its numbers."""
        match = _ROW.match(self.text, self.at)
        if match is None:
            self.fail("a row must read (values) numbers;", self.token_at)
        labels = [quoted or plain for quoted, plain in _LABEL.findall(match.group(1))]
        if len(labels) != len(above):
            self.fail(f"a row names {len(labels)} values for {len(above)} parents", self.token_at)
        for v, label, known in zip(above, labels, place, strict=True):
            if label not in known:
                self.fail(f"{v} has no value {label!r}; it has {', '.join(known)}", self.token_at)
        self.at = match.start(2)
        return tuple(known[label] for label, known in zip(labels, place, strict=True))

    def row(self, n: int, start: int) -> list[float]:
        values = self.numbers(n)
        if not abs(sum(values) - 1) <= ROW_TOLERANCE:
            self.fail(f"a row adds up to {sum(values):.6g}, not to 1", start)
        return values

    def joint(self, shape: tuple[int, ...], start: int) -> NDArray[np.float64]:
        """A ``table`` with parents: the last parent's value changes fastest, the variable's own slowest."""
        table = np.array(self.numbers(math.prod(shape))).reshape(shape)
        total = table.sum(axis=0).ravel()
        wrong = np.flatnonzero(~(abs(total - 1) <= ROW_TOLERANCE))
        if len(wrong):
            self.fail(f"a column of the table adds up to {total[wrong[0]]:.6g}, not to 1", start)
        return table

    def numbers(self, n: int) -> list[float]:
        match = _NUMBERS.match(self.text, self.at)
        if match is None:
            self.fail("numbers must end with ';'", self.at)
        chunk = match.group()[:-1]
        self.at = match.end()
        try:
            values = [float(word) for word in chunk.replace(",", " ").split()]
        except ValueError:
            values = []
        if len(values) == n and min(values) >= 0 and "_" not in chunk and math.isfinite(sum(values)):
            return values
        self.refuse_numbers(match.start(), chunk, n)

    def refuse_numbers(self, start: int, chunk: str, n: int) -> NoReturn:
        for match in _NUMBER.finditer(chunk):
            word = match.group()
            try:
                value = float(word.replace("_", "?"))
            except ValueError:
                self.fail(f"expected a number, found {word!r}", start + match.start())
            if not (math.isfinite(value) and value >= 0):
                self.fail(f"a probability must be finite and not negative, not {word}", start + match.start())
        self.fail(f"{len(_NUMBER.findall(chunk))} numbers where there must be {n}", start + len(chunk))

    def assignment(self, variables: list[str], key: tuple[int, ...]) -> str:
        return ", ".join(f"{v}={self.states[v][i]}" for v, i in zip(variables, key, strict=True))

    def statement(self) -> None:
        """Skip a ``property``, which may say anything up to its semicolon."""
        word, start = self.token(), self.token_at
        if word != "property":
            self.fail(f"unexpected {word!r}" if word else "the file ends too early", start)
        end = self.text.find(";", self.at)
        if end < 0:
            self.fail("the property has no end", start)
        self.at = end + 1

    def name(self, what: str) -> str:
        quoted_or_plain = self.token()
        if not quoted_or_plain or (quoted_or_plain in "{}()[];,|" and self.text[self.token_at] != '"'):
            self.fail(f"expected {what}, found {quoted_or_plain or 'the end of the file'!r}", self.token_at)
        return quoted_or_plain

    def expect(self, mark: str) -> None:
        found = self.token()
        if found != mark:
            self.fail(f"expected {mark!r}, found {found or 'the end of the file'!r}", self.token_at)

    def peek(self) -> str:
        at = self.at
        word = self.token()
        self.at = at
        return word

    def token(self) -> str:
        """The next word, mark or quoted text; empty at the end of the file."""
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            self.token_at = len(self.text)
            if self.text[self.at :].strip():
                self.fail("a quotation mark is not closed", self.at)
            return ""
        self.at = match.end()
        quoted, mark, plain = match.groups()
        self.token_at = match.start(match.lastindex or 0) - (quoted is not None)
        return quoted if quoted is not None else mark or plain

    def fail(self, message: str, position: int) -> NoReturn:
        refuse_line(self.path, self.text, position, message)
