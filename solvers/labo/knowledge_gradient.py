"""The peer: botorch's multi-fidelity knowledge gradient, with the language model as the low fidelity."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from botorch.acquisition import PosteriorMean
from botorch.acquisition.cost_aware import InverseCostWeightedUtility
from botorch.acquisition.fixed_feature import FixedFeatureAcquisitionFunction
from botorch.acquisition.knowledge_gradient import qMultiFidelityKnowledgeGradient
from botorch.acquisition.utils import project_to_target_fidelity
from botorch.exceptions.warnings import BotorchWarning
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskMultiFidelityGP
from botorch.models.cost import AffineFidelityCostModel
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf, optimize_acqf_mixed
from botorch.utils.sampling import manual_seed
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.warnings import NumericalWarning
from numpy.typing import NDArray

from scisuite.core import InvalidInput, Space
from scisuite.solvers.labo.campaign import Campaign
from scisuite.solvers.labo.oracles import LLMOracle
from scisuite.solvers.labo.records import Candidate

Array = NDArray[np.float64]


class MultiFidelityKG(Campaign):
    """``SingleTaskMultiFidelityGP`` and ``qMultiFidelityKnowledgeGradient`` from botorch, as in its tutorial.

    The last column of the inputs is the fidelity, 0 for the language model and 1 for the real thing. Each step fits
    the model by gradient, maximises the cost-aware knowledge gradient over both fidelities (16 fantasies, 2 restarts,
    32 raw samples, 50 iterations) and asks the source it chose, one point at a time. In a pool the continuous optimum
    is moved to the nearest free row. Once the language model's queries are spent, or it has been asked about
    every row, only real runs are considered: the knowledge gradient is known to stay at the cheap fidelity.

    Parameters
    ----------
    cost_real, cost_llm : float
        What the acquisition function divides its gain by.
    n_fantasies, n_restarts, n_raw, n_iterations : int
        Effort of the optimiser; botorch's own limit of 200 iterations takes three times as long.
    """

    def __init__(
        self,
        space: Space,
        oracle: LLMOracle | None = None,
        *,
        cost_real: float = 1.0,
        cost_llm: float = 0.05,
        n_fantasies: int = 16,
        n_restarts: int = 2,
        n_raw: int = 32,
        n_iterations: int = 50,
        **campaign: Any,
    ) -> None:
        if not 0 < cost_llm <= cost_real:
            raise InvalidInput(f"0 < cost_llm <= cost_real is needed, not {cost_llm} and {cost_real}")
        self.cost_real, self.cost_llm = float(cost_real), float(cost_llm)
        self.effort = (int(n_fantasies), int(n_restarts), int(n_raw), int(n_iterations))
        super().__init__(space, oracle, **campaign)

    def _choose(self, q: int) -> list[Candidate]:
        seed = int(self.rng("knowledge gradient").integers(2**31))
        # botorch draws restarts and fantasies from torch's global generator; this puts it back afterwards.
        spent = self.n_llm >= self.max_llm or self._everything_asked()
        with manual_seed(seed), warnings.catch_warnings():
            for kind in (BotorchWarning, NumericalWarning, RuntimeWarning):
                warnings.simplefilter("ignore", kind)
            point, fidelity = self._maximise_gain(self._fit(), (1.0,) if spent else (0.0, 1.0))
        run = fidelity > 0.5
        chosen = self._nearest_free(point, real=run)
        if chosen is None:
            return []
        row, index = chosen
        return [Candidate(row, index, ask_llm=not run, run_real=run)]

    def _fit(self) -> SingleTaskMultiFidelityGP:
        x_llm, y_llm = self.llm_data()
        x_real, y_real = self.real_data()
        x = np.concatenate([np.c_[x_llm, np.zeros(len(x_llm))], np.c_[x_real, np.ones(len(x_real))]])
        y = np.concatenate([y_llm, y_real])[:, None]
        model = SingleTaskMultiFidelityGP(
            torch.from_numpy(x), torch.from_numpy(y), data_fidelities=[self.space.d], outcome_transform=Standardize(m=1)
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return model

    def _maximise_gain(self, model: SingleTaskMultiFidelityGP, fidelities: tuple[float, ...]) -> tuple[Array, float]:
        d = self.space.d
        fantasies, restarts, raw, iterations = self.effort
        bounds = torch.tensor([[0.0] * (d + 1), [1.0] * (d + 1)], dtype=torch.float64)
        constraints = None
        if self.space.simplex:
            constraints = [(torch.arange(d), torch.ones(d, dtype=torch.float64), 1.0)]
        at_target = FixedFeatureAcquisitionFunction(PosteriorMean(model), d=d + 1, columns=[d], values=[1.0])
        _, current = optimize_acqf(
            at_target, bounds[:, :d], q=1, num_restarts=restarts, raw_samples=raw, equality_constraints=constraints
        )
        cost = AffineFidelityCostModel(
            fidelity_weights={d: self.cost_real - self.cost_llm}, fixed_cost=self.cost_llm
        ).to(torch.float64)
        gain = qMultiFidelityKnowledgeGradient(
            model,
            num_fantasies=fantasies,
            current_value=current,
            cost_aware_utility=InverseCostWeightedUtility(cost_model=cost),
            project=lambda x: project_to_target_fidelity(x, target_fidelities={d: 1.0}, d=d + 1),
        )
        best, _ = optimize_acqf_mixed(
            gain,
            bounds,
            fixed_features_list=[{d: fidelity} for fidelity in fidelities],
            q=1,
            num_restarts=restarts,
            raw_samples=raw,
            options={"maxiter": iterations},
            equality_constraints=constraints,
        )
        values = best.detach().numpy()[0]
        return values[:d], float(values[d])

    def _everything_asked(self) -> bool:
        return self.pool is not None and all(self.was_asked(self.pool[i]) for i in self.available_rows())

    def _nearest_free(self, point: Array, *, real: bool) -> tuple[Array, int | None] | None:
        if self.pool is None:
            return self.space.snap(point[None])[0], None
        available = self.available_rows()
        if not real:
            available = np.array([i for i in available if not self.was_asked(self.pool[i])], dtype=int)
        if not len(available):
            return None
        index = int(available[np.square(self.pool[available] - point).sum(1).argmin()])
        return self.pool[index], index

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "costs": [self.cost_real, self.cost_llm], "effort": list(self.effort)}
