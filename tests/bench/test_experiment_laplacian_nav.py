"""Laplacian navigation's experiment: what it promises is there, and its arms run, repeat and share their trials."""

from __future__ import annotations

import importlib
import inspect
import math

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.bench import experiment as experiments
from scisuite.bench.claims import judge
from scisuite.bench.experiments.laplacian_nav import codes, experiment, learners, potentials, scaling, speed, trials
from scisuite.bench.experiments.laplacian_nav.claims import WORLDS
from scisuite.core import Budget, InvalidInput

EXPERIMENT = experiment()
CLAIMS = {claim.id: claim for claim in EXPERIMENT.claims}
ARMS = {arm.id: arm for arm in EXPERIMENT.arms}
MAZE, ROOMS = "nav/small_maze", "nav/pixels"
TINY = Budget.parse("400 steps")


@pytest.fixture(scope="module")
def maze():
    return scenarios.make(MAZE, size=5)


@pytest.fixture(scope="module")
def rooms():
    return scenarios.make(ROOMS)


def run(arm, scenario, seed=0, budget=TINY, **options):
    return ARMS[arm].load()(scenario, seed, budget, **{**ARMS[arm].config, **options})


def check(outcome):
    assert outcome.metrics
    for name, value in outcome.metrics.items():
        assert name in EXPERIMENT.metrics, name
        assert type(value) is float, name
        assert math.isfinite(value), name
    for curve in outcome.curves.values():
        assert len(curve.x) == len(curve.y) > 0
        assert curve.x_label
        assert curve.y_label
    return outcome.metrics


def inequalities():
    return [each for claim in EXPERIMENT.claims for each in claim.inequalities]


@pytest.mark.parametrize(
    ("id", "metrics", "arm", "against", "statistic", "relation", "target"),
    [
        ("nav.exact_success", ("success",), "green_pinv", None, "minimum", ">=", 1.0),
        ("nav.spl", ("spl_above_bar",), "green", None, "median", ">=", 0.0),
        ("nav.sample_efficiency", ("success",), "estimated_green", "estimated_bfs", "ratio_of_means", ">=", 0.98),
        ("nav.vs_replay.success", ("success",), "estimated_green", "q_replay", "ratio_of_means", ">=", 0.95),
        (
            "nav.vs_replay.cpu_seconds",
            ("learn_cpu_seconds",),
            "estimated_green_timed",
            "q_replay_timed",
            "ratio_of_means",
            "<=",
            1.0,
        ),
        ("nav.vs_onepass", ("success",), "estimated_green", "td_sr", "ratio_of_means", ">=", 2.0),
        ("nav.scale.cpu_seconds", ("cpu_seconds_1e6",), "scale_amg", None, "maximum", "<=", 60.0),
        ("nav.scale.memory", ("cost.peak_mib",), "scale_amg", None, "maximum", "<=", 2e9 / 2**20),
        ("nav.scale.residual", ("residual",), "scale_amg", None, "maximum", "<=", 1e-10),
        ("nav.scale.maxima", ("spurious_maxima",), "scale_amg", None, "maximum", "<=", 0.0),
        ("nav.scale.slope", ("slope",), "scale_amg", None, "maximum", "<=", 1.2),
        ("nav.vector_speed.shared", ("shared_steps_per_second",), "vector_speed", None, "minimum", ">=", 5e6),
        ("nav.vector_speed.own", ("own_steps_per_second",), "vector_speed", None, "minimum", ">=", 2e6),
        ("nav.vector_speed.minigrid", ("shared_over_minigrid",), "vector_speed", None, "minimum", ">=", 100.0),
        ("nav.pixels.overlap", ("overlap8",), "pixels_contrastive", None, "median", ">=", 0.95),
        ("nav.pixels.seconds", ("cost.wall_seconds",), "pixels_contrastive", None, "maximum", "<=", 180.0),
        (
            "nav.pixels_navigation",
            ("success",),
            "pixels_contrastive",
            "pixels_straight_line",
            "ratio_of_means",
            ">=",
            1.3,
        ),
        ("nav.dqn_her", ("success_30k",), "dqn_her", "estimated_green", "difference_of_means", "<=", None),
    ],
)
def test_the_promised_claims_are_computed_as_promised(id, metrics, arm, against, statistic, relation, target):
    claim = next(each for each in inequalities() if each.id == id)
    assert (claim.metrics, claim.arm, claim.against) == (metrics, arm, against)
    assert (claim.statistic, claim.relation, claim.target) == (statistic, relation, target)


