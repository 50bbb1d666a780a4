"""Fields of a leak so small that most of its digits are lost when it is added to the degrees."""

from __future__ import annotations

from typing import Any

import numpy as np

from scisuite.solvers.laplacian_nav.columns import Floats
from scisuite.solvers.laplacian_nav.operators import Bools

_SMALL = 1e-6
"""Of a state's degree: from here on what is lost shows in the constant part of a field."""


def is_small(leak: Floats, degree: Floats) -> bool:
    """Whether a leak (n,) needs :func:`split_constant` beside degrees (n,)."""
    return bool((leak < _SMALL * degree).any())


def split_constant(x: Floats, factors: Any, L: Any, leak: Floats, right: Floats, connected: Bools) -> Floats:
    r"""Columns of :math:`(L + \varepsilon)^{-1}` with their constant part exact and the rest refined once.

    Summed over the goal's component the equations say :math:`\sum_i \varepsilon_i x_i = 1`, whatever the matrix lost
    of ε. So :math:`x = 1 / \sum_i \varepsilon_i + y` with :math:`\sum_i \varepsilon_i y_i = 0`, and y, which does not
    grow as ε falls, solves the same equations with a right side that sums to zero. A field that falls far below its
    constant part stays as it is: the split would take the digits of its small values.

    Parameters
    ----------
    x : float64 (n, g)
        By elimination; written into.
    factors : SuperLU
        Of L + ε.
    L : CSR (n, n)
    leak : float64 (n,)
        ε > 0.
    right : float64 (n, g)
        δ_g.
    connected : bool (n, g)
        The component of each goal.

    Notes
    -----
    Reconstruction.
    """
    leaks = leak @ connected
    flat = np.flatnonzero(np.where(connected, x, np.inf).min(axis=0) > 0.5 / leaks)
    if not len(flat):
        return x
    connected, leaks = connected[:, flat], leaks[flat]
    rest = right[:, flat] - leak[:, None] * (connected / leaks)

    def centred(y: Floats) -> Floats:
        return np.asarray(y - connected * ((leak @ y) / leaks))

    y = centred(x[:, flat] - connected / leaks)
    y = centred(y + factors.solve(rest - L @ y - leak[:, None] * y))
    x[:, flat] = connected / leaks + connected * y
    return x
