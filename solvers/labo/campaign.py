"""The part that every optimiser here shares: who asks for what, who answers, what is remembered.

A campaign holds the data, hands out queries, takes answers in any order, and can be written to a file after every
change, so that a laboratory computer may be switched off in the middle. What to do next is left to a subclass.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput, Space, as_seed, generator
from scisuite.core.files import sha256
from scisuite.solvers.labo.oracles import LLMOracle, Problem, make_oracle
from scisuite.solvers.labo.records import Candidate, PoolExhausted, Query, Source, Step, Trace
from scisuite.solvers.labo.state import load_state, save_state

Array = NDArray[np.float64]


class Campaign(ABC):
    """Ask, tell, remember.

    Parameters
    ----------
    space : Space
    oracle : LLMOracle, solver, callable or None
        Answers the ``"llm"`` queries inside :meth:`ask`. With ``None`` they are handed out like the real ones. A
        solver, or a function of encoded rows (n, d), is wrapped in
        :class:`~scisuite.solvers.labo.oracles.SolverOracle`; wrap it yourself with ``inputs="points"`` if it takes
        dicts in the user's units.
    budget : int
        Real runs, the ``n_start`` first ones included.
    max_llm : int
        Queries to the language model, those of the warm start included.
    q : int
        Points per batch.
    n_start : int
        Real runs before any model.
    n_latin : int
        Latin-hypercube points that only the language model answers.
    starts : "llm", "random" or float64 (n_start, d)
        Where the first real runs go: to the language model's proposals, to random points, or to given encoded points.
    pool : float64 (N, d) or None
        The only points that can be run. A space of at most 10,000 points is its own pool.
    maximise : bool
    seed : int
    state : path or None
        File that is written after every change; if it exists, the campaign goes on from it.
    task, value_name, unit, value_range
        What the oracle is told about the problem (see :class:`~scisuite.solvers.labo.oracles.Problem`).

    Raises
    ------
    InvalidInput
        If budget < n_start, q < 1, a count is negative, the pool or the starts are not in the space or repeat a row, a
        start is not in the pool, the oracle is bound to another space, or the state file belongs to another campaign.
    PoolExhausted
        If the pool is empty.
    DamagedFile, NewerFormat
        If the state file is not what a campaign writes, or was written by a later version.
    """

    uses_llm: bool = True

    def __init__(
        self,
        space: Space,
        oracle: LLMOracle | None = None,
        *,
        budget: int = 60,
        max_llm: int = 400,
        q: int = 2,
        n_start: int = 3,
        n_latin: int = 50,
        starts: str | Any = "llm",
        pool: Any = None,
        maximise: bool = True,
        seed: int = 0,
        state: str | os.PathLike[str] | None = None,
        task: str = "",
        value_name: str = "value",
        unit: str = "",
        value_range: tuple[float, float] | None = None,
    ) -> None:
        counts = {"budget": budget, "max_llm": max_llm, "q": q, "n_start": n_start, "n_latin": n_latin}
        for name, count in counts.items():
            if isinstance(count, bool) or not isinstance(count, int | np.integer):
                raise InvalidInput(f"{name} must be an integer, not {count!r}")
        if q < 1:
            raise InvalidInput(f"q must be at least 1, not {q}")
        if n_start < 1 or n_latin < 0 or max_llm < 0:
            raise InvalidInput(
                f"n_start >= 1, n_latin >= 0 and max_llm >= 0 are needed, not {n_start}, {n_latin}, {max_llm}"
            )
        if budget < n_start:
            raise InvalidInput(f"the budget of {budget} real runs is less than the {n_start} starting points")
        if self.uses_llm and max_llm < n_start + n_latin:
            raise InvalidInput(f"max_llm = {max_llm} does not cover the warm start of {n_start} + {n_latin} queries")
        self.space = space
        self.oracle = None if oracle is None else make_oracle(oracle)
        self.budget, self.max_llm, self.q = int(budget), int(max_llm), int(q)
        self.n_start, self.n_latin = int(n_start), int(n_latin)
        self.maximise = bool(maximise)
        self.seed = as_seed(seed)
        # A space without a continuous dimension is a pool: nothing in it is worth a second look.
        self.pool = space.enumerate() if pool is None else space.require(pool)
        if self.pool is not None and not len(self.pool):
            raise PoolExhausted("the pool is empty")
        if self.pool is not None and len(self.pool) < n_start:
            raise InvalidInput(f"the pool has {len(self.pool)} rows, fewer than the {n_start} starting points")
        if self.pool is not None:
            _require_different(self.pool, "pool")
        self._row_of = None if self.pool is None else {row.tobytes(): i for i, row in enumerate(self.pool)}
        if isinstance(starts, str):
            if starts not in ("llm", "random"):
                raise InvalidInput(f'starts must be "llm", "random" or encoded points, not {starts!r}')
            self.starts: str | Array = starts
        else:
            self.starts = space.require(starts)
            if len(self.starts) != n_start:
                raise InvalidInput(f"starts has {len(self.starts)} points but n_start is {n_start}")
            _require_different(self.starts, "starts")
            for row in self.starts:
                self._index(row)
        self.problem = Problem(
            space=space,
            maximise=self.maximise,
            task=task,
            value_name=value_name,
            unit=unit,
            value_range=value_range,
            pool=self.pool,
        )
        if self.oracle is not None:
            bound: Any = getattr(self.oracle, "problem", None)
            if bound is None:
                self.oracle.bind(self.problem)
            elif bound.space.to_json() != space.to_json():
                raise InvalidInput("the oracle is bound to a problem with another space; give this campaign its own")
        self.rho: float | None = None
        self.trace = Trace()
        self._llm: dict[bytes, float] = {}
        self._points: dict[bytes, Array] = {}
        self._real: list[tuple[bytes, float]] = []
        self._pending: list[Query] = []
        self._p_delta: dict[int, float | None] = {}
        self._n_llm = 0
        self._n_failed = 0
        self._n_warm_start = 0
        self._next_id = 0
        self._start_rows: Array | None = None
        self._stage = 0
        self._n_decisions = 0
        self._state_path = None if state is None else Path(state)
        if self._state_path is not None and self._state_path.exists():
            load_state(self, self._state_path)

    # What a user calls ------------------------------------------------------------------------------------------

    def ask(self, q: int | None = None) -> list[Query]:
        """The queries to answer next; the same ones until they are told, after a restart too.

        Parameters
        ----------
        q : int or None
            Size of the next batch, where one has to be chosen.

        Raises
        ------
        PoolExhausted
            If no point is left to choose from.
        OracleError
            If the oracle answers nothing any more; the campaign stays as it was and may be asked again.
        """
        if q is not None and (isinstance(q, bool) or not isinstance(q, int | np.integer) or q < 1):
            raise InvalidInput(f"q must be an integer of at least 1, not {q!r}")
        before = (self._next_id, len(self._pending))
        while not self.done and not self._decide(self.q if q is None else int(q)):
            continue
        if (self._next_id, len(self._pending)) != before:
            self._save_state()
        return list(self._pending)

    def decide(self) -> list[Query]:
        """Take one decision if none is pending, let the oracle answer its part, and return what is left to tell.

        :meth:`ask` decides until a real run is due, which may take many decisions that only ask the language model;
        this takes one, for those who time or watch them.
        """
        if not self.done:
            self._decide(self.q)
            self._save_state()
        return list(self._pending)

    def tell(self, query: Query, y: float) -> None:
        """Report the answer to ``query``, in the value's own units.

        NaN is a valid answer of the language model only: it means that the answer could not be used.

        Raises
        ------
        InvalidInput
            If the query is not pending, or ``y`` is not one finite number. Nothing has changed then.
        """
        pending = next((p for p in self._pending if p.id == getattr(query, "id", None)), None)
        if pending is None or pending != query:
            raise InvalidInput("this query is not pending: it was told before, or comes from another campaign")
        if isinstance(y, bool) or not isinstance(y, int | float | np.integer | np.floating):
            size = f" of length {len(y)}" if isinstance(y, Sequence | np.ndarray) and np.ndim(y) else ""
            raise InvalidInput(f"y must be one number, not {type(y).__name__}{size}")
        value = float(y)
        failed_answer = pending.source == "llm" and math.isnan(value)
        if not math.isfinite(value) and not failed_answer:
            raise InvalidInput(f"y must be finite, not {value}")
        self._take(pending, value)
        self._save_state()

    @property
    def done(self) -> bool:
        """Whether the real budget is spent."""
        return len(self._real) >= self.budget

    @property
    def n_real(self) -> int:
        return len(self._real)

    @property
    def n_llm(self) -> int:
        """Queries to the language model, failed ones and the warm start included."""
        return self._n_llm

    @property
    def n_warm_start(self) -> int:
        """Queries to the language model before the first real run was chosen by a model."""
        return self._n_warm_start

    @property
    def n_failed(self) -> int:
        """Answers of the language model that could not be used."""
        return self._n_failed

    @property
    def best(self) -> tuple[dict[str, Any], float] | None:
        """Point, in the user's units, and value of the best real run; ``None`` before the first."""
        if not self._real:
            return None
        choose = max if self.maximise else min
        key, value = choose(self._real, key=lambda run: run[1])
        return self.space.decode(self._points[key][None])[0], value

    def run(self, problem: Any, budget: int | None = None) -> Trace:
        """Answer every query from ``problem`` (a black-box scenario) until the budget is spent.

        With ``oracle=None`` nothing can answer the language model's queries: :class:`InvalidInput`, if there are any.
        """
        starts_by_llm = isinstance(self.starts, str) and self.starts == "llm"
        if self.oracle is None and (self.uses_llm or starts_by_llm):
            raise InvalidInput("run needs an oracle; without one, use ask and tell")
        limit = self.budget if budget is None else min(int(budget), self.budget)
        while len(self._real) < limit:
            queries = self.ask()[: limit - len(self._real)]
            values = problem.evaluate(np.array([query.encoded for query in queries]))
            for query, value in zip(queries, values, strict=True):
                self.tell(query, float(value))
        return self.trace

    # What a subclass supplies -----------------------------------------------------------------------------------

    @abstractmethod
    def _choose(self, q: int) -> list[Candidate]:
        """Up to ``q`` points to do something with, given the data so far; an empty list means none is left."""

    # What a subclass may read -----------------------------------------------------------------------------------

    @property
    def sign(self) -> float:
        """+1 where larger is better, −1 where smaller is: models see sign × y and always maximise."""
        return 1.0 if self.maximise else -1.0

    def real_data(self) -> tuple[Array, Array]:
        """Encoded points (n, d) and sign × y (n,) of the real runs."""
        x = np.array([self._points[key] for key, _ in self._real]).reshape(-1, self.space.d)
        return x, self.sign * np.array([value for _, value in self._real])

    def llm_data(self) -> tuple[Array, Array]:
        """Encoded points (n, d) and sign × answer (n,) of the language model's usable answers."""
        keys = [key for key, value in self._llm.items() if math.isfinite(value)]
        x = np.array([self._points[key] for key in keys]).reshape(-1, self.space.d)
        return x, self.sign * np.array([self._llm[key] for key in keys])

    def paired_data(self) -> tuple[Array, Array, Array]:
        """Encoded points, sign × y_R and sign × y_L where both are known."""
        pairs = [(key, value) for key, value in self._real if math.isfinite(self._llm.get(key, math.nan))]
        x = np.array([self._points[key] for key, _ in pairs]).reshape(-1, self.space.d)
        real = self.sign * np.array([value for _, value in pairs])
        cheap = self.sign * np.array([self._llm[key] for key, _ in pairs])
        return x, real, cheap

    def was_run(self, row: Array) -> bool:
        return any(key == row.tobytes() for key, _ in self._real)

    def was_asked(self, row: Array) -> bool:
        return row.tobytes() in self._llm

    def llm_failed(self, row: Array) -> bool:
        return math.isnan(self._llm.get(row.tobytes(), 0.0))

    def available_rows(self) -> NDArray[np.intp]:
        """Pool rows that have neither been run nor been left without an answer."""
        assert self.pool is not None
        assert self._row_of is not None
        free = np.ones(len(self.pool), dtype=bool)
        for key, _ in self._real:
            free[self._row_of[key]] = False
        if self.uses_llm:
            for key, value in self._llm.items():
                if math.isnan(value):
                    free[self._row_of[key]] = False
        return np.flatnonzero(free)

    def rng(self, purpose: str) -> np.random.Generator:
        """A generator for one purpose in this decision: a resumed campaign, or one that asks less, draws the same."""
        return generator(self.seed, "labo", purpose, self._n_decisions)

    # The machinery ----------------------------------------------------------------------------------------------

    def _decide(self, q: int) -> bool:
        """One decision, answered as far as the oracle can; whether something is left to be told."""
        if not self._pending:
            self._advance(q)
        if self.oracle is not None and any(p.source == "llm" for p in self._pending):
            self._answer_inside()
        return bool(self._pending)

    def _advance(self, q: int) -> None:
        # The stage is over only once its queries are there: an oracle that fails to propose is asked again.
        if self._stage == 0:
            self._begin()
            self._stage = 1
        elif self._stage == 1:
            self._first_runs()
            self._stage = 2
        else:
            candidates = self._choose(min(q, self.budget - self.n_real))
            self._n_decisions += 1
            if not candidates:
                raise PoolExhausted(f"no point is left after {self.n_real} of {self.budget} real runs")
            self._enqueue(candidates)

    def _begin(self) -> None:
        """Warm start: Latin-hypercube points for the language model, and the starts where they are known already."""
        self._start_rows = self._known_starts()
        asks: list[Array] = []
        if self.uses_llm or (isinstance(self.starts, str) and self.starts == "llm" and self._start_rows is None):
            if self._start_rows is not None:
                asks.extend(self._start_rows)
            asks.extend(self._latin_rows(exclude=asks))
        self._enqueue([Candidate(row, self._index(row), ask_llm=True, run_real=False) for row in asks])

    def _first_runs(self) -> None:
        rows = self._start_rows
        if rows is None:
            x, y = self.llm_data()
            if len(y) >= self.n_start:
                rows = x[np.argsort(-y, kind="stable")[: self.n_start]]
            else:
                rows = self._random_rows(self.n_start, "starts")
        self._enqueue([Candidate(row, self._index(row), ask_llm=False, run_real=True) for row in rows])

    def _known_starts(self) -> Array | None:
        if not isinstance(self.starts, str):
            return self.starts
        if self.starts == "random":
            return self._random_rows(self.n_start, "starts")
        propose = getattr(self.oracle, "propose", None)
        if propose is None:
            return None
        rows = propose(self.n_start, generator(self.seed, "labo", "starts"))
        return None if rows is None or len(rows) != self.n_start else self.space.require(rows)

    def _random_rows(self, n: int, purpose: str) -> Array:
        rng = generator(self.seed, "labo", purpose)
        if self.pool is not None:
            return self.pool[rng.choice(len(self.pool), size=n, replace=False)]
        return self.space.sample(rng, n)

    def _latin_rows(self, exclude: Sequence[Array]) -> list[Array]:
        points = self.space.latin_hypercube(generator(self.seed, "labo", "latin"), self.n_latin) if self.n_latin else []
        if self.pool is None:
            return list(points)
        free = np.ones(len(self.pool), dtype=bool)
        for row in exclude:
            free[self._index(row)] = False
        rows: list[Array] = []
        for point in points:
            if not free.any():
                break
            distance = np.where(free, np.square(self.pool - point).sum(1), np.inf)
            nearest = int(distance.argmin())
            free[nearest] = False
            rows.append(self.pool[nearest])
        return rows

    def _index(self, row: Array) -> int | None:
        if self._row_of is None:
            return None
        try:
            return self._row_of[np.ascontiguousarray(row).tobytes()]
        except KeyError:
            raise InvalidInput("a starting point is not a row of the pool") from None

    def _enqueue(self, candidates: Sequence[Candidate]) -> None:
        real_left = self.budget - self.n_real
        for candidate in candidates:
            row = np.ascontiguousarray(candidate.encoded)
            point = self.space.decode(row[None])[0]
            self._points[row.tobytes()] = row
            sources: list[Source] = ["llm"] if candidate.ask_llm else []
            if candidate.run_real and real_left > 0:
                sources.append("real")
                real_left -= 1
            for source in sources:
                query = Query(self._next_id, point, source, tuple(row.tolist()), candidate.index)
                self._next_id += 1
                self._pending.append(query)
                self._p_delta[query.id] = candidate.p_delta

    def _answer_inside(self) -> None:
        assert self.oracle is not None
        asked = [p for p in self._pending if p.source == "llm"]
        answers = self.oracle.predict(np.array([query.encoded for query in asked])).mean
        for query, value in zip(asked, answers, strict=True):
            self._take(query, float(value))

    def _take(self, query: Query, value: float) -> None:
        key = np.array(query.encoded).tobytes()
        self._pending.remove(query)
        if query.source == "llm":
            self._llm[key] = value
            self._n_llm += 1
            self._n_warm_start += self._stage < 2
            if math.isnan(value):
                self._n_failed += 1
                if self._stage == 2:
                    self._pending = [p for p in self._pending if p.encoded != query.encoded]
        else:
            self._real.append((key, value))
        best = self.best
        step = Step(
            query,
            value,
            self._p_delta.pop(query.id, None),
            self.rho,
            math.nan if best is None else best[1],
            self.n_real,
            self.n_llm,
        )
        self.trace.steps.append(step)

    # The file ---------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        """What must agree between a state file and the campaign that resumes from it."""
        return {
            "kind": type(self).__name__,
            "space": self.space.to_json(),
            "budget": self.budget,
            "max_llm": self.max_llm,
            "n_start": self.n_start,
            "n_latin": self.n_latin,
            "maximise": self.maximise,
            "seed": self.seed,
            "starts": self.starts if isinstance(self.starts, str) else self.starts.tolist(),
            "pool": None if self.pool is None else sha256(self.pool.tobytes()),
        }

    def _save_state(self) -> None:
        if self._state_path is not None:
            save_state(self, self._state_path)


def _require_different(rows: Array, name: str) -> None:
    seen: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        if (first := seen.setdefault(row.tobytes(), i)) != i:
            raise InvalidInput(f"{name}[{i}] repeats {name}[{first}]; give every point once")