def test_the_medians_of_the_grid_scores_and_the_shares_of_further_goals_are_pooled():
    found = {each.id: each for each in inequalities()}
    waves = ("grid_score_k4", "grid_score_k5", "grid_score_k6")
    assert found["nav.grid_score.torus"].metrics == found["nav.grid_score.unconstrained"].metrics == waves
    assert found["nav.grid_score.box"].metrics == ("grid_score_40_80", "grid_score_60_110")
    bars = [found[f"nav.grid_score.{name}"].target for name in ("torus", "box", "unconstrained", "stripes")]
    assert bars == [1.0, 0.5, 0.0, None]
    assert all(found[f"nav.grid_score.{name}"].statistic == "median" for name in ("torus", "box", "unconstrained"))
    share = found["nav.extra_goals"]
    assert share.metrics == tuple(f"extra_goal_share_1e{decade}" for decade in (4, 5, 6))
    assert (share.arm, share.statistic, share.relation, share.target) == ("scale_splu", "maximum", "<=", 0.05)
    assert found["nav.scale.certified"].target is None


def test_which_arms_and_worlds_the_exactness_claims_cover():
    exact = CLAIMS["nav.exact_success"]
    assert [arm for arm, _ in exact.pairs] == ["green_pinv", "green_eps_001", "green", "green_sr"]
    assert [ARMS[arm].config["eps"] for arm, _ in exact.pairs] == [0, 0.01, 0.1, "sr:0.99"]
    assert [arm for arm, _ in CLAIMS["nav.spl"].pairs] == ["green", "green_pinv"]
    assert CLAIMS["nav.spl"].jointly
    assert (ARMS["green"].config["bar"], ARMS["green_pinv"].config["bar"]) == (0.99, 0.90)
    names = ["fourrooms", "maze", "loopy_maze_10", "loopy_maze_40", "open", "torus", "spiral", "u_trap", "obstacles"]
    assert exact.scenarios == CLAIMS["nav.spl"].scenarios == WORLDS == tuple(f"nav/{name}" for name in names)
    assert all(scenarios.make(id).layout(0).is_symmetric for id in WORLDS)
    assert CLAIMS["nav.vs_onepass"].pairs == (("estimated_green", "td_sr"), ("estimated_green", "q"))


def test_the_tiers_decide_the_claims_on_as_many_seeds_as_promised():
    quick, full = EXPERIMENT.tiers["quick"], EXPERIMENT.tiers["full"]
    for tier in ("quick", "full"):
        assert EXPERIMENT.claims_in(tier) == EXPERIMENT.claims
    assert {claim.id for claim in EXPERIMENT.claims_in("smoke")} == {"nav.sample_efficiency", "nav.vs_onepass"}
    seeds = {arm: (quick.limits[arm].seeds or quick.seeds) for arm in quick.arms}
    assert (seeds["estimated_green"], seeds["q_replay_timed"]) == (15, 15)
    assert (seeds["green"], seeds["grid_cells_torus"], seeds["grid_cells_box"]) == (5, 8, 5)
    assert (seeds["pixels_contrastive"], seeds["pixels_straight_line"], seeds["dqn_her"]) == (5, 5, 5)
    assert seeds["scale_amg"] == seeds["scale_splu"] == seeds["vector_speed"] == 1
    assert set(full.arms) == set(ARMS)
    assert all(set(tier.scenarios) <= set(scenarios.registry.ids()) for tier in EXPERIMENT.tiers.values())


def test_every_arm_can_be_run_as_it_is_configured():
    assert EXPERIMENT.headline in EXPERIMENT.metrics
    for arm in EXPERIMENT.arms:
        assert arm.summary
        assert arm.role in experiments.Role.__args__
        parameters = inspect.signature(arm.load()).parameters
        open_ended = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
        assert open_ended or set(arm.config) <= set(parameters), arm.id
        assert callable(importlib.import_module(arm.run.partition(":")[0]).warm_up)
    timed = {id for id, arm in ARMS.items() if arm.exclusive}
    assert timed == {"estimated_green_timed", "q_replay_timed", "scale_amg", "scale_splu", "vector_speed"}
    for claim in inequalities():
        for metric in claim.metrics:
            assert metric in EXPERIMENT.metrics or metric.startswith("cost."), claim.id


