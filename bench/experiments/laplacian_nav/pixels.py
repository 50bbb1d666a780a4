"""Arms that learn modes from pictures, and the straight line that they are held against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.laplacian_nav.potentials import climbed
from scisuite.bench.experiments.laplacian_nav.trials import goals_and_starts, scores
from scisuite.core import Budget
from scisuite.scenarios import Scenario
from scisuite.scenarios.nav import NavScenario


def warm_up() -> None:
    """Import the engines before a cell's clock starts."""
    import torch  # noqa: F401

    import scisuite.solvers.laplacian_nav.learn
    import scisuite.solvers.laplacian_nav.pixel_fit  # noqa: F401


def learned(
    scenario: NavScenario, seed: int, budget: Budget, *, fit: str = "1000 steps", k: int = 32, **options: Any
) -> Outcome:
    """Modes learned from pictures of the seed's layout, compared with its true ones, and ascent by their distances.

    ``success`` is that of the resistance distance with ``k`` modes; ``fit`` is the budget of the encoder's training.
    Other metrics and options are those of :func:`~scisuite.solvers.laplacian_nav.pixel_fit.pixel_fit`.
    """
    from scisuite.solvers.laplacian_nav.pixel_fit import pixel_fit

    found = pixel_fit(scenario.layout(seed), seed, budget=fit, k=k, **options)
    return Outcome({"success": found["success_resistance"], **_without_times(found)})


def straight_line(scenario: NavScenario, seed: int, budget: Budget) -> Outcome:
    """Ascent by straight-line distance to the goals and from the starts that :func:`learned` has with this seed."""
    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed, "goals and starts")
    return Outcome(scores(climbed("euclid", world, goals), world, goals, starts))


def first_person(scenario: Scenario, seed: int, budget: Budget, *, fit: str = "2000 steps", **options: Any) -> Outcome:
    """Modes learned from Miniworld's three-dimensional views with the heading; the scenario has no part in it."""
    from scisuite.solvers.laplacian_nav.first_person import miniworld_fit

    return Outcome(_without_times(miniworld_fit(seed, budget=fit, **options)))


def _without_times(found: Mapping[str, float]) -> dict[str, float]:
    """What the same cell gives again to the byte; how long it took stands in the row's cost."""
    return {name: value for name, value in found.items() if not name.endswith("_seconds")}
