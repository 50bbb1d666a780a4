"""Seeds are checked, streams are reproducible and independent, and the global state is watched."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import InvalidInput, as_seed, generator
from scisuite.core.seeding import global_random_state_untouched

SEEDS = st.integers(0, 2**63 - 1)


@given(SEEDS)
def test_integers_are_seeds(seed: int) -> None:
    assert as_seed(seed) == as_seed(np.int64(seed)) == seed
    assert type(as_seed(np.int64(seed))) is int


@pytest.mark.parametrize("seed", [1.0, np.float64(1), True, np.True_, "1", None, [1], np.array([1])])
def test_other_types_are_refused(seed: object) -> None:
    with pytest.raises(InvalidInput, match="seed must be a non-negative integer"):
        as_seed(seed)


@pytest.mark.parametrize("seed", [-1, 2**63, np.uint64(2**63)])
def test_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(InvalidInput, match=r"seed must be in \[0, 2\*\*63\)"):
        as_seed(seed)


@given(SEEDS, st.text(max_size=8))
def test_same_seed_and_purpose_give_the_same_stream(seed: int, purpose: str) -> None:
    assert (generator(seed, purpose).random(4) == generator(seed, purpose).random(4)).all()


@given(SEEDS)
def test_purposes_and_seeds_separate_streams(seed: int) -> None:
    streams = [
        generator(seed).random(),
        generator(seed, "starts").random(),
        generator(seed, "noise").random(),
        generator(seed, "starts", "noise").random(),
        generator(seed, "noise", "starts").random(),
        generator(seed ^ 1, "starts").random(),
    ]
    assert len(set(streams)) == len(streams)


def test_generator_refuses_what_is_no_seed() -> None:
    with pytest.raises(InvalidInput):
        generator(1.5, "starts")  # type: ignore[arg-type]


def test_the_watch_passes_when_generators_are_used() -> None:
    with global_random_state_untouched():
        value = generator(0).random()
    assert 0 <= value < 1


@pytest.mark.parametrize("move", [np.random.random, np.random.standard_normal, random.random])
def test_the_watch_sees_global_draws(move: object) -> None:
    before = np.random.get_state(), random.getstate()
    try:
        with pytest.raises(AssertionError, match="global random state was moved"), global_random_state_untouched():
            move()  # type: ignore[operator]
    finally:
        np.random.set_state(before[0])
        random.setstate(before[1])


def test_the_watch_sees_torch() -> None:
    torch = sys.modules.get("torch") or pytest.importorskip("torch")
    before = torch.random.get_rng_state()
    try:
        with pytest.raises(AssertionError, match="global random state was moved"), global_random_state_untouched():
            torch.rand(1)
    finally:
        torch.random.set_rng_state(before)