@pytest.mark.parametrize("arm", ["green", "green_eps_001", "green_pinv", "green_sr"])
def test_exact_potentials_always_arrive(arm, maze):
    for seed in range(3):
        metrics = check(run(arm, maze, seed))
        assert metrics["success"] == 1.0
        assert ("spl_above_bar" in metrics) == (arm in ("green", "green_pinv"))


@pytest.mark.parametrize(
    "arm", ["inner", "resistance", "biharmonic", "heat_kernel", "epsilon_sweep", "place_cell", "euclid"]
)
def test_other_potentials_are_scored_on_the_same_ways(arm, maze):
    options = {"times": (1.0, 10.0)} if arm == "heat_kernel" else {}
    metrics = check(run(arm, maze, **options))
    assert 0 <= metrics["spl"] <= metrics["success"] <= 1
    assert metrics["spl"] <= run("epsilon_sweep", maze).curves["spl_by_eps"].y[-1] + 1e-12


def test_a_sweep_shows_in_a_curve_what_it_says_in_a_metric(maze):
    outcome = run("resistance", maze)
    by_modes = dict(zip(outcome.curves["success_by_modes"].x, outcome.curves["success_by_modes"].y, strict=True))
    assert by_modes[16.0] == outcome.metrics["success_k16"]
    assert outcome.metrics["success"] == by_modes[32.0]
    assert max(by_modes) < maze.layout(0).n


@pytest.mark.parametrize("learner", list(learners.LEARNERS))
def test_every_learner_runs_repeats_and_differs_between_seeds(learner, maze):
    id = next(arm.id for arm in EXPERIMENT.arms if arm.config == {"learner": learner} and arm.run.endswith(":learn"))
    first = run(id, maze)
    assert check(first) == {"success_at_end": first.curves["success"].y[-1]}
    assert first.budget_used == 400
    assert first.curves["success"].x == (400.0,)
    assert run(id, maze) == first
    assert run(id, maze, seed=1) != first


def test_success_is_that_after_ten_thousand_steps_and_the_curve_goes_on(maze):
    outcome = run("estimated_green", maze, budget=Budget.parse("12000 steps"))
    assert outcome.curves["success"].x == (1_000.0, 3_000.0, 10_000.0, 12_000.0)
    assert outcome.metrics["success"] == outcome.curves["success"].y[2] == outcome.metrics["success_10k"]
    assert list(np.sort(outcome.curves["success"].y)) == list(outcome.curves["success"].y)
    assert "success_at_end" not in outcome.metrics
    with pytest.raises(InvalidInput, match="laplacian_nav counts steps of experience, not evaluations"):
        run("q", maze, budget=Budget.parse("10 evaluations"))


@pytest.mark.parametrize("tier", list(EXPERIMENT.tiers))
def test_claims_about_ten_thousand_steps_are_judged_on_as_many(tier):
    assert Budget.parse(EXPERIMENT.tiers[tier].budget).count >= trials.CLAIMED_STEPS


@pytest.mark.parametrize("id", ["nav.sample_efficiency", "nav.vs_onepass"])
@pytest.mark.parametrize(("budget", "verdict"), [("2000 steps", "undecided"), ("10000 steps", "holds")])
def test_fewer_steps_than_a_claim_speaks_of_leave_it_undecided(id, budget, verdict):
    scores = {"estimated_green": 0.9, "estimated_bfs": 0.9, "td_sr": 0.4, "q": 0.4}
    steps = trials.checkpoints(Budget.parse(budget))
    rows = [
        {
            "experiment": "laplacian_nav",
            "tier": "smoke",
            "arm": arm,
            "scenario": MAZE,
            "seed": seed,
            "status": "ok",
            "metrics": trials.learned({n: {"success": score, "spl": score} for n in steps}).metrics,
        }
        for arm, score in scores.items()
        for seed in range(2)
    ]
    found = judge(CLAIMS[id], rows, EXPERIMENT)
    assert found.verdict == verdict
    assert found.reason.endswith("the metric success is missing" if verdict == "undecided" else "")


@pytest.mark.parametrize("arm", [id for id in ARMS if id.startswith("new_goals")])
def test_new_goals_were_not_asked_for_before(arm, maze):
    world = maze.layout(0)
    trained, starts = trials.goals_and_starts(world, 0)
    asked, _ = trials.goals_and_starts(world, 0, "new goals")
    assert set(asked) - set(trained)
    assert (np.bincount(starts) <= 1).all()
    check(run(arm, maze))


