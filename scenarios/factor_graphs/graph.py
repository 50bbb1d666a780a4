"""Factor graphs: discrete variables, non-negative tables over some of them, and nothing about how they are solved."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean

Table = NDArray[np.float64]


class Factor(NamedTuple):
    """A table over a scope: ``table[k0, k1, …]`` is its value where ``variables[0]`` is ``k0`` and so on."""

    variables: tuple[str, ...]
    table: Table


class FactorGraph:
    """The unnormalised distribution p(x) ∝ Π_f ψ_f(x_f) over variables of ``card[v]`` values each.

    Immutable: every operation gives a new graph, and the tables are read-only.

    Parameters
    ----------
    card : mapping of str to int
        Number of values of each variable, at least 1.
    factors : mapping of str to (sequence of str, array)
        Scope and table of each factor. A table is float64 with one axis for each variable of its scope, in that order;
        zeros are legal, a table of zeros alone is not.
    log_scale : float
        Natural logarithm of a constant that multiplies the product of the tables. Operations that would overflow move
        powers of two into it, so that ln Z and the Bethe free energy stay what they were.
    states : mapping of str to sequence of str
        Names of the values, for those variables whose values have names.

    Attributes
    ----------
    factors_of : mapping of str to tuple of str
        For each variable the factors that hold it, in the order of ``factors``.

    Raises
    ------
    InvalidInput
        If a name is no text, a cardinality no positive whole number, a scope empty, unknown or with a variable twice,
        or a table has another shape than its scope, a negative, NaN or infinite entry, or no entry above zero. The
        message names the variable or factor.

    Examples
    --------
    >>> graph = FactorGraph({"rain": 2, "wet": 2}, {"prior": (["rain"], [.8, .2]),
    ...                                             "wets": (["rain", "wet"], [[.9, .1], [.2, .8]])})
    >>> graph.factors_of["rain"]
    ('prior', 'wets')
    >>> graph.condition({"wet": 1}).factors["wets"].table
    array([0.1, 0.8])
    """

    __slots__ = ("card", "factors", "factors_of", "log_scale", "states")

    card: Mapping[str, int]
    factors: Mapping[str, Factor]
    factors_of: Mapping[str, tuple[str, ...]]
    log_scale: float
    states: Mapping[str, tuple[str, ...]]

    def __init__(
        self,
        card: Mapping[str, int],
        factors: Mapping[str, tuple[Iterable[str], ArrayLike]],
        *,
        log_scale: float = 0.0,
        states: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        checked_card = {_name("variable", v): _cardinality(v, k) for v, k in card.items()}
        checked = {_name("factor", f): _factor(f, given, checked_card) for f, given in factors.items()}
        if not math.isfinite(log_scale):
            raise InvalidInput(f"log_scale must be finite, not {log_scale!r}")
        self._fill(checked_card, checked, float(log_scale), _states(states or {}, checked_card))

    @classmethod
    def trusted(
        cls,
        card: Mapping[str, int],
        factors: Mapping[str, Factor],
        log_scale: float = 0.0,
        states: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Self:
        """Build a graph of parts that are known to be right, without looking at them again. Tables become read-only."""
        graph = cls.__new__(cls)
        graph._fill(dict(card), dict(factors), log_scale, dict(states or {}))
        return graph

    def _fill(
        self,
        card: dict[str, int],
        factors: dict[str, Factor],
        log_scale: float,
        states: dict[str, tuple[str, ...]],
    ) -> None:
        holders: dict[str, list[str]] = {v: [] for v in card}
        for name, factor in factors.items():
            factor.table.setflags(write=False)
            for v in factor.variables:
                holders[v].append(name)
        put = object.__setattr__
        put(self, "card", MappingProxyType(card))
        put(self, "factors", MappingProxyType(factors))
        put(self, "factors_of", MappingProxyType({v: tuple(names) for v, names in holders.items()}))
        put(self, "log_scale", log_scale)
        put(self, "states", MappingProxyType({v: names for v, names in states.items() if v in card}))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a FactorGraph cannot be changed: {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (dict(self.card), dict(self.factors), self.log_scale, dict(self.states))

    def __repr__(self) -> str:
        return f"FactorGraph({len(self.card)} variables, {len(self.factors)} factors, {self.n_entries} table entries)"

    @classmethod
    def from_bif(cls, path: str | os.PathLike[str]) -> FactorGraph:
        """See :func:`~scisuite.scenarios.factor_graphs.read_bif`."""
        from scisuite.scenarios.factor_graphs.bif import read_bif

        return read_bif(path)

    @classmethod
    def from_uai(cls, path: str | os.PathLike[str]) -> FactorGraph:
        """See :func:`~scisuite.scenarios.factor_graphs.read_uai`."""
        from scisuite.scenarios.factor_graphs.uai import read_uai

        return read_uai(path)

    def to_uai(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """See :func:`~scisuite.scenarios.factor_graphs.write_uai`."""
        from scisuite.scenarios.factor_graphs.uai import write_uai

        write_uai(self, path, overwrite=overwrite)

    @property
    def n_entries(self) -> int:
        """Number of entries of all tables."""
        return sum(factor.table.size for factor in self.factors.values())

    @property
    def edges(self) -> list[tuple[str, str]]:
        """(factor, variable) pairs, by factor and then by place in its scope."""
        return [(name, v) for name, factor in self.factors.items() for v in factor.variables]

    def degree(self, variable: str) -> int:
        """Number of factors that hold ``variable``."""
        return len(self.factors_of[variable])

    def require_variables(self, names: Iterable[str], what: str = "keep") -> tuple[str, ...]:
        """``names`` as a tuple without repetitions, in their order.

        Raises
        ------
        InvalidInput
            If one of them is no variable of the graph; the message suggests the nearest.
        """
        if isinstance(names, str):
            raise InvalidInput(f"{what} must be a list of variables, not the text {names!r}")
        asked = tuple(dict.fromkeys(names))
        for v in asked:
            if v not in self.card:
                raise InvalidInput(f"{what}: there is no variable {v!r}{did_you_mean(str(v), self.card)}")
        return asked

    def condition(self, evidence: Mapping[str, int | str]) -> FactorGraph:
        """The graph given the values of some variables, which leave it.

        Tables are sliced. A factor all of whose variables are given becomes a number, which goes into ``log_scale``.

        Parameters
        ----------
        evidence : mapping of str to int or str
            Value of each given variable, by its place or its name in ``states``.

        Raises
        ------
        InvalidInput
            If a variable or value is unknown, or a table has no entry above zero left: the evidence is impossible. That
            no table vanishes does not prove the evidence possible; :func:`~scisuite.scenarios.factor_graphs.possible`
            does.
        """
        self.require_variables(evidence, "evidence")
        place = {v: self.value_index(v, value) for v, value in evidence.items()}
        factors: dict[str, Factor] = {}
        log_scale = self.log_scale
        for name, factor in self.factors.items():
            if not any(v in place for v in factor.variables):
                factors[name] = factor
                continue
            table = factor.table[tuple(place.get(v, slice(None)) for v in factor.variables)]
            if not np.any(table):
                given = ", ".join(f"{v}={evidence[v]}" for v in factor.variables if v in place)
                raise InvalidInput(f"the evidence is impossible: factor {name!r} is zero at {given}")
            rest = tuple(v for v in factor.variables if v not in place)
            if rest:
                factors[name] = Factor(rest, np.ascontiguousarray(table))
            else:
                log_scale += math.log(float(table))
        card = {v: k for v, k in self.card.items() if v not in place}
        return FactorGraph.trusted(card, factors, log_scale, {v: s for v, s in self.states.items() if v in card})

    def without_constants(self) -> FactorGraph:
        """The graph without its one-valued variables, whose only value they are known to have."""
        return self.condition({v: 0 for v, k in self.card.items() if k == 1})

    def value_index(self, variable: str, value: int | str) -> int:
        """Place of a value, given by its place or its name.

        Raises
        ------
        InvalidInput
            If the variable has no such value.
        """
        names = self.states.get(variable, ())
        if isinstance(value, str):
            if value in names:
                return names.index(value)
            known = f"; it has {', '.join(names)}" if names else "; its values have no names, give a number"
            raise InvalidInput(f"{variable} has no value {value!r}{known}")
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not 0 <= value < self.card[variable]:
            raise InvalidInput(f"{variable} has values 0 to {self.card[variable] - 1}, not {value!r}")
        return int(value)

    def components(self) -> list[tuple[str, ...]]:
        """The variables of each connected component, components and variables in the order of ``card``."""
        seen: set[str] = set()
        found = []
        order = {v: i for i, v in enumerate(self.card)}
        for start in self.card:
            if start in seen:
                continue
            seen.add(start)
            members, stack = [], [start]
            while stack:
                v = stack.pop()
                members.append(v)
                for name in self.factors_of[v]:
                    for u in self.factors[name].variables:
                        if u not in seen:
                            seen.add(u)
                            stack.append(u)
            found.append(tuple(sorted(members, key=order.__getitem__)))
        return found


def _rebuild(
    card: dict[str, int], factors: dict[str, Factor], log_scale: float, states: dict[str, tuple[str, ...]]
) -> FactorGraph:
    return FactorGraph.trusted(card, factors, log_scale, states)


def _name(what: str, given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise InvalidInput(f"the name of a {what} must be a non-empty text, not {given!r}")
    return given


def _cardinality(variable: str, given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < 1:
        raise InvalidInput(f"variable {variable!r} must have a whole number of values, at least 1, not {given!r}")
    return int(given)


def _factor(name: str, given: Any, card: Mapping[str, int]) -> Factor:
    try:
        scope, values = given
        variables = (scope,) if isinstance(scope, str) else tuple(scope)
        table = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"factor {name!r} must be (variables, table of numbers): {error}") from error
    if not variables:
        raise InvalidInput(f"factor {name!r} has no variables")
    for v in variables:
        if v not in card:
            raise InvalidInput(f"factor {name!r} names the unknown variable {v!r}{did_you_mean(str(v), card)}")
    if len(set(variables)) < len(variables):
        twice = next(v for v in variables if variables.count(v) > 1)
        raise InvalidInput(f"factor {name!r} has the variable {twice!r} twice in its scope")
    shape = tuple(card[v] for v in variables)
    if table.shape != shape:
        raise InvalidInput(f"the table of factor {name!r} has shape {table.shape}, its variables ask for {shape}")
    for wrong, what in ((np.isnan(table), "NaN"), (np.isinf(table), "infinite"), (table < 0, "negative")):
        if wrong.any():
            where = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise InvalidInput(f"the table of factor {name!r} is {what} at {where}: {table[where]}")
    if not table.any():
        raise InvalidInput(f"the table of factor {name!r} is zero everywhere")
    return Factor(variables, table)


def _states(given: Mapping[str, Iterable[str]], card: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    named = {v: tuple(names) for v, names in given.items()}
    for v, names in named.items():
        if v not in card:
            raise InvalidInput(f"states are given for the unknown variable {v!r}{did_you_mean(str(v), card)}")
        if len(names) != card[v] or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
            raise InvalidInput(f"variable {v!r} has {card[v]} values and needs as many different names, not {names!r}")
    return named
