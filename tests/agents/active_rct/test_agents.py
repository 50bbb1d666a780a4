"""Policies in sci/ActiveRCT-v0: the contract, what they choose, and what they refuse."""

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
from scisuite.solvers.active_rct.scores import score_pool

ENV = "sci/ActiveRCT-v0"
SMALL: dict[str, Any] = {
    "data": "linear",
    "budget": 25,
    "batch": 10,
    "data_config": {"n_pool": 80, "n_observational": 60, "n_validation": 30, "n_test": 30},
}
BY_WEIGHTS = ("full", "uncertainty", "discrepancy", "overlap", "random", "leverage")
BY_INDEX = ("d_optimal", "effect_greedy", "causal_bald_style")


def batches(name: str, seed: int = 0, config: dict[str, Any] | None = None, **arguments: Any) -> list[list[int]]:
    """The batches of an episode; every named unit must have been taken as it was named."""
    env = gym.make(ENV, **{**SMALL, **arguments})
    agent = agents.make(f"active_rct/{name}", **(config or {}))
    agent.bind(env)
    infos = run_episode(env, agent, seed=seed).infos[1:]
    assert all(info["replaced"] == 0 for info in infos)
    return [info["units"] for info in infos]


@pytest.mark.parametrize("action", ["weights", "index"])
@pytest.mark.parametrize("name", BY_WEIGHTS + BY_INDEX)
def test_contract(name: str, action: str) -> None:
    if action == "weights" and name in BY_INDEX:
        with pytest.raises(InvalidInput, match=f"the agent '{name}' names units: it needs action=\"index\""):
            agents.make(f"active_rct/{name}").bind(gym.make(ENV, **SMALL))
    else:
        check_agent(f"active_rct/{name}", action=action, **SMALL)


@pytest.mark.parametrize("name", ["full", "uncertainty", "discrepancy", "overlap", "leverage"])
def test_by_weights_and_by_index_they_choose_the_same(name: str) -> None:
    for one, other in zip(batches(name), batches(name, action="index"), strict=True):
        assert set(one) == set(other)


def test_leverage_of_another_learner_is_that_of_a_model_with_an_intercept() -> None:
    env = gym.make(ENV, **SMALL)
    env.reset(seed=0)
    phi = np.column_stack([np.ones(80), env.unwrapped.loop.pool])
    first, second, _ = batches("leverage", action="index", learner="linear_log")
    assert first == np.argsort(-(phi**2).sum(axis=1))[:10].tolist()
    leverage = np.einsum("ij,jk,ik->i", phi, np.linalg.inv(np.eye(9) + phi[first].T @ phi[first]), phi)
    leverage[first] = 0
    assert second == np.argsort(-leverage)[:10].tolist()
    with pytest.raises(InvalidInput, match='needs action="index" or learner="linear"'):
        batches("leverage", learner="linear_log")


def test_score_takes_the_top() -> None:
    env = gym.make(ENV, action="index", **SMALL)
    agent = agents.make("active_rct/full", weights=(1.0, 0.5, 0.25))
    agent.bind(env)
    observation, info = env.reset(seed=0)
    agent.reset(seed=0)
    score = score_pool(*env.unwrapped.terms, (1.0, 0.5, 0.25))
    assert agent.act(observation, info).tolist() == np.argsort(-score)[:10].tolist()


def test_d_optimal_enlarges_the_determinant_more_than_leverage_and_chance() -> None:
    env = gym.make(ENV, **SMALL)
    env.reset(seed=0)
    pool = env.unwrapped.loop.pool

    def determinant(name: str) -> float:
        x = pool[np.concatenate(batches(name, action="index"))]
        return float(np.linalg.slogdet(np.eye(x.shape[1]) + x.T @ x)[1])

    assert determinant("d_optimal") > determinant("leverage") > determinant("random")
    # One unit after the other: the first is the one of the largest leverage, the second takes it into account.
    first, second = batches("d_optimal", action="index")[0][:2]
    assert first == int((pool**2).sum(axis=1).argmax())
    V = np.linalg.inv(np.eye(8) + np.outer(pool[first], pool[first]))
    leverage = np.einsum("ij,jk,ik->i", pool, V, pool)
    leverage[first] = 0
    assert second == int(leverage.argmax())


