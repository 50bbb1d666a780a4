"""The solver: budgets, what may not move the selection, and fits that are saved and read."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import Logged, Trial, TrialScenario, coverage, interval_width, pehe
from scisuite.solvers import load
from scisuite.solvers.active_rct.learners import LinearLearner
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


def replayed(households=True):
    rng = np.random.default_rng(0)

    def rows(n):
        t = np.repeat(rng.integers(0, 2, n // 2), 2)
        group = np.arange(n) // 2 if households else None
        return Logged(rng.normal(size=(n, 2)), t, (rng.random(n) < 0.4 + 0.2 * t).astype(float), p=0.5, group=group)

    pool, log = rows(120), replace(rows(80), p=None)
    return Trial("replayed", ("a", "b"), log, pool.x, rows(60), rows(60), pool, binary=True)


class Replayed(TrialScenario):
    def trial(self, trial_seed):
        return replayed()


def test_households_of_a_replayed_trial_reach_the_intervals_also_of_a_saved_fit(tmp_path):
    solver = ActiveRCTSolver(batch=30, strategy="random").fit(Replayed("segments"), seed=0, budget="110 evaluations")
    x = solver.batches[0].x
    cov = solver._learner.cate.cov()
    alone = LinearLearner(replayed().observational, intercept=True)
    for batch in solver.batches:
        alone.observe(replace(batch, group=None))
    assert np.array_equal(alone.effect(x), solver.predict(x))
    assert not np.allclose(alone.cate.cov(), cov, rtol=1e-3)
    solver.save(tmp_path / "fit")
    again = load(tmp_path / "fit")
    assert np.array_equal(again.interval(x), solver.interval(x))
    with pytest.raises(InvalidInput, match="^the qv interval needs units that are randomised one by one: group .*"):
        again.interval(x, kind="qv")


def test_a_tools_bound_that_is_infinite_is_null():
    solver = ActiveRCTSolver(batch=3, strategy="random").fit(world(), seed=0, budget="6 evaluations")
    x = solver.batches[0].x[:2]
    assert np.isinf(solver.interval(x)).all()
    answer = json.loads(json.dumps(solver.as_tool().call({"inputs": x.tolist()}), allow_nan=False))
    assert answer == {"effect": solver.predict(x).tolist(), "low": [None] * 2, "high": [None] * 2}
    found = solver.evaluate(world())
    assert (found["width"], found["coverage"]) == (np.inf, 1.0)


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
        ({"weights": 1}, "there are three weights, of v, d and o, not 1"),
        ({"learner_config": [1]}, r"learner_config must be a mapping or None, not \[1\]"),
        ({"p_bounds": None}, "p_bounds must be two probabilities, not None"),
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


def test_a_scenario_with_other_arguments_is_refused_also_after_loading(fitted, tmp_path):
    figures = fitted.evaluate(world())
    fitted.save(tmp_path / "fit")
    loaded = load(tmp_path / "fit")
    for solver in (fitted, loaded):
        with pytest.raises(InvalidInput, match="on which active_rct was fitted, with n_test 60, not 61$"):
            solver.evaluate(world(n_test=61))
        with pytest.raises(InvalidInput, match="on which active_rct was fitted, with kind 'linear', not 'segments'$"):
            solver.evaluate(TrialScenario("segments", n_pool=200))
        with pytest.raises(InvalidInput, match="with n_observational 150, not 2000$"):
            solver.example_inputs(TrialScenario("linear"))
        assert solver.evaluate(world()) == figures
        assert solver.evaluate(world(seed=9)) == figures


def test_a_trial_with_another_log_is_not_kept(fitted, tmp_path):
    class Other(TrialScenario):
        def trial(self, trial_seed):
            return super().trial(trial_seed + 1)

    fitted.save(tmp_path / "fit")
    loaded = load(tmp_path / "fit")
    with pytest.raises(InvalidInput, match="on which active_rct was fitted: this one has another log$"):
        loaded.evaluate(Other("linear", **SIZES))
    assert loaded.evaluate(world()) == fitted.evaluate(world())
