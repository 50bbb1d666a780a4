"""Small trials of each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scisuite.scenarios.trials import Logged, Trial


def replayed_trial(seed: int = 0, *, binary: bool = True, n: int = 120) -> Trial:
    """A replayed trial of p = ¼ and no known effects; the outcome depends on treatment where x₁ > 0."""
    rng = np.random.default_rng(seed)

    def logged(n: int, p: float | None) -> Logged:
        x = rng.standard_normal((n, 2))
        t = (rng.random(n) < (0.25 if p else 1 / (1 + np.exp(-x[:, 1])))).astype(int)
        y = (rng.random(n) < 0.2 + 0.5 * t * (x[:, 0] > 0)).astype(float)
        return Logged(x, t, y if binary else y + rng.standard_normal(n), p=None if p is None else np.full(n, p))

    pool = logged(n, 0.25)
    return Trial(
        name="small",
        features=("x1", "x2"),
        observational=logged(80, None),
        pool_x=pool.x,
        validation=logged(150, 0.25),
        test=logged(150, 0.25),
        pool=pool,
        binary=binary,
    )


@pytest.fixture
def replay() -> Any:
    return replayed_trial
