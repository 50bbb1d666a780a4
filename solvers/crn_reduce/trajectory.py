"""What a network's concentrations say: beliefs, pool totals, and which messages have died out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.conserved import ConservedPools, conserved_pools
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, Floats, PoolKey, Pools


class PoolReading(ABC):
    """Reads the pools of a network at one vector of concentrations, :attr:`final`."""

    crn: CRN
    pools: Pools | None

    @property
    @abstractmethod
    def final(self) -> Floats:
        """float64 (n_species,): the concentrations that are read."""

    @cached_property
    def conserved(self) -> ConservedPools:
        """The pools, known or found; :func:`~scisuite.solvers.crn_reduce.conserved.conserved_pools` says how."""
        return conserved_pools(self.crn, self.pools)

    @property
    def beliefs(self) -> dict[str, Floats]:
        """Normalised belief pool of each variable, float64 (K_v,), by its name.

        NaN where the pool holds nothing at all. Where a pool is extinct the ratios of what is left in it mean nothing:
        look at :meth:`extinct` first.

        Raises
        ------
        InvalidInput
            If nothing says which species are whose beliefs.
        """
        pools = self.crn.pools if self.pools is None else self.pools
        if pools is None:
            raise InvalidInput(
                "nothing says which species are the beliefs of which variables: give "
                "pools=recover_factor_graph(crn).pools"
            )
        found = {}
        for number, key in enumerate(pools.keys):
            if key.kind == BELIEF:
                values = np.maximum(self.final[pools.species_of(number)], 0.0)
                total = values.sum()
                found[key.variable] = values / total if total > 0 else np.full(len(values), np.nan)
        return found

    @property
    def pool_totals(self) -> Floats:
        """float64 (n_pools,): total of each pool, which no reaction changes."""
        return self.conserved.totals(self.final)

    @property
    def assigned_mass(self) -> Floats:
        """float64 (n_pools,): Σ_k X_k of each pool, its total without the unassigned species."""
        return self.conserved.assigned(self.final)

    def extinct(self, tol: float = 1e-9) -> tuple[PoolKey | str, ...]:
        """The pools whose assigned mass is not above ``tol`` of their total: their messages have died out.

        Pools are named by what they stand for or, where that is not known, by their unassigned species.

        Raises
        ------
        InvalidInput
            If the network has no pools with unassigned species.
        """
        gone = (self.assigned_mass <= tol * self.pool_totals) & (self.conserved.sizes > 1)
        return tuple(self.conserved.labels[i] for i in np.flatnonzero(gone))


@dataclass(frozen=True, eq=False)
class Trajectory(PoolReading):
    """Concentrations over time. Beliefs, masses and extinction are read at its end.

    Attributes
    ----------
    times : float64 (n_times,)
    concentrations : float64 (n_times, n_species)
    crn : CRN
    pools : Pools or None
        What the species stand for, if it is not in ``crn.pools``.
    residual : float
        Largest |dx/dt| at the end. That it is tiny does not make the end the right one: see :meth:`extinct`.
    seconds : float
        Processor time of the integration alone, without setting it up.
    rest_time : float or None
        Time from which on the integrator found the network at rest; None if it did not, or cannot say.
    """

    times: Floats
    concentrations: Floats
    crn: CRN = field(repr=False)
    pools: Pools | None = field(repr=False)
    residual: float
    seconds: float
    rest_time: float | None = None

    @property
    def final(self) -> Floats:
        """float64 (n_species,): concentrations at the end."""
        return np.asarray(self.concentrations[-1])
