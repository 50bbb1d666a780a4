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
from scisuite.scenarios.trials import finite_column, finite_rows, group_labels
from scisuite.solvers.active_rct.pseudo import pseudo_outcome
from scisuite.solvers.active_rct.sandwich import Sandwich
from scisuite.solvers.active_rct.triangle import with_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Kind = Literal["wald", "selfnorm", "qv"]

_NUMBER = int | float | np.integer | np.floating


class LinearCATE:
    """Ridge regression of pseudo-outcomes on a basis φ (Algorithm 2): τ(x) = ⟨θ, φ(x)⟩.

    V_λ = λI + Σ φφᵀ and θ̂ = V_λ⁻¹ Σ φ Ỹ. Batches are added in O(d²) a unit to a triangular R with RᵀR = V_λ, by
    Householder reflections: the inverse that Woodbury's identity would carry on loses its digits where covariates are
    badly scaled. A batch is scored by the θ̂ of those before it, so that its residuals are predictable.

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
        V_λ⁻¹, in O(d³) when it is first asked for after a batch.
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
        if isinstance(lam, bool) or not isinstance(lam, _NUMBER) or not 0 < lam < math.inf:
            raise InvalidInput(f"lam must be a finite number above zero, not {lam!r}")
        self.lam = float(lam)
        self._phi: list[Floats] = []
        self._pseudo: list[Floats] = []
        self._predictable: list[Floats] = []
        self._group: list[Ints | None] = []
        self.V: Floats = np.zeros((0, 0))
        self.theta = np.zeros(0)
        self._factor: Floats = np.zeros((0, 0))
        self._root: Floats | None = None

    @property
    def n(self) -> int:
        """Units seen."""
        return sum(len(batch) for batch in self._pseudo)

    @property
    def V_inverse(self) -> Floats:
        """V_λ⁻¹, float64 (d, d)."""
        root = self._inverse_root()
        return np.asarray(root.T @ root)

    def fit(
        self,
        phi: ArrayLike,
        t: ArrayLike,
        y: ArrayLike,
        p: ArrayLike,
        mu0: ArrayLike | None = None,
        mu1: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> Self:
        """Forget what was seen and fit to these units; see :meth:`partial_fit`."""
        batch = _batch(phi, pseudo_outcome(t, y, p, mu0, mu1), group)
        self.__init__(self.lam)  # type: ignore[misc]
        return self.add(*batch)

    def partial_fit(
        self,
        phi: ArrayLike,
        t: ArrayLike,
        y: ArrayLike,
        p: ArrayLike,
        mu0: ArrayLike | None = None,
        mu1: ArrayLike | None = None,
        *,
        group: ArrayLike | None = None,
    ) -> Self:
        """Add a batch.

        Parameters
        ----------
        phi : float (m, d)
            Basis of each unit.
        t, y, p, mu0, mu1
            As in :func:`~scisuite.solvers.active_rct.pseudo.pseudo_outcome`.
        group : int (m,) or None
            What was randomised together, such as a household, by labels that mean the same in every batch. By default
            every unit was alone. Batches are then to hold whole groups: once a member has been seen, p no longer is
            the probability of the others.

        Raises
        ------
        InvalidInput
            If shapes do not agree or a number is not what it has to be. Nothing has changed then.
        """
        return self.add(phi, pseudo_outcome(t, y, p, mu0, mu1), group)

    def add(self, phi: ArrayLike, pseudo: ArrayLike, group: ArrayLike | None = None) -> Self:
        """Add a batch of pseudo-outcomes (m,) that have been worked out already."""
        rows, values, labels = _batch(phi, pseudo, group)
        d = rows.shape[1]
        if not self._phi:
            self.V, self.theta = self.lam * np.eye(d), np.zeros(d)
            self._factor = np.diag(np.append(np.full(d, math.sqrt(self.lam)), 0.0))
        elif d != len(self.theta):
            raise InvalidInput(f"phi has {d} columns, the batches before had {len(self.theta)}")
        self._predictable.append(values - rows @ self.theta)
        self._phi.append(rows)
        self._pseudo.append(values)
        self._group.append(labels)
        self.V = self.V + rows.T @ rows
        self._root = None
        # The last column is that of the outcomes: what the reflections leave of it is Rθ̂.
        self._factor = with_rows(self._factor, np.column_stack([rows, values]))
        self.theta = np.asarray(solve_triangular(self._factor[:d, :d], self._factor[:d, d]))
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
        # The product of a triangle costs half of one with V_λ⁻¹, which counts for pools of a million.
        root = dtrmm(1.0, self._inverse_root(), rows.T, lower=1)
        return np.asarray(np.einsum("ij,ij->j", root, root))

    def cov(self, kind: Literal["sandwich", "qv"] = "sandwich") -> Floats:
        """Covariance of θ̂, float64 (d, d): G⁺ (Σ r² φφᵀ) G⁺ with G = Σ φφᵀ and r = Ỹ − ⟨θ̂, φ⟩ (HC0).

        Of units that were randomised together r φ is summed within the group before it is squared. ``"qv"``
        (reconstruction) takes each unit's residual under the θ̂ of the batches before its own, which makes the sum the
        quadratic variation of a martingale, if units were randomised one by one.

        A coefficient of which nothing can be said has an infinite variance, and NaN for its covariances: one that the
        units do not determine, or that a single unit (or group) determines; all of them where there are no more units
        (or groups) than G has rank. Combinations of such coefficients may be determined all the same: see
        :meth:`interval`.

        Raises
        ------
        NotFitted
            Before any batch.
        InvalidInput
            If there is no such kind, or a group holds several units and the kind is ``"qv"``.
        """
        return self._sandwich(kind).covariance()

    def interval(
        self, phi: ArrayLike, level: float = 0.95, kind: Kind = "wald", *, sigma: float | None = None, S: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Bounds of the effect at φ (m, d).

        ``"wald"`` is normal with the sandwich covariance: right for designs that settle, wrong for greedy ones.
        ``"qv"`` (reconstruction) is normal with the quadratic variation of predictable residuals. Both are infinite
        where the units say nothing: where φ has a part that no unit had, such as a segment that nobody was of; where
        it leans on a unit (or group) that alone determines a direction, for one outcome does not show how much it
        varies; and everywhere while there are no more units (or groups) than Σ φφᵀ has rank.

        ``"selfnorm"`` holds for any adaptive design with probability ≥ level, at all times together: half-width
        √(φᵀV_λ⁻¹φ) · (σ √(2 ln(det(V_λ)^½ / (det(λI)^½ δ))) + √λ S), δ = 1 − level. It is very wide.

        ``"qv"`` and ``"selfnorm"`` rest on units that are randomised one by one, and are refused where a group holds
        several; ``"wald"`` sums scores within groups.

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
            If an argument is out of range, ``sigma`` is missing where it is needed, or a group holds several units and
            the kind is ``"qv"`` or ``"selfnorm"``.
        """
        if not (isinstance(level, _NUMBER) and 0 < level < 1):
            raise InvalidInput(f"level must be in (0, 1), not {level!r}")
        centre = self.effect(phi)
        rows = self._basis(phi)
        if kind == "selfnorm":
            half = self.radius(1 - level, sigma, S) * np.sqrt(self.leverage(rows))
        elif kind in ("wald", "qv"):
            variance = self._sandwich("sandwich" if kind == "wald" else "qv").variance(rows)
            half = NormalDist().inv_cdf((1 + level) / 2) * np.sqrt(variance)
        else:
            raise InvalidInput(f"kind must be wald, selfnorm or qv, not {kind!r}")
        return centre - half, centre + half

    def radius(self, delta: float, sigma: float | None, S: float = 1.0) -> float:
        """The bound on ‖θ̂ − θ‖ in V_λ's norm that fails with probability ≤ ``delta`` (self-normalised martingales)."""
        self._require_fitted()
        for name, value in (("sigma", sigma), ("S", S)):
            if value is None or not (isinstance(value, _NUMBER) and 0 < value < math.inf):
                raise InvalidInput(f"the self-normalised interval needs {name} above zero, not {value!r}")
        assert sigma is not None
        self._require_one_by_one("selfnorm")
        d = len(self.theta)
        growth = 2 * np.log(np.abs(np.diag(self._factor)[:d])).sum() - d * math.log(self.lam)
        return float(sigma * math.sqrt(growth - 2 * math.log(delta)) + math.sqrt(self.lam) * S)

    def _sandwich(self, kind: Literal["sandwich", "qv"]) -> Sandwich:
        if kind not in ("sandwich", "qv"):
            raise InvalidInput(f"kind must be sandwich or qv, not {kind!r}")
        self._require_fitted()
        if kind == "qv":
            self._require_one_by_one(kind)
        phi = np.concatenate(self._phi)
        if kind == "sandwich":
            residual = np.concatenate(self._pseudo) - phi @ self.theta
        else:
            residual = np.concatenate(self._predictable)
        return Sandwich(phi, residual, self._groups()[0])

    def _inverse_root(self) -> Floats:
        """R⁻ᵀ, whose square is V_λ⁻¹."""
        if self._root is None:
            d = len(self.theta)
            self._root = np.asfortranarray(solve_triangular(self._factor[:d, :d].T, np.eye(d), lower=True))
        return self._root

    def _groups(self) -> tuple[Ints | None, Ints]:
        """Number of each unit's group from 0, ``None`` if all are alone, and the labels that were given."""
        given = [labels for labels in self._group if labels is not None]
        if not given:
            return None, np.zeros(0, dtype=np.int64)
        labels, number = np.unique(np.concatenate(given), return_inverse=True)
        if len(labels) == len(number):
            return None, labels
        found = np.full(self.n, -1)
        labelled = np.concatenate(
            [np.full(len(batch), of is not None) for batch, of in zip(self._pseudo, self._group, strict=True)]
        )
        found[labelled] = number
        found[~labelled] = len(labels) + np.arange(int((~labelled).sum()))
        return found, labels

    def _require_one_by_one(self, kind: str) -> None:
        number, labels = self._groups()
        if number is not None:
            counts = np.bincount(number)
            largest = int(counts.argmax())
            raise InvalidInput(
                f"the {kind} interval needs units that are randomised one by one: "
                f"group {labels[largest]} holds {counts[largest]}"
            )

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


def _batch(phi: ArrayLike, pseudo: ArrayLike, group: ArrayLike | None) -> tuple[Floats, Floats, Ints | None]:
    rows, values = _rows(phi), finite_column("pseudo", pseudo)
    if len(rows) != len(values):
        raise InvalidInput(f"phi has {len(rows)} rows for {len(values)} outcomes")
    if not len(rows):
        raise InvalidInput("a batch has at least one unit")
    # Copies: they are kept, and the caller may write to its own.
    return np.array(rows), np.array(values), None if group is None else group_labels(group, len(rows))
