"""What is seen between two batches."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite.solvers.active_rct.loop import ActiveRCT
from scisuite.solvers.active_rct.scores import fractional_rank

Floats = NDArray[np.float64]
Terms = tuple[Floats, Floats, Floats]

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
N_SUMMARY = 20

_LARGEST = float(np.finfo(np.float32).max)


def summary_space() -> gym.spaces.Box:
    """A new space of :func:`summary`."""
    low, high = np.zeros(N_SUMMARY, np.float32), np.ones(N_SUMMARY, np.float32)
    high[2:7] = high[19] = _LARGEST
    low[19] = -_LARGEST
    return gym.spaces.Box(low, high, dtype=np.float32)


def pool_space(n_pool: int) -> gym.spaces.Dict:
    """A new space of observations with the pool, unit by unit."""
    return gym.spaces.Dict(
        {
            "mask": gym.spaces.Box(0, 1, (n_pool,), np.int8),
            "ranks": gym.spaces.Box(0.0, 1.0, (n_pool, 3), np.float32),
            "summary": summary_space(),
        }
    )


def terms_of(loop: ActiveRCT) -> Terms:
    """Raw v, d and o of the units left, empty where none is."""
    if not len(loop.left):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    return loop.terms((1.0, 1.0, 1.0))


def summary(loop: ActiveRCT, terms: Terms, *, budget: int, rounds: int, metric: float) -> NDArray[np.float32]:
    """float32 (20,): shares of rounds and budget that are spent; quantiles of v, d and o; treated share of the
    randomised units; their share of the training rows; the last value of the metric."""
    n = loop.n_spent
    treated = sum(int(each.t.sum()) for each in loop.history)
    quantiles = [np.quantile(term, QUANTILES) if len(term) else np.zeros(len(QUANTILES)) for term in terms]
    shares = [len(loop.history) / rounds, n / budget]
    rest = [treated / n if n else 0.0, n / (n + len(loop.observational)), metric]
    return np.asarray(np.clip(np.concatenate([shares, *quantiles, rest]), -_LARGEST, _LARGEST), dtype=np.float32)


def pool_view(loop: ActiveRCT, terms: Terms, n_pool: int) -> dict[str, Any]:
    """``mask``, 1 for a unit that may be chosen, and ``ranks``, float32 (n_pool, 3), η of v, d and o, 0 elsewhere."""
    left = loop.left
    seen = left < n_pool
    mask, ranks = np.zeros(n_pool, np.int8), np.zeros((n_pool, 3), np.float32)
    mask[left[seen]] = 1
    for column, term in enumerate(terms):
        ranks[left[seen], column] = fractional_rank(term)[seen]
    return {"mask": mask, "ranks": ranks}
