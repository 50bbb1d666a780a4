"""Accounting, rewards, observations and the end of an episode of sci/LABO-v0 and its flat twin."""

from __future__ import annotations

import copy
import math
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

import scisuite.envs  # noqa: F401
from scisuite import scenarios
from scisuite.core import InvalidInput
from scisuite.envs.errors import EpisodeOver
from scisuite.solvers.labo.oracles import RandomOracle, SimulatedOracle

PERFECT = {"corr": 1.0, "gain": 1.0, "offset": 0.0, "noise": 0.0}
LLM, REAL = 0, 1


@pytest.fixture(scope="module")
def branin() -> Any:
    return scenarios.make("branin")


def make(scenario: Any = "branin", id: str = "sci/LABO-v0", **kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make(id, scenario=scenario, **kwargs)


def ask(env: gym.Env[Any, Any], x: Any, source: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
    return env.step({"x": x, "source": source})


def test_both_sources_answer(branin: Any) -> None:
    env = make(oracle_config=PERFECT, budget=3, max_llm=5)
    observation, info = env.reset(seed=0)
    assert info["source"] == "none"
    assert "value" not in info
    assert (info["regret"], info["best_value"], info["best_x"]) == (1.0, branin.median, {})
    assert not any(observation[name].any() for name in ("D_L", "D_R", "mask_L", "mask_R"))

    observation, reward, _, _, info = ask(env, 11, LLM)
    truth = float(branin.pool_values[11])
    assert info["value"] == pytest.approx(truth)
    assert reward == pytest.approx(-0.002 * 0.01)
    assert observation["mask_L"].tolist() == [1, 0, 0, 0, 0]
    assert not observation["mask_R"].any(), "asking the predictor is no experiment"
    assert observation["D_L"][0, :-1] == pytest.approx(branin.pool[11].astype(np.float32))
    low, high = branin.value_range
    assert observation["D_L"][0, -1] == pytest.approx((truth - low) / (high - low), abs=1e-6)

    observation, _, _, _, info = ask(env, 12, REAL)
    assert info["value"] == float(branin.pool_values[12])
    assert observation["mask_R"].tolist() == [1, 0, 0]
    assert observation["mask_L"].sum() == 1, "an experiment does not reveal the predictor's answer"
    assert observation["real_left"][0] == pytest.approx(2 / 3)
    assert observation["llm_left"][0] == pytest.approx(4 / 5)
    assert (info["spent"], info["n_real"], info["n_llm"]) == (pytest.approx(1.01), 1, 1)


@pytest.mark.parametrize("scenario", ["hartmann3", "branin", "photo_pce10"])
def test_rewards_follow_the_direction_of_the_scenario(scenario: str) -> None:
    world = scenarios.make(scenario)
    order = np.argsort(world.pool_values)
    best, worst = (order[-1], order[0]) if world.maximise else (order[0], order[-1])
    env = make(scenario, cost_weight=0.0)
    env.reset(seed=0)
    assert ask(env, int(worst), REAL)[1] == 0.0
    _, reward, _, _, info = ask(env, int(best), REAL)
    assert reward == pytest.approx(1.0)
    assert info["regret"] == pytest.approx(0.0)
    assert info["best_value"] == world.optimum
    assert info["best_x"] == world.space.decode(world.pool[[best]])[0]
    assert info["units"]["value"] == world.unit
    assert info["units"]["cost"] == "real evaluations"


def test_the_unit_of_cost_says_what_a_real_evaluation_costs():
    _, info = make("hartmann3", cost_real=2.5).reset(seed=0)
    assert info["units"]["cost"] == "a currency in which a real evaluation costs 2.5"


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**31),
    budget=st.integers(1, 8),
    max_llm=st.integers(1, 8),
    weight=st.floats(0, 1),
    fail_rate=st.sampled_from([0.0, 0.3, 1.0]),
    id=st.sampled_from(["sci/LABO-v0", "sci/LABOFlat-v0"]),
    continuous=st.booleans(),
)
def test_accounts_balance(
    seed: int, budget: int, max_llm: int, weight: float, fail_rate: float, id: str, continuous: bool
) -> None:
    """Counts stay within their limits, and rewards telescope to 1 − regret − weight · spent."""
    config = {"pool_size": 0} if continuous else None
    oracle = "random" if continuous else "simulated"
    oracle_config = None if continuous else {"fail_rate": fail_rate}
    env = make(
        id=id, scenario_config=config, oracle=oracle, oracle_config=oracle_config, budget=budget, max_llm=max_llm,
        cost_weight=weight, cost_real=2.0, cost_llm=0.5,
    )  # fmt: skip
    env.action_space.seed(seed)
    observation, info = env.reset(seed=seed)
    total, terminated, truncated, n_failed, steps = 0.0, False, False, 0, 0
    while not (terminated or truncated):
        previous = copy.deepcopy(observation)
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        assert observation in env.observation_space
        total += reward
        steps += 1
        refused = truncated
        n_failed += math.isnan(info["value"]) and not refused
        assert info["n_real"] <= budget
        assert info["n_llm"] <= max_llm
        assert steps == info["n_real"] + info["n_llm"] + refused
        assert info["n_failed"] == n_failed
        if refused:
            assert info["cost"] == 0.0
            assert info["n_llm"] == max_llm
            assert data_equivalence(previous, observation)
    assert terminated == (info["n_real"] == budget)
    assert info["spent"] == pytest.approx(2.0 * info["n_real"] + 0.5 * info["n_llm"])
    assert total == pytest.approx(1 - info["regret"] - weight * info["spent"], abs=1e-9)
    assert 0 <= info["regret"] <= 1


