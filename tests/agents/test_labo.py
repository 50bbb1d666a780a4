"""LABO and its arms as agents: the contract for every one of them, and that they are the optimisers they wrap."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("botorch")

import scisuite.envs  # noqa: F401
from scisuite import agents, scenarios
from scisuite.agents import check_agent, run_episode
from scisuite.core import InvalidInput, MissingDependency

IDS = [id for id in agents.registry.ids() if id.startswith("labo/")]
SMALL = {"scenario": "branin", "budget": 5, "max_llm": 64}
PEER = {"budget": 4, "max_llm": 56}


def test_the_arms_are_there() -> None:
    arms = "labo gate_off no_warm_start random_llm ucb ei log_ei random llm_greedy random_fidelity variance_gate"
    assert {f"labo/{arm}" for arm in [*arms.split(), "prior_mean", "mfkg"]} <= set(IDS)


@pytest.mark.parametrize("id", [id for id in IDS if id != "labo/mfkg"])
@pytest.mark.parametrize("env_id", ["sci/LABO-v0", "sci/LABOFlat-v0"])
def test_contract_on_a_pool(id: str, env_id: str) -> None:
    check_agent(id, env_id, **SMALL)


@pytest.mark.parametrize("id", ["labo/labo", "labo/log_ei", "labo/random"])
@pytest.mark.parametrize("env_id", ["sci/LABO-v0", "sci/LABOFlat-v0"])
def test_contract_on_a_continuous_space(id: str, env_id: str) -> None:
    check_agent(id, env_id, **SMALL, scenario_config={"pool_size": 0})


@pytest.mark.slow
def test_knowledge_gradient_acts() -> None:
    """Seven steps of starting points, and one that the knowledge gradient chooses."""
    agent = agents.make("labo/mfkg", n_fantasies=2, n_restarts=1, n_raw=4, n_latin=4)
    env = gym.make("sci/LABO-v0", **{**SMALL, **PEER})
    agent.bind(env)
    episode = run_episode(env, agent, seed=0, max_steps=8)
    assert all(action in env.action_space for action in episode.actions)
    assert [info["source"] for info in episode.infos[1:8]] == ["llm"] * 4 + ["real"] * 3


def test_names() -> None:
    assert agents.make("labo").strategy == "labo"
    assert agents.make("ucb", env_slug="labo").strategy == "ucb"
    assert agents.make("labo/labo", tau=0.5).config == {"tau": 0.5}


def test_the_agent_is_the_optimiser() -> None:
    """In the environment an agent does what the campaign does with the same answers outside of it."""
    from scisuite.solvers.labo import make_strategy
    from scisuite.solvers.labo.oracles import SimulatedOracle

    scenario = scenarios.make("branin")
    oracle = SimulatedOracle(seed=3).bind(scenario)
    campaign = make_strategy(
        "labo", space=scenario.space, pool=scenario.pool, maximise=False, budget=6, max_llm=64, seed=5,
        value_range=scenario.value_range,
    )  # fmt: skip
    asked = []
    while not campaign.done:
        query = campaign.ask()[0]
        asked.append((query.index, query.source))
        truth = scenario.evaluate(scenario.pool[[query.index]])[0]
        campaign.tell(query, oracle.table[query.index] if query.source == "llm" else truth)
    env = gym.make("sci/LABO-v0", scenario="branin", budget=6, max_llm=64, oracle_config={"seed": 3})
    agent = agents.make("labo/labo")
    agent.bind(env)
    episode = run_episode(env, agent, seed=5)
    assert [(int(a["x"]), "real" if a["source"] else "llm") for a in episode.actions] == asked
    assert episode.infos[-1]["best_value"] == campaign.best[1]
    assert agent.campaign.n_real == 6


def test_both_environments_see_the_same_episode() -> None:
    episodes = []
    for id in ("sci/LABO-v0", "sci/LABOFlat-v0"):
        env = gym.make(id, **SMALL)
        agent = agents.make("labo")
        agent.bind(env)
        episodes.append(run_episode(env, agent, seed=1))
    assert episodes[0].rewards == episodes[1].rewards
    assert [i["spent"] for i in episodes[0].infos] == [i["spent"] for i in episodes[1].infos]


def test_failed_answers_are_told_as_such() -> None:
    env = gym.make("sci/LABO-v0", **SMALL, oracle_config={"fail_rate": 0.3})
    agent = agents.make("labo")
    agent.bind(env)
    episode = run_episode(env, agent, seed=0)
    assert episode.infos[-1]["n_failed"] > 0
    assert agent.campaign.n_failed == episode.infos[-1]["n_failed"]
    assert agent.campaign.n_llm == episode.infos[-1]["n_llm"]


def test_never_truncated() -> None:
    """The optimiser keeps to max_llm, so that the environment never has to refuse."""
    env = gym.make("sci/LABO-v0", scenario="branin", budget=8, max_llm=54)
    agent = agents.make("labo", tau=1.0)
    agent.bind(env)
    episode = run_episode(env, agent, seed=0)
    assert episode.terminated
    assert episode.infos[-1]["n_real"] == 8


def test_refusals() -> None:
    with pytest.raises(
        InvalidInput, match=r"the agent 'ucb' acts in sci/LABO-v0 and sci/LABOFlat-v0, not in <CartPole"
    ):
        agents.make("labo/ucb").bind(gym.make("CartPole-v1"))
    agent = agents.make("labo/labo")
    with pytest.raises(InvalidInput, match=r"call bind\(env\) first"):
        agent.reset(seed=0)
    with pytest.raises(InvalidInput, match="the budget of 2 real runs is less than the 3 starting points"):
        agent.bind(gym.make("sci/LABO-v0", budget=2))
    agent.bind(gym.make("sci/LABO-v0"))
    with pytest.raises(InvalidInput, match=r"call reset\(seed="):
        agent.act(None, {})
    agent.reset(seed=0)
    with pytest.raises(InvalidInput, match="act comes before observe"):
        agent.observe(agents.Transition(None, None, 0.0, None, False, False, {}))
    with pytest.raises(InvalidInput, match="sigma"):
        agents.make("labo/labo", sigma=1.0).bind(gym.make("sci/LABO-v0"))


def test_missing_botorch(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "botorch" else real(name, *a))
    with pytest.raises(MissingDependency, match=r"needs botorch, which is not installed.*scisuite\[bo\]"):
        agents.make("labo/labo")


def test_actions_are_of_the_space() -> None:
    env: Any = gym.make("sci/LABOFlat-v0", **SMALL, scenario_config={"pool_size": 0})
    agent = agents.make("labo/random")
    agent.bind(env)
    episode = run_episode(env, agent, seed=0)
    assert all(a.dtype == np.float32 and a.shape == (3,) for a in episode.actions)


def test_uniform_draws_need_no_botorch(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *a: None)
    agents.make("labo/random")
    with pytest.raises(MissingDependency, match="needs torch"):
        agents.make("labo/ucb")
