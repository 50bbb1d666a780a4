"""Laplacian navigation's evidence: ways that always arrive, from how little experience, how large, how fast."""

from __future__ import annotations

from collections.abc import Sequence

from scisuite.bench.experiment import Arm, Experiment, Limit, Tier
from scisuite.bench.experiments.laplacian_nav.arms import (
    ARMS,
    DEEP,
    GENERALISERS,
    KNOWN_WORLD,
    LEARNERS,
    PIXELS,
    TIMED_LEARNERS,
)
from scisuite.bench.experiments.laplacian_nav.claims import (
    CLAIMS,
    FOURROOMS,
    LOOPY_10,
    LOOPY_40,
    MAZE,
    OBSTACLES,
    OPEN,
    SMALL_MAZE,
    TORUS,
    WORLDS,
)
from scisuite.bench.experiments.laplacian_nav.claims import PIXELS as PIXEL_WORLD

TABLE_WORLDS = (FOURROOMS, MAZE, LOOPY_10, LOOPY_40, OPEN)
"""Those on which all potentials are compared."""

METRICS = {
    "success": "share of ways that arrive, 20 goals × 40 starts; higher is better",
    "spl": "shortest path / moves taken, 0 where it does not arrive, mean over the ways; higher is better",
    "spl_above_bar": "SPL minus .99 (ε = .1) or .90 (pinv); higher is better",
    "learn_cpu_seconds": "CPU time from the walk to actions for all twenty goals, median of seven [s]; lower is better",
    **{f"success_{steps}": f"success after {steps} steps of experience" for steps in ("1k", "3k", "10k", "30k", "300")},
    "success_at_end": "success at the end of a budget below 10k steps",
    **{f"success_k{k}": f"success with {k} modes" for k in (16, 32, 64)},
    **{f"spl_k{k}": f"SPL with {k} modes" for k in (16, 32, 64)},
    "best_time": "diffusion time with the greatest success",
    "cells": "free cells",
    "grid_score": "median grid score: about 1.45 hexagonal, .15 stripes, −.95 square",
    "greatest_grid_score": "greatest grid score of one mode",
    **{f"grid_score_k{k}": f"grid score with {k} waves along a side" for k in (4, 5, 6)},
    "grid_score_40_80": "grid score of the band of modes 40–80",
    "grid_score_60_110": "grid score of the band of modes 60–110",
    "stripe_fraction": "share of maps that are stripes",
    "overlap8": "subspace overlap of the eight slowest modes, 1 the same space; higher is better",
    "overlap8_ceiling": "overlap of Rayleigh–Ritz with a feature for each distinct view: the most that views can give",
    "success_resistance": "success by the resistance distance of the learned modes",
    "success_inner": "success by the inner product of the learned modes",
    "exact_resistance": "success by the resistance distance of as many true modes",
    "exact_inner": "success by the inner product of as many true modes",
    "success_euclid": "success by straight-line distance",
    "poses": "places and headings that were visited",
    "distinct_views": "how many of their views differ",
    **{
        f"cpu_seconds_{n}": f"CPU time of one goal's potential, {n} cells [s]; lower is better"
        for n in ("1e4", "1e5", "1e6")
    },
    **{f"extra_goal_share_{n}": f"CPU time of a further goal / of the first, {n} cells" for n in ("1e4", "1e5", "1e6")},
    **{f"residual_{n}": f"relative residual, {n} cells" for n in ("1e4", "1e5", "1e6")},
    **{f"spurious_maxima_{n}": f"local maxima other than the goal, {n} cells" for n in ("1e4", "1e5", "1e6")},
    **{f"certified_{n}": f"whether the pointwise certificate holds, {n} cells" for n in ("1e4", "1e5", "1e6")},
    **{f"cells_{n}": "free cells" for n in ("1e4", "1e5", "1e6")},
    "residual": "greatest relative residual over the sizes; lower is better",
    "spurious_maxima": "most local maxima other than the goal over the sizes; lower is better",
    "certified": "whether the pointwise certificate holds at every size",
    "slope": "slope of log CPU time against log cells: 1 is linear; lower is better",
    "shared_steps_per_second": "transitions a CPU second, 4,096 environments in one layout; higher is better",
    "own_steps_per_second": "transitions a CPU second, 4,096 environments with a layout each; higher is better",
    "minigrid_steps_per_second": "transitions a CPU second, 64 of MiniGrid's FourRooms; higher is better",
    "shared_over_minigrid": "one layout / MiniGrid; higher is better",
}


