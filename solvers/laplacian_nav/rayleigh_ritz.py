"""Modes within the span of learned features, from the features' covariances alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import EngineFailure
from scisuite.solvers.laplacian_nav.pairs import DistinctPairs

Floats = NDArray[np.float64]

_SMALLEST_RELATIVE_VARIANCE = 1e-10


def rayleigh_ritz(features: ArrayLike, pairs: DistinctPairs, k: int) -> tuple[Floats, Floats]:
    r"""Solve :math:`C_1 v = \eta\, C_0 v` in the span of the features, the constant taken out.

    With features h less their mean and pairs :math:`(s, s^+)`,

    .. math:: C_1 = \tfrac12 E[h(s)h(s^+)^\top + h(s^+)h(s)^\top], \quad
              C_0 = \tfrac12 E[h(s)h(s)^\top + h(s^+)h(s^+)^\top].

    The constant mode, η = 1, is known: taking the mean away leaves exactly what is orthogonal to it. No state index
    enters: expectations are means over pairs of observations.

    Parameters
    ----------
    features : float (m, d)
        z of each distinct observation in ``pairs.frames``.
    pairs : DistinctPairs
    k : int
        How many modes to keep.

    Returns
    -------
    eta : float64 (k,)
        Descending, in [−1, 1].
    weights : float64 (1 + d, k)
        The modes of an observation are ``(1, z) @ weights``: uncorrelated and of unit variance over the pairs, their
        signs such that the largest weight is positive.

    Raises
    ------
    EngineFailure
        If the features span fewer than k dimensions beside the constant.

    Notes
    -----
    Source: brief, "Rayleigh–Ritz … with feature covariances". That the constant is taken out beforehand, rather than
    found among the features and dropped, is a reconstruction.
    """
    from scipy.sparse import coo_array

    z = np.asarray(features, dtype=np.float64)
    n = len(pairs)
    counts = coo_array((np.full(n, 1.0 / n), (pairs.first, pairs.second)), shape=(len(z), len(z))).tocsr()
    share = 0.5 * (np.asarray(counts.sum(axis=0)).ravel() + np.asarray(counts.sum(axis=1)).ravel())
    mean = share @ z
    h = z - mean
    lagged = h.T @ (counts @ h)
    variance = h.T @ (share[:, None] * h)
    # Features are of any scale: each is brought to unit variance before small directions are judged.
    scale = 1.0 / np.sqrt(np.maximum(np.diag(variance), np.finfo(float).tiny))
    sizes, axes = np.linalg.eigh(variance * np.outer(scale, scale))
    kept = sizes > max(_SMALLEST_RELATIVE_VARIANCE * sizes[-1], np.finfo(float).tiny)
    if kept.sum() < k:
        raise EngineFailure(
            f"the features span {int(kept.sum())} dimensions beside the constant, fewer than the k = {k} modes asked "
            "for; learn for longer or ask for fewer modes"
        )
    whitening = scale[:, None] * axes[:, kept] / np.sqrt(sizes[kept])
    eta, turn = np.linalg.eigh(whitening.T @ (0.5 * (lagged + lagged.T)) @ whitening)
    order = np.argsort(-eta, kind="stable")[:k]
    weights = whitening @ turn[:, order]
    largest = np.take_along_axis(weights, np.abs(weights).argmax(axis=0)[None], axis=0)
    weights = weights * np.where(largest < 0, -1.0, 1.0)
    return np.clip(eta[order], -1.0, 1.0), np.vstack([-mean @ weights, weights])


def laplacian_eigenvalues(eta: ArrayLike, gamma: float, n_actions: int) -> Floats:
    r"""Eigenvalues λ (k,) of the graph Laplacian from those of the walk averaged over geometric lags.

    An eigenvalue :math:`\mu` of one move becomes :math:`\eta = (1-\gamma)\mu/(1-\gamma\mu)` of the average, so
    :math:`\mu = \eta/(1-\gamma+\gamma\eta)` and :math:`\lambda = A(1-\mu)` for a walk of A equally likely moves.
    :math:`1-\eta` itself is about 2.5 λ for smooth modes and λ for rough ones, which bends distances.

    Parameters
    ----------
    eta : float (k,)
        Those below what :math:`\mu = -1` gives, which only noise makes, are lifted to it; those of 1 are lowered by
        1e-9, so that every λ > 0.
    gamma : float
    n_actions : int
        A.

    Notes
    -----
    Source: brief, "μ = η/(1−γ+γη) and λ = 4(1−μ) for the 4-move L".
    """
    lowest = -(1.0 - gamma) / (1.0 + gamma)
    eta = np.clip(np.asarray(eta, dtype=np.float64), lowest, 1.0 - 1e-9)
    mu = eta / (1.0 - gamma + gamma * eta)
    return np.asarray(n_actions * (1.0 - mu), dtype=np.float64)
