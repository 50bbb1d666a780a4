"""What stays the same over the episodes of ``sci/LaplacianNav-v0``: worlds, spaces and rewards."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite import scenarios
from scisuite.core import InvalidInput, as_seed
from scisuite.core.registry import did_you_mean
from scisuite.envs.laplacian_nav.layout import Layout
from scisuite.envs.laplacian_nav.observations import JointObserver, make_observer
from scisuite.scenarios.nav import GridWorld, NavScenario, NavWorld, make_world

Float32 = NDArray[np.float32]

OBSERVATIONS = ("xy", "index", "view", "rgb")
REWARDS = ("sparse", "shaped")
OPTIONS = ("layout_seed", "start_cell", "goal_cell")

KEPT_LAYOUTS = 4
DRAWN_SEEDS = 2**31
"""A layout seed that is drawn lies below this."""

SLIPS = 256
"""So many steps' slips are drawn at a time."""


class Task:
    """The arguments of an environment, checked, and what follows from them.

    Parameters
    ----------
    world : str, array, list, NavScenario, NavWorld, …
        An id of a scenario, or anything that :func:`~scisuite.scenarios.nav.make_world` takes.
    obs : {"xy", "index", "view", "rgb"}
    goal_conditioned : bool
    reward : {"sparse", "shaped"}
    layout_seed : int or None
    max_steps : int or None
    gamma, eps : float
    view_radius : int
    world_config : mapping or None
        Arguments of the scenario, or of what reads the map.

    Attributes
    ----------
    source : NavScenario or NavWorld
        Where layouts come from.
    layout_seed : int or None
        ``None`` if each seed of an environment draws a layout.
    shape : (int, int) or None
        Rows and columns of every layout; ``None`` for a graph.
    max_cells : int
        States of the largest layout.

    Raises
    ------
    InvalidInput
        If one of them is unknown or out of its range.
    """

    def __init__(
        self,
        world: Any,
        obs: str,
        goal_conditioned: bool,
        reward: str,
        layout_seed: int | None,
        max_steps: int | None,
        gamma: float,
        eps: float,
        view_radius: int,
        world_config: Mapping[str, Any] | None,
    ) -> None:
        self.obs = _one_of("obs", obs, OBSERVATIONS)
        self.reward = _one_of("reward", reward, REWARDS)
        if not isinstance(goal_conditioned, bool | np.bool_):
            raise InvalidInput(f"goal_conditioned must be True or False, not {goal_conditioned!r}")
        self.goal_conditioned = bool(goal_conditioned)
        self.layout_seed = None if layout_seed is None else _layout_seed(layout_seed)
        self.max_steps = None if max_steps is None else _count("max_steps", max_steps)
        self.gamma = _number("gamma", gamma, most=1.0)
        self.eps = _number("eps", eps)
        if not isinstance(world_config, Mapping | None):
            raise InvalidInput(f"world_config must be a mapping or None, not {type(world_config).__name__}")
        self.source = _source(world, dict(world_config or {}))
        self._kept: OrderedDict[int, Layout] = OrderedDict()
        first = self._world(self.layout_seed or 0)
        self.n_actions = int(first.moves.shape[1])
        self.max_cells = self.source.max_cells if isinstance(self.source, NavScenario) else first.n
        self.shape = first.shape if isinstance(first, GridWorld) else None
        self.observer = make_observer(self.obs, self.max_cells, self.shape, _count("view_radius", view_radius))
        if not self.goal_conditioned and not isinstance(self.observer, JointObserver):
            raise InvalidInput(
                f"obs {obs!r} is a number, which cannot hold the goal as well; use goal_conditioned=True, or obs='xy'"
            )
        self._goal_bounds = _goal_bounds(first)
        self.layout(self.layout_seed or 0)

    @property
    def varies(self) -> bool:
        """Whether layout seeds make a difference."""
        return isinstance(self.source, NavScenario) and self.source.varies

    def layout(self, layout_seed: int) -> Layout:
        """The layout of a seed; the last few are kept."""
        key = layout_seed if self.varies else 0
        if (layout := self._kept.get(key)) is None:
            world = self._world(layout_seed)
            layout = self._kept[key] = Layout(world, self.eps)
            layout.drawn, layout.spots = self.observer.drawing(world)
            if len(self._kept) > KEPT_LAYOUTS:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return layout

    def episode_length(self, layout: Layout) -> int:
        """Steps after which an episode is truncated."""
        return layout.n if self.max_steps is None else self.max_steps

    def observation_space(self) -> gym.Space[Any]:
        """A new space of the observations."""
        if not self.goal_conditioned:
            assert isinstance(self.observer, JointObserver)
            return _same(self.observer.joint_space)
        low, high = self._goal_bounds
        return gym.spaces.Dict(
            {
                "observation": _same(self.observer.space),
                "desired_goal": gym.spaces.Box(low, high, dtype=np.float32),
                "achieved_goal": gym.spaces.Box(low, high, dtype=np.float32),
            }
        )

    def action_space(self) -> gym.spaces.Discrete:
        """A new space of the actions."""
        return gym.spaces.Discrete(self.n_actions)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """The sparse reward of having arrived at one place with another as the goal.

        Parameters
        ----------
        achieved_goal, desired_goal : (2,) or (k, 2)
        info
            Not looked at.

        Returns
        -------
        float, or float64 (k,)
            0 where they are the same, else −1.

        Raises
        ------
        InvalidInput
            If either holds no places, or there are not as many of one as of the other.
        """
        achieved, desired = _places("achieved_goal", achieved_goal), _places("desired_goal", desired_goal)
        if achieved.ndim == desired.ndim == 2 and len(achieved) != len(desired):
            raise InvalidInput(f"there are {len(achieved)} achieved goals for {len(desired)} desired ones")
        same = (achieved == desired).all(axis=-1)
        return np.subtract(same, 1.0) if same.ndim else float(same) - 1.0

    def require_goals(self) -> None:
        """Refuse ``compute_reward`` where it would give other rewards than ``step``.

        Raises
        ------
        AttributeError
            So that libraries which look for the method see that there is none.
        """
        if self.reward != "sparse":
            raise AttributeError("compute_reward gives sparse rewards only; make the environment with reward='sparse'")
        if not self.goal_conditioned:
            raise AttributeError("compute_reward is for goal_conditioned=True")

    def slips(self, rng: np.random.Generator, slip: float) -> NDArray[np.int8]:
        """int8 (SLIPS,): the action that replaces the chosen one in each of the next steps, −1 where none does."""
        uniform = rng.random(SLIPS)
        random_actions = np.minimum(uniform / slip * self.n_actions, self.n_actions - 1)
        return np.where(uniform < slip, random_actions, -1).astype(np.int8)

    def __getstate__(self) -> dict[str, Any]:
        """Without the kept layouts: they are made again."""
        return {**self.__dict__, "_kept": OrderedDict()}

    def _world(self, layout_seed: int) -> NavWorld:
        return self.source.layout(layout_seed) if isinstance(self.source, NavScenario) else self.source