@pytest.mark.parametrize("arm", [id for id in ARMS if id.startswith("changed_walls")])
def test_changed_walls_are_learned_about_step_by_step(arm, maze):
    outcome = run(arm, maze)
    check(outcome)
    assert outcome.curves["success_after_change"].x == (300.0, 1_000.0, 3_000.0)
    assert outcome.metrics["success"] == outcome.curves["success_after_change"].y[1]


def test_timed_learners_measure_the_first_ten_thousand_steps(maze):
    for arm in ("estimated_green_timed", "q_replay_timed"):
        outcome = run(arm, maze, repeats=2)
        assert check(outcome)["learn_cpu_seconds"] > 0
        assert outcome.budget_used == 400
    assert trials.median_cpu_seconds(lambda: sum(range(1000)), 3) >= 0


def test_grid_cells_have_a_score_for_each_band(monkeypatch):
    torus = check(run("grid_cells_torus", None))
    assert torus["grid_score"] == np.median([torus[f"grid_score_k{waves}"] for waves in codes.WAVES])
    check(run("grid_cells_unconstrained", None))
    check(run("grid_cells_box", None))
    assert run("grid_cells_torus", None) == run("grid_cells_torus", None)


def test_scaling_measures_several_sizes_and_a_line_through_them():
    pytest.importorskip("pyamg", reason="comes with the nav extra")
    scaling.warm_up()
    for arm in ("scale_amg", "scale_splu"):
        outcome = run(arm, None, sides=(12, 36), repeats=1)
        metrics = outcome.metrics
        assert metrics["spurious_maxima"] == 0.0
        assert metrics["residual"] <= 1e-10
        assert outcome.curves["cpu_by_cells"].x == (metrics["cells_1e2"], metrics["cells_1e3"])
        rise = np.log(metrics["cpu_seconds_1e3"] / metrics["cpu_seconds_1e2"])
        assert metrics["slope"] == pytest.approx(rise / np.log(metrics["cells_1e3"] / metrics["cells_1e2"]))


def test_speed_counts_transitions_of_all_copies():
    pytest.importorskip("minigrid", reason="comes with the nav extra")
    speed.warm_up()
    metrics = check(run("vector_speed", scenarios.make("nav/fourrooms"), copies=8, peers=2, seconds=0.01, repeats=1))
    assert metrics["shared_over_minigrid"] == pytest.approx(
        metrics["shared_steps_per_second"] / metrics["minigrid_steps_per_second"]
    )


def test_pixels_and_the_straight_line_have_the_same_ways(rooms):
    pytest.importorskip("torch", reason="comes with the torch extra")
    learned = check(run("pixels_contrastive", rooms, fit="2 steps", transitions=600, k=8))
    assert learned["success"] == learned["success_resistance"]
    assert check(run("pixels_straight_line", rooms))["success"] == learned["success_euclid"]


def test_dqn_is_scored_as_the_others_are(maze):
    pytest.importorskip("stable_baselines3", reason="comes with the rl extra")
    small = scenarios.make("nav/pixels")
    outcome = run("dqn_her", small, budget=Budget.parse("300 steps"))
    assert check(outcome)["success_at_end"] == outcome.curves["success"].y[0]
    assert outcome.curves["success"].x == (300.0,)


def test_the_rows_of_a_tier_judge_the_claims(maze):
    rows = []
    for arm in ("estimated_green", "estimated_bfs", "td_sr", "q"):
        for seed in range(2):
            outcome = run(arm, maze, seed, Budget.parse("10000 steps"))
            row = {"experiment": "laplacian_nav", "tier": "smoke", "arm": arm, "scenario": MAZE, "seed": seed}
            rows.append({**row, "status": "ok", "metrics": outcome.metrics, "code": "a-b"})
    verdict = judge(CLAIMS["nav.sample_efficiency"], rows, EXPERIMENT)
    assert (verdict.verdict, verdict.seeds) == ("holds", 2)
    assert judge(CLAIMS["nav.vs_onepass"], rows, EXPERIMENT).value > 1


def test_warm_ups_import_and_draw_nothing():
    state = np.random.get_state()[1].copy()
    for module in (potentials, learners, codes):
        module.warm_up()
    assert (np.random.get_state()[1] == state).all()
