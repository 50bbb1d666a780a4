"""Predictors with a dial: the truth seen through a chosen correlation, gain, offset and noise; and pure chance."""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from scisuite.core import InvalidInput, as_seed, generator
from scisuite.scenarios.base import BlackBoxScenario
from scisuite.solvers.labo.oracles.base import Array, CountingOracle, OracleError, Problem, as_number

FEATURES = 200
SAMPLE = 2000
POOL_TOLERANCE = 1e-6


class SimulatedOracle(CountingOracle):
    r"""A language model of known quality, made from the truth (*reconstruction*, the brief's pilot form).

    With z the standardised truth and e a smooth error, both over the pool,

    .. math:: y_L = \bar y + s_y\,(g\,(r z + \sqrt{1-r^2}\,e) + o) + \varepsilon,\qquad
              \varepsilon \sim N(0, (\nu g s_y)^2),

    where e is a sum of 200 random Fourier features of length scale 0.35 √(d/3), made orthogonal to z and
    standardised. Without noise the correlation with the truth is therefore exactly r; at r = 0 the answers say
    nothing of the truth. ε is drawn once for each point, so that a repeated question has the same answer. Without a
    pool, z and e are standardised over 2,000 fixed points of the space and ε comes from a hash of the row.

    On a pool the features are evaluated in float32 (a redraw over 1,020 points of 4 dimensions takes 0.3 ms), the
    orthogonalisation in float64. Answers may leave the declared range of the value, as a model's extrapolations do:
    they are not dropped, because dropping the most extreme answers would hide the optimum.

    Parameters
    ----------
    corr : float in [-1, 1]
        Correlation r of the noise-free answers with the truth.
    gain, offset : float
        g and o: how much of the spread is reproduced, and the bias in standard deviations of the truth (towards
        larger values, also where smaller is better).
    noise : float ≥ 0
        ν: standard deviation of ε over that of the noise-free answers.
    seed : int
    fail_rate : float in [0, 1]
        Share of points that are never answered.

    Raises
    ------
    InvalidInput
        If one of them is out of its range.
    """

    checks_range = False

    def __init__(
        self,
        corr: float = 0.8,
        gain: float = 0.7,
        offset: float = 0.5,
        noise: float = 0.5,
        seed: int = 0,
        fail_rate: float = 0.0,
    ) -> None:
        self.corr = as_number("corr", corr, -1.0, 1.0)
        self.gain = as_number("gain", gain, -math.inf)
        self.offset = as_number("offset", offset, -math.inf)
        self.noise = as_number("noise", noise, 0.0)
        self.fail_rate = as_number("fail_rate", fail_rate, 0.0, 1.0)
        self.seed = as_seed(seed)
        self._truth: _Truth | None = None

    @property
    def model(self) -> str:
        """The dials and the seed."""
        dials = f"corr={self.corr:g},gain={self.gain:g},offset={self.offset:g},noise={self.noise:g}"
        return f"simulated({dials},fail_rate={self.fail_rate:g},seed={self.seed})"

    def bind(self, problem: BlackBoxScenario | Problem) -> Self:
        """Read the truth of ``problem`` (a scenario: one with ``evaluate``) and draw the error.

        The truth is read once for each scenario object, however many oracles are bound to it.
        """
        if not callable(getattr(problem, "evaluate", None)):
            raise InvalidInput(
                "SimulatedOracle needs the truth: bind it to a scenario with evaluate, not to a "
                f"{type(problem).__name__}"
            )
        truth = _truth_of(problem)
        if abs(self.corr) < 1 and len(truth.points) < 3:
            raise InvalidInput(f"SimulatedOracle needs a pool of at least 3 points, not {len(truth.points)}")
        super().bind(problem)
        self._truth = truth
        self._draw()
        return self

    def redraw(self, seed: int) -> Self:
        """Draw error, noise and failures anew from ``seed``, keeping the problem: what an environment does a reset."""
        self._require_bound()
        self.seed = as_seed(seed)
        self.n_queries = self.n_failed = self._streak = 0
        self._draw()
        return self

    @property
    def table(self) -> Array:
        """Answers (N,) for every row of the pool, NaN where one fails; read-only.

        Raises
        ------
        InvalidInput
            Before :meth:`bind`, or where there is no pool.
        """
        if self._require_bound().pool is None:
            raise InvalidInput("there is no pool, so no table of answers; use predict")
        return self._values

    @property
    def realised_correlation(self) -> float:
        """Correlation of the answers, noise included, with the truth over the pool (or the 2,000 points)."""
        self._require_bound()
        answered = np.isfinite(self._values)
        values, truth = self._values[answered], self._bound_truth().z[answered]
        if answered.sum() < 2 or values.std() == 0 or truth.std() == 0:
            return math.nan
        return float(np.corrcoef(values, truth)[0, 1])

    def propose(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` distinct points (n, d), drawn from the max(10, N/20) that the answers rank best.

        Raises
        ------
        InvalidInput
            If fewer than ``n`` points have an answer.
        OracleError
            If none has.
        """
        maximise = self._require_bound().maximise
        ranked = np.argsort(-self._values if maximise else self._values, kind="stable")
        ranked = ranked[: int(np.isfinite(self._values).sum())]
        if not len(ranked):
            raise OracleError(f"{self.model} answers none of its {len(self._values)} points")
        if n > len(ranked):
            raise InvalidInput(f"cannot propose {n} points: only {len(ranked)} have an answer")
        best = ranked[: max(10, len(self._values) // 20, n)]
        return np.asarray(self._bound_truth().points[rng.choice(best, size=n, replace=False)])

    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        if self._require_bound().pool is not None:
            return self._values[self._bound_truth().locate(x)], None
        truth = self._bound_truth()
        z = (np.asarray(self.problem.evaluate(x)) - truth.mean) / (truth.std or 1.0)  # type: ignore[union-attr]
        centre, slope, scale = self._standardise
        e = (self._raw_error(x) - centre - slope * z) / scale
        return self._add_noise(self._combine(z, e), x), None

    def _draw(self) -> None:
        truth = self._bound_truth()
        rng = generator(self.seed, "simulated oracle: error")
        d = truth.points.shape[1]
        self._frequencies = (rng.standard_normal((d, FEATURES)) / (0.35 * math.sqrt(d / 3))).astype(np.float32)
        self._phases = (rng.random(FEATURES) * 2 * math.pi).astype(np.float32)
        self._weights = rng.standard_normal(FEATURES).astype(np.float32)
        e = self._raw_error(truth.points) if self._require_bound().pool is None else self._pool_error()
        centre = float(e.mean())
        e -= centre
        slope = float(truth.z @ e) / len(e)
        e -= slope * truth.z
        scale = math.sqrt(float(e @ e) / len(e)) or 1.0
        e /= scale
        self._standardise = (centre, slope, scale)
        values = self._combine(truth.z, e)
        if self._require_bound().pool is None:
            values = self._add_noise(values, truth.points)
        else:
            if self.noise > 0:
                sd = self.noise * abs(self.gain) * truth.std
                values += sd * generator(self.seed, "simulated oracle: noise").standard_normal(len(values))
            if self.fail_rate > 0:
                draws = generator(self.seed, "simulated oracle: failures").random(len(values))
                values[draws < self.fail_rate] = np.nan
        values.setflags(write=False)
        self._values = values

    def _raw_error(self, x: Array) -> Array:
        # Summed in an order that does not depend on the number of rows, as BLAS would: a row asked for alone must get
        # the answer that it got among others.
        features = np.tile(self._phases.astype(np.float64), (len(x), 1))
        for column, frequencies in zip(x.T, self._frequencies, strict=True):
            features += column[:, None] * frequencies
        np.cos(features, out=features)
        features *= self._weights
        return np.asarray(features.sum(axis=1))

    def _pool_error(self) -> Array:
        features = self._bound_truth().points32 @ self._frequencies
        features += self._phases
        np.cos(features, out=features)
        return np.asarray((features @ self._weights).astype(np.float64))

    def _combine(self, z: Array, e: Array) -> Array:
        truth = self._bound_truth()
        r = self.corr
        return np.asarray(truth.mean + truth.std * (self.gain * (r * z + math.sqrt(1 - r * r) * e) + self.offset))

    def _add_noise(self, values: Array, x: Array) -> Array:
        if self.noise == 0 and self.fail_rate == 0:
            return values
        u = row_uniforms(x, self.seed, 3)
        normal = np.sqrt(-2 * np.log1p(-u[:, 0])) * np.cos(2 * np.pi * u[:, 1])
        noisy = values + self.noise * abs(self.gain) * self._bound_truth().std * normal
        return np.where(u[:, 2] < self.fail_rate, np.nan, noisy)

    def _bound_truth(self) -> _Truth:
        assert self._truth is not None
        return self._truth


class RandomOracle(CountingOracle):
    """Answers uniformly in the declared range, whatever is asked; the same row always gets the same answer.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = as_seed(seed)

    @property
    def model(self) -> str:
        """The seed."""
        return f"random(seed={self.seed})"

    def bind(self, problem: BlackBoxScenario | Problem) -> Self:
        """Take the declared range; :class:`~scisuite.core.InvalidInput` where the problem declares none."""
        if getattr(problem, "value_range", None) is None:
            raise InvalidInput("RandomOracle needs the declared range of the value: give the problem a value_range")
        super().bind(problem)
        return self

    def redraw(self, seed: int) -> Self:
        """Other answers, of the same problem."""
        self._require_bound()
        self.seed = as_seed(seed)
        self.n_queries = self.n_failed = self._streak = 0
        return self

    def propose(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` points (n, d) drawn uniformly: distinct rows where there is a pool."""
        problem = self._require_bound()
        if problem.pool is None:
            return problem.space.sample(rng, n)
        if n > len(problem.pool):
            raise InvalidInput(f"cannot propose {n} points from a pool of {len(problem.pool)}")
        return np.asarray(problem.pool[rng.choice(len(problem.pool), size=n, replace=False)])

    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        low, high = self._limits() or (0.0, 1.0)
        return low + (high - low) * row_uniforms(x, self.seed, 1)[:, 0], None


@dataclass
class _Truth:
    """Standardised truth ``z`` (N,) over the points (N, d) of a scenario, and the way back from a row to its index."""

    points: Array
    mean: float
    std: float
    z: Array
    points32: np.ndarray[Any, np.dtype[np.float32]]
    rows: dict[bytes, int] = field(default_factory=dict)

    def locate(self, x: Array) -> np.ndarray[Any, np.dtype[np.intp]]:
        if not self.rows:
            keys = _row_keys(self.points)
            self.rows = {key: i for i, key in reversed(list(enumerate(keys)))}
        index = np.empty(len(x), dtype=np.intp)
        for i, key in enumerate(_row_keys(x)):
            found = self.rows.get(key)
            if found is None:
                distance = np.abs(self.points - x[i]).max(axis=1)
                found = int(distance.argmin())
                if distance[found] > POOL_TOLERANCE:
                    raise InvalidInput(f"x[{i}] = {np.array2string(x[i], precision=6)} is not in the pool")
            index[i] = found
        return index


_TRUTHS: MutableMapping[Any, _Truth] = WeakKeyDictionary()


def _truth_of(scenario: Any) -> _Truth:
    try:
        if (known := _TRUTHS.get(scenario)) is not None:
            return known
    except TypeError:
        return _read_truth(scenario)
    truth = _TRUTHS[scenario] = _read_truth(scenario)
    return truth


def _read_truth(scenario: Any) -> _Truth:
    points = scenario.pool
    if points is None:
        points = scenario.space.sample(generator(0, "simulated oracle: reference points"), SAMPLE)
    points = np.asarray(points, dtype=np.float64)
    y = np.asarray(scenario.evaluate(points), dtype=np.float64)
    mean = float(y.mean())
    std = float(y.std())
    if std <= 1e-12 * max(abs(mean), 1e-300):
        return _Truth(points, mean, 0.0, np.zeros(len(y)), points.astype(np.float32))
    z = (y - mean) / std
    z -= z.mean()
    z /= math.sqrt(float(z @ z) / len(z))
    return _Truth(points, mean, std, z, points.astype(np.float32))


def _row_keys(x: Array) -> list[bytes]:
    rounded = np.round(x, 9) + 0.0
    return [row.tobytes() for row in rounded]


def row_uniforms(x: Array, seed: int, k: int) -> Array:
    """``k`` uniform numbers in [0, 1) for each row of ``x``: (n, k), from the row (to 1e-9) and ``seed`` only."""
    key = as_seed(seed).to_bytes(8, "little")
    digests = b"".join(blake2b(row, digest_size=8 * k, key=key).digest() for row in _row_keys(x))
    words = np.frombuffer(digests, dtype=np.uint64).reshape(len(x), k)
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)
