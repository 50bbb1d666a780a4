"""Timed arm: how many transitions a second many environments make on one thread, beside MiniGrid's."""

from __future__ import annotations

import statistics
import time
from typing import Any

from scisuite.bench.experiment import Outcome
from scisuite.core import Budget, generator
from scisuite.scenarios.nav import NavScenario

_BLOCK = 256
"""Steps whose actions are drawn beforehand: about an episode, so that the copies wander and do not go in circles."""
_LOOK = 32
"""Steps between two looks at the clock; a divisor of the former."""


def warm_up() -> None:
    """Import the engines before a cell's clock starts."""
    import minigrid  # noqa: F401  (registers its environments)

    import scisuite.envs  # noqa: F401  (registers ours)


def transitions(
    scenario: NavScenario,
    seed: int,
    budget: Budget,
    *,
    copies: int = 4096,
    peers: int = 64,
    seconds: float = 2.0,
    repeats: int = 5,
) -> Outcome:
    """Transitions a second with random actions: copies that share a layout, copies with a layout each, and MiniGrid.

    Each is the median of ``repeats`` runs of at least ``seconds``; the runs of the three take turns, so that a change
    of the machine's speed meets all of them. Observations are Dict of positions, autoreset is on.
    """
    import gymnasium as gym

    ours: dict[str, Any] = {"vectorization_mode": "vector_entry_point", "world": scenario.id, "obs": "xy"}
    envs: dict[str, Any] = {
        "shared": gym.make_vec("sci/LaplacianNav-v0", copies, layout_seed=seed, **ours),
        "own": gym.make_vec("sci/LaplacianNav-v0", copies, layout_seed=None, **ours),
        "minigrid": gym.vector.SyncVectorEnv([lambda: gym.make("MiniGrid-FourRooms-v0")] * peers),
    }
    rates: dict[str, list[float]] = {name: [] for name in envs}
    for env in envs.values():
        env.reset(seed=seed)
    for repeat in range(repeats):
        for name, env in envs.items():
            rates[name].append(_rate(env, seed + repeat, seconds))
    for env in envs.values():
        env.close()
    medians = {f"{name}_steps_per_second": statistics.median(found) for name, found in rates.items()}
    times = medians["shared_steps_per_second"] / medians["minigrid_steps_per_second"]
    return Outcome({**medians, "shared_over_minigrid": times})


def _rate(env: Any, seed: int, seconds: float) -> float:
    """Transitions a second of CPU time over at least ``seconds`` of it; drawing the actions is not counted."""
    n_actions = int(env.single_action_space.n)
    actions = generator(seed, "actions").integers(n_actions, size=(_BLOCK, env.num_envs))
    env.step(actions[0])
    steps, passed, begin = 0, 0.0, time.process_time()
    while passed < seconds:
        for each in actions[steps % _BLOCK :][:_LOOK]:
            env.step(each)
        steps += _LOOK
        passed = time.process_time() - begin
    return float(steps * env.num_envs / passed)
