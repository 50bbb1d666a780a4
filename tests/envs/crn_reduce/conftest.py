"""Random factor graphs, and a way to play at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scisuite.scenarios.factor_graphs import FactorGraph


def drawn_graph(seed: int, zeros: bool = False) -> tuple[FactorGraph, list[str]]:
    """A random graph of 3 to 7 variables, and variables to keep."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    card = {f"v{i}": int(rng.integers(2, 4)) for i in range(n)}
    factors = {}
    for i in range(int(rng.integers(2, 9))):
        scope = [f"v{j}" for j in rng.choice(n, int(rng.integers(1, 4)), replace=False)]
        table = rng.uniform(0.4, 1.0, [card[v] for v in scope])
        if zeros:
            table[rng.random(table.shape) < 0.3] = 0.0
            table.flat[int(rng.integers(table.size))] = 0.7
        factors[f"f{i}"] = (scope, table)
    keep = [v for v in card if rng.random() < 0.2]
    return FactorGraph(card, factors), keep


@pytest.fixture
def draw() -> Any:
    return drawn_graph
