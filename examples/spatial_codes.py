"""Place, grid and head-direction cells of a Laplacian, with grid scores: python examples/spatial_codes.py

Needs no extra. To score a map of your own: ``grid_score(rates)`` with NaN where there is no rate.
"""

from __future__ import annotations

import numpy as np

from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.bands import BoxBand, TorusBand, box_modes
from scisuite.solvers.laplacian_nav.codes import grid_cells, head_direction, place_cells
from scisuite.solvers.laplacian_nav.gridness import grid_score, stripe_fraction

SEEDS = range(4)


def main() -> None:
    print("grid score: 1.5 an ideal hexagonal lattice, 0.15 stripes, -0.95 a square lattice, nan: the map has none")
    for name, band in (("torus, 6 waves", TorusBand(6)), ("box, modes 60 to 110", BoxBand(60, 110))):
        for nonnegative in (True, False):
            cells = [grid_cells(band, seed, nonnegative=nonnegative) for seed in SEEDS]
            kind = "non-negative" if nonnegative else "signed"
            scores = " ".join(f"{grid_score(cell):5.2f}" for cell in cells)
            print(f"{name:21} {kind:12}: {scores}   stripes {stripe_fraction(cells):.2f}")

    raw = [grid_score(mode) for mode in box_modes((48, 48), 60, 110)[1]]
    print(f"the box's eigenmodes themselves: median {np.nanmedian(raw):.2f}, greatest {np.nanmax(raw):.2f}")

    rooms = np.ones((25, 25), dtype=bool)
    rooms[12, :] = rooms[:, 12] = False
    rooms[12, [5, 19]] = rooms[[5, 19], 12] = True
    world = GridWorld(rooms)
    field = world.to_map(place_cells(world, [world.state((8, 8))], t=8.0)[:, 0])
    print(f"a place field beside a wall: {field[8, 11]:.4f} in front of it, {field[8, 13]:.6f} behind")
    print(f"its grid score: {grid_score(field):.2f}")

    eigenvalues, modes = head_direction(n=24, harmonics=2)
    print(f"head direction: {modes.shape[1]} modes of {len(modes)} headings, eigenvalues {eigenvalues.round(3)}")


if __name__ == "__main__":
    main()
