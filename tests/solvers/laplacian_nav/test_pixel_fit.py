"""Learning from pictures and navigating by what was learnt."""

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.nav.world import GridWorld

pytest.importorskip("torch")

from scisuite.solvers.laplacian_nav.pixel_fit import pixel_fit


def test_what_is_reported():
    free = np.ones((5, 7), dtype=bool)
    free[1:4, 3] = False
    figures = pixel_fit(GridWorld(free), 0, budget="100 steps", transitions=20_000, k=6, n_goals=4, n_starts=6)
    assert figures["overlap8"] > 0.9
    assert figures["success_resistance"] > 0.7
    assert all(0 <= value <= 1 for name, value in figures.items() if "seconds" not in name)
    assert {"success_inner", "success_euclid", "exact_resistance", "exact_inner"} < set(figures)
    assert figures["fit_cpu_seconds"] > 0


def test_a_world_without_a_map():
    with pytest.raises(InvalidInput, match=r"^pixel_fit needs a GridWorld, which has a map, not a NoneType$"):
        pixel_fit(None, 0)
