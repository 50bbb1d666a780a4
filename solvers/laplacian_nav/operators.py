"""Graph Laplacians, and what has to hold before one is used."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import NavWorld

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

KINDS = ("comb", "rw", "sym")
_SYMMETRY = 1e-12
_ROW_SUM = 1e-9


def laplacian(W: Any, kind: Literal["comb", "rw", "sym"] = "comb") -> Any:
    r"""Laplacian of a weighted graph; a wall is an edge that is missing, so that nothing flows through it (Neumann).

    With :math:`D = \mathrm{diag}(W 1)`, the combinatorial Laplacian is

    .. math:: L = D - W, \qquad L 1 = 0, \qquad x^\top L x = \tfrac12 \sum_{ij} W_{ij} (x_i - x_j)^2 .

    ``rw`` is that of the random walk, :math:`I - D^{-1} W = D^{-1} L`, which is not symmetric; its modes are
    :math:`D^{-1/2} \psi` for the modes :math:`\psi` of ``sym``, :math:`D^{-1/2} L D^{-1/2}`, with the same eigenvalues.
    A self-loop leaves L as it is and enters the other two through D. A state without edges has a row of zeros.

    Parameters
    ----------
    W : array or sparse (n, n)
        Symmetric weights ≥ 0.
    kind : {"comb", "rw", "sym"}

    Returns
    -------
    float64 CSR (n, n)

    Raises
    ------
    InvalidInput
        See :func:`check_weights`; or if there is no such kind.

    Notes
    -----
    Source: brief §Operator: reconstruction.

    Examples
    --------
    >>> laplacian([[0, 1, 0], [1, 0, 2], [0, 2, 0]]).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  3., -2.],
           [ 0., -2.,  2.]])
    """
    from scipy.sparse import diags_array

    if kind not in KINDS:
        raise InvalidInput(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
    weights = check_weights(W)
    degree = weights.sum(axis=1)
    L = (diags_array(degree) - weights).tocsr()
    if kind == "comb":
        return L
    inverse = np.where(degree > 0, 1.0 / np.where(degree > 0, degree, 1.0), 0.0)
    if kind == "rw":
        return (diags_array(inverse) @ L).tocsr()
    root = diags_array(np.sqrt(inverse))
    return (root @ L @ root).tocsr()


def check_weights(W: Any, symmetric: bool = True) -> Any:
    """``W`` as a new float64 CSR array, once it is known to be the weights of a graph.

    Parameters
    ----------
    W : array or sparse (n, n)
    symmetric : bool
        Whether to demand that W equals its transpose, up to a rounding error of 1e-12 of the largest weight.

    Raises
    ------
    InvalidInput
        If W is not a square matrix of numbers, holds a negative or non-finite weight, or has no edge between two
        states; or if it is not symmetric, because L is then not self-adjoint.
    """
    weights = check_not_negative(W, "W")
    if weights.nnz == np.count_nonzero(weights.diagonal()):
        raise InvalidInput("the graph has no edges")
    if symmetric:
        check_symmetric(weights, "W")
    return weights


def check_not_negative(matrix: Any, name: str) -> Any:
    """``matrix`` as a new float64 CSR array without stored zeros, once its entries are known to be finite and ≥ 0.

    Raises
    ------
    InvalidInput
        If it is not square, or naming the first entry that is not.
    """
    copied = _square(matrix, name)
    wrong = ~(np.isfinite(copied.data) & (copied.data >= 0))
    if wrong.any():
        row, column, value = _entry(copied, wrong)
        raise InvalidInput(f"{name} must be finite and not negative, but {name}[{row}, {column}] is {value:g}")
    copied.eliminate_zeros()
    return copied


def check_laplacian(L: Any) -> Any:
    """``L`` as a new float64 CSR array, once it is known to be a combinatorial Laplacian.

    Raises
    ------
    InvalidInput
        If L is not a square matrix of finite numbers, not symmetric, has a positive entry beside the diagonal or a row
        that does not sum to zero (within 1e-9 of the largest entry), or has no edges.
    """
    matrix = check_self_adjoint(L)
    diagonal = matrix.diagonal()
    if _off_diagonal(matrix).max(initial=0.0) > 0:
        raise InvalidInput("L is not a Laplacian: an entry beside the diagonal is positive; build L with laplacian(W)")
    if np.abs(matrix.sum(axis=1)).max() > _ROW_SUM * max(diagonal.max(initial=0.0), np.finfo(float).tiny):
        raise InvalidInput("L is not a Laplacian: a row does not sum to zero; build L with laplacian(W)")
    if not (diagonal > 0).any():
        raise InvalidInput("the graph has no edges")
    return matrix


def check_self_adjoint(L: Any) -> Any:
    """``L`` as a new float64 CSR array, once it is known to be square, finite and symmetric.

    Raises
    ------
    InvalidInput
        If it is not.
    """
    matrix = _square(L, "L")
    wrong = ~np.isfinite(matrix.data)
    if wrong.any():
        row, column, value = _entry(matrix, wrong)
        raise InvalidInput(f"L must be finite, but L[{row}, {column}] is {value:g}")
    check_symmetric(matrix, "L")
    return matrix


def check_symmetric(matrix: Any, name: str) -> None:
    """Refuse a sparse matrix that is not symmetric.

    Raises
    ------
    InvalidInput
        Naming the two entries that differ most.
    """
    difference = (matrix - matrix.T).tocoo()
    if not difference.nnz:
        return
    size = np.abs(difference.data)
    worst = int(size.argmax())
    if size[worst] > _SYMMETRY * np.abs(matrix.data).max():
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise InvalidInput(
            f"L is not self-adjoint: {name}[{i}, {j}] is {matrix[i, j]:g} but {name}[{j}, {i}] is {matrix[j, i]:g}; "
            "one-way moves are for DiscountedWalk"
        )


def as_laplacian(operator: Any) -> Any:
    """The combinatorial Laplacian, float64 CSR (n, n), of a world, or ``operator`` itself once it is checked.

    Raises
    ------
    InvalidInput
        If the world has one-way doors or no edges, or the matrix is no combinatorial Laplacian.
    """
    return laplacian(operator.W) if isinstance(operator, NavWorld) else check_laplacian(operator)


def check_states(states: ArrayLike, n: int, what: str = "goal") -> Ints:
    """``states`` as int64 (k,), each of them checked to be one of ``n``.

    Raises
    ------
    InvalidInput
        If one is not a whole number or not in 0 … n − 1.
    """
    given = np.atleast_1d(np.asarray(states))
    if given.size == 0:
        return np.empty(0, dtype=np.int64)
    if given.ndim != 1 or not np.issubdtype(given.dtype, np.integer):
        raise InvalidInput(f"{what}s must be whole numbers in one dimension, not {given.dtype} of shape {given.shape}")
    outside = (given < 0) | (given >= n)
    if outside.any():
        raise InvalidInput(f"{what} {given[outside][0]} is not one of the {n} states")
    return given.astype(np.int64)


def can_reach(edges: Any, targets: ArrayLike) -> Bools:
    """bool (n,): whether a path along the stored entries of ``edges``, sparse (n, n), leads to one of ``targets``."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    n = edges.shape[0]
    coo = edges.tocoo()
    targets = np.atleast_1d(np.asarray(targets, dtype=np.int64))
    # Against the edges, from one more state that leads to every target.
    tail = np.concatenate([coo.col, np.full(len(targets), n)])
    head = np.concatenate([coo.row, targets])
    backwards = csr_array((np.ones(len(tail)), (tail, head)), shape=(n + 1, n + 1))
    reached = np.zeros(n + 1, dtype=bool)
    reached[breadth_first_order(backwards, n, directed=True, return_predecessors=False)] = True
    return reached[:n]


def _square(matrix: Any, name: str) -> Any:
    """A canonical CSR copy of a square matrix of real numbers."""
    from scipy.sparse import csr_array, issparse

    given = matrix if issparse(matrix) else np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
        raise InvalidInput(f"{name} must be a square matrix, not of shape {given.shape}")
    if given.dtype.kind not in "buif":
        raise InvalidInput(f"{name} must hold real numbers, not {given.dtype}")
    copied = csr_array(given, dtype=np.float64, copy=True)
    copied.sum_duplicates()
    return copied


def _entry(matrix: Any, chosen: Bools) -> tuple[int, int, float]:
    """Row, column and value of the first stored entry that is chosen."""
    at = int(np.argmax(chosen))
    row = int(np.searchsorted(matrix.indptr, at, side="right")) - 1
    return row, int(matrix.indices[at]), float(matrix.data[at])


def _off_diagonal(matrix: Any) -> NDArray[np.float64]:
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    beside: NDArray[np.float64] = matrix.data[row != matrix.indices]
    return beside