def test_effect_greedy_goes_round_and_then_follows_the_effect() -> None:
    sizes = {"n_pool": 400, "n_observational": 60, "n_held_out": 30}
    env = gym.make(ENV, action="index", data="segments", data_config=sizes, budget=160, batch=20)
    agent = agents.make("active_rct/effect_greedy", exploration=0.0)
    agent.bind(env)
    run_episode(env, agent, seed=0, max_steps=1)
    pool, first = env.unwrapped.loop.pool, env.unwrapped.loop.history[0].units
    assert np.argmax(pool[first[:8]], axis=1).tolist() == [0, 1, 2, 3] * 2
    infos = run_episode(env, agent, seed=0, options={"instance_seed": 4}).infos
    segment = np.argmax(env.unwrapped.loop.pool[infos[-1]["units"]], axis=1)
    assert np.bincount(segment, minlength=4).max() == 20
    # Exploring alone is a random design.
    random = batches("effect_greedy", config={"turns": 0, "exploration": 1.0}, action="index")
    assert random != batches("effect_greedy", config={"turns": 0, "exploration": 0.0}, action="index")


def test_bald_style_prefers_overlap() -> None:
    env = gym.make(ENV, action="index", **{**SMALL, "data_config": {**SMALL["data_config"], "n_pool": 2000}})
    means = {}
    for temperature in (0.5, 1e6):
        agent = agents.make("active_rct/causal_bald_style", temperature=temperature)
        agent.bind(env)
        observation, info = env.reset(seed=1)
        _, _, o = env.unwrapped.terms
        chosen = []
        for seed in range(10):
            agent.reset(seed=seed)
            chosen += agent.act(observation, info).tolist()
        means[temperature] = o[chosen].mean()
    # Nearly uniform where the temperature is high.
    assert means[0.5] < means[1e6] - 0.1
    assert abs(means[1e6] - o.mean()) < 0.12


def test_units_beyond_what_can_be_named_are_left_alone() -> None:
    env = gym.make(ENV, action="index", **SMALL)
    from scisuite.scenarios.trials import TrialScenario

    larger = TrialScenario("linear", **{**SMALL["data_config"], "n_pool": 300})
    for name in (*BY_WEIGHTS, *BY_INDEX):
        agent = agents.make(f"active_rct/{name}")
        agent.bind(env)
        infos = run_episode(env, agent, seed=0, options={"data": larger}).infos[1:]
        assert max(unit for info in infos for unit in info["units"]) < 80
        assert all(info["replaced"] == 0 for info in infos)


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("full", {"weights": (0, 0, 0)}, "weights must not be negative, nor all zero"),
        ("full", {"weights": (1, 2, 0)}, r"weights must be in \[0, 1\]"),
        ("effect_greedy", {"turns": -1}, "turns must be a whole number from 0, not -1"),
        ("effect_greedy", {"exploration": 1.5}, r"exploration must be in \[0, 1\], not 1.5"),
        ("causal_bald_style", {"temperature": 0}, "temperature must be above zero, not 0"),
    ],
)
def test_refused(name: str, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        agents.make(f"active_rct/{name}", **config)


def test_refuses_other_environments_and_acting_too_early() -> None:
    agent = agents.make("active_rct/full")
    with pytest.raises(InvalidInput, match="not bound"):
        agent.reset(seed=0)
    with pytest.raises(InvalidInput, match="has not begun an episode"):
        agent.act(None, {})
    with pytest.raises(InvalidInput, match="the agent 'score' acts in sci/ActiveRCT-v0, not in"):
        agent.bind(gym.make("sci/LaplacianNav-v0"))


@pytest.mark.slow
def test_ppo_trains_over_the_weights_and_its_folder_is_an_agent(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra rl")
    from scisuite.agents.sb3 import train

    summary = train(ENV, algo="ppo", timesteps=64, out=tmp_path / "run", env_kwargs=SMALL, eval_every=0)
    assert summary["status"] == "done"
    check_agent(agents.make("active_rct/ppo", path=str(tmp_path / "run")), ENV, **SMALL)
