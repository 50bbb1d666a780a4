"""Cells that compare the sets of belief propagation's fixed points before and after a reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.crn_reduce.reductions import problem_of
from scisuite.core import Budget, generator
from scisuite.scenarios.factor_graphs import FactorGraphScenario
from scisuite.solvers.crn_reduce import compiled_size, fixed_points, match_fixed_points, reduce


def fixed_point_sets(
    scenario: FactorGraphScenario,
    seed: int,
    budget: Budget,
    *,
    moves: Sequence[str] = ("leaf", "unary", "series"),
    n_starts: int = 10,
) -> Outcome:
    """Fixed points from so many random starts of the full and of the reduced graph, matched both ways on survivors."""
    graph = problem_of(scenario, seed).graph
    reduced = reduce(graph, moves=tuple(moves))
    full = fixed_points(graph, n_starts, rng=generator(seed, "starts"))
    small = fixed_points(reduced.graph, n_starts, rng=generator(seed, "starts of the reduced"))
    every = full.n_converged == small.n_converged == n_starts
    return Outcome(
        {
            "set_distance": match_fixed_points(full, small, tuple(reduced.graph.card)) if every else math.nan,
            "n_fixed_points": float(len(full.results)),
            "n_fixed_points_reduced": float(len(small.results)),
            "converged": float(every),
            "reactions_before": float(compiled_size(graph)[1]),
            "reactions_after": float(compiled_size(reduced.graph)[1]),
        },
        budget_used=1.0,
    )
