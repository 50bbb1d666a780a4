"""What LABO is compared with: Bayesian optimisation on the real data alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from botorch.acquisition.analytic import ExpectedImprovement, LogExpectedImprovement
from botorch.exceptions.warnings import NumericsWarning
from numpy.typing import NDArray

from scisuite.core import Space
from scisuite.solvers.labo.acquisition import maximise
from scisuite.solvers.labo.labo import LABO
from scisuite.solvers.labo.oracles import LLMOracle
from scisuite.solvers.labo.records import Candidate
from scisuite.solvers.labo.surrogate import KOHSurrogate

Array = NDArray[np.float64]


class VanillaUCB(LABO):
    """Upper confidence bound on a GP of the real data: LABO's own class, batch rule and grid, without its cheap source.

    The language model is asked nothing beyond the start: with ``starts="llm"`` the first real runs are its proposals,
    which makes the fair baseline.
    """

    uses_llm = False

    def _fit(self) -> KOHSurrogate:
        return self._real_surrogate()

    def _choose(self, q: int) -> list[Candidate]:
        return [Candidate(c.encoded, c.index, ask_llm=False, run_real=True) for c in super()._choose(q)]


class VanillaEI(VanillaUCB):
    """Expected improvement on the same GP, by botorch, one point at a time, so that it sees every result first.

    Parameters
    ----------
    log : bool
        Whether to maximise its logarithm, which stays informative where the improvement underflows.
    """

    def __init__(self, space: Space, oracle: LLMOracle | None = None, *, log: bool = False, **options: Any) -> None:
        self.log = log
        super().__init__(space, oracle, **options)

    def _select(self, q: int) -> tuple[Array, list[int | None]]:
        gp = self.surrogate.gp_discrepancy
        kind = LogExpectedImprovement if self.log else ExpectedImprovement
        x, y = self.real_data()
        best = (y.max() - self.surrogate.mean_real) / gp.scale
        with warnings.catch_warnings():
            # botorch advises the logarithm; both are arms here.
            warnings.simplefilter("ignore", NumericsWarning)
            improvement = kind(gp.to_botorch(), best_f=best)
        if self.pool is None:
            near = x[np.argsort(-y, kind="stable")[:5]]
            row = maximise(
                self.space, lambda t: improvement(t.unsqueeze(1)), near, self._excluded, self.rng("candidates")
            )
            return (np.empty((0, self.space.d)), []) if row is None else (row[None], [None])
        available = self.available_rows()
        if not len(available):
            return np.empty((0, self.space.d)), []
        rows = self.pool[available]
        chosen = int(available[int(improvement_over(improvement, rows).argmax())])
        return self.pool[[chosen]], [chosen]

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "log": self.log}


def improvement_over(acquisition: Any, rows: Array) -> Array:
    """Values (n,) of a botorch acquisition function at single points (n, d)."""
    import torch

    with torch.no_grad():
        return np.asarray(acquisition(torch.from_numpy(rows).unsqueeze(1)))
