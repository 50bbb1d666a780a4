"""Stable-Baselines3's PPO in ``sci/LABOFlat-v0``, whose copies are stepped in one call.

``make_vec_env`` hands Stable-Baselines3 the environment's native vector form, so that 64 copies cost little more than
one. The scenario is the same in every episode, so PPO may learn where the good points are; what it gains over random
actions is printed. Afterwards the saved model acts as a scisuite agent. Training that checkpoints, evaluates and
resumes is ``scisuite train sci/LABOFlat-v0 --algo ppo --vec 64``.

    python examples/sb3_ppo.py

Needs ``pip install "scisuite[rl]"``. About two minutes on one core.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO

from scisuite.agents import run_episode
from scisuite.agents.sb3 import SB3Agent, make_vec_env

ENV = "sci/LABOFlat-v0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--timesteps", type=int, default=200_000)
    parser.add_argument("--copies", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("runs/examples/sb3_ppo"))
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    timesteps, copies = (512, 8) if arguments.tiny else (arguments.timesteps, arguments.copies)
    settings = {"scenario": "hartmann6", "budget": 10, "max_llm": 30}

    envs = make_vec_env(ENV, copies, seed=0, env_kwargs=settings)
    model = PPO("MlpPolicy", envs, n_steps=64, batch_size=64 * copies // 8, seed=0, device="cpu")
    started = time.perf_counter()
    model.learn(timesteps)
    print(f"{model.num_timesteps} steps in {time.perf_counter() - started:.0f} s")
    path = arguments.out / "model.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)
    envs.close()

    env = gym.make(ENV, **settings)
    agent = SB3Agent(path, algo="ppo")
    agent.bind(env)
    episodes = 3 if arguments.tiny else 50
    learnt = [run_episode(env, agent, seed=seed).total_reward for seed in range(episodes)]
    print(f"return of the trained policy {np.mean(learnt):.3f}, of random actions {random_return(env, episodes):.3f}")


def random_return(env: gym.Env, episodes: int) -> float:
    """Mean return of actions drawn uniformly."""
    env.action_space.seed(0)
    total = 0.0
    for seed in range(episodes):
        env.reset(seed=seed)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            total += float(reward)
            over = terminated or truncated
    return total / episodes


if __name__ == "__main__":
    main()
