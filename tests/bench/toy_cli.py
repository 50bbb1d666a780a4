"""Things to register for tests of the command line, and the command line with them: ``python toy_cli.py bench toy``."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import toy_bench_arms as arms

from scisuite import agents, solvers
from scisuite.bench import Experiment, experiments
from scisuite.core import Budget, EngineFailure, InvalidInput
from scisuite.solvers.base import FitReport, Solver


def toy() -> Experiment:
    return arms.toy()


def other() -> Experiment:
    return Experiment("other", "Another toy", (arms.METHOD,), (), arms.toy(arms.METHOD, seeds=2).tiers)


def failing() -> Experiment:
    return arms.toy(arms.METHOD, arms.arm("crash", "crash"), arms.arm("absent", "measure", extras=("no-such-package",)))


def talking() -> Experiment:
    return arms.toy(arms.arm("talk", "talk"), seeds=2)


def slow() -> Experiment:
    return arms.toy(arms.arm("slow", "measure", config={"seconds": 0.3}), seeds=40)


class LeftAgent:
    """Always takes the same action."""

    def __init__(self, action: int = 0) -> None:
        if action not in (0, 1):
            raise InvalidInput(f"action must be 0 or 1, not {action!r}")
        self.action = action

    def bind(self, env: gym.Env[Any, Any]) -> None:
        self.bound = env

    def reset(self, *, seed: int) -> None:
        self.seed = seed

    def act(self, observation: Any, info: dict[str, Any]) -> int:
        return self.action

    def observe(self, transition: Any) -> None:
        print("an agent talks")


class SampleAgent:
    """Takes any action of any space."""

    def bind(self, env: gym.Env[Any, Any]) -> None:
        self.space = env.action_space

    def reset(self, *, seed: int) -> None:
        self.space.seed(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        return self.space.sample()

    def observe(self, transition: Any) -> None:
        pass


class MeanSolver(Solver):
    """Predicts the mean of what it measured."""

    id = "toy-mean"

    def __init__(self, shift: float = 0.0) -> None:
        self.config = {"shift": shift}

    def fit(self, scenario: Any, *, seed: int, budget: Budget | str) -> MeanSolver:
        budget = Budget.parse(budget)
        if budget.unit != "evaluations":
            raise InvalidInput("toy-mean spends evaluations")
        rows = np.random.default_rng(seed).permutation(len(scenario.pool))[: budget.count]
        self.mean = float(scenario.evaluate(scenario.pool[rows]).mean()) + self.config["shift"]
        self.fit_report = FitReport(str(budget), float(len(rows)), 0.5)
        return self

    def predict(self, inputs: Any) -> np.ndarray:
        return np.full(len(inputs), self.mean)

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        if split == "broken":
            raise EngineFailure("the engine\nbroke")
        return {"mean": self.mean, "nothing": float("nan")}

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"mean": self.mean}, {}

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self.mean = state["mean"]


def register() -> None:
    for name in ("toy", "other", "failing", "talking", "slow"):
        experiments.register(name, f"toy_cli:{name}", summary="for tests")
    agents.registry.register("toy/left", "toy_cli:LeftAgent", summary="for tests")
    agents.registry.register("toy/sample", "toy_cli:SampleAgent", summary="for tests")
    solvers.registry.register("toy-mean", "toy_cli:MeanSolver", summary="for tests")


if __name__ == "__main__":
    import scisuite.bench.plan
    from scisuite.bench.cli import main

    register()
    # As in the fixture "toys": sources may be edited while the tests run.
    scisuite.bench.plan.sources_hash = lambda modules, mentions=(): "aaaaaaaaaaaa"
    main()
