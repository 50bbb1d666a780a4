"""Black boxes whose answers are a table: every point that can be asked for is a row of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput, Space
from scisuite.scenarios.base import Array, BlackBoxScenario, Description

MATCH_TOLERANCE = 1e-9
"""How far, in encoded units and in any column, a query may lie from the pool row that it names."""


class TabularScenario(BlackBoxScenario):
    """A finite pool with one value per row.

    Parameters
    ----------
    space : Space
    pool : float64 (N, d)
        Distinct encoded rows inside ``space``; at least two.
    values : float64 (N,)
        The measured values, in ``unit``, not all alike.
    summary, source, licence : str
        As in :class:`~scisuite.scenarios.Description`; the summary is also what a language model is told.
    real : bool
    maximise : bool
    value_name, unit : str
    value_range : (float, float)
        Declared range of any value, in ``unit``.
    seed : int
        Kept for the contract; the table does not depend on it.

    Raises
    ------
    InvalidInput
        If the rows repeat, leave the space or are fewer than two, a value is not finite or outside ``value_range``,
        or half of the values or more are already the best one, so that there is nothing to look for.
    """

    pool: Array

    def __init__(
        self,
        space: Space,
        pool: Any,
        values: Any,
        *,
        value_range: tuple[float, float],
        summary: str,
        source: str,
        licence: str = "unstated",
        real: bool = True,
        maximise: bool = True,
        value_name: str = "value",
        unit: str = "",
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        self.space = space
        self.maximise = bool(maximise)
        self.value_name = value_name
        self.unit = unit
        self._about = (summary, source, licence, real)
        self.pool = _locked(space.require(pool))
        self._values = _locked(np.array(values, dtype=np.float64))
        self.value_range = _checked_range(value_range)
        self._check()
        self.optimum = float(self._values.max() if maximise else self._values.min())
        self.median = float(np.median(self._values))
        if self.median == self.optimum:
            raise InvalidInput(
                f"at least half of the rows already have the best {value_name}, {self.optimum:g}: nothing to look for"
            )
        self._index_pool()

    def describe(self) -> Description:
        summary, source, licence, real = self._about
        return Description(
            id=self.id,
            summary=summary,
            source=source,
            licence=licence,
            real=real,
            shapes={"pool": self.pool.shape, "values": self._values.shape},
            units={**self.space.units, self.value_name: self.unit},
        )

    def evaluate(self, x: Any) -> Array:
        """Values (n,) of the pool rows ``x`` (n, d), in ``unit``.

        Raises
        ------
        InvalidInput
            If a row of ``x`` is not a valid point or is further than 1e-9 from every row of the pool.
        """
        return self._values[self.indices(x)]

    def indices(self, x: Any) -> NDArray[np.intp]:
        """The pool index (n,) of each row of ``x`` (n, d); raises as :meth:`evaluate` does."""
        x = self.space.as_rows(x)
        known = [self._by_bytes.get(row.tobytes(), -1) for row in x]
        if -1 in known:
            self.space.require(x)
            for i, index in enumerate(known):
                if index < 0:
                    known[i] = self._nearest(x[i], i)
        return np.array(known, dtype=np.intp)

    def evaluate_index(self, index: int) -> float:
        """The value of pool row ``index``: :meth:`evaluate` without the search.

        Raises
        ------
        InvalidInput
            If there is no such row.
        """
        if not 0 <= index < len(self._values):
            raise InvalidInput(f"the pool has rows 0 to {len(self._values) - 1}, not {index}")
        return float(self._values[index])

    @property
    def pool_values(self) -> Array:
        """The value (N,) of every pool row, read-only: the answers. Reports and oracles that simulate a guess may
        read them; an agent or an optimiser that does has cheated."""
        return self._values

    def _nearest(self, row: Array, position: int) -> int:
        projected = float(row @ self._direction)
        width = MATCH_TOLERANCE * float(np.abs(self._direction).sum())
        start, stop = np.searchsorted(self._projections, (projected - width, projected + width))
        for candidate in self._order[start:stop]:
            if np.abs(self.pool[candidate] - row).max() <= MATCH_TOLERANCE:
                return int(candidate)
        text = ", ".join(f"{name}={_short(value)}" for name, value in self.space.decode(row[None])[0].items())
        raise InvalidInput(
            f"x[{position}] ({text}) is not one of the {len(self.pool)} rows of the table; choose rows of scenario.pool"
        )

    def _index_pool(self) -> None:
        """Two indices of the rows: by their bytes, and by their place along one generic direction."""
        self._by_bytes = {row.tobytes(): i for i, row in enumerate(self.pool)}
        self._direction = np.sqrt(np.arange(2, self.pool.shape[1] + 2, dtype=np.float64))
        projections = self.pool @ self._direction
        self._order = np.argsort(projections, kind="stable")
        self._projections = projections[self._order]

    def _check(self) -> None:
        if self._values.shape != (len(self.pool),):
            raise InvalidInput(f"values must have shape ({len(self.pool)},) like the pool, not {self._values.shape}")
        if len(self.pool) < 2:
            raise InvalidInput(f"a table needs at least two different rows, not {len(self.pool)}")
        if self.value_name in self.space.names:
            raise InvalidInput(f"{self.value_name!r} is an input and cannot be the value as well")
        if not np.isfinite(self._values).all():
            raise InvalidInput(f"value {int(np.flatnonzero(~np.isfinite(self._values))[0])} is not finite")
        low, high = self.value_range
        outside = np.flatnonzero((self._values < low) | (self._values > high))
        if len(outside):
            raise InvalidInput(
                f"{self.value_name} = {self._values[outside[0]]:g} is outside its declared range [{low:g}, {high:g}]"
            )
        if len(distinct_rows(self.pool)[0]) < len(self.pool):
            raise InvalidInput("the pool repeats a row; average the replicates first")

    def __getstate__(self) -> dict[str, Any]:
        rebuilt = ("_by_bytes", "_direction", "_order", "_projections")
        return {key: value for key, value in self.__dict__.items() if key not in rebuilt}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.pool, self._values = _locked(self.pool), _locked(self._values)
        self._index_pool()


def distinct_rows(x: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of ``x`` (n, d) that differ by more than rounding, in order of first appearance.

    Returns
    -------
    first : int (m,)
        Where each distinct row appears first.
    group : int (n,)
        Which of the m distinct rows each row is.
    """
    _, first, group = np.unique(np.round(x, 9) + 0.0, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.ravel()]


def average_replicates(x: Array, y: Array) -> tuple[Array, Array]:
    """Distinct rows of ``x`` (n, d), in order of first appearance, and the mean of ``y`` (n,) over each."""
    first, group = distinct_rows(x)
    return x[first], np.bincount(group, weights=y) / np.bincount(group)


def _checked_range(value_range: Any) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in value_range)
    except (TypeError, ValueError):
        raise InvalidInput(f"value_range must be (low, high), not {value_range!r}") from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise InvalidInput(f"value_range must be finite with low < high, not ({low:g}, {high:g})")
    return low, high


def _locked(array: Array) -> Array:
    """``array``, read-only: a scenario is shared by everything that runs on it."""
    array.flags.writeable = False
    return array


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
