"""What stays the same over the episodes of ``sci/CRNReduce-v0``: where problems come from, spaces and caps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite import scenarios
from scisuite.core import InvalidInput, as_seed, generator
from scisuite.core.registry import did_you_mean
from scisuite.envs.crn_reduce.board import Board, Move, members
from scisuite.scenarios.base import WorldScenario
from scisuite.scenarios.factor_graphs import FactorGraph

OPTIONS = ("instance_seed", "scenario")
VERIFY = ("stop", "never")
DRAWN_SEEDS = 2**31
"""An instance seed that is drawn lies below this."""

_LARGEST = float(np.finfo(np.float32).max)

Observation = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Instance:
    """One problem: the graph without its one-valued variables, and the board that play begins with."""

    graph: FactorGraph
    board: Board
    seed: int


class Task:
    """The arguments of an environment, checked, and what follows from them.

    Parameters
    ----------
    scenario : str, WorldScenario, FactorGraph or problem
        An id, a scenario whose instances have ``graph`` and ``keep``, such an instance, or a graph.
    scenario_config : mapping or None
        Arguments of the scenario, where it is named by its id.
    max_sites : int
    max_molecularity, max_table : int or None
        ``None`` takes the cap of the instance, where it has one.
    verify : {"stop", "never"}

    Raises
    ------
    InvalidInput
        If one of them is unknown or out of its range.
    """

    def __init__(
        self,
        scenario: Any,
        scenario_config: Mapping[str, Any] | None,
        max_sites: int,
        max_molecularity: int | None,
        max_table: int | None,
        verify: str,
    ) -> None:
        self.max_sites = _count("max_sites", max_sites)
        self.max_molecularity = None if max_molecularity is None else _count("max_molecularity", max_molecularity)
        self.max_table = None if max_table is None else _count("max_table", max_table)
        if verify not in VERIFY:
            raise InvalidInput(f"verify must be one of {', '.join(map(repr, VERIFY))}, not {verify!r}")
        self.verify = verify
        self.source = _source(scenario, scenario_config)

    @property
    def stop(self) -> int:
        """The action that ends the episode."""
        return 4 * self.max_sites

    def instance(self, seed: int, source: Any = None) -> Instance:
        """The problem of an instance seed, of another source than the own one if one is given.

        Raises
        ------
        InvalidInput
            If the source gives no factor graph, or one that is too large or empty; the message says which.
        """
        source = self.source if source is None else source
        drawn = source.generate(generator(seed, "crn_reduce instance")) if isinstance(source, WorldScenario) else source
        graph = drawn if isinstance(drawn, FactorGraph) else getattr(drawn, "graph", None)
        if not isinstance(graph, FactorGraph):
            raise InvalidInput(f"{_named(source)} gives no factor graphs")
        graph = graph.without_constants() if any(k == 1 for k in graph.card.values()) else graph
        for what, n in (("variables", len(graph.card)), ("factors", len(graph.factors))):
            if n > self.max_sites:
                raise InvalidInput(
                    f"the graph of {_named(source)} has {n} {what}, more than max_sites={self.max_sites}"
                )
        if not graph.card:
            raise InvalidInput(f"the graph of {_named(source)} has no variable of more than one value")
        caps = (
            getattr(drawn, "max_molecularity", None) if self.max_molecularity is None else self.max_molecularity,
            getattr(drawn, "max_table", None) if self.max_table is None else self.max_table,
        )
        keep = [v for v in getattr(drawn, "keep", ()) if v in graph.card]
        return Instance(graph, Board.of(graph, keep, *caps), seed)

    def observation_space(self) -> gym.spaces.Dict:
        """A new space of the observations."""
        n = self.max_sites
        box = gym.spaces.Box
        return gym.spaces.Dict(
            {
                "incidence": box(0.0, 1.0, (n, n), np.float32),
                "log_table_sizes": box(0.0, math.log(_LARGEST), (n,), np.float32),
                "cardinalities": box(0.0, _LARGEST, (n,), np.float32),
                "degrees": box(0.0, float(n), (n,), np.float32),
                "keep": box(0, 1, (n,), np.int8),
                "globals": box(0.0, _LARGEST, (4,), np.float32),
            }
        )

    def action_space(self) -> gym.spaces.Discrete:
        """A new space of the actions."""
        return gym.spaces.Discrete(4 * self.max_sites + 1)

    def observe(self, board: Board) -> Observation:
        """The observation of a board."""
        n = self.max_sites
        incidence = np.zeros((n, n), np.float32)
        degrees, cards, logs = (np.zeros(n, np.float32) for _ in range(3))
        keep = np.zeros(n, np.int8)
        for v, places in board.holders.items():
            incidence[list(places), v] = 1.0
            degrees[v] = len(places)
            cards[v] = board.card[v]
        for place, entries in enumerate(board.entries):
            if entries:
                logs[place] = math.log(entries)
        keep[list(members(board.keep))] = 1
        cap = board.max_molecularity or 0
        totals = np.array([board.molecularity, cap, board.species, board.reactions], np.float32)
        return {
            "cardinalities": cards,
            "degrees": degrees,
            "globals": totals,
            "incidence": incidence,
            "keep": keep,
            "log_table_sizes": logs,
        }

    def actions(self, board: Board) -> dict[int, Move]:
        """The legal moves by their actions, STOP left out.

        Of the pairs that can be clustered the first ``max_sites`` have an action.
        """
        n = self.max_sites
        leaves, unaries, series, clusters = board.moves
        found = {move.variable: move for move in leaves}
        found |= {n + move.second: move for move in unaries}
        found |= {2 * n + move.variable: move for move in series}
        found |= {3 * n + i: move for i, move in enumerate(clusters[:n])}
        return found


def require_options(options: Any) -> dict[str, Any]:
    """``options`` of ``reset`` as a new dictionary, refused where one is unknown."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InvalidInput(f"options must be a mapping, not {type(options).__name__}")
    for name in options:
        if name not in OPTIONS:
            raise InvalidInput(f"unknown option {name!r}{did_you_mean(str(name), OPTIONS)}")
    chosen = dict(options)
    if "instance_seed" in chosen:
        try:
            chosen["instance_seed"] = as_seed(chosen["instance_seed"])
        except InvalidInput as error:
            raise InvalidInput(f"instance_{error}") from None
    if "scenario" in chosen:
        chosen["scenario"] = _source(chosen["scenario"], None)
    return chosen


