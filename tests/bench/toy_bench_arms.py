"""Arms, a scenario and experiments for the tests of the runner: small, importable by workers, some of them vicious."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from scisuite import scenarios
from scisuite.bench import Arm, Claim, Curve, Experiment, Limit, Outcome, Tier
from scisuite.core import Budget, MissingDependency, generator

warmed_up: list[str] = []


class Line(scenarios.Scenario):
    """A scenario without content."""

    def describe(self) -> scenarios.Description:
        return scenarios.Description("toy/line", "nothing", "these tests", "none", real=False)


scenarios.registry.register("toy/line", "toy_bench_arms:Line", summary="nothing")
scenarios.registry.register("toy/other", "toy_bench_arms:Line", summary="nothing else")
scenarios.registry.register("toy/absent", "toy_bench_arms:Line", summary="needs a package", extras=("no-such-package",))


def warm_up() -> None:
    warmed_up.append("here")


def measure(scenario: Any, seed: int, budget: Budget, *, level: float = 1.0, seconds: float = 0.0) -> Outcome:
    time.sleep(seconds)
    noise = generator(seed, "toy", scenario.id).random(budget.count)
    values = level * (1 + noise / 10)
    steps = tuple(float(step) for step in range(1, budget.count + 1))
    curve = Curve(steps, tuple(values), "evaluations", "regret (1)")
    return Outcome({"error": float(values.mean())}, {"regret": curve}, budget_used=budget.amount)


def nan(scenario: Any, seed: int, budget: Budget) -> Outcome:
    return Outcome({"error": float("nan") if seed == 1 else 1.0, "endless": float("inf")})


def crash(scenario: Any, seed: int, budget: Budget) -> Outcome:
    if seed == 1:
        raise ValueError(f"no luck\nwith {object()}")
    return measure(scenario, seed, budget)


def leave(scenario: Any, seed: int, budget: Budget) -> Outcome:
    sys.exit("this arm wants out")


def die(scenario: Any, seed: int, budget: Budget, *, how: str = "kill") -> Outcome:
    if seed == 1:
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        os._exit(7)
    return measure(scenario, seed, budget)


def needs_engine(scenario: Any, seed: int, budget: Budget) -> Outcome:
    raise MissingDependency("this arm needs an engine", command="pip install --no-deps engine")


def not_an_outcome(scenario: Any, seed: int, budget: Budget) -> dict[str, float]:
    return {"error": 1.0}


def talk(scenario: Any, seed: int, budget: Budget) -> Outcome:
    print("an engine talks")
    os.write(1, b"and so does its compiled half\n")
    threads = float(os.environ.get("OMP_NUM_THREADS", "0"))
    return Outcome({"error": 1.0, "threads": threads, "pid": float(os.getpid())})


def fill_disk(scenario: Any, seed: int, budget: Budget) -> Outcome:
    """From the second seed on, nothing more can be written in this process."""

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    if seed >= 1:
        os.fsync = full
    return measure(scenario, seed, budget)


def witness(scenario: Any, seed: int, budget: Budget, *, folder: str) -> Outcome:
    """Reports how many of its kind run at the same time."""
    mark = Path(folder) / f"{os.getpid()}-{seed}"
    mark.touch()
    time.sleep(0.15)
    beside = len(list(Path(folder).iterdir()))
    mark.unlink()
    return Outcome({"error": 1.0, "beside": float(beside)})


def toy(*arms: Arm, seeds: int = 3, scenarios: tuple[str, ...] = ("toy/line",), **limits: Limit) -> Experiment:
    """An experiment of some arms, by default a method twice as good as its peer."""
    arms = arms or (METHOD, PEER)
    ids = tuple(arm.id for arm in arms)
    claims = ()
    if {"method", "peer"} <= set(ids):
        ratio = Claim("toy.ratio", "error, method / peer", "error", "method", "peer", scenarios, target=0.75)
        lone = Claim("toy.lone", "error of the peer", "error", "peer", None, scenarios[:1], statistic="mean")
        claims = (ratio, lone)
    tier = Tier(ids, scenarios, seeds, "4 evaluations", limits)
    return Experiment("toy", "A toy", arms, claims, {"quick": tier})


def arm(id: str, function: str, role: Any = "ablation", **rest: Any) -> Arm:
    return Arm(id, f"toy_bench_arms:{function}", role, **rest)


METHOD = arm("method", "measure", "method", config={"level": 0.5})
PEER = arm("peer", "measure", "peer", config={"level": 1.0})
