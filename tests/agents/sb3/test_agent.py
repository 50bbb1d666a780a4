from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from scisuite import agents
from scisuite.core import DamagedFile, InvalidInput, NotFitted
from scisuite.core.seeding import global_random_state_untouched

pytest.importorskip("stable_baselines3", reason="needs the extra rl")
pytest.importorskip("sb3_contrib", reason="needs the extra rl")

from scisuite.agents.sb3 import SB3Agent, train

SMALL = {"policy_kwargs": {"net_arch": [8]}}


@pytest.fixture(scope="module")
def trained(toys: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "masked"
    train("toys/Clock-v0", algo="maskable-ppo", timesteps=16, out=out, eval_every=0, algo_kwargs=SMALL, progress=False)
    return out


def act_through(agent: SB3Agent, env: gym.Env[Any, Any], seed: int) -> list[Any]:
    """Actions of three episodes, each checked against the mask it was taken under."""
    actions = []
    for episode in range(3):
        observation, info = env.reset(seed=episode)
        agent.reset(seed=seed + episode)
        over = False
        while not over:
            mask = env.get_wrapper_attr("action_masks")()
            action = agent.act(observation, info)
            assert env.action_space.contains(action)
            assert mask[action]
            actions.append(action)
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
    return actions


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_trained_model_acts(trained: Path, deterministic: bool) -> None:
    agent = agents.make("sb3/policy", path=trained, deterministic=deterministic)
    assert isinstance(agent, agents.Agent)
    assert agent.algorithm.name == "maskable-ppo"
    env = gym.make("toys/Clock-v0")
    agent.bind(env)
    with global_random_state_untouched():
        first = act_through(agent, env, seed=0)
    assert act_through(agent, env, seed=0) == first
    if not deterministic:
        drawn = [act_through(agent, env, seed=seed) for seed in range(5)]
        assert any(other != first for other in drawn)


def test_box_actions_keep_their_shape(toys: Any, tmp_path: Path) -> None:
    train("toys/Point-v0", timesteps=16, out=tmp_path, eval_every=0, algo_kwargs=SMALL, progress=False)
    env = gym.make("toys/Point-v0")
    agent = SB3Agent(tmp_path / "model.zip")
    agent.bind(env)
    episode = agents.run_episode(env, agent, seed=0)
    assert episode.length == 10
    assert all(isinstance(action, np.ndarray) and action in env.action_space for action in episode.actions)


def test_bad_input(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no model at"):
        SB3Agent(tmp_path)
    loose = tmp_path / "loose.zip"
    loose.write_bytes((trained / "model.zip").read_bytes())
    with pytest.raises(InvalidInput, match="says which algorithm it is; give algo="):
        SB3Agent(loose)
    agent = SB3Agent(loose, algo="maskable-ppo")
    with pytest.raises(NotFitted, match="bind the agent"):
        agent.act({}, {})
    with pytest.raises(InvalidInput, match="was trained with observation_space"):
        agent.bind(gym.make("toys/Point-v0"))
    loose.write_bytes(loose.read_bytes()[:200])
    with pytest.raises(DamagedFile, match="is no maskable-ppo model"):
        agent.bind(gym.make("toys/Clock-v0"))
    with pytest.raises(InvalidInput, match="needs path"):
        agents.make("sb3/policy")


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, scisuite.agents.sb3; print('torch' in sys.modules, 'stable_baselines3' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert answer.split() == ["False", "False"]
