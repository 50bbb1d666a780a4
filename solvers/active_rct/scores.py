"""Whom to randomise next: uncertainty, domain discrepancy and overlap deficit, made comparable by their ranks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import finite_column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def fractional_rank(values: ArrayLike) -> Floats:
    """η: the rank of each of n values over n, ties averaged, float64 (n,) in (0, 1]; the largest value ranks 1."""
    column = finite_column("values", values)
    return np.asarray(rankdata(column) / max(len(column), 1))


def overlap_deficit(propensity: ArrayLike) -> Floats:
    """o = 2|ê − ½| in [0, 1], for ê (n,) in [0, 1]: how near the historical policy came to being deterministic."""
    column = finite_column("propensity", propensity)
    if column.size and not (column.min() >= 0 and column.max() <= 1):
        raise InvalidInput(f"a propensity must be in [0, 1], not {column[(column < 0) | (column > 1)][0]:g}")
    return np.asarray(2 * np.abs(column - 0.5))


def score_weights(weights: Sequence[float]) -> tuple[float, float, float]:
    """Three weights, none negative, not all zero; :class:`~scisuite.core.InvalidInput` otherwise."""
    try:
        given = finite_column("weights", list(weights))
    except TypeError:
        raise InvalidInput(f"there are three weights, of v, d and o, not {weights!r}") from None
    if len(given) != 3:
        raise InvalidInput(f"there are three weights, of v, d and o, not {len(given)}")
    if given.min() < 0 or not given.any():
        raise InvalidInput(f"weights must not be negative, nor all zero, not {tuple(given.tolist())}")
    return float(given[0]), float(given[1]), float(given[2])


def score_pool(v: ArrayLike, d: ArrayLike, o: ArrayLike, weights: Sequence[float] = (1.0, 1.0, 1.0)) -> Floats:
    """S = α η(v) + β η(d) + γ η(o), Algorithm 1's score of every unit of a pool.

    Ranks make it invariant to any increasing map of v, d or o. The defaults α = β = γ = 1 are a reconstruction.

    Parameters
    ----------
    v : float (n,)
        Uncertainty: variance of τ̂ over ensemble members or dropout passes, or leverage.
    d : float (n,)
        Domain discrepancy: a classifier's belief that the unit is of the pool and not of the training data.
    o : float (n,)
        Overlap deficit, :func:`overlap_deficit`.
    weights : (float, float, float)
        α, β, γ: none negative, not all zero.

    Returns
    -------
    float64 (n,)
        In (0, α + β + γ].

    Raises
    ------
    InvalidInput
        If lengths differ, a number is not finite, or the weights are not as said.
    """
    alpha_beta_gamma = score_weights(weights)
    n = len(finite_column("v", v))
    columns = [finite_column(name, values, n) for name, values in (("v", v), ("d", d), ("o", o))]
    ranked = (
        weight * fractional_rank(column) for weight, column in zip(alpha_beta_gamma, columns, strict=True) if weight
    )
    return np.asarray(sum(ranked))


def choose_top(score: ArrayLike, m: int, rng: np.random.Generator) -> Ints:
    """Places of the m highest scores, int64 (m,), best first; ties are broken by ``rng``.

    Raises
    ------
    InvalidInput
        If m is not from 1 to the number of scores, or a score is not finite.

    Warns
    -----
    RuntimeWarning
        If all scores are equal: the choice is then a random one.
    """
    column = finite_column("score", score)
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or not 1 <= m <= len(column):
        raise InvalidInput(f"a batch must have 1 to {len(column)} units, as many as the pool has left, not {m!r}")
    if len(column) > 1 and column.min() == column.max():
        warnings.warn("all scores are equal: the batch is a random one", RuntimeWarning, stacklevel=2)
    shuffled = rng.permutation(len(column))
    if m < len(column):
        shuffled = shuffled[np.argpartition(-column[shuffled], m - 1)[:m]]
    return np.asarray(shuffled[np.argsort(-column[shuffled], kind="stable")], dtype=np.int64)
