"""Arms that know nothing but one random walk: planning on the estimated graph, Q-learning, successors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Outcome
from scisuite.bench.experiments.laplacian_nav.trials import (
    CLAIMED_STEPS,
    by_steps,
    checkpoints,
    goals_and_starts,
    learned,
    median_cpu_seconds,
    scores,
    short,
)
from scisuite.core import Budget, generator
from scisuite.scenarios.nav import NavScenario, NavWorld

Ints = NDArray[np.int64]

STEPS_AFTER_A_CHANGE = (300, 1_000, 3_000)


def warm_up() -> None:
    """Import the engines before a cell's clock starts."""
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401

    import scisuite.solvers.laplacian_nav.changed_walls
    import scisuite.solvers.laplacian_nav.green
    import scisuite.solvers.laplacian_nav.rollout
    import scisuite.solvers.laplacian_nav.tabular  # noqa: F401


def learn(scenario: NavScenario, seed: int, budget: Budget, *, learner: str) -> Outcome:
    """What one learner makes of a random walk, after 1k, 3k, 10k and 30k of its steps; ``success`` is that after 10k.

    Parameters
    ----------
    scenario, seed, budget
        Maze, walk, goals and starts are those of the seed, the same for every learner. The budget counts the walk's
        steps: below 10k the curve ends there, and in place of ``success`` there is ``success_at_end``.
    learner : str
        See :data:`LEARNERS`.
    """
    world = scenario.layout(seed)
    goals, starts = goals_and_starts(world, seed)
    found, marks = {}, checkpoints(budget)
    walk = _walk(world, seed, budget)
    for steps in marks:
        actions = LEARNERS[learner](walk[:steps], world, goals, seed)
        found[steps] = scores(actions, world, goals, starts)
    return learned(found)


def timed(scenario: NavScenario, seed: int, budget: Budget, *, learner: str, repeats: int = 7) -> Outcome:
    """CPU time of learning the ways to all goals from the first 10k steps of the walk: median of some repeats."""
    world = scenario.layout(seed)
    goals, _ = goals_and_starts(world, seed)
    walk = _walk(world, seed, Budget(min(CLAIMED_STEPS, budget.count), "steps"))
    seconds = median_cpu_seconds(lambda: LEARNERS[learner](walk, world, goals, seed), repeats)
    return Outcome({"learn_cpu_seconds": seconds}, budget_used=float(len(walk)))


def new_goals(scenario: NavScenario, seed: int, budget: Budget, *, learner: str, nearest: bool = False) -> Outcome:
    """Ways to twenty goals that were not asked for while 10k steps were learned from.

    What holds for every goal, a graph or a successor matrix, is asked for the new ones; Q is replayed for them, from
    the walk that it kept. With ``nearest`` the walk is gone, and for each new goal the Q-values of the nearest goal
    that was asked for, in a straight line, have to do.
    """
    world = scenario.layout(seed)
    trained, _ = goals_and_starts(world, seed)
    goals, starts = goals_and_starts(world, seed, "new goals")
    goals = goals[~np.isin(goals, trained)]
    walk = _walk(world, seed, Budget(min(CLAIMED_STEPS, budget.count), "steps"))
    if nearest:
        apart = np.linalg.norm(world.xy[goals][:, None] - world.xy[trained], axis=2)
        actions = LEARNERS[learner](walk, world, trained, seed)[:, apart.argmin(axis=1)]
    else:
        actions = LEARNERS[learner](walk, world, goals, seed)
    return Outcome(scores(actions, world, goals, starts), budget_used=float(len(walk)))


def changed_walls(scenario: NavScenario, seed: int, budget: Budget, *, learner: str, toggles: int = 4) -> Outcome:
    """Walls move after 10k steps: ways through the changed maze after some steps in it.

    ``learner`` is a key of what :func:`~scisuite.solvers.laplacian_nav.changed_walls.adapted_actions` returns. The
    success is that after a thousand new steps, and 0 on the curve's x is the moment of the change.
    """
    from scisuite.solvers.laplacian_nav import random_walk
    from scisuite.solvers.laplacian_nav.changed_walls import adapted_actions, usable_states
    from scisuite.solvers.laplacian_nav.changed_walls import changed_walls as change

    before, after = change(scenario.layout(seed), generator(seed, "changed walls"), toggles)
    rng = generator(seed, "goals")
    usable = rng.permutation(usable_states(before, after))
    goals, starts = usable[:20], rng.permutation(usable)[:40]
    old = random_walk(before, min(CLAIMED_STEPS, budget.count), seed)
    new = random_walk(after, max(STEPS_AFTER_A_CHANGE), seed + 1, start=int(starts[0]))
    found = {}
    for steps in STEPS_AFTER_A_CHANGE:
        actions = adapted_actions(old, new[:steps], after.n, after.moves.shape[1], goals)[learner]
        found[steps] = scores(actions, after, goals, starts)
    metrics = {f"success_{short(steps)}": each["success"] for steps, each in found.items()}
    curves = {"success_after_change": by_steps(found, "steps after the walls were moved")}
    return Outcome({**found[1_000], **metrics}, curves, budget_used=float(len(old) + len(new)))


def _green(walk: Any, world: NavWorld, goals: Ints, seed: int) -> Ints:
    from scisuite.solvers.laplacian_nav import estimated_green_actions

    return np.asarray(estimated_green_actions(walk, *_size(world), goals))


def _symmetrised_green(walk: Any, world: NavWorld, goals: Ints, seed: int) -> Ints:
    from scisuite.solvers.laplacian_nav.tabular import symmetrised_green_actions

    return np.asarray(symmetrised_green_actions(walk, *_size(world), goals))


def _bfs(walk: Any, world: NavWorld, goals: Ints, seed: int) -> Ints:
    from scisuite.solvers.laplacian_nav import estimated_bfs_actions

    return np.asarray(estimated_bfs_actions(walk, *_size(world), goals))


def _td_sr(walk: Any, world: NavWorld, goals: Ints, seed: int, **options: Any) -> Ints:
    from scisuite.solvers.laplacian_nav.tabular import TriedMoves, successor_actions, td_successor

    known = TriedMoves.of(walk, *_size(world))
    return np.asarray(successor_actions(td_successor(walk, world.n, **options), known, goals))


def _q(walk: Any, world: NavWorld, goals: Ints, seed: int, *, by: str, **options: Any) -> Ints:
    from scisuite.solvers.laplacian_nav import tabular

    if by in ("dyna_q", "her_q"):
        options["seed"] = seed
    q = getattr(tabular, by)(walk, *_size(world), goals, **options)
    return np.asarray(tabular.q_actions(q, tabular.TriedMoves.of(walk, *_size(world))))


LEARNERS: Mapping[str, Callable[[Any, NavWorld, Ints, int], Ints]] = {
    "green": _green,
    "symmetrised_green": _symmetrised_green,
    "bfs": _bfs,
    "td_sr": _td_sr,
    "td_sr_replay": partial(_td_sr, sweeps=3, reverse=True),
    "q": partial(_q, by="all_goals_q"),
    "q_replay": partial(_q, by="all_goals_q", sweeps=3, reverse=True),
    "dyna_q": partial(_q, by="dyna_q"),
    "her_q": partial(_q, by="her_q"),
}


def _size(world: NavWorld) -> tuple[int, int]:
    n, n_actions = world.moves.shape
    return n, n_actions


def _walk(world: NavWorld, seed: int, budget: Budget) -> Any:
    from scisuite.solvers.laplacian_nav import random_walk

    return random_walk(world, budget.count, seed)
