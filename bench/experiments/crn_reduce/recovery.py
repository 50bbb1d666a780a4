"""Cells that recover a factor graph from its network after names and order have been taken away."""

from __future__ import annotations

import time

import numpy as np

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.crn_reduce.reductions import problem_of
from scisuite.core import Budget, generator
from scisuite.scenarios.factor_graphs import FactorGraph, FactorGraphScenario
from scisuite.solvers.crn_reduce import (
    BELIEF,
    PRODUCT,
    SUM,
    UNASSIGNED,
    PoolKey,
    Pools,
    Recovery,
    compile_napp_adams,
    recompiles_to,
    recover_factor_graph,
)
from scisuite.solvers.crn_reduce.recovery import ISOLATED_FACTOR, NEVER_PRODUCED


def warm_up() -> None:
    """Import what a recovery needs before a cell's clock starts."""
    import scipy.sparse.csgraph  # noqa: F401


def recovery(scenario: FactorGraphScenario, seed: int, budget: Budget) -> Outcome:
    """Compile, shuffle, recover, and compare scopes, tables and the network that comes of it."""
    graph = problem_of(scenario, seed).graph
    compiled = compile_napp_adams(graph)
    assert compiled.pools is not None
    anonymous, order = compiled.anonymous(generator(seed, "shuffle"))
    begin = time.perf_counter()
    found = recover_factor_graph(anonymous)
    seconds = time.perf_counter() - begin
    truth = Pools(compiled.pools.pool_of[order], compiled.pools.value_of[order], compiled.pools.keys)
    equal, table_error = compare(graph, truth, found)
    kinds = [each.kind for each in found.ambiguities]
    return Outcome(
        {
            "scopes_equal": float(equal),
            "table_error": table_error,
            "recompiled_error": recompiles_to(found, anonymous),
            "never_produced": float(kinds.count(NEVER_PRODUCED)),
            "isolated_factors": float(kinds.count(ISOLATED_FACTOR)),
            "recover_seconds": seconds,
            "reactions_before": float(compiled.n_reactions),
        },
        budget_used=1.0,
    )


def compare(graph: FactorGraph, truth: Pools, found: Recovery) -> tuple[bool, float]:
    """Whether the recovered scopes are those of ``graph``, and the largest relative difference of a table's entry.

    ``truth`` says what the species of the anonymous network stand for. Infinite where there is nothing to compare.
    """
    pools = found.pools
    same_pools = len(truth.keys) == len(pools.keys) and len(found.graph.factors) == len(graph.factors)
    if not same_pools or not np.array_equal(truth.value_of == UNASSIGNED, pools.value_of == UNASSIGNED):
        return False, np.inf
    partner = {key: truth.keys[truth.pool_of[pools.centre[i]]] for key, i in pools.number.items()}
    if any(key.kind != true.kind for key, true in partner.items()):
        return False, np.inf
    worst = 0.0
    for name, factor in found.graph.factors.items():
        messages = [PoolKey(kind, v, name) for kind in (SUM, PRODUCT) for v in factor.variables]
        beliefs = [PoolKey(BELIEF, v) for v in factor.variables]
        names = {partner[key].factor for key in messages}
        scope = tuple(partner[belief].variable for belief in beliefs)
        if len(names) != 1 or set(scope) != set(graph.factors[names.copy().pop()].variables):
            return False, np.inf
        true = graph.factors[names.pop()]
        axes = [scope.index(v) for v in true.variables]
        table = factor.table.transpose(axes)
        places = [truth.value_of[pools.species_of(pools.number[beliefs[axis]])] for axis in axes]
        expected = true.table[np.ix_(*places)]
        zero = expected == 0
        if np.any(table[zero]):
            return True, np.inf
        worst = max(worst, float(np.abs(table[~zero] / expected[~zero] - 1).max(initial=0)))
    return True, worst
