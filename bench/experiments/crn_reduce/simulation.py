"""Cells that run networks before and after a reduction."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import numpy as np

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.crn_reduce.reductions import kept, problem_of
from scisuite.core import Budget
from scisuite.scenarios.factor_graphs import FactorGraph, FactorGraphScenario
from scisuite.solvers.crn_reduce import (
    BPResult,
    RoadRunner,
    bp,
    compile_napp_adams,
    compile_surviving,
    largest_surviving,
    reduce,
    simulate,
)

MOVES = ("leaf", "unary")
RECYCLING_RATES = (1.0, 0.3, 0.1, 0.03, 0.01)


def warm_up() -> None:
    """Import roadrunner before a cell's clock starts, and let it compile what it does once."""
    graph = FactorGraph({"a": 2, "b": 2}, {"f": (("a", "b"), [[0.9, 0.2], [0.3, 0.8]])})
    RoadRunner(compile_napp_adams(graph)).simulate(10.0)


def speedup(
    scenario: FactorGraphScenario,
    seed: int,
    budget: Budget,
    *,
    keep: Sequence[str] = (),
    k_rec: float = 0.01,
    T: float = 3e4,
    repeats: int = 5,
) -> Outcome:
    """Processor time of roadrunner's ``simulate``, full over reduced; loading is counted apart."""
    graph = problem_of(scenario, seed).graph
    small = reduce(graph, keep, moves=MOVES).graph
    full_seconds, full_load, reactions = _timed(graph, k_rec, T, repeats)
    small_seconds, small_load, left = _timed(small, k_rec, T, repeats)
    return Outcome(
        {
            "speedup": full_seconds / small_seconds,
            "simulate_seconds": full_seconds,
            "simulate_seconds_reduced": small_seconds,
            "load_seconds": full_load,
            "load_seconds_reduced": small_load,
            "reactions_before": float(reactions),
            "reactions_after": float(left),
        },
        budget_used=1.0,
    )


def agreement(scenario: FactorGraphScenario, seed: int, budget: Budget, *, keep: Sequence[str] = ()) -> Outcome:
    """Beliefs where roadrunner comes to rest, full and reduced, against belief propagation on the full graph.

    Each network has the largest recycling rate of .1, .1/3, … at which no pool is extinct.
    """
    problem = problem_of(scenario, seed)
    expected = bp(problem.graph)
    reduced = reduce(problem.graph, kept(problem, list(keep), seed), moves=MOVES)
    figures = {name: _at_rest(graph, expected) for name, graph in (("", problem.graph), ("_reduced", reduced.graph))}
    every = {f"{key}{name}": value for name, found in figures.items() for key, value in found.items()}
    # NumPy's maximum, which does not pass over NaN.
    worst = [float(np.max([every[key], every[f"{key}_reduced"]])) for key in ("error", "extinct")]
    return Outcome(
        {
            "belief_error": worst[0] if expected.converged else math.nan,
            "extinct_pools": worst[1],
            "k_rec": every["k_rec"],
            "k_rec_reduced": every["k_rec_reduced"],
        },
        budget_used=1.0,
    )


def extinction(scenario: FactorGraphScenario, seed: int, budget: Budget) -> Outcome:
    """Largest recycling rate of five at which no pool of the network is extinct, reduced and full."""
    graph = problem_of(scenario, seed).graph
    full, small = (
        largest_surviving(each, RECYCLING_RATES) or math.nan for each in (graph, reduce(graph, moves=MOVES).graph)
    )
    return Outcome(
        {"survival_ratio": small / full, "survived_k_rec": full, "survived_k_rec_reduced": small}, budget_used=1.0
    )


def _timed(graph: FactorGraph, k_rec: float, T: float, repeats: int) -> tuple[float, float, int]:
    network = compile_napp_adams(graph, k_rec=k_rec)
    engine = RoadRunner(network)
    runs = [engine.simulate(T, absolute=1e-12, relative=1e-9).seconds for _ in range(repeats)]
    return statistics.median(runs), engine.load_seconds, network.n_reactions


def _at_rest(graph: FactorGraph, expected: BPResult) -> dict[str, float]:
    network, survival = compile_surviving(graph)
    end = simulate(network, 1000 / survival.k_rec, "roadrunner", points=2)
    errors = [np.abs(expected.var_beliefs[v] - belief).max() for v, belief in end.beliefs.items()]
    return {"error": float(np.max(errors)), "extinct": float(len(end.extinct())), "k_rec": survival.k_rec}
