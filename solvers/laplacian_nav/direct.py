"""Sparse elimination of an M-matrix: one factorisation, then any number of goals at the price of two sweeps each."""

from __future__ import annotations

from typing import Any

import numpy as np

from scisuite.core import EngineFailure

MEMORY_LIMIT = 2**31
"""Bytes that a factorisation may take before ``solver="auto"`` turns to multigrid. Fixed, so that the choice is the
same on every machine."""

_BYTES_PER_ENTRY = 12.0
_PROBES = (2_000, 8_000)


def factorise(A: Any) -> Any:
    """LU factors of ``A``, CSR (n, n), with pivots on the diagonal, ordered by minimum degree.

    A is an M-matrix (positive diagonal, nothing positive beside it, diagonally dominant). No pivoting is needed then,
    the sweeps add numbers of one sign only, and every entry of a solution is accurate relative to itself, however
    small. (Through eigenvectors small entries are differences of large ones: success .13 on a perfect maze at ε = 1.)

    Raises
    ------
    EngineFailure
        If the factors do not fit into memory or A is singular.
    """
    from scipy.sparse.linalg import splu

    try:
        return splu(
            A.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True, "Equil": False},
        )
    except MemoryError:
        raise EngineFailure(
            f"the sparse factors of {A.shape[0]} states do not fit into memory; use solver='amg'"
        ) from None
    except RuntimeError as error:
        raise EngineFailure(f"the sparse factorisation of {A.shape[0]} states failed: {error}") from error


def fits(A: Any) -> bool:
    """Whether the factors of ``A`` are estimated to stay within :data:`MEMORY_LIMIT`."""
    return estimated_bytes(A) <= MEMORY_LIMIT


def estimated_bytes(A: Any) -> float:
    """Bytes that the factors of ``A``, CSR (n, n) with a symmetric pattern, will take.

    Dense factors are the bound of a small matrix. Of a larger one, two balls of 2,000 and 8,000 states round its
    middle state are factorised, and the growth between them is continued to n: about n log n on a map, n² where the
    graph has no small cuts.
    """
    n = A.shape[0]
    dense = 8.0 * n * n
    if dense <= MEMORY_LIMIT / 16:
        return dense
    order = _breadth_first(A)
    sizes, entries = [], []
    for size in _PROBES:
        ball = np.sort(order[:size])
        sizes.append(len(ball))
        entries.append(factorise(A[ball][:, ball]).nnz)
    growth = np.log(entries[1] / entries[0]) / np.log(sizes[1] / sizes[0]) if sizes[1] > sizes[0] else 1.0
    grown = entries[1] * (n / sizes[1]) ** float(np.clip(growth, 1.0, 2.0))
    return min(_BYTES_PER_ENTRY * float(grown), dense)


def _breadth_first(A: Any) -> np.ndarray:
    """States of the largest component in order of their distance from its middle one."""
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    labels = connected_components(A, directed=False)[1]
    largest = np.flatnonzero(labels == np.bincount(labels).argmax())
    order: np.ndarray = breadth_first_order(
        A, int(largest[len(largest) // 2]), directed=False, return_predecessors=False
    )
    return order
