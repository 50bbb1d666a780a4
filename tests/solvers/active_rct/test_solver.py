"""The solver: budgets, what may not move the selection, and fits that are saved and read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import TrialScenario, coverage, interval_width, pehe
from scisuite.solvers import load
from scisuite.solvers.active_rct.solver import ActiveRCTSolver

SIZES = {"n_pool": 200, "n_observational": 150, "n_validation": 50, "n_test": 60}


def world(**arguments):
    return TrialScenario("linear", **{**SIZES, **arguments})


@pytest.fixture(scope="module")
def fitted():
    return ActiveRCTSolver(batch=30).fit(world(), seed=3, budget="100 evaluations")


def test_the_budget_is_spent_to_the_unit(fitted):
    assert [len(batch) for batch in fitted.batches] == [30, 30, 30, 10]
    assert len(np.unique(np.concatenate([batch.x for batch in fitted.batches]), axis=0)) == 100


def test_figures_are_those_of_the_test_slice(fitted):
    scenario = world()
    held_out = scenario.trial(3).test
    found = fitted.evaluate(scenario)
    assert found["pehe"] == pehe(fitted.predict(held_out.x), held_out.tau)
    low, high = fitted.interval(held_out.x)
    assert found["coverage"] == coverage(low, high, held_out.tau)
    assert found["width"] == interval_width(low, high)
    assert found["n_used"] == 100


def test_outcomes_held_out_do_not_move_the_selection(fitted):
    class Permuted(TrialScenario):
        def trial(self, trial_seed):
            trial = super().trial(trial_seed)
            order = np.random.default_rng(0).permutation(len(trial.test))
            test = replace(trial.test, t=trial.test.t[order], y=trial.test.y[order], tau=trial.test.tau[order])
            return replace(trial, test=test)

    other = ActiveRCTSolver(batch=30).fit(Permuted("linear", **SIZES), seed=3, budget="100 evaluations")
    assert all(np.array_equal(a.x, b.x) for a, b in zip(fitted.batches, other.batches, strict=True))
    assert np.array_equal(fitted.predict(fitted.batches[0].x), other.predict(fitted.batches[0].x))


def test_same_seed_same_trace(fitted):
    again = ActiveRCTSolver(batch=30).fit(world(), seed=3, budget="100 evaluations")
    for a, b in zip(fitted.batches, again.batches, strict=True):
        assert all(np.array_equal(getattr(a, key), getattr(b, key)) for key in ("x", "t", "y", "p"))


@pytest.mark.parametrize(
    ("learner", "package", "config"),
    [
        ("linear", "numpy", {"nuisance": "past"}),
        ("trees", "sklearn", {"n_trees": 4}),
        ("dr_learner", "sklearn", {}),
        ("cfr", "torch", {"steps": 10}),
    ],
)
def test_a_fit_that_was_saved_predicts_the_same(learner, package, config, tmp_path):
    pytest.importorskip(package)
    solver = ActiveRCTSolver(learner, config, batch=30, weights=(1, 0, 0)).fit(world(), seed=0, budget="60 evaluations")
    solver.save(tmp_path / "fit")
    x = solver.batches[0].x
    assert np.array_equal(load(tmp_path / "fit").predict(x), solver.predict(x))


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("201 evaluations", "the budget of 201 units exceeds the pool of 200"),
        ("10 steps", 'active_rct counts units; give a budget like "400 evaluations", not .*'),
        ("0 evaluations", ".*"),
    ],
)
def test_bad_budgets_are_refused(budget, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        ActiveRCTSolver().fit(world(), seed=0, budget=budget)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": 0}, "batch must be a positive whole number, not 0"),
        ({"strategy": "best"}, "strategy must be score, random or effect, not 'best'"),
        ({"weights": (0, 0, 0)}, "weights must not be negative, nor all zero, not .*"),
        ({"p_bounds": (0.0, 0.5)}, r"p_bounds must be in \(0, 1\) and hold ½ between them, not .*"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        ActiveRCTSolver(**arguments)


def test_bad_questions_are_refused(fitted):
    with pytest.raises(InvalidInput, match="^inputs have 3 covariates, the trial 8$"):
        fitted.predict(np.zeros((2, 3)))
    with pytest.raises(InvalidInput, match="^inputs is nan in row 0, column 0$"):
        fitted.predict(np.full((1, 8), np.nan))
    with pytest.raises(InvalidInput, match="^split must be validation or test, not 'pool'$"):
        fitted.evaluate(world(), "pool")
