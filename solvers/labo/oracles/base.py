"""What a cheap predictor of experiments is: the protocol, the problem it is told, and the counting of its answers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from scisuite.core import EngineFailure, InvalidInput, Space
from scisuite.core.files import canonical_json
from scisuite.scenarios.base import BlackBoxScenario

Array = NDArray[np.float64]

WHOLE_REQUEST = 5
"""A request of this many rows or more of which none is answered raises :class:`OracleError`."""

LONGEST_STREAK = 20
"""So many failed answers in a row raise :class:`OracleError`, however small the requests were."""


MOST_CAUSES = 5
"""So many causes of failed answers are named by :class:`OracleError`."""


class OracleError(EngineFailure):
    """An oracle answers nothing any more; single failed answers are NaN and counted instead."""


@dataclass(frozen=True)
class Cause:
    """Why an answer failed: ``template`` with ``{}`` for what was seen, or without. Causes of a template are counted
    together.
    """

    template: str
    seen: str = ""

    def __str__(self) -> str:
        return self.template.replace("{}", self.seen, 1) if self.seen else self.template


NOT_ASKED = Cause("not asked after these")


@dataclass(frozen=True)
class LLMPrediction:
    """Answers to one request.

    Attributes
    ----------
    mean : float64 (n,)
        In the problem's own units, NaN where the answer failed.
    std : float64 (n,) or None
        Standard deviation in the same units, where the oracle gives one.
    n_failed : int
        How many of the n answers failed.
    """

    mean: Array
    std: Array | None
    n_failed: int


@dataclass(frozen=True, eq=False)
class Problem:
    """What someone with a laboratory and no scenario binds an oracle to.

    Parameters
    ----------
    space : Space
    maximise : bool
    task : str
        One sentence for a language model: what is made, what is measured.
    value_name, unit : str
    value_range : (float, float) or None
        Range in which any value is declared to lie; answers outside it count as failed.
    pool : float64 (N, d) or None
        Encoded candidates, where only these can be made.

    Raises
    ------
    InvalidInput
        If the range is not a finite interval or a pool row is not in the space.
    """

    space: Space
    maximise: bool = True
    task: str = ""
    value_name: str = "value"
    unit: str = ""
    value_range: tuple[float, float] | None = None
    pool: Array | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.space, Space):
            raise InvalidInput(f"space must be a Space, not {type(self.space).__name__}; see Space.from_bounds")
        if self.value_range is not None:
            object.__setattr__(self, "value_range", as_range(self.value_range))
        if self.pool is not None:
            object.__setattr__(self, "pool", self.space.require(self.pool))

    def context(self) -> dict[str, Any]:
        """What a language model may be told: the keys of :meth:`BlackBoxScenario.context`."""
        return {
            "task": self.task,
            "value": self.value_name,
            "unit": self.unit,
            "range": None if self.value_range is None else list(self.value_range),
            "maximise": self.maximise,
            "space": self.space.to_json(),
        }


@runtime_checkable
class LLMOracle(Protocol):
    """A cheap predictor with unknown bias. ``propose(n, rng) -> encoded (n, d)`` is optional."""

    def bind(self, problem: BlackBoxScenario | Problem) -> Any:
        """Learn space, units and declared range."""

    def predict(self, x: Any) -> LLMPrediction:
        """Answers for encoded rows (n, d)."""


class CountingOracle(ABC):
    """What every oracle here shares: binding, checking rows, dropping and counting bad answers.

    Attributes
    ----------
    checks_range : bool
        Whether answers outside the declared range count as failed.
    n_queries, n_failed : int
        Rows asked for, and answers dropped because they were missing, NaN or outside the declared range, since
        ``bind``.
    """

    checks_range: bool = True
    problem: BlackBoxScenario | Problem | None = None
    n_queries: int = 0
    n_failed: int = 0
    _streak: int = 0
    _streak_causes: tuple[Cause, ...] = ()
    _causes: Mapping[int, Cause] = MappingProxyType({})

    @abstractmethod
    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        """Mean (n,) and standard deviation (n,) or None for valid rows (n, d); NaN where there is no answer.

        Why there is none may be left in ``_causes``, by the number of the row.
        """

    @property
    def model(self) -> str:
        """Name of the model that answers, with everything that changes its answers: half of a cache key."""
        return type(self).__name__

    def bind(self, problem: BlackBoxScenario | Problem) -> Self:
        """Take the problem whose rows will be asked for, and count from zero.

        Raises
        ------
        InvalidInput
            If it has no space, or lacks what this oracle needs.
        """
        if not isinstance(getattr(problem, "space", None), Space):
            raise InvalidInput(f"bind takes a BlackBoxScenario or a Problem, not {type(problem).__name__}")
        self.problem = problem
        self.n_queries = self.n_failed = self._streak = 0
        return self

    def predict(self, x: Any) -> LLMPrediction:
        """Answers for encoded rows ``x`` (n, d), in the problem's own units.

        Raises
        ------
        InvalidInput
            Before :meth:`bind`, or if a row is not in the space (or not in the pool, where the oracle needs one).
        OracleError
            If none of at least five rows is answered, or twenty answers in a row have failed; the message counts why.
        """
        x = self._require_bound().space.require(x)
        if len(x) == 0:
            return LLMPrediction(np.empty(0), None, 0)
        self._causes = {}
        mean, std = self._answer(x)
        mean = np.array(mean, dtype=np.float64)
        failed = ~np.isfinite(mean)
        causes = {i: Cause("the answer was {}", f"{mean[i]:g}") for i in np.flatnonzero(failed).tolist()} | dict(
            self._causes
        )
        limits = self._limits()
        if self.checks_range and limits is not None:
            with np.errstate(invalid="ignore"):
                outside = (mean < limits[0]) | (mean > limits[1])
            failed |= outside
            template = f"{{}} is outside the declared range [{limits[0]:g}, {limits[1]:g}]"
            causes |= {i: Cause(template, f"{mean[i]:g}") for i in np.flatnonzero(outside & np.isfinite(mean)).tolist()}
        mean[failed] = np.nan
        if std is not None:
            std = np.where(failed, np.nan, np.asarray(std, dtype=np.float64))
        self._causes = causes
        self._count(failed)
        return LLMPrediction(mean, std, int(failed.sum()))

    def prompt(self, row: Array) -> str:
        """What is asked about one encoded row (d,): the other half of a cache key."""
        problem = self._require_bound()
        return canonical_json({"context": problem.context(), "x": [float(v) for v in row]})

    def _count(self, failed: NDArray[np.bool_]) -> None:
        n, lost = len(failed), int(failed.sum())
        self.n_queries += n
        self.n_failed += lost
        causes = tuple(self._causes[i] for i in np.flatnonzero(failed).tolist())
        if lost == n:
            self._streak_causes = self._streak_causes[: self._streak] + causes
            self._streak += n
        else:
            self._streak = int(np.argmin(failed[::-1]))
            self._streak_causes = causes[lost - self._streak :]
        if lost == n and (n >= WHOLE_REQUEST or self._streak >= LONGEST_STREAK):
            raise OracleError(
                f"{self.model} answered none of the last {self._streak} questions "
                f"({self.n_failed} of {self.n_queries} failed): {_counted(self._streak_causes)}"
            )

    def _limits(self) -> tuple[float, float] | None:
        return getattr(self.problem, "value_range", None)

    def _require_bound(self) -> BlackBoxScenario | Problem:
        if self.problem is None:
            raise InvalidInput(f"{type(self).__name__} is not bound to a problem; call bind(scenario or Problem) first")
        return self.problem


def _counted(causes: Sequence[Cause]) -> str:
    """Causes with how often each occurred, the most frequent first."""
    groups: dict[str, list[Cause]] = {}
    for cause in causes:
        groups.setdefault(cause.template, []).append(cause)
    # Python sorts stably: equally frequent ones stay in the order in which they occurred.
    ordered = sorted(groups.values(), key=lambda group: (group[0] == NOT_ASKED, -len(group)))
    told = []
    for group in ordered[:MOST_CAUSES]:
        alike = Counter(group).most_common(1)[0][0]
        seen = alike.seen if len(set(group)) == 1 else f"{alike.seen} (or the like)"
        told.append(f"{len(group)} × {Cause(alike.template, seen)}")
    rest = sum(map(len, ordered[MOST_CAUSES:]))
    return "; ".join([*told, f"{rest} × something else"] if rest else told)


def as_range(value: Any) -> tuple[float, float]:
    """``value`` as a finite (low, high) with low < high, or :class:`InvalidInput`."""
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError):
        raise InvalidInput(f"value_range must be (low, high), not {value!r}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InvalidInput(f"value_range must be finite with low < high, not ({low:g}, {high:g})")
    return low, high


def as_number(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """``value`` as a finite float in [low, high], or :class:`InvalidInput` naming it."""
    bounds = f"at least {low:g}" if high == math.inf else f"in [{low:g}, {high:g}]"
    if low == -math.inf:
        bounds = "a finite number"
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise InvalidInput(f"{name} must be {bounds}, not {value!r}")
    if not low <= value <= high:
        raise InvalidInput(f"{name} must be {bounds}, not {value:g}")
    return float(value)
