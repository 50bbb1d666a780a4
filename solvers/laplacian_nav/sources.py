"""Where a navigator's potential comes from: the map, a walk in it, or pictures of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Budget, CpuClock, InvalidInput
from scisuite.scenarios.nav.pixels import images
from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.discounted import DiscountedWalk
from scisuite.solvers.laplacian_nav.distances import truncated_distance
from scisuite.solvers.laplacian_nav.green import GreenPotential
from scisuite.solvers.laplacian_nav.modes import eigenmodes
from scisuite.solvers.laplacian_nav.operators import laplacian
from scisuite.solvers.laplacian_nav.policy import greedy_actions
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, random_walk

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

FIRST_LOOK = 1_000
"""Transitions after which a walk on a budget of CPU seconds is first looked at."""


class Source(ABC):
    """A potential in one world, from which actions towards any goal follow.

    Attributes
    ----------
    name : str
        What the solver's configuration calls it.
    arrays : dict of arrays
        What was learnt: with the world and the configuration all that it takes to build the source again.
    transitions : int
        How many were seen.
    """

    name: ClassVar[str]
    arrays: Arrays
    transitions: int

    @classmethod
    @abstractmethod
    def learn(cls, world: GridWorld, config: dict[str, Any], seed: int, budget: Budget) -> Source:
        """Learn in ``world`` within ``budget``: transitions, or CPU seconds."""

    @classmethod
    @abstractmethod
    def rebuild(cls, world: GridWorld, config: dict[str, Any], arrays: Arrays) -> Source:
        """The source that had these ``arrays``."""

    @abstractmethod
    def actions(self, goals: Ints) -> Ints:
        """int64 (n, g): the action towards each goal; −1 where none is known."""

    @abstractmethod
    def residual(self, goals: Ints) -> float:
        """How far the potential of ``goals``, or the modes, are from solving their equation, relatively."""


class GraphSource(Source):
    """The map itself: (L + εI)⁻¹, or its ``modes`` slowest eigenmodes; (I − γP)⁻¹ where there are one-way doors."""

    name = "graph"
    transitions = 0

    def __init__(self, world: GridWorld, config: dict[str, Any]) -> None:
        self.world, self.config, self.arrays = world, config, {}
        self._modes: tuple[Floats, Floats] | None = None
        self._potential: Any = None
        if config["modes"] is not None:
            if config["modes"] >= world.n:
                raise InvalidInput(f"modes must be at most {world.n - 1} in this world, not {config['modes']}")
            # One more than asked for: the constant one says nothing of where a state is.
            self._modes = eigenmodes(laplacian(world.W), config["modes"] + 1)
        elif world.is_symmetric:
            self._potential = GreenPotential(world, eps=config["eps"])
        else:
            self._potential = DiscountedWalk(world.walk, config["gamma"])

    @classmethod
    def learn(cls, world: GridWorld, config: dict[str, Any], seed: int, budget: Budget) -> GraphSource:
        return cls(world, config)

    @classmethod
    def rebuild(cls, world: GridWorld, config: dict[str, Any], arrays: Arrays) -> GraphSource:
        return cls(world, config)

    def actions(self, goals: Ints) -> Ints:
        if self._modes is not None:
            return greedy_actions(truncated_distance(*self._modes, goals, kind=self.config["distance"]), self.world)
        return greedy_actions(self._potential.ranking(goals), self.world)

    def residual(self, goals: Ints) -> float:
        """‖A v − δ‖ of the potential, the largest of the goals'; ‖LΦ − ΦΛ‖ / ‖L‖ (Frobenius) of modes."""
        if self._modes is not None:
            return mode_residual(laplacian(self.world.W), *self._modes)
        self._potential.ranking(goals)
        return float(self._potential.residual)


class TransitionSource(Source):
    """A random walk: (I − γP̂)⁻¹ of the walk that is estimated from it, by tried moves only."""

    name = "transitions"

    def __init__(self, world: GridWorld, config: dict[str, Any], seen: Transitions) -> None:
        self.world, self.config, self.transitions = world, config, len(seen)
        self.arrays = {"state": seen.state, "action": seen.action, "next_state": seen.next_state}
        self._known = TriedMoves.of(seen, world.n, world.moves.shape[1])
        self._potential = DiscountedWalk(self._known.walk(), config["gamma"])

    @classmethod
    def learn(cls, world: GridWorld, config: dict[str, Any], seed: int, budget: Budget) -> TransitionSource:
        if budget.unit == "steps":
            return cls(world, config, random_walk(world, budget.count, seed))
        return cls(world, config, _walk_until_known(world, seed, budget.amount / 2))

    @classmethod
    def rebuild(cls, world: GridWorld, config: dict[str, Any], arrays: Arrays) -> TransitionSource:
        return cls(world, config, Transitions(arrays["state"], arrays["action"], arrays["next_state"]))

    def actions(self, goals: Ints) -> Ints:
        return self._known.ascent(self._potential.ranking(goals))

    def residual(self, goals: Ints) -> float:
        """‖A v − δ‖ of the estimated walk's potential, the largest of the goals'."""
        self._potential.ranking(goals)
        return float(self._potential.residual)


