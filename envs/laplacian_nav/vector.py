"""Many copies of ``sci/LaplacianNav-v0`` in one: a step of all of them is a few look-ups in tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from scisuite.core import InvalidInput, as_seed
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.laplacian_nav.layout import Ints, Layout, Stack
from scisuite.envs.laplacian_nav.observations import JointObserver, pairs
from scisuite.envs.laplacian_nav.task import OPTIONS, SLIPS, Task, drawn_layout_seed, require_options

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Info = dict[str, Any]

ALL = slice(None)


class LaplacianNavVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` copies of :class:`~scisuite.envs.laplacian_nav.env.LaplacianNavEnv`, with the same arguments.

    Step for step what ``gymnasium.make_vec(…, vectorization_mode="sync")`` gives in the autoreset mode ``SAME_STEP``:
    an episode that ends begins anew within the step, its last observation and info being in ``infos["final_obs"]`` and
    ``infos["final_info"]``. All copies share one layout; with ``layout_seed=None`` each has its own.

    ``reset`` takes the options of the single environment, each for all copies or as an array with one entry a copy
    (``"layout_seed"`` (n,), ``"start_cell"`` and ``"goal_cell"`` (n, 2)), and Gymnasium's ``"reset_mask"``.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "render_modes": ["rgb_array"],
        "render_fps": 8,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
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
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise InvalidInput(f"num_envs must be a whole number of at least 1, not {num_envs!r}")
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.num_envs = n = int(num_envs)
        self.render_mode = render_mode
        self.task = Task(
            world, obs, goal_conditioned, reward, layout_seed, max_steps, gamma, eps, view_radius, world_config
        )
        self.single_observation_space = self.task.observation_space()
        self.single_action_space = self.task.action_space()
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self._generators: list[np.random.Generator | None] = [None] * n
        self._viewers: list[Any] = []
        self.layout_seeds: list[int | None] = [self.task.layout_seed] * n
        self.layouts: list[Layout] = [self.task.layout(self.task.layout_seed or 0)] * n
        self._stack = Stack(self.layouts)
        self._waiting = np.ones(n, dtype=bool)
        self._states, self._goals, self._shortest = (np.zeros(n, dtype=np.int64) for _ in range(3))
        self._elapsed = np.zeros(n, dtype=np.int64)
        self._paths: list[list[int]] = [[] for _ in range(n)]
        self._slips: NDArray[np.int8] | None = None
        self._potentials: Floats | None = None
        self._restack()

    @property
    def states(self) -> Ints:
        """int64 (n,): the state of each navigator in its layout."""
        return np.asarray(self._states - self._stack.base)

    @property
    def goals(self) -> Ints:
        """int64 (n,): the goal of each navigator in its layout."""
        return np.asarray(self._goals - self._stack.base)

    @property
    def compute_reward(self) -> Callable[[Any, Any, Any], Any]:
        """The sparse reward of places and goals, as in the single environment."""
        self.task.require_goals()
        return self.task.compute_reward

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """An attribute, or what a method returns, once for each copy, as Gymnasium's other vector environments do."""
        value = getattr(self, name)
        return (value(*args, **kwargs) if callable(value) else value,) * self.num_envs

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Begin an episode in every copy; copy i takes the seed ``seed + i``, or ``seed[i]`` of a list.

        Raises
        ------
        InvalidInput
            As :meth:`LaplacianNavEnv.reset <scisuite.envs.laplacian_nav.env.LaplacianNavEnv.reset>`, or if there are
            not as many seeds or entries of an option as copies; no copy has changed then.
        """
        seeds = self._seeds(seed)
        chosen = require_options(options, (*OPTIONS, "reset_mask"))
        rows = np.flatnonzero(self._mask(chosen.pop("reset_mask", None)))
        each = {name: self._entries(name, value) for name, value in chosen.items()}
        generators = {i: self._generator(i, seeds[i]) for i in rows.tolist()}
        layouts = self._chosen_layouts(seeds, each.get("layout_seed"), generators)
        given = {i: self._given(layouts[i][0], i, each) for i in generators} if each else {}

        other = any(layout is not self.layouts[i] for i, (layout, _) in layouts.items())
        for i, (layout, layout_seed) in layouts.items():
            self._generators[i] = generators[i]
            self.layouts[i], self.layout_seeds[i] = layout, layout_seed
        if other:
            self._restack()
        self._begin(rows, given)
        self._waiting[rows] = False
        mask = np.zeros(self.num_envs, dtype=bool)
        mask[rows] = True
        return self._observations(ALL), self._infos({}, np.where(mask, self._shortest, 0), mask)

    def step(self, actions: Any) -> tuple[Any, Floats, Bools, Bools, Info]:
        """Move every navigator once.

        Raises
        ------
        InvalidInput
            If an action is not in the action space; no navigator has moved then.
        EpisodeOver
            Before ``reset``.
        """
        if self._waiting.any():
            raise EpisodeOver("not every copy has begun an episode; call reset()")
        actions, here, goals = self._parse(actions), self._states, self._goals
        if self._slips is not None:
            actions = self._slipped(actions, self._slips)
        there = self._stack.moves.take(here * self.task.n_actions + actions).astype(np.int64)
        self._states = there
        self._elapsed += 1
        blocked = there == here
        terminated = there == goals
        truncated = (self._elapsed >= self._limits) > terminated
        rewards = np.subtract(terminated, 1.0)
        if self._potentials is not None:
            base, each = self._stack.base, np.arange(self.num_envs)
            rewards += self.task.gamma * self._potentials[each, there - base] - self._potentials[each, here - base]
        if self.render_mode is not None:
            for path, state in zip(self._paths, self.states.tolist(), strict=True):
                path.append(state)
        infos: Info = {}
        ended = np.flatnonzero(terminated | truncated)
        if ended.size:
            infos = self._final(ended, blocked, terminated)
            self._begin(ended, {})
            blocked[ended] = False
        return (
            self._observations(ALL),
            rewards,
            terminated,
            truncated,
            self._infos(infos, self._shortest.copy(), blocked=blocked),
        )

    def render(self) -> tuple[Any, ...] | None:
        """A frame for each copy, or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        if self._waiting.any():
            raise EpisodeOver("there is nothing to draw yet; call reset()")
        if not self._viewers:
            from scisuite.envs.laplacian_nav.render import Viewer

            self._viewers = [Viewer(self.task) for _ in range(self.num_envs)]
        each = zip(self.layouts, self.goals.tolist(), self._paths, self._shortest.tolist(), self._limits, strict=True)
        return tuple(viewer.draw(*episode) for viewer, episode in zip(self._viewers, each, strict=True))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewers": []}

    def _parse(self, actions: Any) -> Ints:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or not np.issubdtype(given.dtype, np.integer):
            raise InvalidInput(
                f"actions must be {self.num_envs} whole numbers, not {given.dtype} of shape {given.shape}"
            )
        if given.min() < 0 or given.max() >= self.task.n_actions:
            raise InvalidInput(
                f"actions must be from 0 to {self.task.n_actions - 1}, not from {given.min()} to {given.max()}"
            )
        return given.astype(np.int64, copy=False)

    def _slipped(self, actions: Ints, slips: NDArray[np.int8]) -> Ints:
        at = self._elapsed % SLIPS
        for i in np.flatnonzero((at == 0) & (self._elapsed > 0)).tolist():
            self._draw_slips(slips, i)
        replaced = slips[np.arange(self.num_envs), at]
        return np.where(replaced < 0, actions, replaced)

    def _draw_slips(self, slips: NDArray[np.int8], i: int) -> None:
        generator, slip = self._generators[i], self.layouts[i].world.slip
        assert generator is not None
        slips[i] = self.task.slips(generator, slip) if slip else -1

    def _observations(self, rows: Any) -> Any:
        """A batch of observations of the copies ``rows``."""
        stack, states, goals = self._stack, self._states[rows], self._goals[rows]
        observer = self.task.observer
        if self.task.goal_conditioned:
            return {
                "achieved_goal": pairs(stack.places.take(states)),
                "desired_goal": pairs(stack.places.take(goals)),
                "observation": observer.many(stack, rows, states),
            }
        assert isinstance(observer, JointObserver)
        return observer.many_joint(stack, rows, states, goals)

    def _infos(self, infos: Info, shortest: Ints, mask: Bools | None = None, blocked: Bools | None = None) -> Info:
        """The infos of all copies, or of those in ``mask``, in the form in which Gymnasium collects single ones."""
        n = self.num_envs
        infos["shortest"] = shortest
        infos["blocked"] = np.zeros(n, dtype=bool) if blocked is None else blocked
        infos["is_success"] = np.zeros(n, dtype=bool)
        for name in ("_shortest", "_blocked", "_is_success"):
            infos[name] = np.ones(n, dtype=bool) if mask is None else mask.copy()
        return infos

    def _final(self, ended: Ints, blocked: Bools, terminated: Bools) -> Info:
        """The last observations and infos of the episodes that have ended, as Gymnasium collects them."""
        mask = np.zeros(self.num_envs, dtype=bool)
        mask[ended] = True
        batch = self._observations(ended)
        final = np.full(self.num_envs, None, dtype=object)
        for k, i in enumerate(ended.tolist()):
            final[i] = {name: rows[k] for name, rows in batch.items()} if isinstance(batch, dict) else batch[k]
        infos = self._infos({}, np.where(mask, self._shortest, 0), mask, blocked & mask)
        infos["is_success"] = terminated.copy()
        return {"final_obs": final, "_final_obs": mask, "final_info": infos, "_final_info": mask.copy()}

    def _begin(self, rows: Ints, given: Mapping[int, tuple[int | None, int | None]]) -> None:
        """Begin episodes in the copies ``rows``, with the starts and goals in ``given``."""
        generators = [self._generators[i] for i in rows.tolist()]
        uniform = np.array([generator.random(2) for generator in generators])
        starts, goals = self._stack.draw(rows, uniform)
        for k, (i, pair) in enumerate(given.items()):
            starts[k], goals[k] = self.layouts[i].draw(float(uniform[k, 0]), float(uniform[k, 1]), *pair)
        base = self._stack.base[rows]
        self._states[rows], self._goals[rows] = base + starts, base + goals
        self._shortest[rows] = self._lengths(rows, starts, goals)
        self._elapsed[rows] = 0
        if self._potentials is not None:
            for i, goal in zip(rows.tolist(), goals.tolist(), strict=True):
                column = self.layouts[i].potentials.column(goal)
                self._potentials[i, : len(column)] = column
        if self._slips is not None:
            for i in rows.tolist():
                self._draw_slips(self._slips, i)
        if self.render_mode is not None:
            for i, start in zip(rows.tolist(), starts.tolist(), strict=True):
                self._paths[i] = [start]

    def _lengths(self, rows: Ints, starts: Ints, goals: Ints) -> Any:
        """Moves of shortest paths: from the table of a shared layout, else searched for one by one."""
        if len(self._stack.drawn) == 1:
            return self.layouts[0].lengths(starts, goals)
        each = zip(rows.tolist(), starts.tolist(), goals.tolist(), strict=True)
        return [self.layouts[i].search(start, goal) for i, start, goal in each]

    def _restack(self) -> None:
        """Bring the tables up to date with the layouts; the states of running episodes move along."""
        states, goals, layouts = self.states, self.goals, self.layouts
        self._stack = Stack(layouts)
        self._states, self._goals = states + self._stack.base, goals + self._stack.base
        self._limits = np.array([self.task.episode_length(layout) for layout in layouts])
        if self.task.reward == "shaped" and self._potentials is None:
            self._potentials = np.zeros((self.num_envs, self.task.max_cells))
        if self._slips is None and any(layout.world.slip for layout in layouts):
            self._slips = np.full((self.num_envs, SLIPS), -1, dtype=np.int8)

    def _chosen_layouts(
        self, seeds: list[int | None], given: Any, generators: Mapping[int, np.random.Generator]
    ) -> dict[int, tuple[Layout, int]]:
        """Layout and layout seed of each copy that begins an episode; nothing but ``generators`` is changed."""
        fixed = self.task.layout_seed
        chosen: dict[int, tuple[Layout, int]] = {}
        made: dict[int, Layout] = {}
        for i, generator in generators.items():
            before = self.layout_seeds[i]
            layout_seed = fixed if seeds[i] is not None else before
            if fixed is None and (seeds[i] is not None or before is None):
                layout_seed = drawn_layout_seed(generator)
            if given is not None:
                layout_seed = as_seed(given[i])
            assert layout_seed is not None
            if layout_seed == before:
                chosen[i] = self.layouts[i], layout_seed
                continue
            if layout_seed not in made:
                made[layout_seed] = self.task.layout(layout_seed)
            chosen[i] = made[layout_seed], layout_seed
        return chosen

    def _given(self, layout: Layout, i: int, each: Mapping[str, Sequence[Any]]) -> tuple[int | None, int | None]:
        """Start and goal that the options give to copy ``i``, checked."""
        start, goal = (layout.state(each[o][i], o) if o in each else None for o in ("start_cell", "goal_cell"))
        layout.require_pair(start, goal)
        return start, goal

    def _entries(self, name: str, value: Any) -> Sequence[Any]:
        """The entry of an option for each copy; layout seeds are checked, cells are with the layout they are in."""
        one_each = 1 if name == "layout_seed" or self.task.shape is None else 2
        if (depth := _depth(value)) == one_each:
            if len(value) != self.num_envs:
                raise InvalidInput(f"{name} has {len(value)} entries for {self.num_envs} environments")
            entries: Sequence[Any] = list(value)
        else:
            entries = [value] * self.num_envs
        if name == "layout_seed":
            for entry in entries[: None if depth == one_each else 1]:
                try:
                    as_seed(entry)
                except InvalidInput as error:
                    raise InvalidInput(f"layout_seed: {error}") from None
        return entries

    def _generator(self, i: int, seed: int | None) -> np.random.Generator:
        """The generator of copy ``i`` from now on: a new one where it is seeded or has none."""
        generator = self._generators[i]
        if seed is None and generator is not None:
            return generator
        return seeding.np_random(seed)[0]

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, list | tuple | np.ndarray):
            if len(seed) != self.num_envs:
                raise InvalidInput(f"there are {len(seed)} seeds for {self.num_envs} environments")
            return [None if s is None else as_seed(s) for s in seed]
        return [as_seed(seed) + i for i in range(self.num_envs)]

    def _mask(self, mask: Any) -> Bools:
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        mask = np.asarray(mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise InvalidInput(f"reset_mask must be {self.num_envs} booleans, one of them true at least")
        return np.asarray(mask)


def _depth(value: Any) -> int:
    """How deep arrays, lists or tuples are nested in one another, by their first entries."""
    if isinstance(value, np.ndarray):
        return value.ndim
    return 1 + (_depth(value[0]) if len(value) else 0) if isinstance(value, list | tuple) else 0
