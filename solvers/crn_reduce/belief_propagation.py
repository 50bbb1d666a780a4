"""Loopy belief propagation: the sum-product algorithm on graphs with or without cycles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.message_passing import Floats, MessagePassing

Edge = tuple[str, str]
"""(factor, variable)."""


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages along the edges of a graph, by (factor, variable), each normalised float64 (K_v,).

    ``Messages({(f, v): vector, …})`` gives :func:`bp` a start; it needs only those to variables, which fix the rest.
    """

    to_variable: Mapping[Edge, Any]
    """Messages from factor to variable."""
    to_factor: Mapping[Edge, Any] = field(default_factory=dict)
    """Messages from variable to factor; empty in a start of one's own."""


Start = Messages | np.random.Generator | None
"""A start of belief propagation: uniform messages (None), messages drawn evenly from the simplex, or given ones."""


@dataclass(frozen=True, eq=False)
class BPResult:
    """Messages where belief propagation stopped, and the beliefs they give.

    Attributes
    ----------
    messages : Messages
        Can be given to :func:`bp` again as ``init``.
    residual : float
        Largest change of a message or of a variable's belief that one undamped round from ``messages`` makes; infinite
        where messages contradict each other so strongly that their product vanishes in float64 (below 1e-308).
    iterations : int
        Damped rounds made.
    converged : bool
        Whether the residual is below the tolerance. Beliefs of a run that has not converged are no answer.
    """

    messages: Messages
    residual: float
    iterations: int
    converged: bool
    plan: MessagePassing = field(repr=False)
    flat_beliefs: Floats = field(repr=False)

    @cached_property
    def var_beliefs(self) -> dict[str, Floats]:
        """Belief of each variable, float64 (K_v,), summing to 1; that of a variable without factors is uniform."""
        card = self.plan.graph.card
        starts = self.plan.belief_start.tolist()
        return {v: self.flat_beliefs[i : i + k] for (v, k), i in zip(card.items(), starts, strict=True)}

    @cached_property
    def factor_beliefs(self) -> dict[str, Floats]:
        """Belief of each factor, ∝ ψ_f Π_v m_{v→f}, float64 of the table's shape, summing to 1."""
        found: dict[str, Floats] = {}
        for names, beliefs in self.beliefs_of_alike():
            found.update(zip(names, beliefs, strict=True))
        return {f: found[f] for f in self.plan.graph.factors}

    def beliefs_of_alike(self) -> Iterator[tuple[list[str], Floats]]:
        """Beliefs of the factors of each table shape together: their names and float64 (n, *shape)."""
        graph = self.plan.graph
        assert isinstance(self.messages.to_factor, _AlongEdges)
        to_factors = self.messages.to_factor.flat
        for shape, names, first_slot in self.plan.alike:
            tables = np.stack([graph.factors[f].table for f in names])
            over = tuple(range(1, len(shape) + 1))
            tables /= tables.max(axis=over, keepdims=True)
            for axis, k in enumerate(shape):
                message = to_factors[first_slot[:, axis, None] + np.arange(k)]
                tables *= message.reshape(len(names), *(k if a == axis else 1 for a in range(len(shape))))
                tables /= tables.max(axis=over, keepdims=True)
            total = tables.sum(axis=over, keepdims=True)
            if not (total > 0).all():
                empty = names[int(np.argmin(total.ravel() > 0))]
                raise InvalidInput(f"the belief of factor {empty!r} vanishes: its messages are beyond float64's range")
            yield names, tables / total


