"""Rollouts: against a plain loop, and what success and SPL come to on ways that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import DOWN, LEFT, RIGHT, UP, GridWorld, UnreachableError, from_ascii
from scisuite.solvers.laplacian_nav import GreenPolicy, GreenPotential
from scisuite.solvers.laplacian_nav.rollout import roll, success_and_spl

EXAMPLES = settings(max_examples=25, deadline=None)
RING = from_ascii("...\n.#.\n...")  # eight cells round a pillar


def corridor(n, **options):
    return GridWorld(np.ones((1, n), dtype=bool), **options)


def clockwise(world, goals):
    """Round the pillar, whatever the goal."""
    turn = {(0, 0): RIGHT, (0, 1): RIGHT, (0, 2): DOWN, (1, 2): DOWN, (2, 2): LEFT, (2, 1): LEFT, (2, 0): UP}
    column = np.array([turn.get(world.cell(state), UP) for state in range(world.n)])
    return np.tile(column[:, None], (1, len(goals)))


@EXAMPLES
@given(st.integers(0, 2**32))
def test_all_ways_at_once_are_what_a_loop_walks(seed):
    rng = np.random.default_rng(seed)
    world = GridWorld(rng.random((5, 6)) > 0.2, periodic=bool(rng.integers(2)))
    goals, starts = rng.integers(world.n, size=3), rng.integers(world.n, size=7)
    actions = rng.integers(-1, 4, (world.n, 3))
    caps = rng.integers(0, 2 * world.n, (3, 7))
    steps = roll(actions, world, goals, starts, caps)
    assert steps.shape == (3, 7)
    assert steps.dtype == np.int64
    for j, goal in enumerate(goals):
        for i, start in enumerate(starts):
            state, taken = start, 0
            while state != goal and taken < caps[j, i]:
                action = actions[state, j]
                state, taken = (world.moves[state, action] if action >= 0 else state), taken + 1
            assert steps[j, i] == (taken if state == goal else -1)


def test_a_cap_is_the_last_move_that_may_arrive():
    actions = np.full((6, 1), RIGHT)
    assert roll(actions, corridor(6), [5], [0, 5, 4], 5).tolist() == [[5, 0, 1]]
    assert roll(actions, corridor(6), [5], [0, 5, 4], 4).tolist() == [[-1, 0, 1]]
    assert roll(actions, corridor(6), [5], [0, 5, 4], 0).tolist() == [[-1, 0, -1]]


def test_ways_that_turn_in_circles_are_given_up_at_once():
    # A cap of 10¹⁵ moves would outlast the test.
    pocket = from_ascii("...#\n.#..\n...#")  # the ring, and a cell beside it that the turn never enters
    aside = pocket.state((1, 3))
    column = clockwise(pocket, [aside])
    assert roll(column, pocket, [aside], np.arange(pocket.n), 10**15).max() == 0
    actions = np.full((5, 1), LEFT)
    assert roll(actions, corridor(5), [4], [0, 3], 10**15).tolist() == [[-1, -1]]
    assert roll(np.full((5, 1), -1), corridor(5), [4], [0, 4], 10**15).tolist() == [[-1, 0]]


def test_success_and_spl_are_counted_over_pairs():
    goals, starts = [RING.state((0, 0))], np.arange(RING.n)
    found = success_and_spl(clockwise(RING, goals), RING, goals, starts)
    # Clockwise from the seven others, 7, 6, 5, 4, 3, 2, 1 moves; a shortest path has 1, 2, 3, 4, 3, 2, 1.
    assert found["success"] == 1.0
    assert found["steps"] == 4.0
    np.testing.assert_allclose(found["spl"], (1 / 7 + 2 / 6 + 3 / 5 + 4) / 7)
    found = success_and_spl(clockwise(RING, goals), RING, goals, starts, max_factor=2)
    assert found["success"] == 5 / 7
    np.testing.assert_allclose(found["spl"], (3 / 5 + 4) / 7)
    assert found["steps"] == 3.0
    assert success_and_spl(clockwise(RING, goals), RING, goals, starts, cap=6)["success"] == 6 / 7
    assert success_and_spl(clockwise(RING, goals), RING, goals, starts, cap="n")["success"] == 1.0


def test_a_start_that_is_its_goal_is_left_out():
    actions = np.full((3, 2), RIGHT)
    found = success_and_spl(actions, corridor(3), [2, 0], [0, 2])
    assert found == {"success": 0.5, "spl": 0.5, "steps": 2.0}


def test_a_policy_that_never_arrives_has_no_mean_number_of_moves():
    found = success_and_spl(np.full((3, 1), LEFT), corridor(3), [2], [0])
    assert found["success"] == found["spl"] == 0.0
    assert np.isnan(found["steps"])


def test_a_policy_object_is_asked_for_its_actions():
    policy = GreenPolicy(GreenPotential(RING, eps=0.1), RING)
    found = success_and_spl(policy, RING, np.arange(RING.n), np.arange(RING.n), cap="n")
    assert found["success"] == found["spl"] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"actions": np.zeros((3, 2), int)},
            "actions must be whole numbers of shape (3, 1), not int64 of shape (3, 2)",
        ),
        ({"actions": np.zeros((3, 1))}, "actions must be whole numbers of shape (3, 1), not float64 of shape (3, 1)"),
        ({"actions": np.full((3, 1), 4)}, "action 4 is not in -1 … 3"),
        ({"actions": np.full((3, 1), -2)}, "action -2 is not in -1 … 3"),
        ({"goals": [3]}, "state 3 is not in this world of 3 states"),
        ({"starts": [-1]}, "state -1 is not in this world of 3 states"),
        ({"caps": 1.5}, "caps must be whole numbers of shape (1, 2) or a single one, not 1.5"),
        ({"caps": [1]}, "caps must be whole numbers of shape (1, 2) or a single one, not [1]"),
        (
            {"world": corridor(3, slip=0.1)},
            "ways are followed in a world without slip; run the environment for a slippery one",
        ),
    ],
)
def test_roll_refuses_what_does_not_fit(change, message):
    arguments = {"actions": np.zeros((3, 1), int), "world": corridor(3), "goals": [2], "starts": [0, 1], "caps": 9}
    with pytest.raises(InvalidInput) as caught:
        roll(**{**arguments, **change})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_factor": 0.5}, "max_factor must be a finite number of at least 1, not 0.5"),
        ({"max_factor": np.inf}, "max_factor must be a finite number of at least 1, not inf"),
        ({"cap": 0}, "cap must be a positive whole number or 'n', not 0"),
        ({"cap": "all"}, "cap must be a positive whole number or 'n', not 'all'"),
        ({"starts": [2]}, "there is no pair of a start and another goal"),
        ({"starts": []}, "there is no pair of a start and another goal"),
    ],
)
def test_success_refuses_what_does_not_fit(change, message):
    arguments = {"policy": np.zeros((3, 1), int), "world": corridor(3), "goals": [2], "starts": [0]}
    with pytest.raises(InvalidInput) as caught:
        success_and_spl(**{**arguments, **change})
    assert str(caught.value) == message


def test_a_pair_without_a_path_is_named():
    with pytest.raises(UnreachableError, match=r"^no path leads from cell \(0, 0\) to cell \(0, 4\)$"):
        success_and_spl(np.zeros((4, 1), int), from_ascii("..#.."), [3], [2, 0])
