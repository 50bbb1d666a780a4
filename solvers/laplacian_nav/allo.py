"""ALLO: the slowest modes one by one, by an augmented Lagrangian."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from scisuite.core import Budget
from scisuite.solvers.laplacian_nav.encoders import Network, as_tensor, one_thread
from scisuite.solvers.laplacian_nav.pairs import DistinctPairs

BATCH = 1024
LEARNING_RATE = 1e-3
DUAL_LEARNING_RATE = 1e-4
BARRIER_LEARNING_RATE = 1.0
INITIAL_BARRIER = 2.0


def train_allo(
    network: Network, pairs: DistinctPairs, budget: Budget, seed: int
) -> tuple[list[float], NDArray[np.float64]]:
    """Let the network's outputs become the slowest modes, the constant one first, slower ones before faster ones.

    Adam descends in the network's weights; each dual variable rises by 1e-4 times its error a step, the barrier by the
    mean squared error, and never falls. The published runs took 20,000 to 50,000 steps to separate the modes; the space
    that they span, which is all that Rayleigh–Ritz asks for, is there far sooner.

    Parameters
    ----------
    network : Network
        Its weights are changed.
    pairs : DistinctPairs
    budget : Budget
        In steps or CPU seconds.
    seed : int

    Returns
    -------
    losses : list of float
        One a step.
    eigenvalues : float64 (d,)
        −β_ii/2: ALLO's own estimate of the eigenvalues 1 − η of the walk averaged over lags; the constant mode's 0 is
        the first.

    Notes
    -----
    Source: Gomez, Bowling and Machado, "Proper Laplacian Representation Learning", arXiv 2310.10833: loss and defaults
    (batch 1024, rates 1e-3, 1e-4 and 1, initial barrier 1 to 2) as in the brief. Written anew.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    duals = torch.zeros(network.features, network.features)
    barrier = INITIAL_BARRIER
    losses = []
    with one_thread():
        for batch in pairs.batches(2 * BATCH, budget, seed):
            u = network(as_tensor(batch.frames))
            first, second = u[torch.from_numpy(batch.first)], u[torch.from_numpy(batch.second)]
            loss, errors, squares = augmented_lagrangian(first, second, duals, barrier)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            duals += DUAL_LEARNING_RATE * errors
            barrier += BARRIER_LEARNING_RATE * squares / network.features**2
            losses.append(float(loss.detach()))
    return losses, np.asarray(-0.5 * torch.diagonal(duals).numpy(), dtype=np.float64)


def augmented_lagrangian(
    first: torch.Tensor, second: torch.Tensor, duals: torch.Tensor, barrier: float
) -> tuple[torch.Tensor, torch.Tensor, float]:
    r"""The Lagrangian of a batch; its errors (d, d), lower triangular; and the sum of their squares.

    .. math:: \sum_i \langle u_i, L u_i\rangle + \sum_{j \le i} \beta_{ij} e_{ij} + b \sum_{j \le i} e_{ij}^2, \quad
              e_{ij} = \langle u_i, [u_j]\rangle - \delta_{ij} .

    No gradient passes through the earlier mode, [·], so that the later ones yield. ⟨·,·⟩ is a batch mean and
    :math:`\langle u, Lu\rangle = \tfrac12 E[(u(s) - u(s^+))^2]`, where the repository leaves out the half. The square
    is the product of the errors of the batch's two halves, whose mean is right where a square's is too large; where
    they differ in sign it counts as zero, as in the repository.

    Parameters
    ----------
    first, second : float32 (B, d)
        The network's outputs at the earlier and the later observations of B pairs, B even.
    duals : float32 (d, d)
        β.
    barrier : float
        b.
    """
    half = len(first) // 2
    drawing = 0.5 * (first - second).square().sum(dim=1).mean()
    errors, others = _errors(first[:half]), _errors(first[half:])
    both, squares = 0.5 * (errors + others), (errors * others).clamp(min=0.0).sum()
    return drawing + (duals * both).sum() + barrier * squares, both.detach(), float(squares.detach())


def _errors(u: torch.Tensor) -> torch.Tensor:
    return torch.tril(u.T @ u.detach() / len(u) - torch.eye(u.shape[1]))
