"""Lists and ``A=yes,B=0`` as the command line says them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean

if TYPE_CHECKING:
    from scisuite.scenarios.factor_graphs import FactorGraph


def read_list(texts: Iterable[str] | None) -> tuple[str, ...]:
    """The words of ``A,B`` in all of ``texts``, in order and once each.

    >>> read_list(["HR, BP", "HR"])
    ('HR', 'BP')
    """
    words = (word.strip() for text in texts or () for word in text.split(","))
    return tuple(dict.fromkeys(word for word in words if word))


def read_keep(texts: Iterable[str] | None) -> tuple[str, ...]:
    """The words of ``--keep``; none if it is not given.

    Raises
    ------
    InvalidInput
        If it is given and names nothing: an empty shell variable would else eliminate what was wanted.
    """
    given = list(texts or ())
    for text in given:
        if not read_list([text]):
            raise InvalidInput(f"--keep names no variable: {text!r}")
    return read_list(given)


def read_evidence(
    texts: Iterable[str] | None, graph: FactorGraph, known: Mapping[str, int] | None = None
) -> dict[str, str | int]:
    """Values of variables by name: those that are known already, and those of ``A=yes,B=0`` in all of ``texts``.

    A value is a name, or its place where no value has such a name.

    Raises
    ------
    InvalidInput
        If a pair has no ``=``, a variable is unknown or comes twice, or it has no such value.
    """
    evidence: dict[str, str | int] = dict(known or {})
    for pair in read_list(texts):
        variable, equals, value = (part.strip() for part in pair.partition("="))
        if not (equals and variable and value):
            raise InvalidInput(f"--evidence takes variable=value, not {pair!r}")
        graph.require_variables([variable], "--evidence")
        if variable in evidence:
            raise InvalidInput(f"--evidence gives {variable} twice")
        named = value in graph.states.get(variable, ())
        evidence[variable] = value if named or not value.isdecimal() else int(value)
        graph.value_index(variable, evidence[variable])
    return evidence


SAME = "same"
AUTO = "auto"


def read_k_rec(text: str, *, same: bool = False) -> float | str:
    """A rate of recycling, or the word ``auto`` or, if that is allowed, ``same``.

    Raises
    ------
    InvalidInput
        If it is neither a word nor a number above zero.
    """
    words = (SAME, AUTO) if same else (AUTO,)
    if text in words:
        return text
    with contextlib.suppress(ValueError):
        if 0 < (rate := float(text)) < float("inf"):
            return rate
    raise InvalidInput(f"--k-rec takes {', '.join(words)} or a number above zero, not {text!r}")


def read_moves(texts: Iterable[str] | None) -> tuple[str, ...]:
    """The moves of ``leaf,unary,series``.

    Raises
    ------
    InvalidInput
        If there is no such move; the message names the nearest.
    """
    from scisuite.solvers.crn_reduce.reduction.moves import MOVES

    moves = read_list(texts)
    for move in moves:
        if move not in MOVES:
            raise InvalidInput(f"--moves: there is no move {move!r}{did_you_mean(move, MOVES)}")
    return moves
