"""What LABO is compared with: Bayesian optimisation on real data alone, and chance."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import torch
from botorch.acquisition.analytic import ExpectedImprovement, LogExpectedImprovement
from numpy.typing import NDArray

from scisuite.core import InvalidInput, Space
from scisuite.solvers.labo.acquisition import maximise_ucb
from scisuite.solvers.labo.campaign import Campaign, Candidate, PoolExhausted
from scisuite.solvers.labo.labo import LABO
from scisuite.solvers.labo.oracles import LLMOracle
from scisuite.solvers.labo.surrogate import KOHSurrogate

Array = NDArray[np.float64]


class VanillaUCB(LABO):
    """Upper confidence bound on a GP of the real data: LABO's own class, batch rule and grid without its cheap source.

    The language model is asked nothing after the start; with ``starts="llm"`` the starting points are its proposals,
    which makes the fair baseline.
    """

    uses_llm = False

    def _fit(self) -> KOHSurrogate:
        return self._real_surrogate()

    def _choose(self, q: int) -> list[Candidate]:
        candidates = super()._choose(q)
        return [Candidate(c.encoded, c.index, ask_llm=False, run_real=True) for c in candidates]


class VanillaEI(VanillaUCB):
    """Expected improvement, or its logarithm, on the same GP, one point at a time.

    Parameters
    ----------
    log : bool
        Whether to use botorch's numerically stable ``LogExpectedImprovement``.
    """
