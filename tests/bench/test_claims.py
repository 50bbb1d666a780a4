from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.bench.claims import judge
from scisuite.bench.experiment import Claim
from scisuite.bench.intervals import interval
from scisuite.core import InvalidInput


def claim(**changes: Any) -> Claim:
    asked = {
        "id": "toy.ratio",
        "statement": "error, method / peer",
        "metric": "error",
        "arm": "method",
        "against": "peer",
        "scenarios": ("toy/line",),
        "target": 0.75,
        "paper": "0.6",
    }
    return Claim(**(asked | changes))


MEAN = {"statistic": "mean", "against": None}


def rows(arm: str, values: Any, scenario: str = "toy/line", first: int = 0, **changes: Any) -> list[dict[str, Any]]:
    return [
        {
            "experiment": "toy",
            "tier": "quick",
            "code": "aaaa-bbbb",
            "arm": arm,
            "scenario": scenario,
            "seed": first + index,
            "status": "ok",
            "error": None,
            "metrics": {"error": value},
            **changes,
        }
        for index, value in enumerate(values)
    ]


def spread(level: float, n: int = 12) -> list[float]:
    return [level * (1 + 0.02 * (index % 5)) for index in range(n)]


@pytest.mark.parametrize(
    ("relation", "target", "expected"),
    [
        ("<=", 0.75, "holds"),
        ("<=", 0.3, "fails"),
        (">=", 0.75, "fails"),
        (">=", 0.3, "holds"),
        ("<=", 0.5, "undecided"),
    ],
)
def test_the_whole_interval_decides(relation: str, target: float, expected: str) -> None:
    method = [0.5 * (1 + 0.02 * ((3 * index) % 7 - 3)) for index in range(14)]
    verdict = judge(claim(relation=relation, target=target), rows("method", method) + rows("peer", [1.0] * 14))
    assert verdict.verdict == expected
    assert verdict.low < verdict.value < verdict.high
    assert verdict.value == pytest.approx(0.5)
    assert verdict.seeds == 14
    assert ("both sides of the target 0.5" in verdict.reason) == (expected == "undecided")


def test_below_six_seeds_the_interval_is_the_least_and_the_greatest_seed_and_each_must_hold() -> None:
    peer = rows("peer", [1.0, 2.0, 4.0])
    held = judge(claim(), rows("method", [0.5, 1.2, 2.0]) + peer)
    assert (held.verdict, held.low, held.high, held.seeds) == ("holds", 0.5, 0.6, 3)
    assert held.value == pytest.approx(3.7 / 7)
    one_off = judge(claim(), rows("method", [0.5, 1.2, 3.2]) + peer)
    assert (one_off.verdict, one_off.high) == ("undecided", 0.8)
    difference = judge(claim(statistic="difference_of_means", target=0.0), rows("method", [0.5, 1.2, 2.0]) + peer)
    assert (difference.low, difference.high, difference.verdict) == (-2.0, -0.5, "holds")
    mean = judge(claim(target=2.5, **MEAN), rows("method", [0.5, 1.2, 2.0]))
    assert (mean.low, mean.high, mean.verdict) == (0.5, 2.0, "holds")


def test_unshared_seeds_are_resampled_apart_and_few_of_them_give_the_extremes() -> None:
    verdict = judge(claim(), rows("method", [1.0, 2.0]) + rows("peer", [4.0, 5.0, 5.0], first=2))
    assert (verdict.verdict, verdict.low, verdict.high, verdict.seeds) == ("holds", 1 / 5, 2 / 4, 2)
    noisy = np.linspace(0.5, 1.5, 20)
    paired = interval(claim(), "toy/line", noisy, 2 * noisy, paired=True)
    unpaired = interval(claim(), "toy/line", noisy, 2 * noisy, paired=False)
    assert paired == pytest.approx((0.5, 0.5))
    assert unpaired[0] < 0.45 < 0.55 < unpaired[1]


