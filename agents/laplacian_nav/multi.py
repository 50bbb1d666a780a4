"""Several navigators at once: each climbs its own field and gives way, and random ones to compare with.

>>> from scisuite.agents.laplacian_nav.multi import GreenNavigators, run_together
>>> from scisuite.envs.laplacian_nav import laplacian_nav_v0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from scisuite.agents.laplacian_nav.fields import Field, make_field, require_field
from scisuite.core import InvalidInput, as_seed, generator
from scisuite.scenarios.nav import OFFSETS, GridWorld, NavWorld


class Navigators(Protocol):
    """Who chooses the actions of all navigators of ``laplacian_nav_v0.parallel_env``."""

    def bind(self, env: Any) -> None:
        """Take the environment; :class:`~scisuite.core.InvalidInput` if it is another."""

    def reset(self, *, seed: int) -> None:
        """Begin an episode: forget the last one, draw from ``seed``."""

    def act(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, int]:
        """An action for each navigator that has an observation and is still on its way."""


class GreenNavigators:
    """Every navigator climbs its own Green's function, on its own, and gives way by chance.

    None knows where the others want to go; it sees who is beside it and feels when its move was cancelled. It looks at
    the cells that it can step to and takes the one of the largest value that nobody is in. If somebody is in the best
    one, or its last move was cancelled, two may be about to wait for each other for ever, so chance decides: with
    probability ``give_way`` it begins to give way, else it waits if the best cell is taken, and tries again if it is
    not. Giving way is to step, for a number of steps drawn from 1 to ``longest``, to any free cell beside it, but not
    back to the one it has just left: in a dead end it waits. So of two that meet in a corridor one walks back until it
    comes upon a side passage, where it lets the other pass.

    Parameters
    ----------
    field : str
        A name in :data:`scisuite.agents.laplacian_nav.fields.FIELDS`.
    give_way : float
        Probability in (0, 1].
    longest : int
    **config
        Arguments of the field, such as ``eps``.

    Raises
    ------
    InvalidInput
        If an argument is out of range.

    Notes
    -----
    Reconstruction; the paper has one navigator.
    """

    def __init__(self, field: str = "green", give_way: float = 0.5, longest: int = 8, **config: Any) -> None:
        require_field(field, config)
        number = isinstance(give_way, int | float | np.number) and not isinstance(give_way, bool)
        if not (number and 0 < give_way <= 1):
            raise InvalidInput(f"give_way must be a probability in (0, 1], not {give_way!r}")
        if isinstance(longest, bool) or not isinstance(longest, int | np.integer) or longest < 1:
            raise InvalidInput(f"longest must be a positive whole number, not {longest!r}")
        self.field, self.config = field, config
        self.give_way, self.longest = float(give_way), int(longest)
        self._env: Any = None
        self._rng: np.random.Generator | None = None

    def bind(self, env: Any) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is another, or its world has no such field.
        """
        inner = _parallel(env)
        make_field(self.field, inner.world, **self.config)(0)
        self._env, self._rng = inner, None

    def reset(self, *, seed: int) -> None:
        """Begin an episode."""
        seed = as_seed(seed)
        if self._env is None:
            raise InvalidInput("the navigators are not bound to an environment; call bind(env) first")
        self._rng = generator(seed, "laplacian_nav/several")
        self._world: NavWorld | None = None
        self._values: dict[int, Any] = {}
        self._left: dict[str, int] = {}
        self._before: dict[str, int] = {}

    def act(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, int]:
        """An action for each navigator that is still on its way."""
        if self._env is None or self._rng is None:
            raise InvalidInput("the navigators have not begun an episode; call reset(seed=…)")
        world: GridWorld = self._env.world
        if world is not self._world:
            self._world, self._values = world, {}
            self._made: Field = make_field(self.field, world, **self.config)
        return {
            agent: self._choose(agent, world, observations[agent], infos[agent]["cancelled"])
            for agent in self._env.agents
        }

    def _choose(self, agent: str, world: GridWorld, observation: Any, cancelled: bool) -> int:
        assert self._rng is not None
        here = _state(world, observation["achieved_goal"])
        targets = world.moves[here]
        values = self._value(_state(world, observation["desired_goal"]))[targets]
        opened = world.open_moves[here]
        free = opened & ~_taken(observation["view"][1], world.neighbours)
        wait = len(targets)
        before, self._before[agent] = self._before.get(agent), here
        best = int(np.where(opened, values, -np.inf).argmax())
        if self._left.get(agent, 0) == 0:
            if not cancelled and free[best]:
                return best
            if self._rng.random() >= self.give_way:
                return best if free[best] else wait
            self._left[agent], before = int(self._rng.integers(1, self.longest + 1)), None
        self._left[agent] -= 1
        aside = np.flatnonzero(free & (targets != before)) if before is not None else np.flatnonzero(free)
        return int(self._rng.choice(aside)) if len(aside) else wait

    def _value(self, goal: int) -> Any:
        if goal not in self._values:
            self._values[goal] = self._made(goal)
        return self._values[goal]


