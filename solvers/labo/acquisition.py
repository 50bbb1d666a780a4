"""Where to look next: greedy batches by an upper confidence bound, over a pool or over a continuous or mixed space."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from botorch.generation.gen import gen_candidates_scipy
from numpy.typing import NDArray

from scisuite.core import Continuous, Space

Array = NDArray[np.float64]
TensorModel = Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

_RAW_SAMPLES = 1024
_LOCAL_SAMPLES = 256
_RESTARTS = 6
_LOCAL_SPREAD = 0.05


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
    correlation: Callable[[Array, Array], Array],
    near: Array,
    excluded: Callable[[Array], bool],
    rng: np.random.Generator,
) -> list[Array]:
    """Up to ``q`` encoded points that maximise the bound of :func:`greedy_ucb_batch` over ``space``.

    A thousand random points and perturbations of the best known ones are scored, the best are refined by botorch's
    L-BFGS-B (SLSQP where fractions must sum to one) in their continuous columns, and all are snapped to valid points.

    Parameters
    ----------
    model : callable
        Float64 tensor (n, d) → mean (n,), variance (n,), differentiable.
    near : float64 (m, d)
        Points around which to look more closely.
    excluded : callable
        Encoded row → whether it may not be picked.
    """
    candidates = [space.sample(rng, _RAW_SAMPLES)]
    if len(near):
        around = near[rng.integers(len(near), size=_LOCAL_SAMPLES)]
        candidates.append(space.snap(around + _LOCAL_SPREAD * rng.standard_normal(around.shape)))
    raw = np.concatenate(candidates)
    picked: list[Array] = []
    for _ in range(q):
        taken = np.array(picked).reshape(-1, space.d)

        def bound(x: torch.Tensor, taken: Array = taken) -> torch.Tensor:
            mean, variance = model(x)
            for row in taken:
                # The batch correlation is a constant weight here: its gradient only matters beside a picked point.
                weight = 1.0 - correlation(x.detach().numpy(), row[None])[:, 0] ** 2
                variance = variance * torch.from_numpy(np.clip(weight, 0.0, 1.0))
            return mean + beta * variance.clamp_min(1e-18).sqrt()

        with torch.no_grad():
            scores = bound(torch.from_numpy(raw)).numpy()
        starts = raw[np.argsort(-scores, kind="stable")[:_RESTARTS]]
        refined = space.snap(_refine(space, bound, starts))
        options = np.concatenate([refined, raw])
        with torch.no_grad():
            values = bound(torch.from_numpy(options)).numpy()
        for index in np.argsort(-values, kind="stable"):
            row = options[index]
            if not excluded(row) and not any(np.array_equal(row, other) for other in picked):
                picked.append(row)
                break
    return picked


def _refine(space: Space, bound: Callable[[torch.Tensor], torch.Tensor], starts: Array) -> Array:
    """L-BFGS-B or SLSQP from each of ``starts`` in the continuous columns, the others held where they are."""
    lower, upper = torch.zeros(space.d, dtype=torch.float64), torch.ones(space.d, dtype=torch.float64)
    initial = torch.from_numpy(starts).unsqueeze(1)
    lower, upper = lower.expand(initial.shape).clone(), upper.expand(initial.shape).clone()
    for dimension, columns in zip(space.dimensions, space.slices, strict=True):
        if not isinstance(dimension, Continuous):
            lower[..., columns] = initial[..., columns]
            upper[..., columns] = initial[..., columns]
    constraints = None
    if space.simplex:
        constraints = [(torch.arange(space.d), torch.ones(space.d, dtype=torch.float64), 1.0)]
    refined, _ = gen_candidates_scipy(
        initial_conditions=initial,
        acquisition_function=lambda x: bound(x.squeeze(1)),
        lower_bounds=lower,
        upper_bounds=upper,
        equality_constraints=constraints,
        options={"maxiter": 60},
    )
    return refined.detach().squeeze(1).numpy()
