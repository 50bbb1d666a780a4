"""Arms that make grid cells: bands of a torus and of a box, with and without the non-negativity, and peers."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Outcome
from scisuite.core import Budget
from scisuite.scenarios import Scenario

Floats = NDArray[np.float64]

WAVES = (4, 5, 6)
BANDS = ((40, 80), (60, 110))


def warm_up() -> None:
    """Import the engines before a cell's clock starts."""
    with contextlib.suppress(ImportError):  # of one arm only
        import ratinabox.Neurons  # noqa: F401

    import scisuite.solvers.laplacian_nav.codes
    import scisuite.solvers.laplacian_nav.gridness  # noqa: F401


def torus(scenario: Scenario, seed: int, budget: Budget, *, nonnegative: bool = True) -> Outcome:
    """One grid cell for each of three wave numbers on the torus of 48 × 48 cells."""
    from scisuite.solvers.laplacian_nav.bands import TorusBand
    from scisuite.solvers.laplacian_nav.codes import grid_cells

    maps = {f"k{waves}": grid_cells(TorusBand(waves), seed, nonnegative=nonnegative) for waves in WAVES}
    return Outcome(_scores(maps))


def box(scenario: Scenario, seed: int, budget: Budget, *, nonnegative: bool = True) -> Outcome:
    """One grid cell for each of two bands of eigenmodes of the box of 48 × 48 cells."""
    from scisuite.solvers.laplacian_nav.bands import BoxBand
    from scisuite.solvers.laplacian_nav.codes import grid_cells

    maps = {f"{lo}_{hi}": grid_cells(BoxBand(lo, hi), seed, nonnegative=nonnegative) for lo, hi in BANDS}
    return Outcome(_scores(maps))


def raw_modes(scenario: Scenario, seed: int, budget: Budget) -> Outcome:
    """The box's own eigenmodes 40 to 109, one by one: the median and the greatest score of those that have one."""
    from scisuite.solvers.laplacian_nav.bands import box_modes
    from scisuite.solvers.laplacian_nav.gridness import grid_score

    _, maps = box_modes((48, 48), BANDS[0][0], BANDS[-1][1])
    found = np.array([grid_score(each) for each in maps])
    found = found[np.isfinite(found)]
    return Outcome({"grid_score": float(np.median(found)), "greatest_grid_score": float(found.max())})


def ratinabox(scenario: Scenario, seed: int, budget: Budget, *, cells: int = 8, period: float = 0.3) -> Outcome:
    """Grid cells of the package RatInABox in a box of one metre, put through the same score.

    Parameters
    ----------
    cells : int
    period : float
        Distance of neighbouring peaks, in metres.
    """
    from scisuite.solvers.laplacian_nav.gridness import grid_score, stripe_fraction

    maps = _ratinabox_maps(cells, period, seed)
    found = [grid_score(rates) for rates in maps]
    return Outcome({"grid_score": float(np.median(found)), "stripe_fraction": stripe_fraction(maps)})


def _ratinabox_maps(cells: int, period: float, seed: int) -> Floats:
    """float64 (cells, 48, 48). RatInABox draws from NumPy's global generator, which is put back as it was."""
    from ratinabox import Agent, Environment
    from ratinabox.Neurons import GridCells

    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(seed)  # noqa: NPY002
        box = Environment({"dx": 1 / 48})
        grids = GridCells(Agent(box), {"n": cells, "gridscale": np.full(cells, period)})
        rates = grids.get_state(evaluate_at="all")
    finally:
        np.random.set_state(state)  # noqa: NPY002
    return np.asarray(rates, dtype=np.float64).reshape(cells, *box.discrete_coords.shape[:2])


def _scores(maps: Mapping[str, Floats]) -> dict[str, Any]:
    from scisuite.solvers.laplacian_nav.gridness import grid_score, stripe_fraction

    found = {f"grid_score_{name}": grid_score(rates) for name, rates in maps.items()}
    stripes = stripe_fraction(np.stack(list(maps.values())))
    return {"grid_score": float(np.median(list(found.values()))), **found, "stripe_fraction": stripes}
