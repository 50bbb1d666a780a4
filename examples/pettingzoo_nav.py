"""Several navigators in four rooms, for PettingZoo: the plain loop, a scripted baseline, and a film.

All move at once, each to a goal of its own, and none can walk through another. First the loop that every PettingZoo
environment has, with random actions. Then the baseline: each navigator climbs its own Green's function and gives way
when somebody is in its way; how often all arrive, and how much longer than alone they take, is printed beside random
moves, and one episode becomes a GIF.

    python examples/pettingzoo_nav.py

Needs ``pip install "scisuite[marl]"``. About ten seconds on one core.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from scisuite.agents.laplacian_nav.multi import GreenNavigators, Navigators, RandomNavigators, run_together
from scisuite.agents.recording import record_gif
from scisuite.envs.laplacian_nav import laplacian_nav_v0


def at_random() -> None:
    """One episode of two navigators, written out."""
    env = laplacian_nav_v0.parallel_env(world="fourrooms", n_agents=2)
    observations, infos = env.reset(seed=0)
    print("one navigator sees", {name: seen.shape for name, seen in observations["navigator_0"].items()})
    for number, agent in enumerate(env.agents):
        env.action_space(agent).seed(number)
    returns = dict.fromkeys(env.agents, 0.0)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)
        for agent in actions:
            returns[agent] += rewards[agent]
            if terminations[agent] or truncations[agent]:
                what = "arrives" if infos[agent]["is_success"] else "is truncated"
                print(f"step {env.steps}: {agent} {what}, return {returns[agent]:.0f}")


def compare(navigators: Navigators, n_agents: int, episodes: int) -> tuple[float, float]:
    """Mean share of the navigators that arrive, and mean shortest / steps."""
    env = laplacian_nav_v0.parallel_env(world="fourrooms", n_agents=n_agents)
    navigators.bind(env)
    ran = [run_together(env, navigators, seed=seed) for seed in range(episodes)]
    return float(np.mean([episode.success for episode in ran])), float(np.mean([episode.spl for episode in ran]))


def film(path: Path, n_agents: int) -> None:
    """An episode of the baseline as a GIF."""
    env = laplacian_nav_v0.parallel_env(world="fourrooms", n_agents=n_agents, render_mode="rgb_array")
    navigators, frames = GreenNavigators(), []
    navigators.bind(env)
    run_together(env, navigators, seed=0, on_step=lambda: frames.append(env.render()))
    path.parent.mkdir(parents=True, exist_ok=True)
    record_gif(frames, path, fps=4)
    print(f"{len(frames)} frames in {path}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("runs/examples/pettingzoo_nav.gif"))
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    episodes = 2 if arguments.tiny else arguments.episodes
    at_random()
    for n_agents in (2, 4, 8):
        for name, navigators in (("green", GreenNavigators()), ("random", RandomNavigators())):
            success, spl = compare(navigators, n_agents, episodes)
            print(f"{n_agents} navigators, {name:6}: success {success:.2f}, shortest / steps {spl:.2f}")
    film(arguments.out, n_agents=2 if arguments.tiny else 8)


if __name__ == "__main__":
    main()
