"""sci/ActiveRCT-v0: observations, batches, rewards, what is held out, and what is refused."""

from __future__ import annotations

import json
import pickle
import warnings
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from hypothesis import given, settings
from hypothesis import strategies as st

import scisuite.envs
from scisuite.core import InvalidInput
from scisuite.envs.active_rct.env import ActiveRCTEnv
from scisuite.envs.errors import EpisodeOver
from scisuite.scenarios.trials import TrialScenario, pehe, qini
from scisuite.solvers.active_rct.scores import score_pool

SMALL: dict[str, Any] = {"n_pool": 60, "n_observational": 50}
ALL = np.ones(3, np.float32)


def make(data: Any = "linear", **arguments: Any) -> Any:
    sizes = {"data_config": SMALL} if isinstance(data, str) else {}
    return gym.make("sci/ActiveRCT-v0", **{"data": data, "budget": 25, "batch": 10, **sizes, **arguments}).unwrapped


def played(env: Any, seed: int = 0, action: Any = ALL, **options: Any) -> list[tuple[Any, float, dict[str, Any]]]:
    observation, info = env.reset(seed=seed, options=options or None)
    rows, over = [(observation, 0.0, info)], False
    while not over:
        observation, reward, over, _, info = env.step(action)
        rows.append((observation, reward, info))
    return rows


def test_observation() -> None:
    env = make()
    observation, info = env.reset(seed=0)
    assert observation[[0, 1, 17, 18]].tolist() == [0, 0, 0, 0]
    assert observation[19] == np.float32(info["value"])
    observation, _, _, _, info = env.step(ALL)
    v, d, o = env.terms
    assert len(v) == len(env.loop.left) == 50
    expected = [1 / 3, 10 / 25, *(np.quantile(term, q) for term in (v, d, o) for q in (0.1, 0.25, 0.5, 0.75, 0.9))]
    expected += [np.mean(info["t"]), 10 / 60, info["value"]]
    assert np.allclose(observation, expected, rtol=1e-6)
    assert np.allclose(v, env.loop.learner.cate.leverage(env.loop.pool[env.loop.left]))


def test_rewards_add_up_to_the_fall_of_pehe_on_the_validation_slice() -> None:
    env = make("linear_t4")
    rows = played(env)
    slice_ = env._trial.validation
    assert rows[0][2]["value"] == pytest.approx(pehe(np.zeros(len(slice_)), slice_.tau))
    assert rows[-1][2]["value"] == pytest.approx(pehe(env.loop.learner.effect(slice_.x), slice_.tau))
    assert sum(row[1] for row in rows) == pytest.approx(rows[0][2]["value"] - rows[-1][2]["value"])
    assert [row[2]["spent"] for row in rows] == [0, 10, 20, 25]
    assert [row[2]["left"] for row in rows] == [25, 15, 5, 0]
    assert rows[-1][2]["metric"] == "pehe"


def test_a_replay_is_judged_by_qini_and_invents_nothing(replay: Any) -> None:
    trial = replay()
    env = make(trial)
    rows = played(env)
    assert rows[-1][2]["metric"] == "qini"
    assert rows[0][2]["value"] == 0
    assert sum(row[1] for row in rows) == pytest.approx(rows[-1][2]["value"])
    assert rows[-1][2]["value"] == pytest.approx(
        qini(env.loop.learner.effect(trial.validation.x), trial.validation.t, trial.validation.y)
    )
    for _, _, info in rows[1:]:
        assert info["p"] == [0.25] * len(info["units"])
        assert info["t"] == trial.pool.t[info["units"]].tolist()
        assert info["y"] == trial.pool.y[info["units"]].tolist()
    assert sorted(env.evaluate()) == ["n_used", "policy_value", "qini"]


def test_continuous_outcomes_without_known_effects_are_judged_by_cumulative_gain(replay: Any) -> None:
    env = make(replay(binary=False))
    rows = played(env)
    assert rows[-1][2]["metric"] == "cumulative_gain"
    assert sum(row[1] for row in rows) == pytest.approx(rows[-1][2]["value"])
    assert sorted(env.evaluate()) == ["cumulative_gain", "n_used", "policy_value"]


