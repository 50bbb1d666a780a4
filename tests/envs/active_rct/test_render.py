"""Pictures of trials whose units are many, few in kind, and of unknown effect."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.envs.active_rct.render import _groups

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
