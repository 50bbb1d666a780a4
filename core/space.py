"""Mixed search spaces: what may be varied, within which bounds, in which units."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core.errors import InvalidInput

Array = NDArray[np.float64]
Level = str | float | int | bool

SIMPLEX_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Continuous:
    """A real number in [low, high], in ``unit``."""

    name: str
    low: float
    high: float
    unit: str = ""

    def __post_init__(self) -> None:
        if not (_is_finite(self.low) and _is_finite(self.high) and 0 < self.high - self.low < math.inf):
            raise InvalidInput(f"{self.name}: bounds must be finite with low < high, not ({self.low}, {self.high})")

    @property
    def width(self) -> int:
        """Columns of the encoded form."""
        return 1


@dataclass(frozen=True)
class Integer:
    """A whole number in [low, high], both included, in ``unit``."""

    name: str
    low: int
    high: int
    unit: str = ""

    def __post_init__(self) -> None:
        whole = all(_is_finite(bound) and bound == int(bound) for bound in (self.low, self.high))
        if not whole or not self.low < self.high:
            raise InvalidInput(f"{self.name}: bounds must be integers with low < high, not ({self.low}, {self.high})")
        object.__setattr__(self, "low", int(self.low))
        object.__setattr__(self, "high", int(self.high))

    @property
    def width(self) -> int:
        """Columns of the encoded form."""
        return 1


@dataclass(frozen=True)
class Categorical:
    """One of ``levels``, without an order; encoded one-hot."""

    name: str
    levels: tuple[Level, ...]
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if not all(isinstance(level, str) or _is_finite(level) or isinstance(level, bool) for level in self.levels):
            raise InvalidInput(f"{self.name}: levels must be texts, finite numbers or booleans, not {self.levels!r}")
        if len(self.levels) < 2 or len(set(self.levels)) != len(self.levels):
            raise InvalidInput(f"{self.name}: needs at least two different levels, not {self.levels!r}")

    @property
    def width(self) -> int:
        """Columns of the encoded form."""
        return len(self.levels)


Dimension = Continuous | Integer | Categorical


@dataclass(frozen=True)
class Space:
    """A product of dimensions, optionally restricted to fractions that sum to one.

    Points have two forms. As *dicts* they are in the user's units (``{"temperature": 71.5, "solvent": "DMF"}``); as
    *encoded* float64 rows of shape (n, d) every entry lies in [0, 1] and a categorical of k levels takes k one-hot
    columns. Scenarios, solvers and environments pass encoded rows; dicts are for people and language models.

    Parameters
    ----------
    dimensions : tuple of Continuous, Integer or Categorical
    simplex : bool
        Whether the values sum to one; every dimension must then be continuous with bounds (0, 1).

    >>> space = Space.from_bounds(temperature=(20, 120, "degC"), solvent=["DMF", "MeCN", "THF"])
    >>> space.encode([{"temperature": 70, "solvent": "MeCN"}])
    array([[0.5, 0. , 1. , 0. ]])
    """

    dimensions: tuple[Dimension, ...]
    simplex: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimensions", tuple(self.dimensions))
        names = [d.name for d in self.dimensions]
        if not names:
            raise InvalidInput("a space needs at least one dimension")
        if len(set(names)) != len(names):
            raise InvalidInput(f"dimension names must differ, not {names}")
        if self.simplex:
            for dimension in self.dimensions:
                if not isinstance(dimension, Continuous) or (dimension.low, dimension.high) != (0, 1):
                    raise InvalidInput(f"{dimension.name}: on a simplex every dimension is Continuous(0, 1)")
            if len(names) < 2:
                raise InvalidInput("a simplex needs at least two dimensions")

    @classmethod
    def from_bounds(cls, *, simplex: bool = False, **bounds: Any) -> Space:
        """Build a space from ``name=(low, high)``, ``name=(low, high, unit)`` or ``name=[level, …]``.

        A pair of Python integers still makes a continuous dimension; use :class:`Integer` for counts.
        """
        dimensions: list[Dimension] = []
        for name, bound in bounds.items():
            if isinstance(bound, Continuous | Integer | Categorical):
                if bound.name != name:
                    raise InvalidInput(f"{name}: the dimension given for it is called {bound.name!r}")
                dimensions.append(bound)
            elif isinstance(bound, list):
                dimensions.append(Categorical(name, tuple(bound)))
            elif isinstance(bound, tuple) and len(bound) in (2, 3):
                unit = bound[2] if len(bound) == 3 else ""
                if not all(isinstance(b, numbers.Real) and not isinstance(b, bool) for b in bound[:2]):
                    raise InvalidInput(f"{name}: bounds must be numbers, not {bound!r} (levels go in a list)")
                dimensions.append(Continuous(name, float(bound[0]), float(bound[1]), str(unit)))
            else:
                raise InvalidInput(
                    f"{name}: expected (low, high), (low, high, unit) or a list of levels, not {bound!r}"
                )
        return cls(tuple(dimensions), simplex)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self.dimensions)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each dimension, by name."""
        return {d.name: d.unit for d in self.dimensions}

    @cached_property
    def d(self) -> int:
        """Columns of the encoded form."""
        return sum(dimension.width for dimension in self.dimensions)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """The encoded columns of each dimension."""
        ends = np.cumsum([0, *(dimension.width for dimension in self.dimensions)])
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @property
    def is_continuous(self) -> bool:
        return all(isinstance(d, Continuous) for d in self.dimensions)

    def encode(self, points: Sequence[Mapping[str, Any]]) -> Array:
        """Dicts in the user's units → encoded float64 (n, d).

        Raises
        ------
        InvalidInput
            If a name is missing or unknown, a value is out of bounds, not finite, not whole, or no level, or the
            values do not sum to one on a simplex.
        """
        encoded = np.zeros((len(points), self.d))
        for row, point in zip(encoded, points, strict=True):
            if not isinstance(point, Mapping):
                raise InvalidInput(f"a point must be a mapping of names to values, not {point!r}")
            if missing := [n for n in self.names if n not in point]:
                raise InvalidInput(f"point lacks {', '.join(missing)}")
            if unknown := [n for n in point if n not in self.names]:
                raise InvalidInput(f"point has unknown {', '.join(map(str, unknown))}; known: {', '.join(self.names)}")
            for dimension, columns in zip(self.dimensions, self.slices, strict=True):
                row[columns] = _encode_value(dimension, point[dimension.name])
        if self.simplex:
            self.require(encoded)
        return encoded

    def decode(self, x: Any) -> list[dict[str, Any]]:
        """Encoded (n, d) → dicts in the user's units, within the bounds.

        Integers are rounded, one-hot blocks take their largest entry.

        Raises
        ------
        InvalidInput
            If an entry is NaN or infinite.
        """
        x = self._finite_rows(x)
        points: list[dict[str, Any]] = []
        for row in x:
            point: dict[str, Any] = {}
            for dimension, columns in zip(self.dimensions, self.slices, strict=True):
                point[dimension.name] = _decode_value(dimension, row[columns])
            points.append(point)
        return points

    def to_units(self, x: Any) -> Array:
        """Encoded (n, d) → float64 (n, number of dimensions) in the user's units.

        A categorical gives the index of its level.
        """
        x = self.as_rows(x)
        columns: list[Array] = []
        for dimension, where in zip(self.dimensions, self.slices, strict=True):
            if isinstance(dimension, Categorical):
                columns.append(x[:, where].argmax(axis=1).astype(np.float64))
            else:
                values = dimension.low + x[:, where.start] * (dimension.high - dimension.low)
                columns.append(np.round(values) if isinstance(dimension, Integer) else values)
        return np.stack(columns, axis=1)

    def snap(self, x: Any) -> Array:
        """The nearest valid points: clipped, integers rounded, one-hot blocks made one-hot, simplex rows projected.

        Raises
        ------
        InvalidInput
            If an entry is NaN or infinite.
        """
        rows = self._finite_rows(x)
        if self.simplex:
            return project_to_simplex(rows)
        rows = np.clip(rows, 0.0, 1.0)
        for dimension, where in zip(self.dimensions, self.slices, strict=True):
            if isinstance(dimension, Integer):
                steps = dimension.high - dimension.low
                rows[:, where] = np.round(rows[:, where] * steps) / steps
            elif isinstance(dimension, Categorical):
                best = rows[:, where].argmax(axis=1)
                rows[:, where] = np.eye(dimension.width)[best]
        return rows

    def contains(self, x: Any) -> NDArray[np.bool_]:
        """Which encoded rows are valid points; (n, d) → bool (n,)."""
        x = self.as_rows(x)
        tolerance = SIMPLEX_TOLERANCE
        with np.errstate(invalid="ignore"):
            inside = np.isfinite(x).all(axis=1) & (x >= -tolerance).all(axis=1) & (x <= 1 + tolerance).all(axis=1)
            for dimension, where in zip(self.dimensions, self.slices, strict=True):
                if isinstance(dimension, Integer):
                    whole = x[:, where.start] * (dimension.high - dimension.low)
                    inside &= np.abs(whole - np.round(whole)) <= tolerance * (dimension.high - dimension.low)
                elif isinstance(dimension, Categorical):
                    block = x[:, where]
                    inside &= (np.minimum(np.abs(block), np.abs(block - 1)) <= tolerance).all(axis=1)
                    inside &= np.abs(block.sum(axis=1) - 1) <= tolerance
            if self.simplex:
                inside &= np.abs(x.sum(axis=1) - 1) <= tolerance
        return np.asarray(inside)

    def require(self, x: Any) -> Array:
        """Return ``x`` as float64 (n, d).

        Raises
        ------
        InvalidInput
            Naming the first row that is not a valid point, and why.
        """
        rows = self.as_rows(x)
        inside = self.contains(rows)
        if not inside.all():
            row = int(np.flatnonzero(~inside)[0])
            if not np.isfinite(rows[row]).all():
                why = "holds NaN or infinity"
            elif self.simplex and (rows[row] >= 0).all() and (rows[row] <= 1).all():
                why = f"is off the simplex (its values sum to {rows[row].sum():.6g})"
            else:
                why = "is outside the space"
            raise InvalidInput(f"x[{row}] = {np.array2string(rows[row], precision=6)} {why}")
        return rows

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """``n`` points drawn uniformly (Dirichlet(1) on a simplex), encoded, (n, d)."""
        if self.simplex:
            return rng.dirichlet(np.ones(self.d), size=n)
        return self._from_uniform(rng.random((n, len(self.dimensions))))

    def latin_hypercube(self, rng: np.random.Generator, n: int) -> Array:
        """``n`` stratified points, encoded, (n, d); on a simplex they are Dirichlet(1) draws."""
        if self.simplex:
            return rng.dirichlet(np.ones(self.d), size=n)
        from scipy.stats import qmc

        return self._from_uniform(qmc.LatinHypercube(len(self.dimensions), rng=rng).random(n))

    def enumerate(self, limit: int = 10_000) -> Array | None:
        """Every point, encoded, (n, d), in the order of the dimensions; ``None`` if there are more than ``limit``.

        >>> Space.from_bounds(solvent=["DMF", "THF"], base=["A", "B"]).enumerate().shape
        (4, 4)
        """
        choices: list[Array] = []
        for dimension in self.dimensions:
            if isinstance(dimension, Continuous):
                return None
            steps = dimension.width if isinstance(dimension, Categorical) else dimension.high - dimension.low + 1
            if steps > limit:
                return None
            one_hot = isinstance(dimension, Categorical)
            choices.append(np.eye(steps) if one_hot else np.linspace(0.0, 1.0, steps)[:, None])
        count = math.prod(len(choice) for choice in choices)
        if count > limit:
            return None
        index = np.indices([len(choice) for choice in choices]).reshape(len(choices), count)
        return np.concatenate([choice[i] for choice, i in zip(choices, index, strict=True)], axis=1)

    def as_rows(self, x: Any) -> Array:
        """``x`` as a new float64 array of shape (n, d), or :class:`InvalidInput`."""
        try:
            rows = np.array(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"x must be numbers of shape (n, {self.d})") from None
        if rows.ndim != 2 or rows.shape[1] != self.d:
            raise InvalidInput(f"x must have shape (n, {self.d}), not {rows.shape}")
        return rows

    def to_json(self) -> dict[str, Any]:
        """A JSON description that :meth:`from_json` reads back."""
        listed: list[dict[str, Any]] = []
        for dimension in self.dimensions:
            fields: dict[str, Any] = {
                "kind": type(dimension).__name__.lower(),
                "name": dimension.name,
                "unit": dimension.unit,
            }
            if isinstance(dimension, Categorical):
                fields["levels"] = list(dimension.levels)
            else:
                fields |= {"low": dimension.low, "high": dimension.high}
            listed.append(fields)
        return {"dimensions": listed, "simplex": self.simplex}

    @classmethod
    def from_json(cls, description: Mapping[str, Any]) -> Space:
        """Read what :meth:`to_json` wrote."""
        kinds = {"continuous": Continuous, "integer": Integer, "categorical": Categorical}
        dimensions: list[Dimension] = []
        try:
            for fields in description["dimensions"]:
                values = dict(fields)
                dimensions.append(kinds[values.pop("kind")](**values))
            return cls(tuple(dimensions), bool(description["simplex"]))
        except InvalidInput:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"not the description of a space: {error}") from error

    def _finite_rows(self, x: Any) -> Array:
        rows = self.as_rows(x)
        if not np.isfinite(rows).all():
            raise InvalidInput(f"x[{int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])}] holds NaN or infinity")
        return rows

    def _from_uniform(self, u: Array) -> Array:
        x = np.zeros((len(u), self.d))
        for j, (dimension, where) in enumerate(zip(self.dimensions, self.slices, strict=True)):
            if isinstance(dimension, Continuous):
                x[:, where.start] = u[:, j]
            else:
                count = dimension.width if isinstance(dimension, Categorical) else dimension.high - dimension.low + 1
                index = np.minimum((u[:, j] * count).astype(int), count - 1)
                if isinstance(dimension, Categorical):
                    x[np.arange(len(u)), where.start + index] = 1.0
                else:
                    x[:, where.start] = index / (count - 1)
        return x


