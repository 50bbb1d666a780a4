"""LABO itself: fused surrogate, upper confidence bound, and the gate that decides what is worth an experiment."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from scisuite.core import InvalidInput, Space
from scisuite.solvers.labo.acquisition import greedy_ucb_batch, maximise_ucb
from scisuite.solvers.labo.campaign import Campaign
from scisuite.solvers.labo.oracles import LLMOracle
from scisuite.solvers.labo.records import Candidate
from scisuite.solvers.labo.surrogate import KOHSurrogate, Posterior, RhoFit

Array = NDArray[np.float64]
Gate = Literal["p_delta", "always", "variance", "random"]
Acquisition = Literal["fused", "real_only", "prior_mean", "llm_only"]


class LABO(Campaign):
    r"""Bayesian optimisation with a language model as a cheap, biased second source.

    Each round picks ``q`` points by an upper confidence bound on the fused posterior
    (:class:`~scisuite.solvers.labo.surrogate.KOHSurrogate`), asks the language model about all of them, and runs for
    real those at which the discrepancy dominates the uncertainty,

    .. math:: p_\Delta(x) = \frac{\sigma_\delta^2(x)}{\rho^2\sigma_L^2(x) + \sigma_\delta^2(x)} > \tau,

    with the posterior that selected x, before the language model's new answer is added: afterwards
    :math:`\sigma_L(x) \approx 0` and the gate would always open (reconstruction).

    A point that the language model has answered before is run for real, and the gate stays open once the queries left
    are as few as the real runs left: a closed gate would otherwise ask for ever.

    Parameters
    ----------
    space, oracle, **campaign
        See :class:`~scisuite.solvers.labo.campaign.Campaign`.
    tau : float
        Threshold of the gate in [0, 1]; 0 always runs for real.
    beta : float
        Multiplies the standard deviation.
    rho_fit, rho, sigma_l_includes_noise
        See :class:`~scisuite.solvers.labo.surrogate.KOHSurrogate`.
    gate : {"p_delta", "always", "variance", "random"}
        The paper's rule, or an ablation: always real; real where the language model's surrogate is already certain
        (its variance is at most ``variance_threshold`` of its prior variance); a fair coin.
    acquisition : {"fused", "real_only", "prior_mean", "llm_only"}
        The paper's bound, or an ablation: a GP on real data alone; the language model's posterior mean as prior mean,
        with the discrepancy's variance only; the language model's mean alone, without exploration.
    variance_threshold : float
        For ``gate="variance"``.

    Raises
    ------
    InvalidInput
        If τ is not in [0, 1], β is negative, there are fewer than two starts, or an option is unknown.

    Notes
    -----
    Source: LABO, arXiv 2605.22054 (algorithm and defaults); β, the prior, batching by correlation: reconstruction.

    Examples
    --------
    >>> from scisuite.core import Space
    >>> from scisuite.solvers.labo.oracles import SolverOracle
    >>> space = Space.from_bounds(x=(0, 1), y=(0, 1))
    >>> guess = SolverOracle(lambda x: -((x - 0.4) ** 2).sum(1))
    >>> optimiser = LABO(space, oracle=guess, budget=8, n_latin=10)
    >>> while not optimiser.done:
    ...     for query in optimiser.ask():
    ...         optimiser.tell(query, -(query.x["x"] - 0.5) ** 2 - (query.x["y"] - 0.5) ** 2)
    >>> bool(optimiser.best[1] > -0.01)
    True
    """

    def __init__(
        self,
        space: Space,
        oracle: LLMOracle | None = None,
        *,
        tau: float = 0.75,
        beta: float = 2.0,
        rho_fit: RhoFit = "centred",
        rho: float = 0.0,
        sigma_l_includes_noise: bool = False,
        gate: Gate = "p_delta",
        acquisition: Acquisition = "fused",
        variance_threshold: float = 0.1,
        **campaign: Any,
    ) -> None:
        if isinstance(tau, bool) or not isinstance(tau, int | float) or not 0 <= tau <= 1:
            raise InvalidInput(f"tau must be in [0, 1], not {tau!r}")
        if not (isinstance(beta, int | float) and math.isfinite(beta) and beta >= 0):
            raise InvalidInput(f"beta must be finite and not negative, not {beta!r}")
        if gate not in get_args(Gate):
            raise InvalidInput(f"gate must be one of {', '.join(get_args(Gate))}, not {gate!r}")
        if acquisition not in get_args(Acquisition):
            raise InvalidInput(f"acquisition must be one of {', '.join(get_args(Acquisition))}, not {acquisition!r}")
        self.tau, self.beta = float(tau), float(beta)
        self.gate: Gate = gate
        self.acquisition: Acquisition = acquisition
        self.variance_threshold = float(variance_threshold)
        self._koh_options = (rho_fit, rho, sigma_l_includes_noise)
        self.surrogate = self._new_surrogate()
        if campaign.get("n_start") == 1:
            raise InvalidInput("n_start must be at least 2: a model needs two real runs")
        super().__init__(space, oracle, **campaign)

    def predict(self, x: Any) -> tuple[Array, Array]:
        """Posterior mean and standard deviation (n,) of the real value at encoded ``x`` (n, d), in its own units."""
        rows = self.space.as_rows(x)
        posterior = self._fit().predict(rows)
        return self.sign * posterior.mu, np.sqrt(posterior.var)

    def _choose(self, q: int) -> list[Candidate]:
        self.surrogate = self._fit()
        self.rho = self.surrogate.rho
        rows, indices = self._select(q)
        if not len(rows):
            return []
        p_delta = self.surrogate.p_delta(rows)
        opens = self._gate_opens(rows, p_delta)
        candidates: list[Candidate] = []
        llm_left = self.max_llm - self.n_llm
        real_left = self.budget - self.n_real
        for row, index, share, wants_real in zip(rows, indices, p_delta, opens, strict=True):
            ask = llm_left > 0 and not self.was_asked(row)
            run = bool(wants_real) or not ask or llm_left <= real_left
            llm_left -= ask
            real_left -= run
            candidates.append(Candidate(row, index, ask_llm=ask, run_real=run, p_delta=float(share)))
        return candidates

    def _fit(self) -> KOHSurrogate:
        x_pairs, real, cheap = self.paired_data()
        surrogate = self._new_surrogate()
        if len(np.unique(x_pairs, axis=0)) >= 2:
            return surrogate.fit(*self.llm_data(), x_pairs, real, cheap)
        # Without pairs nothing links the two sources: what is left is ordinary Bayesian optimisation.
        x, y = self.real_data()
        return KOHSurrogate("fixed", 0.0).fit(x, np.zeros(len(y)), x, y, np.zeros(len(y)))

    def _new_surrogate(self) -> KOHSurrogate:
        rho_fit, rho, noisy = self._koh_options
        return KOHSurrogate(rho_fit, rho, sigma_l_includes_noise=noisy)

    def _select(self, q: int) -> tuple[Array, list[int | None]]:
        chooser = self._real_surrogate() if self.acquisition == "real_only" else self.surrogate
        gp = chooser.gp_discrepancy
        beta = 0.0 if self.acquisition == "llm_only" else self.beta
        if self.pool is None:
            x, y = self.real_data()
            near = x[np.argsort(-y, kind="stable")[:5]]
            model = self._tensor_model(chooser)
            picked = maximise_ucb(self.space, model, q, beta, gp.kernel, near, self._excluded, self.rng("candidates"))
            return np.array(picked).reshape(-1, self.space.d), [None] * len(picked)
        available = self.available_rows()
        if not len(available):
            return np.empty((0, self.space.d)), []
        rows = self.pool[available]
        mean, variance = self._mean_and_variance(chooser.predict(rows))
        picked_rows = greedy_ucb_batch(mean, variance, q, beta, lambda i: gp.correlation(rows, rows[i : i + 1])[:, 0])
        chosen = available[picked_rows]
        return self.pool[chosen], [int(i) for i in chosen]

    def _excluded(self, row: Array) -> bool:
        return self.was_run(row) or self.llm_failed(row)

    def _mean_and_variance(self, posterior: Posterior) -> tuple[Array, Array]:
        if self.acquisition == "prior_mean":
            return posterior.mu, posterior.var_d
        if self.acquisition == "llm_only":
            return posterior.mu_L, np.zeros_like(posterior.mu_L)
        return posterior.mu, posterior.var

    def _tensor_model(self, chooser: KOHSurrogate) -> Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]:
        if self.acquisition == "prior_mean":
            return lambda x: (chooser.predict_tensor(x)[0], chooser.gp_discrepancy.predict_tensor(x)[1])
        if self.acquisition == "llm_only":
            return chooser.gp_cheap.predict_tensor
        return chooser.predict_tensor

    def _real_surrogate(self) -> KOHSurrogate:
        x, y = self.real_data()
        return KOHSurrogate("fixed", 0.0).fit(x, np.zeros(len(y)), x, y, np.zeros(len(y)))

    def _gate_opens(self, rows: Array, p_delta: Array) -> NDArray[np.bool_]:
        if self.gate == "always":
            return np.ones(len(rows), dtype=bool)
        if self.gate == "random":
            return self.rng("gate").random(len(rows)) < 0.5
        if self.gate == "variance":
            gp = self.surrogate.gp_cheap
            return np.asarray(self.surrogate.predict(rows).var_L <= self.variance_threshold * gp.scale**2)
        return np.asarray((p_delta > self.tau) | (self.tau == 0))

    def _settings(self) -> dict[str, Any]:
        rho_fit, rho, noisy = self._koh_options
        own = {
            "tau": self.tau,
            "beta": self.beta,
            "gate": self.gate,
            "acquisition": self.acquisition,
            "variance_threshold": self.variance_threshold,
            "rho_fit": rho_fit,
            "rho": float(rho),
            "sigma_l_includes_noise": bool(noisy),
        }
        return {**super()._settings(), **own}
