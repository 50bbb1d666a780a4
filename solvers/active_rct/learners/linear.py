"""The linear learner: Algorithm 2 with nuisances that were fixed before the outcomes they correct."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.linear import LinearCATE

Floats = NDArray[np.float64]
Nuisance = Literal["none", "obs", "past"]

TINY_RIDGE = 1e-6


class LinearLearner:
    """τ(x) = ⟨θ, φ(x)⟩ from randomised units alone; the log enters through the nuisances only.

    Parameters
    ----------
    observational : Logged
        The biased log.
    nuisance : {"none", "obs", "past"}
        Outcome models of the augmented pseudo-outcome: none (inverse propensity weighting), least squares by arm on the
        log, or on the batches before the one that they correct.
    lam : float
        Ridge λ > 0.
    intercept : bool
        Whether φ(x) = (1, x) and not x.

    Raises
    ------
    InvalidInput
        If an argument is none of these, or an arm of the log is empty where the log's outcomes are needed.
    """

    def __init__(
        self, observational: Logged, *, nuisance: Nuisance = "obs", lam: float = 1.0, intercept: bool = False
    ) -> None:
        if nuisance not in ("none", "obs", "past"):
            raise InvalidInput(f"nuisance must be none, obs or past, not {nuisance!r}")
        self.nuisance: Nuisance = nuisance
        self.intercept = bool(intercept)
        self.cate = LinearCATE(lam)
        self.n_covariates = observational.x.shape[1]
        self._width = self.n_covariates + self.intercept
        self.arms = [_LeastSquares(self._width) for _ in range(2)]
        if nuisance == "obs":
            for arm in (0, 1):
                if not np.any(observational.t == arm):
                    raise InvalidInput(f"the log has no {('untreated', 'treated')[arm]} unit to learn outcomes from")
            self.learn_outcomes(observational)

    def basis(self, x: Floats) -> Floats:
        """φ(x), float64 (n, d) or (n, d + 1)."""
        rows = np.asarray(x, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_covariates:
            raise InvalidInput(f"covariates must be of shape (n, {self.n_covariates}), as the log's, not {rows.shape}")
        return np.column_stack([np.ones(len(rows)), rows]) if self.intercept else rows

    def observe(self, batch: Logged) -> None:
        """Add a randomised batch; its probabilities must be known. Intervals keep its groups together."""
        if batch.p is None:
            raise InvalidInput("a randomised batch needs its probabilities of treatment")
        phi = self.basis(batch.x)
        if self.nuisance == "none":
            self.cate.partial_fit(phi, batch.t, batch.y, batch.p, group=batch.group)
            return
        mu0, mu1 = (arm.predict(phi) for arm in self.arms)
        self.cate.partial_fit(phi, batch.t, batch.y, batch.p, mu0, mu1, group=batch.group)
        if self.nuisance == "past":
            self.learn_outcomes(batch)

    def effect(self, x: Floats) -> Floats:
        """⟨θ̂, φ(x)⟩, float64 (n,)."""
        phi = self.basis(x)
        return self.cate.effect(phi) if self.cate.n else np.zeros(len(phi))

    def uncertainty(self, x: Floats) -> Floats:
        """Leverage φᵀ V_λ⁻¹ φ, float64 (n,)."""
        phi = self.basis(x)
        if self.cate.n:
            return self.cate.leverage(phi)
        return np.asarray(np.einsum("ij,ij->i", phi, phi) / self.cate.lam)

    def outcomes(self, x: Floats) -> tuple[Floats, Floats]:
        """Predicted outcomes untreated and treated, float64 (n,) each."""
        phi = self.basis(x)
        untreated, treated = (arm.predict(phi) for arm in self.arms)
        return untreated, treated

    def learn_outcomes(self, rows: Logged) -> None:
        """Add units to the arms' regressions."""
        phi = self.basis(rows.x)
        for arm, model in enumerate(self.arms):
            model.add(phi[rows.t == arm], rows.y[rows.t == arm])


class PooledLinear:
    """Least squares by arm on the log and, unless ``log_alone``, the randomised units: the difference is the effect.

    Biased by the log's confounding, and therefore without intervals: an arm to compare with.

    Raises
    ------
    InvalidInput
        If an arm of the log is empty.
    """

    def __init__(self, observational: Logged, *, intercept: bool = False, log_alone: bool = False) -> None:
        self._learner = LinearLearner(observational, nuisance="obs", intercept=intercept)
        self.n_covariates = self._learner.n_covariates
        self.log_alone = bool(log_alone)

    def observe(self, batch: Logged) -> None:
        """Add the batch, unless the log is to speak alone."""
        if not self.log_alone:
            self._learner.learn_outcomes(batch)

    def effect(self, x: Floats) -> Floats:
        """Difference of the arms' predictions, float64 (n,)."""
        untreated, treated = self._learner.outcomes(x)
        return np.asarray(treated - untreated)

    def uncertainty(self, x: Floats) -> Floats:
        """Sum of the arms' leverages, float64 (n,)."""
        phi = self._learner.basis(x)
        return np.asarray(sum(arm.leverage(phi) for arm in self._learner.arms))


class _LeastSquares:
    """Least squares that grows, with a ridge just large enough to invert."""

    def __init__(self, width: int) -> None:
        self._gram = TINY_RIDGE * np.eye(width)
        self._moment = np.zeros(width)

    def add(self, phi: Floats, y: Floats) -> None:
        self._gram = self._gram + phi.T @ phi
        self._moment = self._moment + phi.T @ y

    def predict(self, phi: Floats) -> Floats:
        return np.asarray(phi @ np.linalg.solve(self._gram, self._moment))

    def leverage(self, phi: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", phi, np.linalg.solve(self._gram, phi.T).T))
