"""The three kinds of scenario: data, black box and world."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Space, as_seed

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Description:
    """What a scenario is made of, for people and for reports.

    Parameters
    ----------
    id, summary : str
    source : str
        Where the data or the equations come from.
    licence : str
        Of the data; ``"unstated"`` where the source states none.
    real : bool
        Whether it is measured data or a real engine, not a generated stand-in.
    shapes, units : mapping
        Named arrays to shapes, named quantities to units.
    """

    id: str
    summary: str
    source: str
    licence: str
    real: bool
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)


class Scenario(ABC):
    """A world with an id, a seed and a licence.

    ``id`` is set by the registry; ``version`` is raised when the numbers a scenario gives change.
    """

    id: str = ""
    version: ClassVar[int] = 1

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = as_seed(seed)

    @abstractmethod
    def describe(self) -> Description:
        """Source, licence, shapes and units."""


class DataScenario(Scenario):
    """Inputs and targets in splits, and the metrics by which a prediction is judged."""

    splits: tuple[str, ...] = ("train", "validation", "test")

    @abstractmethod
    def inputs(self, split: str) -> Any:
        """The inputs of a split; :class:`~scisuite.core.InvalidInput` for an unknown one."""

    @abstractmethod
    def targets(self, split: str) -> Any:
        """The targets of a split, aligned with its inputs."""

    @abstractmethod
    def metrics(self, prediction: Any, split: str) -> dict[str, float]:
        """Named finite figures of merit of ``prediction`` for ``inputs(split)``."""


class BlackBoxScenario(Scenario):
    """Something expensive to evaluate, to be maximised or minimised.

    Attributes
    ----------
    space : Space
        Points are encoded float64 rows (n, d) in [0, 1] (see :class:`scisuite.core.Space`).
    maximise : bool
    unit : str
        Unit of the value.
    pool : float64 (N, d) or None
        The only points that can be evaluated, or ``None`` where all of ``space`` can.
    optimum : float or None
        The best value, in its own units, where it is known.
    value_range : (float, float)
        Range in which any value is declared to lie, in its own units: what an environment scales by and what a
        language model is told. It is known before the first evaluation and is not the range of the data.
    median : float
        Median value over the pool, or over a uniform sample of the space: where a reward or a regret starts.
    """

    space: Space
    maximise: bool = True
    unit: str = ""
    value_name: str = "value"
    pool: Array | None = None
    optimum: float | None = None
    value_range: tuple[float, float]
    median: float

    @abstractmethod
    def evaluate(self, x: Any) -> Array:
        """Values (n,) at encoded points ``x`` (n, d), in the value's own units.

        Raises
        ------
        InvalidInput
            If a row is not finite, not in the space, or not in the pool.
        """

    def cost(self, x: Any) -> Array:
        """Cost (n,) of evaluating ``x``, in evaluations."""
        return np.ones(len(self.space.as_rows(x)))

    def regret(self, value: float) -> float:
        """Normalised simple regret of a best value: 0 at the optimum, 1 at the median.

        (y_best − value) / (y_best − y_median), with the signs turned where smaller is better. NaN where the optimum
        is unknown.
        """
        if self.optimum is None:
            return math.nan
        return (self.optimum - value) / (self.optimum - self.median)

    def context(self) -> dict[str, Any]:
        """What a language model may be told about the problem: names, units, bounds and the declared range."""
        return {
            "task": self.describe().summary,
            "value": self.value_name,
            "unit": self.unit,
            "range": list(self.value_range),
            "maximise": self.maximise,
            "space": self.space.to_json(),
        }


class WorldScenario(Scenario):
    """A generator of instances: mazes, factor graphs, proteins."""

    @abstractmethod
    def generate(self, rng: np.random.Generator) -> Any:
        """One instance: a frozen dataclass of arrays, the same for the same generator state."""
