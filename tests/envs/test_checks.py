"""check_env finds the faults it promises to find."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.envs import check_env
from scisuite.envs.errors import EpisodeOver

Step = tuple[Any, float, bool, bool, dict[str, Any]]


class Good(gym.Env[Any, Any]):
    """A walk on a line.

    Observation
    -----------
    Box (1,): the position.

    Action
    ------
    Box (1,): the step.

    Reward
    ------
    The step.

    Termination
    -----------
    After ten steps.

    Info
    ----
    ``steps``.

    Arguments
    ---------
    None.

    Source
    ------
    This test.
    """

    metadata = {"render_modes": []}

    def __init__(self) -> None:
        self.observation_space = gym.spaces.Box(-100.0, 100.0, (1,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.render_mode = None
        self.steps = 10
        self.position = 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.position = self.np_random.random()
        self.steps = 0
        return self.observe(), {"steps": 0}

    def step(self, action: Any) -> Step:
        if self.steps == 10:
            raise EpisodeOver("over")
        self.require(action)
        self.steps += 1
        self.position += float(action[0]) + self.np_random.normal()
        return self.observe(), float(action[0]), self.steps == 10, False, {"steps": self.steps}

    def require(self, action: Any) -> None:
        if action not in self.action_space:
            raise InvalidInput(f"{action!r} is not in the action space")

    def observe(self) -> Any:
        return np.array([self.position], np.float32)

    def render(self) -> Any:
        return None


class GlobalRandom(Good):
    def observe(self) -> Any:
        random.random()
        return super().observe()


class Unseeded(Good):
    def observe(self) -> Any:
        return (super().observe() + np.random.default_rng().random()).astype(np.float32)


class Undocumented(Good):
    """A walk."""


class Lenient(Good):
    def require(self, action: Any) -> None:
        np.clip(action, -1, 1)


class Careless(Good):
    def require(self, action: Any) -> None:
        self.position += 1
        super().require(action)


class Endless(Good):
    def step(self, action: Any) -> Step:
        self.require(action)
        self.steps = min(self.steps + 1, 10)
        return self.observe(), 0.0, self.steps == 10, False, {}


class Escaping(Good):
    def observe(self) -> Any:
        return np.array([self.position + 200 * (self.steps > 3)], np.float32)


class NotANumber(Good):
    def step(self, action: Any) -> Step:
        observation, _, terminated, truncated, info = super().step(action)
        return observation, float("nan") if self.steps > 5 else 0.0, terminated, truncated, info


class ObjectInfo(Good):
    def step(self, action: Any) -> Step:
        *rest, _ = super().step(action)
        return (*rest, {"steps": len})  # type: ignore[return-value]


class Forgetful(Good):
    """Copies begin with another position."""

    __doc__ = Good.__doc__

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "position": 0.5}


class Constant(Good):
    def observe(self) -> Any:
        return np.array([self.steps], np.float32)


def test_good_environment_passes() -> None:
    check_env(Good(), slow=False)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (GlobalRandom, "the global random state was moved"),
        (Unseeded, "not equivalent|not equal|another trajectory"),
        (Undocumented, "has no section 'Observation'"),
        (Lenient, "was accepted"),
        (Careless, "a refused action changed the environment"),
        (Endless, "a step before reset was accepted"),
        (Escaping, "the observation is outside its space"),
        (NotANumber, "the reward is nan"),
        (ObjectInfo, "not a plain value"),
        (Forgetful, "made in mid-episode goes on otherwise"),
        (Constant, "seeds 0, 1, 2 and 3 gave one trajectory"),
    ],
)
def test_faults_are_found(broken: Callable[[], Good], message: str) -> None:
    if broken is not Undocumented:
        broken.__doc__ = Good.__doc__
    with pytest.raises(AssertionError, match=message):
        check_env(broken(), slow=False)


def test_arguments_are_for_ids() -> None:
    with pytest.raises(InvalidInput, match="arguments are for an id"):
        check_env(Good(), slow=False, budget=3)
