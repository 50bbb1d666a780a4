"""Place cells as multi-scale position embeddings: the baseline that compares transition kernels over many times.

q_t(x, y) = P_t(x, y) / √(P_t(x, x) P_t(y, y)) is 1 at x = y. At a short time it tells near places apart, at a long time
it reaches far, so that a planner tries every move under every time and takes the one that raises q_t(·, goal) most.
Zhao et al., "Place Cells as Multi-Scale Position Embeddings" (arXiv 2505.14806), re-implemented from its description.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.nav.world import GridWorld, NavWorld
from scisuite.solvers.laplacian_nav.walks import checked_goals

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIMES = tuple(2**i for i in range(1, 12))
"""2, 4, …, 2048: the powers of two below 4,000."""


def neighbourhood_walk(world: GridWorld) -> Any:
    """float64 CSR (n, n): P₁, nine moves of 1/9 each (eight neighbours and staying); a blocked one stays.

    Raises
    ------
    InvalidInput
        If the world has thin walls or one-way doors.
    """
    if world.closed is not None:
        raise InvalidInput("the nine-move walk is for worlds without thin walls or one-way doors")
    from scipy.sparse import csr_array, eye_array

    eight = GridWorld(world.free, neighbours=8, periodic=world.periodic).walk
    return csr_array((8.0 * eight + eye_array(world.n)) / 9.0)


def similarities(walk: Any, goals: ArrayLike, times: tuple[int, ...] = TIMES) -> Floats:
    """float64 (T, n, g): the exact q_t(x, goal) at each of ``times``, powers of two in ascending order.

    P_2t = P_t² by repeated squaring, all of whose terms are positive, so that small values keep their digits; memory
    is two dense matrices (n, n).

    Parameters
    ----------
    walk : sparse or dense (n, n)
        Symmetric, rows sum to one.
    goals : int (g,)
    times : tuple of int

    Raises
    ------
    InvalidInput
        If the walk is not symmetric, a goal is not a state, or the times are no ascending powers of two.
    """
    first = _dense(walk)
    goals = checked_goals(goals, len(first))
    found = np.empty((len(times), len(first), len(goals)))
    for scale, kernel in enumerate(_kernels(first, times)):
        found[scale] = _normalised(kernel)[:, goals]
    return found


def embedded_similarities(embeddings: Floats, goals: ArrayLike) -> Floats:
    """float64 (T, n, g): ⟨h_t(x), h_t(goal)⟩ of ``embeddings`` (T, n, d)."""
    return embeddings @ np.swapaxes(embeddings[:, checked_goals(goals, embeddings.shape[1])], 1, 2)


def place_cell_actions(similarity: Floats, world: NavWorld) -> Ints:
    """int64 (n, g): the open move whose similarity (T, n, g) rises most at any time; the lowest of equals.

    A state without open moves gets action 0.

    Raises
    ------
    InvalidInput
        If ``similarity`` is not of this world's size.
    """
    if similarity.ndim != 3 or similarity.shape[1] != world.n:
        raise InvalidInput(f"similarity must have shape (times, {world.n}, goals), not {similarity.shape}")
    rise = np.full((*world.moves.T.shape, similarity.shape[2]), -np.inf)
    for scale in similarity:
        for action, following in enumerate(world.moves.T):
            np.maximum(rise[action], scale[following] - scale, out=rise[action])
    rise[~world.open_moves.T] = -np.inf
    return rise.argmax(axis=0).astype(np.int64)


class PlaceCellPlanner:
    """Continuous steps of length one towards a goal, read bilinearly from maps of similarity.

    Parameters
    ----------
    similarity : float64 (T, n, g)
        Of :func:`similarities` or :func:`embedded_similarities`.
    world : GridWorld
        Not periodic. Positions are (row, column), cell centres at whole numbers.
    goals : int (g,)
        The goals of the columns.
    directions : int
        How many directions are tried.
    """

    def __init__(self, similarity: Floats, world: GridWorld, goals: ArrayLike, directions: int = 16) -> None:
        if similarity.ndim != 3 or similarity.shape[1] != world.n:
            raise InvalidInput(f"similarity must have shape (times, {world.n}, goals), not {similarity.shape}")
        if world.periodic:
            raise InvalidInput("the planner needs a map with edges, not a torus")
        self.world = world
        self.goals = checked_goals(goals, world.n)
        angle = 2 * np.pi * np.arange(directions) / directions
        self._steps = np.stack([np.sin(angle), np.cos(angle)], axis=1)
        self._maps = np.zeros((len(self.goals), len(similarity), *world.shape))
        self._maps[:, :, world.free] = np.moveaxis(similarity, 2, 0)

    def path(self, start: ArrayLike, goal: int, max_steps: int = 100) -> Floats:
        """float64 (k + 1, 2): positions from ``start`` until within one step of ``goal``, a state, or tired.

        Raises
        ------
        InvalidInput
            If the start is not in a free cell or the goal not one of this planner's.
        """
        here = np.asarray(start, dtype=np.float64)
        if here.shape != (2,) or not self._is_free(here[None])[0]:
            raise InvalidInput(f"the start must be a (row, column) in a free cell, not {start!r}")
        if goal not in self.goals:
            raise InvalidInput(f"{self.world.name(goal)} is not among the planner's goals")
        maps, target = self._maps[int(np.flatnonzero(self.goals == goal)[0])], self.world.xy[goal]
        positions = [here]
        while len(positions) <= max_steps and np.hypot(*(here - target)) > 1.0:
            candidates = here + self._steps
            candidates = candidates[self._is_free(candidates)]
            if not len(candidates):
                break
            rise = self._read(maps, candidates) - self._read(maps, here[None])
            here = candidates[int(rise.max(axis=0).argmax())]
            positions.append(here)
        return np.array(positions)

    def _read(self, maps: Floats, positions: Floats) -> Floats:
        """float64 (T, k): bilinear reading in which walls have no part."""
        return _bilinear(maps, positions) / _bilinear(self.world.free[None].astype(np.float64), positions)

    def _is_free(self, positions: Floats) -> NDArray[np.bool_]:
        height, width = self.world.shape
        row, column = np.moveaxis(np.rint(positions).astype(np.int64), -1, 0)
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        inside &= (positions >= 0).all(axis=1) & (positions <= [height - 1, width - 1]).all(axis=1)
        return inside & self.world.free[np.where(inside, row, 0), np.where(inside, column, 0)]


def fit_embeddings(
    walk: Any, times: tuple[int, ...] = TIMES, dim: int = 50, steps: int = 500, batch: int = 256, seed: int = 0
) -> Floats:
    """float64 (T, n, dim): non-negative embeddings of unit norm with ⟨h_t(x), h_t(y)⟩ ≈ q_t(x, y).

    ``steps`` steps of AdamW (rate 0.03) for each time, on the mean squared error of ``batch`` rows of q_t against all
    states. The longest time comes first and each shorter one begins where the one before ended (*reconstruction*: so
    that components which far places have to share belong to places that are near; from short to long, far places look
    alike at t = 2 and a planner goes astray).

    Raises
    ------
    InvalidInput
        If the walk is not symmetric or a number is not positive.
    MissingDependency
        If torch is not installed.
    """
    torch = _torch()
    from scisuite.solvers.laplacian_nav.encoders import one_thread

    for name, number in (("dim", dim), ("steps", steps), ("batch", batch)):
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
            raise InvalidInput(f"{name} must be a positive whole number, not {number!r}")
    first = _dense(walk)
    draws = torch.Generator().manual_seed(int(generator(seed, "embeddings").integers(2**62)))
    raw = torch.rand((len(first), dim), generator=draws).requires_grad_()
    found = np.empty((len(times), len(first), dim))
    targets = [torch.tensor(_normalised(kernel), dtype=torch.float32) for kernel in _kernels(first, times)]
    with one_thread():
        for scale, wanted in reversed(list(enumerate(targets))):
            optimiser = torch.optim.AdamW([raw], lr=0.03)
            for _ in range(steps):
                rows = torch.randint(len(wanted), (min(batch, len(wanted)),), generator=draws)
                unit = _unit(raw)
                loss = ((unit[rows] @ unit.T - wanted[rows]) ** 2).mean()
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            found[scale] = _unit(raw).detach().double().numpy()
    return found / np.linalg.norm(found, axis=2, keepdims=True)


def _kernels(kernel: Floats, times: tuple[int, ...]) -> Any:
    """P_t for each of ``times``, one after the other."""
    exponents = [int(time).bit_length() - 1 for time in times]
    ascending = all(b > a for a, b in pairwise(exponents))
    if not times or not ascending or any(time != 2**e for time, e in zip(times, exponents, strict=True)):
        raise InvalidInput(f"times must be ascending powers of two, not {times}")
    reached = 0
    for exponent in exponents:
        while reached < exponent:
            kernel = kernel @ kernel
            reached += 1
        yield kernel


def _normalised(kernel: Floats) -> Floats:
    """q_t of P_t."""
    peak = np.sqrt(np.diag(kernel))
    return kernel / peak[:, None] / peak


def _dense(walk: Any) -> Floats:
    kernel = np.array(walk.toarray() if hasattr(walk, "toarray") else walk, dtype=np.float64)
    if kernel.ndim != 2 or not np.allclose(kernel, kernel.T, atol=1e-12):
        raise InvalidInput("place cells need a symmetric walk: every move must be as likely as the one back")
    return kernel


def _bilinear(maps: Floats, positions: Floats) -> Floats:
    """float64 (T, k): ``maps`` (T, H, W) at ``positions`` (k, 2) inside them."""
    height, width = maps.shape[1:]
    corner = np.clip(np.floor(positions).astype(np.int64), 0, [max(height - 2, 0), max(width - 2, 0)])
    down, right = np.moveaxis(positions - corner, -1, 0)
    row, column = np.moveaxis(corner, -1, 0)
    below, beside = np.minimum(row + 1, height - 1), np.minimum(column + 1, width - 1)
    top = (1 - right) * maps[:, row, column] + right * maps[:, row, beside]
    bottom = (1 - right) * maps[:, below, column] + right * maps[:, below, beside]
    return (1 - down) * top + down * bottom


def _unit(raw: Any) -> Any:
    positive = raw.abs() + 1e-6
    return positive / positive.norm(dim=1, keepdim=True)


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        from scisuite.core import MissingDependency

        raise MissingDependency("learned place cells need torch, which is not installed", "torch") from error
    return torch