def test_an_arm_limited_to_few_seeds_is_compared_on_those() -> None:
    both = rows("method", [0.1, 0.1, 0.1, *([9.0] * 20)]) + rows("peer", [1.0] * 3)
    verdict = judge(claim(), both)
    assert (verdict.verdict, verdict.value, verdict.seeds) == ("holds", pytest.approx(0.1), 3)


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ([], "there is no row of peer on toy/line"),
        (rows("peer", spread(1.0, 11), first=1), "peer has no row for seed 0"),
        (rows("peer", [1.0]) + rows("peer", [1.0], first=3), "peer has no row for seed 1, 2"),
        (rows("peer", [*spread(1.0, 11), None]), "peer on toy/line, seed 11: the metric error is not finite"),
        (rows("peer", [*spread(1.0, 11), float("nan")]), "the metric error is not finite"),
        (rows("peer", spread(1.0), metrics={}), "peer on toy/line, seed 0: the metric error is missing"),
        (
            rows("peer", spread(1.0), status="error", error="toy.py:3 in f: raise\nValueError: no"),
            "peer on toy/line, seed 0: error: ValueError: no",
        ),
        (rows("peer", spread(1.0), status="skipped", error="needs x"), "seed 0: skipped: needs x"),
        (rows("peer", spread(1.0), code="cccc-bbbb"), "different versions of the code"),
        (rows("peer", [0.0] * 12), "error of peer is not clear of zero"),
    ],
)
def test_what_is_missing_or_failed_leaves_a_claim_undecided_with_the_reason(broken: Any, reason: str) -> None:
    verdict = judge(claim(), rows("method", spread(0.5)) + broken)
    assert verdict.verdict == "undecided"
    assert reason in verdict.reason
    assert (verdict.value, verdict.low, verdict.high) == (None, None, None)


def test_arms_may_need_different_packages_but_each_only_one_version_of_them() -> None:
    method = rows("method", spread(0.5))
    assert judge(claim(), method + rows("peer", spread(1.0), code="aaaa-dddd")).verdict == "holds"
    mixed = rows("peer", spread(1.0, 6)) + rows("peer", spread(1.0, 6), first=6, code="aaaa-dddd")
    assert judge(claim(), method + mixed).verdict == "undecided"


def test_all_scenarios_must_hold_and_the_worst_is_shown() -> None:
    names = ("toy/a", "toy/b", "toy/c")

    def on(levels: tuple[float, ...]) -> Any:
        made = [r for name, level in zip(names, levels, strict=True) for r in rows("method", spread(level), name)]
        return judge(claim(scenarios=names), made + [r for name in names for r in rows("peer", spread(1.0), name)])

    held = on((0.2, 0.6, 0.4))
    assert (held.verdict, held.scenario) == ("holds", "toy/b")
    failed = on((0.2, 0.9, 0.8))
    assert (failed.verdict, failed.scenario) == ("fails", "toy/b")
    assert [part.verdict for part in failed.by_scenario] == ["holds", "fails", "fails"]
    one_missing = judge(
        claim(scenarios=names[:2]), rows("method", spread(0.2), "toy/a") + rows("peer", spread(1.0), "toy/a")
    )
    assert (one_missing.verdict, one_missing.scenario) == ("undecided", "toy/b")
    fails_all_the_same = judge(
        claim(scenarios=names[:2]), rows("method", spread(0.9), "toy/a") + rows("peer", spread(1.0), "toy/a")
    )
    assert fails_all_the_same.verdict == "fails"
    at_least = judge(
        claim(scenarios=names[:2], relation=">=", target=0.1),
        [r for name, level in zip(names, (0.2, 0.6), strict=False) for r in rows("method", spread(level), name)]
        + [r for name in names for r in rows("peer", spread(1.0), name)],
    )
    assert (at_least.verdict, at_least.scenario) == ("holds", "toy/a")


def test_without_a_target_the_value_is_reported_and_never_judged_but_must_be_there() -> None:
    verdict = judge(claim(target=None), rows("method", spread(0.5)) + rows("peer", spread(1.0)))
    assert (verdict.verdict, verdict.reason) == ("reported", "")
    assert verdict.value == pytest.approx(0.5)
    missing = judge(claim(target=None), rows("method", spread(0.5)))
    assert (missing.verdict, missing.value, missing.reason) == (
        "undecided",
        None,
        "there is no row of peer on toy/line",
    )


def test_the_json_has_what_bench_prints_and_explains_itself() -> None:
    json = judge(claim(), rows("method", [0.5]) + rows("peer", [1.0])).to_json()
    expected = {
        "id": "toy.ratio",
        "statement": "error, method / peer",
        "verdict": "holds",
        "value": 0.5,
        "low": 0.5,
        "high": 0.5,
        "target": 0.75,
        "relation": "<=",
        "paper": "0.6",
        "scenario": "toy/line",
        "seeds": 1,
        "reason": "",
    }
    assert {name: json[name] for name in expected} == expected
    assert [part["scenario"] for part in json["by_scenario"]] == ["toy/line"]


def test_rows_of_several_tiers_or_two_of_one_cell_are_refused() -> None:
    both = rows("method", [0.5]) + rows("peer", [1.0])
    with pytest.raises(InvalidInput, match="several tiers at once"):
        judge(claim(), both + rows("peer", [1.0], tier="full"))
    with pytest.raises(InvalidInput, match="two rows of peer on toy/line with seed 0"):
        judge(claim(), both + rows("peer", [2.0]))
    other = rows("peer", [9.0], experiment="toybox", tier="full")
    assert judge(claim(), both + other).value == 0.5


