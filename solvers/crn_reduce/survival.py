"""Networks whose messages do not die out: how slowly values must be recycled."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from scisuite.core import EngineFailure, InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.compile import Rates, compile_napp_adams
from scisuite.solvers.crn_reduce.live_state import live_shares
from scisuite.solvers.crn_reduce.network import CRN, PoolKey, Pools
from scisuite.solvers.crn_reduce.steady import SteadyState, steady_state


@dataclass(frozen=True)
class Attempt:
    """What came of one rate of recycling.

    Attributes
    ----------
    k_rec : float
    least_share : float
        Least assigned mass of a pool at rest, relative to the pool's total.
    pool : PoolKey or str
        Whose it is.
    n_extinct : int
        How many pools have died out.
    seconds : float
        Processor time.
    """

    k_rec: float
    least_share: float
    pool: PoolKey | str
    n_extinct: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Survival:
    """What was tried, and the state in which messages survive.

    Attributes
    ----------
    k_rec : float
        The rate of recycling that was found.
    attempts : tuple of Attempt
        In the order in which they were made.
    steady : SteadyState
        The network at rest at that rate.
    """

    k_rec: float
    attempts: tuple[Attempt, ...]
    steady: SteadyState = field(repr=False)

    @property
    def seconds(self) -> float:
        """Processor time of all attempts."""
        return sum(attempt.seconds for attempt in self.attempts)


def compile_surviving(
    graph: FactorGraph,
    *,
    k_sum: float = 1.0,
    k_prod: float = 1.0,
    k_rec: float = 0.1,
    total: float = 1.0,
    divide: float = 3.0,
    tol: float = 1e-9,
    max_tries: int = 20,
) -> tuple[CRN, Survival]:
    """Compile a graph with the first rate of recycling of k_rec, k_rec/3, k_rec/9, … at which no message dies out.

    A pool's assigned mass a is fed by the products of those of its catalyst pools: at a steady state
    a = total · g/(1 + g), g = (k/k_rec) · Z · Π a, where Z is what the message sums to when its inputs are normalised.
    So masses shrink along chains and at variables of many factors, and at too large a k_rec only the state without
    messages is left: its residual is as small as any, and its beliefs are wrong. Which state a network reaches is
    found by letting it come to rest from the compiled start (:func:`steady_state`), once for each rate.

    Only where that search begins is guessed (:func:`~scisuite.solvers.crn_reduce.live_state.live_shares`): one rate
    before the first at which a state with messages exists. From there it goes on to slower rates until messages
    survive, or, if they survive at once, to faster ones until they do not, on the understanding that what dies out
    at one rate does at faster ones.

    Parameters
    ----------
    k_sum, k_prod, total : float
        As in :func:`compile_napp_adams`.
    k_rec : float
        The rate of recycling to begin with.
    divide : float
        What it is divided by after each failure, above 1.
    tol : float
        A pool whose assigned mass is not above this part of its total has died out.
    max_tries : int
        Most rates to be tried.

    Returns
    -------
    CRN
    Survival

    Raises
    ------
    InvalidInput
        If a parameter is out of its range, or the graph cannot be compiled.
    EngineFailure
        If a message dies out at every rate that was tried, as it does where evidence is impossible: the error names
        its pool. Also if the integrator gives up or the network does not come to rest.
    """
    if not (math.isfinite(divide) and divide > 1):
        raise InvalidInput(f"divide must be finite and above 1, not {divide!r}")
    if isinstance(max_tries, bool) or not isinstance(max_tries, int | np.integer) or max_tries < 1:
        raise InvalidInput(f"max_tries must be a whole number of at least 1, not {max_tries!r}")
    _require_share(tol)
    asked = Rates(k_sum, k_prod, k_rec, total)
    rates = [k_rec / divide**i for i in range(max_tries)]
    attempts: list[Attempt] = []

    def compiled(rate: float) -> CRN:
        return compile_napp_adams(graph, **{**vars(asked), "k_rec": rate})

    def alive(rate: float) -> tuple[CRN, SteadyState] | None:
        crn = compiled(rate)
        steady = _at_rest(crn, None, _scale_hint(graph))
        attempts.append(_attempt(steady, rate, tol))
        return None if attempts[-1].n_extinct else (crn, steady)

    at = max(_expected(compiled(k_rec), rates, tol) - 1, 0)
    found = alive(rates[at])
    if found is not None:
        while at > 0 and (faster := alive(rates[at - 1])) is not None:
            at, found = at - 1, faster
    while found is None:
        at += 1
        if at == max_tries:
            last = attempts[-1]
            raise EngineFailure(
                f"messages die out at every k_rec down to {last.k_rec:.3g}, {last.n_extinct} of them there; the least "
                f"is {last.pool}, with {last.least_share:.1e} of its pool assigned{_scale_hint(graph)}"
            )
        found = alive(rates[at])
    return found[0], Survival(rates[at], tuple(attempts), found[1])


def survives(crn: CRN, *, tol: float = 1e-9, pools: Pools | None = None) -> bool:
    """Whether no pool of the network has an assigned mass of ``tol`` of its total or less once it is at rest.

    Raises
    ------
    InvalidInput
        If ``tol`` is out of its range, or no pools are known or found.
    EngineFailure
        If the integrator gives up or the network does not come to rest.
    """
    _require_share(tol)
    return not _attempt(_at_rest(crn, pools), math.nan, tol).n_extinct


def largest_surviving(
    graph: FactorGraph, rates: Iterable[float] = (1.0, 0.3, 0.1, 0.03, 0.01), *, tol: float = 1e-9
) -> float | None:
    """The largest of some rates of recycling at which no message of the graph's network dies out; None if all do.

    Raises
    ------
    InvalidInput
        If a rate is not above zero, ``tol`` is out of its range, or the graph cannot be compiled.
    EngineFailure
        If the integrator gives up or a network does not come to rest.
    """
    for rate in sorted(rates, reverse=True):
        if survives(compile_napp_adams(graph, k_rec=rate), tol=tol):
            return float(rate)
    return None


def _expected(crn: CRN, rates: list[float], tol: float) -> int:
    """Place of the first rate at which a steady state with messages exists; the last if none does; 0 if unknown."""
    shares = live_shares(crn, rates, floor=tol)
    if shares is None:
        return 0
    return int(np.argmax(shares > tol)) if (shares > tol).any() else len(rates) - 1


def _at_rest(crn: CRN, pools: Pools | None, hint: str = "") -> SteadyState:
    steady = steady_state(crn, pools=pools)
    if not steady.converged:
        raise EngineFailure(
            f"no steady state was found in {steady.iterations} steps: the residual is "
            f"{steady.relative_residual:.1e} of the fastest turnover{hint}"
        )
    return steady


def _scale_hint(graph: FactorGraph) -> str:
    """Which table's scale, which is arbitrary, may be the reason."""
    largest = {name: float(factor.table.max()) for name, factor in graph.factors.items()}
    if not largest:
        return ""
    name = max(largest, key=lambda factor: abs(math.log(largest[factor])))
    if 0.5**10 <= largest[name] <= 2.0**10:
        return ""
    return (
        f"; tables are rate constants, and the largest entry of {name!r} is {largest[name]:.1e}: a table may be "
        "divided by any number without changing a belief"
    )


def _attempt(steady: SteadyState, k_rec: float, tol: float) -> Attempt:
    pools = steady.conserved
    mass, totals = steady.assigned_mass, steady.pool_totals
    share = np.where(pools.sizes > 1, mass / np.where(totals > 0, totals, 1.0), np.inf)
    least = int(share.argmin())
    return Attempt(k_rec, float(share[least]), pools.labels[least], int((share <= tol).sum()), steady.seconds)


def _require_share(tol: float) -> None:
    if not 0 < tol < 1:
        raise InvalidInput(f"tol must be between 0 and 1, not {tol!r}")
