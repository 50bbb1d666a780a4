"""Place cells of many time scales."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GridWorld, make_world
from scisuite.solvers.laplacian_nav.place_cell import (
    TIMES,
    PlaceCellPlanner,
    embedded_similarities,
    fit_embeddings,
    neighbourhood_walk,
    place_cell_actions,
    similarities,
)
from scisuite.solvers.laplacian_nav.rollout import success_and_spl

ROOM = "......\n..##..\n......\n.#...."


def test_the_nine_move_walk():
    walk = neighbourhood_walk(GridWorld(np.ones((3, 3), dtype=bool))).toarray()
    np.testing.assert_allclose(walk.sum(axis=1), 1.0)
    np.testing.assert_allclose(walk[4], 1 / 9)
    # From a corner three moves are open; five are blocked and one stays.
    np.testing.assert_allclose(walk[0, [0, 1, 3, 4, 8]], [6 / 9, 1 / 9, 1 / 9, 1 / 9, 0])
    np.testing.assert_allclose(walk, walk.T)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_similarity_is_what_its_formula_says(seed):
    free = np.random.default_rng(seed).random((4, 5)) < 0.8
    if free.sum() < 2:
        return
    world = GridWorld(free)
    walk, goals = world.walk.toarray(), np.arange(world.n)
    found = similarities(world.walk, goals, times=(2, 4, 16))
    for t, q in zip((2, 4, 16), found, strict=True):
        kernel = np.linalg.matrix_power(walk, t)
        np.testing.assert_allclose(q, kernel / np.sqrt(np.outer(np.diag(kernel), np.diag(kernel))), atol=1e-12)
    # An inner product of unit vectors: Cauchy and Schwarz.
    assert found.max() <= 1 + 1e-12
    np.testing.assert_allclose(found[:, goals, goals], 1.0)


def test_times_are_the_powers_of_two_below_four_thousand():
    assert TIMES == (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


def test_small_values_keep_their_digits():
    corridor = GridWorld(np.ones((1, 60), dtype=bool))
    q = similarities(corridor.walk, [0], times=(64,))[0, :, 0]
    # Only the one path of 59 steps and those that waste at most five more lead so far.
    assert 0 < q[-1] < 1e-25
    assert (np.diff(q) < 0).all()


@pytest.mark.parametrize("world", ["fourrooms", "small_maze"])
def test_greedy_over_moves_and_times_finds_the_way(world):
    world = make_world(world)
    places = np.random.default_rng(0).permutation(world.n)
    goals, starts = places[:10], places[10:40]
    actions = place_cell_actions(similarities(world.walk, goals), world)
    assert world.open_moves[np.arange(world.n)[:, None], actions].all()
    assert success_and_spl(actions, world, goals, starts)["success"] >= 0.9


def test_the_largest_rise_at_any_time_wins():
    world = make_world("...")
    similarity = np.zeros((2, 3, 1))
    similarity[0, :, 0] = [0.3, 0.2, 0.0]
    similarity[1, :, 0] = [0.0, 0.0, 0.4]
    # From the middle: left gains 0.1 at the first time, right 0.4 at the second.
    np.testing.assert_array_equal(place_cell_actions(similarity, world)[:, 0], [1, 1, 3])


def test_the_continuous_planner_walks_round_walls():
    world = make_world(ROOM)
    goals = [world.state((2, 5)), world.state((0, 0))]
    planner = PlaceCellPlanner(similarities(neighbourhood_walk(world), goals), world, goals)
    path = planner.path((0.3, 0.2), goals[0])
    assert np.hypot(*(path[-1] - [2, 5])) <= 1.0
    steps = np.diff(path, axis=0)
    np.testing.assert_allclose(np.hypot(*steps.T), 1.0)
    assert world.free[tuple(np.rint(path).astype(int).T)].all()
    assert len(planner.path((2.0, 4.5), goals[0])) == 1
    assert len(planner.path((3.0, 5.0), goals[1], max_steps=2)) == 3


def test_on_the_open_lattice_the_planner_arrives():
    world = GridWorld(np.ones((16, 16), dtype=bool))
    goal = world.state((12, 3))
    planner = PlaceCellPlanner(similarities(neighbourhood_walk(world), [goal]), world, [goal])
    rng = np.random.default_rng(0)
    for start in rng.uniform(0, 15, size=(20, 2)):
        path = planner.path(start, goal)
        straight = np.hypot(*(start - [12, 3]))
        assert np.hypot(*(path[-1] - [12, 3])) <= 1.0
        assert len(path) - 1 <= 1.3 * straight + 2


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_learned_embeddings_are_non_negative_unit_and_near_the_exact_similarity():
    world = make_world("fourrooms", size=11)
    times = (4, 16)
    embeddings = fit_embeddings(world.walk, times, dim=40, steps=80, seed=1)
    assert embeddings.shape == (2, world.n, 40)
    assert embeddings.min() >= 0
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=2), 1.0)
    np.testing.assert_array_equal(embeddings, fit_embeddings(world.walk, times, dim=40, steps=80, seed=1))
    goals = np.arange(world.n)
    exact, learned = similarities(world.walk, goals, times), embedded_similarities(embeddings, goals)
    untrained = embedded_similarities(fit_embeddings(world.walk, times, dim=40, steps=1, seed=1), goals)
    assert np.abs(learned - exact).mean() < 0.08 < 0.5 * np.abs(untrained - exact).mean()


def test_bad_input():
    room, goal = make_world(ROOM), [0]
    with pytest.raises(
        InvalidInput, match="^place cells need a symmetric walk: every move must be as likely as the one"
    ):
        similarities(make_world("one_way").walk, goal)
    for times in ((3,), (4, 2), (), (0,)):
        with pytest.raises(InvalidInput, match="^times must be ascending powers of two, not "):
            similarities(room.walk, goal, times)
    with pytest.raises(InvalidInput, match=f"^goal {room.n} is not among {room.n} states$"):
        similarities(room.walk, [room.n])
    with pytest.raises(InvalidInput, match="^the nine-move walk is for worlds without thin walls or one-way doors$"):
        neighbourhood_walk(make_world("one_way"))
    q = similarities(room.walk, goal, (2,))
    with pytest.raises(InvalidInput, match=r"^similarity must have shape \(times, 3, goals\), not \(1, 21, 1\)$"):
        place_cell_actions(q, make_world("..."))
    with pytest.raises(InvalidInput, match="^the planner needs a map with edges, not a torus$"):
        PlaceCellPlanner(np.zeros((1, 400, 1)), make_world("torus"), goal)
    planner = PlaceCellPlanner(q, room, goal)
    with pytest.raises(InvalidInput, match=r"^the start must be a \(row, column\) in a free cell, not \(1, 2\)$"):
        planner.path((1, 2), 0)
    with pytest.raises(InvalidInput, match=r"^cell \(0, 1\) is not among the planner's goals$"):
        planner.path((0, 0), 1)
