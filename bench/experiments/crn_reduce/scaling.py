"""Timed cells: compiling, recovering and reducing large networks, and belief propagation beside its peers."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from scisuite.bench.experiment import Curve, Outcome
from scisuite.bench.experiments.crn_reduce.reductions import problem_of
from scisuite.core import Budget, generator
from scisuite.scenarios.factor_graphs import FactorGraph, FactorGraphScenario, tree
from scisuite.solvers.crn_reduce import (
    bp,
    compile_napp_adams,
    factorgraph_bp,
    pyagrum_loopy_bp,
    recover_factor_graph,
    reduce,
)

REACTIONS_PER_VARIABLE = 42
"""Of a random tree with three values a variable: 18 of sums, 18 of products and recycling, 6 of beliefs."""
STEPS = ("compile", "recover", "reduce")


def warm_up() -> None:
    """Import the engines before a cell's clock starts, and let them allocate what they do once."""
    _pipeline(tree(generator(0, "warm-up"), n=30, K=3), generator(0, "shuffle"))


def trees(
    scenario: FactorGraphScenario,
    seed: int,
    budget: Budget,
    *,
    reactions: tuple[int, ...] = (10_000, 100_000, 1_000_000),
    repeats: int = 5,
) -> Outcome:
    """CPU time from a factor graph to its network, back from the shuffled network, and down to one variable.

    ``slope`` is that of a straight line through log time against log reactions. Shuffling is not timed.
    """
    metrics: dict[str, float] = {}
    seconds = []
    found = []
    for size in (REACTIONS_PER_VARIABLE * 1000, *reactions):
        graph = tree(generator(seed, "tree", size), n=size // REACTIONS_PER_VARIABLE, K=3)
        times = _median(graph, seed, repeats)
        total = sum(times.values())
        if size == REACTIONS_PER_VARIABLE * 1000:
            metrics["seconds_1000"] = total
            continue
        name = f"{size:.0e}".replace("e+0", "e")
        metrics |= {f"seconds_{name}": total, **{f"{step}_seconds_{name}": times[step] for step in STEPS}}
        seconds.append(total)
        found.append(float(size))
    slope = float(np.polyfit(np.log(found), np.log(seconds), 1)[0])
    curve = Curve(tuple(found), tuple(seconds), "reactions", "CPU time: compile, recover, reduce [s]")
    return Outcome({"slope": slope, **metrics}, {"cpu_by_reactions": curve}, budget_used=1.0)


def network(scenario: FactorGraphScenario, seed: int, budget: Budget, *, repeats: int = 5) -> Outcome:
    """The same for the scenario's own graph, before any evidence."""
    times = _median(problem_of(scenario, seed).full, seed, repeats)
    return Outcome({"seconds": sum(times.values()), **{f"{k}_seconds": v for k, v in times.items()}}, budget_used=1.0)


def belief_propagation(
    scenario: FactorGraphScenario, seed: int, budget: Budget, *, tol: float = 1e-8, repeats: int = 7
) -> Outcome:
    """Wall time of belief propagation to ``tol``, ours and two packages', each with making its own structures.

    factorgraph's is without the comparison that stops it at ``tol``, which is ours.
    """
    problem = problem_of(scenario, seed)
    ours = _median_of(lambda: _wall_seconds(bp, problem.graph, tol=tol), repeats)
    theirs = _median_of(lambda: factorgraph_bp(problem.graph, tol=tol).seconds_in_all, repeats)
    agrum = _median_of(lambda: pyagrum_loopy_bp(problem.graph, tol=tol).seconds_in_all, repeats)
    return Outcome(
        {
            "over_factorgraph": theirs / ours,
            "over_pyagrum": agrum / ours,
            "bp_seconds": ours,
            "factorgraph_seconds": theirs,
            "pyagrum_seconds": agrum,
        },
        budget_used=1.0,
    )


def _median(graph: FactorGraph, seed: int, repeats: int) -> dict[str, float]:
    runs = [_pipeline(graph, generator(seed, "shuffle", i)) for i in range(repeats)]
    return {step: statistics.median(run[step] for run in runs) for step in STEPS}


def _pipeline(graph: FactorGraph, rng: np.random.Generator) -> dict[str, float]:
    compiled, compiling = _timed(compile_napp_adams, graph)
    anonymous, _ = compiled.anonymous(rng)
    del compiled
    found, recovering = _timed(recover_factor_graph, anonymous)
    del anonymous
    _, reducing = _timed(reduce, found.graph)
    return {"compile": compiling, "recover": recovering, "reduce": reducing}


def _timed(action: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    begin = time.process_time()
    result = action(*arguments)
    return result, time.process_time() - begin


def _wall_seconds(action: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    begin = time.perf_counter()
    action(*arguments, **options)
    return time.perf_counter() - begin


def _median_of(seconds: Callable[[], float], repeats: int) -> float:
    seconds()
    return statistics.median(seconds() for _ in range(repeats))
