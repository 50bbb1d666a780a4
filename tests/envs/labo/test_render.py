"""The frame of sci/LABO-v0."""

from __future__ import annotations

import copy
import time
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite import scenarios
from scisuite.envs.labo.render import BLUE, ORANGE, Projection
from scisuite.envs.labo.task import Task


def make(scenario: str = "photo_pce10", **kwargs: Any) -> gym.Env[Any, Any]:
    env = gym.make("sci/LABO-v0", scenario=scenario, render_mode="rgb_array", **kwargs)
    env.reset(seed=0)
    return env


def pixels(frame: Any, colour: str, columns: slice) -> int:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(frame[:, columns].astype(int) - rgb).max(axis=2) < 12).sum())


LEFT, RIGHT = slice(0, 480), slice(560, 930)
BELOW_LEGEND = slice(95, 480)


def test_frame_grows_with_the_episode() -> None:
    env = make()
    empty = env.render()
    assert empty.shape == (480, 960, 3)
    assert empty.dtype == np.uint8
    points = empty[BELOW_LEGEND]
    assert pixels(points, ORANGE, RIGHT) == pixels(points, BLUE, RIGHT) == 0
    for i in range(6):
        env.step({"x": 17 * i, "source": 0})
    asked = env.render()[BELOW_LEGEND]
    assert pixels(asked, ORANGE, RIGHT) > 100
    assert pixels(asked, BLUE, LEFT) == 0
    for i in range(6):
        env.step({"x": 31 * i, "source": 1})
    measured = env.render()[BELOW_LEGEND]
    assert pixels(measured, BLUE, RIGHT) > 100
    assert pixels(measured, BLUE, LEFT) > 100


def test_words() -> None:
    env = make(budget=5, max_llm=9, oracle_config={"fail_rate": 1.0})
    env.step({"x": 0, "source": 0})
    env.step({"x": 0, "source": 1})
    env.render()
    viewer = env.unwrapped._viewer
    words = [text.get_text() for text in viewer.values_axes.figure.texts]
    assert "photo_pce10" in words
    assert " ".join(viewer.counters.get_text().split()) == "real 1 / 5 LLM 1 / 9 (1 failed) spent 1.01"
    value = env.unwrapped.real_values[0]
    assert viewer.reached.get_text().startswith(f"best {value:.4g}, regret ")
    assert "smaller is better" in viewer.values_axes.get_title(loc="left")
    assert viewer.values_axes.get_ylabel() == env.unwrapped.scenario.value_name


def test_units_stand_on_the_axis() -> None:
    env = make("p3ht")
    env.render()
    assert env.unwrapped._viewer.values_axes.get_ylabel() == "conductivity (S/cm)"


@pytest.mark.parametrize(("scenario", "config"), [("branin", {"pool_size": 0}), ("branin", None), ("suzuki", None)])
def test_every_kind_of_space(scenario: str, config: Any) -> None:
    env = make(scenario, scenario_config=config)
    env.step(env.action_space.sample())
    assert env.render().std() > 0


def test_projection_shows_the_whole_pool() -> None:
    for scenario in ("hartmann6", "branin"):
        task = Task(scenario, None, 5, 5, 1.0, 0.01, 0.0)
        projection = Projection(task)
        assert projection.pool is not None
        assert projection.pool.shape == (len(task.scenario.pool), 2)
        low, high = projection.limits
        assert (projection.pool > low).all()
        assert (projection.pool < high).all()
    line = scenarios.from_arrays(np.arange(5.0)[:, None], np.array([0.0, 1, 2, 3, 5]), names=["t"])
    projection = Projection(Task(line, None, 5, 5, 1.0, 0.01, 0.0))
    assert projection.pool is not None
    assert projection.pool[:, 1].tolist() == [0] * 5
    assert projection.names == ("t, scaled", "")


def test_a_drawn_environment_can_be_copied() -> None:
    env = make(budget=4)
    env.step({"x": 3, "source": 1})
    frame = env.render()
    assert np.array_equal(copy.deepcopy(env).render(), frame)


def test_no_mode_no_frame() -> None:
    env = gym.make("sci/LABO-v0").unwrapped
    env.reset(seed=0)
    assert env.render() is None


def test_vector_frames_are_those_of_single_ones() -> None:
    vector = gym.make_vec("sci/LABO-v0", num_envs=2, scenario="branin", render_mode="rgb_array")
    single = make("branin")
    vector.reset(seed=0)
    vector.step({"x": np.array([5, 6]), "source": np.array([1, 0])})
    single.step({"x": 5, "source": 1})
    first, second = vector.render()
    assert np.array_equal(first, single.render())
    assert not np.array_equal(first, second)


def test_a_frame_takes_less_than_a_tenth_of_a_second() -> None:
    env = make()
    env.render()
    seconds = []
    for i in range(5):
        env.step({"x": i, "source": i % 2})
        start = time.process_time()
        env.render()
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.1
