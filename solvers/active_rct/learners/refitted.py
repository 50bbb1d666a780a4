"""Learners that are fitted anew to all their rows, once somebody asks after a batch has come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput, as_seed, generator
from scisuite.scenarios.trials import Logged, finite_rows
from scisuite.solvers.active_rct.logistic import Logistic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Fusion = Literal["pooled", "rct_only"]

LEAST_PROPENSITY = 0.05
"""Where the log's policy, which is estimated, is clipped before anything is divided by it (reconstruction)."""


class Rows(NamedTuple):
    """Training rows: covariates float64 (n, d), treatments int64 (n,), outcomes float64 (n,), ``randomised`` bool (n,),
    which says whether ``p`` float64 (n,) is a known probability or, in rows of the log, an estimated one, and ``unit``
    int64 (n,), which a unit keeps when it is resampled."""

    x: Floats
    t: Ints
    y: Floats
    p: Floats
    randomised: NDArray[np.bool_]
    unit: Ints

    def arm(self, treatment: int) -> tuple[Floats, Floats]:
        """Covariates and outcomes of one arm."""
        of_arm = self.t == treatment
        return self.x[of_arm], self.y[of_arm]


class Refitted(ABC):
    """A learner whose draws of τ̂ come from an ensemble that is fitted anew to the log and the batches.

    The draws' mean is the effect and their variance the uncertainty. Until both arms have a unit the effect is 0 and
    the uncertainty 1 everywhere. A fit depends on the batches and the seed, and not on when or how often it was asked
    for.

    Parameters
    ----------
    observational : Logged
        The biased log.
    fusion : {"pooled", "rct_only"}
        Whether its rows are learned from as if they had been randomised (biased, and good where randomised units are
        few), or not at all.
    seed : int

    Raises
    ------
    InvalidInput
        If ``fusion`` is neither or the seed is no seed.
    """

    needs_propensity = False
    """Whether rows of the log need an estimate of their probability of treatment."""
    warm_start = False
    """Whether a fit goes on from the one before the last batch came, which then has to be there."""

    def __init__(self, observational: Logged, *, fusion: Fusion = "pooled", seed: int = 0) -> None:
        if fusion not in ("pooled", "rct_only"):
            raise InvalidInput(f"fusion must be pooled or rct_only, not {fusion!r}")
        self.fusion: Fusion = fusion
        self.seed = as_seed(seed)
        self.n_covariates = observational.x.shape[1]
        self._log = observational if fusion == "pooled" else None
        self._batches: list[Logged] = []
        self._policy: Logistic | None = None
        self._next_fit = 0
        self._fitted = False

    def observe(self, batch: Logged) -> None:
        """Add a randomised batch; its probabilities must be known."""
        if batch.p is None:
            raise InvalidInput("a randomised batch needs its probabilities of treatment")
        if batch.x.shape[1] != self.n_covariates:
            raise InvalidInput(f"the batch has {batch.x.shape[1]} covariates, the log {self.n_covariates}")
        self._batches.append(batch)

    def effect(self, x: Floats) -> Floats:
        """Mean of the draws, float64 (n,)."""
        return np.asarray(self.draws(x).mean(axis=0))

    def uncertainty(self, x: Floats) -> Floats:
        """Variance of the draws, float64 (n,)."""
        draws = self.draws(x)
        return np.asarray(draws.var(axis=0)) if self._fitted else np.ones(draws.shape[1])

    def draws(self, x: Floats) -> Floats:
        """τ̂ of each of k members of the ensemble, float64 (k, n); one row of zeros while an arm is empty."""
        rows = finite_rows("x", x)
        if rows.shape[1] != self.n_covariates:
            raise InvalidInput(f"x has {rows.shape[1]} covariates, the log {self.n_covariates}")
        last = len(self._batches)
        for n_batches in range(self._next_fit if self.warm_start else max(self._next_fit, last), last + 1):
            training = self._rows(n_batches)
            if 0 < training.t.sum() < len(training.t):
                self._fit(training, generator(self.seed, type(self).__name__, n_batches))
                self._fitted = True
        self._next_fit = last + 1
        return self._draws(rows) if self._fitted else np.zeros((1, len(rows)))

    @abstractmethod
    def _fit(self, rows: Rows, rng: np.random.Generator) -> None:
        """Fit to rows of both arms."""

    @abstractmethod
    def _draws(self, x: Floats) -> Floats:
        """As :meth:`draws`, once fitted."""

    def _rows(self, n_batches: int) -> Rows:
        parts = [self._log] if self._log is not None else []
        parts += self._batches[:n_batches]
        if not parts:
            nothing, no_unit = np.zeros(0), np.zeros(0, dtype=np.int64)
            return Rows(np.zeros((0, self.n_covariates)), no_unit, nothing, nothing, nothing == 1, no_unit)
        return Rows(
            np.concatenate([part.x for part in parts]),
            np.concatenate([part.t for part in parts]),
            np.concatenate([part.y for part in parts]),
            np.concatenate([self._policy_at(part.x) if part.p is None else part.p for part in parts]),
            np.concatenate([np.full(len(part), part is not self._log) for part in parts]),
            np.arange(sum(len(part) for part in parts)),
        )

    def _policy_at(self, x: Floats) -> Floats:
        """The historical policy's probability of treatment, clipped; ½ where no learner asks for it."""
        if not self.needs_propensity or self._log is None or len(set(self._log.t.tolist())) < 2:
            return np.full(len(x), 0.5)
        if self._policy is None:
            self._policy = Logistic().fit(self._log.x, self._log.t)
        return np.clip(self._policy.predict_proba(x)[:, 1], LEAST_PROPENSITY, 1 - LEAST_PROPENSITY)
