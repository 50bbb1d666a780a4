"""``sci/LaplacianNav-v0``."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from scisuite.core import InvalidInput, as_seed
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.laplacian_nav.layout import Layout
from scisuite.envs.laplacian_nav.observations import JointObserver
from scisuite.envs.laplacian_nav.task import SLIPS, Task, drawn_layout_seed, require_action, require_options
from scisuite.scenarios.nav import NavWorld

Observation = Any
Info = dict[str, Any]


class LaplacianNavEnv(gym.Env[Any, Any]):
    """Find the way from a start to a goal in rooms, a maze, a torus, or any map or graph.

    The navigator steps from cell to cell. Start and goal are drawn for each episode; the layout is fixed by
    ``layout_seed``, or drawn as well. One representation of the world that serves all goals is what makes this easy:
    the Green's function of the graph Laplacian is one, and greedy ascent on it always arrives.

    Observation
    -----------
    With ``goal_conditioned=True`` a ``Dict``:

    - ``observation``: by ``obs``, ``"xy"``: ``Box`` float32 (2,), row and column divided by the last row and column,
      in [0, 1]; ``"index"``: ``Discrete(max_cells)``, the number of the state, free cells being counted in reading
      order; ``"view"``: ``Box`` float32 (2 r + 1, 2 r + 1), 1 for a wall and 0 for a free cell around the navigator,
      r being ``view_radius``; ``"rgb"``: ``Box`` uint8 (H s, W s, 3), the map of H × W cells from above with the
      navigator in it, s pixels a cell, as few as make it 36 pixels each way.
    - ``achieved_goal``, ``desired_goal``: ``Box`` float32 (2,), row and column of the navigator and of the goal, in
      cells, whichever ``obs``; of a graph the positions of the nodes.

    With ``goal_conditioned=False`` a ``Box`` that holds the goal, too: ``"xy"``: float32 (4,), own row and column and
    the goal's, in [0, 1]; ``"view"``: float32 ((2 r + 1)² + 2,), the view row by row, then goal minus own position in
    the units of ``"xy"``, in [−1, 1]; ``"rgb"``: the picture with the goal in it. ``"index"`` is refused.

    The spaces are the same for all layouts of a scenario.

    Action
    ------
    ``Discrete(4)``: 0 up, 1 right, 2 down, 3 left; ``Discrete(8)`` in a world of eight neighbours: then 4 up-right,
    5 down-right, 6 down-left, 7 up-left. In a graph action k leads to the k-th neighbour. A blocked move stays. In a
    slippery world an action is, with probability ``slip``, replaced by one drawn uniformly from all.

    Reward
    ------
    ``"sparse"``: −1 a step, 0 for the step that arrives. ``"shaped"``: that plus γ Φ(s′) − Φ(s), where
    Φ(x) = log(G(x, g) / G(g, g)) and G = (L + ε I)⁻¹, dimensionless. Φ is 0 at the goal, so that with the discount
    factor ``gamma`` the best actions stay the same. ``compute_reward(achieved_goal, desired_goal, info)`` gives sparse
    rewards, of a batch too; it is there with ``reward="sparse"`` and ``goal_conditioned=True`` only.

    Termination
    -----------
    Terminated at the goal, truncated after ``max_steps`` steps.

    Info
    ----
    ``shortest``: int, moves of a shortest path from the start of this episode to its goal; ``blocked``: bool, whether
    the last move led nowhere; ``is_success``: bool, whether the navigator is at the goal.

    Arguments
    ---------
    world : str, array, list, NavScenario or NavWorld
        ``"fourrooms"``, ``"maze"``, ``"loopy_maze"``, ``"open"``, ``"torus"``, ``"spiral"``, ``"u_trap"``,
        ``"obstacles"``, ``"pixels"`` or another scenario ``"nav/…"``; a map as text (``#`` a wall, ``.`` free) or as a
        bool array (H, W), true where free; a graph; or a world, those read from other libraries included.
    obs : {"xy", "index", "view", "rgb"}
    goal_conditioned : bool
        Whether the observation is a ``Dict`` with goals, for hindsight replay, or one ``Box``.
    reward : {"sparse", "shaped"}
    layout_seed : int or None
        The layout; with ``None`` each seed that ``reset`` is given draws one, and each copy in a vector environment
        has its own. A world of a single layout has the same one for all.
    max_steps : int or None
        ``None`` for the number of states of the layout.
    gamma, eps : float
        Discount factor and ε of the shaped reward.
    view_radius : int
        r of ``"view"``.
    world_config : mapping or None
        Arguments of the scenario or of what reads the map: ``{"size": 10, "loop": 0.2}``, ``{"slip": 0.1}``.
    render_mode : None or "rgb_array"
        The map with the potential of the goal as colours and the path so far, and eigenmodes of the Laplacian; uint8
        (600, 900, 3).

    ``reset`` takes the options ``{"layout_seed": int}``, which holds until ``reset`` is given a seed or another
    layout, and ``{"start_cell": (row, column)}`` and ``{"goal_cell": (row, column)}`` for this episode, each alone or
    together; a node of a graph is given by its number. What is not given is drawn: the goal uniformly from the cells
    that can be reached, the start from the others.

    Source
    ------
    The environment is a *reconstruction*: of the paper only the abstract was available.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 8}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(
        self,
        world: Any = "fourrooms",
        obs: str = "xy",
        goal_conditioned: bool = True,
        reward: str = "sparse",
        layout_seed: int | None = 0,
        max_steps: int | None = None,
        gamma: float = 0.99,
        eps: float = 0.1,
        view_radius: int = 3,
        world_config: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        self.task = Task(
            world, obs, goal_conditioned, reward, layout_seed, max_steps, gamma, eps, view_radius, world_config
        )
        self.observation_space = self.task.observation_space()
        self.action_space = self.task.action_space()
        self.layout = self.task.layout(self.task.layout_seed or 0)
        self.layout_seed: int | None = self.task.layout_seed
        self.state = self.goal = self.start = self.elapsed = self.shortest = self._length = 0
        self.path: list[int] = []
        self._potential: NDArray[np.float64] | None = None
        self._slips: NDArray[np.int8] | None = None
        self._viewer: Any = None
        self._over = True

    @property
    def world(self) -> NavWorld:
        """The world of this episode, in which ``state``, ``start`` and ``goal`` are numbers of states."""
        return self.layout.world

    @property
    def compute_reward(self) -> Callable[[Any, Any, Any], Any]:
        """The sparse reward of places and goals, a pair or a batch of them, for hindsight replay."""
        self.task.require_goals()
        return self.task.compute_reward

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        """Begin an episode.

        Raises
        ------
        InvalidInput
            If the seed is no non-negative integer, or an option is unknown, of a wrong type, a wall, outside the map,
            or the start is the goal; nothing has changed then.
        UnreachableError
            If no path leads from the start to the goal; the message names both.
        """
        chosen = require_options(options)
        layout, layout_seed = self._chosen_layout(None if seed is None else as_seed(seed), chosen)
        start, goal = (layout.state(chosen[o], o) if o in chosen else None for o in ("start_cell", "goal_cell"))
        layout.require_pair(start, goal)
        super().reset(seed=seed)
        if self.task.layout_seed is None and (seed is not None or self.layout_seed is None):
            drawn_layout_seed(self.np_random)
        self.layout, self.layout_seed = layout, layout_seed
        u, v = self.np_random.random(2)
        self._begin(*layout.draw(u, v, start, goal))
        return self._observe(), {"shortest": self.shortest, "blocked": False, "is_success": False}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Move once.

        Raises
        ------
        InvalidInput
            If the action is not in the action space; nothing has changed then.
        EpisodeOver
            Before ``reset`` and after the end of an episode.
        """
        if self._over:
            raise EpisodeOver("the episode is over or has not begun; call reset()")
        layout, here, goal = self.layout, self.state, self.goal
        action = require_action(action, layout.n_actions)
        if self._slips is not None:
            action = self._slipped(action, self._slips)
        self.state = there = layout.moves.item(here * layout.n_actions + action)
        self.elapsed += 1
        arrived = there == goal
        truncated = not arrived and self.elapsed >= self._length
        self._over = arrived or truncated
        reward = 0.0 if arrived else -1.0
        if (potential := self._potential) is not None:
            reward += self.task.gamma * potential.item(there) - potential.item(here)
        if self.render_mode is not None:
            self.path.append(there)
        info = {"shortest": self.shortest, "blocked": there == here, "is_success": arrived}
        return self._observe(), reward, arrived, truncated, info

    def render(self) -> Any:
        """The episode so far as uint8 (600, 900, 3), or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        if not self.path:
            raise EpisodeOver("there is nothing to draw yet; call reset()")
        if self._viewer is None:
            from scisuite.envs.laplacian_nav.render import Viewer

            self._viewer = Viewer(self.task)
        return self._viewer.draw(self.layout, self.goal, self.path, self.shortest, self._length)

    def close(self) -> None:
        """Forget the figure."""
        self._viewer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewer": None}

    def _chosen_layout(self, seed: int | None, options: Mapping[str, Any]) -> tuple[Layout, int]:
        """The layout of the next episode and its seed; nothing is changed."""
        if "layout_seed" in options:
            try:
                chosen = as_seed(options["layout_seed"])
            except InvalidInput as error:
                raise InvalidInput(f"layout_seed: {error}") from None
        elif seed is not None:
            fixed = self.task.layout_seed
            chosen = drawn_layout_seed(seeding.np_random(seed)[0]) if fixed is None else fixed
        elif self.layout_seed is not None:
            return self.layout, self.layout_seed
        else:
            chosen = drawn_layout_seed(copy.deepcopy(self.np_random))
        return self.task.layout(chosen), chosen

    def _begin(self, start: int, goal: int) -> None:
        self.state, self.start, self.goal = start, start, goal
        self.elapsed = 0
        self.path = [start]
        layout, task = self.layout, self.task
        self.shortest = layout.length(start, goal)
        self._length = task.episode_length(layout)
        self._potential = layout.potentials.column(goal) if task.reward == "shaped" else None
        self._slips = task.slips(self.np_random, layout.world.slip) if layout.world.slip else None
        self._over = False

    def _slipped(self, action: int, slips: NDArray[np.int8]) -> int:
        at = self.elapsed % SLIPS
        if at == 0 and self.elapsed:
            self._slips = slips = self.task.slips(self.np_random, self.layout.world.slip)
        replaced = slips.item(at)
        return action if replaced < 0 else replaced

    def _observe(self) -> Observation:
        observer, layout, state, goal = self.task.observer, self.layout, self.state, self.goal
        if self.task.goal_conditioned:
            return {
                "achieved_goal": layout.places[state].copy(),
                "desired_goal": layout.places[goal].copy(),
                "observation": observer.one(layout, state),
            }
        assert isinstance(observer, JointObserver)
        return observer.one_joint(layout, state, goal)
