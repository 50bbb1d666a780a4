"""Cells that reduce a factor graph and look at what became of its network and of its beliefs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

import numpy as np

from scisuite.bench.experiment import Outcome
from scisuite.core import Budget, generator
from scisuite.scenarios.factor_graphs import FactorGraph, FactorGraphScenario, Problem
from scisuite.solvers.crn_reduce import (
    BPResult,
    Reduction,
    bethe_free_energy,
    bp,
    compiled_molecularity,
    compiled_size,
    reduce,
    verify_certificate,
)


def problem_of(scenario: FactorGraphScenario, seed: int) -> Problem:
    """The instance of a seed: tables of a generated graph, evidence of a Bayesian network."""
    return scenario.generate(generator(seed, "problem"))


def kept(problem: Problem, keep: int | Sequence[str], seed: int) -> tuple[str, ...]:
    """The variables named, or so many random ones."""
    if isinstance(keep, int):
        names = list(problem.graph.card)
        chosen = generator(seed, "keep").choice(len(names), min(keep, len(names)), replace=False)
        return tuple(names[i] for i in sorted(chosen))
    return problem.graph.require_variables(keep)


def reduction(
    scenario: FactorGraphScenario, seed: int, budget: Budget, *, moves: Sequence[str], keep: int | Sequence[str] = ()
) -> Outcome:
    """Reduce the instance's graph; sizes, time, and the beliefs of survivors and of the eliminated."""
    problem = problem_of(scenario, seed)
    return Outcome(_figures(problem.graph, kept(problem, keep, seed), moves), budget_used=1.0)


def evidence_moves(scenario: FactorGraphScenario, seed: int, budget: Budget, *, moves: Sequence[str]) -> Outcome:
    """Reduce the unconditioned graph whose evidence is one more unary factor for each observed variable."""
    problem = problem_of(scenario, seed)
    full = problem.full
    observed = {
        f"evidence_{v}": ((v,), np.eye(full.card[v])[full.value_index(v, value)])
        for v, value in problem.evidence.items()
    }
    graph = FactorGraph(full.card, {**full.factors, **observed}, states=full.states)
    return Outcome(_figures(graph, (), moves), budget_used=1.0)


def _figures(graph: FactorGraph, keep: Sequence[str], moves: Sequence[str]) -> dict[str, float]:
    begin = time.perf_counter()
    reduced = reduce(graph, keep, moves=tuple(moves))
    seconds = time.perf_counter() - begin
    verify_certificate(graph, reduced.certificate, reduced.graph)
    (species, reactions), (species_after, reactions_after) = compiled_size(graph), compiled_size(reduced.graph)
    return {
        "share_removed": 1 - reactions_after / reactions,
        "reactions_before": float(reactions),
        "reactions_after": float(reactions_after),
        "species_before": float(species),
        "species_after": float(species_after),
        "growth": float(max(0, species_after - species, reactions_after - reactions)),
        "molecularity_before": float(compiled_molecularity(graph)),
        "molecularity_after": float(compiled_molecularity(reduced.graph)),
        "reduce_seconds": seconds,
        **belief_changes(graph, reduced),
    }


def belief_changes(graph: FactorGraph, reduced: Reduction) -> dict[str, float]:
    """Largest changes of surviving and lifted beliefs and of the Bethe free energy; NaN where BP does not converge."""
    before, after = bp(graph), bp(reduced.graph)
    converged = before.converged and after.converged
    figures = {"converged": float(converged), "belief_error": math.nan, "lift_error": math.nan, "bethe_error": math.nan}
    if converged:
        figures["belief_error"] = _largest(after, reduced.surviving(before.var_beliefs))
        figures["lift_error"] = _largest(before, reduced.lift(after).var_beliefs)
        figures["bethe_error"] = abs(bethe_free_energy(graph, before) - bethe_free_energy(reduced.graph, after))
    return figures


def _largest(result: BPResult, beliefs: Mapping[str, np.ndarray]) -> float:
    differences = [np.abs(result.var_beliefs[v] - belief).max() for v, belief in beliefs.items()]
    return float(np.max(differences, initial=0.0))
