"""Goals that were not trained for."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import make_world
from scisuite.solvers.laplacian_nav.new_goals import new_goal_actions
from scisuite.solvers.laplacian_nav.rollout import success_and_spl
from scisuite.solvers.laplacian_nav.walks import random_walk


def test_solving_serves_any_goal_and_a_table_its_own():
    world = make_world("maze", layout_seed=1, size=6, loop=0.2)
    walk = random_walk(world, 12_000, seed=0)
    places = np.random.default_rng(0).permutation(world.n)
    trained, new, starts = places[:8], places[8:16], places[16:40]

    def success(goals):
        ways = new_goal_actions(walk, world.n, 4, trained, goals)
        return {name: success_and_spl(way, world, goals, starts)["success"] for name, way in ways.items()}

    on_new, on_trained = success(new), success(trained)
    assert on_new["green"] == on_new["bfs"] == 1.0
    assert on_trained["replayed_q"] > 0.95
    assert on_new["replayed_q"] < 0.7
    assert on_new["td_successor"] < 1.0


def test_bad_input():
    walk = random_walk(make_world("..."), 20, seed=0)
    with pytest.raises(InvalidInput, match="^at least one goal must have been trained for$"):
        new_goal_actions(walk, 3, 4, np.array([], dtype=int), [0])
    with pytest.raises(InvalidInput, match="^goal 3 is not among 3 states$"):
        new_goal_actions(walk, 3, 4, [0], [3])
