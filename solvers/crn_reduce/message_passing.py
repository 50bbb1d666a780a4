"""The sum-product equations of a graph as a few operations on flat arrays, for one or many sets of messages at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class MessagePassing:
    """The plan of a graph: where each message lies, and both steps of sum-product belief propagation over them.

    A set of messages is one float64 array of shape (n_slots,), or (n_slots, B) for B sets, with a slot for each value
    of each edge; the messages to variables and those to factors have the same slots. Variables of similar degree d lie
    together as a block of ``width`` rows, width the power of two next above d and one row for each factor, so that the
    products over a variable's factors are running products down the rows. Rows to spare hold uniform messages, which
    change nothing. Memory is a few times Σ_f |f|·nnz(ψ_f) numbers.

    Neither step divides a message out of a product: each product is over all messages but one. Products over a
    variable's factors carry their powers of two beside them, so that a variable may have thousands of factors.

    Raises
    ------
    InvalidInput
        If zeros of the tables leave some variable without a possible value. The search (arc consistency of the tables'
        supports) is exact on trees; on graphs with cycles an impossible graph may pass it.
    """

    def __init__(self, graph: FactorGraph) -> None:
        self.graph = graph
        self._names = list(graph.card)
        self._card = np.fromiter(graph.card.values(), dtype=np.int64, count=len(self._names))
        self._place_edges()
        self._place_entries()
        self.support = self._support()

    def to_factors(self, to_variables: Floats) -> Floats:
        """Product step: messages to factors, Π over the variable's other factors, each scaled by a power of two.

        The largest value of each is in [.5, 1).
        """
        mantissa, exponent = self._products_without_each(to_variables)
        mantissa, shift = np.frexp(mantissa)
        exponent += shift
        exponent -= np.maximum.reduceat(exponent, self._segment_start).take(self._segment_of, axis=0)
        return np.ldexp(mantissa, exponent)

    def to_variables(self, to_factors: Floats) -> Floats:
        """Sum step: messages to variables, Σ ψ_f Π over the scope's other variables, unnormalised."""
        batch = to_factors.shape[1:]
        incoming = to_factors.take(self._entry_slot, axis=0)
        before = np.ones((self.n_entries, *batch))
        after = np.ones((self.n_entries, *batch))
        levels = self._levels
        for (low, _), (here, n) in pairwise(levels):
            np.multiply(before[low : low + n], incoming[low : low + n], out=before[here : here + n])
        for (here, _), (high, n) in zip(levels[-2::-1], levels[:0:-1], strict=True):
            np.multiply(after[high : high + n], incoming[high : high + n], out=after[here : here + n])
        products = np.empty((self.n_entries + 1, *batch))
        np.multiply(before, after, out=products[:-1])
        products[-1] = 1.0
        summed: Floats = self._weights @ products
        return summed

    def step(self, to_variables: Floats) -> Floats:
        """One undamped round: the normalised messages to variables; NaN where a message vanishes."""
        return self.normalised(self.to_variables(self.to_factors(to_variables)))

    def normalised(self, messages: Floats) -> Floats:
        """Divide each message by its sum, in place."""
        messages /= np.add.reduceat(messages, self._segment_start).take(self._segment_of, axis=0)
        return messages

    def beliefs(self, to_variables: Floats) -> Floats:
        """Normalised beliefs, (Σ_v K_v,) or (Σ_v K_v, B), variables in the order of the graph; NaN where all vanish."""
        batch = to_variables.shape[1:]
        beliefs = np.ones((int(self._card.sum()), *batch))
        if self.n_slots:
            own, own_exponent = _split(to_variables)
            rest, exponent = self._products_without_each(to_variables)
            first = self._first_row
            mantissa, shift = np.frexp(rest[first] * own[first])
            exponent = exponent[first] + own_exponent[first] + shift
            start = self._first_row_start
            lengths = np.diff(start, append=len(first))
            exponent -= np.repeat(np.maximum.reduceat(exponent, start), lengths, axis=0)
            beliefs[self._first_row_value] = np.ldexp(mantissa, exponent)
        sums = np.add.reduceat(beliefs, self.belief_start) if len(self._names) else beliefs
        beliefs /= np.repeat(sums, self._card, axis=0)
        return beliefs

    def change_of_products(self, before: Floats, after: Floats) -> Floats:
        """Largest difference of a normalised message to a factor or of a belief, (B,), of two sets (n_slots, B).

        NaN where a message or belief vanishes.
        """
        if not self.n_slots:
            return np.zeros(before.shape[1:])
        outgoing = [self.normalised(self.to_factors(messages)) for messages in (before, after)]
        of_messages = np.abs(outgoing[1] - outgoing[0]).max(axis=0)
        of_beliefs = np.abs(self.beliefs(after) - self.beliefs(before)).max(axis=0)
        return np.asarray(np.maximum(of_messages, of_beliefs))

    def uniform(self) -> Floats:
        """Uniform messages over the values that the tables' zeros leave possible."""
        return self.normalised(self.support.copy())

    def random(self, rng: np.random.Generator) -> Floats:
        """Messages drawn evenly from the simplex of each edge's possible values."""
        messages = self.uniform()
        drawn = rng.standard_exponential(len(self._edge_slots))
        messages[self._edge_slots] = self.support[self._edge_slots] * drawn
        return self.normalised(messages)

    def leaning(self, value: int) -> Floats:
        """Messages that hold value number ``value`` mod K_v only; uniform where it is not possible."""
        k = self._card[self._segment_variable]
        at = self._segment_start + value % k if self.n_slots else self._segment_start
        messages = np.zeros(self.n_slots)
        possible = self.support[at] > 0
        messages[at[possible]] = 1.0
        spread = ~possible[self._segment_of]
        messages[spread] = self.support[spread]
        messages[self._spare] = 1.0
        return self.normalised(messages)

    def place(self, messages: Mapping[tuple[str, str], object]) -> Floats:
        """Messages to variables by (factor, variable), checked and normalised.

        Raises
        ------
        InvalidInput
            If an edge has no message, a message no edge, or one has another shape than (K_v,), a negative, NaN or
            infinite value, or no possible value above zero.
        """
        placed = self.uniform()
        for edge in messages:
            if edge not in self.first_slot:
                raise InvalidInput(f"init: there is no edge {edge!r}; messages are named (factor, variable)")
        for (f, v), slot in self.first_slot.items():
            if (f, v) not in messages:
                raise InvalidInput(f"init: the message from factor {f!r} to variable {v!r} is missing")
            k = self.graph.card[v]
            try:
                message = np.asarray(messages[f, v], dtype=np.float64)
            except (TypeError, ValueError) as error:
                raise InvalidInput(
                    f"init: the message from factor {f!r} to variable {v!r} must hold numbers: {error}"
                ) from error
            if message.shape != (k,):
                raise InvalidInput(
                    f"init: the message from factor {f!r} to variable {v!r} has shape {message.shape}, not ({k},)"
                )
            if not np.isfinite(message).all() or (message < 0).any():
                raise InvalidInput(
                    f"init: the message from factor {f!r} to variable {v!r} must be finite and not negative: {message}"
                )
            possible = message * self.support[slot : slot + k]
            if not possible.any():
                raise InvalidInput(
                    f"init: the message from factor {f!r} to variable {v!r} has no possible value above zero: {message}"
                )
            placed[slot : slot + k] = possible / possible.max()
        return self.normalised(placed)

    @cached_property
    def first_slot(self) -> dict[tuple[str, str], int]:
        """First slot of the message between factor and variable."""
        return dict(zip(self.graph.edges, self._edge_slot.tolist(), strict=True))

    @cached_property
    def belief_start(self) -> Ints:
        """Place of each variable's first value in ``beliefs``."""
        return np.cumsum(self._card) - self._card

    @cached_property
    def alike(self) -> list[Alike]:
        """The factors by the shape of their tables, those of most variables first."""
        names: dict[tuple[int, ...], list[str]] = defaultdict(list)
        places: dict[tuple[int, ...], list[int]] = defaultdict(list)
        edge = 0
        for name, factor in self.graph.factors.items():
            names[factor.table.shape].append(name)
            places[factor.table.shape].append(edge)
            edge += len(factor.variables)
        shapes = sorted(names, key=len, reverse=True)
        return [
            Alike(shape, names[shape], self._edge_slot[np.array(places[shape])[:, None] + np.arange(len(shape))])
            for shape in shapes
        ]

    def _place_edges(self) -> None:
        graph = self.graph
        number = {v: i for i, v in enumerate(self._names)}
        variable = np.array([number[v] for factor in graph.factors.values() for v in factor.variables], dtype=np.int64)
        degree = np.bincount(variable, minlength=len(self._names))
        by_variable = np.argsort(variable, kind="stable")
        row = np.empty_like(variable)
        row[by_variable] = np.arange(len(variable)) - np.repeat(np.cumsum(degree) - degree, degree)

        width = np.array([1 << (int(d) - 1).bit_length() if d else 0 for d in degree], dtype=np.int64)
        block_start = np.zeros(len(degree), dtype=np.int64)
        block_columns = np.zeros(len(degree), dtype=np.int64)
        column = np.zeros(len(degree), dtype=np.int64)
        self._blocks: list[tuple[int, int, int]] = []
        starts, owners, spares, first_rows, first_values = [], [], [], [], []
        size = 0
        for w in np.unique(width[width > 0]).tolist():
            members = np.flatnonzero(width == w)
            k = self._card[members]
            n = int(k.sum())
            column[members] = np.cumsum(k) - k
            block_start[members], block_columns[members] = size, n
            self._blocks.append((size, w, n))
            starts.append((size + np.arange(w)[:, None] * n + column[members]).ravel())
            owners.append(np.tile(members, w))
            spares.append((np.arange(w)[:, None] >= degree[members]).ravel())
            first_rows.append(np.arange(size, size + n))
            first_values.append(np.repeat(self.belief_start[members] - column[members], k) + np.arange(n))
            size += w * n
        self.n_slots = size
        self._edge_slot = block_start[variable] + row * block_columns[variable] + column[variable]
        self._segment_start, self._segment_variable = _joined(starts), _joined(owners)
        self._segment_of = np.repeat(np.arange(len(self._segment_start)), self._card[self._segment_variable])
        spare = np.concatenate(spares)[self._segment_of] if spares else np.zeros(0, dtype=bool)
        self._spare, self._edge_slots = np.flatnonzero(spare), np.flatnonzero(~spare)
        self._first_row, self._first_row_value = _joined(first_rows), _joined(first_values)
        on_first_row = np.flatnonzero(np.isin(self._segment_start, self._first_row))
        sizes = self._card[self._segment_variable[on_first_row]]
        self._first_row_start = np.cumsum(sizes) - sizes

    def _place_entries(self) -> None:
        """Number the entries above zero, those of most variables first, once for each variable of their scopes.

        Level i holds the i-th variable of every entry that has so many: the levels' entries are the same, and in the
        same order, as far as the shorter goes.
        """
        slots: list[list[Ints]] = []
        values: list[list[Floats]] = []
        for shape, names, edge_slot in self.alike:
            tables = np.stack([self.graph.factors[f].table.ravel() for f in names])
            tables = _scaled(tables)
            which, entry = np.nonzero(tables)
            value = tables[which, entry]
            for i, place in enumerate(np.unravel_index(entry, shape)):
                if i == len(slots):
                    slots.append([])
                    values.append([])
                slots[i].append(edge_slot[which, i] + place)
                values[i].append(value)
        lengths = [sum(map(len, level)) for level in slots]
        starts = [0, *np.cumsum(lengths).tolist()]
        self._levels = list(zip(starts[:-1], lengths, strict=True))
        self.n_entries = starts[-1]
        self._entry_slot = _joined([part for level in slots for part in level])
        row = np.concatenate([self._entry_slot, self._spare])
        column = np.concatenate([np.arange(self.n_entries), np.full(len(self._spare), self.n_entries)])
        data = np.concatenate([*(part for level in values for part in level), np.ones(len(self._spare))])
        self._weights = sparse.csr_array((data, (row, column)), shape=(self.n_slots, self.n_entries + 1))

    def _products_without_each(self, messages: Floats) -> tuple[Floats, Ints]:
        mantissa, exponent = _split(messages)
        for start, width, n in self._blocks:
            block = slice(start, start + width * n)
            if width == 1:
                mantissa[block], exponent[block] = 1.0, 0
                continue
            shape = (width, n, *messages.shape[1:])
            others, shift = _without_each(mantissa[block].reshape(shape))
            mantissa[block] = others.reshape(mantissa[block].shape)
            own = exponent[block].reshape(shape)
            exponent[block] = (own.sum(axis=0) - own + shift).reshape(exponent[block].shape)
        return mantissa, exponent

    def _support(self) -> Floats:
        """1 where the value of a message to a variable can be above zero, else 0."""
        support = np.ones(self.n_slots)
        if self._weights.nnz == sum(f.table.size * f.table.ndim for f in self.graph.factors.values()) + len(
            self._spare
        ):
            return support
        while True:
            after = np.minimum(support, self.to_variables(self.to_factors(support)) > 0)
            self._require_values(after)
            if np.array_equal(after, support):
                return support
            support = after

    def _require_values(self, support: Floats) -> None:
        vanished = np.add.reduceat(support, self._segment_start) == 0
        if vanished.any():
            self._raise_impossible(self._names[self._segment_variable[np.argmax(vanished)]])
        for start, width, n in self._blocks:
            possible = support[start : start + width * n].reshape(width, n).all(axis=0)
            inside = (self._segment_start >= start) & (self._segment_start < start + n)
            none = np.add.reduceat(possible.astype(np.int64), self._segment_start[inside] - start) == 0
            if none.any():
                self._raise_impossible(self._names[self._segment_variable[inside][np.argmax(none)]])

    def _raise_impossible(self, variable: str) -> None:
        holders = ", ".join(self.graph.factors_of[variable][:5])
        more = self.graph.degree(variable) - 5
        raise InvalidInput(
            f"the graph (or the evidence it was given) is impossible: zeros of the tables leave variable {variable!r} "
            f"no value; it is in {holders}{f' and {more} more' if more > 0 else ''}"
        )


