"""Modes learnt from what a walker sees with its own eyes: Miniworld's three-dimensional rooms."""

from __future__ import annotations

import contextlib
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Budget, CpuClock, EngineFailure, InvalidInput, MissingDependency, generator

ACTIONS = ("turn left", "turn right", "forward", "back")

_STEP_METRES = 1.0
_HEIGHT, _WIDTH = 30, 40
_LATTICE_OFFSET = 0.5
_FORWARD, _BACK = 2, 3


@dataclass(frozen=True, eq=False)
class FirstPersonWalk:
    """A random walk through rooms, and what was seen.

    Parameters
    ----------
    views : uint8 (m, 5, 30, 40)
        One for each pose that was visited: red, green, blue, and the heading's cosine and sine as two even channels,
        (1 + value) · 127.5.
    poses : float64 (m, 3)
        x and z in metres, heading in quarter turns, 0 to 3.
    visited : int64 (T + 1,)
        Rows of ``poses`` along the walk.
    action : int64 (T,)
        Indices into ``ACTIONS``.
    """

    views: NDArray[np.uint8]
    poses: NDArray[np.float64]
    visited: NDArray[np.int64]
    action: NDArray[np.int64]

    def graph(self) -> Any:
        """float64 CSR (m, m): 1 where a move between two poses was seen in either direction."""
        from scipy.sparse import csr_array

        here, there = self.visited[:-1], self.visited[1:]
        moved = here != there
        pairs = np.unique(np.sort(np.column_stack([here, there])[moved], axis=1), axis=0)
        ones = np.ones(2 * len(pairs))
        ends = np.concatenate([pairs, pairs[:, ::-1]]).T
        return csr_array((ones, (ends[0], ends[1])), shape=(len(self.poses), len(self.poses)))


def view_frames(steps: int, seed: int, env_id: str = "MiniWorld-FourRooms-v0") -> FirstPersonWalk:
    """Walk at random through a Miniworld: quarter turns, and steps of one metre forward or back.

    With these moves the poses are finitely many and every move can be taken back, so that the walk has a Laplacian.
    What is seen from a pose never changes, so each is drawn once. The walk ends neither at the environment's goal nor
    after its number of steps.

    Parameters
    ----------
    steps : int
    seed : int
        Of the environment (where its box lies) and of the walk.
    env_id : str
        A Miniworld whose walls lie on whole metres.

    Raises
    ------
    InvalidInput
        If ``steps`` is no positive whole number.
    MissingDependency
        If miniworld is not installed.
    EngineFailure
        If it cannot draw here.

    Notes
    -----
    Source: brief, "3-D views with heading"; lattice, image size and heading channels are reconstructions.
    """
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 1:
        raise InvalidInput(f"steps must be a positive whole number, not {steps!r}")
    env = _make(env_id)
    try:
        env.reset(seed=int(generator(seed, "rooms").integers(2**31)))
        _onto_lattice(env)
        rng = generator(seed, "first-person walk")
        action = rng.integers(len(ACTIONS), size=steps)
        known: dict[tuple[int, ...], int] = {}
        views: list[NDArray[np.uint8]] = []
        visited = [_look(env, known, views)]
        for chosen in action.tolist():
            _move(env, chosen)
            visited.append(_look(env, known, views))
    finally:
        env.close()
    poses = np.array(list(known), dtype=np.float64) / np.array([1000.0, 1000.0, 1.0])
    return FirstPersonWalk(np.stack(views), poses, np.array(visited, dtype=np.int64), action)


