"""Algorithm 1's loop: who is asked, with which probability, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.trials import linear, segments
from scisuite.solvers.active_rct.learners import LinearLearner
from scisuite.solvers.active_rct.logistic import Logistic
from scisuite.solvers.active_rct.loop import ActiveRCT
from scisuite.solvers.active_rct.scores import score_pool

TRIAL = linear(generator(0, "trial"), n_pool=60, n_observational=80, n_validation=4, n_test=4)
SEGMENTS = segments(generator(0, "trial"), n_pool=80, n_observational=200, n_held_out=4)


def new_loop(trial=TRIAL, *, nuisance="obs", **arguments):
    learner = LinearLearner(trial.observational, nuisance=nuisance)
    return ActiveRCT(learner, trial.observational, trial.pool_x, **{"batch": 7, **arguments})


def run(loop, trial=TRIAL, budget=25):
    """(units, p, t, y) of every round, as they were given to the loop."""
    rng, given_ = generator(1, "answers"), []
    while loop.n_spent < budget:
        units, p = loop.select(min(loop.batch, budget - loop.n_spent))
        t, y = trial.reveal(units, p, rng)
        loop.observe(units, t, y, p)
        given_.append((units, p, t, y))
    return given_


@settings(max_examples=12, deadline=None)
@given(
    batch=st.integers(1, 60),
    budget=st.integers(1, 60),
    strategy=st.sampled_from(["score", "random", "effect"]),
    p_rule=st.sampled_from(["fixed", "adaptive"]),
)
@pytest.mark.filterwarnings("ignore:all scores are equal")
def test_nobody_is_asked_twice_and_the_budget_is_spent_exactly(batch, budget, strategy, p_rule):
    loop = new_loop(batch=batch, strategy=strategy, p_rule=p_rule)
    rounds = run(loop, budget=budget)
    asked = np.concatenate([units for units, *_ in rounds])
    assert len(asked) == len(set(asked.tolist())) == budget == loop.n_spent
    assert [len(units) for units, *_ in rounds[:-1]] == [batch] * (len(rounds) - 1)
    assert sorted([*asked, *loop.left]) == list(range(60))
    for (units, p, t, y), logged in zip(rounds, loop.history, strict=True):
        assert np.array_equal(units, logged.units)
        assert np.array_equal(p, logged.p)
        assert np.array_equal(t, logged.t)
        assert np.array_equal(y, logged.y)
        assert p.min() >= 0.2
        assert p.max() <= 0.8


def test_same_seed_same_trace_and_other_seed_another():
    traces = [np.concatenate([u for u, *_ in run(new_loop(strategy="random", seed=seed))]) for seed in (3, 3, 4)]
    assert np.array_equal(traces[0], traces[1])
    assert not np.array_equal(traces[0], traces[2])
    scored = [np.concatenate([np.r_[u, p, y] for u, p, _, y in run(new_loop(p_rule="adaptive"))]) for _ in range(2)]
    assert np.array_equal(*scored)


def test_the_batch_is_the_top_of_the_score():
    weights = (1.0, 0.7071, 0.3137)  # under which no two sums of ranks are equal
    loop = new_loop(weights=weights)
    run(loop, budget=14)
    left = loop.left
    x = TRIAL.pool_x[left]
    data = np.concatenate([TRIAL.observational.x, *(TRIAL.pool_x[each.units] for each in loop.history)])
    labels = np.repeat([1, 0], [len(x), len(data)])
    d = Logistic(balanced=True).fit(np.concatenate([x, data]), labels).predict_proba(x)[:, 1]
    policy = Logistic().fit(TRIAL.observational.x, TRIAL.observational.t).predict_proba(x)[:, 1]
    score = score_pool(loop.learner.uncertainty(x), d, 2 * np.abs(policy - 0.5), weights)
    assert np.array_equal(loop.select(5)[0], left[np.argsort(-score)[:5]])
    v, beta, gamma = loop.terms((1, 0, 0))
    assert np.array_equal(v, loop.learner.uncertainty(x))
    assert not beta.any()
    assert not gamma.any()
    assert np.array_equal(loop.select(5, weights=(1, 0, 0))[0], left[np.argsort(-v)[:5]])


def test_greedy_takes_the_largest_estimates():
    loop = new_loop(strategy="effect")
    with pytest.warns(RuntimeWarning, match="all scores are equal"):
        run(loop, budget=7)
    effect = loop.learner.effect(TRIAL.pool_x[loop.left])
    assert np.array_equal(loop.select(4)[0], loop.left[np.argsort(-effect)[:4]])


def test_adaptive_probabilities_follow_the_estimate():
    loop = new_loop(SEGMENTS, p_rule="adaptive", binary=True)
    run(loop, SEGMENTS, budget=35)
    units = loop.left
    effect = loop.learner.effect(SEGMENTS.pool_x[units])
    assert loop.chances(units) == pytest.approx(np.clip(0.5 + 0.3 * effect, 0.2, 0.8))
    scaled = new_loop(p_rule="adaptive")
    run(scaled, budget=14)
    effect = scaled.learner.effect(TRIAL.pool_x)
    expected = np.clip(0.5 + 0.3 * effect / effect.std(), 0.2, 0.8)
    assert scaled.chances(np.arange(60)) == pytest.approx(expected)


def test_a_replayed_trials_probabilities_rule():
    loop = new_loop(known_p=np.full(60, 1 / 6), strategy="random", p_rule="adaptive")
    units, p = loop.select()
    assert p.tolist() == [1 / 6] * 7
    loop.observe(units, [0] * 7, [0.0] * 7, p)
    assert loop.n_spent == 7


@pytest.mark.parametrize("nuisance", ["obs", "past"])
def test_a_batchs_own_outcomes_do_not_reach_the_predictions_that_correct_them(nuisance):
    """Ỹ is affine in a unit's own outcome with slope ±1/p, so that μ̂ cannot have moved with it."""
    pseudo = []
    for shift in (0.0, 100.0):
        loop = new_loop(nuisance=nuisance)
        run(loop, budget=14)
        units, p = loop.select(7)
        t = np.array([0, 1, 1, 0, 1, 0, 0])
        loop.observe(units, t, np.arange(7.0) + shift, p)
        pseudo.append(loop.learner.cate._pseudo[-1])
    assert pseudo[1] - pseudo[0] == pytest.approx(100 * np.where(t == 1, 1 / p, -1 / (1 - p)))


