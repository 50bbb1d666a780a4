"""Cells that play the environment on held-out instances: rules, searches and a trained policy."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scisuite import agents
from scisuite.agents import Agent, run_episode
from scisuite.bench.experiment import Outcome
from scisuite.bench.intervals import resampled
from scisuite.core import Budget, EngineFailure, generator
from scisuite.scenarios import Scenario

Floats = NDArray[np.float64]

RULES = ("greedy", "min_fill")
FIRST_HELD_OUT = 1_000_000
"""Seed of the first held-out instance; training draws its instances from streams of their own."""
MAX_SITES = 24
"""Large enough for every instance, small enough to train on."""


def returns(scenario: Scenario, seed: int, budget: Budget, *, agent: str) -> Outcome:
    """Mean return of an agent on as many held-out instances as the budget has steps; the interval is over instances."""
    found = _returns(scenario, agents.make(f"crn_reduce/{agent}"), _instances(budget))
    return Outcome(_mean("return", found, seed), budget_used=budget.amount)


def trained_returns(
    scenario: Scenario,
    seed: int,
    budget: Budget,
    *,
    train_steps: int = 50_000,
    train_seeds: Sequence[int] = (0, 1, 2),
    site_policy: bool = True,
) -> Outcome:
    """The same of MaskablePPO, averaged over its trainings, and its gain over the better of two rules.

    ``gain`` is the mean return of MaskablePPO minus the greater of the rules' mean returns, all on the same instances.
    """
    from scisuite.agents.crn_reduce.training import train_maskable_ppo

    instances = _instances(budget)
    learned = []
    with tempfile.TemporaryDirectory() as folder:
        for train_seed in train_seeds:
            path = Path(folder) / f"{train_seed}.zip"
            train_maskable_ppo(
                scenario.id, train_steps, train_seed, max_sites=MAX_SITES, out=path, site_policy=site_policy
            )
            learned.append(_returns(scenario, agents.make("crn_reduce/maskable_ppo", path=path), instances))
    ruled = [_returns(scenario, agents.make(f"crn_reduce/{rule}"), instances) for rule in RULES]
    table = np.column_stack([np.mean(learned, axis=0), *ruled])
    gain = resampled(
        "gain", [table], lambda mean: mean[..., 0] - mean[..., 1:].max(axis=-1), generator(seed, "instances")
    )
    each = {f"return_training_{i}": float(one.mean()) for i, one in enumerate(learned)}
    return Outcome({**_mean("return", table[:, 0], seed), **gain, **each}, budget_used=budget.amount)


def _instances(budget: Budget) -> list[int]:
    return [FIRST_HELD_OUT + i for i in range(int(budget.amount))]


def _returns(scenario: Scenario, agent: Agent, instances: Sequence[int]) -> Floats:
    """Return on each instance, every episode verified by belief propagation."""
    import gymnasium as gym

    import scisuite.envs  # noqa: F401  (registers the ids)

    env = gym.make("sci/CRNReduce-v0", scenario=scenario.id, max_sites=MAX_SITES, verify="stop")
    agent.bind(env)
    found = []
    for instance in instances:
        episode = run_episode(env, agent, seed=instance)
        if not episode.infos[-1]["verified"]:
            raise EngineFailure(f"instance {instance}: belief propagation does not confirm the reduction")
        found.append(episode.total_reward)
    env.close()
    return np.array(found)


def _mean(name: str, values: Floats, seed: int) -> dict[str, float]:
    return resampled(name, [values[:, None]], lambda mean: mean[..., 0], generator(seed, "instances", name))
