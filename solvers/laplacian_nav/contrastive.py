"""The spectral contrastive loss, whose minimum spans the slowest modes of the walk."""

from __future__ import annotations

import math

import torch

from scisuite.core import Budget
from scisuite.solvers.laplacian_nav.encoders import Network, as_tensor, one_thread
from scisuite.solvers.laplacian_nav.pairs import DistinctPairs

BATCH = 4096
LEARNING_RATE = 2e-3

_RISE = 0.1


def train_contrastive(network: Network, pairs: DistinctPairs, budget: Budget, seed: int) -> list[float]:
    r"""Minimise :math:`-2E[h(s)\cdot h(s^+)] + E[(h(s)\cdot h(s'))^2]` with Adam; the losses, one a step.

    :math:`h = (1, z)` is the network's feature vector with the constant mode, which is known, put in front: all of z is
    left for the others. s and :math:`s^+` are a pair, s and :math:`s'` come from two different pairs of the batch. The
    second mean needs no table of all B² products: :math:`\sum_{ij}(h_i\cdot h'_j)^2` is
    :math:`\operatorname{tr}(H^\top H\,H'^\top H')`, less the B terms i = j.

    Each distinct observation of a batch passes through the network once, whatever the number of pairs that hold it.

    Parameters
    ----------
    network : Network
        Its weights are changed.
    pairs : DistinctPairs
    budget : Budget
        In steps or CPU seconds. The learning rate rises to 2e-3 during its first tenth and falls to 0 along a cosine:
        steeper starts let the ReLUs die.
    seed : int

    Notes
    -----
    Source: brief, "spectral contrastive", with batches of 1,024 and a rate of 1e-3. Larger batches cost next to nothing
    where pictures repeat, and let the rate be higher. Rate, batch, the constant in front and the exclusion of i = j are
    reconstructions.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=LEARNING_RATE)
    losses = []
    with one_thread():
        for batch in pairs.batches(BATCH, budget, seed):
            for group in optimiser.param_groups:
                group["lr"] = LEARNING_RATE * _schedule(batch.spent)
            z = network(as_tensor(batch.frames))
            h = torch.cat([torch.ones(len(z), 1), z], dim=1)
            loss = contrastive_loss(h[torch.from_numpy(batch.first)], h[torch.from_numpy(batch.second)])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
    return losses


def contrastive_loss(h: torch.Tensor, h_next: torch.Tensor) -> torch.Tensor:
    """The loss of features (B, d) of the earlier and the later observations of B ≥ 2 pairs."""
    count = len(h)
    own = (h * h_next).sum(dim=1)
    every = ((h.T @ h) * (h_next.T @ h_next)).sum()
    return -2.0 * own.mean() + (every - own.square().sum()) / (count * (count - 1))


def _schedule(spent: float) -> float:
    """Factor of the learning rate when a part ``spent`` of the budget is used: a short rise, then half a cosine."""
    rise = min((spent + 1e-3) / _RISE, 1.0)
    return rise * 0.5 * (1.0 + math.cos(math.pi * spent))
