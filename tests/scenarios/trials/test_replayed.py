"""Replayed trials: the loader on generated tables of the real ones' schema, and the real tables where they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import platformdirs
import pytest

from scisuite.core import DamagedFile, InvalidInput
from scisuite.scenarios import check_scenario, rct_archive
from scisuite.scenarios.trials import TrialScenario, qini, synthetic_tables
from scisuite.scenarios.trials.replayed import SHARES, TABLES, read_units, replayed, synthetic

NAMES = tuple(TABLES)


def archive():
    """The real archive in this run's cache or in the user's, where it was fetched."""
    places = [
        rct_archive.cached_archive(),
        rct_archive.cached_archive(Path(platformdirs.user_cache_dir("scisuite")) / "rct_archive"),
    ]
    return next((str(place) for place in places if place.is_file()), None)


real = pytest.mark.skipif(archive() is None, reason=f"the archive of real trials is absent; {rct_archive.FETCH}")


def text_of(name, n=400, seed=0):
    return synthetic_tables.MAKE[name](np.random.default_rng(seed), n)


@pytest.mark.parametrize(
    ("name", "header"),
    [
        (
            "hillstrom",
            "recency,history_segment,history,mens,womens,zip_code,newbie,channel,segment,visit,conversion,spend",
        ),
        ("gotv", "sex,yob,g2000,g2002,g2004,p2000,p2002,p2004,treatment,voted,hh_size"),
        ("starbucks", "ID,Promotion,purchase,V1,V2,V3,V4,V5,V6,V7"),
    ],
)
def test_generated_tables_have_the_real_columns(name, header):
    assert text_of(name).splitlines()[0] == header


@pytest.mark.parametrize("name", NAMES)
def test_generated_tables_have_the_real_labels_of_the_arms(name):
    text = text_of(name)
    for label in TABLES[name].arms:
        assert f",{label}," in text


@pytest.mark.parametrize("name", NAMES)
def test_slices_are_disjoint_and_nothing_is_invented(name):
    rng = np.random.default_rng(3)
    trial = synthetic(name, rng, n_units=2000)
    again = np.random.default_rng(3)
    units = read_units(TABLES[name], [synthetic_tables.MAKE[name](again, 2000)])
    assert trial.name == f"synthetic_{name}"
    assert (trial.replay, trial.binary, trial.knows_effects) == (True, True, False)
    rows = np.concatenate(list(trial.rows.values()))
    assert len(np.unique(rows)) == len(rows)
    slices = {
        "observational": trial.observational,
        "pool": trial.pool,
        "validation": trial.validation,
        "test": trial.test,
    }
    for what, logged in slices.items():
        here = trial.rows[what]
        assert np.array_equal(logged.x, units.x[here])
        assert np.array_equal(logged.t, units.t[here])
        assert np.array_equal(logged.y, units.y[here])
        assert logged.p is None if what == "observational" else set(logged.p) == {TABLES[name].p}
        if what != "observational":
            assert len(here) == pytest.approx(SHARES[what] * len(units.y), abs=4)
    assert np.array_equal(trial.pool_x, trial.pool.x)


def test_households_stay_together():
    trial = synthetic("gotv", np.random.default_rng(0), n_units=3000)
    groups = [set(s.group) for s in (trial.observational, trial.pool, trial.validation, trial.test)]
    assert sum(map(len, groups)) == len(set.union(*groups))
    for logged in (trial.pool, trial.test):
        treated = {g: set(logged.t[logged.group == g]) for g in list(set(logged.group))[:50]}
        assert all(len(arms) == 1 for arms in treated.values())
    sizes = np.unique(trial.test.group, return_counts=True)[1]
    assert sizes.max() > 1


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_cuts_the_same(name):
    one, two, other = (synthetic(name, np.random.default_rng(seed), n_units=300) for seed in (0, 0, 1))
    for what in SHARES:
        assert np.array_equal(one.rows[what], two.rows[what])
    assert not np.array_equal(one.rows["pool"], other.rows["pool"])
    assert np.array_equal(one.test.x, two.test.x)


@pytest.mark.parametrize("name", NAMES)
def test_the_log_is_biased_and_somewhere_next_to_nobody_is_treated(name):
    naive, truth, low, high = [], [], [], []
    for seed in range(2):
        # At p = 1/6 a log keeps one unit in six.
        trial = synthetic(name, np.random.default_rng(seed), n_units=24_000 if name == "gotv" else 8000)
        log, test = trial.observational, trial.test
        naive.append(log.y[log.t == 1].mean() - log.y[log.t == 0].mean())
        truth.append(test.y[test.t == 1].mean() - test.y[test.t == 0].mean())
        s = sum(
            weight * log.x[:, trial.features.index(covariate)] / log.x[:, trial.features.index(covariate)].std()
            for covariate, weight in TABLES[name].targeting.items()
        )
        low.append(log.t[s < np.quantile(s, 0.08)].mean())
        high.append(log.t[s > np.quantile(s, 0.92)].mean())
    assert np.mean(naive) - np.mean(truth) > 0.025
    assert np.mean(low) < 0.06
    assert np.mean(high) > 0.94


def test_covariates_are_encoded_as_written():
    units = read_units(TABLES["hillstrom"], [text_of("hillstrom")])
    assert units.features[:5] == ("recency", "history", "mens", "womens", "newbie")
    assert units.features[-2:] == ("channel=Phone", "channel=Web")
    assert units.x[:, :2].mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    assert units.x[:, :2].std(axis=0) == pytest.approx([1, 1])
    assert set(np.unique(units.x[:, 2:])) == {0.0, 1.0}
    rows = [line.split(",") for line in text_of("hillstrom").replace(" $1,000", " $1000").splitlines()[1:]]
    both = [row for row in rows if row[8].strip('"') != "Mens E-Mail"]
    assert units.y.tolist() == [float(row[9]) for row in both]
    assert units.t.tolist() == [int(row[8] == "Womens E-Mail") for row in both]
    assert units.x[:, -1].tolist() == [float(row[7] == "Web") for row in both]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "hillstrom",
            lambda s: s.replace("visit", "visits", 1),
            "^a table of hillstrom.csv.zip lacks the column visit$",
        ),
        ("hillstrom", lambda s: "", "^a table of hillstrom.csv.zip lacks the column segment$"),
        ("hillstrom", lambda s: s.replace("Rural", "Rurall"), "^column zip_code has the unknown label 'Rurall'$"),
        (
            "hillstrom",
            lambda s: s.replace("No E-Mail", "None"),
            "^column segment lacks one of the arms 'Womens E-Mail'",
        ),
        ("hillstrom", lambda s: s + "1,2\n", r"^row 602 of a table of hillstrom.csv.zip has 2 entries, not 12$"),
        ("starbucks", lambda s: s.replace(",Yes,1,", ",Yes,2,"), "^column purchase has the unknown label '2'$"),
        ("starbucks", lambda s: s.replace("1,Yes", "1,Yes", 1).replace(",3", ",x"), "^column V2 holds no numbers"),
        (
            "gotv",
            lambda s: s.replace(" Control", "Control"),
            "^column treatment lacks one of the arms ' Neighbors', ' Con",
        ),
        ("gotv", lambda s: s.replace(",Yes, ", ",Maybe, "), "^column p2004 has more than two values: Yes, Maybe, No$"),
        (
            "gotv",
            lambda s: "\n".join(s.splitlines()[:1] + s.splitlines()[2:]),
            "^households do not stand together: see",
        ),
    ],
)
def test_a_table_that_is_damaged(name, change, message):
    text = text_of(name)
    if name == "gotv" and "stand together" in message:
        first = next(i for i, line in enumerate(text.splitlines()[1:], 1) if line.endswith(",2"))
        text = "\n".join([text.splitlines()[0], *text.splitlines()[first:]])
    with pytest.raises(DamagedFile, match=message):
        read_units(TABLES[name], [change(text)])


def test_too_few_units_are_refused():
    with pytest.raises(InvalidInput, match="a log of .* units would hold"):
        synthetic("gotv", np.random.default_rng(0), n_units=4)


def test_a_score_that_knows_nothing_has_no_qini_to_speak_of():
    test = synthetic("starbucks", np.random.default_rng(0), n_units=8000).test
    x = dict(zip(TrialScenario("synthetic_starbucks", n_units=200).trial(0).features, test.x.T, strict=True))
    assert qini(x["V4"], test.t, test.y) > 0.05
    assert abs(qini(np.random.default_rng(1).random(len(test)), test.t, test.y)) < 0.05


COUNTS = {
    # units, treated, rates of the outcome untreated and treated: the brief's, and the files'.
    "hillstrom": (42_693, 21_387, 0.106, 0.151),
    "gotv": (229_444, 38_201, 0.297, 0.378),
    "starbucks": (126_184, 63_112, 0.0073, 0.0168),
}


LETTERS = ("Neighbors", "Self", "Hawthorne", "Civic Duty")


def real_texts(name):
    table = TABLES[name]
    return [rct_archive.read_table(table.member, file, archive()).decode() for file in table.files]


@real
@pytest.mark.parametrize("name", NAMES)
def test_real_counts_and_rates(name):
    trial = replayed(name, np.random.default_rng(0), archive=archive())
    units, treated, untreated_rate, treated_rate = COUNTS[name]
    table = read_units(TABLES[name], real_texts(name))
    assert (len(table.y), int(table.t.sum())) == (units, treated)
    digits = 5e-5 if name == "starbucks" else 5e-4
    assert table.y[table.t == 0].mean() == pytest.approx(untreated_rate, abs=digits)
    assert table.y[table.t == 1].mean() == pytest.approx(treated_rate, abs=digits)
    # The share of units (of first members of households) that were treated is what the known probability makes it.
    first = np.arange(units) if table.group is None else np.unique(table.group, return_index=True)[1]
    p = TABLES[name].p
    assert abs(table.t[first].mean() - p) < 3 * np.sqrt(p * (1 - p) / len(first))
    log = trial.observational
    naive = log.y[log.t == 1].mean() - log.y[log.t == 0].mean()
    assert naive > 1.4 * (treated_rate - untreated_rate)
    assert sum(map(len, trial.rows.values())) < units


@real
def test_the_real_social_pressure_trial_has_its_180_002_households():
    everybody = replace(TABLES["gotv"], arms={" Control": 0} | {f" {letter}": 1 for letter in LETTERS})
    units = read_units(everybody, real_texts("gotv"))
    assert len(units.y) == 344_084
    assert len(np.unique(units.group)) == 180_002


@real
@pytest.mark.parametrize("name", NAMES)
def test_the_contract_holds_for_the_real_trials(name):
    def make(seed=0):
        scenario = TrialScenario(name, seed=seed, archive=archive(), n_units=6000)
        scenario.id = f"trials/{name}"
        return scenario

    check_scenario(make)
    with pytest.raises(InvalidInput, match=f"^{name} has [0-9]+ units, fewer than 1000000$"):
        TrialScenario(name, archive=archive(), n_units=1_000_000).trial(0)