def bp(
    graph: FactorGraph,
    *,
    damping: float = 0.3,
    init: Start = None,
    tol: float = 1e-12,
    max_iter: int = 10_000,
) -> BPResult:
    """Run sum-product belief propagation until its messages stand still.

    All messages are renewed at once: m_{v→f} ∝ Π_{f′≠f} m_{f′→v}, new_{f→v} ∝ Σ ψ_f Π_{u≠v} m_{u→f}, and then
    m_{f→v} ← (1 − d)·new + d·m. It stops before the first round that would change neither a message nor a belief by
    ``tol`` without damping. (Messages alone do not tell: what damping leaves of a value far below ``tol`` can decide a
    belief where strong messages contradict each other.) On trees the beliefs are the marginals; on graphs with cycles
    they are a stationary point of the Bethe free energy.

    Parameters
    ----------
    damping : float
        The d above, in [0, 1).
    init : None, Generator or Messages
        Start from uniform messages, from messages drawn evenly from the simplex, or from those given. Values that the
        tables' zeros exclude are zero from the start.
    tol : float
        Largest change that counts as none, above zero.
    max_iter : int
        Most rounds made. If they do not suffice the result says ``converged=False``.

    Raises
    ------
    InvalidInput
        If a parameter is out of range, ``init`` does not fit the graph, the tables' zeros contradict each other (the
        error names a variable that is left without a value). Zeros that contradict each other only around a cycle may
        go unnoticed.
    """
    return run(MessagePassing(graph), [init], damping=damping, tol=tol, max_iter=max_iter)[0]