def drawn_layout_seed(rng: np.random.Generator) -> int:
    """A layout seed for an environment whose layout is not fixed."""
    return int(rng.integers(DRAWN_SEEDS))


def require_options(options: Any, known: tuple[str, ...] = OPTIONS) -> dict[str, Any]:
    """``options`` of ``reset`` as a new dictionary, refused where one is unknown."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InvalidInput(f"options must be a mapping, not {type(options).__name__}")
    for name in options:
        if name not in known:
            raise InvalidInput(f"unknown option {name!r}{did_you_mean(str(name), known)}")
    return dict(options)


def require_action(action: Any, n_actions: int) -> int:
    """``action`` as an int: a whole number, NumPy's included, from 0 to ``n_actions`` − 1."""
    whole = isinstance(action, int | np.integer) and not isinstance(action, bool)
    if isinstance(action, np.ndarray) and action.ndim == 0 and np.issubdtype(action.dtype, np.integer):
        whole = True
    if not whole or not 0 <= action < n_actions:
        raise InvalidInput(f"an action is a whole number from 0 to {n_actions - 1}, not {action!r}")
    return int(action)


def _source(world: Any, config: dict[str, Any]) -> NavScenario | NavWorld:
    """The scenario of an id, or else the world that is described."""
    if isinstance(world, NavScenario) and not config:
        return world
    if isinstance(world, str):
        known = scenarios.registry.ids()
        id = world if world in known else f"nav/{world}"
        made = scenarios.make(id, **config) if id in known else None
        if isinstance(made, NavScenario):
            return made
    return make_world(world, **config)


def _goal_bounds(world: NavWorld) -> tuple[Float32, Float32]:
    """Least and greatest row and column."""
    if isinstance(world, GridWorld):
        return np.zeros(2, np.float32), np.maximum(np.array(world.shape) - 1, 1).astype(np.float32)
    places = np.asarray(world.xy, dtype=np.float32)
    low, high = places.min(axis=0), places.max(axis=0)
    return low, np.where(high > low, high, low + 1).astype(np.float32)


def _same(space: gym.Space[Any]) -> gym.Space[Any]:
    """A new space equal to ``space``: each environment seeds its own."""
    if isinstance(space, gym.spaces.Box):
        return gym.spaces.Box(space.low, space.high, dtype=space.dtype)
    assert isinstance(space, gym.spaces.Discrete)
    return gym.spaces.Discrete(int(space.n))


def _layout_seed(value: Any) -> int:
    """``value`` as a seed; the message names the argument."""
    if isinstance(value, list | tuple | np.ndarray):
        raise InvalidInput(
            "layout_seed is one number for all copies; give each copy of a vector environment its own with "
            'reset(options={"layout_seed": […]})'
        )
    try:
        return as_seed(value)
    except InvalidInput as error:
        raise InvalidInput(f"layout_{error}") from None


def _places(name: str, given: Any) -> NDArray[Any]:
    """``given`` as numbers, (2,) or (k, 2)."""
    try:
        places = np.asarray(given)
    except ValueError:  # rows of different lengths
        places = np.empty(0)
    if not (np.issubdtype(places.dtype, np.number) and places.ndim in (1, 2) and places.shape[-1] == 2):
        found = f"of shape {given.shape}" if isinstance(given, np.ndarray) else " ".join(repr(given).split())[:99]
        raise InvalidInput(f"{name} must be numbers (row, column), one pair or (k, 2), not {found}")
    return places


def _one_of(name: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise InvalidInput(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")
    return str(value)


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _number(name: str, value: Any, most: float = math.inf) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not (number and 0 < value <= most and math.isfinite(value)):
        bound = "above 0" if most == math.inf else f"in (0, {most:g}]"
        raise InvalidInput(f"{name} must be a number {bound}, not {value!r}")
    return float(value)
