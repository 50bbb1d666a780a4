"""Rows put in order, and refused where they are not rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.bench.report.digest import digest, mean_interval, mean_of, repeat_command
from scisuite.core import InvalidInput, NewerFormat


def test_arms_come_by_role_and_the_order_of_rows_does_not_matter(make_rows, make_experiment):
    rows = make_rows(["gate_off", "random", "labo", "mfkg"], seeds=2)
    experiments = {"demo": make_experiment()}
    study = digest(rows, experiments).studies[0]
    assert study.arms == ("labo", "mfkg", "random", "gate_off")
    assert study.scenarios == ("functions/hartmann6", "materials/photo_pce10")
    assert study.headline == "auc_regret"
    assert digest(rows[::-1], experiments).rows == digest(rows, experiments).rows


def test_the_curve_of_the_headline_metric_comes_first(make_rows, make_experiment):
    rows = make_rows(["labo"], seeds=1)
    curve = rows[0]["curves"]["regret"]
    for names, order in [
        (("best", "regret", "asked"), ("regret", "asked", "best")),
        (("auc", "auc_regret", "best"), ("auc_regret", "auc", "best")),
        (("loss", "best"), ("best", "loss")),
    ]:
        for row in rows:
            row["curves"] = dict.fromkeys(names, curve)
        assert digest(rows, {"demo": make_experiment()}).studies[0].curves == order


def test_tiers_and_experiments_are_told_apart(make_rows, make_experiment):
    rows = make_rows(seeds=1) + make_rows(seeds=1, tier="smoke") + make_rows(seeds=1, experiment="other")
    studies = digest(rows, {"demo": make_experiment()}).studies
    assert [(study.slug, study.tier) for study in studies] == [("demo", "quick"), ("demo", "smoke"), ("other", "quick")]
    assert studies[0].experiment is not None
    assert studies[2].experiment is None
    assert "UnknownName: unknown experiment 'other'" in studies[2].problem


def test_a_tier_judges_what_it_can_decide_and_names_the_rest(make_rows, make_experiment):
    rows = make_rows(scenarios=["functions/hartmann6"], seeds=2, tier="smoke")
    study = digest(rows, {"demo": make_experiment()}).studies[0]
    assert [item.claim.id for item in study.judged] == ["demo.regret", "demo.difference", "demo.published"]
    assert study.left_out == ("demo.gate", "demo.tiny", "demo.ratio", "demo.absent")


def test_of_two_rows_of_one_cell_the_later_counts(make_rows):
    rows = make_rows(["labo"], seeds=1)
    rows.append({**rows[0], "metrics": {"auc_regret": 99.0}})
    summary = digest(rows)
    assert summary.repeated == 1
    assert summary.studies[0].metric("labo", "functions/hartmann6", "auc_regret").value == 99.0


def test_a_failed_seed_is_not_averaged(make_rows):
    rows = make_rows(["labo"], ["s"], seeds=3)
    rows[1].update(status="error", error="boom")
    rows[2]["metrics"]["auc_regret"] = math.nan
    mean = digest(rows).studies[0].metric("labo", "s", "auc_regret")
    assert mean.seeds == 1
    assert mean.value == rows[0]["metrics"]["auc_regret"]


def test_the_sources_half_of_code_is_compared_and_the_packages_half_is_not(make_rows):
    rows = make_rows(["labo"], ["s"], seeds=2)
    rows[1]["code"] = "0123456789ab-ffffffffffff"
    assert digest(rows).environments["sources"] == {"0123456789ab": 2}
    rows[1]["code"] = "ffffffffffff-ffffffffffff"
    assert len(digest(rows).environments["sources"]) == 2


def test_the_command_to_repeat_names_arms_only_where_some_are_left_out(make_rows, make_experiment):
    experiments = {"demo": make_experiment()}
    whole = digest(make_rows(seeds=8), experiments).studies[0]
    assert repeat_command(whole) == "scisuite bench demo --tier quick --seeds 8"
    part = digest(make_rows(["labo", "mfkg"], seeds=3), experiments).studies[0]
    assert repeat_command(part) == "scisuite bench demo --tier quick --seeds 3 --arm labo --arm mfkg"
    hostile = digest(make_rows(seeds=1, experiment="a; rm -rf ~")).studies[0]
    assert repeat_command(hostile).startswith("scisuite bench 'a; rm -rf ~' ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"arm": None}, "has no arm"),
        ({"seed": "3"}, "seed must be an integer, not '3'"),
        ({"seed": True}, "seed must be an integer, not True"),
        ({"status": "fine"}, "status must be one of ok, error, skipped, not 'fine'"),
        ({"metrics": {"m": "<b>1</b>"}}, "metrics 'm' is '<b>1</b>', not a number"),
        ({"cost": {"cpu_seconds": [1]}}, "cost 'cpu_seconds' is"),
        ({"metrics": [1]}, "metrics must be a mapping"),
        ({"curves": {"c": {"x": [1, 2], "y": [1]}}}, "curve 'c' has 2 x but 1 y"),
        ({"curves": {"c": {"x": 1, "y": [1]}}}, "curve 'c' must have lists x and y"),
        ({"curves": {"c": {"x": [1], "y": ["1"]}}}, "curve 'c' holds something that is not a number"),
    ],
)
def test_what_is_not_a_row_is_refused(make_rows, change, message):
    row = {**make_rows(["labo"], seeds=1)[0], **change}
    with pytest.raises(InvalidInput, match=r"row 1 \(labo-0-0\)") as caught:
        digest([row])
    assert message in str(caught.value)


def test_no_rows_and_rows_of_the_future_are_refused(make_rows):
    with pytest.raises(InvalidInput, match="there are no rows to report"):
        digest([])
    with pytest.raises(NewerFormat, match="has schema 2"):
        digest(make_rows(seeds=1, schema=2))
    with pytest.raises(InvalidInput, match="row 1 is a str, not a mapping"):
        digest(["row"])


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12))
def test_the_mean_lies_in_its_interval_and_the_interval_in_the_data(values):
    mean = mean_of(values)
    tolerance = 1e-9 * (1 + max(map(abs, values)))
    assert min(values) - tolerance <= mean.low <= mean.value + tolerance
    assert mean.value - tolerance <= mean.high <= max(values) + tolerance
    assert mean.value == pytest.approx(np.mean(values), abs=tolerance)


def test_below_six_seeds_the_interval_is_the_range_and_above_it_is_narrower():
    values = np.arange(8.0)[:, None]
    _, low, high = mean_interval(values[:5])
    assert (low[0], high[0]) == (0.0, 4.0)
    mean, low, high = mean_interval(values)
    # 1.96 standard errors of the mean of 0 … 7.
    assert high[0] - low[0] == pytest.approx(2 * 1.96 * values.std() / math.sqrt(8), rel=0.05)
    assert low[0] < mean[0] < high[0]


def test_a_seed_without_a_value_is_left_out_at_that_point_only():
    values = np.full((7, 3), 2.0)
    values[0, 0] = np.nan
    values[:, 2] = np.nan
    mean, low, high = mean_interval(values)
    assert mean[:2].tolist() == low[:2].tolist() == high[:2].tolist() == [2.0, 2.0]
    assert np.isnan([mean[2], low[2], high[2]]).all()
