"""Random walks, and what is estimated from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GridWorld, make_world
from scisuite.solvers.laplacian_nav.tried_moves import UNTRIED, TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, estimated_walk, random_walk

ROOM = "....\n.#..\n...."


def ring() -> Transitions:
    """0 → 1 → 2 → 0 by action 0, and a blocked action 1 in state 2."""
    return Transitions(np.array([0, 1, 2, 2]), np.array([0, 0, 1, 0]), np.array([1, 2, 2, 0]))


def test_a_walk_makes_moves_of_the_world_and_is_one_path():
    world = make_world(ROOM)
    walk = random_walk(world, 500, seed=1)
    np.testing.assert_array_equal(walk.next_state, world.moves[walk.state, walk.action])
    np.testing.assert_array_equal(walk.state[1:], walk.next_state[:-1])
    assert np.bincount(walk.action).min() > 80
    assert len(walk) == 500


@pytest.mark.parametrize("slip", [0.0, 0.4])
def test_a_longer_walk_begins_with_the_same_steps(slip):
    world = make_world(ROOM, slip=slip)
    short, long = random_walk(world, 50, seed=3), random_walk(world, 200, seed=3)
    for name in ("state", "action", "next_state"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[:50])
    assert random_walk(world, 50, seed=4).next_state.tolist() != short.next_state.tolist()


def test_slip_replaces_the_executed_action():
    world = make_world(ROOM, slip=0.5)
    walk = random_walk(world, 4000, seed=0)
    as_chosen = (walk.next_state == world.moves[walk.state, walk.action]).mean()
    # Half are carried out, and of the others those that happen to lead to the same place.
    assert 0.55 < as_chosen < 0.85


def test_a_walk_starts_where_it_is_told_or_in_the_largest_component():
    world = GridWorld(np.array([[True, False, True, True, True]]))
    assert random_walk(world, 3, seed=0, start=0).state.tolist() == [0, 0, 0]
    assert all(random_walk(world, 1, seed=seed).state[0] > 0 for seed in range(20))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 400), st.sampled_from([0.0, 0.3]))
def test_the_estimate_is_a_walk_on_tried_moves_only(seed, steps, slip):
    world = make_world(ROOM, slip=slip)
    walk = random_walk(world, steps, seed=seed)
    estimate = estimated_walk(walk, world.n, 4)
    np.testing.assert_allclose(estimate.sum(axis=1), 1.0)
    assert estimate.data.min() >= 0
    seen = {(int(a), int(b)) for a, b in zip(walk.state, walk.next_state, strict=True)}
    untried = set(range(world.n)) - set(walk.state.tolist())
    rows, columns = np.nonzero(estimate.toarray())
    assert {(int(a), int(b)) for a, b in zip(rows, columns, strict=True)} == seen | {(x, x) for x in untried}


def test_the_estimate_tends_to_the_walk_of_the_world():
    for slip in (0.0, 0.3):
        world = make_world(ROOM, slip=slip)
        estimate = estimated_walk(random_walk(world, 200_000, seed=0), world.n, 4)
        # The walk of uniform choices is the same for every slip; without slip the estimate of it is exact.
        np.testing.assert_allclose(estimate.toarray(), world.walk.toarray(), atol=0.01 if slip else 1e-12)


def test_frequencies_of_outcomes_and_a_directed_graph():
    known = TriedMoves.of(ring() + Transitions(np.array([0]), np.array([0]), np.array([0])), 4, 2)
    np.testing.assert_array_equal(known.tried, [[True, False], [True, False], [True, True], [False, False]])
    expected = [[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0.5, 0, 0.5, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(known.walk().toarray(), expected)


def test_ascent_takes_tried_actions_only_and_the_lowest_of_equals():
    known = TriedMoves.of(ring(), 4, 2)
    values = np.array([[0.0, 3.0], [1.0, 3.0], [5.0, 3.0], [9.0, 9.0]])
    np.testing.assert_array_equal(known.ascent(values), [[0, 0], [0, 0], [1, 0], [UNTRIED, UNTRIED]])
    hopeless = np.full((4, 1), -np.inf)
    np.testing.assert_array_equal(known.ascent(hopeless)[:, 0], [0, 0, 0, UNTRIED])
    only_second = TriedMoves.of(Transitions(np.array([0]), np.array([1]), np.array([0])), 1, 2)
    assert only_second.ascent(np.array([[-np.inf]])).item() == 1
    with pytest.raises(InvalidInput, match=r"values must have shape \(4, goals\), not \(3, 1\)"):
        known.ascent(np.zeros((3, 1)))


def test_what_was_contradicted_is_forgotten():
    moved = ring() + Transitions(np.array([0, 2]), np.array([0, 0]), np.array([0, 0]))
    kept = moved.still_true()
    assert list(zip(kept.state, kept.action, kept.next_state, strict=True)) == [
        (1, 0, 2),
        (2, 1, 2),
        (2, 0, 0),
        (0, 0, 0),
        (2, 0, 0),
    ]
    assert len(moved[:0].still_true()) == 0


def test_bad_input():
    world = make_world(ROOM)
    for steps in (0, 1.5, True):
        with pytest.raises(InvalidInput, match=f"^steps must be a positive whole number, not {steps!r}$"):
            random_walk(world, steps, seed=0)
    with pytest.raises(InvalidInput, match="^state 11 is not in this world of 11 states$"):
        random_walk(world, 5, seed=0, start=11)
    with pytest.raises(InvalidInput, match=r"^state must be whole numbers in one dimension, not float64 \(2,\)$"):
        Transitions(np.zeros(2), np.zeros(2, int), np.zeros(2, int))
    with pytest.raises(InvalidInput, match="^action must not be negative, but one is -1$"):
        Transitions(np.array([0]), np.array([-1]), np.array([0]))
    with pytest.raises(InvalidInput, match=r"^state, action and next_state must have one length, not \(2, 1, 2\)$"):
        Transitions(np.array([0, 1]), np.array([0]), np.array([1, 0]))
    with pytest.raises(InvalidInput, match="^state 2 is not among 2 states$"):
        estimated_walk(ring(), 2, 2)
    with pytest.raises(InvalidInput, match="^action 1 is not among 1 actions$"):
        estimated_walk(ring(), 3, 1)
