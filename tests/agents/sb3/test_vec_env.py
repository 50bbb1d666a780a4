from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from scisuite.core import EngineFailure, InvalidInput

pytest.importorskip("stable_baselines3", reason="needs the extra rl")

from stable_baselines3.common.vec_env import DummyVecEnv

from scisuite.agents.sb3 import NativeVecEnv, make_vec_env
from scisuite.agents.sb3.environments import kind_of
from scisuite.agents.sb3.vec_env import info_rows

COPIES = 5


def same(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(np.array_equal(left, right))


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_native_equals_dummy_step_for_step(toys: Any, mode: AutoresetMode) -> None:
    native = NativeVecEnv(toys.ClockVector(COPIES, autoreset_mode=mode))
    dummy = DummyVecEnv([toys.Clock for _ in range(COPIES)])
    assert native.observation_space == dummy.observation_space
    assert native.action_space == dummy.action_space
    for vec in (native, dummy):
        vec.seed(11)
        vec.set_options({"start": 2.0})
    assert same(native.reset(), dummy.reset())
    assert native.reset_infos == dummy.reset_infos
    rng = np.random.default_rng(0)
    ends = truncations = 0
    for _ in range(60):
        actions = rng.integers(0, 3, COPIES)
        left, right = native.step(actions), dummy.step(actions)
        assert same(left[0], right[0])
        assert left[1].dtype == np.float32
        assert np.array_equal(left[1], right[1])
        assert np.array_equal(left[2], right[2])
        for index, done in enumerate(left[2]):
            ours, theirs = left[3][index], right[3][index]
            assert ours["TimeLimit.truncated"] is bool(theirs["TimeLimit.truncated"])
            assert ("terminal_observation" in ours) == done
            if done:
                assert same(ours["terminal_observation"], theirs["terminal_observation"])
                assert native.reset_infos[index]["began"] == dummy.reset_infos[index]["began"]
            assert ours["steps"] == theirs["steps"]
            assert ours["nested"] == theirs["nested"]
            assert ("even" in ours) == ("even" in theirs)
        ends += int(left[2].sum())
        truncations += sum(row["TimeLimit.truncated"] for row in left[3])
    assert ends > 50
    assert 10 < truncations < ends - 10


def test_gymnasium_sync_vector_env_in_same_step_mode(toys: Any) -> None:
    """``SyncVectorEnv`` gives ``final_obs`` as an object array of single observations."""
    sync = SyncVectorEnv([toys.Clock] * COPIES, autoreset_mode=AutoresetMode.SAME_STEP)
    native, dummy = NativeVecEnv(sync), DummyVecEnv([toys.Clock for _ in range(COPIES)])
    for vec in (native, dummy):
        vec.seed(4)
    assert same(native.reset(), dummy.reset())
    for _ in range(20):
        left, right = native.step(np.full(COPIES, 2)), dummy.step(np.full(COPIES, 2))
        assert same(left[0], right[0])
        for ours, theirs in zip(left[3], right[3], strict=True):
            assert same(ours.get("terminal_observation", 0), theirs.get("terminal_observation", 0))
            assert ours["steps"] == theirs["steps"]
    assert native.get_attr("pace") == [1.0] * COPIES
    assert np.array_equal(np.stack(native.env_method("action_masks")), np.stack(dummy.env_method("action_masks")))


def test_returned_arrays_are_not_overwritten_by_the_next_step(toys: Any) -> None:
    native = NativeVecEnv(toys.ClockVector(2, autoreset_mode=AutoresetMode.SAME_STEP))
    first = native.reset()
    kept = first["clock"].copy()
    native.step(np.array([1, 2]))
    assert np.array_equal(first["clock"], kept)


def test_next_step_autoreset_is_refused(toys: Any) -> None:
    with pytest.raises(InvalidInput, match="resets on the next step"):
        NativeVecEnv(toys.ClockVector(2))
    silent = toys.ClockVector(2)
    silent.metadata = {}
    with pytest.raises(InvalidInput, match="does not say how it resets"):
        NativeVecEnv(silent)


def test_end_without_final_observation_is_an_engine_failure(toys: Any) -> None:
    env = toys.ClockVector(1, autoreset_mode=AutoresetMode.SAME_STEP)
    env.mode = AutoresetMode.DISABLED
    native = NativeVecEnv(env)
    native.seed(0)
    native.reset()
    with pytest.raises(EngineFailure, match="no final_obs"):
        for _ in range(10):
            native.step(np.array([0]))


def test_attributes_methods_and_masks(toys: Any) -> None:
    native = NativeVecEnv(toys.ClockVector(3, pace=0.5, autoreset_mode=AutoresetMode.SAME_STEP))
    native.seed(2)
    native.reset()
    assert native.get_attr("pace", indices=[0, 2]) == [0.5, 0.5]
    assert native.get_attr("offset") == [2, 3, 4]
    assert native.has_attr("action_masks")
    assert not native.has_attr("nothing_of_the_kind")
    masks = native.env_method("action_masks", indices=[1])
    assert len(masks) == 1
    assert masks[0].tolist() == [True, True, True]
    native.set_attr("pace", 2.0)
    assert native.step(np.array([1, 1, 1]))[1].tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(InvalidInput, match="set it for all"):
        native.set_attr("pace", 1.0, indices=[0])
    assert native.env_is_wrapped(gym.Wrapper, indices=0) == [False]
    native.set_options([{"start": 1.0}, {}, {}])
    with pytest.raises(InvalidInput, match="one set of reset options"):
        native.reset()


def test_render_tiles_the_copies(toys: Any) -> None:
    native = NativeVecEnv(toys.ClockVector(4, render_mode="rgb_array", autoreset_mode=AutoresetMode.SAME_STEP))
    native.reset()
    native.step(np.zeros(4, dtype=int))
    frame = native.render("rgb_array")
    assert frame is not None
    assert frame.shape == (8, 8, 3)
    assert (frame == 1).all()


def test_info_rows_leave_out_what_is_masked() -> None:
    infos = {"a": np.array([1, 2, 3]), "_a": np.array([True, False, True]), "units": {"a": "m"}, "scalar": 7}
    rows = info_rows(infos, 3)
    assert rows[1] == {"units": {"a": "m"}, "scalar": 7}
    assert rows[2] == {"a": 3, "units": {"a": "m"}, "scalar": 7}


def test_make_vec_env_chooses_the_native_one_and_counts_episodes(toys: Any) -> None:
    native, serial = make_vec_env("toys/Clock-v0", 3, seed=7), make_vec_env("toys/SerialClock-v0", 3, seed=7)
    assert (kind_of(native), kind_of(serial)) == ("native", "serial")
    assert same(native.reset(), serial.reset())
    for _ in range(25):
        left, right = native.step(np.array([0, 1, 2])), serial.step(np.array([0, 1, 2]))
        for ours, theirs in zip(left[3], right[3], strict=True):
            assert ("episode" in ours) == ("episode" in theirs)
            if "episode" in ours:
                assert ours["episode"]["r"] == theirs["episode"]["r"]
                assert ours["episode"]["l"] == theirs["episode"]["l"]
    assert native.episode_count == serial.episode_count > 10


def test_make_vec_env_steps_single_ones_where_the_native_one_cannot_serve() -> None:
    with pytest.warns(UserWarning, match="resets on the next step"):
        vec = make_vec_env("CartPole-v1", 2)
    assert kind_of(vec) == "serial"
    vec.close()


def test_make_vec_env_refuses(toys: Any) -> None:
    with pytest.raises(InvalidInput, match="unknown environment 'sci/Nothing-v0'"):
        make_vec_env("sci/Nothing-v0")
    with pytest.raises(InvalidInput, match="no module 'no_such_module'"):
        make_vec_env("no_such_module:sci/X-v0")
    with pytest.raises(InvalidInput, match="positive integer, not 0"):
        make_vec_env("toys/Clock-v0", 0)
    with pytest.raises(InvalidInput, match="toys/Clock-v0 does not take"):
        make_vec_env("toys/Clock-v0", 2, env_kwargs={"colour": "red"})


@pytest.mark.slow
def test_processes() -> None:
    vec = make_vec_env("Pendulum-v1", 2, seed=0, processes=True)
    try:
        assert kind_of(vec) == "processes"
        assert vec.reset().shape == (2, 3)
    finally:
        vec.close()


def test_native_labo_equals_single_environments() -> None:
    settings = {"scenario": "branin", "budget": 3, "max_llm": 4}
    native = make_vec_env("sci/LABOFlat-v0", 4, seed=5, env_kwargs=settings)
    assert kind_of(native) == "native"
    single = DummyVecEnv([lambda: gym.make("sci/LABOFlat-v0", **settings) for _ in range(4)])
    single.seed(5)
    assert native.action_space == single.action_space
    assert same(native.reset(), single.reset())
    native.action_space.seed(0)
    ends = 0
    for _ in range(25):
        actions = np.stack([native.action_space.sample() for _ in range(4)])
        left, right = native.step(actions), single.step(actions)
        assert same(left[0], right[0])
        np.testing.assert_allclose(left[1], right[1], atol=1e-6)
        assert np.array_equal(left[2], right[2])
        for ours, theirs in zip(left[3], right[3], strict=True):
            assert ours["TimeLimit.truncated"] == theirs["TimeLimit.truncated"]
            assert same(ours.get("terminal_observation", 0), theirs.get("terminal_observation", 0))
            np.testing.assert_equal(ours["regret"], theirs["regret"])
            assert ours["n_llm"] == theirs["n_llm"]
        ends += int(left[2].sum())
    assert ends > 8
