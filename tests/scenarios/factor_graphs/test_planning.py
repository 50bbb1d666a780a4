"""Problems to plan on: their shapes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import PlanningScenario


@pytest.mark.parametrize(
    ("id", "variables", "max_factors"), [("planning_small", (6, 8), 8), ("factor_graphs/planning", (10, 20), 24)]
)
def test_shapes(id: str, variables: tuple[int, int], max_factors: int) -> None:
    scenario: Any = scenarios.make(id)
    rng = np.random.default_rng(0)
    problems = [scenario.generate(rng) for _ in range(60)]
    assert {len(p.graph.card) for p in problems} == set(range(variables[0], variables[1] + 1))
    assert max(len(p.graph.factors) for p in problems) == max_factors
    assert {k for p in problems for k in p.graph.card.values()} == {2, 3, 4}
    assert {len(factor.variables) for p in problems for factor in p.graph.factors.values()} == {1, 2, 3}
    assert {len(p.keep) for p in problems} == {0, 1}
    for p in problems:
        assert len(p.graph.components()) == 1
        assert set(p.keep) <= set(p.graph.card)
        assert (p.max_molecularity, p.max_table) == (4, 64)
        assert 0.4 <= p.potentials.min() <= p.potentials.max() <= 1.0


def test_arguments() -> None:
    scenario = PlanningScenario(
        variables=(5, 5),
        hubs=(2, 2),
        keep=(2, 2),
        cards=(2,),
        hub_cards=(5,),
        ternary=1,
        pendant=0,
        unary=1,
        max_table=9,
    )
    problem = scenario.generate(np.random.default_rng(0))
    assert list(problem.graph.card.values()) == [5, 5, 2, 2, 2]
    assert [len(factor.variables) for factor in problem.graph.factors.values()] == [3, 3, 3, 1, 1, 1, 1, 1]
    assert len(problem.keep) == 2
    assert problem.max_table == 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variables": (3, 8)}, "variables must be whole numbers of at least 4, not 3"),
        ({"variables": 8}, r"variables must be \(least, greatest\), not 8"),
        ({"variables": (9, 8)}, r"variables must be \(least, greatest\), not \(9, 8\)"),
        ({"hubs": (1, 2)}, "hubs must be whole numbers of at least 2, not 1"),
        ({"keep": (0, 7)}, "keep asks for up to 7 of as few as 6 variables"),
        ({"max_factors": 2}, "max_factors must be whole numbers of at least 3, not 2"),
        ({"cards": (1, 2)}, "cards must be whole numbers of at least 2, not 1"),
        ({"pendant": 1.5}, "pendant must be a probability, not 1.5"),
        ({"max_table": True}, "max_table must be whole numbers of at least 1, not True"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        PlanningScenario(**arguments)


def test_too_few_factors_are_refused_when_drawing() -> None:
    scenario = PlanningScenario(variables=(8, 8), max_factors=3, pendant=0.0, ternary=0.0)
    with pytest.raises(InvalidInput, match="max_factors: 3 are too few for 8 variables"):
        scenario.generate(np.random.default_rng(0))
