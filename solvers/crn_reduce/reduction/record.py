"""Records of moves: what each one did, and what is needed to undo it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from scisuite.scenarios.factor_graphs.graph import Table

SCALE = "scale"
"""Kind of the record that a factor was divided by a power of two, which went into ``log_scale``; no move of its own."""


class Operand(NamedTuple):
    """A factor as it was before or after a move. ``table`` is ``None`` where nothing needs it."""

    name: str
    variables: tuple[str, ...]
    table: Table | None = None


@dataclass(frozen=True, eq=False)
class Move:
    """One move that was made.

    Attributes
    ----------
    kind : str
        One of :data:`~scisuite.solvers.crn_reduce.reduction.moves.MOVES`, or :data:`SCALE`.
    variable : str
        The variable that was summed out, that the unary factor is about, that two factors share, or that lost values;
        empty for ``split`` and ``scale``.
    operands : tuple of Operand
        The factors that the move read, with their scopes before it. The result of ``leaf``, ``unary``, ``series`` and
        ``cluster`` has the name of the first. Tables are those that undoing the move needs.
    results : tuple of Operand
        ``split``: both parts, with their tables.
    values : tuple of int
        ``support``: the values that stay. If it is one value the variable is gone.
    card : int
        ``support``: number of values before.
    exponent : int
        The true result is the stored one times 2 to this power.
    """

    kind: str
    variable: str
    operands: tuple[Operand, ...]
    results: tuple[Operand, ...] = ()
    values: tuple[int, ...] = ()
    card: int = 0
    exponent: int = 0

    def __repr__(self) -> str:
        about = ", ".join(filter(None, (self.variable, *(operand.name for operand in self.operands))))
        return f"{self.kind}({about})"
