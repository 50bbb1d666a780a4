"""Laplacian navigation: spatial codes are spectra of a graph's Laplacian, and its Green's function leads to any goal.

Names are looked up on first use, so that the Green's function can be had without torch, and nothing without need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scisuite.scenarios.nav.world import GridWorld
    from scisuite.solvers.laplacian_nav.bands import BoxBand, ModeBand, TorusBand
    from scisuite.solvers.laplacian_nav.codes import (
        band_iteration,
        conjunctive,
        grid_cells,
        head_direction,
        place_cells,
    )
    from scisuite.solvers.laplacian_nav.discounted import DiscountedWalk
    from scisuite.solvers.laplacian_nav.distances import heat_kernel, truncated_distance
    from scisuite.solvers.laplacian_nav.first_person import view_frames
    from scisuite.solvers.laplacian_nav.green import GreenPotential
    from scisuite.solvers.laplacian_nav.gridness import autocorrelogram, grid_score, stripe_fraction
    from scisuite.solvers.laplacian_nav.learn import learn_modes
    from scisuite.solvers.laplacian_nav.modes import eigenmodes
    from scisuite.solvers.laplacian_nav.operators import check_weights, laplacian
    from scisuite.solvers.laplacian_nav.pairs import lagged_pairs
    from scisuite.solvers.laplacian_nav.policy import GreenPolicy, greedy_actions, local_maxima
    from scisuite.solvers.laplacian_nav.rollout import roll, success_and_spl
    from scisuite.solvers.laplacian_nav.solver import LaplacianNavSolver
    from scisuite.solvers.laplacian_nav.subspace import subspace_overlap
    from scisuite.solvers.laplacian_nav.tabular import (
        all_goals_q,
        dyna_q,
        estimated_bfs_actions,
        estimated_green_actions,
        her_q,
        td_successor,
    )
    from scisuite.solvers.laplacian_nav.walks import Transitions, estimated_walk, random_walk

_HERE = "scisuite.solvers.laplacian_nav"
_FILES = {
    "BoxBand": f"{_HERE}.bands",
    "DiscountedWalk": f"{_HERE}.discounted",
    "GreenPolicy": f"{_HERE}.policy",
    "GreenPotential": f"{_HERE}.green",
    "GridWorld": "scisuite.scenarios.nav.world",
    "LaplacianNavSolver": f"{_HERE}.solver",
    "ModeBand": f"{_HERE}.bands",
    "TorusBand": f"{_HERE}.bands",
    "Transitions": f"{_HERE}.walks",
    "all_goals_q": f"{_HERE}.tabular",
    "autocorrelogram": f"{_HERE}.gridness",
    "band_iteration": f"{_HERE}.codes",
    "check_weights": f"{_HERE}.operators",
    "conjunctive": f"{_HERE}.codes",
    "dyna_q": f"{_HERE}.tabular",
    "eigenmodes": f"{_HERE}.modes",
    "estimated_bfs_actions": f"{_HERE}.tabular",
    "estimated_green_actions": f"{_HERE}.tabular",
    "estimated_walk": f"{_HERE}.walks",
    "greedy_actions": f"{_HERE}.policy",
    "grid_cells": f"{_HERE}.codes",
    "grid_score": f"{_HERE}.gridness",
    "head_direction": f"{_HERE}.codes",
    "heat_kernel": f"{_HERE}.distances",
    "her_q": f"{_HERE}.tabular",
    "lagged_pairs": f"{_HERE}.pairs",
    "laplacian": f"{_HERE}.operators",
    "learn_modes": f"{_HERE}.learn",
    "local_maxima": f"{_HERE}.policy",
    "place_cells": f"{_HERE}.codes",
    "random_walk": f"{_HERE}.walks",
    "roll": f"{_HERE}.rollout",
    "stripe_fraction": f"{_HERE}.gridness",
    "subspace_overlap": f"{_HERE}.subspace",
    "success_and_spl": f"{_HERE}.rollout",
    "td_successor": f"{_HERE}.tabular",
    "truncated_distance": f"{_HERE}.distances",
    "view_frames": f"{_HERE}.first_person",
}

__all__ = [
    "BoxBand",
    "DiscountedWalk",
    "GreenPolicy",
    "GreenPotential",
    "GridWorld",
    "LaplacianNavSolver",
    "ModeBand",
    "TorusBand",
    "Transitions",
    "all_goals_q",
    "autocorrelogram",
    "band_iteration",
    "check_weights",
    "conjunctive",
    "dyna_q",
    "eigenmodes",
    "estimated_bfs_actions",
    "estimated_green_actions",
    "estimated_walk",
    "greedy_actions",
    "grid_cells",
    "grid_score",
    "head_direction",
    "heat_kernel",
    "her_q",
    "lagged_pairs",
    "laplacian",
    "learn_modes",
    "local_maxima",
    "place_cells",
    "random_walk",
    "roll",
    "stripe_fraction",
    "subspace_overlap",
    "success_and_spl",
    "td_successor",
    "truncated_distance",
    "view_frames",
]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_FILES[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "torch":
            from scisuite.core import MissingDependency

            raise MissingDependency(f"{name} needs torch, which is not installed", "torch") from error
        raise
