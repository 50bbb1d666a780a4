"""The Gaussian process that LABO's two surrogates and every vanilla arm share.

One class on purpose: an ablation then differs from LABO by its data and its decisions, never by its regression.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import gpytorch
import numpy as np
import torch
from botorch.models import SingleTaskGP
from gpytorch.kernels import RBFKernel
from gpytorch.means import ZeroMean
from numpy.typing import NDArray

from scisuite.core import InvalidInput, NotFitted

Array = NDArray[np.float64]

RELATIVE_LENGTH_SCALES = (0.1, 0.15, 0.25, 0.4, 0.6, 1.0, 1.6)
NOISE_VARIANCES = (1e-4, 1e-2, 1e-1)
PRIOR_TEMPERATURE = 0.2
_CHUNK_ROWS = 4096


@dataclass(frozen=True)
class Hyperparameters:
    """Length scale in encoded units, and noise variance on the standardised scale."""

    length_scale: float
    noise: float


class GridGP:
    r"""Exact GP with a zero mean, unit output scale and an isotropic RBF kernel, its hyperparameters taken from a grid.

    The targets are standardised, :math:`z = (y - m)/s`, and :math:`z \sim N(0, K_\ell + \eta I)`. The length scale
    :math:`\ell \in \{0.1, 0.15, 0.25, 0.4, 0.6, 1, 1.6\}\sqrt{d/3}` and the noise :math:`\eta \in \{10^{-4}, 10^{-2},
    10^{-1}\}` maximise

    .. math:: \log N(z; 0, K_\ell + \eta I) + 0.2 \log \mathrm{LogNormal}(\ell; \sqrt 2 + \tfrac12 \log d, \sqrt 3),

    all 21 marginal likelihoods in one batched botorch model. A gradient fit of each would cost 20 to 100 times more
    and, at the sizes of an experimental campaign, settles between the same grid points. (Reconstruction: the paper
    says RBF kernels and no more.)

    Parameters
    ----------
    hyperparameters : Hyperparameters or None
        Fixed ones; ``None`` takes them from the grid at every fit.
    """

    def __init__(self, hyperparameters: Hyperparameters | None = None) -> None:
        self.fixed = hyperparameters
        self.hyperparameters: Hyperparameters | None = hyperparameters
        self.mean = 0.0
        self.scale = 1.0

    def fit(self, x: Array, y: Array, *, centre: float | None = None, scale: float | None = None) -> GridGP:
        """Condition on ``x`` (n, d) encoded and ``y`` (n,); repeated rows are averaged.

        Parameters
        ----------
        centre, scale : float or None
            The affine map of y to the standardised scale; its own mean and standard deviation by default (a scale of
            1 where y is constant).

        Raises
        ------
        InvalidInput
            If the shapes disagree, there is no row, or a number is not finite.
        """
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if x.ndim != 2 or y.shape != (len(x),) or not len(x):
            raise InvalidInput(f"a GP needs x (n, d) and y (n,) with n >= 1, not {x.shape} and {y.shape}")
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InvalidInput("a GP cannot be fitted to NaN or infinite numbers")
        x, y = average_duplicates(x, y)
        self.mean = float(y.mean()) if centre is None else float(centre)
        spread = spread_of(y) if scale is None else float(scale)
        self.scale = spread if spread > 0 else 1.0
        self._x = torch.from_numpy(np.ascontiguousarray(x))
        self._z = torch.from_numpy((y - self.mean) / self.scale)
        self.hyperparameters = self.fixed or _best_on_grid(self._x, self._z)
        with torch.no_grad():
            covariance = self.kernel(self._x, self._x)
            covariance.diagonal().add_(self.hyperparameters.noise)
            self._cholesky = torch.linalg.cholesky(covariance)
            self._weights = torch.cholesky_solve(self._z[:, None], self._cholesky)[:, 0]
        return self

    @property
    def noise_variance(self) -> float:
        """Likelihood noise in squared units of y."""
        assert self.hyperparameters is not None
        return self.hyperparameters.noise * self.scale**2

    def predict(self, x: Array) -> tuple[Array, Array]:
        """Posterior mean (n,) and variance (n,) of the latent function at encoded ``x`` (n, d), in units of y.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        """
        if not hasattr(self, "_x"):
            raise NotFitted("the surrogate has no data yet; call fit first")
        rows = torch.from_numpy(np.ascontiguousarray(x, dtype=np.float64))
        means, variances = [], []
        with torch.no_grad():
            for part in rows.split(_CHUNK_ROWS):
                mean, variance = self.predict_tensor(part)
                means.append(mean.numpy())
                variances.append(variance.numpy())
        return np.concatenate(means), np.concatenate(variances)

    def predict_tensor(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The same for a float64 tensor, differentiable in ``x``."""
        cross = self.kernel(self._x, x)
        whitened = torch.linalg.solve_triangular(self._cholesky, cross, upper=False)
        variance = (1.0 - whitened.square().sum(0)).clamp_min(0.0)
        return self.mean + self.scale * (cross.T @ self._weights), self.scale**2 * variance

    def correlation(self, a: Array, b: Array) -> Array:
        """Prior correlation k(a, b) of encoded rows: (n, d), (m, d) → (n, m)."""
        with torch.no_grad():
            return np.asarray(self.kernel(torch.from_numpy(np.array(a)), torch.from_numpy(np.array(b))))

    def to_botorch(self) -> SingleTaskGP:
        """The same posterior as a botorch model of the standardised targets, for botorch's acquisition functions."""
        assert self.hyperparameters is not None
        model = _batched_model(self._x, self._z, [self.hyperparameters], batched=False)
        model.eval()
        return model

    def kernel(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """The same for tensors, differentiable."""
        assert self.hyperparameters is not None
        return torch.exp(torch.cdist(a, b).square() * (-0.5 / self.hyperparameters.length_scale**2))


def average_duplicates(x: Array, y: Array) -> tuple[Array, Array]:
    """Equal rows of ``x`` merged in order of first appearance, their ``y`` averaged."""
    unique, first, inverse = np.unique(x, axis=0, return_index=True, return_inverse=True)
    if len(unique) == len(x):
        return x, y
    inverse = inverse.reshape(-1)
    means = np.bincount(inverse, weights=y) / np.bincount(inverse)
    order = np.argsort(first)
    return unique[order], means[order]


def spread_of(y: Array) -> float:
    """Standard deviation of ``y`` (n,), exactly 0 where all are equal but for the rounding of their mean."""
    spread = float(y.std())
    return spread if spread > 1e-12 * float(np.abs(y).max()) else 0.0


def grid(d: int) -> list[Hyperparameters]:
    """The 21 candidates in ``d`` encoded dimensions."""
    return [
        Hyperparameters(relative * math.sqrt(d / 3), noise)
        for relative in RELATIVE_LENGTH_SCALES
        for noise in NOISE_VARIANCES
    ]


def log_prior(length_scale: float, d: int) -> float:
    """Tempered log density of the length scale."""
    location, spread = math.sqrt(2) + 0.5 * math.log(d), math.sqrt(3)
    log_density = -math.log(length_scale) - 0.5 * ((math.log(length_scale) - location) / spread) ** 2
    return PRIOR_TEMPERATURE * log_density


def log_marginal_likelihoods(x: torch.Tensor, z: torch.Tensor, candidates: list[Hyperparameters]) -> torch.Tensor:
    """Log marginal likelihood of standardised ``z`` (n,) under each candidate, from one batched botorch model."""
    with torch.no_grad():
        model = _batched_model(x, z, candidates)
        model.train()
        per_point = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)
        return per_point(model(*model.train_inputs), model.train_targets) * len(z)


def _batched_model(
    x: torch.Tensor, z: torch.Tensor, candidates: list[Hyperparameters], *, batched: bool = True
) -> SingleTaskGP:
    n, d = x.shape
    batch = torch.Size([len(candidates)]) if batched else torch.Size()
    kernel: Any = RBFKernel(batch_shape=batch)
    kernel.to(x)
    kernel.lengthscale = torch.tensor([c.length_scale for c in candidates], dtype=x.dtype).reshape(*batch, 1, 1)
    noise = torch.tensor([c.noise for c in candidates], dtype=x.dtype).reshape(*batch, 1, 1).expand(*batch, n, 1)
    return SingleTaskGP(
        x.expand(*batch, n, d),
        z.expand(*batch, n).unsqueeze(-1),
        train_Yvar=noise,
        covar_module=kernel,
        mean_module=ZeroMean(batch_shape=batch),
        outcome_transform=None,
    )


def _best_on_grid(x: torch.Tensor, z: torch.Tensor) -> Hyperparameters:
    d = x.shape[1]
    candidates = grid(d)
    scores = log_marginal_likelihoods(x, z, candidates).numpy() + [log_prior(c.length_scale, d) for c in candidates]
    return candidates[int(np.argmax(scores))]
