"""A randomised trial that has yet to be run: a biased log, units that may be randomised, and what is held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FEWEST_TO_TELL = 10
"""Units from which equal slices are no coincidence."""


@dataclass(frozen=True, eq=False)
class Logged:
    """Units with what was done to them and what came of it. Arrays are copied.

    Attributes
    ----------
    x : float64 (n, d)
        Covariates.
    t : int64 (n,)
        Treatment, 0 or 1.
    y : float64 (n,)
        Outcome.
    p : float64 (n,) or None
        Probability with which each unit was treated, where it is known: in randomised data, not in a log.
    tau : float64 (n,) or None
        True effect, E[Y(1) − Y(0) | x], where the world knows it.
    group : int64 (n,) or None
        What was randomised together, such as a household; resampling keeps it together.

    Raises
    ------
    InvalidInput
        If lengths differ, a covariate, outcome or effect is not finite (row and column are named), a treatment is
        neither 0 nor 1, a probability is not in (0, 1), or groups are no whole numbers.
    """

    x: Floats
    t: Ints
    y: Floats
    p: Floats | None = None
    tau: Floats | None = None
    group: Ints | None = None

    def __post_init__(self) -> None:
        # Copies: what the caller does with its arrays afterwards must not change a record.
        x = np.array(finite_rows("x", self.x))
        n = len(x)
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "t", treatments(self.t, n))
        object.__setattr__(self, "y", np.array(finite_column("y", self.y, n)))
        if self.p is not None:
            object.__setattr__(self, "p", np.array(propensities(self.p, n)))
        if self.tau is not None:
            object.__setattr__(self, "tau", np.array(finite_column("tau", self.tau, n)))
        if self.group is not None:
            object.__setattr__(self, "group", group_labels(self.group, n))

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Trial:
    """One instance of a trial scenario.

    An agent sees ``observational``, ``pool_x`` and what :meth:`reveal` gives; ``validation`` is for rewards and
    ``test`` for evaluation alone. No unit is in two of the slices.

    Attributes
    ----------
    name : str
    features : tuple of str
        Names of the d covariates.
    observational : Logged
        The biased log.
    pool_x : float64 (n_pool, d)
        Units that may be randomised.
    validation, test : Logged
        Held out; randomised, or with their true effects, or both.
    pool : Logged or PotentialOutcomes
        What the pool's units would answer; behind :meth:`reveal`, not for agents. Of a replayed trial, a ``Logged``
        with its probabilities, whose ``x`` are ``pool_x``.
    binary : bool
        Whether outcomes are 0 and 1.
    linear : bool
        Whether the effect is ⟨θ, x⟩ with no intercept, so that x itself is the basis of a linear model.
    unit : str
        Of the outcome.
    rows : mapping of str to int64 arrays, or None
        Where the slices were cut from one table: the rows of it that are in ``"observational"``, ``"pool"``,
        ``"validation"`` and ``"test"``. ``None`` where every unit was drawn for its slice.

    Raises
    ------
    InvalidInput
        If a slice is no ``Logged``, widths or lengths differ, a covariate of the pool is not finite, a row is in two of
        the slices or two of them are the same, or a replayed trial lacks its probabilities or is of other units.
    """

    name: str
    features: tuple[str, ...]
    observational: Logged
    pool_x: Floats
    validation: Logged
    test: Logged
    pool: Logged | PotentialOutcomes = field(repr=False)
    binary: bool = False
    linear: bool = False
    unit: str = "1"
    rows: Mapping[str, Ints] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for what in ("observational", "validation", "test"):
            if not isinstance(getattr(self, what), Logged):
                raise InvalidInput(f"{what} must be a Logged, not {type(getattr(self, what)).__name__}")
        if not isinstance(self.pool, Logged | PotentialOutcomes):
            raise InvalidInput(f"pool must be a Logged or PotentialOutcomes, not {type(self.pool).__name__}")
        pool_x = np.array(finite_rows("pool_x", self.pool_x))
        object.__setattr__(self, "pool_x", pool_x)
        widths = {"observational": self.observational.x, "validation": self.validation.x, "test": self.test.x}
        for what, x in widths.items():
            if x.shape[1] != pool_x.shape[1]:
                raise InvalidInput(f"{what} has {x.shape[1]} covariates, the pool {pool_x.shape[1]}")
        if len(self.features) != pool_x.shape[1]:
            raise InvalidInput(f"{len(self.features)} names for {pool_x.shape[1]} covariates")
        if len(self.pool) != len(pool_x):
            raise InvalidInput(f"the pool has {len(pool_x)} units and {len(self.pool)} answers")
        if isinstance(self.pool, Logged):
            if self.pool.p is None:
                raise InvalidInput("a replayed trial needs its probabilities of treatment: its pool has no p")
            if not np.array_equal(self.pool.x, pool_x):
                raise InvalidInput("the pool of a replayed trial has other covariates than pool_x")
        self._refuse_same_slices()
        for one, other in combinations(self.rows or {}, 2):
            shared = np.intersect1d(self.rows[one], self.rows[other])  # type: ignore[index]
            if len(shared):
                raise InvalidInput(f"{one} and {other} overlap: row {shared[0]} is in both")

    @property
    def n_pool(self) -> int:
        """Number of units that may be randomised."""
        return len(self.pool_x)

    @property
    def replay(self) -> bool:
        """Whether the trial was run once and is replayed: a unit answers what it answered then, with the trial's own
        probability, and nothing is invented."""
        return isinstance(self.pool, Logged)

    @property
    def knows_effects(self) -> bool:
        """Whether the held-out slices have true effects; otherwise they are judged by Qini and policy value."""
        return self.validation.tau is not None and self.test.tau is not None

    @property
    def pool_group(self) -> Ints | None:
        """What the pool's units of a replayed trial were randomised with, such as a household: int64 (n_pool,) labels;
        ``None`` if everybody was alone."""
        return self.pool.group if isinstance(self.pool, Logged) else None

    def propensity(self, units: ArrayLike) -> Floats | None:
        """float64 (m,): the probabilities of a replayed trial; ``None`` where one may choose them.

        Raises
        ------
        InvalidInput
            If a unit is not in the pool or is named twice.
        """
        places = unit_places(units, self.n_pool)
        return self.pool.p[places] if isinstance(self.pool, Logged) and self.pool.p is not None else None

    def reveal(self, units: ArrayLike, p: ArrayLike, rng: np.random.Generator) -> tuple[Ints, Floats]:
        """Randomise units and see what they answer.

        Parameters
        ----------
        units : int (m,)
            Places in the pool, all different. Who was asked before is the caller's to remember.
        p : float (m,)
            Probability of treatment of each; in a replayed trial the trial's own.
        rng : numpy.random.Generator
            Draws the treatments; a replayed trial draws nothing.

        Returns
        -------
        t : int64 (m,)
        y : float64 (m,)

        Raises
        ------
        InvalidInput
            If a unit is not in the pool or is named twice, a probability is not in (0, 1), or it is not that of a
            replayed trial.
        """
        places = unit_places(units, self.n_pool)
        chances = propensities(p, len(places))
        if isinstance(self.pool, Logged):
            known = self.propensity(places)
            if known is not None and not np.allclose(known, chances, rtol=0, atol=1e-12):
                at = int(np.argmax(np.abs(known - chances)))
                raise InvalidInput(
                    f"{self.name} is a replayed trial: unit {places[at]} was treated with probability {known[at]:.6g}, "
                    f"not {chances[at]:.6g}"
                )
            return self.pool.t[places], self.pool.y[places]
        t = (rng.random(len(places)) < chances).astype(np.int64)
        return t, np.where(t == 1, self.pool.y1[places], self.pool.y0[places])

    def _refuse_same_slices(self) -> None:
        for (one, a), (other, b) in combinations(
            {"validation": self.validation, "test": self.test, "pool": self.pool}.items(), 2
        ):
            assert isinstance(a, Logged)
            if not len(a) or len(a) != len(b):
                continue
            # A few units with coarse covariates can be alike by chance.
            alike = a is b or (
                len(a) >= _FEWEST_TO_TELL and np.array_equal(a.x, b.x if isinstance(b, Logged) else self.pool_x)
            )
            if alike and np.array_equal(a.y, b.answers(a.t) if isinstance(b, PotentialOutcomes) else b.y):
                raise InvalidInput(f"{one} and {other} are the same units: what is held out must be held out")


@dataclass(frozen=True, eq=False)
class PotentialOutcomes:
    """What each unit would answer untreated and treated: float64 (n,) each, and its true effect ``tau`` (n,)."""

    y0: Floats
    y1: Floats
    tau: Floats

    def __post_init__(self) -> None:
        for name in ("y0", "y1", "tau"):
            n = None if name == "y0" else len(self.y0)
            object.__setattr__(self, name, np.array(finite_column(name, getattr(self, name), n)))

    def __len__(self) -> int:
        return len(self.y0)

    def answers(self, t: Ints) -> Floats:
        """Outcomes (n,) under treatments (n,)."""
        return np.where(t == 1, self.y1, self.y0)


def finite_rows(name: str, values: ArrayLike) -> Floats:
    """``values`` as float64 (n, d).

    Raises
    ------
    InvalidInput
        If it is no table of numbers or an entry is not finite; row and column are named.
    """
    array = _numbers(name, values)
    if array.ndim != 2:
        raise InvalidInput(f"{name} must be of shape (n, d), not {array.shape}")
    if not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InvalidInput(f"{name} is {array[row, column]} in row {row}, column {column}")
    return array


def finite_column(name: str, values: ArrayLike, n: int | None = None) -> Floats:
    """``values`` as float64 (n,); :class:`~scisuite.core.InvalidInput` names the row of an entry that is not finite."""
    array = _numbers(name, values)
    if array.ndim != 1 or (n is not None and len(array) != n):
        raise InvalidInput(f"{name} must be of shape ({'n' if n is None else n},), not {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.argmin(np.isfinite(array)))
        raise InvalidInput(f"{name} is {array[row]} in row {row}")
    return array


def treatments(values: ArrayLike, n: int | None = None) -> Ints:
    """``values`` as int64 (n,) of 0 and 1; :class:`~scisuite.core.InvalidInput` otherwise, with the row."""
    array = _array("t", values)
    if array.dtype.kind not in "biuf":
        raise InvalidInput(
            f"treatments must be the numbers 0 and 1, not {array.dtype} such as {array.ravel()[:1].tolist()}"
        )
    column = finite_column("t", array, n)
    wrong = (column != 0) & (column != 1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidInput(f"treatments must be 0 or 1, not {column[row]:g} in row {row}")
    return column.astype(np.int64)


def propensities(values: ArrayLike, n: int | None = None) -> Floats:
    """``values`` as float64 (n,) in (0, 1); a number stands for n of it. Else :class:`~scisuite.core.InvalidInput`."""
    if n is not None and _array("p", values).ndim == 0:
        values = np.full(n, values, dtype=object) if isinstance(values, str) else np.full(n, values)
    column = finite_column("p", values, n)
    wrong = (column <= 0) | (column >= 1)
    if wrong.any():
        row = int(wrong.argmax())
        raise InvalidInput(f"a probability of treatment must be in (0, 1), not {column[row]:g} in row {row}")
    return column


def group_labels(values: ArrayLike, n: int) -> Ints:
    """``values`` as int64 (n,), labels of what was randomised together; :class:`~scisuite.core.InvalidInput` if their
    number is another or they are no whole numbers."""
    labels = _array("group", values)
    if labels.shape != (n,):
        raise InvalidInput(f"group has shape {labels.shape} for {n} units")
    if n and not np.issubdtype(labels.dtype, np.integer):
        raise InvalidInput(f"groups must be whole numbers, not {labels.dtype}")
    return labels.astype(np.int64)


def unit_places(units: ArrayLike, n_pool: int) -> Ints:
    """``units`` as int64 (m,), all different and in the pool; :class:`~scisuite.core.InvalidInput` otherwise."""
    places = _array("units", units)
    if places.ndim != 1 or (places.size and not np.issubdtype(places.dtype, np.integer)):
        raise InvalidInput(f"units must be whole numbers (m,), not {places.dtype} {places.shape}")
    places = places.astype(np.int64)
    outside = (places < 0) | (places >= n_pool)
    if outside.any():
        raise InvalidInput(f"the pool has units 0 to {n_pool - 1}, not {places[outside][0]}")
    if len(np.unique(places)) < len(places):
        values, counts = np.unique(places, return_counts=True)
        raise InvalidInput(f"unit {values[counts > 1][0]} is named twice")
    return places


def _array(name: str, values: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must hold numbers: {error}") from error


def _numbers(name: str, values: ArrayLike) -> Floats:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USc":
            raise TypeError(f"not {array.dtype} such as {array.ravel()[:1].tolist()}")
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} must hold numbers: {error}") from error
