"""Modes learnt from pictures of a world, and how well they find the way in it."""

from __future__ import annotations

import numpy as np

from scisuite.core import Budget, CpuClock, InvalidInput, generator
from scisuite.scenarios.nav.pixels import images
from scisuite.scenarios.nav.world import GridWorld
from scisuite.solvers.laplacian_nav.distances import truncated_distance
from scisuite.solvers.laplacian_nav.learn import Method, learn_modes
from scisuite.solvers.laplacian_nav.modes import eigenmodes
from scisuite.solvers.laplacian_nav.operators import laplacian
from scisuite.solvers.laplacian_nav.pairs import lagged_pairs
from scisuite.solvers.laplacian_nav.policy import greedy_actions
from scisuite.solvers.laplacian_nav.rollout import success_and_spl
from scisuite.solvers.laplacian_nav.subspace import subspace_overlap
from scisuite.solvers.laplacian_nav.walks import random_walk

GAMMA = 0.9
OVERLAP_MODES = 8


def pixel_fit(
    world: GridWorld,
    seed: int,
    *,
    budget: Budget | str = "1000 steps",
    transitions: int = 400_000,
    k: int = 32,
    method: Method = "spectral_contrastive",
    n_goals: int = 20,
    n_starts: int = 40,
) -> dict[str, float]:
    """Walk at random, learn k modes from the pictures seen on the way, and navigate by them.

    Parameters
    ----------
    world : GridWorld
        Connected, without one-way doors.
    seed : int
        Of the walk, the pairs, the encoder, the goals and the starts.
    budget : Budget or str
        Of the encoder's training.
    transitions : int
        Length of the walk, and number of pairs drawn from it.
    k : int
    method : {"spectral_contrastive", "allo"}
    n_goals, n_starts : int
        Drawn without replacement; all of them where the world has fewer cells.

    Returns
    -------
    dict
        ``overlap8``: subspace overlap of the eight slowest modes (of fewer, where k is smaller), the constant one left
        out, with those of the world's Laplacian. ``success_resistance``, ``success_inner``: success of ascent by the
        learned modes' distances; ``exact_resistance``, ``exact_inner``: the same with as many true modes;
        ``success_euclid``: of ascent by straight-line distance. All at most 10 times the shortest path.
        ``fit_wall_seconds``, ``fit_cpu_seconds``: of learning, the walk left out.

    Notes
    -----
    The encoder sees pictures alone. Which picture belongs to which cell is used afterwards, to compare modes and to
    look one move ahead. Source: brief, experiment 4.
    """
    if not isinstance(world, GridWorld):
        raise InvalidInput(f"pixel_fit needs a GridWorld, which has a map, not a {type(world).__name__}")
    walk = random_walk(world, transitions, seed)
    visited = np.append(walk.state, walk.next_state[-1])
    first, second = lagged_pairs(len(visited), transitions, GAMMA, seed)
    # As bytes, or the pairs of a long walk would take gigabytes.
    pictures = (255 * images(world)).astype(np.uint8)
    obs, next_obs = pictures[visited[first]], pictures[visited[second]]
    clock = CpuClock()
    encoder, learned_lam = learn_modes(
        obs, next_obs, k, method, seed, budget, gamma=GAMMA, n_actions=world.moves.shape[1]
    )
    wall_seconds, cpu_seconds = clock.wall_seconds(), clock.cpu_seconds()
    learned = encoder(pictures)

    n_true = min(2 * k + 1, world.n)
    lam, modes = eigenmodes(laplacian(world.W), n_true)
    lam, modes = lam[1:], modes[:, 1:]
    compared = min(OVERLAP_MODES, k)

    rng = generator(seed, "goals and starts")
    goals = rng.choice(world.n, min(n_goals, world.n), replace=False)
    starts = rng.choice(world.n, min(n_starts, world.n), replace=False)
    straight = -np.linalg.norm(world.xy[:, None, :] - world.xy[goals][None], axis=2)

    def success(scores: np.ndarray) -> float:
        return float(success_and_spl(greedy_actions(scores, world), world, goals, starts, max_factor=10)["success"])

    return {
        "overlap8": subspace_overlap(learned, modes, compared, eigenvalues=lam),
        "success_resistance": success(truncated_distance(learned_lam, learned, goals, kind="resistance")),
        "success_inner": success(truncated_distance(learned_lam, learned, goals, kind="inner")),
        "exact_resistance": success(truncated_distance(lam[:k], modes[:, :k], goals, kind="resistance")),
        "exact_inner": success(truncated_distance(lam[:k], modes[:, :k], goals, kind="inner")),
        "success_euclid": success(straight),
        "fit_wall_seconds": wall_seconds,
        "fit_cpu_seconds": cpu_seconds,
    }
