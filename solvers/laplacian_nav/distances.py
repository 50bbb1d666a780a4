"""Read-outs of a truncated spectrum, and the heat kernel: potentials without the guarantee of Green's function."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.solvers.laplacian_nav.operators import check_self_adjoint, check_states

Floats = NDArray[np.float64]

DISTANCES = ("inner", "resistance", "biharmonic")
_ZERO = 1e-12

_LONGEST_SERIES = 1e4
"""t × largest degree up to which a second or so of products is enough."""
_DEAD = 37.0
"""e^(−37) is below the rounding error."""


def truncated_distance(
    lam: ArrayLike,
    Phi: ArrayLike,
    goals: ArrayLike,
    kind: Literal["inner", "resistance", "biharmonic"] = "inner",
) -> Floats:
    r"""How near each state is to each goal, read from K eigenmodes; bigger is nearer.

    With :math:`E_k = \varphi_k / \sqrt{\lambda_k}` over the modes with :math:`\lambda_k > 0`:

    - ``inner``: :math:`\langle E(x), E(g) \rangle`, the truncated Green's function at ε = 0;
    - ``resistance``: :math:`-\lVert E(x) - E(g) \rVert^2`;
    - ``biharmonic``: :math:`-\lVert \varphi(x)/\lambda - \varphi(g)/\lambda \rVert^2`.

    The distances have their peak at the goal whatever the number of modes; the inner product need not, and none of the
    three is free of other maxima. With all modes only the inner product is (it is then the pseudo-inverse).

    Parameters
    ----------
    lam : float (K,)
        Eigenvalues; those that are not above 1e-12 of the largest are left out with their modes.
    Phi : float (n, K)
        Modes, one a column.
    goals : int (g,)
    kind : {"inner", "resistance", "biharmonic"}

    Returns
    -------
    float64 (n, g)

    Raises
    ------
    InvalidInput
        If the shapes do not fit, a number is not finite, no eigenvalue is positive, a goal is not a state, or there is
        no such kind.

    Notes
    -----
    Source: brief §Distances for truncated spectra: reconstruction.
    """
    if kind not in DISTANCES:
        raise InvalidInput(f"kind must be one of {', '.join(DISTANCES)}, not {kind!r}")
    lam, Phi = _checked_modes(lam, Phi)
    goals = check_states(goals, len(Phi))
    kept = lam > _ZERO * lam.max(initial=0.0)
    if not kept.any():
        raise InvalidInput("no eigenvalue is positive: there is nothing to read a distance from")
    embedded = Phi[:, kept] / (lam[kept] if kind == "biharmonic" else np.sqrt(lam[kept]))
    if kind == "inner":
        return np.asarray(embedded @ embedded[goals].T)
    near = np.empty((len(Phi), len(goals)))
    for j, goal in enumerate(goals):
        # Differences first: expanding the square loses the digits near the goal.
        apart = embedded - embedded[goal]
        near[:, j] = -np.einsum("nk,nk->n", apart, apart)
    return near


def heat_kernel(operator: Any, t: float, goals: ArrayLike) -> Floats:
    r"""Columns of the heat kernel :math:`e^{-tL}`.

    Parameters
    ----------
    operator : sparse or array (n, n), or (lam, Phi)
        A Laplacian, whose exponential is applied without its modes while t is small, since the cost grows with it, and
        then through those that have not died out; or eigenvalues (K,) and modes (n, K), truncated unless they are
        all. Entries below 1e-16 are rounding errors either way.
    t : float
        Diffusion time ≥ 0.
    goals : int (g,)

    Returns
    -------
    float64 (n, g)

    Raises
    ------
    InvalidInput
        If ``t`` is not a finite number of at least 0, L is not square, finite and symmetric, the shapes of the modes do
        not fit, or a goal is not a state.
    """
    number = isinstance(t, int | float | np.number) and not isinstance(t, bool)
    if not (number and 0 <= t < np.inf):
        raise InvalidInput(f"t must be a finite number of at least 0, not {t!r}")
    if isinstance(operator, tuple):
        lam, Phi = _checked_modes(*operator)
        return np.asarray((Phi * np.exp(-t * lam)) @ Phi[check_states(goals, len(Phi))].T)
    from scipy.sparse.linalg import expm_multiply

    L = check_self_adjoint(operator)
    goals = check_states(goals, L.shape[0])
    if t * float(L.diagonal().max(initial=0.0)) > _LONGEST_SERIES:
        lam, Phi = _alive(L, t)
        return np.asarray((Phi * np.exp(-t * lam)) @ Phi[goals].T)
    deltas = np.zeros((L.shape[0], len(goals)))
    deltas[goals, np.arange(len(goals))] = 1.0
    return np.asarray(expm_multiply(-t * L, deltas, traceA=-t * L.trace()))


def _alive(L: Any, t: float) -> tuple[Floats, Floats]:
    """The modes of which more than a rounding error is left after ``t``, and perhaps some more."""
    from scisuite.solvers.laplacian_nav.modes import eigenmodes

    n, k = int(L.shape[0]), 64
    while k < n // 4:
        lam, Phi = eigenmodes(L, k)
        if t * lam[-1] > _DEAD:
            return lam, Phi
        k *= 4
    return eigenmodes(L, n)


def _checked_modes(lam: ArrayLike, Phi: ArrayLike) -> tuple[Floats, Floats]:
    lam, Phi = np.asarray(lam, dtype=np.float64), np.asarray(Phi, dtype=np.float64)
    if lam.ndim != 1 or Phi.ndim != 2 or Phi.shape[1] != len(lam):
        raise InvalidInput(f"modes must be lam (K,) and Phi (n, K), not of shapes {lam.shape} and {Phi.shape}")
    if not (np.isfinite(lam).all() and np.isfinite(Phi).all()):
        raise InvalidInput("modes must be finite")
    return lam, Phi