class Alike(NamedTuple):
    """Factors whose tables have one shape: their names, and the first slot of each of their edges, (n, arity)."""

    shape: tuple[int, ...]
    names: list[str]
    first_slot: Ints


_FAR = -(1 << 40)
"""Power of two that a zero is given, far below any sum of powers of numbers above zero."""

_LONGEST_RUN = 256
"""Mantissas, each at least .5, that may be multiplied without reaching the end of float64."""


def _split(messages: Floats) -> tuple[Floats, Ints]:
    mantissa, exponent = np.frexp(messages)
    exponent = exponent.astype(np.int64)
    exponent[mantissa == 0] = _FAR
    return mantissa, exponent


def _without_each(rows: Floats) -> tuple[Floats, Ints | int]:
    """Product of all rows but each, for a power of two of rows of numbers in [.5, 1) or zero, and powers of two."""
    width = len(rows)
    if width > _LONGEST_RUN:
        runs = rows.reshape(-1, _LONGEST_RUN, *rows.shape[1:])
        whole, power = np.frexp(np.multiply.reduce(runs, axis=1))
        across, shift = _without_each(whole)
        power = power.astype(np.int64)
        power = power.sum(axis=0) - power + shift
        within = np.stack([_without_each(run)[0] for run in runs])
        return (within * across[:, None]).reshape(rows.shape), np.repeat(power, _LONGEST_RUN, axis=0)
    if width == 2:
        return rows[::-1], 0
    before = np.multiply.accumulate(rows, axis=0)
    after = np.multiply.accumulate(rows[::-1], axis=0)[::-1]
    others = np.empty_like(rows)
    others[0], others[-1] = after[1], before[-2]
    np.multiply(before[:-2], after[2:], out=others[1:-1])
    return others, 0


def _scaled(tables: Floats) -> Floats:
    """Each row by the power of two that brings its largest entry into [.5, 1)."""
    _, power = np.frexp(tables.max(axis=1))
    scaled: Floats = np.ldexp(tables, -power[:, None])
    return scaled


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
