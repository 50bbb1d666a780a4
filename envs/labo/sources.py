"""The two things that can be asked in ``sci/LABO-v0``: the real experiment, and the cheap predictor."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from scisuite.core import InvalidInput, as_seed
from scisuite.core.registry import did_you_mean, refuse_unknown_arguments
from scisuite.envs.labo.task import Array, Task

ORACLES = {
    "simulated": "SimulatedOracle",
    "random": "RandomOracle",
    "local": "LocalModelOracle",
    "endpoint": "EndpointOracle",
}
REDRAWN = ("simulated", "random")
"""Oracles that are drawn anew for each episode unless their configuration names a seed."""


class Sources:
    """Answers of both sources to one environment; each remembers what it has said.

    Parameters
    ----------
    task : Task
    oracle : str or object
        ``"simulated"``, ``"random"``, ``"local"``, ``"endpoint"``, or an object with ``bind`` and ``predict``, which is
        taken as it is.
    config : mapping or None
        JSON arguments of a named oracle.

    Raises
    ------
    InvalidInput
        If there is no such oracle or it does not take the arguments.
    MissingDependency
        If it needs a package that is not installed.
    """

    def __init__(self, task: Task, oracle: Any, config: Mapping[str, Any] | None) -> None:
        self.task = task
        self.oracle = _made(oracle, dict(config or {}))
        self._drawn = isinstance(oracle, str) and oracle in REDRAWN
        self.redrawn = self._drawn and "seed" not in (config or {})
        self.oracle.bind(task.scenario)
        self._answered: dict[Any, float] = {}
        self._answers = self._table()
        self._measured: dict[Any, tuple[float, float]] = {}
        truth = getattr(task.scenario, "pool_values", None)
        self._truth: list[float] | None = None
        if task.pool is not None and truth is not None:
            self._truth = [float(value) for value in truth]
            self._prices = [float(price) * task.cost_real for price in task.scenario.cost(task.pool)]

    @property
    def tables(self) -> tuple[Array, Array, Array] | None:
        """Real values, prices and answers (N,) of every pool row, where both sources are known in full."""
        if self._truth is None or self._answers is None:
            return None
        return np.array(self._truth), np.array(self._prices), self._answers

    def begin(self, rng: np.random.Generator, oracle_seed: int | None) -> None:
        """A new episode: draw the oracle anew from ``rng``, or from ``oracle_seed`` where one is given."""
        if oracle_seed is None and self.redrawn:
            oracle_seed = int(rng.integers(2**63))
        if oracle_seed is not None:
            self._redraw(oracle_seed)
        self._answered.clear()
        if self.task.pool is None:
            self._measured.clear()

    def require_seed(self, oracle_seed: Any) -> int | None:
        """``oracle_seed`` checked, before anything is changed."""
        if oracle_seed is None:
            return None
        if not self._drawn and not hasattr(self.oracle, "redraw"):
            raise InvalidInput(f"oracle_seed: {type(self.oracle).__name__} draws nothing that a seed could change")
        return as_seed(oracle_seed)

    def ask(self, point: int | Array) -> float:
        """The predictor's answer in the value's own units; NaN if it failed."""
        if self._answers is not None and isinstance(point, int):
            return float(self._answers[point])
        key = point if isinstance(point, int) else point.tobytes()
        if key not in self._answered:
            prediction = self.oracle.predict(self.task.row(point)[None])
            self._answered[key] = float(prediction.mean[0])
        return self._answered[key]

    def measure(self, point: int | Array) -> tuple[float, float]:
        """The real value in its own units, and the price of the experiment."""
        if self._truth is not None and isinstance(point, int):
            return self._truth[point], self._prices[point]
        key = point if isinstance(point, int) else point.tobytes()
        if key not in self._measured:
            x = self.task.row(point)[None]
            value = float(self.task.scenario.evaluate(x)[0])
            if not math.isfinite(value):
                raise InvalidInput(f"the scenario gave {value} at {self.task.in_units(point)}")
            self._measured[key] = (value, self.task.cost_real * float(self.task.scenario.cost(x)[0]))
        return self._measured[key]

    def _redraw(self, seed: int) -> None:
        if hasattr(self.oracle, "redraw"):
            self.oracle.redraw(seed)
        else:
            self.oracle.seed = seed
        self._answers = self._table()

    def _table(self) -> Array | None:
        return getattr(self.oracle, "table", None) if self.task.pool is not None else None


def _made(oracle: Any, config: dict[str, Any]) -> Any:
    if not isinstance(oracle, str):
        if not (callable(getattr(oracle, "bind", None)) and callable(getattr(oracle, "predict", None))):
            raise InvalidInput(f"oracle must be one of {', '.join(ORACLES)}, or have bind and predict, not {oracle!r}")
        if config:
            raise InvalidInput("oracle_config is for an oracle given by its name; configure the object instead")
        return oracle
    if oracle not in ORACLES:
        raise InvalidInput(f"unknown oracle {oracle!r}{did_you_mean(oracle, ORACLES)}")
    target = getattr(importlib.import_module("scisuite.solvers.labo.oracles"), ORACLES[oracle])
    refuse_unknown_arguments(target, config, f"oracle {oracle!r}")
    return target(**config)