def test_weights_choose_what_scores_highest() -> None:
    env = make()
    env.reset(seed=0)
    env.step(ALL)
    weights = np.array([1.0, 0.25, 0.5], np.float32)
    left, score = env.loop.left, score_pool(*env.terms, weights)
    units = env.step(weights)[4]["units"]
    assert set(units) == set(left[np.argsort(-score)[:10]].tolist())


def test_no_weight_at_all_is_a_random_batch() -> None:
    env = make("segments")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batches = {tuple(played(env, seed, np.zeros(3, np.float32))[1][2]["units"]) for seed in range(3)}
    assert len(batches) == 3


def test_constant_scores_warn_and_are_drawn() -> None:
    env = make("segments")
    env.reset(seed=0)
    with pytest.warns(RuntimeWarning, match="all scores are equal"):
        units = env.step(np.array([1, 0, 0], np.float32))[4]["units"]
    env.reset(seed=0)
    with pytest.warns(RuntimeWarning, match="all scores are equal"):
        assert env.step(np.array([1, 0, 0], np.float32))[4]["units"] == units


def test_the_test_slice_enters_evaluate_alone() -> None:
    trial = TrialScenario("linear", **SMALL).trial(0)
    rng = np.random.default_rng(0)
    test = replace(trial.test, x=rng.permutation(trial.test.x), tau=rng.permutation(trial.test.tau))
    envs = [make(trial, p_rule="adaptive"), make(replace(trial, test=test), p_rule="adaptive")]
    first, second = (played(env, action=np.array([1, 0.5, 0], np.float32)) for env in envs)
    assert data_equivalence(first, second)
    assert envs[0].evaluate()["pehe"] != pytest.approx(envs[1].evaluate()["pehe"], rel=1e-3)
    assert sorted(envs[0].evaluate()) == ["coverage", "n_used", "pehe", "width"]
    figures = make(trial)
    figures.reset(seed=0)
    assert figures.evaluate() == {"pehe": pytest.approx(pehe(np.zeros(4000), trial.test.tau)), "n_used": 0.0}


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), budget=st.integers(1, 60), batch=st.integers(1, 30), index=st.booleans())
def test_no_unit_twice_and_the_budget_to_the_unit(seed: int, budget: int, batch: int, index: bool) -> None:
    batch = min(batch, budget)
    env = make(
        "linear", budget=budget, batch=batch, action="index" if index else "weights", p_rule="adaptive",
        p_bounds=(0.3, 0.6), learner_config={"lam": 0.5},
        data_config={**SMALL, "n_validation": 30, "n_test": 30},
    )  # fmt: skip
    env.action_space.seed(seed)
    env.reset(seed=seed)
    units: list[int] = []
    over = False
    while not over:
        observation, _, over, _, info = env.step(env.action_space.sample())
        assert observation in env.observation_space
        assert len(info["units"]) == min(batch, budget - len(units))
        assert info["p"] == env.loop.history[-1].p.tolist()
        assert 0.3 <= min(info["p"]) <= max(info["p"]) <= 0.6
        units += info["units"]
    assert len(units) == len(set(units)) == budget == info["spent"]
    assert json.loads(json.dumps(info)) == info


def test_named_units() -> None:
    env = make(action="index", budget=8, batch=5)
    observation, _ = env.reset(seed=0)
    assert observation["mask"].tolist() == [1] * 60
    observation, _, _, _, info = env.step(np.array([7, 3, 7, 9, 3]))
    assert info["replaced"] == 2
    assert [info["units"][place] for place in (0, 1, 3)] == [7, 3, 9]
    assert np.flatnonzero(observation["mask"] == 0).tolist() == sorted(info["units"])
    assert not observation["ranks"][info["units"]].any()
    left = env.loop.left
    assert np.allclose(np.sort(observation["ranks"][left, 0]), np.arange(1, 56) / 55)
    free = left[:4]
    _, _, over, _, info = env.step(np.array([7, *free]))
    assert (info["replaced"], len(info["units"]), over) == (1, 3, True)
    assert info["units"][1:] == free[:2].tolist()


