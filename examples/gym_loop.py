"""The plain Gymnasium loop: a policy of five lines, an episode of it, and a thousand episodes side by side.

``sci/LABO-v0`` is a chemist's problem: a few real experiments, and a cheap predictor (a language model, or here a
stand-in whose correlation with the truth is known) that may be asked first. The policy asks the predictor about some
random candidates and makes the experiment that it praises most; the baseline makes random experiments.

    python examples/gym_loop.py
    python examples/gym_loop.py --scenario photo_pce10      # measured photovoltaic blends: pip install "scisuite[data]"

Needs the base install only.
"""

from __future__ import annotations

import argparse

import gymnasium as gym
import numpy as np

import scisuite.envs  # noqa: F401 — registers sci/*


def ask_first(rng: np.random.Generator, env: gym.Env, candidates: int, maximise: bool) -> float:
    """One episode: rounds of ``candidates`` questions and one experiment. Returns the regret (0 best, 1 the median)."""
    _, info = env.reset(seed=int(rng.integers(2**31)))
    pool_size = env.action_space["x"].n
    over = False
    while not over:
        answers = {}
        for x in rng.choice(pool_size, size=candidates, replace=False):
            *_, truncated, info = env.step({"x": x, "source": 0})
            if truncated:
                return float(info["regret"])
            if np.isfinite(info["value"]):  # a failed answer is NaN
                answers[x] = info["value"] if maximise else -info["value"]
        best = max(answers, key=answers.get) if answers else rng.integers(pool_size)
        *_, terminated, truncated, info = env.step({"x": best, "source": 1})
        over = terminated or truncated
    return float(info["regret"])


def at_random(scenario: str, budget: int, copies: int, episodes: int) -> list[float]:
    """Regrets of random experiments in ``copies`` environments that are stepped in one call."""
    envs = gym.make_vec("sci/LABO-v0", num_envs=copies, scenario=scenario, budget=budget, max_llm=1)
    envs.reset(seed=0)
    envs.action_space.seed(0)
    regrets: list[float] = []
    while len(regrets) < episodes:
        actions = envs.action_space.sample()
        actions["source"][:] = 1
        _, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        if over.any():  # those that ended have begun anew within the step; how they ended is in final_info
            regrets += infos["final_info"]["regret"][over].tolist()
    envs.close()
    return regrets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenario", default="hartmann6")
    parser.add_argument("--budget", type=int, default=15, help="real experiments in an episode")
    parser.add_argument("--candidates", type=int, default=20, help="questions to the predictor before each of them")
    parser.add_argument("--tiny", action="store_true", help="a size for continuous integration")
    arguments = parser.parse_args()
    episodes = 3 if arguments.tiny else 100
    max_llm = arguments.budget * arguments.candidates
    print(f"{arguments.scenario}, {arguments.budget} experiments: regret, 0 is the best point and 1 the median")
    baseline = at_random(arguments.scenario, arguments.budget, 4 if arguments.tiny else 64, episodes * 10)
    print(f"  random experiments                     {np.mean(baseline):.3f}")
    for correlation in (0.0, 0.8):
        env = gym.make(
            "sci/LABO-v0",
            scenario=arguments.scenario,
            oracle="simulated",
            oracle_config={"corr": correlation},
            budget=arguments.budget,
            max_llm=max_llm,
        )
        maximise = env.unwrapped.scenario.maximise
        rng = np.random.default_rng(0)
        regrets = [ask_first(rng, env, arguments.candidates, maximise) for _ in range(episodes)]
        print(f"  asking a predictor of correlation {correlation:.1f}  {np.mean(regrets):.3f}")
        env.close()


if __name__ == "__main__":
    main()