def test_terminates_at_the_budget_and_refuses_to_go_on() -> None:
    env = make(budget=2)
    env.reset(seed=0)
    assert ask(env, 0, REAL)[2:4] == (False, False)
    assert ask(env, 0, REAL)[2:4] == (True, False)
    with pytest.raises(EpisodeOver, match=r"call reset\(\)"):
        ask(env, 0, REAL)
    with pytest.raises(gym.error.ResetNeeded):
        ask(env, 0, LLM)


def test_truncates_at_the_query_after_the_last() -> None:
    env = make(max_llm=2, budget=5)
    env.reset(seed=0)
    assert [ask(env, i, LLM)[3] for i in range(2)] == [False, False]
    assert ask(env, 5, REAL)[2:4] == (False, False), "experiments go on without the predictor"
    _, reward, terminated, truncated, info = ask(env, 2, LLM)
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert math.isnan(info["value"])


@pytest.mark.parametrize("config", [None, {"pool_size": 0}])
@pytest.mark.parametrize("oracle", ["simulated", "random"])
def test_a_repeated_query_has_the_same_value_and_costs_again(config: Any, oracle: str) -> None:
    env = make(scenario_config=config, oracle=oracle)
    env.reset(seed=3)
    x = env.action_space["x"].sample()
    for source, cost in ((LLM, 0.01), (REAL, 1.0)):
        first, again = (ask(env, x, source)[4] for _ in range(2))
        assert first["value"] == again["value"]
        assert again["spent"] - first["spent"] == pytest.approx(cost)


def test_a_failed_answer_is_counted_and_masked() -> None:
    env = make(oracle_config={"fail_rate": 1.0}, max_llm=30)
    env.reset(seed=0)
    for _ in range(30):
        observation, _, _, truncated, info = ask(env, 4, LLM)
    assert not truncated
    assert math.isnan(info["value"])
    assert (info["n_llm"], info["n_failed"]) == (30, 30)
    assert not observation["mask_L"].any()
    assert observation["D_L"][0, :-1] == pytest.approx(scenarios.make("branin").pool[4].astype(np.float32))
    assert observation["D_L"][0, -1] == 0


def test_returned_arrays_are_copies() -> None:
    env = make()
    observation, _ = env.reset(seed=0)
    for rows in observation.values():
        rows.fill(1)
    observation, _, _, _, info = ask(env, 0, REAL)
    assert observation["mask_R"].sum() == 1
    info["best_x"].clear()
    info["units"]["x"].clear()
    *_, info = ask(env, 0, REAL)
    assert info["units"]["x"] == {"x1": "", "x2": ""}


def test_oracle_is_drawn_anew_for_each_episode() -> None:
    env = make(budget=1)

    def answers() -> list[float]:
        return [ask(env, i, LLM)[4]["value"] for i in range(5)]

    env.reset(seed=1)
    first = answers()
    env.reset()
    second = answers()
    env.reset(seed=1)
    assert answers() == first
    assert first != second
    env.reset(options={"oracle_seed": 5})
    chosen = answers()
    env.reset(seed=8, options={"oracle_seed": 5})
    assert answers() == chosen


def test_an_oracle_with_a_seed_stays() -> None:
    env = make(oracle_config={"seed": 3})
    values = []
    for seed in (0, 1):
        env.reset(seed=seed)
        values.append(ask(env, 9, LLM)[4]["value"])
    assert values[0] == values[1]


@pytest.mark.parametrize("oracle", [SimulatedOracle(seed=4), RandomOracle(seed=4)])
def test_objects_are_taken_as_they_are(oracle: Any, branin: Any) -> None:
    env = make(branin, oracle=oracle)
    env.reset(seed=0)
    value = ask(env, 9, LLM)[4]["value"]
    assert value == oracle.predict(branin.pool[[9]]).mean[0]


