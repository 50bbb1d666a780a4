"""Navigators with a map: they plan in the environment's present world and learn nothing."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from scisuite.agents.base import Transition
from scisuite.agents.laplacian_nav.fields import Field, make_field, require_field
from scisuite.agents.laplacian_nav.positions import Positions
from scisuite.core import InvalidInput, as_seed, generator
from scisuite.scenarios.nav import NavWorld


class PlannerAgent:
    """Climbs a field over the world: always to the neighbour of the largest value, the lowest action where two are.

    The world is looked up at every step, so that a layout which ``reset`` draws or is asked for is followed; position
    and goal are read from the observation.

    Parameters
    ----------
    field : str
        A name in :data:`scisuite.agents.laplacian_nav.fields.FIELDS`: ``"green"``, ``"bfs"``, ….
    **config
        Arguments of that field, such as ``eps``.

    Raises
    ------
    InvalidInput
        If there is no such field, or it does not take one of the arguments.
    """

    id = ""

    def __init__(self, field: str = "green", **config: Any) -> None:
        require_field(field, config)
        self.field = field
        self.config = config
        self._positions: Positions | None = None
        self._begun = False
        self._follow(None, None)

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is not ``sci/LaplacianNav-v0``, its observations do not say where navigator and goal are, or its
            world has no such field: with one-way doors there is no Green's function of the Laplacian.
        """
        positions = Positions(env, f"the agent {self.field!r}")
        field = make_field(self.field, positions.world, **self.config)
        field(0)  # an argument that only a goal brings to light is refused here, too
        self._positions, self._begun = positions, False
        self._follow(positions.world, field)

    def reset(self, *, seed: int) -> None:
        """Begin an episode; nothing is drawn."""
        as_seed(seed)
        if self._positions is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        self._begun = True

    def act(self, observation: Any, info: dict[str, Any]) -> np.int64:
        """The way up from where the navigator is."""
        if self._positions is None or not self._begun:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        world = self._positions.world
        if world is not self._world:
            self._follow(world, make_field(self.field, world, **self.config))
        state, goal = self._positions.read(observation)
        if goal not in self._actions:
            self._actions.clear()
            self._actions[goal] = self._ascent(world, goal)
        return np.int64(self._actions[goal][state])

    def observe(self, transition: Transition) -> None:
        """Learn nothing."""

    def _ascent(self, world: NavWorld, goal: int) -> Any:
        """int64 (n,): the action in every state."""
        from scisuite.solvers.laplacian_nav import greedy_actions

        assert self._climbed is not None
        return greedy_actions(self._climbed(goal)[:, None], world)[:, 0]

    def _follow(self, world: NavWorld | None, field: Field | None) -> None:
        self._world = world
        self._climbed = field
        self._actions: dict[int, Any] = {}


class RandomAgent:
    """Moves at random, all actions equally often: the floor. It acts wherever the actions are ``Discrete``."""

    id = ""

    def __init__(self) -> None:
        self._space: gym.spaces.Discrete | None = None
        self._rng: np.random.Generator | None = None

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If its actions are not ``Discrete``.
        """
        if not isinstance(env.action_space, gym.spaces.Discrete):
            raise InvalidInput(f"the agent 'random' needs Discrete actions, not {env.action_space}")
        self._space = env.action_space

    def reset(self, *, seed: int) -> None:
        """Begin an episode."""
        seed = as_seed(seed)
        if self._space is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        self._rng = generator(seed, "laplacian_nav/random")

    def act(self, observation: Any, info: dict[str, Any]) -> np.int64:
        """Any action."""
        if self._space is None or self._rng is None:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        return np.int64(self._space.start + self._rng.integers(self._space.n))

    def observe(self, transition: Transition) -> None:
        """Learn nothing."""
