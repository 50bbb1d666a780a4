"""The successor representation by temporal differences."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import make_world
from scisuite.solvers.laplacian_nav.successor import successor_actions, td_successor
from scisuite.solvers.laplacian_nav.tried_moves import TriedMoves
from scisuite.solvers.laplacian_nav.walks import random_walk

ROOM = "....\n.#..\n...."


def test_it_tends_to_the_inverse():
    world = make_world(ROOM)
    walk = random_walk(world, 100_000, seed=0)
    exact = np.linalg.inv(np.eye(world.n) - 0.8 * world.walk.toarray())
    learned = td_successor(walk, world.n, gamma=0.8, alpha=0.01)
    np.testing.assert_allclose(learned, exact, atol=0.2)
    assert np.corrcoef(learned.ravel(), exact.ravel())[0, 1] > 0.995
    # What a state expects in all is 1 / (1 − γ), whatever the walk.
    np.testing.assert_allclose(learned.sum(axis=1), 5.0, rtol=1e-3)


def test_it_is_the_textbooks_rule_and_can_be_gone_on_with():
    world = make_world(ROOM)
    walk = random_walk(world, 300, seed=2)
    successor = np.zeros((world.n, world.n))
    for state, following in zip(walk.state, walk.next_state, strict=True):
        target = 0.9 * successor[following]
        target[state] += 1
        successor[state] += 0.2 * (target - successor[state])
    np.testing.assert_allclose(td_successor(walk, world.n, 0.9, 0.2), successor, atol=1e-12)
    half = td_successor(walk[:150], world.n, 0.9, 0.2)
    kept = half.copy()
    np.testing.assert_allclose(td_successor(walk[150:], world.n, 0.9, 0.2, initial=half), successor, atol=1e-12)
    np.testing.assert_array_equal(half, kept)


def test_sweeps_go_over_the_walk_again_and_backwards_where_asked():
    world = make_world(ROOM)
    walk = random_walk(world, 200, seed=4)
    once = td_successor(walk, world.n)
    np.testing.assert_array_equal(td_successor(walk, world.n, sweeps=2), td_successor(walk, world.n, initial=once))
    turned = type(walk)(walk.state[::-1], walk.action[::-1], walk.next_state[::-1])
    np.testing.assert_array_equal(td_successor(walk, world.n, reverse=True), td_successor(turned, world.n))
    assert not np.array_equal(td_successor(walk, world.n, reverse=True), once)
    for sweeps in (0, 1.5, True):
        with pytest.raises(InvalidInput, match=f"^sweeps must be a whole number of at least 1, not {sweeps!r}$"):
            td_successor(walk, world.n, sweeps=sweeps)


def test_its_ascent_arrives_when_it_has_seen_enough():
    world = make_world(ROOM)
    walk = random_walk(world, 50_000, seed=0)
    actions = successor_actions(td_successor(walk, world.n, alpha=0.02), TriedMoves.of(walk, world.n, 4), [0])[:, 0]
    for state in range(1, world.n):
        for _ in range(world.n):
            state = world.moves[state, actions[state]]
            if state == 0:
                break
        assert state == 0


def test_bad_input():
    walk = random_walk(make_world(ROOM), 50, seed=0)
    with pytest.raises(InvalidInput, match=r"^alpha must be in \(0, 1\], not 2$"):
        td_successor(walk, 11, alpha=2)
    with pytest.raises(InvalidInput, match=r"^gamma must be in \(0, 1\), not 0$"):
        td_successor(walk, 11, gamma=0)
    with pytest.raises(InvalidInput, match=r"^initial must have shape \(11, 11\), not \(2, 2\)$"):
        td_successor(walk, 11, initial=np.zeros((2, 2)))
    with pytest.raises(InvalidInput, match=f"^state {walk.state.max()} is not among 3 states$"):
        td_successor(walk, 3)
