"""Figures of merit of a finished campaign, the same for solver, experiment and agents."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios import BlackBoxScenario

Array = NDArray[np.float64]


def regret_curve(scenario: BlackBoxScenario, real_values: Array) -> Array:
    """Normalised simple regret (n,) after each real run: 0 at the optimum, 1 at the median of the pool."""
    best = np.maximum.accumulate(real_values) if scenario.maximise else np.minimum.accumulate(real_values)
    return np.array([scenario.regret(float(value)) for value in best])


def evaluations_to(regret: Array, level: float, budget: int) -> int:
    """Real runs until the regret is at most ``level``; ``budget`` + 1 where it never is (censored)."""
    reached = np.flatnonzero(regret <= level)
    return int(reached[0]) + 1 if len(reached) else budget + 1


def figures_of_merit(
    scenario: BlackBoxScenario,
    real_values: Array,
    *,
    budget: int,
    n_start: int,
    n_llm: int,
    n_warm_start: int,
    cost_real: float = 1.0,
    cost_llm: float = 0.01,
) -> dict[str, float]:
    """Figures of one campaign.

    Parameters
    ----------
    scenario : BlackBoxScenario
    real_values : float64 (n,)
        Values of the real runs in order, starts included.
    budget : int
        Real runs that were allowed.
    n_start : int
        Real runs that came before the first model.
    n_llm, n_warm_start : int
        Queries to the language model, and how many of them came before the first model.
    cost_real, cost_llm : float
        Cost of one query to each source, in real runs.

    Returns
    -------
    dict
        ``best`` (own unit), ``auc_regret`` (mean normalised regret over the real runs; absent where the optimum is
        unknown, as is every figure of regret), ``final_regret``, ``regret@k`` for k = 5, 10, 20, 30, 60 within the
        budget, ``evals_to_90`` and ``evals_to_95`` (real runs until 90 % and 95 % of the way from median to optimum),
        ``n_real``, ``n_llm``, ``llm_to_real`` (queries per real run, the warm start left out of both) and ``cost``.
    """
    n_real = len(real_values)
    best = float(real_values.max() if scenario.maximise else real_values.min())
    figures = {
        "best": best,
        "n_real": float(n_real),
        "n_llm": float(n_llm),
        "llm_to_real": max(0, n_llm - n_warm_start) / max(1, n_real - n_start),
        "cost": n_real * cost_real + n_llm * cost_llm,
    }
    if not math.isnan(scenario.regret(best)):
        regret = regret_curve(scenario, real_values)
        figures |= {
            "auc_regret": float(regret.mean()),
            "final_regret": float(regret[-1]),
            "evals_to_90": float(evaluations_to(regret, 0.10, budget)),
            "evals_to_95": float(evaluations_to(regret, 0.05, budget)),
        }
        figures |= {f"regret@{k}": float(regret[k - 1]) for k in (5, 10, 20, 30, 60) if k <= n_real}
    return figures