def test_outcomes_of_the_log_reach_no_pseudo_outcome_row():
    loop = new_loop()
    run(loop, budget=14)
    assert loop.learner.cate.n == 14


def test_held_out_outcomes_do_not_move_the_selection():
    order = np.random.default_rng(0).permutation(4)
    test, validation = (
        replace(held, t=held.t[order], y=held.y[order], tau=held.tau[order]) for held in (TRIAL.test, TRIAL.validation)
    )
    permuted = replace(TRIAL, test=test, validation=validation)
    first, second = (np.concatenate([u for u, *_ in run(new_loop(t), t)]) for t in (TRIAL, permuted))
    assert np.array_equal(first, second)


def test_the_learner_hears_what_was_randomised_together():
    group = np.arange(60) // 2
    loop = new_loop(strategy="random", group=group)
    run(loop, budget=56)
    alone = new_loop(strategy="random")
    run(alone, budget=56)
    labels = [group[each.units] for each in loop.history]
    assert all(np.array_equal(a, b) for a, b in zip(loop.learner.cate._group, labels, strict=True))
    assert np.array_equal(loop.learner.cate.theta, alone.learner.cate.theta)
    assert not np.allclose(loop.learner.cate.cov(), alone.learner.cate.cov(), rtol=1e-3)
    with pytest.raises(InvalidInput, match="^the qv interval needs units that are randomised one by one: group"):
        loop.learner.cate.interval(TRIAL.pool_x, kind="qv")
    with pytest.raises(InvalidInput, match=r"^group has shape \(3,\) for 60 units$"):
        new_loop(group=[1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch": 0}, "batch must be a whole number from 1 to 60, the size of the pool, not 0"),
        ({"batch": 61}, "batch must be a whole number from 1 to 60, the size of the pool, not 61"),
        ({"batch": 2.5}, "batch must be a whole number from 1 to 60, the size of the pool, not 2.5"),
        ({"strategy": "best"}, "strategy must be score, random or effect, not 'best'"),
        ({"weights": (0, 0, 0)}, r"weights must not be negative, nor all zero, not \(0.0, 0.0, 0.0\)"),
        ({"p_rule": "none"}, "p_rule must be fixed or adaptive, not 'none'"),
        ({"known_p": [0.5]}, r"p must be of shape \(60,\), not \(1,\)"),
        ({"known_p": np.zeros(60)}, r"a probability of treatment must be in \(0, 1\), not 0 in row 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        new_loop(**arguments)


def test_bad_pools_are_refused():
    learner = LinearLearner(TRIAL.observational)
    pool = TRIAL.pool_x.copy()
    pool[3, 2] = np.nan
    with pytest.raises(InvalidInput, match="^pool is nan in row 3, column 2$"):
        ActiveRCT(learner, TRIAL.observational, pool, batch=5)
    with pytest.raises(InvalidInput, match="^the pool has 3 covariates, the log 8$"):
        ActiveRCT(learner, TRIAL.observational, np.zeros((9, 3)), batch=5)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"units": [0, 1, 1]}, "unit 1 is named twice"),
        ({"units": [0, 1, 60]}, "the pool has units 0 to 59, not 60"),
        ({"units": [0, 1, -1]}, "the pool has units 0 to 59, not -1"),
        ({"units": [0.0, 1.0, 2.0]}, r"units must be whole numbers \(m,\), not float64 \(3,\)"),
        ({"units": [], "t": [], "y": [], "p": []}, "a batch has at least one unit"),
        ({"units": [0, 1, 5]}, "unit 5 has been randomised before"),
        ({"t": ["yes", "no", "no"]}, r"treatments must be the numbers 0 and 1, not <U3 such as \['yes'\]"),
        ({"t": [0, 1]}, r"t must be of shape \(3,\), not \(2,\)"),
        ({"y": [0.0, np.nan, 1.0]}, "y is nan in row 1"),
        ({"p": [0.5, 0.5, 1.0]}, r"a probability of treatment must be in \(0, 1\), not 1 in row 2"),
        ({"p": 0.1}, r"a probability of treatment must be in \[0.2, 0.8\] here, not 0.1 in row 0"),
    ],
)
def test_a_bad_batch_is_refused_and_changes_nothing(changed, message):
    loop = new_loop()
    loop.observe([5, 6], [0, 1], [1.0, 2.0], 0.5)
    theta = loop.learner.cate.theta.copy()
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        loop.observe(**{"units": [0, 1, 2], "t": [0, 1, 1], "y": [0.0, 1.0, 2.0], "p": 0.5, **changed})
    assert loop.n_spent == 2
    assert len(loop.history) == 1
    assert np.array_equal(theta, loop.learner.cate.theta)


