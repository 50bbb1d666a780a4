"""The generators of layouts: what each of them promises, for any seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GridWorld, layouts

SEEDS = st.integers(0, 2**32)


def rng(seed=0):
    return np.random.default_rng(seed)


def n_edges(world):
    return world.W.nnz // 2


def n_components(world):
    return len(set(world.components.tolist()))


@given(SEEDS, st.integers(2, 8), st.integers(2, 8))
def test_a_perfect_maze_is_a_tree_of_all_rooms(seed, rows, columns):
    world = layouts.maze(rng(seed), (rows, columns))
    assert world.shape == (2 * rows + 1, 2 * columns + 1)
    assert world.free[1::2, 1::2].all()
    assert not world.free[::2, ::2].any()
    assert not np.concatenate([world.free[0], world.free[-1], world.free[:, 0], world.free[:, -1]]).any()
    assert world.n == 2 * rows * columns - 1
    assert n_edges(world) == world.n - 1
    assert n_components(world) == 1


@given(SEEDS, st.floats(0, 1), st.floats(0, 1))
def test_a_larger_loop_removes_the_same_walls_and_more(seed, one, other):
    less, more = sorted((one, other))
    few, many = layouts.maze(rng(seed), 6, less), layouts.maze(rng(seed), 6, more)
    assert not (few.free & ~many.free).any()
    assert n_components(few) == n_components(many) == 1
    assert n_edges(many) - many.n >= n_edges(few) - few.n


def test_loop_one_removes_every_inner_wall():
    world = layouts.maze(rng(), 5, 1.0)
    assert world.n == 25 + 2 * 5 * 4


def test_loop_is_the_share_of_inner_walls_removed():
    removed = [layouts.maze(rng(seed), 10, 0.2).n - 199 for seed in range(200)]
    assert np.mean(removed) == pytest.approx(0.2 * (180 - 99), rel=0.05)


def test_the_mazes_of_two_by_two_rooms_are_all_drawn_equally_often():
    """Four spanning trees; by symmetry each is as likely as the other."""
    drawn = [layouts.maze(rng(seed), 2).free.tobytes() for seed in range(400)]
    counts = sorted(drawn.count(tree) for tree in set(drawn))
    assert len(counts) == 4
    assert counts[0] > 70


def test_no_direction_is_preferred():
    """Mirrored and turned, a wall is open as often."""
    mean = np.mean([layouts.maze(rng(seed), 3).free for seed in range(600)], axis=0)
    np.testing.assert_allclose(mean, mean.T, atol=0.08)
    np.testing.assert_allclose(mean, np.rot90(mean), atol=0.08)


@given(SEEDS, st.integers(5, 14), st.integers(5, 14))
def test_four_rooms_joined_by_four_doors(seed, height, width):
    world = layouts.four_rooms(rng(seed), (height, width))
    assert world.shape == (height, width)
    assert world.n == (height - 3) * (width - 3) + 4
    assert n_components(world) == 1
    cross = world.free.copy()
    cross[:, np.arange(width) != width // 2] = False
    assert cross.sum() == 2  # doors of the upright wall
    assert not world.free[height // 2, width // 2]


@pytest.mark.parametrize(("size", "n"), [(19, 260), ((13, 19), 164)])
def test_sizes_of_the_four_rooms(size, n):
    assert layouts.four_rooms(rng(), size).n == n


@given(SEEDS, st.sampled_from([4, 8]))
def test_one_way_doors_lead_round_and_every_cell_is_still_reached(seed, neighbours):
    world = layouts.four_rooms(rng(seed), 9, one_way=True, neighbours=neighbours)
    assert not world.is_symmetric
    assert n_components(world) == 1
    both = layouts.four_rooms(rng(seed), 9, neighbours=neighbours)
    assert np.array_equal(world.free, both.free)
    one_way = (world.W != world.W.T).nnz // 2
    assert one_way == 8  # two moves at each of the four doors
    lost = both.distances([0]) - world.distances([0])
    assert (lost <= 0).all()
    assert (lost < 0).any()


def test_both_ways_round_are_drawn():
    drawn = {layouts.four_rooms(rng(seed), 5, one_way=True).closed.tobytes() for seed in range(20)}
    assert len(drawn) == 2


@given(SEEDS, st.integers(4, 12), st.integers(4, 12), st.floats(0, 0.7))
def test_obstacles_are_connected_and_every_other_cell_is_a_wall(seed, height, width, share):
    world = layouts.obstacles(rng(seed), (height, width), share)
    assert world.shape == (height, width)
    assert n_components(world) == 1
    assert 1 <= world.n <= height * width - layouts.n_blocked((height, width), share)


def test_obstacles_keep_the_largest_part():
    """The same draw, labelled by hand: nothing larger is thrown away."""
    drawn = rng(3)
    blocked = drawn.permutation(100)[: layouts.n_blocked(10, 0.5)]
    free = np.ones(100, bool)
    free[blocked] = False
    before = GridWorld(free.reshape(10, 10))
    sizes = np.bincount(before.components)
    assert len(sizes) > 1
    assert layouts.obstacles(rng(3), 10, 0.5).n == sizes.max()


def test_a_field_without_obstacles_and_a_large_one():
    assert layouts.obstacles(rng(), 5, 0).n == 25
    large = layouts.obstacles(rng(), 300, 0.2)
    assert 0.99 * 72_000 < large.n < 72_000


def test_open_box_and_torus():
    box, ring = layouts.open_box(rng()), layouts.torus(rng(), (4, 6))
    assert (box.n, box.shape, box.periodic) == (441, (21, 21), False)
    assert (ring.n, ring.shape, ring.periodic) == (24, (4, 6), True)
    assert set(ring.W.sum(axis=1).tolist()) == {4.0}


@given(SEEDS, st.integers(5, 24))
def test_a_spiral_is_one_corridor(seed, size):
    world = layouts.spiral(rng(seed), size)
    degree = np.diff(world.W.indptr)
    assert n_components(world) == 1
    assert n_edges(world) == world.n - 1
    assert sorted(set(degree.tolist())) == [1, 2]
    ends = np.flatnonzero(degree == 1)
    assert world.distances(ends[:1])[0, ends[1]] == world.n - 1
    assert world.n > 0.4 * size**2


def test_spirals_and_traps_are_laid_every_way_round():
    assert len({layouts.spiral(rng(seed), 9).free.tobytes() for seed in range(60)}) == 8
    assert len({layouts.u_trap(rng(seed), 9).free.tobytes() for seed in range(60)}) == 4


@given(SEEDS, st.integers(5, 24))
def test_a_u_traps_the_straight_line(seed, size):
    world = layouts.u_trap(rng(seed), size)
    assert n_components(world) == 1
    middle = world.state((size // 2, size // 2)) if world.free[size // 2, size // 2] else None
    assert middle is not None
    straight = np.abs(world.xy - world.xy[middle]).sum(axis=1)
    assert (world.distances([middle])[0] > straight + 1).any()


DRAWN = [
    layouts.four_rooms,
    lambda rng, size, **kind: layouts.four_rooms(rng, size, one_way=True, **kind),
    layouts.maze,
    layouts.open_box,
    layouts.torus,
    layouts.spiral,
    layouts.u_trap,
    layouts.obstacles,
]


@settings(max_examples=5)
@given(SEEDS)
@pytest.mark.parametrize("draw", DRAWN)
def test_the_same_state_draws_the_same_world_and_the_kind_of_moves_changes_nothing_else(draw, seed):
    one, same = draw(rng(seed), 7), draw(rng(seed), 7)
    other = draw(rng(seed), 7, neighbours=8, slip=0.5)
    assert np.array_equal(one.free, same.free)
    assert np.array_equal(one.moves, same.moves)
    assert np.array_equal(one.free, other.free)
    assert (one.neighbours, one.slip, other.neighbours, other.slip) == (4, 0, 8, 0.5)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: layouts.four_rooms(rng(), 4), "size must be a whole number of at least 5, not 4"),
        (lambda: layouts.four_rooms(rng(), (9, 4)), "size must be a whole number of at least 5, not 4"),
        (lambda: layouts.four_rooms(rng(), (9, 9, 9)), "size must be one whole number or two, not [9, 9, 9]"),
        (lambda: layouts.maze(rng(), 1), "size must be a whole number of at least 2, not 1"),
        (lambda: layouts.maze(rng(), 2.0), "size must be a whole number of at least 2, not 2.0"),
        (lambda: layouts.maze(rng(), True), "size must be a whole number of at least 2, not True"),
        (lambda: layouts.maze(rng(), "9"), "size must be a whole number of at least 2, not '9'"),
        (lambda: layouts.maze(rng(), 4, 1.5), "loop must be a probability in [0, 1], not 1.5"),
        (lambda: layouts.maze(rng(), 4, float("nan")), "loop must be a probability in [0, 1], not nan"),
        (lambda: layouts.maze(rng(), 4, "a"), "loop must be a probability in [0, 1], not 'a'"),
        (lambda: layouts.open_box(rng(), 1), "size must be a whole number of at least 2, not 1"),
        (lambda: layouts.torus(rng(), 2), "size must be a whole number of at least 3, not 2"),
        (lambda: layouts.spiral(rng(), (9, 9)), "size must be a whole number of at least 5, not (9, 9)"),
        (lambda: layouts.u_trap(rng(), 4), "size must be a whole number of at least 5, not 4"),
        (lambda: layouts.obstacles(rng(), 3), "size must be a whole number of at least 4, not 3"),
        (lambda: layouts.obstacles(rng(), 9, 1.0), "share must be a number in [0, 1), not 1.0"),
        (lambda: layouts.obstacles(rng(), 9, -0.1), "share must be a number in [0, 1), not -0.1"),
        (lambda: layouts.open_box(rng(), 9, neighbours=5), "neighbours must be 4 or 8, not 5"),
    ],
)
def test_bad_sizes_and_shares(draw, message):
    with pytest.raises(InvalidInput) as caught:
        draw()
    assert str(caught.value) == message
