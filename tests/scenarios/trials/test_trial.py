"""Logs, trials, what a trial reveals, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import (
    Logged,
    PotentialOutcomes,
    Trial,
    finite_column,
    finite_rows,
    propensities,
    treatments,
    unit_places,
)


def make_trial(*, replay=False, n=40, p=0.25, **changes):
    rng = np.random.default_rng(0)
    y0, tau = rng.normal(size=n), rng.normal(size=n)
    t = rng.integers(2, size=n)
    x = rng.normal(size=(n, 3))

    def held_out():
        t, effect = rng.integers(2, size=n), rng.normal(size=n)
        return Logged(rng.normal(size=(n, 3)), t, rng.normal(size=n) + t * effect, p=np.full(n, p), tau=effect)

    arguments = {
        "name": "little",
        "features": ("a", "b", "c"),
        "observational": Logged(x, t, y0),
        "pool_x": x,
        "validation": held_out(),
        "test": held_out(),
        "pool": Logged(x, t, y0, p=np.full(n, p)) if replay else PotentialOutcomes(y0, y0 + tau, tau),
    }
    return Trial(**{**arguments, **changes})


def test_a_log_holds_numbers_of_one_type():
    log = Logged([[1, 2], [3, 4]], [True, False], [0, 1], p=0.5, tau=[1, 2], group=np.array([7, 7]))
    assert [a.dtype for a in (log.x, log.t, log.y, log.p, log.tau)] == [np.float64, np.int64] + [np.float64] * 3
    assert log.p.tolist() == [0.5, 0.5]
    assert len(log) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": [[1, 2], [3, np.nan]]}, r"^x is nan in row 1, column 1$"),
        ({"x": [[np.inf, 2], [3, 4]]}, r"^x is inf in row 0, column 0$"),
        ({"x": [1, 2]}, r"^x must be of shape \(n, d\), not \(2,\)$"),
        ({"x": [["1", "2"], ["3", "4"]]}, r"^x must hold numbers: not <U1 such as \['1'\]$"),
        ({"x": [[1, 2], [3]]}, r"^x must hold numbers: "),
        ({"y": [0, np.nan]}, r"^y is nan in row 1$"),
        ({"y": [0, 1, 1]}, r"^y must be of shape \(2,\), not \(3,\)$"),
        ({"y": [0, None]}, r"^y is nan in row 1$"),
        ({"t": ["0", "1"]}, r"^treatments must be the numbers 0 and 1, not <U1 such as \['0'\]$"),
        ({"t": ["treated", "control"]}, r"^treatments must be the numbers 0 and 1, not <U7 such as \['treated'\]$"),
        ({"t": [0, 2]}, r"^treatments must be 0 or 1, not 2 in row 1$"),
        ({"t": [0.5, 1]}, r"^treatments must be 0 or 1, not 0.5 in row 0$"),
        ({"t": [0, np.nan]}, r"^t is nan in row 1$"),
        ({"t": [0]}, r"^t must be of shape \(2,\), not \(1,\)$"),
        ({"p": [0.5, 1.0]}, r"^a probability of treatment must be in \(0, 1\), not 1 in row 1$"),
        ({"p": [0.0, 0.5]}, r"^a probability of treatment must be in \(0, 1\), not 0 in row 0$"),
        ({"p": -0.1}, r"^a probability of treatment must be in \(0, 1\), not -0.1 in row 0$"),
        ({"p": [0.5, np.nan]}, r"^p is nan in row 1$"),
        ({"p": "half"}, r"^p must hold numbers: "),
        ({"tau": [0.0, np.inf]}, r"^tau is inf in row 1$"),
        ({"group": np.zeros(3, dtype=int)}, r"^group has shape \(3,\) for 2 units$"),
    ],
)
def test_a_log_refuses(changes, message):
    good = {"x": [[1, 2], [3, 4]], "t": [0, 1], "y": [0.0, 1.0]}
    with pytest.raises(InvalidInput, match=message):
        Logged(**{**good, **changes})


def test_nothing_is_converted_behind_the_back():
    with pytest.raises(InvalidInput, match="y1 is nan in row 0"):
        PotentialOutcomes([0.0], [np.nan], [0.0])
    with pytest.raises(InvalidInput, match=r"tau must be of shape \(1,\), not \(2,\)"):
        PotentialOutcomes([0.0], [1.0], [0.0, 1.0])
    with pytest.raises(InvalidInput, match="score must hold numbers: not complex128"):
        finite_column("score", [1j])
    assert finite_rows("x", np.zeros((0, 3))).shape == (0, 3)
    assert treatments([]).shape == (0,)
    assert propensities(0.3, 2).tolist() == [0.3, 0.3]


@pytest.mark.parametrize(
    ("units", "message"),
    [
        ([0, 3, 0], r"^unit 0 is named twice$"),
        ([0, 40], r"^the pool has units 0 to 39, not 40$"),
        ([-1], r"^the pool has units 0 to 39, not -1$"),
        ([0.0], r"^units must be whole numbers \(m,\), not float64 \(1,\)$"),
        ([[0, 1]], r"^units must be whole numbers \(m,\), not int64 \(1, 2\)$"),
        ([True, False], r"^units must be whole numbers \(m,\), not bool \(2,\)$"),
        (["a"], r"^units must be whole numbers \(m,\), not <U1 \(1,\)$"),
    ],
)
def test_units_that_are_refused(units, message):
    with pytest.raises(InvalidInput, match=message):
        unit_places(units, 40)
    for replay in (False, True):
        with pytest.raises(InvalidInput, match=message):
            make_trial(replay=replay).reveal(units, 0.25, np.random.default_rng(0))


def test_a_replayed_trial_answers_what_it_answered_then():
    trial = make_trial(replay=True)
    assert trial.replay
    units = np.array([5, 0, 39])
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    t, y = trial.reveal(units, trial.propensity(units), rng)
    assert t.tolist() == trial.pool.t[units].tolist()
    assert y.tolist() == trial.pool.y[units].tolist()
    assert rng.bit_generator.state == before


def test_a_replayed_trial_refuses_another_probability():
    trial = make_trial(replay=True)
    message = r"^little is a replayed trial: unit 7 was treated with probability 0.25, not 0.5$"
    with pytest.raises(InvalidInput, match=message):
        trial.reveal([3, 7], [0.25, 0.5], np.random.default_rng(0))


def test_potential_outcomes_are_drawn_with_the_probability_asked_for():
    trial = make_trial(n=4000)
    assert not trial.replay
    assert trial.propensity([0, 1]) is None
    units = np.random.default_rng(1).permutation(4000)
    p = np.where(units < 2000, 0.2, 0.8)
    t, y = trial.reveal(units, p, np.random.default_rng(2))
    assert np.array_equal(y, np.where(t == 1, trial.pool.y1[units], trial.pool.y0[units]))
    for chance in (0.2, 0.8):
        # Four standard deviations of a binomial of 2,000.
        assert t[p == chance].mean() == pytest.approx(chance, abs=4 * np.sqrt(0.16 / 2000))
    again, _ = trial.reveal(units, p, np.random.default_rng(2))
    assert np.array_equal(t, again)


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (1.0, r"must be in \(0, 1\), not 1 in row 0"),
        ([0.5, 0.0], r"must be in \(0, 1\), not 0 in row 1"),
        ([0.5], r"p must be of shape \(2,\), not \(1,\)"),
        (None, r"p is nan in row 0"),
        (["a", "b"], "p must hold numbers"),
    ],
)
def test_reveal_refuses_probabilities(p, message):
    with pytest.raises(InvalidInput, match=message):
        make_trial().reveal([0, 1], p, np.random.default_rng(0))


def test_a_trial_refuses_slices_that_do_not_fit():
    trial = make_trial()
    narrow = replace(trial.test, x=trial.test.x[:, :2])
    with pytest.raises(InvalidInput, match="^test has 2 covariates, the pool 3$"):
        replace(trial, test=narrow)
    with pytest.raises(InvalidInput, match="^2 names for 3 covariates$"):
        replace(trial, features=("a", "b"))
    with pytest.raises(InvalidInput, match="^the pool has 39 units and 40 answers$"):
        replace(trial, pool_x=trial.pool_x[1:])
    bad = trial.pool_x.copy()
    bad[4, 2] = np.nan
    with pytest.raises(InvalidInput, match="^pool_x is nan in row 4, column 2$"):
        replace(trial, pool_x=bad)


def test_a_trial_refuses_slices_that_overlap():
    rows = {"pool": np.arange(40), "validation": np.arange(40, 80), "test": np.arange(79, 119)}
    with pytest.raises(InvalidInput, match="^validation and test overlap: row 79 is in both$"):
        make_trial(rows=rows)
    with pytest.raises(InvalidInput, match="^pool and test overlap: row 39 is in both$"):
        make_trial(rows={**rows, "validation": np.arange(0), "test": np.arange(39, 79)})


def test_effects_are_known_where_both_held_out_slices_have_them():
    trial = make_trial()
    assert trial.knows_effects
    assert not replace(trial, test=replace(trial.test, tau=None)).knows_effects
    assert not replace(trial, validation=replace(trial.validation, tau=None)).knows_effects


def test_a_log_and_a_trial_keep_copies():
    x, y, p = np.ones((2, 1)), np.zeros(2), np.full(2, 0.5)
    log = Logged(x, [0, 1], y, p=p, tau=y)
    outcomes = PotentialOutcomes(y, y, y)
    x[:], y[:], p[:] = 7, 7, 0.7
    assert [each.tolist() for each in (log.x, log.y, log.p, log.tau)] == [[[1], [1]], [0, 0], [0.5, 0.5], [0, 0]]
    assert not outcomes.y0.any()
    rows = np.random.default_rng(0).normal(size=(40, 3))
    trial = make_trial(pool_x=rows)
    rows[:] = 0
    assert trial.pool_x.all()


def test_a_replayed_trial_needs_its_probabilities_and_its_own_covariates():
    trial = make_trial(replay=True)
    with pytest.raises(
        InvalidInput, match="^a replayed trial needs its probabilities of treatment: its pool has no p$"
    ):
        replace(trial, pool=replace(trial.pool, p=None))
    with pytest.raises(InvalidInput, match="^the pool of a replayed trial has other covariates than pool_x$"):
        replace(trial, pool_x=trial.pool_x + 1)


@pytest.mark.parametrize("replay", [False, True])
def test_slices_of_the_same_units_are_refused(replay):
    trial = make_trial(replay=replay)
    with pytest.raises(
        InvalidInput, match="^validation and test are the same units: what is held out must be held out$"
    ):
        replace(trial, test=trial.validation)
    with pytest.raises(InvalidInput, match="^validation and test are the same units"):
        replace(trial, test=replace(trial.validation))
    t = np.arange(40) % 2
    y = trial.pool.y if replay else trial.pool.answers(t)
    with pytest.raises(InvalidInput, match="^test and pool are the same units"):
        replace(trial, test=Logged(trial.pool_x, t, y))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pool": None}, "^pool must be a Logged or PotentialOutcomes, not NoneType$"),
        ({"observational": ([[0]], [0], [0])}, "^observational must be a Logged, not tuple$"),
        ({"test": None}, "^test must be a Logged, not NoneType$"),
    ],
)
def test_a_trial_is_made_of_logs(changes, message):
    with pytest.raises(InvalidInput, match=message):
        make_trial(**changes)


def test_ragged_and_unknown_units_are_refused():
    x = np.zeros((2, 1))
    for arguments in ({"t": [0, [1]]}, {"p": [0.5, [0.5]]}, {"group": [0, [1]]}):
        with pytest.raises(InvalidInput, match="^[a-z]+ must hold numbers: "):
            Logged(**{"x": x, "t": [0, 1], "y": [0, 1], **arguments})
    with pytest.raises(InvalidInput, match="^y0 must hold numbers: "):
        PotentialOutcomes(object(), [0], [0])
    trial = make_trial(replay=True)
    with pytest.raises(InvalidInput, match="^the pool has units 0 to 39, not 1000000$"):
        trial.propensity([10**6])
    with pytest.raises(InvalidInput, match="^units must hold numbers: "):
        trial.propensity([0, [1]])
