"""Stable-Baselines3 draws from the global generators; this keeps what it does to them to itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


@contextmanager
def global_generators(seed: int | None = None) -> Iterator[None]:
    """Run the body with Python's, NumPy's and torch's global generators, and put them back as they were.

    Parameters
    ----------
    seed : int or None
        Seed of all three for the body; ``None`` leaves them.
    """
    import torch

    python_state, torch_state = random.getstate(), torch.random.get_rng_state()
    numpy_state = np.random.get_state()  # noqa: NPY002 — the generator that Stable-Baselines3 uses
    try:
        if seed is not None:
            random.seed(seed)
            np.random.seed(seed % 2**32)  # noqa: NPY002
            torch.manual_seed(seed)
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.random.set_rng_state(torch_state)
