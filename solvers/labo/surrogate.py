"""Kennedy and O'Hagan's two-level surrogate: a cheap predictor, and the discrepancy of the real thing from it."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.solvers.labo.gp import GridGP, Hyperparameters, average_duplicates, spread_of

Array = NDArray[np.float64]
RhoFit = Literal["centred", "origin", "fixed", "shrunk"]

DISCREPANCY_SCALE_FLOOR = 0.02


class Posterior(NamedTuple):
    """Means and variances (n,) of the real function, of the cheap predictor and of the discrepancy."""

    mu: Array
    var: Array
    mu_L: Array
    var_L: Array
    mu_d: Array
    var_d: Array


class KOHSurrogate:
    r"""Real function = scaled cheap predictor + discrepancy.

    .. math::
        f_R = \bar y_R + \rho\,(f_L - \bar y_L) + \delta, \qquad
        \mu_R = \bar y_R + \rho\,(\mu_L - \bar y_L) + \mu_\delta, \qquad
        \sigma_R^2 = \rho^2 \sigma_L^2 + \sigma_\delta^2

    with :math:`f_L` and :math:`\delta` independent GPs (:class:`~scisuite.solvers.labo.gp.GridGP`) and the means over
    the *pairs*, the points where both are known. The discrepancy's scale is never below 0.02 std(y_R): residuals near
    zero would otherwise collapse its variance and no experiment would ever be bought.

    Parameters
    ----------
    rho_fit : {"centred", "origin", "fixed", "shrunk"}
        ``"centred"``: slope of y_R on y_L about their means over the pairs. ``"origin"``: as published,
        :math:`\rho = \arg\min_\rho \sum (y_R - \rho y_L)^2`, both means taken as zero. ``"fixed"``: ``rho`` as given.
        ``"shrunk"``: the centred slope times a factor that falls to zero when few pairs cannot tell it from none (see
        :func:`shrinkage`).
    rho : float
        Used by ``"fixed"``.
    sigma_l_includes_noise : bool
        Whether the likelihood noise of the cheap predictor counts in :math:`\sigma_L^2`.
    hyperparameters : (Hyperparameters or None, Hyperparameters or None)
        Fixed ones for :math:`f_L` and :math:`\delta`.

    Notes
    -----
    Source: LABO, section on the surrogate; centring, floor and shrinkage are reconstruction.
    """

    def __init__(
        self,
        rho_fit: RhoFit = "centred",
        rho: float = 0.0,
        *,
        sigma_l_includes_noise: bool = False,
        hyperparameters: tuple[Hyperparameters | None, Hyperparameters | None] = (None, None),
    ) -> None:
        if rho_fit not in get_args(RhoFit):
            raise InvalidInput(f"rho_fit must be one of {', '.join(get_args(RhoFit))}, not {rho_fit!r}")
        self.rho_fit: RhoFit = rho_fit
        self.rho = float(rho)
        self.sigma_l_includes_noise = sigma_l_includes_noise
        self.gp_cheap = GridGP(hyperparameters[0])
        self.gp_discrepancy = GridGP(hyperparameters[1])

    def fit(self, x_L: Array, y_L: Array, x_R: Array, y_R: Array, y_L_at_R: Array) -> KOHSurrogate:
        """Fit to cheap answers and to pairs; repeated rows are averaged.

        Parameters
        ----------
        x_L, y_L : float64 (n, d), (n,)
            Encoded points and the cheap predictor's answers.
        x_R, y_R, y_L_at_R : float64 (m, d), (m,), (m,)
            Encoded points, real values, and the cheap predictor's raw answers at the same points (not smoothed by its
            GP, which would hide its noise from the slope).

        Raises
        ------
        InvalidInput
            If there are fewer than two pairs, shapes disagree or a number is not finite.
        """
        x_L, y_L, x_R, y_R, y_L_at_R = (np.asarray(a, dtype=np.float64) for a in (x_L, y_L, x_R, y_R, y_L_at_R))
        if x_R.ndim != 2 or y_R.shape != (len(x_R),) or y_L_at_R.shape != y_R.shape:
            raise InvalidInput(
                f"pairs must be x (m, d), y_R (m,), y_L (m,), not {x_R.shape}, {y_R.shape}, {y_L_at_R.shape}"
            )
        if not (np.isfinite(y_R).all() and np.isfinite(y_L_at_R).all()):
            raise InvalidInput("pairs must be finite")
        x_pairs, real = average_duplicates(x_R, y_R)
        _, cheap = average_duplicates(x_R, y_L_at_R)
        if len(real) < 2:
            raise InvalidInput(f"the discrepancy needs at least 2 pairs of different points, not {len(real)}")
        origin = self.rho_fit == "origin"
        self.mean_real = 0.0 if origin else float(real.mean())
        self.mean_cheap = 0.0 if origin else float(cheap.mean())
        if self.rho_fit != "fixed":
            self.rho = self._slope(cheap - self.mean_cheap, real - self.mean_real)
        residual = (real - self.mean_real) - self.rho * (cheap - self.mean_cheap)
        self.gp_cheap.fit(x_L, y_L)
        spread = spread_of(real) or 1.0
        scale = max(
            float(residual.std()) if not origin else float(np.sqrt(np.mean(residual**2))),
            DISCREPANCY_SCALE_FLOOR * spread,
        )
        self.gp_discrepancy.fit(x_pairs, residual, centre=0.0, scale=scale)
        return self

    def predict(self, x: Array) -> Posterior:
        """Posterior at encoded ``x`` (n, d); :class:`~scisuite.core.NotFitted` before :meth:`fit`."""
        mu_L, var_L = self.gp_cheap.predict(x)
        if self.sigma_l_includes_noise:
            var_L = var_L + self.gp_cheap.noise_variance
        mu_d, var_d = self.gp_discrepancy.predict(x)
        mu = self.mean_real + self.rho * (mu_L - self.mean_cheap) + mu_d
        return Posterior(mu, self.rho**2 * var_L + var_d, mu_L, var_L, mu_d, var_d)

    def predict_tensor(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and variance of the real function for a float64 tensor (n, d), differentiable."""
        mu_L, var_L = self.gp_cheap.predict_tensor(x)
        if self.sigma_l_includes_noise:
            var_L = var_L + self.gp_cheap.noise_variance
        mu_d, var_d = self.gp_discrepancy.predict_tensor(x)
        return self.mean_real + self.rho * (mu_L - self.mean_cheap) + mu_d, self.rho**2 * var_L + var_d

    def p_delta(self, x: Array) -> Array:
        """Share of the discrepancy in the variance (n,); see :func:`discrepancy_share`."""
        posterior = self.predict(x)
        return discrepancy_share(posterior.var_L, posterior.var_d, self.rho)

    def _slope(self, cheap: Array, real: Array) -> float:
        denominator = float(cheap @ cheap)
        # Rounding in the mean leaves a constant with a spread of a few ulps, which would pass for a signal.
        if denominator <= (1e-12 * max(1e-300, float(np.abs(cheap + self.mean_cheap).max()))) ** 2 * len(cheap):
            warnings.warn("the cheap predictor says the same at every pair: rho = 0", RuntimeWarning, stacklevel=3)
            return 0.0
        slope = float(cheap @ real) / denominator
        return slope * shrinkage(cheap, real) if self.rho_fit == "shrunk" else slope


