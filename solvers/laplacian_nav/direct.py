"""Sparse elimination of an M-matrix: one factorisation, then any number of goals at the price of two sweeps each."""

from __future__ import annotations

from typing import Any

import numpy as np

from scisuite.core import EngineFailure, generator

MEMORY_LIMIT = 2**31
"""Bytes that a factorisation may take before ``solver="auto"`` turns to multigrid. Fixed, so that the choice is the
same on every machine."""

_BYTES_PER_ENTRY, _BYTES_PER_STATE = 16.0, 400.0
_REGIONS = (1_000, 4_000)


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
            options={"SymmetricMode": True},
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

    Dense factors are the bound of a small matrix. A larger graph is contracted to 1,000 and to 4,000 regions, each of
    the states nearest to one drawn at random: the copies of a map are maps, those of a tree trees, those of a graph
    without small cuts have none. Both are factorised, and the growth between them is continued to n. The count of
    entries came out at 0.7 to 2.5 times the true one (boxes, obstacles, mazes, trees, a cube, random graphs). Measured
    memory is 15 bytes an entry where factors are dense and 400 a state where they are sparse.
    """
    n = int(A.shape[0])
    dense = 8.0 * n * n
    if dense <= MEMORY_LIMIT / 16:
        return dense
    few, many = (float(factorise(_contracted(A, regions)).nnz) for regions in _REGIONS)
    growth = np.log(many / few) / np.log(_REGIONS[1] / _REGIONS[0])
    entries = many * (n / _REGIONS[1]) ** float(np.clip(growth, 1.0, 2.0))
    return float(min(_BYTES_PER_ENTRY * entries, dense) + _BYTES_PER_STATE * n)


def _contracted(A: Any, regions: int) -> Any:
    """An M-matrix with the pattern of ``A`` between regions of states, each round one of them."""
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.csgraph import dijkstra

    centres = generator(0, "regions").choice(A.shape[0], regions, replace=False)
    nearest = dijkstra(
        abs(A), directed=False, indices=centres, unweighted=True, min_only=True, return_predecessors=True
    )[2]
    number = np.full(A.shape[0], -1)
    number[centres] = np.arange(regions)
    # A component without a centre, where there is no nearest one, is small.
    region = np.where(nearest >= 0, number[np.maximum(nearest, 0)], -1)
    edges = A.tocoo()
    tail, head = region[edges.row], region[edges.col]
    between = (tail != head) & (tail >= 0) & (head >= 0)
    pairs = coo_array((np.ones(int(between.sum())), (tail[between], head[between])), shape=(regions, regions)).tocsr()
    return (diags_array(pairs.sum(axis=1) + 1.0) - pairs).tocsr()