def run(
    plan: MessagePassing,
    starts: Sequence[Start | Floats],
    *,
    damping: float = 0.3,
    tol: float = 1e-12,
    max_iter: int = 10_000,
) -> list[BPResult]:
    """:func:`bp` from many starts at once, each as it would be alone; a start may also be flat messages of the plan."""
    _require_parameters(damping, tol, max_iter)
    together = max(1, _NUMBERS_AT_ONCE // max(plan.n_entries, 1))
    results = []
    for i in range(0, len(starts), together):
        flat = np.stack([_flat(plan, start) for start in starts[i : i + together]], axis=1)
        results += _run(plan, flat, damping, tol, max_iter)
    return results


_NUMBERS_AT_ONCE = 1 << 22
"""Largest number of table entries × starts worked on at once; more would neither fit the caches nor be faster."""


def _run(plan: MessagePassing, starts: Floats, damping: float, tol: float, max_iter: int) -> list[BPResult]:
    n_starts = starts.shape[1]
    final = starts.copy()
    residual, iterations = np.zeros(n_starts), np.zeros(n_starts, dtype=np.int64)
    running = np.arange(n_starts)
    messages = starts if n_starts > 1 else np.ascontiguousarray(starts[:, 0])
    with np.errstate(invalid="ignore", divide="ignore"):
        for iteration in range(max_iter + 1):
            new = plan.step(messages)
            change = np.atleast_1d(np.abs(new - messages).max(axis=0, initial=0.0))
            near = change < tol if iteration < max_iter else np.ones(len(running), dtype=bool)
            if near.any():
                columns = messages.reshape(-1, len(running))
                before, after = columns[:, near], new.reshape(columns.shape)[:, near]
                change[near] = np.maximum(change[near], plan.change_of_products(before, after))
            change[np.isnan(change)] = np.inf
            stopped = near & (change < tol) | np.isinf(change) if iteration < max_iter else near
            if stopped.any():
                columns = messages.reshape(-1, len(running))
                final[:, running[stopped]] = columns[:, stopped]
                residual[running[stopped]], iterations[running[stopped]] = change[stopped], iteration
                running = running[~stopped]
                if not len(running):
                    break
                messages, new = columns[:, ~stopped], new.reshape(columns.shape)[:, ~stopped]
                if len(running) == 1:
                    messages, new = messages[:, 0], new[:, 0]
            messages = damping * messages
            new *= 1.0 - damping
            messages += new
        beliefs = plan.beliefs(final)
        residual[_out_of_range(plan, final, beliefs)] = np.inf
    return [
        BPResult(
            _result_messages(plan, final[:, i].copy()),
            float(residual[i]),
            int(iterations[i]),
            bool(residual[i] < tol),
            plan,
            _read_only(beliefs[:, i].copy()),
        )
        for i in range(n_starts)
    ]


def carry_messages(messages: Messages, made_of: Mapping[str, Sequence[str]], graph: FactorGraph) -> Messages:
    """A fixed point of a graph as messages on a graph whose factors are made of factors of the former.

    The message from a factor to a variable is the product of the messages to it from those parts that held it.

    Parameters
    ----------
    made_of : mapping of str to sequence of str
        For each factor of ``graph`` those factors that it was multiplied from; itself where it is not named.
    """
    carried: dict[Edge, Floats] = {}
    for f, v in graph.edges:
        parts = [messages.to_variable[p, v] for p in made_of.get(f, (f,)) if (p, v) in messages.to_variable]
        if not parts:
            raise InvalidInput(f"no message to variable {v!r} is known from any part of factor {f!r}")
        product = np.ones(graph.card[v])
        for part in parts:
            product = product * part
            product /= product.max()
        carried[f, v] = product / product.sum()
    return Messages(carried)


def _out_of_range(plan: MessagePassing, messages: Floats, beliefs: Floats) -> NDArray[np.bool_]:
    """Whether beliefs hang on values too small for float64: zero in the messages, yet not impossible. (B,)"""
    lost = (messages == 0) & (plan.support[:, None] > 0)
    at_most = plan.beliefs(np.where(lost, np.finfo(np.float64).tiny, messages)) if lost.any() else beliefs
    apart: Floats = np.abs(at_most - beliefs).max(axis=0, initial=0.0)
    return np.asarray(np.isnan(apart) | (apart > 1e-9))


class _AlongEdges(Mapping[Edge, Floats]):
    """A view of flat messages by (factor, variable)."""

    def __init__(self, plan: MessagePassing, make: Callable[[], Floats]) -> None:
        self.plan = plan
        self._make = make

    @cached_property
    def flat(self) -> Floats:
        return _read_only(self._make())

    def __getitem__(self, edge: Edge) -> Floats:
        first = self.plan.first_slot[edge]
        return self.flat[first : first + self.plan.graph.card[edge[1]]]

    def __iter__(self) -> Iterator[Edge]:
        return iter(self.plan.first_slot)

    def __len__(self) -> int:
        return len(self.plan.first_slot)


def _result_messages(plan: MessagePassing, to_variables: Floats) -> Messages:
    return Messages(
        _AlongEdges(plan, partial(_same, to_variables)),
        _AlongEdges(plan, partial(_normalised_to_factors, plan, to_variables)),
    )


def _same(flat: Floats) -> Floats:
    return flat


def _normalised_to_factors(plan: MessagePassing, to_variables: Floats) -> Floats:
    return plan.normalised(plan.to_factors(to_variables))


def _read_only(flat: Floats) -> Floats:
    flat.setflags(write=False)
    return flat


def _flat(plan: MessagePassing, start: Start | Floats) -> Floats:
    if start is None:
        return plan.uniform()
    if isinstance(start, np.random.Generator):
        return plan.random(start)
    if isinstance(start, np.ndarray):
        return start
    if not isinstance(start, Messages):
        raise InvalidInput(f"init must be None, a numpy Generator or Messages, not {start!r}")
    to_variable = start.to_variable
    if isinstance(to_variable, _AlongEdges) and to_variable.plan.graph is plan.graph:
        return to_variable.flat
    return plan.place(to_variable)


def _require_parameters(damping: float, tol: float, max_iter: int) -> None:
    if not _number(damping) or not 0 <= damping < 1:
        raise InvalidInput(f"damping must be at least 0 and below 1, not {damping!r}")
    if not _number(tol) or not (math.isfinite(tol) and tol > 0):
        raise InvalidInput(f"tol must be a finite number above zero, not {tol!r}")
    if isinstance(max_iter, bool) or not isinstance(max_iter, int | np.integer) or max_iter < 1:
        raise InvalidInput(f"max_iter must be a whole number, at least 1, not {max_iter!r}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
