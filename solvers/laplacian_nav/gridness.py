"""Grid score: how hexagonal a rate map is, told by how its autocorrelogram looks when turned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft
from scipy.ndimage import map_coordinates

from scisuite.core import InvalidInput

Floats = NDArray[np.float64]

LEAST_OVERLAP = 20
LEAST_PERIODS = 2.5
STRIPE_SHARE = 0.6
_FIRST_MINIMUM = 0.6098
_FIRST_MAXIMUM = 1.1166
_TURNS = {30: (np.sqrt(3) / 2, 0.5), 60: (0.5, np.sqrt(3) / 2), 90: (0.0, 1.0)}
_TURNS |= {120: (-0.5, np.sqrt(3) / 2), 150: (-np.sqrt(3) / 2, 0.5)}
_FLAT = 1e-9


@dataclass(frozen=True)
class Gridness:
    """A grid score and the annulus, in bins, that it was found on; all NaN where there is none."""

    score: float
    inner: float
    outer: float


def grid_score(rates: ArrayLike) -> float:
    r"""How hexagonal a rate map is: :math:`\min(r_{60}, r_{120}) - \max(r_{30}, r_{90}, r_{150})`.

    :math:`r_\alpha` is Pearson's correlation of the autocorrelogram with itself turned by α degrees, over an annulus
    around its centre. The inner radius is the first minimum of the radial mean. The outer one is that which gives the
    greatest score, from the first ring of peaks outwards. An ideal hexagonal grid has about 1.5, a square one −0.95,
    stripes 0.15. A greatest score over radii leans upwards: random waves of one band have a median of about 0.05.

    Both rings are placed by what every pattern of one wavelength shares: its radial mean is the Bessel function
    :math:`J_0(2\pi r/\lambda)`, with its first minimum at 0.61 λ and the maximum after it at 1.12 λ.

    Parameters
    ----------
    rates : float (H, W)
        Rate in each bin; NaN where there is none, as in a wall.

    Returns
    -------
    float
        In [−2, 2], or NaN where the map has no score: it is flat; its radial mean has no minimum; or that minimum says
        that fewer than 2.5 wavelengths fit into the shorter side, so that the next ring is cut by the edges.

    Raises
    ------
    InvalidInput
        If the map is not two-dimensional and real, or has an infinite rate.

    Notes
    -----
    Source: brief §Grid score (Sargolini et al. 2006 and its later forms). The wavelength test and the least outer
    radius are reconstructions.
    """
    return gridness(rates).score


def gridness(rates: ArrayLike) -> Gridness:
    """The :func:`grid_score` of a map together with its annulus."""
    correlogram = autocorrelogram(rates)
    shorter_side = (min(correlogram.shape) + 1) // 2
    inner = _first_radial_minimum(correlogram, shorter_side - 1)
    if inner is None or shorter_side * _FIRST_MINIMUM / inner < LEAST_PERIODS:
        return Gridness(np.nan, np.nan, np.nan)
    outer = np.arange(round(inner * _FIRST_MAXIMUM / _FIRST_MINIMUM), shorter_side)
    turned = {angle: _turned_correlation(correlogram, turn, inner, outer) for angle, turn in _TURNS.items()}
    scores = np.minimum(turned[60], turned[120]) - np.maximum(np.maximum(turned[30], turned[90]), turned[150])
    if not np.isfinite(scores).any():
        return Gridness(np.nan, np.nan, np.nan)
    best = int(np.nanargmax(scores))
    return Gridness(float(scores[best]), float(inner), float(outer[best]))


def autocorrelogram(rates: ArrayLike) -> Floats:
    """Pearson's correlation of a map with itself at every displacement, over the bins that then overlap.

    Parameters
    ----------
    rates : float (H, W)
        NaN where there is no rate.

    Returns
    -------
    float64 (2H − 1, 2W − 1)
        Displacement (0, 0) in the middle. NaN where 20 bins or fewer overlap, or where either overlapping part is flat.

    Raises
    ------
    InvalidInput
        If the map is not two-dimensional and real, or has an infinite rate.
    """
    rates = _checked(rates)
    height, width = rates.shape
    seen = np.isfinite(rates)
    spread = rates[seen].std() if seen.any() else 0.0
    if not spread > _FLAT * np.abs(rates[seen]).max(initial=0.0):
        return np.full((2 * height - 1, 2 * width - 1), np.nan)
    # Centred and scaled once, so that the rounding of the transforms is the same for maps of every unit.
    x = np.where(seen, (rates - rates[seen].mean()) / spread, 0.0)
    size = fft.next_fast_len(2 * height - 1, real=True), fft.next_fast_len(2 * width - 1, real=True)
    mask, first, second = fft.rfft2(np.stack([seen.astype(np.float64), x, x * x]), s=size)
    sums = fft.irfft2(
        np.stack([mask * mask.conj(), first * mask.conj(), second * mask.conj(), first * first.conj()]), size
    )
    rows, columns = np.arange(1 - height, height) % size[0], np.arange(1 - width, width) % size[1]
    overlap, sum_x, sum_xx, sum_xy = sums[:, rows[:, None], columns]
    overlap = np.rint(overlap)
    # What leaves one side at a displacement leaves the other at the opposite one.
    sum_y, sum_yy = sum_x[::-1, ::-1], sum_xx[::-1, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = sum_xy / overlap - sum_x * sum_y / overlap**2
        variance_x = sum_xx / overlap - (sum_x / overlap) ** 2
        variance_y = sum_yy / overlap - (sum_y / overlap) ** 2
        correlation = covariance / np.sqrt(variance_x * variance_y)
    told = (overlap > LEAST_OVERLAP) & (variance_x > _FLAT) & (variance_y > _FLAT)
    return np.where(told, correlation.clip(-1.0, 1.0), np.nan)


def wave_share(rates: ArrayLike) -> float:
    """Share of a map's power that its strongest plane wave carries: near 1 for stripes, ½ for a square lattice, ⅓ for a
    hexagonal one.

    The power is that of the Hann-windowed map about its mean; a wave is the 3 × 3 bins around the strongest one, and
    around its mirror image. NaN for a flat map. (Reconstruction.)

    Raises
    ------
    InvalidInput
        If the map is not two-dimensional and real, or has an infinite rate.
    """
    rates = _checked(rates)
    seen = np.isfinite(rates)
    window = np.where(seen, np.hanning(rates.shape[0] + 2)[1:-1, None] * np.hanning(rates.shape[1] + 2)[1:-1], 0.0)
    filled = np.where(seen, rates, 0.0)
    if not window.any():
        return float("nan")
    centred = window * (filled - (window * filled).sum() / window.sum())
    if not np.abs(centred).max() > _FLAT * np.abs(filled).max():
        return float("nan")
    power = np.abs(fft.fft2(centred)) ** 2
    row, column = np.unravel_index(int(power.argmax()), power.shape)
    around = np.arange(-1, 2)
    wave = np.zeros(power.shape, dtype=bool)
    for sign in (1, -1):
        wave[(sign * row + around[:, None]) % power.shape[0], (sign * column + around) % power.shape[1]] = True
    return float(power[wave].sum() / power.sum())


def stripe_fraction(maps: ArrayLike) -> float:
    """Fraction of maps (m, H, W) that are stripes: one wave carries more than 0.6 of the power (:func:`wave_share`)."""
    return float(np.mean([wave_share(rates) > STRIPE_SHARE for rates in np.asarray(maps)]))


def _checked(rates: ArrayLike) -> Floats:
    given = np.asarray(rates)
    if given.ndim != 2 or given.dtype.kind not in "fiub" or not given.size:
        raise InvalidInput(f"a rate map must be real and of shape (H, W), not {given.dtype} of shape {given.shape}")
    values = given.astype(np.float64)
    if np.isinf(values).any():
        raise InvalidInput("a rate map must not hold infinite rates; mark bins without a rate by NaN")
    return values


def _displacements(shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Rows and columns from the middle of a correlogram, each of its shape."""
    rows = np.arange(shape[0], dtype=np.float64) - (shape[0] - 1) // 2
    columns = np.arange(shape[1], dtype=np.float64) - (shape[1] - 1) // 2
    return np.broadcast_to(rows[:, None], shape), np.broadcast_to(columns, shape)


