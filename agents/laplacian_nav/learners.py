"""Navigators without a map: they practise, and go on learning from their own steps while they act."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite.agents.base import Transition
from scisuite.agents.laplacian_nav.positions import Positions
from scisuite.agents.laplacian_nav.spatial_codes import LearnedModesAgent, PlaceCellAgent
from scisuite.core import InvalidInput, as_seed, generator
from scisuite.solvers.laplacian_nav.tabular import (
    TriedMoves,
    all_goals_q,
    dyna_q,
    estimated_bfs_values,
    estimated_green_values,
    her_q,
    td_successor,
)
from scisuite.solvers.laplacian_nav.walks import Transitions

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

__all__ = [
    "EstimatedBFSAgent",
    "EstimatedGreenAgent",
    "LearnedModesAgent",
    "LearningAgent",
    "PlaceCellAgent",
    "QAgent",
    "SuccessorAgent",
]

VARIANTS = ("onepass", "replay", "dyna", "her")


class LearningAgent(ABC):
    """What the learners share: practice before the first episode in a layout, and what to do where nothing is known.

    Practice is a walk of ``practice_steps`` uniformly random actions in a copy of the environment, from random starts
    to random goals, drawn from ``practice_seed``: it depends on the layout alone. What the steps of an episode add is
    forgotten at the next ``reset``, so that episodes can be compared and repeated. Of the world a learner reads how
    many states there are and which one an observation shows; where a move leads it learns by making it.

    Where no tried action promises to lead to the goal the navigator explores: at random it takes an action that it has
    not tried in this state, or else one that led elsewhere.

    Parameters
    ----------
    practice_steps : int
        0 or more.
    gamma : float
        Discount in (0, 1).
    practice_seed : int

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """

    id = ""

    def __init__(self, practice_steps: int = 10_000, gamma: float = 0.97, practice_seed: int = 0) -> None:
        whole = isinstance(practice_steps, int | np.integer) and not isinstance(practice_steps, bool)
        if not whole or practice_steps < 0:
            raise InvalidInput(f"practice_steps must be a whole number ≥ 0, not {practice_steps!r}")
        if not (isinstance(gamma, int | float) and 0 < gamma < 1):
            raise InvalidInput(f"gamma must be in (0, 1), not {gamma!r}")
        self.practice_steps = int(practice_steps)
        self.gamma = float(gamma)
        self.practice_seed = as_seed(practice_seed)
        self._env: gym.Env[Any, Any] | None = None
        self._rng: np.random.Generator | None = None

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is not ``sci/LaplacianNav-v0`` or its observations do not say where navigator and goal are.
        """
        self._positions = Positions(env, f"the agent {self.id or type(self).__name__!r}")
        assert isinstance(env.action_space, gym.spaces.Discrete)
        self._env, self._rng = env, None
        self._n_actions = int(env.action_space.n)
        self._practised_in: Any = None

    def reset(self, *, seed: int) -> None:
        """Begin an episode: only what was practised is remembered."""
        seed = as_seed(seed)
        if self._env is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        self._rng = generator(seed, "laplacian_nav/learner")
        self._begun = False

    def act(self, observation: Any, info: dict[str, Any]) -> np.int64:
        """The tried action of the best prospects, the lowest of equals; without any, one to explore."""
        self._begin()
        assert self._rng is not None
        state, goal = self._positions.read(observation)
        prospects = self._prospects(state, goal)
        if np.isfinite(prospects).any():
            return np.int64(prospects.argmax())
        untried = np.flatnonzero(self._outcome[state] < 0)
        leading_on = np.flatnonzero(self._outcome[state] != state)
        return np.int64(self._rng.choice(next(filter(len, (untried, leading_on)), np.arange(self._n_actions))))

    def observe(self, transition: Transition) -> None:
        """Learn where the action led."""
        self._begin()
        state, goal = self._positions.read(transition.observation)
        following = self._positions.read(transition.next_observation)[0]
        self._learn(state, int(transition.action), following, goal)
        self._outcome[state, int(transition.action)] = following

    @abstractmethod
    def _study(self, practice: Transitions) -> None:
        """Learn what serves every goal; keep it for all episodes in this layout."""

    @abstractmethod
    def _forget_episode(self) -> None:
        """Go back to what :meth:`_study` left."""

    @abstractmethod
    def _learn(self, state: int, action: int, following: int, goal: int) -> None:
        """Learn from one move of the episode; ``_outcome`` does not know it yet."""

    @abstractmethod
    def _prospects(self, state: int, goal: int) -> Floats:
        """float64 (A,): the larger the better, −∞ for what was not tried or does not lead to the goal."""

    def _begin(self) -> None:
        if self._env is None or self._rng is None:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        if self._begun:
            return
        world = self._positions.world
        if world is not self._practised_in:
            self._n = world.n
            practice = self._practise()
            self._practised_outcome = np.full((self._n, self._n_actions), -1, dtype=np.int64)
            self._practised_outcome[practice.state, practice.action] = practice.next_state
            self._study(practice)
            self._practised_in = world
        self._outcome = self._practised_outcome.copy()
        self._forget_episode()
        self._begun = True

    def _practise(self) -> Transitions:
        assert self._env is not None
        # The copy keeps the layout of this episode, also where a layout is drawn at each seeded reset.
        env = copy.deepcopy(self._env.unwrapped)
        env.np_random = generator(self.practice_seed, "practice")
        positions = Positions(env, "practice")
        actions = generator(self.practice_seed, "practice actions").integers(self._n_actions, size=self.practice_steps)
        seen = np.empty((self.practice_steps, 3), dtype=np.int64)
        over = True
        for step, action in enumerate(actions):
            if over:
                state = positions.read(env.reset()[0])[0]
            observation, _, terminated, truncated, _ = env.step(action)
            following = positions.read(observation)[0]
            seen[step] = state, action, following
            state, over = following, terminated or truncated
        return Transitions(*seen.T)


