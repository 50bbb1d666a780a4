"""Pictures of trials whose units are many, few in kind, and of unknown effect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.envs.active_rct.render import _groups
from scisuite.scenarios.trials import Logged

SIZES = {"n_pool": 60, "n_observational": 50}


@pytest.mark.parametrize("data", ["linear", "segments", "replay"])
def test_frames(data: str, replay: Any) -> None:
    source: dict[str, Any] = {"data": data, "data_config": SIZES} if data != "replay" else {"data": replay()}
    env = gym.make("sci/ActiveRCT-v0", render_mode="rgb_array", budget=20, batch=10, **source)
    env.reset(seed=0)
    frames = [env.render()]
    for _ in range(2):
        env.step(np.ones(3, np.float32))
    frames.append(env.render())
    for frame in frames:
        assert frame.shape == (600, 960, 3)
        assert frame.dtype == np.uint8
    # The budget's panel and both others change.
    for rows, columns in (
        (slice(70, 560), slice(0, 480)),
        (slice(60, 300), slice(500, 960)),
        (slice(300, 600), slice(500, 960)),
    ):
        assert (frames[0][rows, columns] != frames[1][rows, columns]).any()
    assert np.array_equal(frames[1], env.render())
    env.close()


def test_tenths_keep_equal_estimates_together() -> None:
    effect = np.repeat([0.3, -0.1, 0.5, 0.5], 25)
    groups = _groups(effect)
    assert sorted(np.concatenate(groups).tolist()) == list(range(100))
    assert [set(effect[group]) for group in groups] == [{-0.1}, {0.3}, {0.5}]
    assert [len(group) for group in _groups(np.random.default_rng(0).standard_normal(100))] == [10] * 10


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_few_held_out_units_are_drawn(replay: Any, n: int) -> None:
    trial = replay()
    few = Logged(trial.validation.x[:n], np.arange(n) % 2, np.arange(n) % 2, p=np.full(n, 0.25))
    env = gym.make(
        "sci/ActiveRCT-v0", render_mode="rgb_array", budget=20, batch=10, data=replace(trial, validation=few)
    )
    env.reset(seed=0)
    env.step(np.ones(3, np.float32))
    frame: Any = env.render()
    assert frame.shape == (600, 960, 3)