def _first_radial_minimum(correlogram: Floats, largest: int) -> int | None:
    """Radius, in bins, of the first local minimum of the mean over rings one bin wide."""
    rings = np.rint(np.hypot(*_displacements(correlogram.shape))).astype(np.int64)
    used = np.isfinite(correlogram) & (rings <= largest)
    count = np.bincount(rings[used], minlength=largest + 1)
    total = np.bincount(rings[used], weights=correlogram[used], minlength=largest + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        profile = total / count
    for radius in range(1, largest):
        if profile[radius - 1] > profile[radius] <= profile[radius + 1]:
            return radius
    return None


def _turned_correlation(correlogram: Floats, turn: tuple[float, float], inner: int, outer: NDArray[np.int64]) -> Floats:
    """Pearson's correlation of a correlogram with itself turned, over the annulus out to each of ``outer``."""
    rows, columns = _displacements(correlogram.shape)
    radius = np.hypot(rows, columns)
    annulus = np.flatnonzero((radius >= inner) & (radius <= outer[-1]))
    annulus = annulus[np.argsort(radius.ravel()[annulus], kind="stable")]
    here = correlogram.ravel()[annulus]
    there = _turned_values(correlogram, turn, rows.ravel()[annulus], columns.ravel()[annulus])
    both = np.isfinite(here) & np.isfinite(there)
    x, y = here[both], there[both]
    # Running sums over rising radius give the correlation for every outer radius at once.
    ends = np.searchsorted(radius.ravel()[annulus][both], outer, side="right")
    sums = np.zeros((5, len(x) + 1))
    sums[:, 1:] = np.cumsum([x, y, x * x, y * y, x * y], axis=1)
    sum_x, sum_y, sum_xx, sum_yy, sum_xy = sums[:, ends]
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = (sum_xx - sum_x**2 / ends) * (sum_yy - sum_y**2 / ends)
        correlation = (sum_xy - sum_x * sum_y / ends) / np.sqrt(variances)
    return np.where((ends > LEAST_OVERLAP) & (variances > _FLAT**2), correlation, np.nan)


def _turned_values(correlogram: Floats, turn: tuple[float, float], rows: Floats, columns: Floats) -> Floats:
    """Values of the turned correlogram at displacements, bilinear between bins, NaN where one of those is."""
    cosine, sine = turn
    middle = (correlogram.shape[0] - 1) // 2, (correlogram.shape[1] - 1) // 2
    places = np.stack([middle[0] + cosine * rows - sine * columns, middle[1] + sine * rows + cosine * columns])
    known = np.isfinite(correlogram)
    values = map_coordinates(np.where(known, correlogram, 0.0), places, order=1, mode="nearest")
    weight = map_coordinates(known.astype(np.float64), places, order=1, mode="nearest")
    # A bin without a value may stand beside the place as long as it has no part in it.
    turned: Floats = np.where(weight > 1 - _FLAT, values, np.nan)
    return turned
