"""What sci/LABO-v0 refuses, in which words."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import scisuite.envs  # noqa: F401
from scisuite import scenarios
from scisuite.core import InvalidInput, UnknownName


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 0}, "budget must be a whole number of at least 1, not 0"),
        ({"budget": 2.5}, "budget must be a whole number of at least 1, not 2.5"),
        ({"budget": True}, "budget must be a whole number of at least 1, not True"),
        ({"max_llm": -1}, "max_llm must be a whole number of at least 1, not -1"),
        ({"cost_real": -1.0}, "cost_real must be a finite number of at least 0, not -1.0"),
        ({"cost_llm": float("nan")}, "cost_llm must be a finite number of at least 0, not nan"),
        ({"cost_weight": "x"}, "cost_weight must be a finite number of at least 0, not 'x'"),
        ({"scenario": "hartman6"}, "unknown scenario 'hartman6'; did you mean 'functions/hartmann6'"),
        ({"scenario": 3}, "scenario must be an id or a BlackBoxScenario, not int"),
        ({"scenario_config": {"pool_sise": 3}}, "pool_sise"),
        ({"oracle": "simulatd"}, "unknown oracle 'simulatd'; did you mean 'simulated'?"),
        ({"oracle": 3}, "solver must be a fitted solver or a function, not 3"),
        ({"oracle_config": 3}, "oracle_config must be a mapping of arguments, not 3"),
        ({"oracle_config": {"corr": 1.5}}, r"corr must be in \[-1, 1\], not 1.5"),
        ({"oracle_config": {"cor": 0.5}}, "oracle 'simulated' has no argument 'cor'; did you mean 'corr'?"),
        ({"oracle_config": {"seed": 0.5}}, "seed must be a non-negative integer, not 0.5"),
    ],
)
@pytest.mark.parametrize("vectorised", [False, True])
def test_arguments(arguments: dict[str, Any], message: str, vectorised: bool) -> None:
    with pytest.raises(InvalidInput, match=message):
        if vectorised:
            gym.make_vec("sci/LABO-v0", num_envs=2, **{"scenario": "branin", **arguments})
        else:
            gym.make("sci/LABO-v0", **{"scenario": "branin", **arguments})


def test_unknown_scenario_is_an_unknown_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'materials/photo_pce10'"):
        gym.make("sci/LABO-v0", scenario="photo_pce1O")


def test_objects_take_no_configuration() -> None:
    from scisuite.solvers.labo.oracles import RandomOracle

    with pytest.raises(InvalidInput, match="scenario_config is for a scenario given by its id"):
        gym.make("sci/LABO-v0", scenario=scenarios.make("branin"), scenario_config={"pool_size": 9})
    with pytest.raises(InvalidInput, match="takes no configuration: seed"):
        gym.make("sci/LABO-v0", scenario="branin", oracle=RandomOracle(), oracle_config={"seed": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seed": -1}, r"seed must be in \[0, 2\*\*63\), not -1"),
        ({"seed": 1.5}, "seed must be a non-negative integer, not 1.5"),
        ({"seed": "1"}, "seed must be a non-negative integer, not '1'"),
        ({"options": {"oracle_sed": 1}}, "unknown option 'oracle_sed'; did you mean 'oracle_seed'?"),
        ({"options": {"oracle_seed": "x"}}, "seed must be a non-negative integer, not 'x'"),
    ],
)
@pytest.mark.parametrize("vectorised", [False, True])
def test_reset(arguments: dict[str, Any], message: str, vectorised: bool) -> None:
    env: Any
    if vectorised:
        env = gym.make_vec("sci/LABO-v0", num_envs=2, scenario="branin")
    else:
        env = gym.make("sci/LABO-v0", scenario="branin").unwrapped
    env.reset(seed=0)
    before = copy.deepcopy(env)
    with pytest.raises(InvalidInput, match=message):
        env.reset(**arguments)
    action = {"x": np.array([4, 5]), "source": np.array([0, 1])} if vectorised else {"x": 4, "source": 0}
    assert data_equivalence(env.step(action), before.step(action))


def test_oracle_seed_needs_an_oracle_that_draws() -> None:
    class Constant:
        def bind(self, problem: Any) -> None:
            self.problem = problem

        def predict(self, x: Any) -> Any:
            from scisuite.solvers.labo.oracles import LLMPrediction

            return LLMPrediction(np.full(len(x), 7.0), None, 0)

    env = gym.make("sci/LABO-v0", scenario="branin", oracle=Constant())
    env.reset(seed=0)
    assert env.step({"x": 3, "source": 0})[4]["value"] == 7.0
    with pytest.raises(InvalidInput, match="Constant draws nothing that a seed could change"):
        env.reset(options={"oracle_seed": 3})


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ({"x": 500, "source": 0}, "x must be a row of the pool, 0 to 499, not 500"),
        ({"x": -1, "source": 0}, "x must be a row of the pool, 0 to 499, not -1"),
        ({"x": 3.0, "source": 0}, "x must be a row of the pool, 0 to 499, not 3.0"),
        ({"x": 3, "source": 2}, r"source must be 0 \(LLM\) or 1 \(real\), not 2"),
        ({"x": 3, "source": True}, r"source must be 0 \(LLM\) or 1 \(real\), not True"),
        ({"x": 3}, "an action is a mapping with 'x' and 'source'"),
        (3, "an action is a mapping with 'x' and 'source', not 3"),
    ],
)
def test_pool_actions(action: Any, message: str) -> None:
    env = gym.make("sci/LABO-v0", scenario="branin")
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match=message):
        env.step(action)
    assert env.step({"x": 0, "source": 1})[4]["n_real"] == 1


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([0.5, np.nan], r"x must be 2 numbers in \[0, 1\], not \[0.5 nan\]"),
        ([0.5, np.inf], r"x must be 2 numbers in \[0, 1\], not \[0.5 inf\]"),
        ([0.5, 1.01], r"x must be 2 numbers in \[0, 1\], not \[0.5  1.01\]"),
        ([0.5], r"x must have shape \(2,\), not \(1,\)"),
        ("here", r"x must be 2 numbers in \[0, 1\], not 'here'"),
    ],
)
def test_box_actions(x: Any, message: str) -> None:
    env = gym.make("sci/LABO-v0", scenario="branin", scenario_config={"pool_size": 0})
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match=message):
        env.step({"x": x, "source": 0})
    assert env.step({"x": np.zeros(2, np.float32), "source": 0})[4]["n_llm"] == 1


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ([0.5, 0.5], r"an action must have shape \(3,\), not \(2,\)"),
        ([0.5, 0.5, np.nan], "the last entry of an action, the source, must be in"),
        ([0.5, 0.5, 1.5], "the last entry of an action, the source, must be in"),
        ("x", r"an action is 3 numbers in \[0, 1\], not 'x'"),
    ],
)
def test_flat_box_actions(action: Any, message: str) -> None:
    env = gym.make("sci/LABOFlat-v0", scenario="branin", scenario_config={"pool_size": 0})
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match=message):
        env.step(action)


def test_flat_pool_actions() -> None:
    env = gym.make("sci/LABOFlat-v0", scenario="branin")
    env.reset(seed=0)
    with pytest.raises(InvalidInput, match=r"an action is \(pool row, source\), not 3"):
        env.step(3)
    with pytest.raises(InvalidInput, match="x must be a row of the pool"):
        env.step(np.array([500, 0]))
