"""The discounted walk: what its columns are, that ascent needs no symmetry, and what is refused."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import RIGHT, GraphWorld, GridWorld
from scisuite.solvers.laplacian_nav.discounted import DiscountedWalk
from scisuite.solvers.laplacian_nav.operators import can_reach
from scisuite.solvers.laplacian_nav.policy import GreenPolicy, local_maxima
from scisuite.solvers.laplacian_nav.rollout import roll

EXAMPLES = settings(max_examples=30, deadline=None)


def directed_weights(seed):
    """A random directed graph, some of whose states may lead nowhere."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    W = np.where(rng.random((n, n)) < rng.choice([0.05, 0.15, 0.5]), 10 ** rng.uniform(-2, 2, (n, n)), 0.0)
    W[0, 1] = 1.0
    return W


def walk_of(W, rng):
    """The walk of ``W`` with random laziness; a state that leads nowhere stays."""
    total = W.sum(axis=1)
    lazy = np.where(total > 0, rng.uniform(0, 0.9, len(W)), 1.0)
    P = (1 - lazy)[:, None] * W / np.where(total > 0, total, 1.0)[:, None]
    return P + np.diag(lazy)


@EXAMPLES
@given(st.integers(0, 2**32), st.floats(0.3, 0.999))
def test_ascent_arrives_from_everywhere_that_a_path_leads_from(seed, gamma):
    W = directed_weights(seed)
    np.fill_diagonal(W, 0.0)
    world = GraphWorld(W)
    P = walk_of(W, np.random.default_rng(seed))
    goals = np.arange(world.n)
    walk = DiscountedWalk(P, gamma)
    values = walk.potential(goals)
    np.testing.assert_allclose(values, np.linalg.inv(np.eye(world.n) - gamma * P), rtol=1e-7, atol=1e-9)
    reach = np.stack([can_reach(world.W, goal) for goal in goals], axis=1)
    np.testing.assert_array_equal(values > 0, reach)
    assert sum(local_maxima(values[:, goal], world, goal=goal) for goal in goals) == 0
    steps = roll(GreenPolicy(walk, world).actions(goals), world, goals, goals, world.n - 1)
    np.testing.assert_array_equal(steps.T >= 0, reach)


def test_one_way_doors_are_taken_the_way_they_open():
    closed = np.zeros((1, 6, 4), dtype=bool)
    closed[0, 2, RIGHT] = True  # no way right from the third cell on, but back round the ring
    world = GridWorld(np.ones((1, 6), dtype=bool), periodic=True, closed=closed)
    steps = roll(GreenPolicy(DiscountedWalk(world.walk, 0.95), world).actions([3]), world, [3], np.arange(6), 6)
    np.testing.assert_array_equal(steps, world.distances([3]))
    assert steps.tolist() == [[3, 4, 5, 0, 1, 2]]


def test_a_row_may_lose_some_of_the_walkers():
    assert DiscountedWalk([[0, 0.5], [0, 0]], 0.8).potential([1]).ravel().tolist() == [0.4, 1.0]


def test_a_walk_that_never_moves_is_only_where_it_is():
    np.testing.assert_allclose(DiscountedWalk(np.eye(3), 0.75).potential([1]).ravel(), [0, 4, 0])


def test_many_goals_take_one_factorisation_and_a_copy_makes_its_own():
    walk = DiscountedWalk(GridWorld(np.ones((4, 4), dtype=bool)).walk, 0.9)
    values = walk.potential([0, 7])
    factors = walk._factors
    np.testing.assert_array_equal(walk.potential([7])[:, 0], values[:, 1])
    assert walk._factors is factors
    assert walk.residual < 1e-14
    assert walk.potential([]).shape == (16, 0)
    for twin in (copy.deepcopy(walk), pickle.loads(pickle.dumps(walk))):
        np.testing.assert_array_equal(twin.potential([0, 7]), values)


@pytest.mark.parametrize(
    ("P", "gamma", "message"),
    [
        (np.eye(2), 1.0, "gamma must be a discount in (0, 1), not 1.0"),
        (np.eye(2), 0, "gamma must be a discount in (0, 1), not 0"),
        (np.eye(2), "0.9", "gamma must be a discount in (0, 1), not '0.9'"),
        (np.ones((2, 3)), 0.9, "P must be a square matrix, not of shape (2, 3)"),
        ([[1, 0], [-0.5, 1]], 0.9, "P must be finite and not negative, but P[1, 0] is -0.5"),
        ([[1, np.nan], [0, 1]], 0.9, "P must be finite and not negative, but P[0, 1] is nan"),
        ([[1, 0], [0.5, 0.7]], 0.9, "row 1 of P sums to 1.2; probabilities sum to at most 1"),
    ],
)
def test_what_is_no_walk_is_refused(P, gamma, message):
    with pytest.raises(InvalidInput) as caught:
        DiscountedWalk(P, gamma)
    assert str(caught.value) == message


def test_a_goal_that_is_no_state_is_refused():
    with pytest.raises(InvalidInput, match=r"^goal 2 is not one of the 2 states$"):
        DiscountedWalk(np.eye(2), 0.9).potential([2])
