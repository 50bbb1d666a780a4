"""Draw ``laplacian_nav_codes.png``: each kind of code above its autocorrelogram, with its grid score."""

from io import BytesIO
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.bands import BoxBand, ModeBand, TorusBand, box_modes
from scisuite.solvers.laplacian_nav.codes import grid_cells, head_direction, place_cells
from scisuite.solvers.laplacian_nav.gridness import autocorrelogram, gridness

SIDE, HEADINGS = 48, 24
BLUE = "#0072B2"


def place_cell():
    """A place field in an open box."""
    world = GridWorld(np.ones((SIDE, SIDE), dtype=bool))
    return world.to_map(place_cells(world, [world.state((18, 29))], t=12.0)[:, 0])


def heading_cell():
    """Rates (headings,) of a head-direction cell."""
    return grid_cells(ModeBand(*head_direction(HEADINGS, 1), 1, 3), 0)


def draw_map(axes, rates, title):
    axes.imshow(rates, cmap="viridis", interpolation="nearest")
    axes.set_title(title, fontsize=9)
    axes.set(xticks=[], yticks=[])


def draw_correlogram(axes, rates):
    """Correlations from −1 to 1, with the annulus of the score where there is one."""
    found = gridness(rates)
    axes.set_facecolor("0.85")
    image = axes.imshow(autocorrelogram(rates), cmap="cividis", vmin=-1, vmax=1, interpolation="nearest")
    for radius in (found.inner, found.outer):
        if np.isfinite(radius):
            middle = rates.shape[1] - 1, rates.shape[0] - 1
            axes.add_patch(plt.Circle(middle, radius, fill=False, color="white", linewidth=1.2))
    score = f"grid score {found.score:.2f}" if np.isfinite(found.score) else "no grid score"
    axes.set_title(score.replace("-", "−"), fontsize=9)
    axes.set(xticks=[], yticks=[])
    return image


def mosaic(rates, tuning):
    """Maps of a conjunctive cell at its best heading and 30, 60 and 90 degrees away, two by two."""
    best = int(tuning.argmax())
    shares = [tuning[(best + turn * HEADINGS // 360) % HEADINGS] / tuning[best] for turn in (0, 30, 60, 90)]
    line = np.full((SIDE, 1), np.nan)
    rows = [np.hstack([rates * shares[i], line, rates * shares[i + 1]]) for i in (0, 2)]
    return np.vstack([rows[0], np.full((1, 2 * SIDE + 1), np.nan), rows[1]])


def main():
    place, heading = place_cell(), heading_cell()
    grid = grid_cells(BoxBand(40, 80), 0)
    maps = [
        (place, "place cell\nheat kernel, t = 12"),
        (grid_cells(TorusBand(6), 0), "grid cell, torus\n6 waves a side"),
        (grid_cells(BoxBand(60, 110), 0), "grid cell, box\nmodes 60 to 110"),
        (grid_cells(BoxBand(60, 110), 0, nonnegative=False), "the same band,\nnegative values allowed"),
        (box_modes((SIDE, SIDE), 67, 68)[1][0], "one eigenmode\nof the box (no. 67)"),
    ]
    figure, panels = plt.subplots(2, 7, figsize=(14, 5), layout="constrained")
    for column, (rates, title) in enumerate(maps):
        draw_map(panels[0, column], rates, title)
        draw_correlogram(panels[1, column], rates)
    draw_map(panels[0, 5], mosaic(grid, heading), "conjunctive cell: headings\nbest, +30°, +60°, +90°")
    image = draw_correlogram(panels[1, 5], grid * heading.max())
    bar = figure.colorbar(image, ax=panels[1, :6], location="bottom", ticks=(-1, 0, 1), aspect=40, shrink=0.4)
    bar.ax.tick_params(labelsize=7)
    bar.set_label("correlation; white: the annulus of the score; grey: too little overlap, or flat", fontsize=8)

    degrees = np.arange(HEADINGS + 1) * 360 / HEADINGS
    panels[0, 6].plot(degrees, np.append(heading, heading[0]) / heading.max(), color=BLUE)
    panels[0, 6].set_title("head-direction cell\nring modes cos θ, sin θ", fontsize=9)
    panels[0, 6].set(xlabel="heading (degrees)", yticks=[0, 1])
    turned = [np.corrcoef(heading, np.roll(heading, turn))[0, 1] for turn in range(HEADINGS + 1)]
    panels[1, 6].plot(degrees, turned, color=BLUE)
    panels[1, 6].set_title("autocorrelation", fontsize=9)
    panels[1, 6].set(xlabel="turned by (degrees)", yticks=[-1, 0, 1])
    for axes in panels[:, 6]:
        axes.set(xticks=[0, 180, 360], box_aspect=1)
        axes.tick_params(labelsize=7)
        axes.xaxis.label.set_size(8)
    panels[0, 0].set_ylabel("rate map", fontsize=9)
    panels[1, 0].set_ylabel("autocorrelogram", fontsize=9)
    buffer = BytesIO()
    figure.savefig(buffer, dpi=110)
    picture = Image.open(buffer).convert("RGB").quantize(128)
    picture.save(Path(__file__).with_name("laplacian_nav_codes.png"), optimize=True)


if __name__ == "__main__":
    main()
