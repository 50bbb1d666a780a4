"""Arms that know the world: ascent on potentials of its true graph, whole and truncated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Curve, Outcome
from scisuite.bench.experiments.laplacian_nav.trials import goals_and_starts, scores
from scisuite.core import Budget
from scisuite.scenarios.nav import NavScenario, NavWorld

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MODES = (4, 8, 16, 32, 64, 128, 256)
SHOWN_MODES = (16, 32, 64)
EPSILONS = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
TIMES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def warm_up() -> None:
    """Import the engines before a cell's clock starts."""
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401

    import scisuite.agents.laplacian_nav.fields
    import scisuite.solvers.laplacian_nav.distances
    import scisuite.solvers.laplacian_nav.green
    import scisuite.solvers.laplacian_nav.modes
    import scisuite.solvers.laplacian_nav.place_cell
    import scisuite.solvers.laplacian_nav.rollout  # noqa: F401


def potential(
    scenario: NavScenario, seed: int, budget: Budget, *, kind: str, bar: float | None = None, **options: Any
) -> Outcome:
    """Greedy ascent on one potential, to 20 goals from 40 starts, at most n steps each.

    Parameters
    ----------
    scenario, seed, budget
        The layout is that of the seed; nothing is learned, so the budget is not used.
    kind : str
        A field of the agents: ``"green"``, ``"euclid"``, … (:data:`scisuite.agents.laplacian_nav.fields.FIELDS`).
    bar : float or None
        What the SPL is held against: ``spl_above_bar`` is the difference.
    **options
        Of the field.
    """
    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    metrics = scores(climbed(kind, world, goals, **options), world, goals, starts, cap="n")
    if bar is not None:
        metrics["spl_above_bar"] = metrics["spl"] - bar
    return Outcome({**metrics, "cells": float(world.n)})


def climbed(kind: str, world: NavWorld, goals: Ints, **options: Any) -> Ints:
    """The actions of ascent on a field of :data:`scisuite.agents.laplacian_nav.fields.FIELDS`."""
    from scisuite.agents.laplacian_nav.fields import make_field

    field = make_field(kind, world, **options)
    return _ascent(np.stack([field(int(goal)) for goal in goals], axis=1), world)


def truncated(
    scenario: NavScenario, seed: int, budget: Budget, *, read_out: Literal["inner", "resistance", "biharmonic"]
) -> Outcome:
    """A read-out of the smoothest K modes for several K; ``success`` is that of K = 32."""
    from scisuite.solvers.laplacian_nav import eigenmodes, laplacian, truncated_distance

    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    numbers = [k for k in MODES if k < world.n]
    # One more than is read out: the first is the constant mode, which says nothing.
    lam, modes = eigenmodes(laplacian(world.W), numbers[-1] + 1)
    found = {}
    for k in numbers:
        values = truncated_distance(lam[: k + 1], modes[:, : k + 1], goals, kind=read_out)
        found[k] = scores(_ascent(values, world), world, goals, starts, cap="n")
    metrics = {f"{name}_k{k}": found[k][name] for k in SHOWN_MODES if k in found for name in ("success", "spl")}
    shown = 32 if 32 in found else numbers[-1]
    return Outcome(
        {**found[shown], **metrics}, {"success_by_modes": _sweep(found, "success", "modes that are read out")}
    )


def heat_kernel(scenario: NavScenario, seed: int, budget: Budget, *, times: tuple[float, ...] = TIMES) -> Outcome:
    """The heat kernel at several times; ``success`` is that of the best."""
    from scisuite.solvers.laplacian_nav import heat_kernel as kernel
    from scisuite.solvers.laplacian_nav import laplacian

    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    L = laplacian(world.W)
    found = {t: scores(_ascent(kernel(L, t, goals), world), world, goals, starts, cap="n") for t in times}
    best = max(found, key=lambda t: (found[t]["success"], found[t]["spl"]))
    curves = {"success_by_time": _sweep(found, "success", "diffusion time t")}
    return Outcome({**found[best], "best_time": best}, curves)


def epsilon_sweep(scenario: NavScenario, seed: int, budget: Budget) -> Outcome:
    """Green's potential for several ε; ``success`` and ``spl`` are those of the largest."""
    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    found = {eps: scores(climbed("green", world, goals, eps=eps), world, goals, starts, cap="n") for eps in EPSILONS}
    return Outcome(found[EPSILONS[-1]], {"spl_by_eps": _sweep(found, "spl", "ε")})


def place_cell(scenario: NavScenario, seed: int, budget: Budget, *, learned: bool = False, steps: int = 500) -> Outcome:
    """The Place_Cell baseline on the world's moves: exact q_t, or embeddings that are learned of it."""
    from scisuite.solvers.laplacian_nav import place_cell as baseline

    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    walk = baseline.neighbourhood_walk(world)
    if learned:
        embeddings = baseline.fit_embeddings(walk, steps=steps, seed=seed)
        similarity = baseline.embedded_similarities(embeddings, goals)
    else:
        similarity = baseline.similarities(walk, goals)
    return Outcome(scores(baseline.place_cell_actions(similarity, world), world, goals, starts, cap="n"))


def _ascent(values: Floats, world: NavWorld) -> Ints:
    from scisuite.solvers.laplacian_nav import greedy_actions

    return np.asarray(greedy_actions(values, world))


def _sweep(found: Mapping[Any, Mapping[str, float]], name: str, x_label: str) -> Curve:
    return Curve(tuple(map(float, found)), tuple(each[name] for each in found.values()), x_label, name)