def miniworld_fit(
    seed: int,
    *,
    budget: Budget | str = "400 steps",
    transitions: int = 40_000,
    k: int = 8,
    env_id: str = "MiniWorld-FourRooms-v0",
) -> dict[str, float]:
    """Learn k modes from first-person views with heading, and compare them with those of the graph of poses.

    Returns
    -------
    dict
        ``overlap8``: subspace overlap with the k slowest modes of the graph of poses, the constant one left out;
        ``overlap8_ceiling``: that of Rayleigh–Ritz on the same pairs with a feature of its own for each distinct view;
        ``poses``: how many were visited; ``distinct_views``: how many of their views differ;
        ``walk_wall_seconds``, ``fit_wall_seconds``, ``fit_cpu_seconds``.

    Notes
    -----
    Reported, not claimed: views alias poses, so that even the ceiling stays well below 1 (.59 in the four rooms, where
    a walker before a wall sees only that).
    """
    from scisuite.solvers.laplacian_nav.learn import learn_modes
    from scisuite.solvers.laplacian_nav.modes import eigenmodes
    from scisuite.solvers.laplacian_nav.operators import laplacian
    from scisuite.solvers.laplacian_nav.pairs import DistinctPairs, lagged_pairs
    from scisuite.solvers.laplacian_nav.rayleigh_ritz import rayleigh_ritz
    from scisuite.solvers.laplacian_nav.subspace import subspace_overlap

    clock = CpuClock()
    walk = view_frames(transitions, seed, env_id)
    walk_seconds = clock.wall_seconds()
    first, second = lagged_pairs(len(walk.visited), transitions, 0.9, seed)
    clock = CpuClock()
    encoder, _ = learn_modes(
        walk.views[walk.visited[first]],
        walk.views[walk.visited[second]],
        k,
        seed=seed,
        budget=budget,
        n_actions=len(ACTIONS),
    )
    wall_seconds, cpu_seconds = clock.wall_seconds(), clock.cpu_seconds()
    lam, modes = eigenmodes(laplacian(walk.graph()), min(2 * k + 1, len(walk.poses)))
    looks = np.unique(walk.views.reshape(len(walk.views), -1), axis=0, return_inverse=True)[1].ravel()
    each = np.eye(int(looks.max()) + 1)
    of_looks = DistinctPairs(each.astype(np.float32), looks[walk.visited[first]], looks[walk.visited[second]])
    _, weights = rayleigh_ritz(each, of_looks, k)
    best = (weights[0] + weights[1:])[looks]
    return {
        "overlap8": subspace_overlap(encoder(walk.views), modes[:, 1:], k, eigenvalues=lam[1:]),
        "overlap8_ceiling": subspace_overlap(best, modes[:, 1:], k, eigenvalues=lam[1:]),
        "poses": float(len(walk.poses)),
        "distinct_views": float(len(each)),
        "walk_wall_seconds": walk_seconds,
        "fit_wall_seconds": wall_seconds,
        "fit_cpu_seconds": cpu_seconds,
    }


def _make(env_id: str) -> Any:
    """The bare environment, drawing into memory where there is no screen."""
    try:
        import pyglet

        # Read when miniworld opens its first window.
        pyglet.options["headless"] = True
        import gymnasium as gym
        import miniworld  # noqa: F401 - registers its environments
    except ModuleNotFoundError as error:
        raise MissingDependency(f"first-person views need {error.name}, which is not installed", "nav") from error
    except Exception as error:
        raise _cannot_draw(error) from error
    try:
        # It prints what its driver cannot do, and standard output is not for that.
        with contextlib.redirect_stdout(sys.stderr):
            return gym.make(env_id, obs_width=_WIDTH, obs_height=_HEIGHT).unwrapped
    except gym.error.Error as error:
        raise InvalidInput(f"there is no Miniworld {env_id!r}: {error}") from error
    except Exception as error:
        raise _cannot_draw(error) from error


def _cannot_draw(error: Exception) -> EngineFailure:
    return EngineFailure(
        f"Miniworld cannot draw here ({type(error).__name__}: {error}); on Debian, install libegl1 libgl1-mesa-dri "
        "libglu1-mesa"
    )


def _onto_lattice(env: Any) -> None:
    """Put the walker on the middle of its square metre, or of the nearest free one, looking along x."""
    middle = np.floor(env.agent.pos) + _LATTICE_OFFSET
    steps = sorted(((dx, dz) for dx in range(-8, 9) for dz in range(-8, 9)), key=lambda step: math.hypot(*step))
    for dx, dz in steps:
        place = np.array([middle[0] + dx, 0.0, middle[2] + dz])
        if _is_free(env, place):
            env.agent.pos, env.agent.dir = place, 0.0
            return
    raise EngineFailure("there is no free square metre for the walker")


def _move(env: Any, action: int) -> None:
    if action >= _FORWARD:
        step = _STEP_METRES if action == _FORWARD else -_STEP_METRES
        place = env.agent.pos + step * np.round(env.agent.dir_vec)
        if _is_free(env, place):
            env.agent.pos = place
    else:
        turn = 1 if action == 0 else -1
        env.agent.dir = _quarter(env) * math.pi / 2 + turn * math.pi / 2


def _is_free(env: Any, place: NDArray[np.float64]) -> bool:
    """Whether the walker can stand there. Miniworld itself looks for near walls only, which a long step jumps over."""
    inside = any(room.point_inside(place) for room in env.rooms)
    return inside and not env.intersect(env.agent, place, env.agent.radius)


def _quarter(env: Any) -> int:
    return round(env.agent.dir / (math.pi / 2)) % 4


def _look(env: Any, known: dict[tuple[int, ...], int], views: list[NDArray[np.uint8]]) -> int:
    """The number of the pose that the walker is in; a new one is drawn and added."""
    x, _, z = env.agent.pos
    quarter = _quarter(env)
    pose = (round(1000 * x), round(1000 * z), quarter)
    number = known.setdefault(pose, len(known))
    if number == len(views):
        view = np.empty((5, _HEIGHT, _WIDTH), dtype=np.uint8)
        view[:3] = np.asarray(env.render_obs()).transpose(2, 0, 1)
        angle = quarter * math.pi / 2
        view[3:] = np.round((1.0 + np.array([math.cos(angle), math.sin(angle)])) * 127.5)[:, None, None]
        views.append(view)
    return number