def test_pools_of_other_sizes_fit_into_the_same_spaces(replay: Any) -> None:
    env = make(replay(), action="index", batch=5, budget=10)
    for n in (80, 200):
        observation, _ = env.reset(seed=0, options={"data": replay(1, n=n)})
        assert observation in env.observation_space
        assert observation["mask"].sum() == min(n, 120)
        info = env.step(np.arange(78, 83))[4]
        assert info["replaced"] == (3 if n == 80 else 0)


def test_the_whole_pool_may_be_spent() -> None:
    env = make(budget=60, batch=30)
    observation, _, info = played(env)[-1]
    assert (info["spent"], len(env.loop.left)) == (60, 0)
    assert not observation[2:17].any()


def test_instance_seed_and_data() -> None:
    env = make()
    one, info = env.reset(seed=3, options={"instance_seed": 5})
    assert info["instance_seed"] == 5
    assert np.array_equal(one, env.reset(options={"instance_seed": 5})[0])
    assert env.reset()[1]["instance_seed"] != env.reset()[1]["instance_seed"]
    assert env.reset(options={"data": "segments"})[1]["data"] == env.reset()[1]["data"] == "segments"
    fixed = make(instance_seed=5)
    assert np.array_equal(fixed.reset(seed=0)[0], one)
    assert np.array_equal(fixed.reset(seed=1)[0], one)
    # The same units; whom chance treats differs.
    treated = [row[1][2]["t"] for row in (played(fixed, 0), played(fixed, 1))]
    assert treated[0] != treated[1]


def test_learners_to_compare_with() -> None:
    log, pooled, linear = (make(learner=name) for name in ("linear_log", "linear_pooled", "linear"))
    rows = played(log)
    assert [row[1] for row in rows] == [0.0] * 4
    assert sorted(log.evaluate()) == ["n_used", "pehe"]
    assert played(pooled)[0][2]["value"] == rows[0][2]["value"] != played(linear)[0][2]["value"]
    assert any(row[1] for row in played(pooled))


def test_contract_of_named_units_and_of_a_replay(replay: Any) -> None:
    sizes = {**SMALL, "n_held_out": 60}
    kwargs: dict[str, Any] = {"slow": False, "steps": 6, "budget": 13, "batch": 5}
    scisuite.envs.check_env("sci/ActiveRCT-v0", action="index", data="segments", data_config=sizes, **kwargs)
    scisuite.envs.check_env("sci/ActiveRCT-v0", data=replay(), **kwargs)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget must be a whole number of at least 1, not 0"),
        ({"batch": 2.0}, "batch must be a whole number of at least 1, not 2.0"),
        ({"batch": 61}, "the batch of 61 units exceeds the pool of linear, 60 units"),
        ({"budget": 61}, "the budget of 61 units exceeds the pool of linear, 60 units"),
        ({"action": "units"}, "action must be one of 'weights', 'index', not 'units'"),
        ({"learner": "liner"}, "unknown learner 'liner'; did you mean 'linear'"),
        ({"learner_config": {"lam": 0.0}}, "lam must be a finite number above zero, not 0.0"),
        ({"learner_config": "lam"}, "learner_config must be a mapping or None, not str"),
        ({"p_rule": "greedy"}, "p_rule must be fixed or adaptive, not 'greedy'"),
        ({"p_bounds": (0.0, 0.8)}, r"p_bounds must be in \(0, 1\) and hold ½ between them"),
        ({"p_bounds": 0.5}, "p_bounds must be two probabilities, not 0.5"),
        ({"render_mode": "ansi"}, "render_mode must be None or 'rgb_array', not 'ansi'"),
        ({"data": "lineer", "data_config": None}, "did you mean 'trials/linear'"),
        ({"data": "factor_graphs/hmm", "data_config": None}, "data 'factor_graphs/hmm' is no trial"),
        ({"data": 3, "data_config": None}, "data is an id, a TrialScenario or a Trial, not int"),
        ({"data": TrialScenario("segments"), "data_config": SMALL}, "data_config is for a trial that is named by its"),
        ({"data_config": 3}, "data_config must be a mapping or None, not int"),
        ({"instance_seed": -1}, "instance_seed"),
    ],
)
def test_refused_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make(**arguments)


