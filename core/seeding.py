"""Seeds and generators: every random number in scisuite comes from a generator made here and passed down."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from scisuite.core.errors import InvalidInput


def as_seed(seed: Any) -> int:
    """Return ``seed`` as a Python integer in [0, 2**63).

    Raises
    ------
    InvalidInput
        If it is not an integer (booleans and floats are refused) or is negative.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise InvalidInput(f"seed must be a non-negative integer, not {seed!r} ({type(seed).__name__})")
    if not 0 <= int(seed) < 2**63:
        raise InvalidInput(f"seed must be in [0, 2**63), not {seed}")
    return int(seed)


def generator(seed: int, *purpose: str | int) -> np.random.Generator:
    """Return the generator of ``seed`` for one purpose.

    Streams of different purposes are independent, so that drawing more numbers for one of them (say, a noisy
    oracle) leaves the others (say, the starting points) as they were.

    >>> a, b = generator(0, "starts"), generator(0, "noise")
    >>> bool(a.random() != b.random())
    True
    """
    words = [as_seed(seed)]
    for part in purpose:
        words.append(int.from_bytes(hashlib.sha256(str(part).encode()).digest()[:8], "little"))
    return np.random.default_rng(np.random.SeedSequence(words))


@contextmanager
def global_random_state_untouched() -> Iterator[None]:
    """Fail with ``AssertionError`` if the body moves NumPy's, Python's or torch's global random state.

    The contract checks run every fit inside it.
    """
    import random
    import sys

    torch = sys.modules.get("torch")

    def state() -> tuple[Any, ...]:
        numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002 - only looked at
        key, position = numpy_state["state"]["key"].tobytes(), numpy_state["state"]["pos"]
        gauss = (numpy_state["has_gauss"], numpy_state["gauss"])
        torch_state = torch.random.get_rng_state().numpy().tobytes() if torch is not None else b""
        return (random.getstate(), key, position, gauss, torch_state)

    before = state()
    yield
    assert state() == before, "the global random state was moved; pass a generator instead"
