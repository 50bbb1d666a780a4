"""What stays the same over the episodes of ``sci/LABO-v0``: scenario, prices, spaces and scaling."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite import scenarios
from scisuite.core import InvalidInput
from scisuite.core.files import canonical_json
from scisuite.scenarios import BlackBoxScenario

Array = NDArray[np.float64]
Float32 = NDArray[np.float32]

LLM, REAL = 0, 1

SCALED_LOW, SCALED_HIGH = -1.0, 2.0
"""Observed values are (y − low) / (high − low) of the declared range, clipped to these: a predictor may leave it."""


class Task:
    """A scenario with the prices of its two sources, and what an environment computes from them once.

    Parameters
    ----------
    scenario : str or BlackBoxScenario
    scenario_config : mapping or None
        JSON arguments of ``scenarios.make``.
    budget, max_llm : int
        Real experiments, and answers of the cheap predictor, in an episode.
    cost_real, cost_llm : float
        Price of one of either, in one currency.
    cost_weight : float
        Reward taken away for one unit of that currency.

    Raises
    ------
    InvalidInput
        If one of them is out of its range, or the scenario is unknown or no black box.
    """

    def __init__(
        self,
        scenario: Any,
        scenario_config: Mapping[str, Any] | None,
        budget: int,
        max_llm: int,
        cost_real: float,
        cost_llm: float,
        cost_weight: float,
    ) -> None:
        self.budget = _count("budget", budget)
        self.max_llm = _count("max_llm", max_llm)
        self.cost_real = _price("cost_real", cost_real)
        self.cost_llm = _price("cost_llm", cost_llm)
        self.cost_weight = _price("cost_weight", cost_weight)
        self.scenario = as_scenario(scenario, scenario_config)
        self.d = self.scenario.space.d
        pool = self.scenario.pool
        self.pool: Array | None = None if pool is None else np.asarray(pool, dtype=np.float64)
        self.pool32: Float32 | None = None if self.pool is None else self.pool.astype(np.float32)
        self.low = float(self.scenario.value_range[0])
        self.span = float(self.scenario.value_range[1]) - self.low
        self.median = float(self.scenario.median)
        self.best_known = _best_known(self.scenario)
        if self.best_known == self.median:
            raise InvalidInput(f"{self.scenario.id or 'the scenario'}: the median is already the best value")
        self.reward_per_unit = 1.0 / (self.best_known - self.median)
        self._snaps = self.scenario.space.simplex or not self.scenario.space.is_continuous

    def observation_space(self) -> gym.spaces.Dict:
        """A new space of the Dict observations."""
        return gym.spaces.Dict(
            {
                "D_L": self._rows_space(self.max_llm),
                "D_R": self._rows_space(self.budget),
                "llm_left": gym.spaces.Box(0.0, 1.0, (1,), np.float32),
                "mask_L": gym.spaces.MultiBinary(self.max_llm),
                "mask_R": gym.spaces.MultiBinary(self.budget),
                "real_left": gym.spaces.Box(0.0, 1.0, (1,), np.float32),
            }
        )

    def action_space(self) -> gym.spaces.Dict:
        """A new space of the Dict actions."""
        where: gym.Space[Any]
        if self.pool is None:
            where = gym.spaces.Box(0.0, 1.0, (self.d,), np.float32)
        else:
            where = gym.spaces.Discrete(len(self.pool))
        return gym.spaces.Dict({"source": gym.spaces.Discrete(2), "x": where})

    def flat_observation_space(self) -> gym.spaces.Box:
        """A new space of the observations of the flat twin."""
        low, high = self._row_bounds(self.max_llm + self.budget)
        rest = self.max_llm + self.budget + 2
        low = np.concatenate((low.ravel(), np.zeros(rest, np.float32)))
        high = np.concatenate((high.ravel(), np.ones(rest, np.float32)))
        return gym.spaces.Box(low, high, dtype=np.float32)

    def flat_action_space(self) -> gym.spaces.Box | gym.spaces.MultiDiscrete:
        """A new space of the actions of the flat twin."""
        if self.pool is None:
            return gym.spaces.Box(0.0, 1.0, (self.d + 1,), np.float32)
        return gym.spaces.MultiDiscrete([len(self.pool), 2])

    def point(self, x: Any) -> int | Array:
        """The pool index that ``x`` is, or ``x`` as the nearest valid encoded point (d,).

        Raises
        ------
        InvalidInput
            If it is neither.
        """
        if self.pool is not None:
            index = _whole(x)
            if index is None or not 0 <= index < len(self.pool):
                raise InvalidInput(f"x must be a row of the pool, 0 to {len(self.pool) - 1}, not {x!r}")
            return index
        try:
            point: Array = np.array(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"x must be {self.d} numbers in [0, 1], not {x!r}") from None
        if point.shape != (self.d,):
            raise InvalidInput(f"x must have shape ({self.d},), not {point.shape}")
        if not (point.min() >= 0.0 and point.max() <= 1.0):
            raise InvalidInput(f"x must be {self.d} numbers in [0, 1], not {np.array2string(point, precision=6)}")
        return np.asarray(self.scenario.space.snap(point[None])[0]) if self._snaps else point

    def source(self, source: Any) -> int:
        """0 for the predictor or 1 for the experiment.

        Raises
        ------
        InvalidInput
            If it is neither.
        """
        value = _whole(source)
        if value not in (LLM, REAL):
            raise InvalidInput(f"source must be 0 (LLM) or 1 (real), not {source!r}")
        return value

    def row(self, point: int | Array) -> Array:
        """The encoded point (d,)."""
        if isinstance(point, int):
            assert self.pool is not None
            return np.asarray(self.pool[point])
        return point

    def in_units(self, point: int | Array) -> dict[str, Any]:
        """The point in the user's units, by name."""
        return self.scenario.space.decode(self.row(point)[None])[0]

    def scaled(self, value: float) -> float:
        """A value as it is observed."""
        return min(max((value - self.low) / self.span, SCALED_LOW), SCALED_HIGH)

    def achievement(self, value: float) -> float:
        """0 at the median, 1 at the best known value, whichever direction is better."""
        return (value - self.median) * self.reward_per_unit

    def units(self) -> dict[str, Any]:
        """Units of what ``info`` holds."""
        cost = "real evaluations"
        if self.cost_real != 1:
            cost = f"a currency in which a real evaluation costs {self.cost_real:g}"
        return {"value": self.scenario.unit, "cost": cost, "x": dict(self.scenario.space.units)}

    def _rows_space(self, rows: int) -> gym.spaces.Box:
        low, high = self._row_bounds(rows)
        return gym.spaces.Box(low, high, dtype=np.float32)

    def _row_bounds(self, rows: int) -> tuple[Float32, Float32]:
        low = np.zeros((rows, self.d + 1), np.float32)
        high = np.ones((rows, self.d + 1), np.float32)
        low[:, -1], high[:, -1] = SCALED_LOW, SCALED_HIGH
        return low, high