class EstimatedGreenAgent(LearningAgent):
    """Ascent on (I − γP̂)⁻¹ of the walk that was seen, solved anew when a move leads where none has led before.

    Its arguments are those of :class:`LearningAgent`.
    """

    def _study(self, practice: Transitions) -> None:
        self._practice = practice
        self._practised_triples = set(self._triple(practice.state, practice.action, practice.next_state).tolist())

    def _forget_episode(self) -> None:
        self._triples = set(self._practised_triples)
        self._recent: list[tuple[int, int, int]] = []
        self._solved_for = -1

    def _learn(self, state: int, action: int, following: int, goal: int) -> None:
        self._recent.append((state, action, following))
        triple = int(self._triple(state, action, following))
        if triple not in self._triples:
            self._triples.add(triple)
            self._solved_for = -1

    def _prospects(self, state: int, goal: int) -> Floats:
        if goal != self._solved_for:
            recent = Transitions(*np.array(self._recent, dtype=np.int64).reshape(-1, 3).T)
            known = TriedMoves.of(self._practice + recent, self._n, self._n_actions)
            values = self._values(known, goal)
            self._table = known.expected(values)[:, :, 0]
            self._table[self._table <= self._hopeless(float(values[goal, 0]))] = -np.inf
            self._solved_for = goal
        return self._table[state]

    def _values(self, known: TriedMoves, goal: int) -> Floats:
        return estimated_green_values(known, [goal], self.gamma)

    def _hopeless(self, peak: float) -> float:
        """The value of an action from which no tried moves lead to the goal, whose own value is ``peak``."""
        return 0.0 if peak > 0 else -np.inf

    def _triple(self, state: Any, action: Any, following: Any) -> Any:
        return (state * self._n_actions + action) * self._n + following


class EstimatedBFSAgent(EstimatedGreenAgent):
    """Shortest paths on the directed graph of tried moves: the peer that plans on the same knowledge."""

    def _values(self, known: TriedMoves, goal: int) -> Floats:
        return estimated_bfs_values(known, [goal])

    def _hopeless(self, peak: float) -> float:
        return 0.5 - self._n


