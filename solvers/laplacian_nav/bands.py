"""Bands of a Laplacian's spectrum: of a torus, of a box, and of any space whose modes are known."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import fft

from scisuite.core import InvalidInput

Floats = NDArray[np.float64]

_TIE = 1e-9


class Band(ABC):
    """A band of a Laplacian's spectrum, as the projection onto it.

    Attributes
    ----------
    shape : tuple of int
        Shape of a map over the space.
    iterations : int
        How often :func:`grid_cells` applies the band unless told otherwise.
    """

    shape: tuple[int, ...]
    iterations = 500

    @abstractmethod
    def project(self, h: Floats) -> Floats:
        """The part of ``h`` in the band, which excludes the constant; both of shape ``shape``."""


class TorusBand(Band):
    r"""A ring of wave vectors on a torus, with the gain :math:`S(k) = e^{-((|k| - k_0)/w)^2}` relative to its maximum.

    Parameters
    ----------
    k0 : float
        Waves along a side, in (0, size / 2).
    size : int
        Cells along a side.
    width : float
        w, in waves along a side.
    """

    iterations = 400

    def __init__(self, k0: float, size: int = 48, width: float = 0.8) -> None:
        if not 0 < k0 < size / 2:
            raise InvalidInput(f"k0 must lie between 0 and half of the {size} cells, not {k0!r}")
        if not width > 0:
            raise InvalidInput(f"width must be above 0, not {width!r}")
        self.shape = (size, size)
        frequency = np.hypot(fft.fftfreq(size, 1 / size)[:, None], fft.rfftfreq(size, 1 / size))
        # Distances from the nearest ring that is there, so that a narrow gain does not underflow as a whole.
        exponent = ((frequency - k0) / width) ** 2
        self.gain = np.exp(exponent.ravel()[1:].min() - exponent)
        self.gain[0, 0] = 0.0

    def project(self, h: Floats) -> Floats:
        projected: Floats = fft.irfft2(self.gain * fft.rfft2(h), s=self.shape)
        return projected


class BoxBand(Band):
    """Eigenmodes number ``lo`` up to, but without, ``hi`` of a box with reflecting walls, counted by rising eigenvalue.

    They are products of cosines, so a discrete cosine transform projects onto them exactly. Half of a degenerate pair
    is no subspace of its own: a pair that an end of the band would cut belongs to it whole.

    Parameters
    ----------
    lo, hi : int
        1 ≤ lo < hi ≤ H·W; mode 0 is the constant.
    shape : (int, int)
        Cells in each direction.
    """

    def __init__(self, lo: int, hi: int, shape: tuple[int, int] = (48, 48)) -> None:
        self.shape = shape
        self.mask = _band_mask(_box_spectrum(shape), lo, hi)

    def project(self, h: Floats) -> Floats:
        projected: Floats = fft.idctn(self.mask * fft.dctn(h, norm="ortho"), norm="ortho")
        return projected


class ModeBand(Band):
    """Eigenmodes number ``lo`` up to, but without, ``hi`` of any space whose modes are given; pairs stay whole.

    Parameters
    ----------
    lam : float64 (k,)
        Eigenvalues in ascending order, from that of the constant mode on.
    Phi : float64 (n, k)
        Their orthonormal eigenvectors.
    lo, hi : int
        1 ≤ lo < hi ≤ k.
    """

    def __init__(self, lam: ArrayLike, Phi: ArrayLike, lo: int, hi: int) -> None:
        eigenvalues, vectors = np.asarray(lam, dtype=np.float64), np.asarray(Phi, dtype=np.float64)
        if vectors.ndim != 2 or eigenvalues.shape != vectors.shape[1:]:
            raise InvalidInput(
                f"modes of shape {vectors.shape} do not go with eigenvalues of shape {eigenvalues.shape}"
            )
        self.shape = vectors.shape[:1]
        self.modes = np.ascontiguousarray(vectors[:, _band_mask(eigenvalues, lo, hi)])

    def project(self, h: Floats) -> Floats:
        projected: Floats = self.modes @ (self.modes.T @ h)
        return projected


def box_modes(shape: tuple[int, int], lo: int, hi: int) -> tuple[Floats, Floats]:
    """Eigenmodes number ``lo`` up to, but without, ``hi`` of a box: eigenvalues (k,) and maps (k, H, W) of norm 1.

    Products of cosines; of a degenerate pair, the one with fewer half waves down the rows comes first. An eigensolver
    returns some mixture of the pair instead, with another grid score: that of 4 and 7 half waves alone has 0.88, for
    its two waves happen to cross at 60 degrees.
    """
    spectrum = _box_spectrum(shape)
    _check_band(lo, hi, spectrum.size, first=0)
    chosen = np.argsort(np.round(spectrum.ravel(), 12), kind="stable")[lo:hi]
    waves = np.zeros((hi - lo, *shape))
    waves.reshape(hi - lo, -1)[np.arange(hi - lo), chosen] = 1.0
    return spectrum.ravel()[chosen], fft.idctn(waves, axes=(1, 2), norm="ortho")


def _box_spectrum(shape: tuple[int, int]) -> Floats:
    """float64 (H, W): eigenvalue of the product of p and q half waves down the rows and along the columns."""
    if len(shape) != 2 or min(shape) < 1:
        raise InvalidInput(f"a box has a number of rows and of columns, not {shape!r}")
    down, along = (2 - 2 * np.cos(np.pi * np.arange(side) / side) for side in shape)
    spectrum: Floats = down[:, None] + along
    return spectrum


def _band_mask(eigenvalues: Floats, lo: int, hi: int) -> NDArray[np.bool_]:
    """Which modes lie in a band, with those that tie with its ends."""
    _check_band(lo, hi, eigenvalues.size, first=1)
    ascending = np.sort(eigenvalues, axis=None)
    mask: NDArray[np.bool_] = (eigenvalues >= ascending[lo] - _TIE) & (eigenvalues <= ascending[hi - 1] + _TIE)
    return mask


def _check_band(lo: int, hi: int, count: int, first: int) -> None:
    if not first <= lo < hi <= count:
        raise InvalidInput(f"a band of {count} modes needs {first} <= lo < hi <= {count}, not lo={lo!r}, hi={hi!r}")
