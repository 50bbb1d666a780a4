"""A triangular R with RᵀR = Σ φφᵀ that takes more rows in."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtpqrt

Floats = NDArray[np.float64]

_PANEL = 32
"""Columns that are reflected at a time."""
_CHUNK = 512
"""Rows that are taken in at a time: few enough to stay in the cache."""


def with_rows(triangle: Floats, rows: Floats) -> Floats:
    """R' with R'ᵀR' = RᵀR + Σ φφᵀ, upper triangular float64 (d, d), of R (d, d) and φ (m, d), in O(m d²).

    Householder reflections, which do not mind how the columns are scaled. The diagonal may have any sign.
    """
    found = triangle
    for start in range(0, len(rows), _CHUNK):
        chunk = rows[start : start + _CHUNK]
        found = dtpqrt(0, min(_PANEL, len(chunk), len(found)), found, chunk)[0]
    return np.asarray(found)
