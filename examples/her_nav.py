"""Stable-Baselines3's DQN with hindsight goals (HER) in ``sci/LaplacianNav-v0``, beside a planner with a map.

The environment's Dict observations and ``compute_reward`` are what ``HerReplayBuffer`` works with: of every episode
that missed its goal it makes ones that reached theirs. How often the trained policy arrives is printed beside random
moves and the Green's function, which needs the map and one sparse solve a goal.

    python examples/her_nav.py

Needs ``pip install "scisuite[rl]"``. About two minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

import scisuite.envs  # noqa: F401 — registers sci/*
from scisuite import agents
from scisuite.core import MissingDependency

try:
    from stable_baselines3 import DQN, HerReplayBuffer
except ModuleNotFoundError as error:
    raise SystemExit(str(MissingDependency(f"this example needs {error.name}", "rl"))) from None

MAX_STEPS = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--timesteps", type=int, default=30_000)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    timesteps, episodes = (400, 5) if arguments.tiny else (arguments.timesteps, arguments.episodes)

    env = gym.make("sci/LaplacianNav-v0", world="fourrooms", world_config={"size": 11}, max_steps=MAX_STEPS)
    model = DQN(
        "MultiInputPolicy",
        env,
        replay_buffer_class=HerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
        learning_starts=5 * MAX_STEPS,  # hindsight needs whole episodes
        learning_rate=1e-3,
        batch_size=256,
        gamma=0.95,
        train_freq=1,
        target_update_interval=500,
        exploration_fraction=0.5,
        exploration_final_eps=0.2,
        policy_kwargs={"net_arch": [128, 128]},
        seed=0,
        device="cpu",
    )
    started = time.perf_counter()
    model.learn(timesteps)
    print(f"{model.num_timesteps} steps in {time.perf_counter() - started:.0f} s")

    print(f"DQN + HER  {success(env, lambda seen, _: model.predict(seen, deterministic=True)[0], episodes):.2f}")
    for name in ("green", "random"):
        agent = agents.make(f"laplacian_nav/{name}")
        agent.bind(env)
        agent.reset(seed=0)
        print(f"{name:10} {success(env, agent.act, episodes):.2f}")


def success(env: gym.Env, act: Callable[[Any, Any], Any], episodes: int) -> float:
    """Share of the episodes that end at their goal."""
    arrived = []
    for seed in range(episodes):
        observation, info = env.reset(seed=1_000 + seed)
        over = False
        while not over:
            observation, _, terminated, truncated, info = env.step(act(observation, info))
            over = terminated or truncated
        arrived.append(info["is_success"])
    return float(np.mean(arrived))


if __name__ == "__main__":
    main()
