"""Algorithm 1's score for pools of millions of units: read in blocks, with what was fitted before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import finite_rows
from scisuite.solvers.active_rct.logistic import Logistic
from scisuite.solvers.active_rct.scores import choose_top, overlap_deficit, score_pool, score_weights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCK = 1024
"""Units that are worked on at a time where the pool is one array: few, so that they stay in a processor's cache."""


class Uncertain(Protocol):
    """What is asked of the learner."""

    def uncertainty(self, x: Floats) -> Floats:
        """v, float64 (n,)."""


class Classifier(Protocol):
    """What is asked of the historical policy and of the classifier of pool against data, both fitted."""

    def predict_proba(self, x: Floats) -> Floats:
        """Probabilities of the labels 0 and 1, float64 (n, 2)."""


def score_stream(
    blocks: Iterable[ArrayLike],
    learner: Uncertain,
    policy: Classifier | None,
    domain: Classifier | None,
    weights: Sequence[float],
    m: int,
    rng: np.random.Generator,
) -> tuple[Ints, Floats]:
    """The best m units of a pool that is read once, block by block, and their scores.

    The same as :func:`~scisuite.solvers.active_rct.scores.score_pool` and ``choose_top`` on the whole pool. Three
    numbers a unit are kept.

    Parameters
    ----------
    blocks : float (n, d), or an iterable of float (n_i, d)
        The pool; an array, which may be float32 or a memory map, is cut into blocks here.
    learner : Learner
    policy, domain : objects with ``predict_proba``, or None
        The historical policy, for o, and :func:`fit_domain`'s classifier, for d. One whose weight is 0 may be absent.
    weights : (float, float, float)
        α, β, γ of v, d and o. A term of weight 0 is not worked out.
    m : int
        Units to choose.
    rng : numpy.random.Generator
        Breaks ties.

    Returns
    -------
    places : int64 (m,)
        In the order of the stream, best first.
    scores : float64 (m,)
        Of these units.

    Raises
    ------
    InvalidInput
        If the stream is empty, a block is no finite (n_i, d) or differs in width, a classifier of some weight is
        absent, or ``weights`` or ``m`` is not as in ``score_pool`` and ``choose_top``.
    """
    alpha, beta, gamma = score_weights(weights)
    for what, weight, classifier in (("domain", beta, domain), ("policy", gamma, policy)):
        if weight and classifier is None:
            raise InvalidInput(f"the weight of the {what} classifier is {weight:g}, but there is none")
    parts: list[Floats] = []
    width = None
    # Blocks are too small to share: threads of linear algebra would spend their time waiting for each other.
    with threadpool_limits(1, user_api="blas"):
        for block in _blocks(blocks):
            x = finite_rows(f"block {len(parts)}", block)
            width = x.shape[1] if width is None else width
            if x.shape[1] != width:
                raise InvalidInput(f"block {len(parts)} has {x.shape[1]} covariates, those before had {width}")
            terms = np.zeros((3, len(x)))
            if alpha:
                terms[0] = learner.uncertainty(x)
            if domain is not None and beta:
                terms[1] = domain.predict_proba(x)[:, 1]
            if policy is not None and gamma:
                terms[2] = overlap_deficit(policy.predict_proba(x)[:, 1])
            parts.append(terms)
    if not parts:
        raise InvalidInput("the pool has no blocks")
    v, d, o = np.concatenate(parts, axis=1)
    score = score_pool(v, d, o, weights)
    places = choose_top(score, m, rng)
    return places, score[places]


def fit_domain(pool: ArrayLike, data: ArrayLike, rng: np.random.Generator, cap: int = 20_000) -> Logistic:
    """A balanced classifier of pool (1) against data at hand (0), fitted to at most ``cap`` rows of each.

    Parameters
    ----------
    pool, data : float (n, d)
        Of any floating-point type; only the rows that are drawn are copied.
    rng : numpy.random.Generator
        Draws them, without replacement.
    cap : int
        From 1.

    Raises
    ------
    InvalidInput
        If one is empty, widths differ, an entry drawn is not finite, or ``cap`` is below 1.
    """
    if isinstance(cap, bool) or not isinstance(cap, int | np.integer) or cap < 1:
        raise InvalidInput(f"cap must be a whole number from 1, not {cap!r}")
    drawn = []
    for name, rows in (("pool", np.asarray(pool)), ("data", np.asarray(data))):
        if rows.ndim != 2 or not len(rows):
            raise InvalidInput(f"{name} must be of shape (n, d) with n ≥ 1, not {rows.shape}")
        # Sorted, because a memory map is read in order.
        chosen = slice(None) if len(rows) <= cap else np.sort(rng.choice(len(rows), cap, replace=False))
        drawn.append(finite_rows(name, rows[chosen]))
    if drawn[0].shape[1] != drawn[1].shape[1]:
        raise InvalidInput(f"the pool has {drawn[0].shape[1]} covariates, the data {drawn[1].shape[1]}")
    label = np.repeat([1, 0], [len(rows) for rows in drawn])
    return Logistic(balanced=True).fit(np.concatenate(drawn), label)


def _blocks(pool: Iterable[ArrayLike]) -> Iterator[ArrayLike]:
    if not isinstance(pool, np.ndarray):
        yield from pool
        return
    if pool.ndim != 2:
        raise InvalidInput(f"the pool must be of shape (n, d), not {pool.shape}")
    for start in range(0, len(pool), BLOCK):
        yield pool[start : start + BLOCK]