class PixelSource(Source):
    """Pictures along a random walk: modes learnt from pairs of them, and a distance in those modes.

    States enter only where the finished policy looks at the pictures of the places that each action leads to.
    """

    name = "pixels"

    def __init__(self, world: GridWorld, config: dict[str, Any], encoder: Any, lam: Floats, transitions: int) -> None:
        self.world, self.config, self.encoder, self.transitions = world, config, encoder, transitions
        self.arrays = {**encoder.to_arrays(), "lam": lam, "transitions": np.array(transitions)}
        self._modes = lam, encoder(pictures(world))

    @classmethod
    def learn(cls, world: GridWorld, config: dict[str, Any], seed: int, budget: Budget) -> PixelSource:
        from scisuite.solvers.laplacian_nav import learn_modes
        from scisuite.solvers.laplacian_nav.pairs import lagged_pairs

        clock = CpuClock()
        in_steps = budget.unit == "steps"
        seen = random_walk(world, budget.count if in_steps else 50_000, seed)
        path = np.append(seen.state, seen.next_state[-1:])
        earlier, later = lagged_pairs(len(path), len(seen), LAG_GAMMA, seed)
        frames = pictures(world)
        left = max(budget.amount - clock.cpu_seconds(), 1e-3)
        training = Budget(config["train_steps"], "steps") if in_steps else Budget(left, "cpu_seconds")
        encoder, lam = learn_modes(
            frames[path[earlier]],
            frames[path[later]],
            32 if config["modes"] is None else config["modes"],
            config["method"],
            seed,
            training,
            gamma=LAG_GAMMA,
            n_actions=world.moves.shape[1],
        )
        return cls(world, config, encoder, lam, len(seen))

    @classmethod
    def rebuild(cls, world: GridWorld, config: dict[str, Any], arrays: Arrays) -> PixelSource:
        from scisuite.solvers.laplacian_nav.encoders import ModeEncoder

        lam = np.asarray(arrays["lam"], dtype=np.float64)
        return cls(world, config, ModeEncoder.from_arrays(arrays), lam, int(arrays["transitions"]))

    def actions(self, goals: Ints) -> Ints:
        return greedy_actions(truncated_distance(*self._modes, goals, kind=self.config["distance"]), self.world)

    def residual(self, goals: Ints) -> float:
        """‖LΦ − ΦΛ‖ / ‖L‖ (Frobenius) of the learnt modes, scaled to unit norm, in the world's Laplacian."""
        lam, phi = self._modes
        return mode_residual(laplacian(self.world.W), lam, phi / np.linalg.norm(phi, axis=0))


SOURCES: dict[str, type[Source]] = {source.name: source for source in (GraphSource, TransitionSource, PixelSource)}

LAG_GAMMA = 0.9
"""Of the geometric lag between two pictures of a pair."""


def pictures(world: GridWorld) -> NDArray[np.uint8]:
    """uint8 (n, 2, H, W): the picture of each state as bytes, a quarter of the memory of float32."""
    return (255 * images(world)).astype(np.uint8)


def mode_residual(operator: Any, lam: Floats, phi: Floats) -> float:
    """‖LΦ − ΦΛ‖ / ‖L‖, both Frobenius."""
    return float(np.linalg.norm(operator @ phi - phi * lam) / np.sqrt((operator.data**2).sum()))


def _walk_until_known(world: GridWorld, seed: int, cpu_seconds: float) -> Transitions:
    """The walk of ``seed`` until every action was tried wherever it came to, or time was over."""
    clock, steps = CpuClock(), FIRST_LOOK
    while True:
        seen = random_walk(world, steps, seed)
        known = TriedMoves.of(seen, world.n, world.moves.shape[1]).tried
        if known[seen.next_state].all() or clock.cpu_seconds() >= cpu_seconds:
            return seen
        # A longer walk of the same seed begins with the same steps, so that the number of steps says it all.
        steps *= 2
