"""Stable-Baselines3 trains in every form of sci/LaplacianNav-v0; hindsight replay with its goals."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401

sb3 = pytest.importorskip("stable_baselines3")


@pytest.fixture(autouse=True)
def torch_state_untouched() -> Any:
    import torch

    state = np.random.get_state()
    with torch.random.fork_rng(devices=[]):
        yield
    np.random.set_state(state)


@pytest.mark.parametrize("goal_conditioned", [True, False])
@pytest.mark.parametrize("algorithm", ["PPO", "DQN"])
def test_sixty_four_steps(algorithm: str, goal_conditioned: bool) -> None:
    env = gym.make("sci/LaplacianNav-v0", goal_conditioned=goal_conditioned, max_steps=20)
    arguments: dict[str, Any] = {"n_steps": 32, "batch_size": 32} if algorithm == "PPO" else {"learning_starts": 16}
    policy = "MultiInputPolicy" if goal_conditioned else "MlpPolicy"
    model = getattr(sb3, algorithm)(policy, env, device="cpu", seed=0, **arguments).learn(64)
    assert model.num_timesteps >= 64


@pytest.mark.parametrize("native", [False, True])
def test_hindsight_replay(native: bool) -> None:
    from scisuite.agents.sb3.vec_env import NativeVecEnv

    env: Any
    if native:
        env = NativeVecEnv(gym.make_vec("sci/LaplacianNav-v0", num_envs=4, max_steps=20))
    else:
        env = gym.make("sci/LaplacianNav-v0", max_steps=20)
    model = sb3.DQN(
        "MultiInputPolicy", env, replay_buffer_class=sb3.HerReplayBuffer, learning_starts=100, buffer_size=2000,
        replay_buffer_kwargs={"n_sampled_goal": 4}, device="cpu", seed=0,
    ).learn(300)  # fmt: skip
    batch = model.replay_buffer.sample(256)
    # The rewards are those of the state that follows.
    reached = (batch.next_observations["achieved_goal"] == batch.next_observations["desired_goal"]).all(dim=1)
    assert (batch.rewards.squeeze(1) == reached.float() - 1).all()
    assert 0 < int(reached.sum()) < 256
