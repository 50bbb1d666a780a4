"""RLlib's PPO (its new API stack) in ``sci/LABOFlat-v0``.

``ray[rllib]`` 2.60 pins an older Gymnasium and cannot be installed beside scisuite; the extra ``ray`` brings plain Ray
and the packages that RLlib imports instead, which is all that PPO needs. Ray is started small, for a laptop or a CI
machine; on a cluster pass ``--address auto`` and raise ``--runners``.

    python examples/rllib_ppo.py

Needs ``pip install "scisuite[ray]"``. About three minutes on two cores.
"""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import gymnasium as gym
import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.tune.registry import register_env


def make_env(config: dict[str, Any]) -> gym.Env:
    """Made in RLlib's processes, which have imported nothing of ours yet."""
    import scisuite.envs  # noqa: F401 — registers sci/*

    return gym.make("sci/LABOFlat-v0", **config)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--runners", type=int, default=0, help="processes that step environments; 0 for this one")
    parser.add_argument("--address", default=None, help="of a running cluster")
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    iterations, batch = (2, 200) if arguments.tiny else (arguments.iterations, 4000)

    if arguments.address is None:
        ray.init(
            num_cpus=max(arguments.runners, 1) + 1,
            object_store_memory=150 * 2**20,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    else:
        ray.init(address=arguments.address)
    register_env("labo", make_env)
    config = (
        PPOConfig()
        .environment("labo", env_config={"scenario": "hartmann6", "budget": 10, "max_llm": 30})
        .env_runners(num_env_runners=arguments.runners, num_envs_per_env_runner=8)
        .training(train_batch_size_per_learner=batch, minibatch_size=batch // 4, num_epochs=6, lr=3e-4)
        .debugging(seed=0)
    )
    algorithm = config.build_algo()
    for iteration in range(1, iterations + 1):
        found = algorithm.train()["env_runners"]
        steps, mean_return = int(found["num_env_steps_sampled_lifetime"]), found["episode_return_mean"]
        print(f"iteration {iteration:3d}   {steps:7d} steps   mean return {mean_return:.3f}", flush=True)
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
