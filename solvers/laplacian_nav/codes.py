"""Place, grid, head-direction and conjunctive codes: four read-outs of one Laplacian spectrum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput, generator
from scisuite.solvers.laplacian_nav.bands import Band
from scisuite.solvers.laplacian_nav.distances import heat_kernel
from scisuite.solvers.laplacian_nav.green import GreenPotential
from scisuite.solvers.laplacian_nav.operators import as_laplacian, check_states

Floats = NDArray[np.float64]

CONSTANT = 0.6
_NOTHING = 1e-12
_TIE = 1e-9


def place_cells(L_or_world: Any, centres: ArrayLike, *, t: float | None = None, eps: float | None = None) -> Floats:
    r"""Rate maps of place cells: columns of the heat kernel :math:`e^{-tL}` or of :math:`(L + \varepsilon I)^{-1}`.

    A column of the heat kernel sums to one and spreads as diffusion does: away from walls its root mean square radius
    on a grid of cells is :math:`\sqrt{4t}`. A column of the resolvent is a mean of heat kernels,
    :math:`\int_0^\infty e^{-\varepsilon t} e^{-tL}\,dt`: a sharp peak with wide skirts, which sums to 1/ε.

    Parameters
    ----------
    L_or_world : sparse or dense (n, n), or NavWorld
        A combinatorial Laplacian, or a world to take it from.
    centres : int (m,)
        States on which the fields are centred.
    t : float
        Diffusion time ≥ 0; give this or ``eps``.
    eps : float
        Leak > 0.

    Returns
    -------
    float64 (n, m)
        Non-negative.

    Raises
    ------
    InvalidInput
        If neither or both of ``t`` and ``eps`` are given, one is out of range, L is no Laplacian, or a centre is not a
        state.

    Notes
    -----
    Source: brief §Codes: reconstruction.
    """
    L = as_laplacian(L_or_world)
    centres = check_states(centres, L.shape[0], "centre")
    if t is not None and eps is None:
        rates = heat_kernel(L, t, centres)
    elif eps is not None and t is None:
        if not eps > 0:
            raise InvalidInput(f"eps must be above 0 for a place cell, not {eps!r}")
        rates = GreenPotential(L, eps).potential(centres)
    else:
        raise InvalidInput("place cells need either t or eps")
    # Both kernels are non-negative; what lies below zero is rounding.
    return np.maximum(rates, 0.0)


def nonnegative_factor(kernel: ArrayLike, components: int, seed: int, iterations: int = 300) -> Floats:
    r"""Non-negative H with :math:`K \approx HH^\top`: a population of few cells in place of one cell for each state.

    Multiplicative updates of symmetric non-negative factorisation,
    :math:`H \leftarrow H \circ (\tfrac12 + \tfrac12\, KH \oslash HH^\top H)`, from a random start.

    Parameters
    ----------
    kernel : float (n, n)
        Symmetric and non-negative, such as :func:`place_cells` over all states.
    components : int
        Number of cells k ≥ 1.
    seed : int
    iterations : int

    Returns
    -------
    float64 (n, k)

    Raises
    ------
    InvalidInput
        If the kernel is not square, symmetric and non-negative, or ``components`` is not in 1 … n.

    Notes
    -----
    Source: brief §Codes ("optional non-negative factorisation"): reconstruction, with the updates of Ding, He and Simon
    2005.
    """
    K = np.asarray(kernel, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not (K >= 0).all() or not np.allclose(K, K.T):
        raise InvalidInput("the kernel must be a square, symmetric matrix without negative entries")
    if not 1 <= components <= len(K):
        raise InvalidInput(f"components must be in 1 … {len(K)}, not {components!r}")
    H = generator(seed, "nonnegative_factor").random((len(K), components))
    H *= np.sqrt(K.mean() / max(float((H @ H.T).mean()), np.finfo(float).tiny))
    for _ in range(iterations):
        H *= 0.5 + 0.5 * (K @ H) / np.maximum(H @ (H.T @ H), np.finfo(float).tiny)
    return H


def grid_cells(
    band: Band, seed: int, *, iterations: int | None = None, constant: float = CONSTANT, nonnegative: bool = True
) -> Floats:
    """One grid cell's rate map: :func:`band_iteration` from uniformly random rates.

    The iteration has more than one fixed point. On the torus a few seeds end in stripes instead of a hexagonal lattice;
    in a box most end in hexagonal patches with faults between them, so that scores vary widely from seed to seed.

    Parameters
    ----------
    band : Band
        ``TorusBand(k0)``, ``BoxBand(lo, hi)`` or ``ModeBand(lam, Phi, lo, hi)``.
    seed : int
        Of the random start, which ``nonnegative=False`` shares.
    iterations, constant, nonnegative
        See :func:`band_iteration`; by default 400 iterations on the torus and 500 elsewhere.

    Returns
    -------
    float64, of shape ``band.shape``
        Of norm 1.
    """
    start = generator(seed, "grid_cells").random(band.shape)
    steps = band.iterations if iterations is None else iterations
    return band_iteration(band.project, start, iterations=steps, constant=constant, nonnegative=nonnegative)


def band_iteration(
    project: Callable[[Floats], Floats],
    start: ArrayLike,
    *,
    iterations: int,
    constant: float = CONSTANT,
    nonnegative: bool = True,
) -> Floats:
    r"""Non-negative band iteration: a code that is smooth, of one scale, and has rates rather than signs.

    .. math:: h \leftarrow \mathrm{relu}(\Pi h + a\,c(c^\top h)), \qquad h \leftarrow h/\|h\|

    with c the constant mode. Rates cannot be negative, so a map needs a constant part, and of the patterns of one
    wavelength around a positive mean the hexagonal one clips least.

    Without the rectification the iteration is linear, :math:`h \leftarrow \Pi h`, and ends in the band's strongest
    modes in whatever mixture the start had. The constant is left out of it: a weight a < 1 beside gains of 1 only dies
    away as aⁿ, and a grid score does not see it.

    Parameters
    ----------
    project : callable
        Map → its part in the band, without the constant.
    start : float
        Map of any shape.
    iterations : int
    constant : float
        a, in (0, 1).
    nonnegative : bool
        Whether to rectify.

    Returns
    -------
    float64, of the shape of ``start``
        Of norm 1.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or the start has no part in the band.

    Notes
    -----
    Source: brief §Codes: reconstruction.
    """
    if not 0 < constant < 1:
        raise InvalidInput(f"constant must lie between 0 and 1, not {constant!r}")
    if iterations < 1:
        raise InvalidInput(f"iterations must be at least 1, not {iterations!r}")
    h = np.array(start, dtype=np.float64)
    if not np.isfinite(h).all():
        raise InvalidInput("the start of a band iteration must be finite")
    h /= max(float(np.linalg.norm(h)), np.finfo(float).tiny)
    for _ in range(iterations):
        lifted = constant * h.mean() if nonnegative else 0.0
        h = project(h) + lifted
        if nonnegative:
            np.maximum(h, 0.0, out=h)
        size = float(np.linalg.norm(h))
        if size < _NOTHING:
            raise InvalidInput("the start of a band iteration has no part in the band")
        h /= size
    return h


def head_direction(n: int, harmonics: int) -> tuple[Floats, Floats]:
    r"""Modes of a ring of n headings: the constant, then :math:`\cos m\theta, \sin m\theta` for m = 1 … ``harmonics``.

    Parameters
    ----------
    n : int
        Number of headings, at least 3.
    harmonics : int
        0 ≤ harmonics ≤ n/2; for m = n/2 there is a cosine alone.

    Returns
    -------
    lam : float64 (k,)
        :math:`\lambda_m = 2 - 2\cos(2\pi m/n)`, ascending.
    Phi : float64 (n, k)
        Orthonormal columns.

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    """
    if n < 3:
        raise InvalidInput(f"a ring needs at least 3 headings, not {n!r}")
    if not 0 <= harmonics <= n // 2:
        raise InvalidInput(f"harmonics must be in 0 … {n // 2} for {n} headings, not {harmonics!r}")
    angle = 2 * np.pi * np.arange(n) / n
    waves, numbers = [np.ones(n)], [0]
    for m in range(1, harmonics + 1):
        waves += [np.cos(m * angle)] if 2 * m == n else [np.cos(m * angle), np.sin(m * angle)]
        numbers += [m] * (len(waves) - len(numbers))
    Phi = np.stack(waves, axis=1)
    return 2 - 2 * np.cos(2 * np.pi * np.array(numbers) / n), Phi / np.linalg.norm(Phi, axis=0)


def conjunctive(
    place: tuple[ArrayLike, ArrayLike], heading: tuple[ArrayLike, ArrayLike], kappa: float, k: int
) -> tuple[Floats, Floats]:
    r"""The k smoothest modes of place and heading, of :math:`L_{xy} \otimes I + \kappa\, I \otimes L_\theta`.

    Eigenvalues of a Kronecker sum are sums, eigenvectors products. κ says how many steps in place a turn counts for. A
    grid cell's map times a head-direction cell's tuning is a conjunctive cell: it lies in the span of such products.

    Parameters
    ----------
    place, heading : (lam, Phi)
        Ascending eigenvalues and orthonormal modes, (n_xy, a) and (n_theta, b), each from the smallest on.
    kappa : float
        Above 0.
    k : int
        At least 1.

    Returns
    -------
    lam : float64 (k,)
        Ascending.
    Phi : float64 (n_xy · n_theta, k)
        State (x, θ) in row x·n_theta + θ.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or too few modes are given to know the k smallest sums.
    """
    (lam_place, Phi_place), (lam_heading, Phi_heading) = (
        (np.asarray(lam, dtype=np.float64), np.asarray(Phi, dtype=np.float64)) for lam, Phi in (place, heading)
    )
    if not (kappa > 0 and np.isfinite(kappa)):
        raise InvalidInput(f"kappa must be a finite number above 0, not {kappa!r}")
    sums = lam_place[:, None] + kappa * lam_heading
    if not 1 <= k <= sums.size:
        raise InvalidInput(f"k must be in 1 … {sums.size}, the number of pairs of modes given, not {k!r}")
    chosen = np.argsort(np.round(sums.ravel(), 12), kind="stable")[:k]
    # A mode that was not given could make a sum as small as the largest eigenvalue that was.
    beyond_place = np.inf if Phi_place.shape[0] == len(lam_place) else lam_place[-1]
    beyond_heading = np.inf if Phi_heading.shape[0] == len(lam_heading) else kappa * lam_heading[-1]
    if sums.ravel()[chosen[-1]] > min(beyond_place, beyond_heading) + _TIE:
        lacking = "place" if beyond_place <= beyond_heading else "heading"
        raise InvalidInput(f"the {k} smallest sums need more than the {lacking} modes given")
    rows, columns = np.unravel_index(chosen, sums.shape)
    Phi = Phi_place[:, None, rows] * Phi_heading[None, :, columns]
    return sums.ravel()[chosen], Phi.reshape(-1, k)
