"""The native vector form does what single environments do, step for step."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from scisuite.core import InvalidInput
from scisuite.envs import check_env
from scisuite.envs.checks import _difference, _same
from scisuite.envs.errors import EpisodeOver

IDS = ["sci/LABO-v0", "sci/LABOFlat-v0"]


def make(id: str = "sci/LABO-v0", num_envs: int = 3, mode: str = "vector_entry_point", **kwargs: Any) -> Any:
    extra = {"vector_kwargs": {"autoreset_mode": AutoresetMode.SAME_STEP}} if mode == "sync" else {}
    return gym.make_vec(id, num_envs=num_envs, vectorization_mode=mode, **extra, **{"scenario": "branin", **kwargs})


@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize(
    "arguments",
    [
        {"budget": 3, "max_llm": 2},
        {"budget": 4, "max_llm": 9, "oracle_config": {"fail_rate": 0.4}},
        {"budget": 4, "oracle": "random"},
        {"budget": 4, "scenario": "mixed", "oracle": "random", "scenario_config": {"pool_size": 0}},
        {"budget": 4, "scenario": "mixed", "oracle": "random"},
        {"budget": 4, "scenario": "photo_pce10", "cost_real": 3.0, "oracle_config": {"seed": 3}},
    ],
    ids=["tight", "failing", "random", "continuous", "mixed", "minimise"],
)
def test_same_as_single_ones(id: str, arguments: dict[str, Any]) -> None:
    native, single = make(id, **arguments), make(id, mode="sync", **arguments)
    single.action_space.seed(1)
    assert _same(native.reset(seed=2), single.reset(seed=2))
    ended = 0
    for _ in range(40):
        actions = single.action_space.sample()
        mine, theirs = native.step(actions), single.step(actions)
        assert _difference(theirs, mine) is None
        ended += int((mine[2] | mine[3]).sum())
    assert ended > 3
    assert _same(native.reset(), single.reset())
    options = {"oracle_seed": 7}
    assert _same(native.reset(seed=[4, None, 2], options=options), single.reset(seed=[4, None, 2], options=options))


@pytest.mark.parametrize("id", IDS)
def test_reset_mask(id: str) -> None:
    native, single = make(id), make(id, mode="sync")
    single.action_space.seed(1)
    native.reset(seed=2)
    single.reset(seed=2)
    for _ in range(3):
        actions = single.action_space.sample()
        native.step(actions)
        single.step(actions)
    mask = np.array([False, True, False])
    mine = native.reset(options={"reset_mask": mask})
    theirs = single.reset(options={"reset_mask": mask})
    assert _difference(theirs, mine) is None
    actions = single.action_space.sample()
    assert _difference(single.step(actions), native.step(actions)) is None


def test_copies_go_on_alike() -> None:
    native = make(budget=5)
    native.reset(seed=0)
    native.action_space.seed(0)
    native.step(native.action_space.sample())
    others = [copy.deepcopy(native), pickle.loads(pickle.dumps(native))]
    for _ in range(15):
        actions = native.action_space.sample()
        mine = native.step(actions)
        assert all(_same(other.step(actions), mine) for other in others)


def test_observations_are_copies() -> None:
    native = make()
    observations, infos = native.reset(seed=0)
    for rows in observations.values():
        rows.fill(1)
    infos["units"]["x"]["x1"][:] = "furlong"
    observations, *_, infos = native.step({"x": np.zeros(3, int), "source": np.ones(3, int)})
    assert observations["mask_R"].sum() == 3
    assert infos["units"]["x"]["x1"].tolist() == ["", "", ""]


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ({"x": np.array([1, 2]), "source": np.zeros(3, int)}, r"x must be 3 pool rows, not int64 of shape \(2,\)"),
        ({"x": np.array([1, 2, 500]), "source": np.zeros(3, int)}, "rows of the pool, 0 to 499, not 1 to 500"),
        ({"x": np.array([1, 2, np.nan]), "source": np.zeros(3, int)}, "x must be 3 pool rows, not float64"),
        ({"x": np.zeros(3, int), "source": np.array([0, 1, 2])}, r"source must be 3 of 0 \(LLM\) or 1 \(real\)"),
        (np.zeros(3), "actions are a mapping with 'x' and 'source'"),
    ],
)
def test_bad_actions_move_no_copy(actions: Any, message: str) -> None:
    native = make()
    native.reset(seed=0)
    before = copy.deepcopy(native)
    with pytest.raises(InvalidInput, match=message):
        native.step(actions)
    good = {"x": np.arange(3), "source": np.array([0, 1, 0])}
    assert _same(native.step(good), before.step(good))


def test_bad_flat_and_box_actions() -> None:
    native = make("sci/LABOFlat-v0", scenario_config={"pool_size": 0})
    native.reset(seed=0)
    with pytest.raises(InvalidInput, match=r"actions must have shape \(3, 3\), not \(3, 2\)"):
        native.step(np.zeros((3, 2)))
    with pytest.raises(InvalidInput, match="the last entry of an action"):
        native.step(np.array([[0, 0, 0], [0, 0, np.nan], [0, 0, 0]]))
    with pytest.raises(InvalidInput, match=r"x must be 2 numbers in \[0, 1\]"):
        native.step(np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]]))
    native = make(scenario_config={"pool_size": 0})
    native.reset(seed=0)
    with pytest.raises(InvalidInput, match=r"x must have shape \(3, 2\), not \(2, 2\)"):
        native.step({"x": np.zeros((2, 2)), "source": np.zeros(3, int)})


def test_refusals() -> None:
    with pytest.raises(InvalidInput, match="num_envs must be a whole number of at least 1, not 0"):
        make(num_envs=0)
    with pytest.raises(InvalidInput, match="render_mode must be None or 'rgb_array', not 'ansi'"):
        make(render_mode="ansi")
    native = make()
    with pytest.raises(EpisodeOver, match=r"call reset\(\)"):
        native.step({"x": np.zeros(3, int), "source": np.zeros(3, int)})
    with pytest.raises(InvalidInput, match="there are 2 seeds for 3 environments"):
        native.reset(seed=[1, 2])
    with pytest.raises(InvalidInput, match="reset_mask must be 3 booleans"):
        native.reset(options={"reset_mask": np.zeros(3, bool)})


def test_contract_of_a_continuous_failing_world() -> None:
    arguments = {
        "scenario": "branin",
        "scenario_config": {"pool_size": 0},
        "budget": 4,
        "max_llm": 9,
        "oracle": "random",
    }
    for id in IDS:
        check_env(id, slow=False, steps=24, **arguments)
