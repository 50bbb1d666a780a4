"""Greedy ascent: ties, blocked actions, unreachable goals, and counting local maxima."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import DOWN, LEFT, RIGHT, UP, GridWorld, UnreachableError, from_ascii
from scisuite.solvers.laplacian_nav import DiscountedWalk, GreenPotential
from scisuite.solvers.laplacian_nav import policy as policy_file
from scisuite.solvers.laplacian_nav.policy import GreenPolicy, greedy_actions, local_maxima

EXAMPLES = settings(max_examples=25, deadline=None)


def corridor(n, **options):
    return GridWorld(np.ones((1, n), dtype=bool), **options)


@EXAMPLES
@given(st.integers(0, 2**32), st.sampled_from([4, 8]))
def test_the_best_open_action_is_chosen_and_ties_go_to_the_lowest(seed, neighbours):
    rng = np.random.default_rng(seed)
    world = GridWorld(rng.random((6, 7)) > 0.4, neighbours=neighbours)
    values = rng.integers(0, 3, (world.n, 4)).astype(float)  # ties abound, also with where one stands
    values[rng.random(values.shape) < 0.2] = -np.inf
    actions = greedy_actions(values, world)
    for state in range(world.n):
        opened = np.flatnonzero(world.open_moves[state])
        for j in range(4):
            reached = values[world.moves[state, opened], j]
            best = opened[np.flatnonzero(reached == reached.max())[0]] if len(opened) else 0
            assert actions[state, j] == best


def test_a_blocked_action_never_beats_an_open_one():
    # A blocked action keeps the state, whose value 9 is the highest of all.
    assert greedy_actions([[1.0], [9.0], [0.0]], corridor(3)).ravel().tolist() == [RIGHT, LEFT, LEFT]
    assert greedy_actions([[9.0], [-np.inf]], corridor(2)).ravel().tolist() == [RIGHT, LEFT]


def test_a_field_of_another_shape_or_with_nan_is_refused():
    for values, message in (
        (np.zeros(3), "values must have shape (3, g), one column for each goal, not (3,)"),
        (np.zeros((2, 3)), "values must have shape (3, g), one column for each goal, not (2, 3)"),
        ([[0.0], [np.nan], [1.0]], "values hold NaN"),
    ):
        with pytest.raises(InvalidInput) as caught:
            greedy_actions(values, corridor(3))
        assert str(caught.value) == message


def test_the_policy_acts_as_ascent_does_and_solves_for_each_goal_once():
    world = from_ascii("....\n.##.\n....")
    potential = GreenPotential(world, eps=0.1)
    asked = []
    solve = potential._solve
    potential._solve = lambda goals: asked.extend(goals.tolist()) or solve(goals)
    policy = GreenPolicy(potential, world)
    goals = [3, 0, 3]
    actions = policy.actions(goals)
    assert actions.dtype == np.int64
    np.testing.assert_array_equal(actions, greedy_actions(GreenPotential(world, eps=0.1).potential(goals), world))
    assert policy.act(world.state((2, 0)), world.state((0, 0))) == UP
    assert policy.act(world.state((0, 0)), world.state((2, 0))) == DOWN
    policy.actions([0, 6, 3])
    assert asked == [3, 0, 6]


def test_the_oldest_goals_are_forgotten_when_the_store_is_full(monkeypatch):
    world = corridor(5)
    monkeypatch.setattr(policy_file, "_CACHE_BYTES", 2 * world.n)
    policy = GreenPolicy(GreenPotential(world, eps=0.1), world)
    for goal in range(5):
        assert policy.act(2, goal) == (LEFT if goal < 2 else RIGHT) or goal == 2
    assert list(policy._columns) == [3, 4]
    expected = [[LEFT if goal < state else RIGHT for goal in range(5)] for state in range(1, 4)]
    actions = policy.actions(np.arange(5))[1:4]
    assert all(actions[i, g] == expected[i][g] for i in range(3) for g in range(5) if g != i + 1)


def test_a_policy_can_be_copied_and_pickled():
    world = corridor(4)
    policy = GreenPolicy(GreenPotential(world), world)
    assert policy.act(0, 3) == RIGHT
    for twin in (copy.deepcopy(policy), pickle.loads(pickle.dumps(policy))):
        assert twin.act(0, 3) == RIGHT
        assert twin.act(3, 0) == LEFT


@pytest.mark.parametrize("eps", [0.0, 0.1, "sr:0.9"])
def test_a_goal_in_another_component_is_an_error_though_the_field_is_finite(eps):
    world = from_ascii("..#..")
    policy = GreenPolicy(GreenPotential(world, eps=eps), world)
    assert policy.act(0, 1) == RIGHT
    with pytest.raises(UnreachableError) as caught:
        policy.act(0, 3)
    assert str(caught.value) == "no path leads from cell (0, 0) to cell (0, 4)"


def test_through_a_one_way_door_there_is_no_way_back():
    closed = np.zeros((1, 3, 4), dtype=bool)
    closed[0, 1, LEFT] = True
    world = corridor(3, closed=closed)
    policy = GreenPolicy(DiscountedWalk(world.walk, 0.9), world)
    assert policy.act(0, 2) == RIGHT
    assert policy.act(2, 1) == LEFT
    with pytest.raises(UnreachableError, match=r"^no path leads from cell \(0, 1\) to cell \(0, 0\)$"):
        policy.act(1, 0)


def test_a_policy_refuses_what_is_no_state_or_another_world():
    world = corridor(4)
    policy = GreenPolicy(GreenPotential(world), world)
    for arguments in ((4, 0), (0, -1)):
        with pytest.raises(InvalidInput, match=r"^state -?\d is not in this world of 4 states$"):
            policy.act(*arguments)
    with pytest.raises(InvalidInput, match=r"^the potential has 4 states and the world has 5$"):
        GreenPolicy(GreenPotential(world), corridor(5))


def test_local_maxima_are_counted_by_plateau():
    path = corridor(9)
    assert local_maxima([0, 1, 2, 3, 4, 3, 2, 1, 0], path) == 0
    assert local_maxima([5, 1, 2, 3, 4, 3, 2, 1, 2], path) == 2
    assert local_maxima([5, 1, 3, 3, 3, 1, 3, 3, 4], path) == 2  # 3 3 before 4 leads up; 3 3 3 does not
    assert local_maxima([5, 5, 3, 3, 2, 2, 1, 1, 1], path) == 0  # the goal's plateau, and slopes with steps
    assert local_maxima([0, 1, 2, 3, 4, 3, 2, 1, 0], path, goal=0) == 1
    assert local_maxima(np.zeros(9), path) == 0


def test_only_states_with_a_way_to_the_goal_count():
    assert local_maxima([0.0, 1.0, 0.0, 0.0], from_ascii("..#..")) == 0
    one_way = csr_array(np.array([[0, 1.0, 0], [0, 0, 1.0], [0, 0.5, 0]]))
    assert local_maxima([1.0, 2.0, 3.0], one_way) == 0
    assert local_maxima([2.0, 1.0, 3.0], one_way) == 1
    assert local_maxima([0.0, 3.0, 2.0], one_way, goal=2) == 1


def test_local_maxima_refuse_what_does_not_fit():
    for values, options, message in (
        (np.zeros(2), {}, "values must have shape (3,), not (2,)"),
        ([0, np.nan, 1], {}, "values hold NaN"),
        (np.zeros(3), {"goal": 3}, "goal 3 is not one of the 3 states"),
    ):
        with pytest.raises(InvalidInput) as caught:
            local_maxima(values, corridor(3), **options)
        assert str(caught.value) == message