def project_to_simplex(x: Array) -> Array:
    """Euclidean projection of each row of ``x`` (n, d) onto the probability simplex (sort-and-threshold)."""
    # The projection does not change when a row is shifted; with its largest entry at 0 nothing cancels.
    x = x - x.max(axis=1, keepdims=True)
    descending = -np.sort(-x, axis=1)
    excess = np.cumsum(descending, axis=1) - 1.0
    counts = np.arange(1, x.shape[1] + 1)
    support = (descending - excess / counts > 0).sum(axis=1)
    threshold = excess[np.arange(len(x)), support - 1] / support
    return np.asarray(np.maximum(x - threshold[:, None], 0.0))


def _encode_value(dimension: Dimension, value: Any) -> Any:
    if isinstance(dimension, Categorical):
        if not isinstance(value, str | numbers.Real | np.bool_) or value not in dimension.levels:
            raise InvalidInput(f"{dimension.name} must be one of {list(dimension.levels)}, not {value!r}")
        return np.eye(dimension.width)[dimension.levels.index(value)]
    if not _is_finite(value):
        raise InvalidInput(f"{dimension.name} must be a finite number, not {value!r}")
    if not dimension.low <= value <= dimension.high:
        span = f"[{dimension.low:g}, {dimension.high:g}]{' ' + dimension.unit if dimension.unit else ''}"
        raise InvalidInput(f"{dimension.name} = {value} is outside {span}")
    if isinstance(dimension, Integer) and value != int(value):
        raise InvalidInput(f"{dimension.name} must be a whole number, not {value}")
    return (value - dimension.low) / (dimension.high - dimension.low)


def _decode_value(dimension: Dimension, block: Array) -> Any:
    if isinstance(dimension, Categorical):
        return dimension.levels[int(block.argmax())]
    value = dimension.low + float(block[0]) * (dimension.high - dimension.low)
    # Clamped because low + 1.0 * (high - low) can round to more than high, which encode would then refuse.
    value = min(max(value, dimension.low), dimension.high)
    return round(value) if isinstance(dimension, Integer) else value


def _is_finite(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
