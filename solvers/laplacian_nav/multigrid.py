"""Algebraic multigrid: conjugate gradients preconditioned by one V-cycle, for graphs whose factors do not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import EngineFailure, MissingDependency

Floats = NDArray[np.float64]


def vcycle(A: Any, needed_by: str) -> Any:
    """A V-cycle on ``A``, CSR (n, n), symmetric positive (semi)definite, as a linear operator.

    Ruge and Stüben's coarsening with symmetric Gauss–Seidel sweeps draws no random number, so that the same matrix
    gives the same cycle; smoothed aggregation estimates spectral radii from random vectors.

    Raises
    ------
    MissingDependency
        If pyamg is not installed.
    """
    try:
        from pyamg import ruge_stuben_solver
    except ModuleNotFoundError as error:
        raise MissingDependency(f"{needed_by} needs pyamg, which is not installed", "nav") from error
    from scipy.sparse import csr_matrix

    return ruge_stuben_solver(csr_matrix(A)).aspreconditioner(cycle="V")


@dataclass(frozen=True)
class Multigrid:
    """A x = b by conjugate gradients; ``cycle`` is set up once for all b.

    Parameters
    ----------
    A : CSR (n, n)
        Symmetric, positive definite; or semidefinite with the constants as its kernel, if ``singular``.
    cycle : LinearOperator
        Of :func:`vcycle`.
    singular : bool
        Whether to keep right side, preconditioner and iterate free of constants, without which the iteration drifts.
    rtol : float
        Largest admissible ‖b − A x‖ / ‖b‖. The iteration itself aims a thousand times lower, because the guarantee of
        ascent needs small residuals where x is small, and the last digits cost a few cycles only.
    max_iterations : int
    """

    A: Any
    cycle: Any
    singular: bool
    rtol: float
    max_iterations: int

    def solve(self, b: Floats) -> Floats:
        """x (n,) for ``b`` (n,).

        Raises
        ------
        EngineFailure
            If the residual, computed anew from x, is above ``rtol``.
        """
        from scipy.sparse.linalg import LinearOperator, cg

        b = self._free_of_constants(b)
        scale = float(np.linalg.norm(b))
        if scale == 0.0:
            return np.zeros_like(b)
        cycle = LinearOperator(
            self.A.shape, matvec=lambda r: self._free_of_constants(self.cycle.matvec(r)), dtype=np.float64
        )
        with np.errstate(all="ignore"):  # a breakdown shows in the residual
            x, _ = cg(self.A, b, rtol=self.rtol / 1000, maxiter=self.max_iterations, M=cycle)
            x = self._free_of_constants(x)
            residual = float(np.linalg.norm(b - self.A @ x)) / scale
        if not residual <= self.rtol:
            raise EngineFailure(
                f"multigrid did not reach its tolerance: after {self.max_iterations} iterations the relative residual "
                f"is {residual:.1e}, not {self.rtol:.0e}; raise max_iterations or use solver='splu'"
            )
        return np.asarray(x, dtype=np.float64)

    def _free_of_constants(self, x: Floats) -> Floats:
        return x - x.mean() if self.singular else x
