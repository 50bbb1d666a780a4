"""What the plots draw, before a browser sees them."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest

from scisuite.bench.experiment import Statistic
from scisuite.bench.report import forest
from scisuite.bench.report.digest import digest
from scisuite.bench.report.elements import to_html
from scisuite.bench.report.forest import forest_plot
from scisuite.bench.report.plots import MOST_LINES, cost_plot, curve_plots, looks, shared_and_apart


def test_no_two_arms_look_the_same():
    found = looks([f"arm{i}" for i in range(64)])
    assert len({(look.colour, look.marker) for look in found.values()}) == 64
    first = list(found.values())[:MOST_LINES]
    assert len({look.colour for look in first}) == len({look.marker for look in first}) == MOST_LINES


def test_up_to_eight_arms_share_a_panel_and_then_the_ablations_leave(make_rows, make_experiment, arms):
    experiments = {"demo": make_experiment(arms)}
    few = digest(make_rows(arms[:8], seeds=1), experiments).studies[0]
    assert shared_and_apart(few, few.arms) == (list(few.arms), [])
    many = digest(make_rows(arms, seeds=1), experiments).studies[0]
    shared, apart = shared_and_apart(many, many.arms)
    assert shared == ["labo", "vanilla_llm_starts", "mfkg", "random"]
    assert sorted(shared + apart) == sorted(arms)
    unknown = digest(make_rows(arms, seeds=1, experiment="unknown")).studies[0]
    shared, apart = shared_and_apart(unknown, unknown.arms)
    assert len(shared) == MOST_LINES
    assert sorted(shared + apart) == sorted(arms)


def test_seeds_on_different_grids_meet_on_their_common_range(make_rows):
    rows = make_rows(["labo"], ["s"], seeds=2)
    for row, x in zip(rows, ([0, 1, 2, 3], [1, 2.5, 4]), strict=True):
        row["curves"] = {"line": {"x": x, "y": [2.0 * v for v in x], "x_label": "time [s]", "y_label": "length [m]"}}
    (plot,) = curve_plots(digest(rows).studies[0], "s", "p-")
    text = to_html(plot.svg)
    assert "At the end: labo 6.00 (2 seeds)" in text
    assert "time [s]" in text
    assert "length [m]" in text
    assert "the range of the seeds" in plot.caption


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1], [0.5]),
        ([1, 2], [0.0, 0.0]),
        ([1, 2, 3], [None, 1.0, None]),
        ([3, 1, 2], [1.0, 2.0, 3.0]),
        ([None, 1], [2.0, 1.0]),
        ([1, 10, 100, 1000, 10_000], [1e-9, 1e-3, 1.0, 1e3, 1e9]),
        ([0, 1], [-1e300, 1e300]),
        ([1, 1, 2], [1.0, 2.0, 3.0]),
        (list(range(5000)), [math.sin(i / 100) for i in range(5000)]),
    ],
)
def test_awkward_curves_are_drawn(make_rows, x, y):
    rows = make_rows(["labo"], ["s"], seeds=2)
    for row in rows:
        row["curves"] = {"line": {"x": x, "y": y, "x_label": "x", "y_label": "y"}}
    (plot,) = curve_plots(digest(rows).studies[0], "s", "p-")
    groups = [node for node in plot.svg.iter("g") if node.get("id") == "p-c0-arm0"]
    assert len(groups) == 1
    assert groups[0].find("path") is not None
    assert len(to_html(plot.svg)) < 60_000


def test_curves_without_a_number_draw_nothing(make_rows):
    rows = make_rows(["labo"], ["s"], seeds=2)
    for row in rows:
        row["curves"] = {"line": {"x": [1, 2], "y": [None, None]}, "empty": {"x": [], "y": []}}
    assert curve_plots(digest(rows).studies[0], "s", "p-") == []


def test_cost_is_left_out_where_none_was_measured(make_rows):
    assert cost_plot(digest(make_rows(["labo"], seeds=2, cost={})).studies[0], "p-") is None
    assert cost_plot(digest(make_rows(["labo"], seeds=2, metrics={})).studies[0], "p-") is None
    plot = cost_plot(digest(make_rows(["labo", "mfkg"], seeds=2, cost={"cpu_seconds": 0.0})).studies[0], "p-")
    assert plot is not None
    assert "auc_regret against CPU seconds" in plot.title


def test_the_forest_shows_every_claim_with_a_value(make_rows, make_experiment):
    study = digest(make_rows(), {"demo": make_experiment()}).studies[0]
    plot = forest_plot(study.judged, "f-")
    assert plot is not None
    texts = [node.text for node in plot.svg.iter("text")]
    for item in study.judged:
        assert (item.claim.id in texts) == (item.verdict.value is not None)
    assert forest_plot([item for item in study.judged if item.verdict.value is None], "f-") is None


def test_ids_carry_the_prefix_and_references_lead_to_them(make_rows):
    (plot,) = curve_plots(digest(make_rows(["labo", "mfkg"], ["s"], seeds=2)).studies[0], "s", "p-")
    ids = [node.get("id") for node in plot.svg.iter() if node.get("id")]
    assert len(ids) == len(set(ids))
    assert all(id.startswith("p-") for id in ids)
    targets = {node.get("href")[1:] for node in plot.svg.iter() if node.get("href")}
    targets |= {node.get("clip-path")[5:-1] for node in plot.svg.iter() if node.get("clip-path")}
    assert targets
    assert targets <= set(ids)


@pytest.mark.parametrize("text", ["W" * 300, "長" * 300, "a" * 9 + "\n" * 300, "_" * 200, "$x_2$ " * 60, " "])
def test_labels_of_any_length_leave_room_for_the_plot(make_rows, text, recwarn):
    rows = make_rows([text, "labo"], [text], seeds=1, metrics={text: 1.0})
    for row in rows:
        row["curves"] = {text: {"x": [1, 2], "y": [1.0, 2.0], "x_label": text, "y_label": text}}
    study = digest(rows).studies[0]
    for plot in (*curve_plots(study, text, "p-"), cost_plot(study, "q-")):
        frame = next(node for node in plot.svg.iter("g") if node.get("id", "").endswith("patch_2"))
        across = [float(v) for v in frame[0].get("d").split() if v[0].isdigit()][0::2]
        assert max(across) - min(across) > 140
    assert not recwarn.list


def test_the_callers_matplotlib_settings_and_random_state_stay(make_rows):
    import matplotlib

    before, state = dict(matplotlib.rcParams), np.random.get_state()[1].copy()
    assert curve_plots(digest(make_rows(["labo"], ["s"], seeds=7)).studies[0], "s", "p-")
    assert dict(matplotlib.rcParams) == before
    assert (np.random.get_state()[1] == state).all()


def test_every_statistic_of_a_claim_has_a_name_on_its_axis():
    assert set(forest._STATISTICS) == set(get_args(Statistic))