class SuccessorAgent(LearningAgent):
    """Ascent on a successor representation that temporal differences learn, one pass over the practice.

    Parameters
    ----------
    alpha : float
        Rate in (0, 1].
    practice_steps, gamma, practice_seed
        See :class:`LearningAgent`.
    """

    def __init__(
        self, alpha: float = 0.1, practice_steps: int = 10_000, gamma: float = 0.97, practice_seed: int = 0
    ) -> None:
        super().__init__(practice_steps, gamma, practice_seed)
        self.alpha = _rate(alpha)

    def _study(self, practice: Transitions) -> None:
        self._practised = td_successor(practice, self._n, self.gamma, self.alpha)

    def _forget_episode(self) -> None:
        self._successor = self._practised.copy()

    def _learn(self, state: int, action: int, following: int, goal: int) -> None:
        target = self.gamma * self._successor[following]
        target[state] += 1.0
        self._successor[state] += self.alpha * (target - self._successor[state])

    def _prospects(self, state: int, goal: int) -> Floats:
        following = self._outcome[state]
        worth = self._successor[following, goal]
        return np.where((following >= 0) & (worth > 0), worth, -np.inf)


class QAgent(LearningAgent):
    """Q-learning of the goal that is asked for, from the practice and then from each step.

    Parameters
    ----------
    variant : {"onepass", "replay", "dyna", "her"}
        One pass over the practice, in order; ``sweeps`` from its end to its beginning; one pass with ``planning``
        remembered moves after each; hindsight goals. ``"dyna"`` plans after each step of an episode as well.
    alpha : float
        Rate in (0, 1].
    sweeps, planning : int
    practice_steps, gamma, practice_seed
        See :class:`LearningAgent`.

    Raises
    ------
    InvalidInput
        If there is no such variant or an argument is out of range.
    """

    def __init__(
        self,
        variant: str = "onepass",
        alpha: float = 0.5,
        sweeps: int = 3,
        planning: int = 10,
        practice_steps: int = 10_000,
        gamma: float = 0.97,
        practice_seed: int = 0,
    ) -> None:
        super().__init__(practice_steps, gamma, practice_seed)
        if variant not in VARIANTS:
            raise InvalidInput(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}")
        for name, count in (("sweeps", sweeps), ("planning", planning)):
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
                raise InvalidInput(f"{name} must be a positive whole number, not {count!r}")
        self.variant, self.alpha, self.sweeps, self.planning = variant, _rate(alpha), int(sweeps), int(planning)

    def _study(self, practice: Transitions) -> None:
        self._practice = practice

    def _forget_episode(self) -> None:
        self._learned_for = -1

    def _learn(self, state: int, action: int, following: int, goal: int) -> None:
        self._turn_to(goal)
        self._update(np.array([state]), np.array([action]), np.array([following]), goal)
        if self.variant == "dyna":
            assert self._rng is not None
            states, actions = np.nonzero(self._outcome >= 0)
            if len(states):
                drawn = self._rng.integers(len(states), size=self.planning)
                states, actions = states[drawn], actions[drawn]
                self._update(states, actions, self._outcome[states, actions], goal)

    def _prospects(self, state: int, goal: int) -> Floats:
        self._turn_to(goal)
        worth = self._q[state]
        return np.where((self._outcome[state] >= 0) & (worth > 0), worth, -np.inf)

    def _update(self, states: Ints, actions: Ints, following: Ints, goal: int) -> None:
        target = np.where(following == goal, 1.0, self.gamma * self._q[following].max(axis=1))
        self._q[states, actions] += self.alpha * (target - self._q[states, actions])

    def _turn_to(self, goal: int) -> None:
        """Learn about ``goal`` from the practice, unless that is done."""
        if goal == self._learned_for:
            return
        data = (self._practice, self._n, self._n_actions, [goal], self.alpha, self.gamma)
        if self.variant == "dyna":
            q = dyna_q(*data, planning=self.planning, seed=self.practice_seed)
        elif self.variant == "her":
            q = her_q(*data, seed=self.practice_seed)
        elif self.variant == "replay":
            q = all_goals_q(*data, sweeps=self.sweeps, reverse=True)
        else:
            q = all_goals_q(*data)
        self._q, self._learned_for = q[0], goal


def _rate(alpha: Any) -> float:
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 < alpha <= 1:
        raise InvalidInput(f"alpha must be in (0, 1], not {alpha!r}")
    return float(alpha)
