"""The registered ids and the scenario behind them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.core import DataUnavailable, InvalidInput, generator
from scisuite.scenarios.trials import TrialScenario

IDS = {
    "segments",
    "linear",
    "linear_t4",
    "misspecified",
    "ihdp_a",
    "ihdp_b",
    "acic16",
    "hillstrom",
    "gotv",
    "starbucks",
    "synthetic_hillstrom",
    "synthetic_gotv",
    "synthetic_starbucks",
}


def test_the_promised_ids_are_registered():
    ids = {id for id in scenarios.registry.ids() if id.startswith("trials/")}
    assert ids == {f"trials/{name}" for name in IDS}
    assert all(scenarios.registry.entry(id).paper == "active_rct" for id in ids)
    with_extras = {id for id in ids if scenarios.registry.entry(id).extras}
    assert with_extras == {"trials/ihdp_a", "trials/ihdp_b", "trials/acic16"}


def test_a_seed_gives_the_trial_that_its_generator_gives():
    scenario = scenarios.make("trials/linear", n_pool=60)
    one, two = scenario.trial(5), scenario.generate(generator(5, "trial"))
    assert np.array_equal(one.pool_x, two.pool_x)
    assert np.array_equal(one.test.y, two.test.y)
    assert not np.array_equal(one.pool_x, scenario.trial(6).pool_x)
    assert (one.n_pool, one.name) == (60, "linear")


def test_the_scenario_s_own_seed_changes_no_trial():
    one, two = (scenarios.make("trials/segments", seed=seed, n_pool=30).trial(1) for seed in (0, 9))
    assert np.array_equal(one.pool_x, two.pool_x)


def test_acic_goes_through_its_instances():
    pytest.importorskip("causallib", reason="causallib is not installed")
    from causallib.datasets import load_acic16

    scenario = scenarios.make("trials/acic16")
    for seed, instance in ((0, 1), (9, 10), (10, 1), (13, 4)):
        trial = scenario.trial(seed)
        assert np.isin(trial.pool.y0, load_acic16(instance=instance, raw=True)[1]["y0"]).all()
    third = scenarios.make("trials/acic16", instance=3)
    assert np.isin(third.trial(0).pool.y0, load_acic16(instance=3, raw=True)[1]["y0"]).all()


def test_the_description_has_the_shapes_of_a_trial():
    about = scenarios.make("trials/synthetic_gotv", n_units=600).describe()
    assert about.real is False
    assert about.shapes["pool"][1] == about.shapes["observational"][1] == 8
    assert "generated" in about.summary


@pytest.mark.parametrize("name", ["hillstrom", "gotv", "starbucks"])
def test_real_trials_without_their_archive_say_how_to_fetch_it(name, monkeypatch, tmp_path):
    monkeypatch.setenv("SCISUITE_CACHE", str(tmp_path))
    command = "python -m scisuite.scenarios.rct_archive fetch"
    with pytest.raises(DataUnavailable, match=f"has not been fetched; fetch it with: {command}"):
        scenarios.make(f"trials/{name}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "segment"}, "^unknown kind of trial 'segment'; did you mean 'segments'"),
        ({"kind": 3}, "^unknown kind of trial 3"),
        ({"kind": "segments", "n_pol": 3}, "^trial 'segments' has no argument 'n_pol'; did you mean 'n_pool'"),
        ({"kind": "segments", "tails": "t4"}, "^trial 'segments' has no argument 'tails'"),
        ({"kind": "segments", "n_pool": 0}, "^n_pool must be a whole number from 1, not 0$"),
        ({"kind": "segments", "n_pool": 2.5}, "^n_pool must be a whole number from 1, not 2.5$"),
        ({"kind": "segments", "n_pool": True}, "^n_pool must be a whole number from 1, not True$"),
        ({"kind": "linear", "n_test": None}, "^n_test must be a whole number from 1, not None$"),
        ({"kind": "synthetic_gotv", "archive": "x"}, "^trial 'synthetic_gotv' has no argument 'archive'"),
        ({"kind": "hillstrom", "archive": "/no/such/file"}, "^no such archive: /no/such/file$"),
        ({"kind": "segments", "rng": 1}, "^trial 'segments' has no argument 'rng'"),
    ],
)
def test_arguments_that_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        TrialScenario(**arguments)


def test_making_a_world_of_the_base_install_imports_nothing_heavy():
    heavy = ("pandas", "torch", "sklearn", "econml", "causallib", "sklift")
    code = (
        "import sys; from scisuite import scenarios; scenarios.make('trials/segments').trial(0);"
        "scenarios.make('trials/synthetic_hillstrom', n_units=100).trial(0);"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
