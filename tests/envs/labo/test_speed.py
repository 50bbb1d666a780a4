"""Steps a second, the best of several short runs of processor time: other work on the machine does not count."""

from __future__ import annotations

import time
from typing import Any

import gymnasium as gym
import pytest

import scisuite.envs  # noqa: F401


@pytest.mark.parametrize("id", ["sci/LABO-v0", "sci/LABOFlat-v0"])
def test_twenty_thousand_steps_a_second(id: str) -> None:
    """On photo_pce10 with a simulated oracle, through ``gym.make``, resets included."""
    env = gym.make(id, scenario="photo_pce10", oracle="simulated")
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(1000)]
    env.reset(seed=0)

    def run() -> int:
        resets = 0
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
                resets += 1
        return resets

    rate = max(timed(run, len(actions)) for _ in range(7))
    assert rate >= 20_000


def test_native_vector_is_faster() -> None:
    rates = {}
    for mode in ("sync", "vector_entry_point"):
        env = gym.make_vec("sci/LABO-v0", num_envs=64, vectorization_mode=mode, scenario="photo_pce10")
        env.action_space.seed(0)
        actions = [env.action_space.sample() for _ in range(20)]
        env.reset(seed=0)

        def run(env: Any = env, actions: Any = actions) -> None:
            for action in actions:
                env.step(action)

        rates[mode] = max(timed(run, 64 * len(actions)) for _ in range(5))
    assert rates["vector_entry_point"] > 2 * rates["sync"], rates


def timed(run: Any, steps: int) -> float:
    start = time.process_time()
    run()
    return steps / (time.process_time() - start)