def require_action(action: Any, n_actions: int) -> int:
    """``action`` as an int: a whole number, NumPy's included, from 0 to ``n_actions`` − 1."""
    whole = isinstance(action, int | np.integer) and not isinstance(action, bool)
    if isinstance(action, np.ndarray) and action.ndim == 0 and np.issubdtype(action.dtype, np.integer):
        whole = True
    if not whole or not 0 <= action < n_actions:
        raise InvalidInput(f"an action is a whole number from 0 to {n_actions - 1}, not {action!r}")
    return int(action)


def mask_of(actions: Mapping[int, Move], n_actions: int) -> NDArray[np.bool_]:
    """bool (n_actions,): the legal actions, STOP among them."""
    mask = np.zeros(n_actions, dtype=bool)
    mask[list(actions)] = True
    mask[-1] = True
    return mask


def _source(scenario: Any, config: Mapping[str, Any] | None) -> Any:
    if not isinstance(config, Mapping | None):
        raise InvalidInput(f"scenario_config must be a mapping or None, not {type(config).__name__}")
    if isinstance(scenario, str):
        made = scenarios.make(scenario, **(config or {}))
        if not isinstance(made, WorldScenario):
            raise InvalidInput(f"scenario {scenario!r} is no world of factor graphs")
        return made
    if config:
        raise InvalidInput("scenario_config is for a scenario that is named by its id")
    if isinstance(scenario, WorldScenario | FactorGraph) or isinstance(getattr(scenario, "graph", None), FactorGraph):
        return scenario
    raise InvalidInput(f"a scenario is an id, a WorldScenario or a FactorGraph, not {type(scenario).__name__}")


def _named(source: Any) -> str:
    id = getattr(source, "id", "")
    return f"scenario {id!r}" if id else type(source).__name__


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)
