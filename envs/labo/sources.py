"""The two things that can be asked in ``sci/LABO-v0``: the real experiment, and the cheap predictor."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from scisuite.core import InvalidInput, as_seed
from scisuite.envs.labo.task import Array, Task

REDRAWN = ("simulated", "random")
"""Oracles that are drawn anew for each episode unless their configuration names a seed or a file of answers."""


class Sources:
    """Answers of both sources to one environment; each remembers what it has said.

    Parameters
    ----------
    task : Task
    oracle : str or object
        What :func:`scisuite.solvers.labo.oracles.make_oracle` takes: ``"simulated"``, ``"random"``, ``"local"``,
        ``"endpoint"``, an object with ``bind`` and ``predict``, which is taken as it is, a solver or a callable.
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
        from scisuite.solvers.labo.oracles import make_oracle

        self.task = task
        config = _checked(config)
        self.oracle: Any = make_oracle(oracle, **config)
        self._drawn = isinstance(oracle, str) and oracle in REDRAWN and "cache" not in config
        self.redrawn = self._drawn and "seed" not in config
        self.oracle.bind(task.scenario)
        self._answered: dict[Any, float] = {}
        self._answers = self._table()
        self._measured: dict[Any, tuple[float, float]] = {}
        truth = getattr(task.scenario, "pool_values", None)
        self._truth: list[float] | None = None
        if task.pool is not None and truth is not None:
            self._truth = [float(value) for value in truth]
            self._prices = [float(price) * task.cost_real for price in task.scenario.cost(task.pool)]

    def copy(self, oracle: Any, config: Mapping[str, Any] | None) -> Sources:
        """Sources for another environment of the same arguments, with an oracle of their own if it is drawn."""
        return Sources(self.task, oracle, config) if self._drawn else Sources(self.task, self.oracle, None)

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


def _checked(config: Any) -> dict[str, Any]:
    if config is not None and not isinstance(config, Mapping):
        raise InvalidInput(f"oracle_config must be a mapping of arguments, not {config!r}")
    return dict(config or {})
