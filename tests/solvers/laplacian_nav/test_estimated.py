"""Planning on the graph that a walk has seen."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import make_world
from scisuite.solvers.laplacian_nav.rollout import roll, success_and_spl
from scisuite.solvers.laplacian_nav.tabular import (
    TriedMoves,
    all_goals_q,
    estimated_bfs_actions,
    estimated_bfs_values,
    estimated_green_actions,
    estimated_green_values,
    q_actions,
    successor_actions,
    symmetrised_green_actions,
    td_successor,
)
from scisuite.solvers.laplacian_nav.walks import Transitions, random_walk

ROOM = "....\n.#..\n...."


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 300), st.sampled_from([ROOM, "......", "..#..\n..#..\n.....\n.#.#."]))
def test_ascent_arrives_wherever_tried_moves_lead_to_the_goal_and_nowhere_else(seed, steps, text):
    world = make_world(text)
    walk, goals = random_walk(world, steps, seed=seed), np.arange(world.n)
    known = TriedMoves.of(walk, world.n, 4)
    leads = estimated_bfs_values(known, goals) > -world.n
    np.testing.assert_array_equal(estimated_green_values(known, goals) > 0, leads)
    for actions in (
        estimated_green_actions(walk, world.n, 4, goals),
        estimated_bfs_actions(walk, world.n, 4, goals),
    ):
        state, goal = np.nonzero(actions >= 0)
        assert known.tried[state, actions[state, goal]].all()
        assert not known.tried[actions[:, 0] < 0].any()
        arrived = roll(actions, world, goals, np.arange(world.n), world.n) >= 0
        np.testing.assert_array_equal(arrived.T, leads)


def test_breadth_first_search_takes_shortest_ways_of_tried_moves():
    # 0 → 1 → 2 → 3 and the short cut 0 → 3, which was made one way only.
    walk = Transitions(np.array([0, 1, 2, 0]), np.array([0, 0, 0, 1]), np.array([1, 2, 3, 3]))
    known = TriedMoves.of(walk, 4, 2)
    np.testing.assert_array_equal(estimated_bfs_values(known, [3])[:, 0], [-1, -2, -1, 0])
    np.testing.assert_array_equal(estimated_bfs_values(known, [0])[:, 0], [0, -4, -4, -4])
    np.testing.assert_array_equal(estimated_bfs_actions(walk, 4, 2, [3])[:, 0], [1, 0, 0, -1])
    assert estimated_bfs_values(known, np.array([], dtype=int)).shape == (4, 0)


def test_a_field_that_underflows_is_climbed_by_its_logarithm():
    length = 3_000
    line = np.arange(length - 1)
    there_and_back = Transitions(np.append(line, line + 1), np.repeat([0, 1], length - 1), np.append(line + 1, line))
    known = TriedMoves.of(there_and_back, length, 2)
    values = estimated_green_values(known, [length - 1, 0], gamma=0.9)
    assert values[0, 0] < -1_000
    assert (known.ascent(values)[1:-1] == [0, 1]).all()


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_with_much_experience_it_is_the_field_of_the_world(slip):
    world = make_world(ROOM, slip=slip)
    walk = random_walk(world, 100_000, seed=0)
    exact = np.linalg.inv(np.eye(world.n) - 0.97 * world.walk.toarray())
    values = estimated_green_values(TriedMoves.of(walk, world.n, 4), np.arange(world.n))
    np.testing.assert_allclose(values, exact, rtol=0.05 if slip else 1e-10)


def test_one_walk_in_a_maze_replay_no_better_one_pass_far_worse():
    ratio = {"bfs": [], "replay": [], "symmetrised": [], "onepass": [], "td": []}
    for seed in range(5):
        world = make_world("small_maze", layout_seed=seed)
        walk = random_walk(world, 8_000, seed=seed)
        places = np.random.default_rng(seed).permutation(world.n)
        goals, starts, n = places[:20], places[20:60], world.n
        known = TriedMoves.of(walk, n, 4)
        actions = {
            "green": estimated_green_actions(walk, n, 4, goals),
            "bfs": estimated_bfs_actions(walk, n, 4, goals),
            "replay": q_actions(all_goals_q(walk, n, 4, goals, sweeps=3, reverse=True), known),
            "symmetrised": symmetrised_green_actions(walk, n, 4, goals),
            "onepass": q_actions(all_goals_q(walk, n, 4, goals), known),
            "td": successor_actions(td_successor(walk, n), known, goals),
        }
        success = {name: success_and_spl(way, world, goals, starts)["success"] for name, way in actions.items()}
        for name in ratio:
            ratio[name].append(success[name] / success["green"])
    assert np.mean(ratio["bfs"]) == 1.0
    assert 0.95 <= np.mean(ratio["replay"]) <= 1.0
    assert np.mean(ratio["symmetrised"]) < 1.0
    assert max(np.mean(ratio["onepass"]), np.mean(ratio["td"])) < 0.6


def test_one_solve_costs_less_than_replay():
    world = make_world("small_maze")
    walk, goals = random_walk(world, 10_000, seed=0), np.arange(20)

    def seconds(run):
        times = []
        for _ in range(3):
            begun = time.process_time()
            run()
            times.append(time.process_time() - begun)
        return min(times)

    solve = seconds(lambda: estimated_green_actions(walk, world.n, 4, goals))
    assert solve < seconds(lambda: all_goals_q(walk, world.n, 4, goals, sweeps=3, reverse=True))


def test_bad_input():
    world = make_world(ROOM)
    walk = random_walk(world, 50, seed=0)
    for plan in (estimated_green_actions, estimated_bfs_actions, symmetrised_green_actions):
        with pytest.raises(InvalidInput, match="^goal 11 is not among 11 states$"):
            plan(walk, 11, 4, [11])
        with pytest.raises(InvalidInput, match="^action 3 is not among 3 actions$"):
            plan(walk, 11, 3, [0])
    with pytest.raises(InvalidInput, match=r"^gamma must be a discount in \(0, 1\), not 1$"):
        estimated_green_actions(walk, 11, 4, [0], gamma=1)
    with pytest.raises(InvalidInput, match="^eps must be positive, because an estimated graph may fall apart, not 0$"):
        symmetrised_green_actions(walk, 11, 4, [0], eps=0)
