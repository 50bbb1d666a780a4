"""Belief propagation's fixed points, as far as many starts find them, and whether two graphs have the same."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import BPResult, Start, run
from scisuite.solvers.crn_reduce.message_passing import Floats, MessagePassing


@dataclass(frozen=True)
class FixedPoints:
    """What the starts led to.

    Attributes
    ----------
    results : tuple of BPResult
        One converged run for each distinct fixed point, in the order found.
    n_found : tuple of int
        How many starts led to each.
    n_converged, n_starts : int
        How many runs converged, and how many there were.
    """

    results: tuple[BPResult, ...]
    n_found: tuple[int, ...]
    n_converged: int
    n_starts: int

    @property
    def beliefs(self) -> list[dict[str, Floats]]:
        """Beliefs of the variables at each distinct fixed point."""
        return [result.var_beliefs for result in self.results]


def fixed_points(
    graph: FactorGraph,
    n_starts: int = 10,
    *,
    rng: np.random.Generator,
    lean: float = 0.5,
    starts: Iterable[Start] = (),
    damping: float = 0.3,
    tol: float = 1e-12,
    max_iter: int = 10_000,
    cluster_tol: float = 1e-6,
) -> FixedPoints:
    """Run belief propagation from many starts, and keep one run of each fixed point.

    Every first of two starts is drawn evenly from the simplex of each message. Every second leans towards one value:
    its messages are (1 − lean) of such a draw and ``lean`` of value j mod K_v, for j = 0, 1, … from one such start to
    the next, which finds the fixed points of strong couplings with fewer starts. Fixed points that repel belief
    propagation are missed, unless a start given lies on one (as the uniform one does in symmetric models).

    Parameters
    ----------
    n_starts : int
        Number of starts drawn.
    lean : float
        In [0, 1]; 0 makes all starts even draws.
    starts : iterable of None, Generator or Messages
        Further starts, used after those drawn.
    cluster_tol : float
        Two runs have found the same fixed point if no belief of a variable differs by more.

    Raises
    ------
    InvalidInput
        As :func:`~scisuite.solvers.crn_reduce.belief_propagation.bp` does, or if a parameter is out of range.
    """
    given = list(starts)
    _require_parameters(n_starts, len(given), lean, cluster_tol)
    plan = MessagePassing(graph)
    drawn = [_drawn(plan, i, lean, rng) for i in range(n_starts)]
    runs = run(plan, [*drawn, *given], damping=damping, tol=tol, max_iter=max_iter)
    results: list[BPResult] = []
    counts: list[int] = []
    for result in runs:
        if not result.converged:
            continue
        for i, known in enumerate(results):
            if _distance(result.flat_beliefs, known.flat_beliefs) <= cluster_tol:
                counts[i] += 1
                break
        else:
            results.append(result)
            counts.append(1)
    return FixedPoints(tuple(results), tuple(counts), sum(counts), len(runs))


def match_fixed_points(a: FixedPoints, b: FixedPoints, variables: Iterable[str]) -> float:
    """Largest distance of a fixed point of either set to the nearest of the other, both ways (Hausdorff).

    The distance of two fixed points is the largest difference of a belief of one of ``variables``. Infinite if one set
    is empty: fixed points that were not found match nothing.

    Raises
    ------
    InvalidInput
        If there are no variables, or one of them is not in both graphs or has other values there.
    """
    names = tuple(variables)
    if not names:
        raise InvalidInput("variables: there is nothing to compare fixed points on")
    if not a.results or not b.results:
        return math.inf
    card_a, card_b = (found.results[0].plan.graph.card for found in (a, b))
    for found in (a, b):
        found.results[0].plan.graph.require_variables(names, "variables")
    for v in names:
        if card_a[v] != card_b[v]:
            raise InvalidInput(f"variables: {v!r} has {card_a[v]} values in one graph and {card_b[v]} in the other")
    of_a, of_b = (np.stack([_projected(r, names) for r in found.results]) for found in (a, b))
    apart = np.abs(of_a[:, None] - of_b[None]).max(axis=2)
    return float(max(apart.min(axis=1).max(), apart.min(axis=0).max()))


def _drawn(plan: MessagePassing, number: int, lean: float, rng: np.random.Generator) -> Floats:
    draw = plan.random(rng)
    return draw if number % 2 == 0 else (1.0 - lean) * draw + lean * plan.leaning(number // 2)


def _distance(a: Floats, b: Floats) -> float:
    return float(np.abs(a - b).max(initial=0.0))


def _projected(result: BPResult, variables: tuple[str, ...]) -> Floats:
    return np.concatenate([result.var_beliefs[v] for v in variables])


def _require_parameters(n_starts: int, n_given: int, lean: float, cluster_tol: float) -> None:
    if (
        isinstance(n_starts, bool)
        or not isinstance(n_starts, int | np.integer)
        or n_starts < 0
        or n_starts + n_given < 1
    ):
        raise InvalidInput(f"n_starts must be a whole number, at least 1 where no starts are given, not {n_starts!r}")
    if not 0 <= lean <= 1:
        raise InvalidInput(f"lean must be between 0 and 1, not {lean!r}")
    if not (math.isfinite(cluster_tol) and cluster_tol > 0):
        raise InvalidInput(f"cluster_tol must be a finite number above zero, not {cluster_tol!r}")
