"""IHDP and ACIC 2016: sizes, identities, splits, and what is refused."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from scisuite.core import DataUnavailable, InvalidInput
from scisuite.scenarios.trials import semi_synthetic
from scisuite.scenarios.trials.logs import targeting_score
from scisuite.scenarios.trials.semi_synthetic import acic16, ihdp


def needs(package):
    absent = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(absent, reason=f'{package} is not installed; pip install "scisuite[active-rct]"')


def generator(seed=0):
    return np.random.default_rng(seed)


def all_rows(trial):
    rows = np.concatenate(list(trial.rows.values()))
    assert len(np.unique(rows)) == len(rows)
    return rows


@needs("econml")
def test_ihdp_b_has_the_effects_that_econml_gives():
    from econml.data.dgps import ihdp_surface_B

    trial = ihdp(generator(), surface="B")
    y, t, x, tau = ihdp_surface_B(random_state=int(generator().integers(2**31)))
    assert trial.pool_x.shape == (250, 26)
    assert len(np.unique(all_rows(trial))) == 747
    pool, log = trial.rows["pool"], trial.rows["observational"]
    assert np.array_equal(trial.pool.tau, tau[pool])
    assert np.array_equal(trial.observational.x, x[log])
    assert np.array_equal(trial.observational.t, t[log])
    assert np.array_equal(trial.observational.y, y[log])
    np.testing.assert_allclose(np.where(t[pool] == 1, trial.pool.y1, trial.pool.y0), y[pool], atol=1e-9)
    np.testing.assert_allclose(trial.pool.y1 - trial.pool.y0, trial.pool.tau, atol=1e-9)
    assert 0.1 < trial.observational.t.mean() < 0.3
    assert 0.35 < trial.test.t.mean() < 0.65


@needs("econml")
def test_ihdp_a_has_one_effect_and_a_log_with_a_bias():
    truth_less_naive = []
    for seed in range(6):
        trial = ihdp(generator(seed), surface="A", n_observational=400, n_pool=90)
        assert set(trial.pool.tau) | set(trial.test.tau) == {4.0}
        log = trial.observational
        truth_less_naive.append(log.y[log.t == 1].mean() - log.y[log.t == 0].mean() - 4)
    assert np.abs(truth_less_naive).max() > 0.5


@needs("causallib")
def test_acic_has_both_noisy_outcomes_and_the_effect_of_their_means():
    from causallib.datasets import load_acic16

    trial = acic16(generator(), instance=3)
    _, table = load_acic16(instance=3, raw=True)
    assert trial.pool_x.shape == (2002, 79)
    assert [len(trial.rows[k]) for k in ("observational", "pool", "validation", "test")] == [1200, 2002, 400, 1200]
    assert len(np.unique(all_rows(trial))) == 4802
    pool, test = trial.rows["pool"], trial.rows["test"]
    assert np.array_equal(trial.pool.y0, table["y0"].to_numpy()[pool])
    assert np.array_equal(trial.pool.y1, table["y1"].to_numpy()[pool])
    assert np.array_equal(trial.test.tau, (table["mu1"] - table["mu0"]).to_numpy()[test])
    assert np.array_equal(trial.test.y, table[["y0", "y1"]].to_numpy()[test, trial.test.t])
    x = np.concatenate([s.x for s in (trial.observational, trial.validation, trial.test)] + [trial.pool_x])
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(x.std(axis=0), 1, atol=1e-9)


@needs("causallib")
def test_the_log_of_acic_is_shifted_biased_and_without_overlap_along_its_direction():
    rng = generator(4)
    trial = acic16(rng, instance=1)
    x = np.concatenate([trial.observational.x, trial.pool_x, trial.validation.x, trial.test.x])
    s = targeting_score(x, generator(4).standard_normal(79))
    log, rest = s[:1200], s[1200:]
    t = trial.observational.t
    assert log.mean() > 0.3 > 0 > rest.mean()
    assert t[log > 1.3].mean() > 0.94
    assert t[log < -1].mean() < 0.1
    # A standard error is about .2.
    off = []
    for instance in range(1, 11):
        trial = acic16(generator(instance), instance=instance)
        log = trial.observational
        naive = log.y[log.t == 1].mean() - log.y[log.t == 0].mean()
        off.append(abs(naive - np.mean(trial.pool.tau)))
    assert np.median(off) > 0.4


@needs("causallib")
def test_without_an_instance_one_is_drawn():
    names = {acic16(generator(seed)).name for seed in range(6)}
    assert len(names) > 2
    assert names <= {f"acic16_{i}" for i in range(1, 11)}


@needs("causallib")
@needs("econml")
@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: ihdp(generator(), surface="C"), "^surface must be A or B, not 'C'$"),
        (
            lambda: ihdp(generator(), n_pool=600),
            "^log, pool, validation and test of 247, 600, 100, 150 units do not fit in",
        ),
        (lambda: ihdp(generator(), n_observational=1), "^a log of 1 children holds one arm only: it needs more$"),
        (lambda: acic16(generator(), instance=0), "^instance must be 1 to 10, or None, not 0$"),
        (lambda: acic16(generator(), instance=True), "^instance must be 1 to 10, or None, not True$"),
        (lambda: acic16(generator(), instance="1"), "^instance must be 1 to 10, or None, not '1'$"),
        (lambda: acic16(generator(), instance=1, n_test=4000), "units do not fit in 4802 units$"),
        (
            lambda: acic16(generator(), instance=1, n_pool=5000),
            "^log, pool, validation and test of 1200, 5000, 400, 1200",
        ),
    ],
)
def test_what_is_refused(ask, message):
    with pytest.raises(InvalidInput, match=message):
        ask()


def test_absent_packages_are_named_with_the_command(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for ask, name in ((lambda: ihdp(generator()), "econml"), (lambda: acic16(generator()), "causallib")):
        with pytest.raises(
            DataUnavailable, match=f'{name}, which is not installed; .*pip install "scisuite.active-rct'
        ):
            ask()
    assert semi_synthetic.EXTRA == "active-rct"
