"""Claims by other statistics than means, claims of several parts, and what is refused before anything runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scisuite.bench.claims import judge
from scisuite.bench.experiment import Arm, Claim, Experiment, Limit, Tier
from scisuite.bench.intervals import resampled
from scisuite.core import InvalidInput


def _rows_of(arm, scenario, values):
    return [
        {
            "experiment": "toy",
            "tier": "quick",
            "arm": arm,
            "scenario": scenario,
            "seed": seed,
            "status": "ok",
            "metrics": {"loss": value},
            "cost": {"cpu_seconds": 2 * value},
            "code": "a-b",
        }
        for seed, value in enumerate(values)
    ]


def _measured(arm, scenario, **metrics):
    """One row a seed; each metric is a list of one number a seed."""
    rows = _rows_of(arm, scenario, next(iter(metrics.values())))
    for row in rows:
        row["metrics"] = {name: values[row["seed"]] for name, values in metrics.items()}
    return rows


def alone(id="toy.lone", metric="loss", statistic="median", relation=">=", target=1.0, arm="a", **rest):
    return Claim(id, "", metric, arm, None, rest.pop("scenarios", ("s",)), statistic, relation, target, **rest)


def test_a_median_is_over_the_values_of_all_pooled_metrics_and_resamples_seeds():
    rng = np.random.default_rng(3)
    k4, k5 = rng.normal(1.5, 0.2, 9), rng.normal(0.5, 0.2, 9)
    rows = _measured("a", "s", k4=k4.tolist(), k5=k5.tolist())
    both = judge(alone(metric=("k4", "k5")), rows)
    assert both.value == np.median(np.concatenate([k4, k5]))
    assert both.low < both.value < both.high
    assert both.seeds == 9
    # A seed's two values stay together, so that half of every resample lies at either level.
    assert both.low > 0.5
    assert both.high < 1.5
    one = judge(alone(metric="k4"), rows)
    assert one.value == np.median(k4)


def test_below_six_seeds_a_pooled_median_is_taken_seed_by_seed():
    rows = _measured("a", "s", k4=[1.0, 2.0, 9.0], k5=[3.0, 2.0, 9.0], k6=[5.0, 8.0, 0.0])
    verdict = judge(alone(metric=("k4", "k5", "k6"), target=2.0), rows)
    assert (verdict.value, verdict.low, verdict.high, verdict.verdict) == (3.0, 2.0, 9.0, "holds")
    assert verdict.by_scenario[0].to_json()["metric"] == "k4, k5, k6"


def test_a_pooled_metric_that_is_missing_leaves_it_undecided():
    rows = _measured("a", "s", k4=[1.0] * 8, k5=[1.0] * 7 + [None])
    verdict = judge(alone(metric=("k4", "k5")), rows)
    assert (verdict.verdict, verdict.reason) == ("undecided", "a on s, seed 7: the metric k5 is not finite")


def test_a_joint_claim_is_about_the_worst_of_its_cases_in_every_resample_of_the_seeds():
    low = [0.0, 4.0, 2.0]
    rows = [*_rows_of("a", "s", low), *_rows_of("a", "t", [3.0, 1.0, 3.0]), *_rows_of("b", "s", [9.0] * 3)]
    rows += _rows_of("b", "t", [9.0] * 3)
    asked = alone(scenarios=("s", "t"), also=(("b", None),), target=1.0)
    together = judge(replace(asked, jointly=True), rows)
    assert (together.value, together.low, together.high, together.scenario) == (2.0, 0.0, 3.0, "s, a")
    assert together.verdict == "undecided"
    apart = judge(asked, rows)
    assert together.by_scenario[0].low == apart.by_scenario[0].low == 0.0
    assert [case.verdict for case in together.by_scenario] == ["undecided", "holds", "holds", "holds"]
    # Below six seeds the interval reaches around the value: each of five worlds fails another of five seeds.
    rows = [row for world in range(5) for row in _rows_of("a", f"w{world}", [2.0 - 2 * (world == i) for i in range(5)])]
    spread = judge(alone(scenarios=tuple(f"w{world}" for world in range(5)), jointly=True), rows)
    assert (spread.verdict, spread.value, spread.low, spread.high) == ("undecided", 2.0, 0.0, 2.0)
    # Each world fails half of the seeds, in turn: none fails by itself, the worst of them always does.
    rows = [*_rows_of("a", "s", [0.0, 2.0] * 4), *_rows_of("a", "t", [2.0, 0.0] * 4)]
    in_turn = alone(statistic="mean", scenarios=("s", "t"), target=1.5)
    assert judge(in_turn, rows).verdict == "undecided"
    joint = judge(replace(in_turn, jointly=True), rows)
    assert (joint.verdict, joint.value, joint.seeds) == ("fails", 1.0, 8)
    assert joint.high <= 1.0
    rows.pop()
    assert judge(replace(in_turn, jointly=True), rows).reason == "its arms and scenarios do not all have the same seeds"
    assert judge(replace(in_turn, jointly=True), rows[:8]).reason == "there is no row of a on t"


def test_a_joint_claim_can_be_about_the_median_of_its_scenarios():
    worlds = {"s": [0.0, 4.0, 2.0], "t": [3.0, 1.0, 3.0], "u": [5.0, 6.0, 9.0]}
    rows = [row for world, values in worlds.items() for row in _rows_of("a", world, values)]
    asked = alone(scenarios=("s", "t", "u"), jointly=True, across="median", target=3.0)
    verdict = judge(asked, rows)
    # Of the medians 2, 3 and 6 it is 3; seed by seed it is 3, 4 and 3.
    assert (verdict.value, verdict.low, verdict.high, verdict.verdict) == (3.0, 3.0, 4.0, "holds")
    assert verdict.scenario == "median of 3 scenarios"
    assert judge(replace(asked, target=3.5), rows).verdict == "undecided"
    many = [row for world, values in worlds.items() for row in _rows_of("a", world, values * 3)]
    resampled = judge(asked, many)
    assert resampled.value == 3.0
    assert 1.0 <= resampled.low < resampled.high <= 6.0
    assert judge(asked, rows[:-3]).reason == "there is no row of a on u"


def test_a_cell_that_resampled_its_own_units_brings_its_own_interval():
    asked = alone(metric="rate", statistic="resampled", target=0.5)
    rows = _measured("a", "s", rate=[0.6], rate_low=[0.55], rate_high=[0.7])
    verdict = judge(asked, rows)
    assert (verdict.value, verdict.low, verdict.high, verdict.verdict) == (0.6, 0.55, 0.7, "holds")
    assert judge(replace(asked, target=0.65), rows).verdict == "undecided"
    assert judge(asked, _measured("a", "s", rate=[0.6], rate_low=[0.55])).reason == (
        "a on s, seed 0: the metric rate_high is missing"
    )
    twice = _measured("a", "s", rate=[0.6, 0.6], rate_low=[0.55, 0.5], rate_high=[0.7, 0.7])
    assert judge(asked, twice).reason == "a has 2 seeds, each with an interval of its own"


def test_resampling_within_a_cell_is_the_bootstrap_of_its_units():
    rng = np.random.default_rng(0)
    ones = rng.normal(3.0, 1.0, (400, 1))
    found = resampled("m", [ones], lambda mean: mean[..., 0], np.random.default_rng(1))
    standard_error = ones.std() / 20
    assert found["m"] == ones.mean()
    np.testing.assert_allclose(
        [found["m_low"], found["m_high"]],
        ones.mean() + 1.96 * standard_error * np.array([-1, 1]),
        atol=0.15 * standard_error,
    )
    few = resampled("m", [np.array([[1.0], [4.0], [2.0]])], lambda mean: mean[..., 0], np.random.default_rng(1))
    assert few == {"m": 7 / 3, "m_low": 1.0, "m_high": 4.0}
    pair = np.column_stack([ones[:, 0], ones[:, 0] / 2])
    ratio = resampled("r", [pair], lambda mean: mean[..., 1] / mean[..., 0], np.random.default_rng(1))
    np.testing.assert_allclose(list(ratio.values()), 0.5)
    with pytest.raises(InvalidInput, match="there is nothing to resample"):
        resampled("m", [np.empty((0, 1))], lambda mean: mean[..., 0], rng)


def test_a_minimum_and_a_maximum_are_exact_over_seeds_scenarios_and_arms():
    rows = [*_rows_of("a", "s", [1.0] * 8), *_rows_of("a", "t", [1.0] * 7 + [0.9]), *_rows_of("b", "s", [0.8] * 8)]
    least = alone(statistic="minimum", scenarios=("s", "t"))
    verdict = judge(least, rows)
    assert (verdict.verdict, verdict.value, verdict.low, verdict.high) == ("fails", 0.9, 0.9, 0.9)
    assert verdict.scenario == "t"
    assert judge(replace(least, target=0.9), rows).verdict == "holds"
    greatest = alone(statistic="maximum", relation="<=", target=1.0, scenarios=("s",), also=(("b", None),))
    verdict = judge(greatest, rows)
    assert (verdict.verdict, verdict.value, verdict.scenario) == ("holds", 1.0, "s, a")
    assert [case.scenario for case in verdict.by_scenario] == ["s, a", "s, b"]
    assert judge(alone(metric=("loss", "cost.cpu_seconds"), statistic="minimum"), rows).value == 1.0


PARTS = Claim(
    "toy.whole",
    "fast, and as good",
    parts=(
        Claim("toy.whole.ratio", "loss, a / b", "loss", "a", "b", ("s",), target=0.6),
        alone("toy.whole.least", arm="b", statistic="minimum", target=2.0),
        alone("toy.whole.printed", "cost.cpu_seconds", "mean", target=None),
    ),
    paper="better",
)


def _whole(a=1.0, b=2.0):
    return judge(PARTS, [*_rows_of("a", "s", [a] * 8), *_rows_of("b", "s", [b] * 8)])


def test_all_parts_must_hold_and_among_equals_the_first_is_shown():
    held = _whole()
    assert (held.verdict, held.value, held.shown.target, held.claim) == ("holds", 0.5, 0.6, PARTS)
    assert [part.verdict for part in held.parts] == ["holds", "holds", "reported"]
    second_fails = _whole(0.5, 1.0)
    assert (second_fails.verdict, second_fails.value, second_fails.shown.id) == ("fails", 1.0, "toy.whole.least")
    both_fail = _whole(1.0, 1.0)
    assert (both_fail.verdict, both_fail.shown.id) == ("fails", "toy.whole.ratio")
    one_missing = judge(PARTS, _rows_of("b", "s", [2.0] * 8))
    assert (one_missing.verdict, one_missing.reason) == ("undecided", "there is no row of a on s")
    assert [part.verdict for part in one_missing.parts] == ["undecided", "holds", "undecided"]
    worse = judge(PARTS, _rows_of("b", "s", [1.0] * 8))
    assert (worse.verdict, worse.shown.id) == ("fails", "toy.whole.least")


def test_parts_without_any_target_are_reported():
    only = replace(PARTS, parts=PARTS.parts[2:])
    assert judge(only, _rows_of("a", "s", [1.0] * 8)).verdict == "reported"


def test_the_json_of_a_claim_of_parts_has_each_with_its_number_interval_and_bar():
    json = _whole().to_json()
    assert (json["id"], json["target"], json["relation"], json["paper"]) == ("toy.whole", 0.6, "<=", "better")
    told = [
        [case[name] for name in ("id", "metric", "arm", "against", "statistic", "relation", "target", "value", "low")]
        for case in json["by_scenario"]
    ]
    assert told == [
        ["toy.whole.ratio", "loss", "a", "b", "ratio_of_means", "<=", 0.6, 0.5, 0.5],
        ["toy.whole.least", "loss", "b", None, "minimum", ">=", 2.0, 2.0, 2.0],
        ["toy.whole.printed", "cost.cpu_seconds", "a", None, "mean", ">=", None, 2.0, 2.0],
    ]


def _experiment(*claims, **changes):
    arms = tuple(Arm(id, "m:f", "method") for id in "ab")
    return Experiment("toy", "A toy", arms, claims, {"quick": Tier(("a", "b"), ("s",), 8, "1 steps")}, **changes)


def test_the_rows_are_those_of_the_experiment_whatever_the_claims_are_called():
    claim = alone("other.lone", target=None)
    experiment = _experiment(claim, prefix="other")
    rows = _rows_of("a", "s", [1.0] * 8)
    assert judge(claim, rows, experiment).value == 1.0
    assert judge(claim, rows).reason == "there is no row of a on s"
    elsewhere = [{**row, "experiment": "other", "metrics": {"loss": 9.0}} for row in rows]
    assert judge(claim, [*rows, *elsewhere], experiment).value == 1.0


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (alone("lone"), "claim id lone must start with toy."),
        (alone(arm="c"), "toy.lone names unknown arms ['c']"),
        (alone(metric=()), "toy.lone must name a metric, an arm and a scenario"),
        (alone(scenarios=()), "toy.lone must name a metric, an arm and a scenario"),
        (alone(also=(("b", "a"),)), "toy.lone: a median is of one arm: there is nothing to be against"),
        (alone(statistic="ratio_of_means"), "toy.lone: a ratio of means compares two arms"),
        (alone(statistic="minimum", relation="<="), "toy.lone: a minimum is held to >= a target"),
        (
            Claim("toy.lone", "", "loss", "a", "b", ("s",), jointly=True),
            "toy.lone: only a statistic of one arm is judged jointly",
        ),
        (
            alone(statistic="resampled", pooled=True),
            "toy.lone: what a cell has resampled is judged by itself, one metric at a time",
        ),
        (
            Claim("toy.lone", "", "loss", "a", None, ("s",), "median", across="median"),
            "toy.lone: only a claim that is judged jointly is about a median of scenarios",
        ),
        (alone(statistic="maximum"), "toy.lone: a maximum is held to <= a target"),
        (replace(PARTS, arm="a"), "toy.whole has parts: metrics, arms, scenarios and targets are theirs"),
        (
            replace(PARTS, parts=(alone(),)),
            "toy.lone: a part of toy.whole has no parts itself, and an id below that of the claim",
        ),
        (replace(PARTS, parts=(alone("toy.whole.x", arm="c"),)), "toy.whole names unknown arms ['c']"),
    ],
)
def test_a_claim_that_nothing_could_judge_is_refused(claim, message):
    with pytest.raises(InvalidInput) as caught:
        _experiment(claim)
    assert str(caught.value) == message


def test_what_a_claim_of_parts_needs_and_which_tier_can_decide_it():
    elsewhere = replace(PARTS.parts[1], scenarios=("t",))
    whole = replace(PARTS, parts=(PARTS.parts[0], elsewhere))
    assert whole.arms == ("a", "b")
    assert whole.needs == {("a", "s"), ("b", "s"), ("b", "t")}
    narrow = {"b": Limit(scenarios=("s",))}
    tiers = {
        "one": Tier(("a", "b"), ("s",), 8, "1 steps"),
        "both": Tier(("a", "b"), ("s", "t"), 8, "1 steps"),
        "narrow": Tier(("a", "b"), ("s", "t"), 8, "1 steps", narrow),
    }
    experiment = replace(_experiment(whole), tiers=tiers)
    assert [bool(experiment.claims_in(tier)) for tier in tiers] == [False, True, False]
