"""How far two sets of modes span the same space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput

_SAME_EIGENVALUE = 1e-8


def subspace_overlap(learned: ArrayLike, true: ArrayLike, k: int, eigenvalues: ArrayLike | None = None) -> float:
    r"""Mean squared cosine of the principal angles between the first ``k`` modes of each: 1 is the same space.

    With orthonormal bases :math:`U` and :math:`V` of the two spaces it is :math:`\|U^\top V\|_F^2 / k`. Neither sign
    nor order of the modes matters, nor how eigenvectors were chosen among those of one eigenvalue: single vectors of a
    degenerate eigenvalue cannot be compared.

    Parameters
    ----------
    learned : float (n, ≥ k)
        Modes in columns, slowest first, at n states. Only the space that they span counts.
    true : float (n, ≥ k)
        What they are compared with, in the same order of states.
    k : int
    eigenvalues : float (m,) or None
        Of the columns of ``true``, ascending. Where the k-th equals the next ones, all of these columns count as true:
        any k-dimensional part of them is as good as another.

    Raises
    ------
    InvalidInput
        If a number is not finite, the shapes do not fit, or one of the two spans fewer than ``k`` dimensions.

    Notes
    -----
    Source: brief, "8-mode subspace overlap"; the definition is a reconstruction.
    """
    learned, true = _modes(learned, "learned"), _modes(true, "true")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise InvalidInput(f"k must be a positive whole number, not {k!r}")
    if len(learned) != len(true):
        raise InvalidInput(f"learned and true modes must be of the same states, not of {len(learned)} and {len(true)}")
    for name, modes in (("learned", learned), ("true", true)):
        if modes.shape[1] < k:
            raise InvalidInput(f"there are {modes.shape[1]} {name} modes, fewer than k = {k}")
    width = int(k)
    if eigenvalues is not None:
        values = np.asarray(eigenvalues, dtype=np.float64)
        if values.shape != (true.shape[1],):
            raise InvalidInput(f"eigenvalues must have shape ({true.shape[1]},), one a true mode, not {values.shape}")
        width = int((values <= values[k - 1] + _SAME_EIGENVALUE * max(1.0, abs(values[k - 1]))).sum())
    cosines = _basis(learned[:, :k], "learned").T @ _basis(true[:, :width], "true")
    return float(min(np.square(cosines).sum() / k, 1.0))


def _modes(given: ArrayLike, name: str) -> NDArray[np.float64]:
    modes: NDArray[Any] = np.asarray(given, dtype=np.float64)
    if modes.ndim != 2:
        raise InvalidInput(f"{name} modes must have shape (states, modes), not {modes.shape}")
    if not np.isfinite(modes).all():
        raise InvalidInput(f"{name} modes must be finite")
    return modes


def _basis(modes: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Orthonormal columns that span the same space."""
    lengths = np.linalg.norm(modes, axis=0)
    vectors, sizes, _ = np.linalg.svd(modes / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    rank = int((sizes > 1e-10 * sizes[0]).sum()) if sizes[0] > 0 else 0
    if rank < modes.shape[1]:
        raise InvalidInput(f"the first {modes.shape[1]} {name} modes span only {rank} dimensions")
    return vectors
