"""Logarithms of fields that floating point cannot hold: against closed forms and an iteration in logarithms alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import EngineFailure
from scisuite.scenarios.nav import GridWorld, from_ascii, layouts
from scisuite.solvers.laplacian_nav import DiscountedWalk, GreenPotential, greedy_actions, laplacian
from scisuite.solvers.laplacian_nav.rollout import roll


def log_cosh(x):
    return x + np.log1p(np.exp(-2 * x)) - np.log(2)


def iterated_logarithms(A, goal):
    """Jacobi's iteration x ← (δ_g − (A − D) x) / D on log x, which adds and never subtracts."""
    A = A.tocoo()
    diagonal = np.zeros(A.shape[0])
    beside = A.row != A.col
    diagonal[A.row[~beside]] = A.data[~beside]
    row, col, weight = A.row[beside], A.col[beside], np.log(-A.data[beside])
    logs = np.full(A.shape[0], -np.inf)
    while True:
        new = np.full(A.shape[0], -np.inf)
        new[goal] = 0.0
        np.logaddexp.at(new, row, weight + logs[col])
        new -= np.log(diagonal)
        if np.array_equal(np.isinf(new), np.isinf(logs)) and np.allclose(new, logs, rtol=1e-15, atol=0):
            return new - new[goal]
        logs = new


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 700), st.floats(1e-3, 1e3), st.data())
def test_a_corridor_has_hyperbolic_cosines(n, eps, data):
    n = n + 1
    goal = data.draw(st.integers(0, n - 1))
    world = GridWorld(np.ones((1, n), dtype=bool))
    logs = GreenPotential(world, eps=eps).log_potential([goal])[:, 0]
    rate, x = np.arccosh(1 + eps / 2), np.arange(n)
    left = log_cosh(rate * (x + 0.5)) - log_cosh(rate * (goal + 0.5))
    right = log_cosh(rate * (n - x - 0.5)) - log_cosh(rate * (n - goal - 0.5))
    np.testing.assert_allclose(logs, np.where(x <= goal, left, right), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("eps", "deepest"), [(100.0, -700), (1e4, -1400)])
def test_a_maze_agrees_with_an_iteration_in_logarithms(eps, deepest):
    world = layouts.maze(np.random.default_rng(3), size=14, loop=0.02)
    potential = GreenPotential(world, eps=eps)
    goal = world.n - 1
    logs = potential.log_potential([0, goal])[:, 1]
    reference = iterated_logarithms(potential.matrix, goal)
    assert reference.min() < deepest
    np.testing.assert_allclose(logs, reference, rtol=1e-11, atol=1e-11)


def test_where_ascent_stops_on_an_underflown_field_it_goes_on_in_logarithms():
    world = layouts.maze(np.random.default_rng(0), size=20, loop=0.0)
    potential = GreenPotential(world, eps=100.0)
    goals, starts = [0, world.n - 1], np.arange(world.n)
    with pytest.warns(RuntimeWarning, match="underflows"):
        lost = greedy_actions(potential.potential(goals), world)
    assert (roll(lost, world, goals, starts, world.n) < 0).any()
    found = greedy_actions(potential.log_potential(goals), world)
    np.testing.assert_array_equal(roll(found, world, goals, starts, world.n), world.distances(goals))
    np.testing.assert_array_equal(greedy_actions(potential.ranking(goals), world), found)


def test_only_the_goals_that_underflow_are_ranked_by_logarithms():
    # Two corridors without a connection; only the long one underflows.
    world = from_ascii("." * 400 + "\n" + "#" * 400 + "\n" + "." * 30 + "#" * 370)
    potential = GreenPotential(world, eps=10.0)
    short_goal = 400
    ranking = potential.ranking([0, short_goal])
    logs = potential.log_potential([0, short_goal])
    np.testing.assert_array_equal(ranking[:, 0], logs[:, 0])
    np.testing.assert_array_equal(ranking[:, 1], potential.potential([short_goal])[:, 0])
    assert np.isneginf(logs[400:, 0]).all()
    assert np.isneginf(logs[:400, 1]).all()
    assert np.isfinite(logs[:400, 0]).all()


def test_a_discounted_walk_has_logarithms_along_its_directions():
    # A one-way ring: the only way to the goal is round, one factor γ a step.
    n, gamma = 1_500, 0.5
    ring = np.roll(np.eye(n), 1, axis=1)
    walk = DiscountedWalk(ring, gamma)
    logs = walk.log_potential([0])[:, 0]
    np.testing.assert_allclose(logs, -((n - np.arange(n)) % n) * np.log(2), rtol=1e-12)
    with pytest.warns(RuntimeWarning, match=r"^the potential of goal 0 underflows at \d+ states: .* a larger gamma$"):
        walk.potential([0])


def test_a_logarithm_that_cannot_be_continued_is_an_error():
    # One edge of weight 1e-320 beside a leak of 1 lowers the field by more than a number can say.
    weights = np.array([[0, 1, 0], [1, 0, 1e-320], [0, 1e-320, 0]])
    with pytest.raises(EngineFailure, match=r"^the logarithm of the potential cannot be continued: one edge lowers it"):
        GreenPotential(laplacian(weights), eps=1.0).log_potential([0])
