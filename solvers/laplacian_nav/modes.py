"""Eigenmodes of a Laplacian, smoothest first."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import EngineFailure, InvalidInput, generator
from scisuite.solvers.laplacian_nav.direct import factorise, fits
from scisuite.solvers.laplacian_nav.multigrid import vcycle
from scisuite.solvers.laplacian_nav.operators import check_self_adjoint

Floats = NDArray[np.float64]

METHODS = ("auto", "eigh", "shift_invert", "lobpcg_amg")
_DENSE = 1_000
_SAME = 1e-8
_RESIDUAL = 1e-8
_ROUNDS = 40


def eigenmodes(
    L: Any,
    k: int,
    method: Literal["auto", "eigh", "shift_invert", "lobpcg_amg"] = "auto",
    *,
    whole: bool = False,
) -> tuple[Floats, Floats]:
    r"""The k smallest eigenvalues of L and their modes: :math:`L \varphi_k = \lambda_k \varphi_k`,
    :math:`\Phi^\top \Phi = I`.

    The same matrix gives the same modes. Each has its largest entry positive (the first of those within 1e-6 of it).
    Where λ = 0 belongs to the constants of the graph's components these are returned exactly, as
    :math:`1/\sqrt{n_c}` on each component. Modes of one degenerate eigenvalue are some basis of its subspace, another
    one for each method: compare subspaces, never single vectors. Where k cuts such a block in two, what is returned of
    it depends on that basis; ``whole`` returns all of it.

    Parameters
    ----------
    L : sparse or array (n, n)
        Symmetric and positive semidefinite: ``laplacian(W)``, or ``laplacian(W, "sym")`` for the modes of ``rw``.
    k : int
        From 1 to n.
    method : {"auto", "eigh", "shift_invert", "lobpcg_amg"}
        Dense; Lanczos on (L − σI)⁻¹ with a small negative σ, by sparse factors, whose count of eigenvalues is checked
        against the signs of the pivots of L − τI (Sylvester's inertia), so that no copy of a degenerate one is missed;
        or LOBPCG with a multigrid V-cycle, for graphs whose factors do not fit (needs pyamg). ``auto`` takes the first
        up to 1,000 states or for more than a fifth of all modes, then the second while the factors fit.
    whole : bool
        Return the whole of the last block, k or more modes.

    Returns
    -------
    lam : float64 (k,)
        Ascending.
    Phi : float64 (n, k)

    Raises
    ------
    InvalidInput
        If L is not square, finite and symmetric, ``k`` or ``method`` is out of range, or k is too large for the method.
    EngineFailure
        If an iteration does not converge or misses modes.

    Notes
    -----
    Source: brief §Codes: reconstruction.
    """
    L = check_self_adjoint(L)
    n = L.shape[0]
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise InvalidInput(f"k must be a whole number from 1 to {n}, the number of states, not {k!r}")
    if method not in METHODS:
        raise InvalidInput(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    k = int(k)
    if not whole:
        return _modes(L, k, method)
    asked, same = k, True
    while same:
        asked = min(max(asked + 8, asked * 5 // 4), n)
        lam, Phi = _modes(L, asked, method)
        end = _block_end(lam, k)
        same = end == asked < n
    return lam[:end], Phi[:, :end]


def _modes(L: Any, k: int, method: str) -> tuple[Floats, Floats]:
    constants = _constants(L)
    if k <= constants.shape[1]:
        return np.zeros(k), constants[:, :k]
    chosen = _auto(L, k) if method == "auto" else method
    if chosen == "eigh":
        found = _eigh(L, k)
    elif chosen == "shift_invert":
        found = _shift_invert(L, k)
    else:
        found = _lobpcg(L, k, constants)
    return _polished(L, found, constants, k)


def _auto(L: Any, k: int) -> str:
    n = L.shape[0]
    if n <= _DENSE or 5 * k > n:
        return "eigh"
    return "shift_invert" if fits(L) else "lobpcg_amg"


def _eigh(L: Any, k: int) -> Floats:
    from scipy.linalg import eigh

    return np.asarray(eigh(L.toarray(), subset_by_index=(0, k - 1))[1])


def _shift_invert(L: Any, k: int) -> Floats:
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    n = L.shape[0]
    if k > n - 2:
        raise InvalidInput(f"shift_invert finds at most n - 2 = {n - 2} modes, not {k}; use method='eigh'")
    # As small as the smallest positive eigenvalue of a map, about 1 / n: below it and still well-conditioned.
    shift = -float(L.diagonal().mean()) / n
    factors = factorise((L - shift * eye_array(n)).tocsr())
    inverse = LinearOperator(L.shape, matvec=factors.solve, dtype=np.float64)
    for attempt in range(3):
        start = generator(attempt, "eigenmodes").standard_normal(n)
        subspace = min(n, max(2 * k + 1, 20) * (attempt + 1))
        try:
            lam, Phi = eigsh(L, k, sigma=shift, which="LM", OPinv=inverse, v0=start, ncv=subspace)
        except ArpackNoConvergence as error:
            raise EngineFailure(f"Lanczos did not converge to {k} modes") from error
        order = np.argsort(lam)
        lam, Phi = lam[order], Phi[:, order]
        below = _block_start(lam)
        if below == 0 or _count_below(L, (lam[below - 1] + lam[below]) / 2) == below:
            return np.asarray(Phi)
    raise EngineFailure(f"Lanczos missed modes of a degenerate eigenvalue among the first {k}; use method='eigh'")


def _lobpcg(L: Any, k: int, constants: Floats) -> Floats:
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import lobpcg

    n = L.shape[0]
    if 5 * k > n:
        raise InvalidInput(f"lobpcg_amg finds at most a fifth of all {n} modes, not {k}; use method='eigh'")
    scale = float(L.diagonal().mean())
    cycle = vcycle((L + (scale / n) * eye_array(n)).tocsr(), "method='lobpcg_amg'")
    wanted = k - constants.shape[1]
    # A few more than wanted, so that the last ones are not held up by what lies just beyond.
    X = generator(0, "eigenmodes").standard_normal((n, wanted + max(4, wanted // 4)))
    for _ in range(_ROUNDS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # not converged yet: judged below
            lam, X = lobpcg(L, X, M=cycle, Y=constants, tol=_RESIDUAL * scale / 10, maxiter=10, largest=False)
        order = np.argsort(lam)
        lam, X = lam[order], X[:, order]
        wrong = np.linalg.norm(L @ X[:, :wanted] - X[:, :wanted] * lam[:wanted], axis=0)
        if wrong.max() <= _RESIDUAL * scale:
            return np.concatenate([constants, X[:, :wanted]], axis=1)
    raise EngineFailure(f"LOBPCG did not converge to {k} modes: the largest residual is {wrong.max():.1e}")


def _polished(L: Any, Phi: Floats, constants: Floats, k: int) -> tuple[Floats, Floats]:
    """Constants put in exactly, the rest made orthonormal and rotated to eigenvectors (Rayleigh–Ritz), signs fixed."""
    from scipy.linalg import eigh

    zeros = constants.shape[1]
    if zeros:
        # The subspace found holds the constants up to rounding errors; what remains of it is orthogonal to them.
        Phi = Phi - constants @ (constants.T @ Phi)
        left, size, _ = np.linalg.svd(Phi, full_matrices=False)
        Phi = left[:, np.argsort(-size, kind="stable")[: k - zeros]]
        Phi = Phi - constants @ (constants.T @ Phi)
    basis = np.linalg.qr(Phi)[0]
    reduced = basis.T @ (L @ basis)
    lam, rotation = eigh((reduced + reduced.T) / 2)
    rest = basis @ rotation
    size = np.abs(rest)
    first = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    rest *= np.sign(rest[first, np.arange(rest.shape[1])])
    return np.concatenate([np.zeros(zeros), np.maximum(lam, 0.0)]), np.concatenate([constants, rest], axis=1)


def _constants(L: Any) -> Floats:
    """float64 (n, c): a constant on each component, orthonormal, if L maps them to zero; otherwise no column."""
    from scipy.sparse.csgraph import connected_components

    n = L.shape[0]
    if np.abs(L.sum(axis=1)).max() > 1e-9 * max(float(np.abs(L.data).max(initial=0.0)), np.finfo(float).tiny):
        return np.empty((n, 0))
    labels = connected_components(L, directed=False)[1]
    sizes = np.bincount(labels)
    constants = np.zeros((n, len(sizes)))
    constants[np.arange(n), labels] = 1.0 / np.sqrt(sizes[labels])
    return constants


def _count_below(L: Any, level: float) -> int:
    """Eigenvalues of L below ``level``: negative pivots of L − level I, all of them on the diagonal."""
    from scipy.sparse import eye_array

    factors = factorise((L - level * eye_array(L.shape[0])).tocsr())
    return int((factors.U.diagonal() < 0).sum())


def _block_start(lam: Floats) -> int:
    """Where the last block of equal eigenvalues begins."""
    same = np.abs(lam - lam[-1]) <= _SAME * max(float(lam[-1]), np.finfo(float).tiny)
    return int(np.argmax(same))


def _block_end(lam: Floats, k: int) -> int:
    """Where the block of equal eigenvalues that holds number k − 1 ends."""
    same = np.abs(lam - lam[k - 1]) <= _SAME * max(float(lam[-1]), np.finfo(float).tiny)
    return int(np.flatnonzero(same)[-1]) + 1
