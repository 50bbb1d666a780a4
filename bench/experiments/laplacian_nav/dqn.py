"""Stable-Baselines3's DQN with hindsight goals, at the same number of environment steps as the tabular learners."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.laplacian_nav.trials import checkpoints, goals_and_starts, learned, scores
from scisuite.core import Budget
from scisuite.scenarios.nav import GridWorld, NavScenario


def warm_up() -> None:
    """Import the engines before a cell's clock starts."""
    import stable_baselines3.her  # noqa: F401

    import scisuite.envs
    import scisuite.solvers.laplacian_nav.rollout  # noqa: F401


def dqn_her(
    scenario: NavScenario, seed: int, budget: Budget, *, gamma: float = 0.97, learning_rate: float = 1e-3
) -> Outcome:
    """Train on the seed's layout with random starts and goals; score the greedy policy as the other learners are.

    The environment gives positions, the reward is sparse, and four of five transitions are relabelled.
    """
    import gymnasium as gym
    from stable_baselines3 import DQN, HerReplayBuffer
    from stable_baselines3.common.callbacks import BaseCallback

    import scisuite.envs  # noqa: F401  (registers the id)
    from scisuite.agents.sb3.randomness import global_generators

    marks = checkpoints(budget)
    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    env = gym.make("sci/LaplacianNav-v0", world=scenario.id, layout_seed=seed, obs="xy")
    observed = _observations(env, world, goals, seed)
    found: dict[int, dict[str, float]] = {}

    class Scoring(BaseCallback):
        """Scores the model at the checkpoints, in one run: several would each begin to explore anew."""

        def _on_step(self) -> bool:
            if self.num_timesteps in marks:
                actions = _greedy(self.model, observed, world.n)
                found[self.num_timesteps] = scores(actions, world, goals, starts)
            return True

    with global_generators():
        model = DQN(
            "MultiInputPolicy",
            env,
            seed=seed,
            device="cpu",
            gamma=gamma,
            learning_rate=learning_rate,
            replay_buffer_class=HerReplayBuffer,
            replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
            buffer_size=max(budget.count, 1_000),
            learning_starts=min(1_000, budget.count // 2),
            batch_size=256,
            train_freq=1,
            target_update_interval=500,
            exploration_fraction=0.5,
            exploration_final_eps=0.1,
            policy_kwargs={"net_arch": [128, 128]},
        )
        model.learn(budget.count, callback=Scoring())
    env.close()
    return learned(found)


def _observations(env: Any, world: GridWorld, goals: NDArray[np.int64], seed: int) -> dict[str, NDArray[np.float32]]:
    """What the environment shows in each state for each goal, (g n, …): asked of it, so that it is what it trains on.

    A start must not be its goal, so that the row of a goal itself is that of another state, and never used.
    """
    seen = []
    for goal in goals:
        for here in range(world.n):
            start = here if here != goal else (here + 1) % world.n
            options = {"start_cell": world.cell(start), "goal_cell": world.cell(int(goal))}
            seen.append(env.reset(seed=seed, options=options)[0])
    return {name: np.stack([each[name] for each in seen]) for name in seen[0]}


def _greedy(model: Any, observed: dict[str, NDArray[np.float32]], n: int) -> NDArray[np.int64]:
    """int64 (n, g): the greedy action in each state for each goal."""
    actions, _ = model.predict(observed, deterministic=True)
    return np.asarray(actions, dtype=np.int64).reshape(-1, n).T
