"""What passes between a campaign, the two sources and the one who runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import EngineFailure

Array = NDArray[np.float64]
Source = Literal["llm", "real"]


class PoolExhausted(EngineFailure):
    """Every row of the pool has been run, or has no answer, before the budget was spent."""


@dataclass(frozen=True)
class Query:
    """A question to one of the two sources.

    ``x`` is the point in the user's units, ``encoded`` the same as a row of [0, 1], ``index`` its row in the pool.
    """

    id: int
    x: dict[str, Any]
    source: Source
    encoded: tuple[float, ...]
    index: int | None = None


@dataclass(frozen=True)
class Candidate:
    """What a subclass wants done with one point: ask the language model, run it for real, or both."""

    encoded: Array
    index: int | None
    ask_llm: bool
    run_real: bool
    p_delta: float | None = None


@dataclass(frozen=True)
class Step:
    """One answered query. ``value`` is NaN where the language model gave no usable answer."""

    query: Query
    value: float
    p_delta: float | None
    rho: float | None
    best: float
    n_real: int
    n_llm: int


@dataclass
class Trace:
    """The answered queries of a campaign, in order."""

    steps: list[Step] = field(default_factory=list)

    def real_values(self) -> Array:
        """Values of the real runs, in order, (n_real,)."""
        return np.array([s.value for s in self.steps if s.query.source == "real"])

    def best_values(self) -> Array:
        """Best real value after each real run, (n_real,)."""
        return np.array([s.best for s in self.steps if s.query.source == "real"])
