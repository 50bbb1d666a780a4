"""Q-learning of many goals against the textbook's loop, and how the variants compare."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import make_world
from scisuite.solvers.laplacian_nav.q_learning import all_goals_q, dyna_q, her_q, q_actions
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import Transitions, random_walk

ROOM = "....\n.#..\n...."


def textbook(transitions, n, n_actions, goals, alpha, gamma, sweeps, reverse, initial=None):
    q = np.zeros((len(goals), n, n_actions)) if initial is None else initial.copy()
    order = range(len(transitions))[::-1] if reverse else range(len(transitions))
    for _ in range(sweeps):
        for t in order:
            x, a, y = transitions.state[t], transitions.action[t], transitions.next_state[t]
            for k, goal in enumerate(goals):
                target = 1.0 if y == goal else gamma * q[k, y].max()
                q[k, x, a] = (1 - alpha) * q[k, x, a] + alpha * target
    return q


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    sweeps=st.integers(1, 3),
    reverse=st.booleans(),
    slip=st.sampled_from([0.0, 0.3]),
    alpha=st.sampled_from([0.1, 0.5, 1.0]),
    proceed=st.booleans(),
)
def test_all_goals_at_once_is_each_goal_by_itself(seed, sweeps, reverse, slip, alpha, proceed):
    world = make_world(ROOM, slip=slip)
    walk, goals = random_walk(world, 120, seed=seed), [0, 7, 3]
    initial = np.random.default_rng(seed).random((3, world.n, 4)) if proceed else None
    ours = all_goals_q(walk, world.n, 4, goals, alpha, 0.9, sweeps, reverse, initial)
    theirs = textbook(walk, world.n, 4, goals, alpha, 0.9, sweeps, reverse, initial)
    np.testing.assert_allclose(ours, theirs, atol=1e-13)


def test_enough_replay_gives_the_discounted_distances():
    world = make_world(ROOM)
    walk, goals = random_walk(world, 2_000, seed=0), np.array([0, 10])
    q = all_goals_q(walk, world.n, 4, goals, gamma=0.9, sweeps=30, reverse=True)
    distances = world.distances(goals)
    for k, goal in enumerate(goals):
        away = np.arange(world.n) != goal
        np.testing.assert_allclose(q[k].max(axis=1)[away], 0.9 ** (distances[k][away] - 1.0), rtol=1e-6)
    actions = q_actions(q, TriedMoves.of(walk, world.n, 4))
    nearer = distances[0][world.moves[np.arange(world.n), actions[:, 0]]]
    assert (nearer[1:] == distances[0][1:] - 1).all()


def test_dyna_and_hindsight_learn_the_same_distances_more_slowly():
    world = make_world(ROOM)
    walk, goals = random_walk(world, 3_000, seed=0), [0]
    exact = 0.9 ** (world.distances(goals)[0][1:] - 1.0)
    for learn, of_walk in ((dyna_q, walk), (her_q, random_walk(world, 20_000, seed=0))):
        q = learn(of_walk, world.n, 4, goals, gamma=0.9, seed=1)[0]
        assert q.max() <= 1.0
        assert (q[1:].max(axis=1) <= exact + 1e-12).all()
        np.testing.assert_allclose(q[1:].max(axis=1), exact, rtol=0.05)
        np.testing.assert_array_equal(q, learn(of_walk, world.n, 4, goals, gamma=0.9, seed=1)[0])
    few = walk[:60]
    reached = [(q > 0).sum() for q in (all_goals_q(few, world.n, 4, [0]), dyna_q(few, world.n, 4, [0]))]
    assert reached[0] < reached[1]


def test_dyna_with_one_goal_is_dyna_with_many():
    world = make_world(ROOM)
    walk = random_walk(world, 300, seed=0)
    together = dyna_q(walk, world.n, 4, [2, 5], seed=3)
    np.testing.assert_array_equal(together[1], dyna_q(walk, world.n, 4, [5], seed=3)[0])


def test_hindsight_draws_from_the_rest_of_the_episode():
    # Two walks of two steps: what the second reaches is no goal for the first.
    apart = Transitions(np.array([0, 1, 3, 4]), np.zeros(4, int), np.array([1, 2, 4, 5]))
    q = her_q(apart, 6, 1, [2, 5], relabels=50, alpha=1.0, sweeps=2)
    np.testing.assert_allclose(q[0, :, 0], [0.97, 1, 0, 0, 0, 0])
    np.testing.assert_allclose(q[1, :, 0], [0, 0, 0, 0.97, 1, 0])
    line = Transitions(np.arange(4), np.zeros(4, int), np.arange(1, 5))
    cut = her_q(line, 5, 1, [4], relabels=50, alpha=1.0, episode=2, sweeps=3)[0, :, 0]
    np.testing.assert_allclose(cut, [0, 0, 0.97, 1, 0])
    repeated = her_q(line, 5, 1, [4, 4], relabels=5)
    np.testing.assert_array_equal(repeated[0], repeated[1])


def test_no_transitions_teach_nothing():
    nothing = random_walk(make_world(ROOM), 5, seed=0)[:0]
    for learn in (all_goals_q, dyna_q, her_q):
        np.testing.assert_array_equal(learn(nothing, 11, 4, [0, 1]), np.zeros((2, 11, 4)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, r"^alpha must be in \(0, 1\], not 0$"),
        ({"gamma": 1.0}, r"^gamma must be in \(0, 1\), not 1.0$"),
        ({"sweeps": 0}, "^sweeps must be a positive whole number, not 0$"),
        ({"goals": [11]}, "^goal 11 is not among 11 states$"),
        ({"goals": [0.5]}, r"^goals must be whole numbers in one dimension, not float64 of shape \(1,\)$"),
        (
            {"initial": np.zeros((2, 11, 4))},
            r"^initial must be of shape \(1, 11, 4\) and in \[0, 1\], not \(2, 11, 4\)$",
        ),
        ({"initial": np.full((1, 11, 4), np.nan)}, r"^initial must be of shape \(1, 11, 4\) and in \[0, 1\], not"),
        ({"n_actions": 2}, "^action 3 is not among 2 actions$"),
    ],
)
def test_bad_input(arguments, message):
    walk = random_walk(make_world(ROOM), 50, seed=0)
    with pytest.raises(InvalidInput, match=message):
        all_goals_q(**{"transitions": walk, "n": 11, "n_actions": 4, "goals": [0], **arguments})


def test_bad_counts():
    walk = random_walk(make_world(ROOM), 50, seed=0)
    with pytest.raises(InvalidInput, match="^planning must be a positive whole number, not True$"):
        dyna_q(walk, 11, 4, [0], planning=True)
    with pytest.raises(InvalidInput, match="^episode must be a positive whole number, not -1$"):
        her_q(walk, 11, 4, [0], episode=-1)
