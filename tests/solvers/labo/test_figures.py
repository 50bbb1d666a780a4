"""Figures of merit of a campaign, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import Space
from scisuite.scenarios import BlackBoxScenario, Description
from scisuite.solvers.labo.figures import evaluations_to, figures_of_merit, regret_curve


class Known(BlackBoxScenario):
    """Optimum 10, median 0; or, minimised, optimum −10."""

    space = Space.from_bounds(x=(0, 1))

    def __init__(self, *, maximise=True, known=True):
        super().__init__()
        self.maximise = maximise
        if known:
            self.optimum, self.median = (10.0 if maximise else -10.0), 0.0

    def evaluate(self, x):
        return np.zeros(len(x))

    def describe(self):
        return Description("test/known", "", "made up", "none", False)


def test_the_figures_of_a_campaign_worked_out_by_hand():
    values = np.array([-5.0, 0, 8, 7, 9.2, 9.6])
    figures = figures_of_merit(
        Known(), values, budget=6, n_start=4, n_llm=53, n_warm_start=50, cost_real=2.0, cost_llm=0.1
    )
    assert figures == pytest.approx(
        {
            "best": 9.6,
            "n_real": 6,
            "n_llm": 53,
            "llm_to_real": 3 / 2,
            "cost": 2 * 6 + 5.3,
            "auc_regret": (1.5 + 1.0 + 0.2 + 0.2 + 0.08 + 0.04) / 6,
            "final_regret": 0.04,
            "evals_to_90": 5,
            "evals_to_95": 6,
            "regret@5": 0.08,
        }
    )
    assert all(type(value) is float for value in figures.values())


def test_minimising_is_the_mirror_image():
    values = np.array([5.0, -8, -9])
    np.testing.assert_allclose(regret_curve(Known(maximise=False), values), [1.5, 0.2, 0.1])
    mirrored = figures_of_merit(Known(maximise=False), values, budget=3, n_start=3, n_llm=0, n_warm_start=0)
    plain = figures_of_merit(Known(), -values, budget=3, n_start=3, n_llm=0, n_warm_start=0)
    assert mirrored.pop("best") == -plain.pop("best") == -9
    assert mirrored == plain


def test_where_the_optimum_is_unknown_there_is_no_regret():
    figures = figures_of_merit(Known(known=False), np.array([1.0, 3.0]), budget=2, n_start=2, n_llm=4, n_warm_start=4)
    assert set(figures) == {"best", "n_real", "n_llm", "llm_to_real", "cost"}
    assert figures["best"] == 3.0
    assert figures["llm_to_real"] == 0


def test_a_level_that_is_never_reached_is_censored():
    regret = np.array([0.9, 0.5, 0.1, 0.04])
    assert evaluations_to(regret, 0.1, 30) == 3
    assert evaluations_to(regret, 1.0, 30) == 1
    assert evaluations_to(regret, 0.01, 30) == 31


@given(st.lists(st.floats(-20, 10), min_size=1, max_size=70), st.booleans())
def test_regret_never_rises_and_the_figures_agree_with_the_curve(values, maximise):
    values = np.array(values) if maximise else -np.array(values)
    scenario = Known(maximise=maximise)
    curve = regret_curve(scenario, values)
    assert (np.diff(curve) <= 0).all()
    assert (curve >= 0).all()
    figures = figures_of_merit(scenario, values, budget=len(values), n_start=1, n_llm=7, n_warm_start=9)
    assert figures["auc_regret"] == pytest.approx(curve.mean())
    assert figures["final_regret"] == curve[-1] <= figures["auc_regret"] + 1e-12
    assert figures["evals_to_90"] <= figures["evals_to_95"] <= len(values) + 1
    assert figures["llm_to_real"] == 0
    assert {k for k in figures if k.startswith("regret@")} == {
        f"regret@{k}" for k in (5, 10, 20, 30, 60) if k <= len(values)
    }
