"""Timed cell: scores of a pool of a million units."""

from __future__ import annotations

import statistics
import time

import numpy as np

from scisuite.bench.experiment import Outcome
from scisuite.core import Budget, generator
from scisuite.scenarios import Scenario
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct import LinearLearner, Logistic, fit_domain, score_stream

UNITS, COVARIATES, BATCH = 1_000_000, 468, 1000
BLOCK = 20_000


def warm_up() -> None:
    """Import what a score needs, and let BLAS allocate what it does once."""
    rng = generator(0, "warm-up")
    _learner(rng.standard_normal((500, COVARIATES)), rng)


def pool_scoring(scenario: Scenario, seed: int, budget: Budget, *, units: int = UNITS, repeats: int = 5) -> Outcome:
    """Wall and CPU time of leverage, discrepancy, overlap deficit, ranks and the best thousand of a float32 pool.

    Models are fitted before; what the domain classifier takes, on a capped and balanced subsample, is told apart.
    """
    rng = generator(seed, "pool")
    pool = np.empty((units, COVARIATES), dtype=np.float32)
    for begin in range(0, units, BLOCK):
        pool[begin : begin + BLOCK] = rng.standard_normal((len(pool[begin : begin + BLOCK]), COVARIATES))
    data = rng.standard_normal((5000, COVARIATES)) + 0.3
    learner = _learner(data, rng)
    policy = Logistic().fit(data, (rng.random(len(data)) < 0.5).astype(int))
    begin_fit = time.perf_counter()
    domain = fit_domain(pool, data, rng=rng)
    fit_seconds = time.perf_counter() - begin_fit
    wall, cpu = [], []
    for _ in range(repeats):
        began, spent = time.perf_counter(), time.process_time()
        score_stream(pool, learner, policy, domain, (1.0, 1.0, 1.0), BATCH, rng=generator(seed, "ties"))
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - spent)
    return Outcome(
        {
            "score_seconds": statistics.median(wall),
            "score_cpu_seconds": statistics.median(cpu),
            "domain_fit_seconds": fit_seconds,
            "units": float(units),
        },
        budget_used=float(units),
    )


def _learner(x: np.ndarray, rng: np.random.Generator) -> LinearLearner:
    n = len(x)
    t = (np.arange(n) % 2).astype(np.int64)
    learner = LinearLearner(Logged(x, t, rng.standard_normal(n)), nuisance="none")
    learner.observe(Logged(x, t, rng.standard_normal(n), p=np.full(n, 0.5)))
    return learner
