from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from scisuite.agents.sb3.algorithms import ALGORITHMS, check_fit, flat_twin, hyperparameters, policy_name
from scisuite.core import InvalidInput

BOX = spaces.Box(-1, 1, (3,))


@given(vec=st.integers(1, 300), timesteps=st.integers(1, 10**7))
def test_ppo_rollouts_fit_the_run_and_the_batches_fit_the_rollouts(vec: int, timesteps: int) -> None:
    chosen = hyperparameters("ppo", vec, timesteps, BOX, {})
    rollout = chosen["n_steps"] * vec
    assert rollout % chosen["batch_size"] == 0
    assert rollout > 1
    assert rollout < timesteps + 8 * vec
    if chosen["n_steps"] >= 8:
        assert chosen["batch_size"] >= 8
    if timesteps >= 10**6:
        assert chosen["n_steps"] >= 128
        assert chosen["batch_size"] >= 32


@given(vec=st.integers(1, 64), timesteps=st.integers(1, 10**8), size=st.integers(1, 10**6))
def test_replay_buffers_fit_in_memory(vec: int, timesteps: int, size: int) -> None:
    space = spaces.Dict({"a": spaces.Box(0, 1, (size,)), "b": spaces.Discrete(2)})
    chosen = hyperparameters("sac", vec, timesteps, space, {})
    assert vec <= chosen["buffer_size"] <= 10**6
    assert chosen["buffer_size"] * 8 * size <= 2**30 or chosen["buffer_size"] == vec
    assert chosen["gradient_steps"] == vec


def test_what_is_given_wins() -> None:
    given_values = {"n_steps": 10, "batch_size": 5, "gamma": 0.9}
    assert hyperparameters("ppo", 4, 10_000, BOX, given_values) == given_values
    assert hyperparameters("td3", 1, 10_000, BOX, {"action_noise": 0.3})["action_noise"] == 0.3
    assert hyperparameters("a2c", 8, 10_000, BOX, {}) == {}


@pytest.mark.parametrize(
    ("action_space", "masks", "fitting"),
    [
        (BOX, False, {"ppo", "a2c", "sac", "td3"}),
        (spaces.Discrete(3), False, {"ppo", "a2c", "dqn"}),
        (spaces.Discrete(3), True, {"ppo", "a2c", "dqn", "maskable-ppo"}),
        (spaces.MultiDiscrete([2, 3]), True, {"ppo", "a2c", "maskable-ppo"}),
        (spaces.MultiBinary(4), False, {"ppo", "a2c"}),
        (spaces.MultiBinary((2, 2)), False, set()),
        (spaces.Box(0, np.inf, (2,)), False, set()),
        (spaces.Text(4), True, set()),
    ],
)
def test_which_algorithms_fit(action_space: spaces.Space, masks: bool, fitting: set[str]) -> None:
    for name in ALGORITHMS:
        if name in fitting:
            check_fit(name, "x/Y-v0", BOX, action_space, masks)
        else:
            with pytest.raises(InvalidInput):
                check_fit(name, "x/Y-v0", BOX, action_space, masks)


def test_observations_and_policies() -> None:
    pytest.importorskip("stable_baselines3", reason="needs the extra rl")
    nested = spaces.Dict({"a": spaces.Dict({"b": BOX})})
    with pytest.raises(InvalidInput, match="cannot read nested Dict observations"):
        check_fit("ppo", "x/Y-v0", nested, BOX, False)
    assert policy_name(spaces.Dict({"a": BOX})) == "MultiInputPolicy"
    assert policy_name(spaces.Box(0, 255, (64, 64, 3), dtype=np.uint8)) == "CnnPolicy"
    assert policy_name(spaces.Box(0, 255, (8, 8, 3), dtype=np.uint8)) == "MlpPolicy"
    assert policy_name(BOX) == "MlpPolicy"


def test_flat_twin_is_named_only_where_registered() -> None:
    assert flat_twin("sci/NoSuchThing-v0") is None
