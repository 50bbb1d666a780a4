"""Apply exact moves to a factor graph until none is left that makes it smaller."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import Messages
from scisuite.solvers.crn_reduce.reduction.back_substitution import Beliefs, HasBeliefs, lift
from scisuite.solvers.crn_reduce.reduction.carrying import carry
from scisuite.solvers.crn_reduce.reduction.certificate import Certificate, GraphSummary
from scisuite.solvers.crn_reduce.reduction.draft import Draft
from scisuite.solvers.crn_reduce.reduction.fixed_point import Reducer
from scisuite.solvers.crn_reduce.reduction.moves import MOVES, require_move

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduced graph, and how it came about.

    Attributes
    ----------
    graph : FactorGraph
        What is left. A factor that was made of others has the name and place of one of them.
    certificate : Certificate
        The moves, for :func:`~scisuite.solvers.crn_reduce.reduction.verify.verify_certificate` and for :meth:`lift`.
    keep : tuple of str
        The variables that were to be kept.
    original : FactorGraph
        The graph that was reduced.
    """

    graph: FactorGraph
    certificate: Certificate
    keep: tuple[str, ...]
    original: FactorGraph

    @property
    def before(self) -> GraphSummary:
        """Sizes of the original graph and of its network."""
        return self.certificate.before

    @property
    def after(self) -> GraphSummary:
        """Sizes of the reduced graph and of its network."""
        return self.certificate.after

    def surviving(self, beliefs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Of beliefs of the original graph's variables those of variables and values that are left.

        Only ``support`` takes values from a variable; it is left with those of which beliefs may be above zero.
        """
        left = {v: beliefs[v] for v in self.graph.card}
        for move in self.certificate:
            if move.kind == "support" and move.variable in left:
                left[move.variable] = left[move.variable][list(move.values)]
        return left

    def carry(self, messages: Messages) -> Messages:
        """Messages of the original graph as messages of the reduced one, to which a fixed point is one, too.

        The message from a factor to a variable is the product of those from all factors that were merged into it.
        """
        return carry(self.certificate, self.original, messages)

    def lift(self, beliefs: HasBeliefs) -> Beliefs:
        """Beliefs of all variables and factors of the original graph at a fixed point of the reduced one.

        Parameters
        ----------
        beliefs : BPResult or Beliefs
            Beliefs of the reduced graph's variables and factors.

        Raises
        ------
        InvalidInput
            If the run has not converged, or beliefs are missing or of the wrong shape.
        """
        return lift(self.certificate, self.graph, beliefs).in_order_of(self.original)


def reduce(
    graph: FactorGraph,
    keep: Iterable[str] = (),
    moves: Sequence[str] = ("leaf", "unary", "series"),
    *,
    rng: np.random.Generator | None = None,
) -> Reduction:
    """Apply moves until none is left that makes the network smaller.

    Leaf and unary moves are always made; they never enlarge the network (theorem: sums and products with one axis have
    no more entries above zero). Together they leave the 2-core and what lies between kept variables. Series and cluster
    moves are made where species + reactions of the compiled network fall by that move alone; of cluster moves always
    the one by which they fall most. Support and split moves are made wherever they can be, before the others and again
    after them.

    A component without cycles and kept variables shrinks to one variable with one unary factor: of those left when the
    other moves begin the one of fewest values, the first of several (reconstruction). Where zeros determine a variable
    ``support`` cuts it out, be it the last of all.

    Tables are multiplied only by powers of two, which go into ``log_scale``: a changed table whose largest entry leaves
    [2⁻⁶⁴, 2⁶⁴] at once, all others in the end, to a largest entry in [1, 2). A move after which products of entries
    would be beyond float64 is not made.

    Work is near-linear in variables and table entries, except for ``cluster`` (see
    :class:`~scisuite.solvers.crn_reduce.reduction.clusters.Clusters`).

    Parameters
    ----------
    keep : iterable of str
        Variables that stay.
    moves : sequence of str
        Some of :data:`~scisuite.solvers.crn_reduce.reduction.moves.MOVES`.
    rng : Generator, optional
        Makes leaf, unary and series moves in random order. The order is otherwise that of the graph.

    Raises
    ------
    InvalidInput
        If a variable to be kept is unknown, or zeros of the tables prove the graph impossible.
    NotExactError
        If there is no such move.

    Examples
    --------
    >>> from scisuite.scenarios.factor_graphs import FactorGraph
    >>> graph = FactorGraph({"a": 2, "b": 2, "c": 2}, {"f": (["a", "b"], [[4, 1], [1, 4]]), "g": (["b", "c"],
    ...                                                                                           [[4, 1], [2, 3]])})
    >>> reduction = reduce(graph, keep=["a"])
    >>> reduction.graph.factors["f"].table, reduction.certificate.moves
    (array([1.5625, 1.5625]), (leaf(c, g), unary(b, f, g), leaf(b, f), scale(f)))
    """
    if isinstance(moves, str):
        raise InvalidInput(f"moves must be a list of {', '.join(MOVES)}, not the text {moves!r}")
    for kind in moves:
        require_move(kind)
    kept = graph.require_variables(keep)
    draft = Draft(graph, kept)
    Reducer(draft, frozenset(moves), rng).run()
    return _finished(draft, kept)


def apply_moves(graph: FactorGraph, steps: Iterable[Sequence[str]], keep: Iterable[str] = ()) -> Reduction:
    """Make the given moves, and no others; tables are scaled as :func:`reduce` does.

    Parameters
    ----------
    steps : iterable of sequence of str
        Name of a move and what it is about: ``("leaf", v)``, ``("unary", u)`` or ``("unary", u, into)``, ``("series",
        v)``, ``("cluster", f, g)``, ``("support", v)``, ``("split", f)``.

    Raises
    ------
    NotExactError
        If a move would change belief propagation's fixed points or eliminate a kept variable, or is none of ours.
    InvalidInput
        If a variable or factor is unknown.
    """
    kept = graph.require_variables(keep)
    draft = Draft(graph, kept)
    for step in steps:
        kind, *about = (step,) if isinstance(step, str) else step
        move = require_move(kind)
        try:
            inspect.signature(move).bind(draft, *about)
        except TypeError as error:
            raise InvalidInput(f"move {kind!r} cannot be about {about!r}: {error}") from error
        move(draft, *about)
    return _finished(draft, kept)


def _finished(draft: Draft, keep: tuple[str, ...]) -> Reduction:
    draft.scale_changed()
    graph = draft.finished()
    before, after = GraphSummary.of(draft.graph), GraphSummary.of(graph)
    return Reduction(graph, Certificate(tuple(draft.moves), keep, before, after), keep, draft.graph)