positive = st.floats(0.1, 10.0)
samples = st.lists(st.tuples(positive, positive), min_size=1, max_size=12)


@settings(max_examples=20)
@given(samples, st.randoms())
def test_the_order_of_the_rows_does_not_matter(pairs: list[tuple[float, float]], random: Any) -> None:
    both = rows("method", [a for a, _ in pairs]) + rows("peer", [b for _, b in pairs])
    shuffled = list(both)
    random.shuffle(shuffled)
    assert judge(claim(), both) == judge(claim(), shuffled)


@settings(max_examples=20)
@given(samples, st.floats(0.01, 100.0))
def test_scaling_both_arms_leaves_a_ratio_and_scales_a_difference(pairs: Any, factor: float) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    scaled = rows("method", [factor * a for a in first]) + rows("peer", [factor * b for b in second])
    for statistic, power in (("ratio_of_means", 0), ("difference_of_means", 1)):
        before = judge(claim(statistic=statistic), rows("method", first) + rows("peer", second))
        after = judge(claim(statistic=statistic), scaled)
        was = np.array([before.value, before.low, before.high]) * factor**power
        np.testing.assert_allclose([after.value, after.low, after.high], was, rtol=1e-9, atol=1e-9 * factor)


@settings(max_examples=20)
@given(samples)
def test_an_interval_lies_between_the_extremes_of_its_seeds(pairs: list[tuple[float, float]]) -> None:
    ratios = [a / b for a, b in pairs]
    verdict = judge(claim(), rows("method", [a for a, _ in pairs]) + rows("peer", [b for _, b in pairs]))
    low, value, high = float(verdict.low), float(verdict.value), float(verdict.high)
    assert min(ratios) * (1 - 1e-9) <= low <= high <= max(ratios) * (1 + 1e-9)
    assert min(ratios) * (1 - 1e-9) <= value <= max(ratios) * (1 + 1e-9)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    truth, covered, trials = 2.0, 0, 150
    for _ in range(trials):
        values = rng.normal(truth, 1.0, 24)
        low, high = interval(claim(**MEAN), "toy/line", values, None, paired=True)
        covered += low <= truth <= high
    # A percentile interval of 24 normal values covers about 93 %.
    assert 0.86 <= covered / trials <= 0.99


def test_the_same_rows_give_the_same_interval_and_other_claims_other_draws() -> None:
    values = np.linspace(0.0, 1.0, 10) ** 2
    first = interval(claim(**MEAN), "toy/line", values, None, paired=True)
    assert first == interval(claim(**MEAN), "toy/line", values, None, paired=True)
    assert first != interval(claim(id="toy.other", **MEAN), "toy/line", values, None, paired=True)


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


def test_a_sweep_holds_only_if_every_step_of_it_does():
    rows = [*_rows_of("a", "s", [1.0] * 8), *_rows_of("b", "s", [2.0] * 8), *_rows_of("c", "s", [1.5] * 8)]
    rising = Claim("toy.rising", "", "loss", "b", "a", ("s",), "difference_of_means", ">=", 0.0, also=(("c", "b"),))
    verdict = judge(rising, rows)
    assert verdict.verdict == "fails"
    assert verdict.value == -0.5
    assert verdict.scenario == "s, c against b"
    assert judge(replace(rising, also=(("c", "a"),)), rows).verdict == "holds"


def test_a_pooled_claim_is_judged_on_the_mean_over_scenarios_seed_by_seed():
    rows = [*_rows_of("a", "s", [1.0] * 8), *_rows_of("a", "t", [3.0] * 8)]
    rows += [*_rows_of("b", "s", [4.0] * 8), *_rows_of("b", "t", [4.0] * 8)]
    claim = Claim("toy.pooled", "", "loss", "a", "b", ("s", "t"), target=0.5, pooled=True)
    verdict = judge(claim, rows)
    assert (verdict.verdict, verdict.value, verdict.scenario) == ("holds", 0.5, "mean of 2 scenarios")
    rows[9]["status"], rows[9]["error"] = "error", "ValueError: no"
    assert judge(claim, rows).verdict == "undecided"
    assert "ValueError: no" in judge(claim, rows).reason


def test_a_claim_may_be_about_what_a_cell_cost():
    rows = [*_rows_of("a", "s", [1.0] * 8), *_rows_of("b", "s", [4.0] * 8)]
    claim = Claim("toy.cost", "", "cost.cpu_seconds", "a", "b", ("s",), target=0.3)
    assert judge(claim, rows).value == 0.25