def test_batches_beyond_what_is_left_are_refused():
    loop = new_loop(strategy="random", batch=40)
    run(loop, budget=40)
    assert len(loop.select()[0]) == 20
    with pytest.raises(InvalidInput, match="^size must be a whole number from 1 to 20, the size of the pool, not 21$"):
        loop.select(21)
    with pytest.raises(InvalidInput, match="^size must be a whole number from 1 to 20, the size of the pool, not 0$"):
        loop.select(0)
    units, p = loop.select()
    loop.observe(units, [0] * 20, [0.0] * 20, p)
    with pytest.raises(InvalidInput, match="^every unit of the pool has been randomised$"):
        loop.select()


def test_a_batch_with_one_arm_is_learned_from():
    loop = new_loop(nuisance="none")
    loop.observe([0, 1], [1, 1], [1.0, 2.0], 0.5)
    assert np.isfinite(loop.learner.effect(TRIAL.pool_x)).all()


def test_a_unit_that_was_selected_has_the_probability_that_it_was_given():
    loop = new_loop(p_rule="adaptive")
    run(loop, budget=7)
    units, p = loop.select()
    wrong = np.where(np.arange(7) == 3, 0.5 * (p + 0.5) + 0.01, p)
    message = f"^unit {units[3]} was to be treated with probability {p[3]:.6g}, not {wrong[3]:.6g}$"
    with pytest.raises(InvalidInput, match=message):
        loop.observe(units, [0] * 7, [0.0] * 7, wrong)
    assert loop.n_spent == 7
    loop.observe(units, [0] * 7, [0.0] * 7, p)
    never = loop.left[~np.isin(loop.left, units)][:1]
    loop.observe(never, [1], [0.0], 0.37)
    assert loop.history[-1].p.tolist() == [0.37]