def discrepancy_share(var_L: Array, var_d: Array, rho: float) -> Array:
    r""":math:`p_\Delta = \sigma_\delta^2 / (\rho^2 \sigma_L^2 + \sigma_\delta^2)` in [0, 1]; 0/0 counts as 1."""
    total = rho**2 * np.asarray(var_L) + var_d
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(total > 0, var_d / total, 1.0)
    return np.clip(share, 0.0, 1.0)


def shrinkage(cheap: Array, real: Array) -> float:
    r"""How much of the slope through m centred pairs to believe, in [0, 1].

    The ratio of the adjusted to the plain coefficient of determination, cut off at zero,

    .. math:: \max\Bigl(0,\; 1 - \frac{1 - R^2}{(m - 2)\,R^2}\Bigr),

    the heuristic factor 1 − 1/F of a regression with one predictor, cut off at zero: near one where the pairs leave no
    doubt, zero where a slope of that size is what chance alone would give. With two pairs the line is always perfect
    and says nothing: zero. (Reconstruction.)
    """
    m = len(real)
    power = float(cheap @ cheap) * float(real @ real)
    if m < 3 or power <= 0:
        return 0.0
    determination = min(1.0, float(cheap @ real) ** 2 / power)
    if determination <= 0:
        return 0.0
    return max(0.0, 1.0 - (1.0 - determination) / ((m - 2) * determination))