def experiment() -> Experiment:
    """Arms, claims and tiers."""
    return Experiment(
        slug="laplacian_nav",
        title="Laplacian navigation: spatial codes and ways to any goal from one spectrum",
        arms=ARMS,
        claims=CLAIMS,
        tiers=TIERS,
        metrics=METRICS,
        headline="success",
        prefix="nav",
    )


def _ids(*groups: Sequence[Arm]) -> tuple[str, ...]:
    return tuple(arm.id for group in groups for arm in group)


def _limits(
    arms: Sequence[str], *scenarios: str, seeds: int | None = None, budget: str | None = None
) -> dict[str, Limit]:
    return dict.fromkeys(arms, Limit(scenarios, seeds, budget))


_EXACT = ("green_pinv", "green_eps_001", "green", "green_sr")
_TABLE = tuple(id for id in _ids(KNOWN_WORLD) if id not in _EXACT)
_ON_A_TORUS = ("grid_cells_torus", "grid_cells_unconstrained")
_IN_A_BOX = ("grid_cells_box", "grid_cells_box_unconstrained", "raw_modes", "ratinabox")
_FULL_ONLY = ("miniworld",)


def _where(layouts: int, cells: int, pixels: int, timed: int) -> dict[str, Limit]:
    """Which scenarios each arm meets, and with how many seeds."""
    return {
        **_limits(_EXACT, *WORLDS, seeds=layouts),
        **_limits(_TABLE, *TABLE_WORLDS, seeds=layouts),
        **_limits(_ids(LEARNERS, TIMED_LEARNERS), SMALL_MAZE),
        **_limits(_ids(GENERALISERS, DEEP), SMALL_MAZE, seeds=layouts),
        **_limits(_ON_A_TORUS, TORUS, seeds=cells),
        **_limits(_IN_A_BOX, OPEN, seeds=layouts),
        **_limits(("raw_modes",), OPEN, seeds=1),
        **_limits(_ids(PIXELS), PIXEL_WORLD, seeds=pixels),
        **_limits(("scale_amg", "scale_splu"), OBSTACLES, seeds=timed),
        **_limits(("vector_speed",), FOURROOMS, seeds=timed),
    }


_ALL_SCENARIOS = (SMALL_MAZE, *WORLDS, PIXEL_WORLD)

TIERS = {
    "smoke": Tier(
        arms=("green", "green_pinv", "resistance", "euclid", *_ids(LEARNERS), "grid_cells_torus"),
        scenarios=(SMALL_MAZE, OPEN),
        seeds=2,
        budget="10000 steps",
        limits={**_limits(_ids(LEARNERS), SMALL_MAZE), **_limits(("grid_cells_torus",), OPEN)},
    ),
    "quick": Tier(
        arms=tuple(id for id in _ids(ARMS) if id not in _FULL_ONLY),
        scenarios=_ALL_SCENARIOS,
        seeds=15,
        budget="30000 steps",
        limits={
            **_where(layouts=5, cells=8, pixels=5, timed=1),
            **_limits(("place_cell_learned",), FOURROOMS, seeds=5),
        },
    ),
    "full": Tier(
        arms=_ids(ARMS),
        scenarios=_ALL_SCENARIOS,
        seeds=50,
        budget="30000 steps",
        limits=_where(layouts=20, cells=20, pixels=10, timed=3),
    ),
}
