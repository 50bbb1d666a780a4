"""Factor graphs in which the move that saves most now is often not the one to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scisuite.core import InvalidInput
from scisuite.scenarios.base import Description, WorldScenario
from scisuite.scenarios.factor_graphs.graph import FactorGraph
from scisuite.scenarios.factor_graphs.scenario import Problem

TRIES = 1_000


@dataclass(frozen=True, eq=False)
class PlanningProblem(Problem):
    """A factor graph to be reduced under caps; nothing is observed.

    Attributes
    ----------
    max_molecularity, max_table : int
        The caps: molecules that may meet in a reaction, and entries that a table may have.
    """

    max_molecularity: int
    max_table: int


class PlanningScenario(WorldScenario):
    """A few hubs of many values, joined by short chains of variables of few values, with pendant trees on them.

    Eliminating a variable of a chain pays at once, but makes one more table over two hubs, and two tables that share
    both their variables can never be merged. Multiplying two small tables at a hub brings little or nothing, but after
    two or three of these the hub itself can be eliminated, unless by then a table has become too large for the caps.

    Potentials are drawn from [.4, 1], so that belief propagation converges. The caps belong to the problem: it takes
    them from here.

    Parameters
    ----------
    variables, hubs, keep : (int, int)
        Least and greatest number of variables, of hubs among them, and of variables that must be kept.
    max_factors : int
    hub_cards, cards : sequence of int
        Numbers of values to draw from, of hubs and of other variables; what stands twice is drawn twice as often.
    long, ternary : float
        Probabilities that a link between two hubs is a chain of two variables, and one factor over both and a third.
    pendant : float
        Probability that a variable is added as a leaf, not in a link.
    unary : float
        Probability that a variable has a unary factor.
    max_molecularity, max_table : int
    seed : int
        Kept for the contract; an instance depends on its generator alone.

    Raises
    ------
    InvalidInput
        If an argument is out of its range.

    Notes
    -----
    The generator is a reconstruction: the paper has no planning problem.
    """

    def __init__(
        self,
        variables: Sequence[int] = (6, 8),
        hubs: Sequence[int] = (2, 3),
        keep: Sequence[int] = (0, 1),
        max_factors: int = 8,
        hub_cards: Sequence[int] = (3, 4, 4),
        cards: Sequence[int] = (2, 2, 2, 3),
        long: float = 0.25,
        ternary: float = 0.15,
        pendant: float = 0.2,
        unary: float = 0.1,
        max_molecularity: int = 4,
        max_table: int = 64,
        *,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        self.hubs = _range("hubs", hubs, least=2)
        self.variables = _range("variables", variables, least=self.hubs[1] + 1)
        self.keep = _range("keep", keep, least=0)
        if self.keep[1] > self.variables[0]:
            raise InvalidInput(f"keep asks for up to {self.keep[1]} of as few as {self.variables[0]} variables")
        self.max_factors = _count("max_factors", max_factors, least=self.hubs[1])
        self.hub_cards = tuple(_count("hub_cards", k, least=2) for k in hub_cards)
        self.cards = tuple(_count("cards", k, least=2) for k in cards)
        self.long, self.ternary = _probability("long", long), _probability("ternary", ternary)
        self.pendant, self.unary = _probability("pendant", pendant), _probability("unary", unary)
        self.max_molecularity = _count("max_molecularity", max_molecularity, least=2)
        self.max_table = _count("max_table", max_table, least=1)

    def generate(self, rng: np.random.Generator) -> PlanningProblem:
        """One problem, drawn from ``rng``: shapes with too many variables or factors are drawn again.

        Raises
        ------
        InvalidInput
            If so many variables hardly ever get by with ``max_factors`` factors.
        """
        for _ in range(TRIES):
            card, scopes = self._shape(rng)
            if self.variables[0] <= len(card) <= self.variables[1] and len(scopes) <= self.max_factors:
                break
        else:
            raise InvalidInput(f"max_factors: {self.max_factors} are too few for {self.variables[0]} variables")
        tables = [rng.uniform(0.4, 1.0, [card[v] for v in scope]) for scope in scopes]
        graph = FactorGraph(card, {f"f{i}": pair for i, pair in enumerate(zip(scopes, tables, strict=True))})
        n_kept = int(rng.integers(self.keep[0], self.keep[1] + 1))
        kept = rng.choice(len(card), n_kept, replace=False)
        keep = tuple(f"x{i}" for i in sorted(kept.tolist()))
        return PlanningProblem(graph, keep, {}, graph, self.max_molecularity, self.max_table)

    def describe(self) -> Description:
        low, high = self.variables
        return Description(
            id=self.id,
            summary=f"{low} to {high} variables: hubs joined by short chains, at most {self.max_factors} factors, "
            f"tables capped at {self.max_table} entries and reactions at {self.max_molecularity} molecules",
            source="drawn by a generator of scisuite; a reconstruction",
            licence="none needed (generated)",
            real=False,
            shapes={"variables": (high,), "factors": (self.max_factors,)},
            units={"potential": "dimensionless"},
        )

    def _shape(self, rng: np.random.Generator) -> tuple[dict[str, int], list[tuple[str, ...]]]:
        card: dict[str, int] = {}
        scopes: list[tuple[str, ...]] = []

        def variable(cards: tuple[int, ...]) -> str:
            name = f"x{len(card)}"
            card[name] = int(rng.choice(cards))
            return name

        def link(one: str, other: str) -> None:
            if rng.random() < self.ternary:
                scopes.append((one, variable(self.cards), other))
                return
            last = one
            for _ in range(2 if rng.random() < self.long else 1):
                following = variable(self.cards)
                scopes.append((last, following))
                last = following
            scopes.append((last, other))

        size = int(rng.integers(self.variables[0], self.variables[1] + 1))
        hubs = [variable(self.hub_cards) for _ in range(int(rng.integers(self.hubs[0], self.hubs[1] + 1)))]
        for i in range(1, len(hubs)):
            link(hubs[int(rng.integers(i))], hubs[i])
        while len(card) < size:
            if rng.random() < self.pendant:
                at = f"x{rng.integers(len(card))}"
                scopes.append((at, variable(self.cards)))
            else:
                one, other = rng.choice(len(hubs), 2, replace=False).tolist()
                link(hubs[one], hubs[other])
        scopes += [(v,) for v in card if rng.random() < self.unary]
        return card, scopes


def _range(name: str, given: Any, least: int) -> tuple[int, int]:
    try:
        low, high = given
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be (least, greatest), not {given!r}") from None
    low, high = _count(name, low, least), _count(name, high, least)
    if low > high:
        raise InvalidInput(f"{name} must be (least, greatest), not {(low, high)}")
    return low, high


def _count(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InvalidInput(f"{name} must be whole numbers of at least {least}, not {value!r}")
    return int(value)


def _probability(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and 0 <= value <= 1):
        raise InvalidInput(f"{name} must be a probability, not {value!r}")
    return float(value)