def test_a_log_of_one_arm_is_refused(replay: Any) -> None:
    trial = replay()
    log = replace(trial.observational, t=np.ones(80, dtype=int))
    with pytest.raises(InvalidInput, match="the log has no untreated unit to learn outcomes from"):
        make(replace(trial, observational=log))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"instance": 3}, "unknown option 'instance'; did you mean 'instance_seed'"),
        ({"instance_seed": 1.5}, "instance_seed"),
        ({"data": "acic"}, "acic16"),
        ([1], "options must be a mapping, not list"),
    ],
)
def test_refused_options_change_nothing(options: Any, message: str) -> None:
    env, other = make(), make()
    for each in (env, other):
        each.reset(seed=0)
    with pytest.raises(InvalidInput, match=message):
        env.reset(seed=1, options=options)
    assert data_equivalence(env.step(ALL), other.step(ALL))
    assert data_equivalence(env.reset(), other.reset())


def test_a_trial_too_small_for_the_budget_is_refused_and_changes_nothing(replay: Any) -> None:
    env, other = make(), make()
    for each in (env, other):
        each.reset(seed=0)
    with pytest.raises(InvalidInput, match="the budget of 25 units exceeds the pool of small, 20 units"):
        env.reset(seed=1, options={"data": replay(n=20)})
    assert data_equivalence(env.step(ALL), other.step(ALL))


@pytest.mark.parametrize(
    ("mode", "action", "message"),
    [
        ("weights", [0.5, 0.5], r"three weights in \[0, 1\]"),
        ("weights", ["a", "b", "c"], r"three weights in \[0, 1\]"),
        ("weights", None, r"three weights in \[0, 1\]"),
        ("index", np.zeros(10), "10 whole numbers from 0 to 59"),
        ("index", [60] * 10, "10 whole numbers from 0 to 59"),
        ("index", 3, "10 whole numbers from 0 to 59"),
    ],
)
def test_refused_actions(mode: str, action: Any, message: str) -> None:
    env = make(action=mode)
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match=message):
        env.step(action)


def test_before_reset() -> None:
    env = make()
    for look in (lambda: env.loop, env.evaluate, lambda: env.step(ALL)):
        with pytest.raises(EpisodeOver):
            look()


def test_intervals_where_some_covariates_hardly_ever_vary_are_no_nan() -> None:
    pytest.importorskip("causallib", reason="needs the extra trials")
    env = make("acic16", budget=200, batch=100, data_config=None)
    played(env)
    figures = env.evaluate()
    assert figures["width"] == np.inf  # of what is never seen nothing is known
    assert not np.isnan(list(figures.values())).any()
    assert figures["coverage"] > 0.8


@pytest.mark.parametrize(
    ("learner", "package", "config"),
    [
        ("linear", "numpy", {}),
        ("trees", "sklearn", {"n_trees": 3}),
        *((f"{head}_learner", "sklearn", {}) for head in ("s", "t", "x", "dr")),
        ("cfr", "torch", {"steps": 5}),
    ],
)
def test_an_episode_is_pickled_half_way(learner: str, package: str, config: dict[str, Any]) -> None:
    pytest.importorskip(package)
    sizes = {"n_pool": 60, "n_observational": 50, "n_validation": 20, "n_test": 20}
    env = ActiveRCTEnv("linear", 20, 10, learner, data_config=sizes, learner_config=config)
    env.reset(seed=0)
    env.step(np.ones(3, np.float32))
    again = pickle.loads(pickle.dumps(env))
    one, other = (each.step(np.ones(3, np.float32)) for each in (env, again))
    assert one[1] == other[1]
    assert one[4] == other[4]
