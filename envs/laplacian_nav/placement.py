"""Where several navigators begin, and where each of them is to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scisuite.core import InvalidInput
from scisuite.envs.laplacian_nav.layout import cell_state
from scisuite.scenarios.nav import GridWorld, UnreachableError
from scisuite.scenarios.nav.world import Ints


class Placement:
    """Start and goal of each navigator in one world: those that are asked for, the others drawn.

    Navigators start in different cells and not at their own goal. Two may have the same goal, since who arrives leaves
    the cell to the other. What is drawn lies in one strongly connected component: a goal uniformly among the cells that
    a start can reach and be reached from, a start uniformly among those that are still empty.

    Parameters
    ----------
    world : GridWorld
    agents : sequence of str
        Names of the navigators.
    start_cells, goal_cells : mapping of names to cells (row, column), or None
        What is asked for; for any of the navigators.

    Raises
    ------
    UnreachableError
        If no path leads from a start to its goal; the message names navigator and cells.
    InvalidInput
        If a name or a cell is none, two start in one cell, one starts at its goal, or the world has too few cells.
    """

    def __init__(
        self,
        world: GridWorld,
        agents: Sequence[str],
        start_cells: Mapping[str, Any] | None = None,
        goal_cells: Mapping[str, Any] | None = None,
    ) -> None:
        self.world = world
        self.agents = tuple(agents)
        require_room(world, len(agents))
        self._starts = self._states("start_cells", start_cells)
        self._goals = self._states("goal_cells", goal_cells)
        self._require_apart()
        self._require_paths()

    def draw(self, rng: np.random.Generator) -> tuple[list[int], list[int]]:
        """Starts and goals, states in the order of the navigators.

        Raises
        ------
        InvalidInput
            If those with a goal of their own leave one of them no cell to start from.
        """
        starts, goals = dict(self._starts), dict(self._goals)
        # Who has a goal, but no start, has fewest cells to choose from and goes first.
        for agent in sorted(set(goals) - set(starts), key=self.agents.index):
            starts[agent] = self._draw_start(rng, agent, goals[agent], starts)
        for agent in self.agents:
            if agent not in starts:
                starts[agent] = self._draw_start(rng, agent, None, starts)
            if agent not in goals:
                goals[agent] = self._draw_goal(rng, starts[agent])
        return [starts[agent] for agent in self.agents], [goals[agent] for agent in self.agents]

    def _draw_start(self, rng: np.random.Generator, agent: str, goal: int | None, starts: Mapping[str, int]) -> int:
        empty = np.ones(self.world.n, dtype=bool)
        empty[list(starts.values())] = False
        if goal is None:
            empty &= _has_company(self.world)
        else:
            empty &= self.world.distances([goal])[0] > 0
        left = np.flatnonzero(empty)
        if not len(left):
            why = "" if goal is None else f" that can reach its goal, {self.world.name(goal)}"
            raise InvalidInput(f"{agent} has no empty cell to start from{why}")
        return int(rng.choice(left))

    def _draw_goal(self, rng: np.random.Generator, start: int) -> int:
        components = self.world.components
        others = np.flatnonzero(components == components[start])
        others = others[others != start]
        if not len(others):
            # A start that was asked for may lie behind a one-way door: any cell that it leads to will do.
            others = _reached_from(self.world, start)
        return int(rng.choice(others))

    def _states(self, option: str, cells: Any) -> dict[str, int]:
        if cells is None:
            return {}
        if not isinstance(cells, Mapping):
            raise InvalidInput(f"{option} must map navigators to cells (row, column), not be a {type(cells).__name__}")
        states = {}
        for agent, cell in cells.items():
            if agent not in self.agents:
                raise InvalidInput(f"{option} names {agent!r}; the navigators are {', '.join(self.agents)}")
            try:
                states[agent] = cell_state(self.world, cell)
            except InvalidInput as error:
                raise InvalidInput(f"{option}, {agent}: {error}") from None
        return states

    def _require_apart(self) -> None:
        taken: dict[int, str] = {}
        for agent in self.agents:
            start = self._starts.get(agent)
            if start is None:
                continue
            if start in taken:
                raise InvalidInput(f"{taken[start]} and {agent} both start in {self.world.name(start)}")
            taken[start] = agent
            if start == self._goals.get(agent):
                raise InvalidInput(f"{agent} starts at its goal, {self.world.name(start)}")

    def _require_paths(self) -> None:
        for agent, start in self._starts.items():
            if not self.world.open_moves[start].any():
                raise UnreachableError(f"{agent}: no path leads from {self.world.name(start)} to any other cell")
            if agent in self._goals:
                try:
                    self.world.require_path(start, self._goals[agent])
                except UnreachableError as error:
                    raise UnreachableError(f"{agent}: {error}") from None


def require_room(world: GridWorld, n_agents: int) -> None:
    """Refuse more navigators than a world has cells from which one can go somewhere and come back.

    Raises
    ------
    InvalidInput
        If there are more.
    """
    room = int(_has_company(world).sum())
    if n_agents > room:
        raise InvalidInput(f"n_agents must be at most {room}, the cells to start from in this world, not {n_agents}")


def _has_company(world: GridWorld) -> Any:
    """bool (n,): whether another cell lies in the same strongly connected component."""
    return np.bincount(world.components)[world.components] > 1


def _reached_from(world: GridWorld, start: int) -> Ints:
    from scipy.sparse.csgraph import breadth_first_order

    reached = breadth_first_order(world.W, start, return_predecessors=False)
    return np.sort(reached[reached != start]).astype(np.int64)
