"""Pools of a network: sets of species that turn into one another and whose total stays what it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.network import CRN, UNASSIGNED, Floats, Ints, PoolKey, Pools


@dataclass(frozen=True, eq=False)
class ConservedPools:
    """Which pool each species is in, and the unassigned species of each pool.

    Attributes
    ----------
    pool_of : int64 (n_species,)
    centre : int64 (n_pools,)
        The species to which the others are recycled; −1 in a pool that has none.
    labels : tuple of PoolKey or str
        What each pool stands for; where that is not known, the name of its unassigned species, or of its first.
    """

    pool_of: Ints
    centre: Ints
    labels: tuple[PoolKey | str, ...]

    @cached_property
    def sizes(self) -> Ints:
        """int64 (n_pools,): the number of species in each."""
        return np.bincount(self.pool_of, minlength=len(self.centre)).astype(np.int64)

    def totals(self, x: Floats) -> Floats:
        """Total of each pool, float64 (…, n_pools), at ``x`` (…, n_species)."""
        indicator = sparse.csr_array(
            (np.ones(len(self.pool_of)), (np.arange(len(self.pool_of)), self.pool_of)),
            shape=(len(self.pool_of), len(self.centre)),
        )
        return np.asarray(x @ indicator)

    def assigned(self, x: Floats) -> Floats:
        """Σ_k X_k of each pool, float64 (n_pools,), at ``x`` (n_species,).

        Raises
        ------
        InvalidInput
            If a pool has no unassigned species.
        """
        missing = np.flatnonzero(self.centre < 0)
        if len(missing):
            raise InvalidInput(f"the pool of {self.labels[missing[0]]} has no species to which all others are recycled")
        values = x.copy()
        values[self.centre] = 0.0
        return np.bincount(self.pool_of, weights=values, minlength=len(self.centre)).astype(np.float64)


def conserved_pools(crn: CRN, pools: Pools | None = None) -> ConservedPools:
    """The pools of a network, as given or, for want of that, as its reactions show them.

    Where every reaction turns one species into another (catalysts aside), as all of Napp and Adams's do, species that
    are linked by such steps make up a pool. Its unassigned species is the one into which every other one turns by
    itself (reconstruction). A pool of two, where that is true of both, has the one that catalyses nothing.

    Parameters
    ----------
    pools : Pools, optional
        What the species stand for; ``crn.pools`` if not given.

    Raises
    ------
    InvalidInput
        If given pools do not fit the network, or no pools are known and a reaction does something else.
    """
    pools = crn.pools if pools is None else pools
    net = sparse.csr_array(crn.products - crn.reactants)
    net.eliminate_zeros()
    if pools is not None:
        return _given(crn, net, pools)
    rows = np.diff(net.indptr)
    odd = np.flatnonzero((rows > 0) & ((rows != 2) | (np.asarray(net.sum(axis=1)) != 0)))
    if len(odd):
        raise InvalidInput(
            f"the network has no pools: {crn.reaction(int(odd[0]))} does not turn one species into another, so that "
            "nothing says which totals are conserved"
        )
    from_, to = _conversions(net)
    links = sparse.coo_array((np.ones(len(from_)), (from_, to)), shape=(crn.n_species, crn.n_species))
    n_pools, pool_of = connected_components(links, directed=False)
    pool_of = pool_of.astype(np.int64)
    centre = _centres(crn, net, pool_of, n_pools)
    named = np.where(centre >= 0, centre, np.unique(pool_of, return_index=True)[1])
    return ConservedPools(pool_of, centre, tuple(crn.species[i] for i in named))


def _given(crn: CRN, net: sparse.csr_array, pools: Pools) -> ConservedPools:
    if len(pools.pool_of) != crn.n_species or len(pools.value_of) != crn.n_species:
        raise InvalidInput(f"the pools are of {len(pools.pool_of)} species, the network has {crn.n_species}")
    free = np.bincount(pools.pool_of[pools.value_of == UNASSIGNED], minlength=len(pools.keys))
    if (free != 1).any():
        key = pools.keys[int((free != 1).argmax())]
        raise InvalidInput(f"the pool of {key} has {free[(free != 1).argmax()]} unassigned species, not one")
    known = ConservedPools(pools.pool_of, pools.centre, pools.keys)
    indicator = sparse.csr_array(
        (np.ones(crn.n_species), (np.arange(crn.n_species), pools.pool_of)), shape=(crn.n_species, len(pools.keys))
    )
    change = sparse.coo_array(net @ indicator)
    wrong = change.data != 0
    if wrong.any():
        at = int(wrong.argmax())
        raise InvalidInput(
            f"{crn.reaction(int(change.row[at]))} changes the total of the pool of {pools.keys[change.col[at]]}"
        )
    return known


def _conversions(net: sparse.csr_array) -> tuple[Ints, Ints]:
    """The species that is used up and the one that is made by each reaction that has a net effect."""
    pairs = net.indices.reshape(-1, 2)
    lost_first = net.data.reshape(-1, 2)[:, 0] < 0
    return np.where(lost_first, pairs[:, 0], pairs[:, 1]), np.where(lost_first, pairs[:, 1], pairs[:, 0])


def _centres(crn: CRN, net: sparse.csr_array, pool_of: Ints, n_pools: int) -> Ints:
    from_, to = _conversions(net)
    alone = crn.molecularity[np.diff(net.indptr) > 0] == 1
    single = np.unique(np.stack([from_[alone], to[alone]], axis=1), axis=0)
    sources = np.bincount(single[:, 1], minlength=crn.n_species)
    size = np.bincount(pool_of, minlength=n_pools)
    fits = np.flatnonzero(sources == size[pool_of] - 1)
    catalyst = np.zeros(crn.n_species, dtype=bool)
    catalyst[crn.reactants.minimum(crn.products).indices] = True
    order = fits[np.argsort(~catalyst[fits], kind="stable")]
    centre = np.full(n_pools, -1, dtype=np.int64)
    centre[pool_of[order]] = order
    return centre
