"""What sci/CRNReduce-v0 shows: frames and words."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import scisuite.envs  # noqa: F401
from scisuite.core import InvalidInput
from scisuite.envs.crn_reduce.render import FACTOR, KEPT, VARIABLE

GRAPH = (slice(54, 546), slice(9, 567))


def make(**arguments: Any) -> Any:
    return gym.make("sci/CRNReduce-v0", max_sites=24, render_mode="rgb_array", **arguments)


def pixels(frame: Any, colour: str) -> int:
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)])
    return int((np.abs(frame[GRAPH].astype(int) - rgb).max(axis=2) < 6).sum())


def test_frames_shrink_with_the_graph() -> None:
    env = make(scenario="factor_graphs/planning_small", scenario_config={"keep": (1, 1)})
    env.reset(seed=0)
    first = env.render()
    assert (first.shape, first.dtype) == ((600, 900, 3), np.uint8)
    counts = [[pixels(first, colour) for colour in (VARIABLE, KEPT, FACTOR)]]
    while len(env.unwrapped.actions):
        env.step(min(env.unwrapped.actions))
    counts.append([pixels(env.render(), colour) for colour in (VARIABLE, KEPT, FACTOR)])
    assert counts[1][0] < counts[0][0]
    assert counts[0][1] == counts[1][1] > 50
    assert 0 < counts[1][2] < counts[0][2]
    assert np.array_equal(first, (env.reset(seed=0), env.render())[1])


def test_a_large_and_disconnected_graph_is_drawn_without_labels() -> None:
    from scisuite.scenarios.factor_graphs import FactorGraph

    card = {f"v{i}": 2 for i in range(40)} | {"alone": 3}
    factors = {f"f{i}": ([f"v{i}", f"v{i + 1}"], np.ones((2, 2))) for i in range(0, 39, 2)}
    env = gym.make("sci/CRNReduce-v0", scenario=FactorGraph(card, factors), render_mode="rgb_array")
    env.reset(seed=0)
    assert pixels(env.render(), VARIABLE) > 1_000


def test_nothing_is_drawn_without_a_mode_or_before_reset() -> None:
    env = gym.make("sci/CRNReduce-v0").unwrapped
    assert env.render() is None
    with pytest.raises(InvalidInput, match=r"there is no problem yet; call reset\(\)"):
        make().unwrapped.render()


def test_words_name_every_legal_action_and_what_it_saves() -> None:
    env = gym.make("sci/CRNReduce-v0", max_sites=24, verify="never", scenario_config={"keep": (1, 1), "unary": 0.5})
    env.reset(seed=1)
    inner: Any = env.unwrapped
    text = inner.describe()
    listed = dict(re.findall(r"^  (\d+): (.*)$", text, flags=re.MULTILINE))
    assert [int(a) for a in listed] == np.flatnonzero(inner.action_masks()).tolist()
    assert listed[str(4 * 24)] == "STOP"
    assert {line.split(",")[0] for line in listed.values()} == {"leaf", "unary", "series", "cluster", "STOP"}
    assert text.count(", keep)") == 1
    for action, move in inner.actions.items():
        saved = inner.board.size - inner.board.after(move).size
        assert listed[str(action)].endswith(f"; saves {saved}" if saved >= 0 else f"; costs {-saved}")
    assert text.startswith(f"The network has {inner.board.species} species and {inner.board.reactions} reactions")
    assert "(cap 4), tables of at most 64 entries." in text
