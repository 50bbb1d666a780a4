"""Worlds whose walls move, and learners that have to notice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import make_world
from scisuite.solvers.laplacian_nav.changed_walls import adapted_actions, changed_walls, usable_states
from scisuite.solvers.laplacian_nav.rollout import success_and_spl
from scisuite.solvers.laplacian_nav.walks import random_walk


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6))
def test_as_many_cells_change_as_were_asked_for_and_all_stays_connected(seed, n_toggles):
    world = make_world("small_maze", layout_seed=seed)
    before, after = changed_walls(world, np.random.default_rng(seed), n_toggles)
    np.testing.assert_array_equal(before.xy, after.xy)
    was, became = (w.open_moves.any(axis=1) for w in (before, after))
    assert (was != became).sum() == n_toggles
    assert (became & ~was).sum() == (n_toggles + 1) // 2
    usable = usable_states(before, after)
    assert len(usable) == world.n - n_toggles // 2
    for changed, free in ((before, was), (after, became)):
        assert changed.is_symmetric
        parts, _ = connected_components(changed.W, directed=False)
        assert parts == 1 + (~free).sum()


def test_before_is_the_world_itself():
    world = make_world("small_maze", layout_seed=1)
    before, _ = changed_walls(world, np.random.default_rng(0), 4)
    old = before.index[world.free]
    np.testing.assert_array_equal(before.moves[old], old[world.moves])


def test_whoever_solves_or_replays_anew_finds_the_new_ways():
    world = make_world("maze", layout_seed=3, size=6, loop=0.3)
    before, after = changed_walls(world, np.random.default_rng(3), 4)
    usable = usable_states(before, after)
    places = np.random.default_rng(0).permutation(usable)
    goals, starts = places[:10], places[10:40]
    old = random_walk(before, 8_000, seed=0, start=int(usable[0]))
    # Every toggled cell has been bumped into or walked through since.
    new = random_walk(after, 6_000, seed=1, start=int(usable[0]))
    success = {
        name: success_and_spl(actions, after, goals, starts)["success"]
        for name, actions in adapted_actions(old, new, after.n, 4, goals).items()
    }
    assert success["green"] == success["bfs"] == 1.0
    assert success["replayed_q"] >= 0.95
    assert success["td_successor"] < 1.0
    few = adapted_actions(old, new[:200], after.n, 4, goals)
    assert success_and_spl(few["green"], after, goals, starts)["success"] >= 0.5


def test_bad_input():
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="^n_toggles must be a positive whole number, not 0$"):
        changed_walls(make_world("small_maze"), rng, 0)
    with pytest.raises(InvalidInput, match="without thin walls or one-way doors$"):
        changed_walls(make_world("one_way"), rng, 1)
    message = "^3 toggles were asked for, but after 0 there is no further wall between two free cells$"
    with pytest.raises(InvalidInput, match=message):
        changed_walls(make_world("...\n..."), rng, 3)
    message = "^2 toggles were asked for, but after 1 there is no further free cell whose filling cuts nothing off$"
    with pytest.raises(InvalidInput, match=message):
        changed_walls(make_world("..#.."), rng, 2)
