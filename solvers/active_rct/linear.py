"""A linear model of the treatment effect from randomised units, with intervals that survive adaptive sampling."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmm

from scisuite.core import InvalidInput, NotFitted
from scisuite.scenarios.trials import finite_column, finite_rows
from scisuite.solvers.active_rct.pseudo import pseudo_outcome

Floats = NDArray[np.float64]
Kind = Literal["wald", "selfnorm", "qv"]


class LinearCATE:
    """Ridge regression of pseudo-outcomes on a basis φ (Algorithm 2): τ(x) = ⟨θ, φ(x)⟩.

    V_λ = λI + Σ φφᵀ and θ̂ = V_λ⁻¹ Σ φ Ỹ. Batches are added in O(d²) a unit by Woodbury's identity; a batch is scored by
    the θ̂ of those before it, so that its residuals are predictable.

    Parameters
    ----------
    lam : float
        Ridge λ > 0; 1 by default (reconstruction). It shrinks θ̂: for bias and coverage take 1e-6.

    Attributes
    ----------
    theta : float64 (d,)
    V : float64 (d, d)
        V_λ.
    V_inverse : float64 (d, d)
    n : int
        Units seen.

    Raises
    ------
    InvalidInput
        If λ is not above zero and finite.

    Examples
    --------
    >>> model = LinearCATE(1e-6).fit([[1.0], [1.0]], [1, 0], [1.0, 0.0], 0.5)
    >>> model.theta.round(4)
    array([1.])
    """

    def __init__(self, lam: float = 1.0) -> None:
        if isinstance(lam, bool) or not isinstance(lam, int | float) or not 0 < lam < math.inf:
            raise InvalidInput(f"lam must be a finite number above zero, not {lam!r}")
        self.lam = float(lam)
        self._phi: list[Floats] = []
        self._pseudo: list[Floats] = []
        self._predictable: list[Floats] = []
        self.V: Floats = np.zeros((0, 0))
        self.V_inverse: Floats = np.zeros((0, 0))
        self.theta = np.zeros(0)
        self._moment = np.zeros(0)
        self._root: Floats | None = None

    @property
    def n(self) -> int:
        """Units seen."""
        return sum(len(batch) for batch in self._pseudo)

    def fit(
        self,
        phi: ArrayLike,
        t: ArrayLike,
        y: ArrayLike,
        p: ArrayLike,
        mu0: ArrayLike | None = None,
        mu1: ArrayLike | None = None,
    ) -> Self:
        """Forget what was seen and fit to these units; see :meth:`partial_fit`."""
        rows, pseudo = _rows(phi), pseudo_outcome(t, y, p, mu0, mu1)
        _require_lengths(rows, pseudo)
        self.__init__(self.lam)  # type: ignore[misc]
        return self.add(rows, pseudo)

    def partial_fit(
        self,
        phi: ArrayLike,
        t: ArrayLike,
        y: ArrayLike,
        p: ArrayLike,
        mu0: ArrayLike | None = None,
        mu1: ArrayLike | None = None,
    ) -> Self:
        """Add a batch.

        Parameters
        ----------
        phi : float (m, d)
            Basis of each unit.
        t, y, p, mu0, mu1
            As in :func:`~scisuite.solvers.active_rct.pseudo.pseudo_outcome`.

        Raises
        ------
        InvalidInput
            If shapes do not agree or a number is not what it has to be. Nothing has changed then.
        """
        return self.add(phi, pseudo_outcome(t, y, p, mu0, mu1))

    def add(self, phi: ArrayLike, pseudo: ArrayLike) -> Self:
        """Add a batch of pseudo-outcomes (m,) that have been worked out already."""
        rows, values = _rows(phi), finite_column("pseudo", pseudo)
        _require_lengths(rows, values)
        d = rows.shape[1]
        if not self._phi:
            self.V, self.V_inverse = self.lam * np.eye(d), np.eye(d) / self.lam
            self.theta, self._moment = np.zeros(d), np.zeros(d)
        elif d != len(self.theta):
            raise InvalidInput(f"phi has {d} columns, the batches before had {len(self.theta)}")
        self._predictable.append(values - rows @ self.theta)
        self._phi.append(rows)
        self._pseudo.append(values)
        self.V = self.V + rows.T @ rows
        self._root = None
        if len(rows) < d:
            half = self.V_inverse @ rows.T
            inner = np.eye(len(rows)) + rows @ half
            self.V_inverse = self.V_inverse - half @ np.linalg.solve(inner, half.T)
            self.V_inverse = (self.V_inverse + self.V_inverse.T) / 2
        else:
            # A batch of more units than dimensions: inverting anew costs less and rounds less.
            self.V_inverse = np.asarray(np.linalg.inv(self.V))
        self._moment = self._moment + rows.T @ values
        self.theta = self.V_inverse @ self._moment
        return self

    def effect(self, phi: ArrayLike) -> Floats:
        """⟨θ̂, φ⟩, float64 (m,), for φ (m, d).

        Raises
        ------
        NotFitted
            Before any batch.
        InvalidInput
            If φ has another shape or a number is not finite.
        """
        return self._basis(phi) @ self.theta

    def leverage(self, phi: ArrayLike) -> Floats:
        """φᵀ V_λ⁻¹ φ, float64 (m,): the linear form of the uncertainty v."""
        rows = self._basis(phi)
        if self._root is None:
            factor = np.linalg.cholesky(self.V)
            self._root = np.asfortranarray(solve_triangular(factor, np.eye(len(factor)), lower=True))
        # The product of a triangle costs half of one with V_λ⁻¹, which counts for pools of a million.
        root = dtrmm(1.0, self._root, rows.T, lower=1)
        return np.asarray(np.einsum("ij,ij->j", root, root))

    def cov(self, kind: Literal["sandwich", "qv"] = "sandwich") -> Floats:
        """Covariance of θ̂, float64 (d, d): V⁻¹ (Σ r² φφᵀ) V⁻¹ with V = Σ φφᵀ and r = Ỹ − ⟨θ̂, φ⟩.

        ``"qv"`` (reconstruction) takes each unit's residual under the θ̂ of the batches before its own, which makes the
        sum the quadratic variation of a martingale. Where V is singular λ/10⁶ is added to its diagonal.
        """
        if kind not in ("sandwich", "qv"):
            raise InvalidInput(f"kind must be sandwich or qv, not {kind!r}")
        self._require_fitted()
        phi = np.concatenate(self._phi)
        fitted = np.concatenate(self._pseudo) - phi @ self.theta
        residual = fitted if kind == "sandwich" else np.concatenate(self._predictable)
        gram = self.V - self.lam * np.eye(len(self.theta))
        if np.linalg.matrix_rank(gram, hermitian=True) < len(gram):
            gram = gram + self.lam * 1e-6 * np.eye(len(gram))
        bread = np.linalg.inv(gram)
        # As a square, so that rounding leaves no negative variance where V is nearly singular.
        root = (phi * residual[:, None]) @ bread
        return np.asarray(root.T @ root)

    def interval(
        self, phi: ArrayLike, level: float = 0.95, kind: Kind = "wald", *, sigma: float | None = None, S: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Bounds of the effect at φ (m, d).

        ``"wald"`` is normal with the sandwich covariance: right for designs that settle, wrong for greedy ones.
        ``"selfnorm"`` holds for any adaptive design with probability ≥ level, at all times together: half-width
        √(φᵀV_λ⁻¹φ) · (σ √(2 ln(det(V_λ)^½ / (det(λI)^½ δ))) + √λ S), δ = 1 − level. It is very wide. ``"qv"``
        (reconstruction) is normal with the quadratic variation of predictable residuals.

        Parameters
        ----------
        phi : float (m, d)
        level : float
            In (0, 1).
        kind : {"wald", "selfnorm", "qv"}
        sigma : float
            Sub-Gaussian scale of Ỹ, for ``"selfnorm"``: 2 max(1/p_min, 1/(1 − p_max)) is safe for outcomes in [−1, 1].
        S : float
            Bound on ‖θ‖, for ``"selfnorm"``.

        Returns
        -------
        low, high : float64 (m,)

        Raises
        ------
        NotFitted
            Before any batch.
        InvalidInput
            If an argument is out of range, or ``sigma`` is missing where it is needed.
        """
        if not (isinstance(level, int | float) and 0 < level < 1):
            raise InvalidInput(f"level must be in (0, 1), not {level!r}")
        centre = self.effect(phi)
        rows = self._basis(phi)
        if kind == "selfnorm":
            half = self.radius(1 - level, sigma, S) * np.sqrt(self.leverage(rows))
        elif kind in ("wald", "qv"):
            cov = self.cov("sandwich" if kind == "wald" else "qv")
            half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(np.einsum("ij,ij->i", rows @ cov, rows))
        else:
            raise InvalidInput(f"kind must be wald, selfnorm or qv, not {kind!r}")
        return centre - half, centre + half

    def radius(self, delta: float, sigma: float | None, S: float = 1.0) -> float:
        """The bound on ‖θ̂ − θ‖ in V_λ's norm that fails with probability ≤ ``delta`` (self-normalised martingales)."""
        self._require_fitted()
        for name, value in (("sigma", sigma), ("S", S)):
            if value is None or not (isinstance(value, int | float) and 0 < value < math.inf):
                raise InvalidInput(f"the self-normalised interval needs {name} above zero, not {value!r}")
        assert sigma is not None
        growth = np.linalg.slogdet(self.V)[1] - len(self.theta) * math.log(self.lam)
        return float(sigma * math.sqrt(growth - 2 * math.log(delta)) + math.sqrt(self.lam) * S)

    def _basis(self, phi: ArrayLike) -> Floats:
        self._require_fitted()
        rows = _rows(phi)
        if rows.shape[1] != len(self.theta):
            raise InvalidInput(f"phi has {rows.shape[1]} columns, the model was fitted to {len(self.theta)}")
        return rows

    def _require_fitted(self) -> None:
        if not self._phi:
            raise NotFitted("LinearCATE has seen no units yet; call fit or partial_fit first")


def _rows(phi: ArrayLike) -> Floats:
    return finite_rows("phi", phi)


def _require_lengths(rows: Floats, values: Floats) -> None:
    if len(rows) != len(values):
        raise InvalidInput(f"phi has {len(rows)} rows for {len(values)} outcomes")
    if not len(rows):
        raise InvalidInput("a batch has at least one unit")