def test_a_callable_can_take_the_predictors_place(branin: Any) -> None:
    env = make(branin, oracle=lambda x: 100 * x[:, 0])
    env.reset(seed=0)
    assert ask(env, 9, LLM)[4]["value"] == pytest.approx(100 * branin.pool[9, 0])


def test_answers_are_kept_in_a_file(tmp_path: Any) -> None:
    path = tmp_path / "answers.jsonl"
    env = make(oracle="random", oracle_config={"cache": str(path)})
    env.reset(seed=0)
    value = ask(env, 9, LLM)[4]["value"]
    assert len(path.read_text().splitlines()) == 1
    env.reset(seed=1)
    assert ask(env, 9, LLM)[4]["value"] == value


def test_another_scenario_of_the_same_shape(branin: Any) -> None:
    twin = scenarios.from_arrays(1000 * branin.pool, -branin.pool_values, names=["a", "b"], maximise=True)
    env = make(branin, budget=2)
    env.reset(seed=0, options={"scenario": twin})
    assert env.unwrapped.scenario is twin
    *_, info = ask(env, 3, REAL)
    assert info["value"] == -float(branin.pool_values[3])
    assert set(info["units"]["x"]) == {"a", "b"}
    with pytest.raises(InvalidInput, match=r"has other spaces \(2000 rows of 6 columns\) than .*\(500 rows of 2"):
        env.reset(options={"scenario": "hartmann6"})
    assert env.unwrapped.scenario is twin


def test_mixed_points_are_moved_to_the_nearest_valid_one() -> None:
    mixed = scenarios.make("mixed", pool_size=0)
    env = make(mixed)
    env.reset(seed=0)
    for _ in range(5):
        observation, *_ = env.step({**env.action_space.sample(), "source": REAL})
    measured = observation["D_R"][:5, :-1].astype(np.float64)
    assert mixed.space.contains(np.round(measured, 6)).all()


def test_simplex_points_are_projected() -> None:
    blends = scenarios.make("photo_pce10")

    class Formula(type(blends)):  # type: ignore[misc]
        """The same blends without a pool."""

        def evaluate(self, x: Any) -> Any:
            return 0.1 + 0.1 * self.space.require(x)[:, 0]

    whole = copy.deepcopy(blends)
    whole.__class__ = Formula
    whole.pool, whole.optimum = None, None
    env = make(whole, oracle="random")
    env.reset(seed=0)
    for _ in range(10):
        observation, *_ = env.step({**env.action_space.sample(), "source": REAL})
    assert observation["D_R"][:10, :-1].sum(axis=1) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("config", [None, {"pool_size": 0}])
def test_flat_twin_is_the_same_world(config: Any) -> None:
    env, flat = make(scenario_config=config, budget=6), make(id="sci/LABOFlat-v0", scenario_config=config, budget=6)
    env.action_space.seed(0)
    observation, info = env.reset(seed=5)
    flat_observation, flat_info = flat.reset(seed=5)
    terminated = False
    while not terminated:
        assert np.array_equal(gym.spaces.flatten(env.observation_space, observation), flat_observation)
        assert info == flat_info
        action = env.action_space.sample()
        flat_action = np.append(action["x"], action["source"]).astype(flat.action_space.dtype)
        observation, reward, terminated, _, info = env.step(action)
        flat_observation, flat_reward, _, _, flat_info = flat.step(flat_action)
        assert reward == flat_reward


def test_flat_source_is_real_above_one_half() -> None:
    env = make(id="sci/LABOFlat-v0", scenario_config={"pool_size": 0})
    env.reset(seed=0)
    sources = [env.step(np.array([0.2, 0.3, last], np.float32))[4]["source"] for last in (0.0, 0.5, 0.51, 1.0)]
    assert sources == ["llm", "llm", "real", "real"]


@pytest.mark.parametrize(("config", "algorithm"), [(None, "PPO"), ({"pool_size": 0}, "SAC")])
def test_stable_baselines3_trains(config: Any, algorithm: str) -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_checker import check_env

    env = make(id="sci/LABOFlat-v0", scenario_config=config, budget=8, max_llm=20)
    check_env(env.unwrapped)
    extra = {"n_steps": 32, "batch_size": 32, "n_epochs": 1} if algorithm == "PPO" else {"learning_starts": 16}
    model = getattr(sb3, algorithm)("MlpPolicy", env, seed=0, device="cpu", **extra).learn(64)
    assert model.num_timesteps == 64
    action, _ = model.predict(env.reset(seed=0)[0])
    assert action in env.action_space
