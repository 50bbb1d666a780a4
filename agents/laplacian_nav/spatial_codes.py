"""Navigators by a spatial code of the whole world: place cells of many scales, and modes learned from pictures."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite.agents.base import Transition
from scisuite.agents.laplacian_nav.positions import Positions
from scisuite.core import Budget, InvalidInput, MissingDependency, as_seed
from scisuite.scenarios.nav import GridWorld, NavWorld
from scisuite.solvers.laplacian_nav.place_cell import (
    TIMES,
    embedded_similarities,
    fit_embeddings,
    place_cell_actions,
    similarities,
)

Plan = Callable[[int], NDArray[np.int64]]
"""From a goal to int64 (n,), the action in every state."""


class CodeAgent(ABC):
    """Works a code out when it first acts in a world, and follows it to any goal."""

    id = ""

    def __init__(self) -> None:
        self._positions: Positions | None = None
        self._begun = False

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is not ``sci/LaplacianNav-v0``, its observations do not say where navigator and goal are, or its world
            has one-way doors or no map.
        """
        positions = Positions(env, f"the agent {self.id or type(self).__name__!r}")
        self._require(positions.world)
        self._positions, self._begun = positions, False
        self._world: NavWorld | None = None

    def reset(self, *, seed: int) -> None:
        """Begin an episode; the code stays, it depends on the world alone."""
        as_seed(seed)
        if self._positions is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        self._begun = True

    def act(self, observation: Any, info: dict[str, Any]) -> np.int64:
        """The move that the code suggests."""
        if self._positions is None or not self._begun:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        world = self._positions.world
        if world is not self._world:
            self._require(world)
            self._plan = self._code(world)
            self._world, self._actions = world, (-1, np.empty(0, dtype=np.int64))
        state, goal = self._positions.read(observation)
        if goal != self._actions[0]:
            self._actions = goal, self._plan(goal)
        return np.int64(self._actions[1][state])

    def observe(self, transition: Transition) -> None:  # noqa: B027 - there is nothing to override
        """Learn nothing."""

    @abstractmethod
    def _require(self, world: NavWorld) -> None:
        """Refuse a world that the code cannot be worked out in."""

    @abstractmethod
    def _code(self, world: Any) -> Plan:
        """The code of ``world``, as a plan for any goal."""


class PlaceCellAgent(CodeAgent):
    """The move that most raises the similarity of place to goal at any of eleven time scales.

    Parameters
    ----------
    learned : bool
        Whether the similarities are those of learned embeddings (needs torch), not the exact ones.
    dim, steps : int
        Components of an embedding, and gradient steps at each time scale.
    code_seed : int
        Of the embeddings.

    Raises
    ------
    MissingDependency
        If embeddings are to be learned and torch is not installed.
    """

    def __init__(self, learned: bool = False, dim: int = 50, steps: int = 500, code_seed: int = 0) -> None:
        super().__init__()
        if learned:
            _require_torch("the agent 'place_cell' with learned=True")
        self.learned, self.dim, self.steps, self.code_seed = bool(learned), dim, steps, as_seed(code_seed)

    def _require(self, world: NavWorld) -> None:
        if not world.is_symmetric:
            raise InvalidInput("place cells need a world in which every move can be taken back")

    def _code(self, world: NavWorld) -> Plan:
        if self.learned:
            embeddings = fit_embeddings(world.walk, TIMES, self.dim, self.steps, seed=self.code_seed)
            return lambda goal: place_cell_actions(embedded_similarities(embeddings, [goal]), world)[:, 0]
        similarity = similarities(world.walk, np.arange(world.n))
        return lambda goal: place_cell_actions(similarity[:, :, [goal]], world)[:, 0]


class LearnedModesAgent(CodeAgent):
    """Ascent by a distance in modes that are learned from pictures along a random walk.

    It walks in the world itself, before its first move, and reads where each action leads from the map.

    Parameters
    ----------
    modes : int
        1 to 32.
    distance : {"inner", "resistance", "biharmonic"}
    transitions : int
        Length of the walk.
    train_steps : int
        Gradient steps; 1,000 take a minute or two.
    method : {"spectral_contrastive", "allo"}
    code_seed : int

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    MissingDependency
        If torch is not installed.
    """

    def __init__(
        self,
        modes: int = 32,
        distance: str = "resistance",
        transitions: int = 50_000,
        train_steps: int = 1000,
        method: str = "spectral_contrastive",
        code_seed: int = 0,
    ) -> None:
        super().__init__()
        _require_torch("the agent 'learned_modes'")
        from scisuite.solvers.laplacian_nav.solver import LaplacianNavSolver

        solver = LaplacianNavSolver("pixels", modes=modes, distance=distance, method=method, train_steps=train_steps)
        self.config = solver.config
        self.budget, self.code_seed = Budget(transitions, "steps"), as_seed(code_seed)

    def _require(self, world: NavWorld) -> None:
        if not isinstance(world, GridWorld):
            raise InvalidInput(f"modes are learned from pictures of a map, which a {type(world).__name__} has not")
        if not world.is_symmetric:
            raise InvalidInput("modes need a world in which every move can be taken back")

    def _code(self, world: GridWorld) -> Plan:
        from scisuite.solvers.laplacian_nav.sources import PixelSource

        source = PixelSource.learn(world, self.config, self.code_seed, self.budget)
        return lambda goal: source.actions(np.array([goal]))[:, 0]


def _require_torch(what: str) -> None:
    if importlib.util.find_spec("torch") is None:
        raise MissingDependency(f"{what} needs torch, which is not installed", "torch")
