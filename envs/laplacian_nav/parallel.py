"""Several navigators in one world, for PettingZoo."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from scisuite.core import InvalidInput, as_seed
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.laplacian_nav.layout import Layout
from scisuite.envs.laplacian_nav.placement import Placement, require_room
from scisuite.envs.laplacian_nav.task import Task, drawn_layout_seed, require_action, require_options
from scisuite.envs.laplacian_nav.traffic import cancelled_moves
from scisuite.scenarios.nav import GridWorld

Observation = dict[str, NDArray[np.float32]]
Info = dict[str, Any]

OPTIONS = ("layout_seed", "start_cells", "goal_cells")
PROBE = {"options": 1}
"""What PettingZoo's ``parallel_api_test`` passes to ``reset``; every other unknown option is refused."""


class LaplacianNavParallelEnv(ParallelEnv):  # type: ignore[misc]
    """Several navigators in one maze, each on its way to a goal of its own, none of them able to walk through another.

    What one navigator learns alone in ``sci/LaplacianNav-v0`` serves here until it meets somebody: a doorway lets one
    through at a time, and two that meet in a corridor have to give way.

    Agents
    ------
    ``navigator_0`` … ``navigator_{n_agents − 1}``.

    Observation
    -----------
    ``Dict``, one for each navigator, float32; its shape does not depend on ``n_agents``:

    - ``achieved_goal``, ``desired_goal`` (2,): row and column of the navigator and of its goal, in cells.
    - ``observation`` (2,): the navigator's row and column as fractions in [0, 1] of those of the last row and column.
    - ``view`` (2, 2 r + 1, 2 r + 1), r = ``view_radius``: what lies around the navigator, who is in the middle. First
      the walls, and what is outside the map, as 1; then, likewise, the other navigators. It looks through walls; a
      thin wall and a one-way door do not show.

    Action
    ------
    ``Discrete(5)`` (``Discrete(9)`` where the world has eight neighbours): up, right, down, left, as in
    ``sci/LaplacianNav-v0``; the last one waits. All navigators move at once. A move into a wall stays. A move into a
    cell that another navigator holds, enters or swaps out of is cancelled for all involved:
    :func:`~scisuite.envs.laplacian_nav.traffic.cancelled_moves` says exactly which. So two are never in one cell and
    never walk through each other; diagonal moves may cross. In a world that slips each navigator's action is replaced
    by a random move with probability ``slip`` before that.

    Reward
    ------
    −1 a step, 0 for the step that reaches the goal.

    Termination
    -----------
    A navigator that reaches its goal terminates and is gone with that step: from the next one on its cell is free. All
    that are left are truncated after ``max_steps`` steps.

    Info
    ----
    ``shortest``: int, moves of a shortest path from start to goal with nobody in the way, constant in an episode.
    ``blocked``: bool, whether the last move ran into a wall. ``cancelled``: bool, whether it was cancelled because of
    another navigator. ``is_success``: bool, whether the navigator is at its goal.

    Arguments
    ---------
    world : str, array or GridWorld
        Whatever :func:`~scisuite.scenarios.nav.make_world` takes, if it is a map.
    n_agents : int
    layout_seed : int or None
        The layout; with ``None`` one is drawn at the first ``reset`` and whenever ``reset`` is given a seed.
    max_steps : int or None
        By default the number of free cells of the layout.
    view_radius : int
    world_config : mapping or None
        Arguments of the world: ``{"loop": 0.2}`` for a maze.
    render_mode : None or "rgb_array"

    ``reset`` takes the options ``{"layout_seed": int}``, which holds until ``reset`` is given a seed or another layout,
    and ``{"start_cells": {"navigator_0": (row, column), …}}`` and ``{"goal_cells": …}`` for this episode, each of some
    navigators or of all. What is not given is drawn (:class:`~scisuite.envs.laplacian_nav.placement.Placement`).

    Raises
    ------
    InvalidInput
        If an argument is out of range, or there are fewer cells to start from than navigators.

    Source
    ------
    Reconstruction; the paper has one navigator.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as PettingZoo has it)
        "name": "laplacian_nav_v0",
        "render_modes": ["rgb_array"],
        "render_fps": 4,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        world: Any = "fourrooms",
        n_agents: int = 4,
        layout_seed: int | None = 0,
        max_steps: int | None = None,
        view_radius: int = 3,
        world_config: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        n_agents = _count("n_agents", n_agents)
        self.task = Task(
            world, "xy", True, "sparse", layout_seed, max_steps, gamma=1.0, eps=1.0, view_radius=view_radius,
            world_config=world_config,
        )  # fmt: skip
        self.view_radius = int(view_radius)
        self.possible_agents = [f"navigator_{i}" for i in range(n_agents)]
        self.agents: list[str] = []
        self.np_random: np.random.Generator | None = None
        self._viewer: Any = None
        self._begin(self.task.layout(self.task.layout_seed or 0), [0] * n_agents, [0] * n_agents)
        require_room(self.world, n_agents)
        self._set_spaces()

    @property
    def n_agents(self) -> int:
        """Navigators at the beginning of an episode."""
        return len(self.possible_agents)

    @property
    def max_steps(self) -> int:
        """Steps after which all are truncated."""
        return self.task.episode_length(self.layout)

    @property
    def positions(self) -> dict[str, tuple[int, int]]:
        """Row and column of every navigator that is still on its way."""
        return {agent: self.world.cell(self._states[self._number[agent]]) for agent in self.agents}

    @property
    def goals(self) -> dict[str, tuple[int, int]]:
        """Row and column of every navigator's goal."""
        return {agent: self.world.cell(goal) for agent, goal in zip(self.possible_agents, self._goals, strict=True)}

    def observation_space(self, agent: str) -> gym.spaces.Dict:
        """The space of a navigator's observations, always the same object."""
        return self._spaces(agent)[0]

    def action_space(self, agent: str) -> gym.spaces.Discrete:
        """The space of a navigator's actions, always the same object."""
        return self._spaces(agent)[1]

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, Info]]:
        """Begin an episode.

        Raises
        ------
        UnreachableError
            If a goal that was asked for cannot be reached; nothing has changed then.
        InvalidInput
            If the seed is no non-negative integer or an option is unknown or out of its range; nothing has changed.
        """
        options = {} if options == PROBE else require_options(options, OPTIONS)
        if seed is not None:
            rng = seeding.np_random(as_seed(seed))[0]
        else:
            rng = seeding.np_random()[0] if self.np_random is None else copy.deepcopy(self.np_random)
        layout = self._next_layout(rng, options, seed is not None or self.np_random is None)
        placement = Placement(_map(layout), self.possible_agents, options.get("start_cells"), options.get("goal_cells"))
        starts, goals = placement.draw(rng)
        self.np_random = rng
        self.agents = self.possible_agents[:]
        self._begin(layout, starts, goals)
        return self._observations(), {agent: self._info(agent) for agent in self.agents}

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, Info]]:
        """Move all navigators that are still on their way.

        Raises
        ------
        InvalidInput
            If one of them has no action, or one that is not in its space, or another is given one; nothing has changed.
        EpisodeOver
            Before ``reset``, and when none is left.
        """
        if not self.agents or self.np_random is None:
            raise EpisodeOver("no navigator is on its way; call reset()")
        moved = [self._number[agent] for agent in self.agents]
        chosen = self._slipped(self._checked_actions(actions))
        here = [self._states[i] for i in moved]
        wanted = [
            state if action == self._wait else self._moves[state][action]
            for state, action in zip(here, chosen, strict=True)
        ]
        cancelled = cancelled_moves(here, wanted)
        for i, state, there, action, stopped in zip(moved, here, wanted, chosen, cancelled, strict=True):
            self._states[i] = state if stopped else there
            self._paths[i].append(self._states[i])
            self._blocked[i] = there == state and action != self._wait
            self._cancelled[i] = stopped
        self.steps += 1
        acted, truncated = self.agents, self.steps >= self.max_steps
        terminations = {agent: self._arrived(agent) for agent in acted}
        truncations = {agent: truncated and not terminations[agent] for agent in acted}
        rewards = {agent: 0.0 if terminations[agent] else -1.0 for agent in acted}
        # Whoever arrives still sees this step, but is no longer seen.
        self.agents = [agent for agent in acted if not terminations[agent]]
        observations = self._observations(acted)
        infos = {agent: self._info(agent) for agent in acted}
        if truncated:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def state(self) -> NDArray[np.float32]:
        """float32 (n_agents, 5): row, column, row and column of the goal in cells, and 1 while it is on its way."""
        xy = self.world.xy
        under_way = np.array([[agent in self.agents] for agent in self.possible_agents])
        return np.concatenate([xy[self._states], xy[self._goals], under_way], axis=1).astype(np.float32)

    def render(self) -> NDArray[np.uint8] | None:
        """The navigators, their goals and the walls as uint8 (H, W, 3), or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        if self._viewer is None or self._viewer.world is not self.world:
            from scisuite.envs.laplacian_nav.parallel_render import Viewer

            self._viewer = Viewer(self.world, self.n_agents)
        under_way = [not self._arrived(agent) for agent in self.possible_agents]
        frame: NDArray[np.uint8] = self._viewer.draw(self._paths, self._goals, under_way, self._cancelled)
        return frame

    def close(self) -> None:
        """Forget the figure."""
        self._viewer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewer": None}

    def _begin(self, layout: Layout, starts: list[int], goals: list[int]) -> None:
        self.layout = layout
        self.world = _map(layout)
        self._moves: list[list[int]] = self.world.moves.tolist()
        self._walls = self._padded(~self.world.free, outside=1.0)
        self._states, self._goals = starts, goals
        self._paths = [[start] for start in starts]
        self._shortest = layout.lengths(starts, goals).tolist()
        self._blocked = [False] * len(starts)
        self._cancelled = [False] * len(starts)
        self.steps = 0

    def _next_layout(self, rng: np.random.Generator, options: Mapping[str, Any], begins: bool) -> Layout:
        """The layout of the next episode; ``begins`` is true where ``rng`` is new."""
        if "layout_seed" in options:
            try:
                return self.task.layout(as_seed(options["layout_seed"]))
            except InvalidInput as error:
                raise InvalidInput(f"layout_seed: {error}") from None
        if not begins:
            return self.layout
        fixed = self.task.layout_seed
        return self.task.layout(drawn_layout_seed(rng) if fixed is None else fixed)

    def _set_spaces(self) -> None:
        self._number = {agent: i for i, agent in enumerate(self.possible_agents)}
        self._wait = self.world.moves.shape[1]
        last = np.maximum(np.array(self.world.shape, np.float32) - 1, 1)
        side = 2 * self.view_radius + 1
        self._per_agent = {
            agent: (
                gym.spaces.Dict(
                    {
                        "achieved_goal": gym.spaces.Box(np.zeros(2, np.float32), last, dtype=np.float32),
                        "desired_goal": gym.spaces.Box(np.zeros(2, np.float32), last, dtype=np.float32),
                        "observation": gym.spaces.Box(0.0, 1.0, (2,), np.float32),
                        "view": gym.spaces.Box(0.0, 1.0, (2, side, side), np.float32),
                    }
                ),
                gym.spaces.Discrete(self._wait + 1),
            )
            for agent in self.possible_agents
        }
        high = np.tile(np.concatenate([last, last, [1.0]]), (self.n_agents, 1)).astype(np.float32)
        self.state_space = gym.spaces.Box(np.zeros_like(high), high, dtype=np.float32)

    def _spaces(self, agent: str) -> tuple[gym.spaces.Dict, gym.spaces.Discrete]:
        if agent not in self._per_agent:
            raise InvalidInput(f"there is no {agent!r}; the navigators are {', '.join(self.possible_agents)}")
        return self._per_agent[agent]

    def _checked_actions(self, actions: Mapping[str, Any]) -> list[int]:
        if not isinstance(actions, Mapping):
            raise InvalidInput(f"actions must map navigators to actions, not be a {type(actions).__name__}")
        if surplus := [agent for agent in actions if agent not in self.agents]:
            raise InvalidInput(f"{surplus[0]!r} is not on its way; actions are for {', '.join(self.agents)}")
        checked = []
        for agent in self.agents:
            if agent not in actions:
                raise InvalidInput(f"{agent} has no action")
            try:
                checked.append(require_action(actions[agent], self._wait + 1))
            except InvalidInput as error:
                raise InvalidInput(f"{agent}: {error}") from None
        return checked

    def _slipped(self, actions: list[int]) -> list[int]:
        slip, rng = self.world.slip, self.np_random
        if slip == 0 or rng is None:
            return actions
        slips = (rng.random(len(actions)) < slip).tolist()
        drawn = rng.integers(self._wait, size=len(actions)).tolist()
        return [other if slipped else action for action, other, slipped in zip(actions, drawn, slips, strict=True)]

    def _arrived(self, agent: str) -> bool:
        i = self._number[agent]
        return self._states[i] == self._goals[i]

    def _info(self, agent: str) -> Info:
        i = self._number[agent]
        return {
            "shortest": self._shortest[i],
            "blocked": self._blocked[i],
            "cancelled": self._cancelled[i],
            "is_success": self._states[i] == self._goals[i],
        }

    def _observations(self, agents: list[str] | None = None) -> dict[str, Observation]:
        """Of ``agents``, or of all that are on their way; only the latter are seen."""
        agents = self.agents if agents is None else agents
        xy, side = self.world.xy, 2 * self.view_radius + 1
        occupied = np.zeros(self.world.shape, dtype=bool)
        occupied[tuple(xy[[self._states[self._number[agent]] for agent in self.agents]].T)] = True
        others = self._padded(occupied, outside=0.0)
        scale = np.maximum(np.array(self.world.shape) - 1, 1)
        # The middle, and on a torus that is smaller than the view wherever the navigator sees itself again.
        down, along = self.world.shape if self.world.periodic else (side, side)
        own = np.s_[1, self.view_radius % down :: down, self.view_radius % along :: along]
        found = {}
        for agent in agents:
            i = self._number[agent]
            cell, goal = xy[self._states[i]], xy[self._goals[i]]
            around = np.s_[cell[0] : cell[0] + side, cell[1] : cell[1] + side]
            view = np.stack([self._walls[around], others[around]])
            view[own] = 0.0
            found[agent] = {
                "achieved_goal": cell.astype(np.float32),
                "desired_goal": goal.astype(np.float32),
                "observation": (cell / scale).astype(np.float32),
                "view": view,
            }
        return found

    def _padded(self, cells: NDArray[np.bool_], outside: float) -> NDArray[np.float32]:
        """float32 (H + 2 r, W + 2 r): the map with what is seen beyond its edges."""
        radius = self.view_radius
        if self.world.periodic:
            return np.pad(cells.astype(np.float32), radius, mode="wrap")
        return np.pad(cells.astype(np.float32), radius, constant_values=outside)


def _map(layout: Layout) -> GridWorld:
    if not isinstance(layout.world, GridWorld):
        kind = type(layout.world).__name__
        raise InvalidInput(f"several navigators need a world of cells, a GridWorld, not a {kind}")
    return layout.world


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)
