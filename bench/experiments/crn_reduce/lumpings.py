"""Cells that set a reduction beside the lumpings that know nothing of factor graphs."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.crn_reduce.reductions import problem_of
from scisuite.core import Budget
from scisuite.scenarios.factor_graphs import FactorGraphScenario
from scisuite.solvers.crn_reduce import (
    BELIEF,
    PoolKey,
    backward_equivalence,
    compile_napp_adams,
    compiled_size,
    forward_equivalence,
    reduce,
)


def lumping(scenario: FactorGraphScenario, seed: int, budget: Budget, *, keep: Sequence[str] = ()) -> Outcome:
    """Species of the full network and of the reduced one, and blocks of both equivalences.

    Forward equivalence observes the beliefs of the kept variables, or of all survivors where none is named. Backward
    equivalence starts from one block, the coarsest that it could end in.
    """
    graph = problem_of(scenario, seed).graph
    network = compile_napp_adams(graph)
    reduced = reduce(graph, keep, moves=("leaf", "unary"))
    assert network.pools is not None
    beliefs = [network.pools.number[PoolKey(BELIEF, v)] for v in (keep or reduced.graph.card)]
    observe = np.concatenate([network.pools.species_of(pool) for pool in beliefs])
    begin = time.perf_counter()
    forward = len(np.unique(forward_equivalence(network, observe)))
    middle = time.perf_counter()
    backward = len(np.unique(backward_equivalence(network)))
    seconds = time.perf_counter() - middle
    left = compiled_size(reduced.graph)[0]
    return Outcome(
        {
            "species_after": float(left),
            "forward_blocks": float(forward),
            "backward_blocks": float(backward),
            "species_before": float(network.n_species),
            "over_forward": float(left - forward),
            "over_backward": float(left - backward),
            "forward_seconds": middle - begin,
            "backward_seconds": seconds,
        },
        budget_used=1.0,
    )
