"""A claim of several parts shows each of them, wherever claims are shown."""

from __future__ import annotations

import dataclasses
import re

import pytest

from scisuite.bench import Claim
from scisuite.bench.cli.facts import _bars
from scisuite.bench.cli.results import Result, print_result
from scisuite.bench.report import build_html, build_markdown
from scisuite.bench.report.digest import digest
from scisuite.bench.report.forest import forest_plot
from scisuite.bench.report.formats import bar

WHOLE = Claim(
    "demo.whole",
    "Better than random, and never bad",
    parts=(
        Claim(
            "demo.whole.ratio",
            "AUC, LABO / random",
            "auc_regret",
            "labo",
            "random",
            ("functions/hartmann6", "materials/photo_pce10"),
            target=0.75,
        ),
        Claim(
            "demo.whole.worst",
            "Greatest final regret",
            "final_regret",
            "labo",
            None,
            ("functions/hartmann6",),
            "maximum",
            target=1e-9,
        ),
        Claim("demo.whole.queries", "LLM / real", "llm_to_real", "labo", None, ("functions/hartmann6",), "median"),
    ),
)


@pytest.fixture
def rows(make_rows):
    return make_rows(["labo", "random"], seeds=6)


@pytest.fixture
def experiments(make_experiment):
    experiment = make_experiment(["labo", "random"], seeds=6)
    return {"demo": dataclasses.replace(experiment, claims=(WHOLE,))}


def test_the_page_lists_every_part_with_its_number_and_its_bar(rows, experiments):
    page = re.sub(r"<[^>]+>|\s+", " ", build_html(rows, command="x", experiments=experiments))
    assert "✓ holds AUC, LABO / random: 0." in re.sub(" +", " ", page)
    assert "; ≤ 0.750" in page
    assert "✗ fails Greatest final regret: 0." in re.sub(" +", " ", page)
    assert "; ≤ 1e−9" in page
    assert "• reported LLM / real: " in re.sub(" +", " ", page)
    assert "all 4 cases" in page
    assert "demo.whole.ratio, materials/photo_pce10: 0." in re.sub(" +", " ", page)


def test_the_markdown_has_a_line_for_the_claim_and_one_for_each_part(rows, experiments):
    lines = build_markdown(rows, experiments=experiments).splitlines()
    told = [[cell.strip() for cell in line.split(" | ")] for line in lines if "demo.whole" in line]
    assert [line[0].strip("| ").replace("\\", "") for line in told] == [
        "demo.whole",
        "↳ demo.whole.ratio",
        "↳ demo.whole.worst",
        "↳ demo.whole.queries",
    ]
    assert [line[3] for line in told] == ["≤ 1e−9", "≤ 0.750", "≤ 1e−9", "–"]
    assert [line[5] for line in told] == ["✗ fails", "✓ holds", "✗ fails", "• reported"]
    assert told[0][2] == told[2][2]


def test_the_forest_has_a_line_for_each_part(rows, experiments):
    plot = forest_plot(digest(rows, experiments).studies[0].judged, "f-")
    texts = [node.text for node in plot.svg.iter("text")]
    assert {"demo.whole.ratio", "demo.whole.worst", "demo.whole.queries"} <= set(texts)
    assert "demo.whole" not in texts
    assert {"ratio of means", "maximum: final_regret", "median: llm_to_real"} <= set(texts)


def test_the_terminal_and_the_json_have_every_part(rows, experiments, capsys):
    result = Result.of(experiments["demo"], "quick", 6, rows, (WHOLE,))
    print_result(result)
    printed = capsys.readouterr().out
    assert re.search(r"↳ demo\.whole\.ratio .* ≤ 0\.75 .* holds", printed)
    assert re.search(r"↳ demo\.whole\.worst .* ≤ 1e-09 .* fails", printed)
    (claim,) = result.to_json()["claims"]
    assert (claim["verdict"], claim["target"]) == ("fails", 1e-9)
    assert [case["metric"] for case in claim["by_scenario"]] == [
        "auc_regret",
        "auc_regret",
        "final_regret",
        "llm_to_real",
    ]


def test_what_info_says_that_it_is_held_against():
    assert _bars(WHOLE) == "ratio <= 0.75; worst <= 1e-09; queries published, not judged"
    assert _bars(WHOLE.parts[0]) == "<= 0.75"
    assert bar(">=", 5e6) == "≥ 5e6"


def test_a_scenario_shows_the_first_metric_that_it_has(make_rows, experiments):
    rows = make_rows(["labo"], ["functions/hartmann6"], seeds=2)
    rows += make_rows(["labo"], ["materials/p3ht"], seeds=2, metrics={"final_regret": 0.5})
    study = digest(rows, experiments).studies[0]
    assert study.metrics_on("functions/hartmann6")[0] == "auc_regret"
    assert study.metrics_on("materials/p3ht") == ("final_regret",)
    assert "| arm | role | final\\_regret |" in build_markdown(rows, experiments=experiments)


def test_an_arm_that_measures_something_else_counts_its_seeds_all_the_same(make_rows, experiments):
    rows = make_rows(["labo"], ["functions/hartmann6"], seeds=3)
    rows += make_rows(["random"], ["functions/hartmann6"], seeds=2, metrics={"final_regret": 0.5})
    rows[0]["metrics"]["auc_regret"] = None
    study = digest(rows, experiments).studies[0]
    counted = [study.answered(arm, "functions/hartmann6", "auc_regret") for arm in ("labo", "random")]
    assert counted == [2, 2]
    assert study.answered("random", "functions/hartmann6", "") == 2
    lines = build_markdown(rows, experiments=experiments).splitlines()
    assert any(line.startswith("| random | floor | – | 2 |") for line in lines)
