"""Where to look next: greedy batches by an upper confidence bound, over a pool or over a continuous or mixed space."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import torch
from botorch.exceptions.warnings import OptimizationWarning
from botorch.generation.gen import gen_candidates_scipy
from numpy.typing import NDArray

from scisuite.core import Continuous, Space

Array = NDArray[np.float64]
TensorModel = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

_RAW_SAMPLES = 1024
_LOCAL_SAMPLES = 256
_RESTARTS = 4
_ITERATIONS = 50
_LOCAL_SPREAD = 0.05
_LEAST_VARIANCE = 1e-18


def greedy_ucb_batch(
    mean: Array, variance: Array, q: int, beta: float, correlation_to: Callable[[int], Array]
) -> list[int]:
    r"""Up to ``q`` different rows by a greedy upper confidence bound.

    The first maximises :math:`u = \mu + \beta\sqrt v`. After row i is picked its neighbours count as less uncertain,
    :math:`v \leftarrow v\,(1 - k(x, x_i)^2)`, which is what observing :math:`x_i` without noise does to the prior
    variance (reconstruction of q-UCB).

    Parameters
    ----------
    mean, variance : float64 (n,)
    q : int
    beta : float
        Multiplies the standard deviation.
    correlation_to : callable
        Row number → prior correlations (n,) of all rows with it.
    """
    variance = np.array(variance)
    free = np.ones(len(mean), dtype=bool)
    picked: list[int] = []
    for _ in range(min(q, len(mean))):
        bound = np.where(free, mean + beta * np.sqrt(variance), -np.inf)
        best = int(bound.argmax())
        picked.append(best)
        free[best] = False
        variance *= np.clip(1.0 - correlation_to(best) ** 2, 0.0, 1.0)
    return picked


def maximise_ucb(
    space: Space,
    model: TensorModel,
    q: int,
    beta: float,
    correlation: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    near: Array,
    excluded: Callable[[Array], bool],
    rng: np.random.Generator,
) -> list[Array]:
    """Up to ``q`` encoded points that maximise the bound of :func:`greedy_ucb_batch` over ``space``.

    Parameters
    ----------
    model : callable
        Float64 tensor (n, d) → mean (n,), variance (n,), differentiable.
    correlation : callable
        Prior correlation of rows (n, d) with rows (m, d) → (n, m), differentiable.
    near, excluded, rng
        See :func:`maximise`.
    """
    picked: list[Array] = []
    for _ in range(q):
        taken = [torch.from_numpy(row[None]) for row in picked]

        def bound(x: torch.Tensor, taken: list[torch.Tensor] = taken) -> torch.Tensor:
            mean, variance = model(x)
            for row in taken:
                variance = variance * (1.0 - correlation(x, row)[:, 0].square()).clamp(0.0, 1.0)
            return mean + beta * variance.clamp_min(_LEAST_VARIANCE).sqrt()

        def refused(row: Array) -> bool:
            return excluded(row) or any(np.array_equal(row, other) for other in picked)

        best = maximise(space, bound, near, refused, rng)
        if best is None:
            break
        picked.append(best)
    return picked


def maximise(
    space: Space,
    score: Callable[[torch.Tensor], torch.Tensor],
    near: Array,
    excluded: Callable[[Array], bool],
    rng: np.random.Generator,
) -> Array | None:
    """The encoded point (d,) of ``space`` with the best score that is found, or ``None`` if all found are excluded.

    A thousand random points and perturbations of known good ones are scored; the best few are refined in their
    continuous columns by botorch's ``gen_candidates_scipy`` (L-BFGS-B; SLSQP where fractions must sum to one); all are
    snapped to valid points and scored again.

    Parameters
    ----------
    score : callable
        Float64 tensor (n, d) → (n,), differentiable.
    near : float64 (m, d)
        Points around which to look more closely.
    excluded : callable
        Encoded row → whether it may not be picked.
    """
    raw = space.sample(rng, _RAW_SAMPLES)
    if len(near):
        around = near[rng.integers(len(near), size=_LOCAL_SAMPLES)]
        raw = np.concatenate([raw, space.snap(around + _LOCAL_SPREAD * rng.standard_normal(around.shape))])
    scores = _scores(score, raw)
    refined = space.snap(_refine(space, score, raw[np.argsort(-scores, kind="stable")[:_RESTARTS]]))
    options = np.concatenate([refined, raw])
    values = np.concatenate([_scores(score, refined), scores])
    for index in np.argsort(-values, kind="stable"):
        if not excluded(options[index]):
            return options[index]
    return None


def _scores(score: Callable[[torch.Tensor], torch.Tensor], x: Array) -> Array:
    with torch.no_grad():
        return np.asarray(score(torch.from_numpy(x)))


def _refine(space: Space, score: Callable[[torch.Tensor], torch.Tensor], starts: Array) -> Array:
    """L-BFGS-B or SLSQP from each of ``starts`` in the continuous columns, the others held where they are."""
    held = [
        column
        for dimension, columns in zip(space.dimensions, space.slices, strict=True)
        if not isinstance(dimension, Continuous)
        for column in range(columns.start, columns.stop)
    ]
    if len(held) == space.d:
        return starts
    constraints = None
    if space.simplex:
        constraints = [(torch.arange(space.d), torch.ones(space.d, dtype=torch.float64), 1.0)]
    refined: list[Array] = []
    for start in starts:
        with warnings.catch_warnings():
            # A line search that stops early still returns its best point, which is scored again with all others.
            warnings.simplefilter("ignore", OptimizationWarning)
            best, _ = gen_candidates_scipy(
                initial_conditions=torch.from_numpy(start)[None, None],
                acquisition_function=lambda x: score(x.squeeze(-2)),
                lower_bounds=0.0,
                upper_bounds=1.0,
                equality_constraints=constraints,
                fixed_features={column: float(start[column]) for column in held} or None,
                options={"maxiter": _ITERATIONS},
            )
        refined.append(best.detach().numpy().reshape(space.d))
    return np.array(refined)