def test_a_replayed_trial_has_its_own_probabilities():
    loop = new_loop(known_p=np.full(60, 0.25))
    with pytest.raises(InvalidInput, match=r"^unit 4 was to be treated with probability 0\.25, not 0\.5$"):
        loop.observe([4], [1], [0.0], 0.5)
    loop.observe([4], [1], [0.0], 0.25)


def test_what_was_observed_cannot_be_changed_afterwards():
    pool, y, p = TRIAL.pool_x.copy(), np.arange(3.0), np.full(3, 0.5)
    loop = ActiveRCT(LinearLearner(TRIAL.observational), TRIAL.observational, pool, batch=3)
    loop.observe([0, 1, 2], [0, 1, 1], y, p)
    theta = loop.learner.cate.theta.copy()
    pool[:], y[:], p[:] = 0, 9, 0.9
    assert np.array_equal(loop.pool, TRIAL.pool_x)
    assert (loop.history[0].y.tolist(), loop.history[0].p.tolist()) == ([0, 1, 2], [0.5] * 3)
    with pytest.raises(ValueError, match="read-only"):
        loop.history[0].y[0] = 3
    assert np.array_equal(loop.learner.cate.theta, theta)


@pytest.mark.parametrize(("arm", "name"), [(0, "treated"), (1, "untreated")])
def test_a_log_of_one_arm_has_no_policy(arm, name):
    log = replace(TRIAL.observational, t=np.full(80, arm))
    learner = LinearLearner(log, nuisance="none")
    loop = ActiveRCT(learner, log, TRIAL.pool_x, batch=7)
    with pytest.raises(
        InvalidInput,
        match=f"^the log has no {name} unit: its policy cannot be fitted; give the overlap deficit weight 0$",
    ):
        loop.select()
    assert len(loop.select(weights=(1, 1, 0))[0]) == 7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": 1}, "there are three weights, of v, d and o, not 1"),
        ({"weights": None}, "there are three weights, of v, d and o, not None"),
        ({"p_bounds": (0.8,)}, r"p_bounds must be two probabilities, not \(0\.8,\)"),
        ({"p_bounds": None}, "p_bounds must be two probabilities, not None"),
        ({"p_bounds": "ab"}, "p_bounds must be two probabilities, not 'ab'"),
    ],
)
def test_arguments_of_another_kind_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        new_loop(**arguments)


def test_a_learner_of_another_width_is_refused():
    narrow = replace(TRIAL.observational, x=TRIAL.observational.x[:, :3])
    with pytest.raises(InvalidInput, match="^the learner was built on 3 covariates, the pool has 8$"):
        ActiveRCT(LinearLearner(narrow), TRIAL.observational, TRIAL.pool_x, batch=7)
