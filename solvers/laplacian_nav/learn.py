"""Laplacian modes learnt from pairs of observations: pictures, or coordinates."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Budget, InvalidInput, as_seed
from scisuite.solvers.laplacian_nav.allo import train_allo
from scisuite.solvers.laplacian_nav.contrastive import train_contrastive
from scisuite.solvers.laplacian_nav.encoders import FEATURES, ModeEncoder, Network, features_of
from scisuite.solvers.laplacian_nav.pairs import DistinctPairs, require_gamma, require_steps_or_seconds
from scisuite.solvers.laplacian_nav.rayleigh_ritz import laplacian_eigenvalues, rayleigh_ritz

Method = Literal["spectral_contrastive", "allo"]
METHODS: tuple[Method, ...] = ("spectral_contrastive", "allo")


def learn_modes(
    obs: NDArray[Any],
    next_obs: NDArray[Any],
    k: int,
    method: Method = "spectral_contrastive",
    seed: int = 0,
    budget: Budget | str = "1000 steps",
    *,
    gamma: float = 0.9,
    n_actions: int = 4,
) -> tuple[ModeEncoder, NDArray[np.float64]]:
    """Learn the k slowest modes of a random walk's Laplacian, the constant one left out, from what the walker saw.

    An encoder is trained on the pairs, then Rayleigh–Ritz on the covariances of its features separates the modes and
    gives their eigenvalues. State indices enter nowhere. One thread; the global random state stays as it is.

    Parameters
    ----------
    obs, next_obs : float32 or uint8 (n, channels, height, width) or (n, numbers)
        Row by row two observations of one random walk, a geometric number of moves apart
        (:func:`~scisuite.solvers.laplacian_nav.pairs.lagged_pairs`).
    k : int
        1 to 32, the width of the encoder.
    method : {"spectral_contrastive", "allo"}
    seed : int
    budget : Budget or str
        In gradient steps (the same seed then gives the same modes to the byte) or CPU seconds.
    gamma : float
        Of the lags, to turn their average's eigenvalues into those of one move.
    n_actions : int
        Moves that the walker chose from, so that ``lam`` is on the scale of the world's Laplacian.

    Returns
    -------
    encoder : ModeEncoder
        ``encoder(obs)`` → float64 (b, k); ``encoder.losses`` has one number a step.
    lam : float64 (k,)
        Eigenvalues of the Laplacian, ascending, all positive.

    Raises
    ------
    InvalidInput
        If the observations are of another shape or dtype or not finite, there are too few pairs or too few distinct
        observations for k modes, or another argument is out of its range. Nothing has been trained then.
    EngineFailure
        If the features collapsed to fewer than k dimensions.

    Notes
    -----
    Observations that look alike are taken for one place: a partial view from the walker's own eyes aliases states, and
    the modes are then those of what can be told apart. Source: brief, "learning modes".
    """
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= FEATURES:
        raise InvalidInput(f"k must be a whole number from 1 to {FEATURES}, the features of the encoder, not {k!r}")
    if method not in METHODS:
        raise InvalidInput(f'method must be "spectral_contrastive" or "allo", not {method!r}')
    if isinstance(n_actions, bool) or not isinstance(n_actions, int | np.integer) or n_actions < 1:
        raise InvalidInput(f"n_actions must be a positive whole number, not {n_actions!r}")
    seed, budget, k = as_seed(seed), Budget.parse(budget), int(k)
    require_gamma(gamma)
    require_steps_or_seconds(budget)
    shape = np.shape(obs)
    if len(shape) == 4 and shape[-1] in (1, 3, 4) and shape[1] > 8:
        raise InvalidInput(
            f"pictures of shape {shape} seem to have their channels last; learn_modes takes (n, channels, height, "
            "width): np.moveaxis(obs, -1, 1)"
        )
    pairs = DistinctPairs.of(obs, next_obs)
    if len(pairs) < k + 1:
        raise InvalidInput(f"{k} modes need at least {k + 1} pairs of observations, not {len(pairs)}")
    if len(pairs.frames) < k + 1:
        raise InvalidInput(f"{k} modes need at least {k + 1} distinct observations, not {len(pairs.frames)}")

    network = Network(pairs.frames.shape[1:], k + 1 if method == "allo" else FEATURES, seed)
    network.standardise(pairs.frames)
    if method == "allo":
        losses, _ = train_allo(network, pairs, budget, seed)
    else:
        losses = train_contrastive(network, pairs, budget, seed)
    eta, weights = rayleigh_ritz(features_of(network, pairs.frames), pairs, k)
    encoder = ModeEncoder(network, weights, str(pairs.frames.dtype), losses)
    return encoder, laplacian_eigenvalues(eta, gamma, int(n_actions))