def as_scenario(scenario: Any, config: Mapping[str, Any] | None) -> BlackBoxScenario:
    """The black box of an id, or the object itself."""
    if isinstance(scenario, str):
        made = _made(scenario, canonical_json(config or {}))
        if not isinstance(made, BlackBoxScenario):
            raise InvalidInput(f"scenario {scenario!r} is no black box: there is nothing to optimise in it")
        return made
    if not isinstance(scenario, BlackBoxScenario):
        raise InvalidInput(f"scenario must be an id or a BlackBoxScenario, not {type(scenario).__name__}")
    if config:
        raise InvalidInput("scenario_config is for a scenario given by its id; configure the object instead")
    return scenario


@lru_cache(maxsize=16)
def _made(id: str, config: str) -> Any:
    """A scenario is read-only, so that the copies of an environment in one process can share it."""
    import json

    return scenarios.make(id, **json.loads(config))


def _best_known(scenario: BlackBoxScenario) -> float:
    if scenario.optimum is not None:
        return float(scenario.optimum)
    return float(max(scenario.value_range) if scenario.maximise else min(scenario.value_range))


def _whole(value: Any) -> int | None:
    """``value`` as an int if it is one (a NumPy one, or an array of one, too)."""
    if type(value) is int:
        return value
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.ndarray) and value.ndim == 0 and np.issubdtype(value.dtype, np.integer):
        return int(value)
    return None


def _count(name: str, value: Any) -> int:
    count = _whole(value)
    if count is None or count < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, not {value!r}")
    return count


def _price(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < 0:
        raise InvalidInput(f"{name} must be a finite number of at least 0, not {value!r}")
    return float(value)
