"""Fields over a world that a navigator climbs: one function a field, from a world to ``goal -> values``.

What does not depend on the goal (a factorisation, the modes) is worked out once for a world, when a field is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.nav import GridWorld, NavWorld

Floats = NDArray[np.float64]
Field = Callable[[int], Floats]
"""From a goal to float64 (n,), a value for each state that is larger the nearer the goal."""

OF_THE_LAPLACIAN = ("green", "truncated", "heat")
"""Fields that need every move to have one back, so that the Laplacian is symmetric."""


def green(world: NavWorld, eps: float | str = 0.1) -> Field:
    """Columns of (L + εI)⁻¹, whose only local maximum is the goal; ``eps=0`` is the pseudo-inverse, ``"sr:0.99"`` the
    successor representation."""
    from scisuite.solvers.laplacian_nav import GreenPotential

    potential = GreenPotential(world, eps=eps)
    return lambda goal: np.asarray(potential.ranking([goal])[:, 0])


def discounted_walk(world: NavWorld, gamma: float = 0.97) -> Field:
    """Columns of (I − γP)⁻¹, which need no symmetry: the one for one-way doors."""
    from scisuite.solvers.laplacian_nav import DiscountedWalk

    potential = DiscountedWalk(world.walk, gamma)
    return lambda goal: np.asarray(potential.ranking([goal])[:, 0])


def truncated(world: NavWorld, modes: int = 32, kind: Literal["inner", "resistance", "biharmonic"] = "inner") -> Field:
    """What the ``modes`` smoothest modes beside the constant one make of the goal: ``"inner"`` is the truncated Green's
    function, ``"resistance"`` and ``"biharmonic"`` are minus a squared distance."""
    from scisuite.solvers.laplacian_nav import eigenmodes, laplacian, truncated_distance

    if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or modes < 1:
        raise InvalidInput(f"modes must be a positive whole number, not {modes!r}")
    # A small world has fewer modes than that; then none is left out.
    lam, Phi = eigenmodes(laplacian(world.W), min(int(modes) + 1, world.n))
    return lambda goal: np.asarray(truncated_distance(lam, Phi, [goal], kind=kind)[:, 0])


def heat(world: NavWorld, t: float = 2.0) -> Field:
    """Columns of exp(−tL), a place code: a large ``t`` moves the peak off the goal, a small one does not reach far."""
    from scisuite.solvers.laplacian_nav import heat_kernel, laplacian

    L = laplacian(world.W)
    return lambda goal: np.asarray(heat_kernel(L, t=t, goals=[goal])[:, 0])


def euclid(world: NavWorld) -> Field:
    """Minus the straight-line distance, blind to walls; on a torus, the shorter way round."""
    xy = world.xy.astype(np.float64)

    def field(goal: int) -> Floats:
        offset = np.abs(xy - xy[goal])
        if isinstance(world, GridWorld) and world.periodic:
            offset = np.minimum(offset, np.array(world.shape) - offset)
        return np.asarray(-np.hypot(offset[:, 0], offset[:, 1]))

    return field


def bfs(world: NavWorld) -> Field:
    """Minus the moves of a shortest path, −∞ where there is none: the oracle."""

    def field(goal: int) -> Floats:
        moves = world.distances([goal])[0]
        return np.where(moves < 0, -np.inf, -moves.astype(np.float64))

    return field


FIELDS: dict[str, Callable[..., Field]] = {
    "green": green,
    "discounted_walk": discounted_walk,
    "truncated": truncated,
    "heat": heat,
    "euclid": euclid,
    "bfs": bfs,
}


def make_field(name: str, world: NavWorld, **config: Any) -> Field:
    """The field called ``name`` over ``world``.

    Raises
    ------
    InvalidInput
        If there is no such field, it does not take one of the arguments, or the world has none: eigenmodes and the
        Green's function need a world in which every move can be taken back.
    """
    require_field(name, config)
    if name in OF_THE_LAPLACIAN and not world.is_symmetric:
        _refuse_one_way(name, world)
    return FIELDS[name](world, **config)


def require_field(name: str, config: dict[str, Any]) -> None:
    """Refuse an unknown field and arguments that it does not take.

    Raises
    ------
    InvalidInput
        If either is the case.
    """
    from scisuite.core.registry import did_you_mean, refuse_unknown_arguments

    if not isinstance(name, str) or name not in FIELDS:
        raise InvalidInput(f"unknown field {name!r}{did_you_mean(str(name), FIELDS)}")
    refuse_unknown_arguments(FIELDS[name], {"world": None, **config}, f"field {name!r}")


def _refuse_one_way(name: str, world: NavWorld) -> None:
    """Say which move of ``world`` cannot be taken back, and which agent can do with that."""
    here, there = (int(states[0]) for states in (world.W - world.W.T > 0).nonzero())
    raise InvalidInput(
        f"the field {name!r} needs a world in which every move can be taken back, but from {world.name(here)} to "
        f"{world.name(there)} there is only one way; use the agent discounted_walk"
    )
