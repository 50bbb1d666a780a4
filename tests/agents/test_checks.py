"""check_agent finds the faults it promises to find."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.agents import Transition, check_agent
from scisuite.core import InvalidInput, as_seed, generator
from scisuite.envs.labo.env import LABOEnv

ENV = {"scenario": "branin", "budget": 6, "max_llm": 6}


class Guesser:
    """Runs random rows of the pool."""

    def bind(self, env: gym.Env[Any, Any]) -> None:
        if not isinstance(env.unwrapped, LABOEnv):
            raise InvalidInput("a guesser acts in sci/LABO-v0")
        self.scenario = env.unwrapped.scenario

    def reset(self, *, seed: int) -> None:
        self.rng = generator(as_seed(seed), "guesser")

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return {"x": np.int64(self.rng.integers(len(self.scenario.pool))), "source": np.int64(1)}

    def observe(self, transition: Transition) -> None:
        self.last = transition


class Cheat(Guesser):
    def bind(self, env: gym.Env[Any, Any]) -> None:
        super().bind(env)
        self.best = int(np.argmin(self.scenario.evaluate(self.scenario.pool)))


class Remembering(Guesser):
    def __init__(self) -> None:
        self.rng = generator(0)

    def reset(self, *, seed: int) -> None:
        as_seed(seed)


class Global(Guesser):
    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        np.random.random()
        return super().act(observation, info)


class Outside(Guesser):
    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return {"x": 3, "source": np.int64(1), "why": "not"}


class AnySeed(Guesser):
    def reset(self, *, seed: Any) -> None:
        self.rng = np.random.default_rng(0)


def test_good_agent_passes() -> None:
    check_agent(Guesser(), "sci/LABO-v0", **ENV)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Cheat, "the agent called scenario.evaluate"),
        (Remembering, "reset must forget"),
        (Global, "the global random state was moved"),
        (Outside, "is not in"),
        (AnySeed, r"reset\(seed=-1\) was accepted"),
    ],
)
def test_faults_are_found(broken: type[Guesser], message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_agent(broken(), "sci/LABO-v0", **ENV)


def test_no_agent() -> None:
    with pytest.raises(AssertionError, match="lacks one of bind, reset, act and observe"):
        check_agent(object(), "sci/LABO-v0", **ENV)  # type: ignore[arg-type]


def test_the_scenario_is_left_as_it_was() -> None:
    check_agent(Guesser(), "sci/LABO-v0", **ENV)
    scenario = gym.make("sci/LABO-v0", **ENV).unwrapped.scenario  # type: ignore[attr-defined]
    assert "evaluate" not in vars(scenario)


def test_an_object_needs_an_environment() -> None:
    with pytest.raises(InvalidInput, match="an agent that is given as an object needs env_id"):
        check_agent(Guesser())


def test_an_agent_without_environments_needs_one() -> None:
    with pytest.raises(InvalidInput, match=r"has no environment of its own; name one"):
        check_agent("sb3/policy")