class RandomNavigators:
    """All actions equally often, waiting among them: the floor."""

    def __init__(self) -> None:
        self._env: Any = None
        self._rng: np.random.Generator | None = None

    def bind(self, env: Any) -> None:
        """Take the environment."""
        self._env, self._rng = _parallel(env), None

    def reset(self, *, seed: int) -> None:
        """Begin an episode."""
        seed = as_seed(seed)
        if self._env is None:
            raise InvalidInput("the navigators are not bound to an environment; call bind(env) first")
        self._rng = generator(seed, "laplacian_nav/several at random")

    def act(self, observations: Mapping[str, Any], infos: Mapping[str, Any]) -> dict[str, int]:
        """Any action for each navigator that is still on its way."""
        if self._env is None or self._rng is None:
            raise InvalidInput("the navigators have not begun an episode; call reset(seed=…)")
        return {agent: int(self._rng.integers(self._env.action_space(agent).n)) for agent in self._env.agents}


@dataclass(frozen=True)
class Together:
    """One episode of several navigators.

    ``steps`` is how many each took until it arrived, ``None`` where it did not; ``shortest`` how many it would have
    needed alone; ``cancelled`` counts moves that were cancelled.
    """

    steps: dict[str, int | None]
    shortest: dict[str, int]
    cancelled: int

    @property
    def success(self) -> float:
        """Share of the navigators that arrived."""
        return sum(taken is not None for taken in self.steps.values()) / len(self.steps)

    @property
    def spl(self) -> float:
        """Mean of shortest / steps, 0 for one that did not arrive."""
        pairs = [(self.shortest[agent], taken) for agent, taken in self.steps.items()]
        return sum(shortest / taken for shortest, taken in pairs if taken) / len(pairs)


def run_together(
    env: Any,
    navigators: Navigators,
    *,
    seed: int,
    options: Mapping[str, Any] | None = None,
    on_step: Callable[[], Any] | None = None,
) -> Together:
    """Run one episode of ``navigators``, which are already bound to ``env``.

    Parameters
    ----------
    env : LaplacianNavParallelEnv
    navigators : Navigators
    seed : int
        Of the environment's ``reset`` and of the navigators': the same seed gives the same episode.
    options : mapping or None
        Passed to ``env.reset``.
    on_step : callable or None
        Called after ``reset`` and after each step, to render.
    """
    observations, infos = env.reset(seed=as_seed(seed), options=options)
    navigators.reset(seed=seed)
    shortest = {agent: info["shortest"] for agent, info in infos.items()}
    steps: dict[str, int | None] = dict.fromkeys(env.possible_agents)
    cancelled, step = 0, 0
    while True:
        if on_step is not None:
            on_step()
        if not env.agents:
            return Together(steps, shortest, cancelled)
        observations, _, terminations, _, infos = env.step(navigators.act(observations, infos))
        step += 1
        cancelled += sum(info["cancelled"] for info in infos.values())
        steps |= {agent: step for agent, arrived in terminations.items() if arrived}


def _parallel(env: Any) -> Any:
    """The environment without its wrappers."""
    inner = getattr(env, "unwrapped", env)
    if getattr(inner, "metadata", {}).get("name") != "laplacian_nav_v0":
        raise InvalidInput(f"these navigators act in laplacian_nav_v0, not in {inner}")
    return inner


def _state(world: GridWorld, place: Any) -> int:
    """The state at a place (row, column)."""
    row, column = np.rint(place).astype(np.int64)
    return int(world.index[row, column])


def _taken(others: Any, neighbours: int) -> Any:
    """bool (A,): whether somebody is in the cell that each action leads to, from the view around the navigator."""
    middle = np.array(others.shape) // 2
    rows, columns = (middle + OFFSETS[:neighbours]).T
    return others[rows, columns] > 0
