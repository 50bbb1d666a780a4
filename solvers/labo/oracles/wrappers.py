"""Oracles made of something else: a solver or callable in the model's place, and a cache around another oracle."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.replies import ReplyCache
from scisuite.scenarios.base import BlackBoxScenario
from scisuite.solvers.labo.oracles.base import Array, Cause, CountingOracle, LLMOracle, Problem

CHUNK = 16
"""Rows that a cache asks for at once: so many answers a kill can lose."""


class SolverOracle(CountingOracle):
    """Any fitted solver, or any function, in the language model's place.

    Parameters
    ----------
    solver : Solver or callable
        Something with ``predict``, or a function, of n points: gives values (n,), or a pair (mean, std) of such, in the
        problem's own units. NaN, and values outside the declared range, count as failed answers.
    inputs : {"encoded", "units", "points"}
        What it takes: encoded rows (n, d) in [0, 1]; rows in the user's units (n, number of dimensions), see
        :meth:`scisuite.core.Space.to_units`; or a list of dicts in the user's units.
    name : str or None
        For reports and cache keys.

    Raises
    ------
    InvalidInput
        If ``solver`` is neither, or ``inputs`` is none of the three. Whatever the solver raises passes through.
    """

    def __init__(self, solver: Any, inputs: str = "encoded", name: str | None = None) -> None:
        call = solver.predict if hasattr(solver, "predict") else solver
        if not callable(call) or isinstance(solver, type):
            raise InvalidInput(f"solver must be a fitted solver or a function, not {solver!r}")
        if inputs not in ("encoded", "units", "points"):
            raise InvalidInput(f"inputs must be 'encoded', 'units' or 'points', not {inputs!r}")
        self.solver = solver
        self.inputs = inputs
        self.name = name or str(getattr(solver, "id", "") or getattr(solver, "__qualname__", type(solver).__name__))

    @property
    def model(self) -> str:
        """The solver's name."""
        return f"solver({self.name})"

    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        space = self._require_bound().space
        asked: Any = {
            "encoded": lambda: x.copy(),
            "units": lambda: space.to_units(x),
            "points": lambda: space.decode(x),
        }
        call: Callable[[Any], Any] = getattr(self.solver, "predict", self.solver)
        answer = call(asked[self.inputs]())
        if isinstance(answer, tuple) and len(answer) == 2:
            return self._column(answer[0], len(x)), self._column(answer[1], len(x))
        return self._column(answer, len(x)), None

    def _column(self, values: Any, n: int) -> Array:
        if hasattr(values, "detach"):
            values = values.detach().cpu().numpy()
        try:
            column = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput(f"{self.name} must give numbers, not {values!r}") from None
        if column.shape not in ((n,), (n, 1)):
            raise InvalidInput(f"{self.name} gave values of shape {column.shape} for {n} points")
        return column.reshape(n)


class CachedOracle(CountingOracle):
    """Another oracle whose answers are kept in a file and replayed from it, failed ones included.

    Keys are hashes of the prompt and the model's name. Every ``CHUNK`` answers go to the file at once, so that a kill
    loses few. A proposal is kept under the state of the generator that it was given, and a replay leaves that generator
    as the original did, so that a replayed run is the same run.

    Parameters
    ----------
    inner : oracle
    path : path
        Of a :class:`~scisuite.core.replies.ReplyCache`.
    retry_failed : bool
        Ask again where the kept answer is a failure.
    """

    def __init__(self, inner: LLMOracle, path: str | os.PathLike[str], retry_failed: bool = False) -> None:
        if not isinstance(inner, LLMOracle):
            raise InvalidInput(f"inner must be an oracle with bind and predict, not {type(inner).__name__}")
        self.inner = inner
        self.retry_failed = retry_failed
        self.cache = ReplyCache(path)
        self.n_replayed = 0
        self.checks_range = bool(getattr(inner, "checks_range", True))

    @property
    def model(self) -> str:
        """The inner oracle's."""
        return str(getattr(self.inner, "model", type(self.inner).__name__))

    @property
    def propose(self) -> Callable[[int, np.random.Generator], Array]:
        """``propose(n, rng)`` of the inner oracle, replayed; absent where the inner oracle has none."""
        if not hasattr(self.inner, "propose"):
            raise AttributeError(f"{self.model} has no propose")
        return self._propose

    def bind(self, problem: BlackBoxScenario | Problem) -> Self:
        """Bind the inner oracle too."""
        self.inner.bind(problem)
        super().bind(problem)
        self.n_replayed = 0
        return self

    def prompt(self, row: Array) -> str:
        """The inner oracle's."""
        ask = getattr(self.inner, "prompt", None)
        return str(ask(row)) if callable(ask) else super().prompt(row)

    def _answer(self, x: Array) -> tuple[Array, Array | None]:
        prompts = [self.prompt(row) for row in x]
        keys = [ReplyCache.key(prompt, self.model) for prompt in prompts]
        missing = [i for i, key in enumerate(keys) if not self._kept(key)]
        self.n_replayed += len(x) - len(missing)
        replayed = Cause(f"a failure kept in {self.cache.path.name} (retry_failed=True asks again)")
        causes = dict.fromkeys(set(range(len(x))) - set(missing), replayed)
        unique = list({keys[i]: i for i in reversed(missing)}.values())[::-1]
        for start in range(0, len(unique), CHUNK):
            rows = unique[start : start + CHUNK]
            answer = self.inner.predict(x[rows])
            told = getattr(self.inner, "_causes", {})
            causes |= {i: told[j] for j, i in enumerate(rows) if j in told}
            for j, i in enumerate(rows):
                reply = {"mean": answer.mean[j], "std": None if answer.std is None else answer.std[j]}
                self.cache.put(keys[i], reply, model=self.model, prompt=prompts[i])
        replies = [self.cache.get(key) for key in keys]
        mean = np.array([_number(reply["mean"]) for reply in replies])
        self._causes = {i: cause for i, cause in causes.items() if np.isnan(mean[i])}
        std = np.array([_number(reply["std"]) for reply in replies])
        return mean, None if np.isnan(std).all() else std

    def _kept(self, key: str) -> bool:
        if key not in self.cache:
            return False
        reply = self.cache.get(key)
        if not isinstance(reply, dict) or not {"mean", "std"} <= set(reply):
            return False
        return not (self.retry_failed and reply["mean"] is None)

    def _propose(self, n: int, rng: np.random.Generator) -> Array:
        problem = self._require_bound()
        question = {"propose": n, "context": problem.context(), "rng": rng.bit_generator.state}
        key = ReplyCache.key(question, self.model)
        if key not in self.cache:
            rows = self.inner.propose(n, rng)  # type: ignore[attr-defined]
            self.cache.put(key, {"rows": rows, "rng": rng.bit_generator.state}, model=self.model, propose=n)
            return np.asarray(rows)
        reply = self.cache.get(key)
        rng.bit_generator.state = reply["rng"]
        return np.asarray(reply["rows"], dtype=np.float64).reshape(n, problem.space.d)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
