"""Walks through Miniworld."""

from importlib.util import find_spec

import numpy as np
import pytest

from scisuite.core import EngineFailure, InvalidInput
from scisuite.solvers.laplacian_nav.first_person import FirstPersonWalk, miniworld_fit, view_frames


def test_the_graph_of_the_poses_that_were_seen():
    walk = FirstPersonWalk(
        views=np.zeros((3, 5, 30, 40), dtype=np.uint8),
        poses=np.zeros((3, 3)),
        visited=np.array([0, 1, 1, 0, 2, 0]),
        action=np.zeros(5, dtype=np.int64),
    )
    assert walk.graph().toarray().tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]


def test_a_walk_of_no_steps():
    with pytest.raises(InvalidInput, match=r"^steps must be a positive whole number, not 0$"):
        view_frames(0, 0)


@pytest.fixture(scope="module")
def walk():
    # Not importorskip: imported before pyglet is told that there is no screen, miniworld looks for one.
    if find_spec("miniworld") is None:
        pytest.skip("miniworld is not installed")
    try:
        return view_frames(300, 0)
    except EngineFailure as error:
        pytest.skip(str(error))


def test_moves_are_quarter_turns_and_steps_that_can_be_taken_back(walk):
    before, after = walk.poses[walk.visited[:-1]], walk.poses[walk.visited[1:]]
    turned = (after[:, 2] - before[:, 2]) % 4
    assert np.array_equal(turned, np.array([1, 3, 0, 0])[walk.action])
    moved = np.abs(after[:, :2] - before[:, :2]).sum(axis=1)
    assert set(np.round(moved, 3)) == {0.0, 1.0}
    assert (moved[walk.action < 2] == 0).all()
    assert len(np.unique(walk.poses, axis=0)) == len(walk.poses)


def test_what_is_seen_is_drawn_and_tells_the_heading(walk):
    assert walk.views.dtype == np.uint8
    assert walk.views.shape == (len(walk.poses), 5, 30, 40)
    assert walk.views[:, :3].std(axis=(1, 2, 3)).min() > 1
    headings = walk.views[:, 3:, 0, 0]
    assert len(np.unique(headings, axis=0)) == len(np.unique(walk.poses[:, 2]))


def test_the_same_seed_sees_the_same(walk):
    again = view_frames(300, 0)
    assert np.array_equal(again.views, walk.views)
    assert np.array_equal(again.visited, walk.visited)


def test_modes_from_views(walk):
    pytest.importorskip("torch")
    figures = miniworld_fit(0, budget="3 steps", transitions=400, k=2)
    assert 0 <= figures["overlap8"] <= 1
    assert 0 < figures["overlap8_ceiling"] < 1
    assert figures["distinct_views"] <= figures["poses"]
