"""How large the messages of a network would be at a steady state, told without finding one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.mass_action import MassAction
from scisuite.solvers.crn_reduce.network import CRN, UNASSIGNED, Floats

_DAMPING = 0.3
_MOST_ROUNDS = 5_000
_SETTLED = 1e-10


def live_shares(crn: CRN, rates: Sequence[float], *, floor: float = 1e-9) -> Floats | None:
    """Least assigned share of a pool at a compiled network's fullest steady state, at each of some rates of recycling.

    At a steady state the normalised messages are a fixed point of belief propagation, whatever the rate of recycling,
    and a pool's assigned mass is a = total · g/(1 + g) with g = (k/k_rec) · Z · Π a over the pools that catalyse it; Z
    is what the message sums to when its inputs are normalised. The right-hand side grows with every mass, so that
    iterating it from a = total goes down to its greatest solution. Where even that dies out no steady state with these
    messages is alive. Where it does not, the network may still go to another one: this is a guess, and
    :func:`~scisuite.solvers.crn_reduce.steady.steady_state` decides. (Our derivation.)

    Parameters
    ----------
    crn : CRN
        With ``pools``, as compiled.
    rates : sequence of float
        Rates of recycling, those of ``crn`` themselves do not matter.
    floor : float
        Shares below it are not followed further down.

    Returns
    -------
    float64 (len(rates),) or None
        None if belief propagation, damped, does not settle, its messages contradict each other or overflow, or a pool
        is empty.

    Raises
    ------
    InvalidInput
        If the network has no pools.
    """
    if crn.pools is None:
        raise InvalidInput("the network carries no pools")
    kinetics, pools = MassAction(crn), crn.pools
    assigned = pools.value_of != UNASSIGNED

    def made(values: Floats) -> Floats:
        """How fast each value species is made per unit of its pool's unassigned species."""
        return np.where(assigned, kinetics.inflow(np.where(assigned, values, 1.0)), 0.0)

    def summed(values: Floats) -> Floats:
        return np.bincount(pools.pool_of, weights=values).astype(np.float64)

    totals = summed(crn.initial)
    if not totals.all():
        return None
    message = np.where(assigned, 1.0, 0.0)
    message /= summed(message)[pools.pool_of]
    for _ in range(_MOST_ROUNDS):
        with np.errstate(over="ignore", invalid="ignore"):
            new = made(message)
            mass = summed(new)
        if not mass.all() or not np.isfinite(mass).all():
            return None
        new /= mass[pools.pool_of]
        change = np.abs(new - message).max()
        message += (1.0 - _DAMPING) * (new - message)
        if change < _SETTLED:
            # Undamped, so that what no message allows is zero and not the remains of the start.
            message = new
            break
    else:
        return None
    shares = []
    for rate in rates:
        mass = totals
        for _ in range(_MOST_ROUNDS):
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                gain = summed(made(mass[pools.pool_of] * message)) / rate
                # Of this form, an overflow leaves all of the total assigned.
                lower = totals / (1.0 + 1.0 / gain)
            if np.isnan(lower).any():
                return None
            least = float((lower / totals).min())
            settled = np.abs(lower - mass).max() < _SETTLED * totals.max()
            mass = lower
            if settled or least < floor:
                break
        shares.append(least)
    return np.array(shares)
