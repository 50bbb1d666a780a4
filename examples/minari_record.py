"""Record a policy's experiments as a Minari data set, for offline reinforcement learning or imitation.

Any agent can be recorded in any environment, Dict observations and Dict actions included: here LABO itself, which
decides where to ask and which of the two sources. Then the data set is read as an offline learner would read it.

    python examples/minari_record.py
    scisuite run sci/LABO-v0 --agent labo --episodes 20 --minari labo/expert-v0     # the same from the command line

Needs ``pip install "scisuite[rl,bo]"`` (``--agent random`` needs ``rl`` only). Minari keeps its data sets in
``MINARI_DATASETS_PATH``; a data set is never overwritten, so the example asks for a name that is free.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import minari
import numpy as np

import scisuite.envs  # noqa: F401 — registers sci/*
from scisuite import agents
from scisuite.agents.recording import record_minari


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agent", default=None, help="labo; random at the tiny size")
    parser.add_argument("--dataset", default="labo/example-v0")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    episodes, budget = (2, 6) if arguments.tiny else (arguments.episodes, 20)

    env = gym.make("sci/LABO-v0", scenario="hartmann6", oracle_config={"corr": 0.8}, budget=budget, max_llm=200)
    name = arguments.agent or ("random" if arguments.tiny else "labo")
    agent = agents.make(name, env_slug="labo")
    summary = record_minari(env, agent, arguments.dataset, episodes, seed=0, agent_name=name)
    print(f"{summary['episodes']} episodes, {summary['steps']} steps, mean return {summary['mean_return']:.3f}")
    print(f"in {summary['path']}")

    data = minari.load_dataset(arguments.dataset)
    asked = [float(np.mean(episode.actions["source"] == 0)) for episode in data.iterate_episodes()]
    print(f"share of steps that asked the predictor: {np.mean(asked):.2f}")
    first = data[0]
    print(f"first episode: rewards {first.rewards.shape}, observations {sorted(first.observations)}")


if __name__ == "__main__":
    main()
