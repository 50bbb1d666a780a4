"""Pictures of a world."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.pixels import images
from scisuite.scenarios.nav.world import GridWorld

MAPS = arrays(np.bool_, st.tuples(st.integers(1, 6), st.integers(1, 6))).filter(lambda free: free.any())


@given(MAPS)
def test_one_picture_a_state_and_no_two_alike(free):
    world = GridWorld(free)
    drawn = images(world)
    assert drawn.dtype == np.float32
    assert drawn.shape == (world.n, 2, *world.shape)
    assert np.array_equal(drawn[:, 0], np.broadcast_to(~free, (world.n, *free.shape)))
    assert np.array_equal(np.argwhere(drawn[:, 1]), np.column_stack([np.arange(world.n), world.xy]))
    assert set(np.unique(drawn)) <= {0.0, 1.0}


def test_the_states_that_are_asked_for_in_their_order():
    world = GridWorld(np.array([[True, False], [True, True]]))
    assert np.array_equal(images(world, [2, 0, 2]), images(world)[[2, 0, 2]])
    assert images(world, []).shape == (0, 2, 2, 2)


def test_refusals():
    world = GridWorld(np.ones((2, 2), dtype=bool))
    with pytest.raises(InvalidInput, match=r"^images need a GridWorld, which has a map, not a list$"):
        images([[1, 0]])
    with pytest.raises(InvalidInput, match=r"^state 4 is not in this world of 4 states$"):
        images(world, [4])
