"""Whether two networks are the same, species renamed and reactions in any order."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from scisuite.core import InvalidInput, generator
from scisuite.solvers.crn_reduce.network import CRN, Ints, Pools
from scisuite.solvers.crn_reduce.recovery.partition import same


def corresponding_species(pools: Pools, others: Pools) -> Ints:
    """int64 (n_species,): for each species the one of another network that stands for the same value of the same pool.

    Raises
    ------
    InvalidInput
        If the two have different pools, or a pool has not as many values in both. The message names the pool.
    """
    for one, two in ((pools, others), (others, pools)):
        lacking = next((key for key in one.keys if key not in two.number), None)
        if lacking is not None:
            raise InvalidInput(f"only one of the two networks has a pool {lacking}")
    theirs = np.array([others.number[key] for key in pools.keys], dtype=np.int64)
    width = int(max(pools.value_of.max(initial=0), others.value_of.max(initial=0))) + 2
    code = theirs[pools.pool_of] * width + pools.value_of + 1
    order = np.argsort(others.pool_of * width + others.value_of + 1)
    known = (others.pool_of * width + others.value_of + 1)[order]
    if not np.array_equal(np.sort(code), known):
        ours, known_sizes = (
            np.bincount(part, minlength=len(pools.keys)) for part in (theirs[pools.pool_of], others.pool_of)
        )
        pool = int(np.argmax(ours != known_sizes))
        raise InvalidInput(
            f"the pool {others.keys[pool]} has {ours[pool]} species in one network, {known_sizes[pool]} in the other, "
            "or its values are numbered otherwise"
        )
    return order[np.searchsorted(known, code)]


def rate_difference(crn: CRN, other: CRN, species: Ints) -> float:
    """Largest relative difference between the rates of the same reactions of two networks.

    ``species[i]`` is the place in ``other`` of species i of ``crn``. Infinite where one has a reaction that the
    other lacks.
    """
    ours, theirs = _canonical(crn, species), _canonical(other, np.arange(other.n_species))
    for one, two in zip(ours[:2], theirs[:2], strict=True):
        if one.shape != two.shape or not all(
            np.array_equal(getattr(one, part), getattr(two, part)) for part in ("indptr", "indices", "data")
        ):
            return float("inf")
    a, b = ours[2], theirs[2]
    return float((np.abs(a - b) / np.maximum(a, b)).max(initial=0.0))


def networks_equal(crn: CRN, other: CRN, species: Ints, *, tolerance: float = 1e-12) -> bool:
    """Whether two networks have the same reactions, their rates equal within a part ``tolerance``.

    ``species[i]`` is the place in ``other`` of species i of ``crn``. Names and initial concentrations do not matter.
    """
    return rate_difference(crn, other, species) <= tolerance


def differing_reaction(crn: CRN, other: CRN, species: Ints) -> int | None:
    """The first reaction of ``crn`` that ``other`` has not, or has at another rate; None where there is none."""
    ours, theirs = _hashes(crn, species), _hashes(other, np.arange(other.n_species))
    order = np.argsort(theirs, kind="stable")
    at = np.minimum(np.searchsorted(theirs[order], ours), len(order) - 1)
    missing = theirs[order[at]] != ours
    other_rate = ~missing & ~same(crn.rates, other.rates[order[at]])
    odd = np.flatnonzero(missing | other_rate)
    return int(odd[0]) if len(odd) else None


def _canonical(crn: CRN, species: Ints) -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
    """Stoichiometries and rates, reactions in an order that depends on nothing but themselves."""
    order = np.lexsort((crn.rates, _hashes(crn, species)))
    reactants, products = (_renamed(matrix, species)[order] for matrix in (crn.reactants, crn.products))
    return reactants, products, crn.rates[order]


def _hashes(crn: CRN, species: Ints) -> Ints:
    """int64 (n_reactions,): equal for equal reactions; different ones share a hash once in 10¹⁹ pairs."""
    weights = generator(0, "reaction hashes").integers(-(2**63), 2**63 - 1, (2, crn.n_species), dtype=np.int64)
    one, two = weights[:, species]
    return np.asarray(crn.reactants.astype(np.int64) @ one + crn.products.astype(np.int64) @ two)


def _renamed(matrix: sparse.csr_array, species: Ints) -> sparse.csr_array:
    renamed = sparse.csr_array((matrix.data, species[matrix.indices], matrix.indptr), shape=matrix.shape, copy=True)
    renamed.sum_duplicates()
    renamed.eliminate_zeros()
    return renamed
