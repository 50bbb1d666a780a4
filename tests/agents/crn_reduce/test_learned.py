"""MaskablePPO: what the policy reads, training, and a saved model as an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite import agents
from scisuite.agents import check_agent, run_episode
from scisuite.core import InvalidInput

pytest.importorskip("stable_baselines3", reason="needs the extra rl")
pytest.importorskip("sb3_contrib", reason="needs the extra rl")

ENV = "sci/CRNReduce-v0"
SMALL: dict[str, Any] = {"scenario": "factor_graphs/planning_small", "max_sites": 12, "verify": "never"}


@pytest.mark.parametrize("caps", [{}, {"max_table": 16, "max_molecularity": 3}, {"max_table": 10**6}])
def test_the_policy_reads_masks_rewards_and_variables_from_observations(caps: dict[str, int]) -> None:
    from scisuite.agents.crn_reduce.site_features import N_KINDS, as_batch, site_features

    env: Any = gym.make(ENV, max_sites=24, verify="never", **caps).unwrapped
    rng = np.random.default_rng(0)
    for seed in range(4):
        observation, over = env.reset(seed=seed)[0], False
        while not over:
            sites = site_features(as_batch(observation), env.board.max_table)
            mask = env.action_masks()
            assert np.array_equal(sites.legal[0].numpy(), mask)
            for action, move in env.actions.items():
                kind, reward, values = (
                    float(sites.features[0, action, i]) for i in (move.kind, N_KINDS + 1, N_KINDS + 4)
                )
                saved = (env.board.size - env.board.after(move).size) / env.board.size
                assert kind == 1.0
                assert reward / 5 == pytest.approx(saved, abs=1e-5)
                assert values * 4 == pytest.approx(env.board.card[move.variable])
            mask[-1] = mask.sum() == 1
            observation, _, over, _, _ = env.step(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("site_policy", [True, False])
def test_training_saves_a_model_that_keeps_the_contract_of_an_agent(tmp_path: Path, site_policy: bool) -> None:
    from scisuite.agents.crn_reduce.training import train_maskable_ppo

    config: dict[str, Any] = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "copies": 2, "site_policy": site_policy}
    models = [
        train_maskable_ppo(SMALL["scenario"], 32, seed, max_sites=12, out=tmp_path / f"{i}.zip", **config)
        for i, seed in enumerate((0, 0, 1))
    ]
    weights = [np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()]) for model in models]
    assert np.array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])
    check_agent(agents.make("crn_reduce/maskable_ppo", path=str(tmp_path / "0.zip")), ENV, **SMALL)
    agent = agents.make("crn_reduce/maskable_ppo", path=str(tmp_path / "0.zip"))
    with pytest.raises(InvalidInput, match="was trained with observation_space"):
        agent.bind(gym.make(ENV, **{**SMALL, "max_sites": 8}))
    with pytest.raises(InvalidInput, match="the agent 'maskable_ppo' acts in sci/CRNReduce-v0, not in"):
        agent.bind(gym.make("sci/LaplacianNav-v0"))


def test_the_order_of_sites_does_not_matter_to_the_policy() -> None:
    import torch

    from scisuite.agents.crn_reduce.policy import SiteNetwork
    from scisuite.agents.crn_reduce.site_features import N_FEATURES, N_KINDS

    network = SiteNetwork(9, 16)
    given = torch.rand(3, 9, N_FEATURES)
    given[..., N_KINDS] = (given[..., N_KINDS] > 0.5).float()
    given[:, -1, N_KINDS] = 1.0
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    scores, board = network(given.flatten(1))
    shuffled, same = network(given[:, order].flatten(1))
    assert torch.allclose(shuffled, scores[:, order], atol=1e-6)
    assert torch.allclose(board, same, atol=1e-6)


@pytest.mark.slow
def test_sb3s_own_command_trains_and_its_folder_is_an_agent(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra rl")
    from scisuite.agents.sb3 import train

    summary = train(ENV, algo="maskable-ppo", timesteps=64, out=tmp_path / "run", env_kwargs=SMALL, eval_every=0)
    assert summary["status"] == "done"
    agent = agents.make("crn_reduce/maskable_ppo", path=str(tmp_path / "run"))
    env = gym.make(ENV, **SMALL)
    agent.bind(env)
    assert run_episode(env, agent, seed=0).rewards[-1] > -1.0


def test_refused(tmp_path: Path) -> None:
    from scisuite.agents.crn_reduce.training import train_maskable_ppo

    with pytest.raises(InvalidInput, match="steps must be a positive whole number, not 0"):
        train_maskable_ppo(steps=0)
    with pytest.raises(InvalidInput, match="copies must be a positive whole number, not 1.5"):
        train_maskable_ppo(copies=1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="no model at"):
        agents.make("crn_reduce/maskable_ppo", path=str(tmp_path))
