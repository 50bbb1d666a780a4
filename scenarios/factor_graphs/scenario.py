"""The scenarios ``factor_graphs/…``: a factor graph, what is observed of it and what must survive its reduction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean, refuse_unknown_arguments
from scisuite.scenarios.base import Description, WorldScenario
from scisuite.scenarios.factor_graphs import generators
from scisuite.scenarios.factor_graphs.bayesian_network import half_the_leaves
from scisuite.scenarios.factor_graphs.bundled import BUNDLED, LICENCE, SOURCE, bundled_file, bundled_network
from scisuite.scenarios.factor_graphs.graph import FactorGraph


@dataclass(frozen=True, eq=False)
class Problem:
    """A factor graph and what is asked of it.

    Attributes
    ----------
    graph : FactorGraph
        Given the evidence, and without one-valued variables.
    keep : tuple of str
        Variables of ``graph`` that a reduction must leave.
    evidence : mapping of str to int
        Observed variables of ``full`` and the places of their values; empty where nothing is observed for certain.
    full : FactorGraph
        Before the evidence.
    potentials : float64 (graph.n_entries,)
        All tables of ``graph``, one behind the other.
    """

    graph: FactorGraph
    keep: tuple[str, ...]
    evidence: Mapping[str, int]
    full: FactorGraph
    potentials: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        tables = [factor.table.ravel() for factor in self.graph.factors.values()]
        object.__setattr__(self, "potentials", np.concatenate(tables) if tables else np.empty(0))


@dataclass(frozen=True)
class Kind:
    """A family of generated graphs: the function that draws one, and what it is."""

    draw: Callable[..., FactorGraph]
    summary: str


KINDS = {
    "hmm": Kind(generators.hmm, "a hidden Markov model with soft evidence on its outputs"),
    "tree": Kind(generators.tree, "a random recursive tree"),
    "chain": Kind(generators.chain, "a chain"),
    "cycle_hair": Kind(generators.cycle_hair, "a cycle whose variables carry unary factors and pendant chains"),
    "ising": Kind(generators.ising, "an Ising grid"),
    "random_loopy": Kind(generators.random_loopy, "a connected random graph with loops"),
}
NETWORK = "network"
HIDDEN_TO_KEEP: dict[str, Callable[[list[str]], list[str]]] = {
    "first": lambda hidden: hidden[:1],
    "first_last": lambda hidden: list(dict.fromkeys([hidden[0], hidden[-1]])),
    "hidden": lambda hidden: hidden,
}


class FactorGraphScenario(WorldScenario):
    """Factor graphs of one kind, or a bundled Bayesian network with evidence that is drawn.

    Parameters
    ----------
    kind : str
        ``hmm``, ``tree``, ``chain``, ``cycle_hair``, ``ising`` or ``random_loopy``, which are generated, or
        ``network``, a Bayesian network of the bnlearn repository.
    network : str or None
        Which one, for that kind.
    evidence : str or None
        Of a network: ``"half_the_leaves"``, the usual choice, or ``"none"``.
    keep : list of str, int or str
        Variables to be kept: their names, which are then never observed; how many to draw of those that are not
        observed; or, for an HMM, ``"first"``, ``"first_last"`` or ``"hidden"``.
    T, K, M, seen, n, rows, cols, coupling, field, torus, homogeneous, hair, loops, max_arity
        Arguments of the function of that name in :mod:`scisuite.scenarios.factor_graphs.generators`; ``None`` for the
        usual value.
    seed : int
        Kept for the contract; an instance depends on its generator alone.

    Raises
    ------
    InvalidInput
        If there is no such kind or network, the kind does not take an argument, or ``keep`` is of no such form.
    DataUnavailable
        If pgmpy, which carries the networks, is not installed.
    """

    def __init__(
        self,
        kind: str,
        *,
        network: str | None = None,
        evidence: Literal["half_the_leaves", "none"] | None = None,
        keep: Sequence[str] | int | str = (),
        T: int | None = None,
        K: int | None = None,
        M: int | None = None,
        seen: float | None = None,
        n: int | None = None,
        rows: int | None = None,
        cols: int | None = None,
        coupling: float | None = None,
        field: float | None = None,
        torus: bool | None = None,
        homogeneous: bool | None = None,
        hair: bool | None = None,
        loops: int | None = None,
        max_arity: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        if not isinstance(kind, str) or kind not in (*KINDS, NETWORK):
            raise InvalidInput(f"unknown kind of factor graph {kind!r}{did_you_mean(str(kind), (*KINDS, NETWORK))}")
        given = {"network": network, "evidence": evidence, "T": T, "K": K, "M": M, "seen": seen, "n": n, "rows": rows}
        given |= {"cols": cols, "coupling": coupling, "field": field, "torus": torus, "homogeneous": homogeneous}
        given |= {"hair": hair, "loops": loops, "max_arity": max_arity}
        self.arguments: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        draw: Callable[..., Any] = _network if kind == NETWORK else KINDS[kind].draw
        refuse_unknown_arguments(partial(draw, None), self.arguments, f"factor graph {kind!r}")
        self.kind = kind
        self.keep = _checked_keep(keep, kind)
        if kind == NETWORK:
            bundled_file(self.arguments["network"])
            _require_evidence(self.arguments.get("evidence", "half_the_leaves"))
        else:
            draw(np.random.default_rng(0), **self.arguments)

    def generate(self, rng: np.random.Generator) -> Problem:
        """One problem. What is kept is drawn last, so that the graph is the same for any number of kept variables.

        Raises
        ------
        InvalidInput
            If ``keep`` names a variable that the graph does not have, or asks for more than it has.
        """
        named = self.keep if isinstance(self.keep, tuple) else ()
        if self.kind == NETWORK:
            full, evidence = _network(rng, **self.arguments, spare=named)
        else:
            full, evidence = KINDS[self.kind].draw(rng, **self.arguments), {}
        graph = full.condition(evidence).without_constants()
        return Problem(graph, self._kept(graph, rng), evidence, full)

    def describe(self) -> Description:
        if self.kind == NETWORK:
            name = self.arguments["network"]
            graph = bundled_network(name)
            summary, source, licence = f"Bayesian network {name}: {BUNDLED[name]}", SOURCE, LICENCE
        else:
            graph = KINDS[self.kind].draw(np.random.default_rng(0), **self.arguments)
            summary, licence = KINDS[self.kind].summary, "none needed (generated)"
            source = "drawn by a generator of scisuite; the distributions are a reconstruction"
        return Description(
            id=self.id,
            summary=f"{summary}; {len(graph.card)} variables of at most {max(graph.card.values())} values",
            source=source,
            licence=licence,
            real=self.kind == NETWORK,
            shapes={
                "variables": (len(graph.card),),
                "factors": (len(graph.factors),),
                "table entries": (graph.n_entries,),
            },
            units={"tables": "probability" if self.kind == NETWORK else "weight, not normalised"},
        )

    def _kept(self, graph: FactorGraph, rng: np.random.Generator) -> tuple[str, ...]:
        if isinstance(self.keep, str):
            return tuple(HIDDEN_TO_KEEP[self.keep]([v for v in graph.card if v.startswith("h")]))
        if isinstance(self.keep, tuple):
            return graph.require_variables(self.keep)
        if self.keep > len(graph.card):
            raise InvalidInput(f"keep asks for {self.keep} variables, and {len(graph.card)} are not observed")
        names = list(graph.card)
        return tuple(names[i] for i in np.sort(rng.permutation(len(names))[: self.keep]))


def _network(
    rng: np.random.Generator, *, network: str, evidence: str = "half_the_leaves", spare: Sequence[str] = ()
) -> tuple[FactorGraph, dict[str, int]]:
    full = bundled_network(network)
    return full, half_the_leaves(full, rng, spare) if evidence == "half_the_leaves" else {}


def _require_evidence(given: Any) -> None:
    choices = ("half_the_leaves", "none")
    if given not in choices:
        raise InvalidInput(f"evidence must be {' or '.join(map(repr, choices))}, not {given!r}")


def _checked_keep(given: Any, kind: str) -> tuple[str, ...] | int | str:
    if isinstance(given, str):
        if kind == "hmm" and given in HIDDEN_TO_KEEP:
            return given
        choices = f"; of an HMM also {', '.join(map(repr, HIDDEN_TO_KEEP))}" if kind == "hmm" else ""
        raise InvalidInput(f"keep must be a list of variables or their number{choices}, not the text {given!r}")
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and given >= 0:
        return int(given)
    if isinstance(given, list | tuple) and all(isinstance(v, str) for v in given):
        return tuple(given)
    raise InvalidInput(f"keep must be a list of variables or their number, not {given!r}")
