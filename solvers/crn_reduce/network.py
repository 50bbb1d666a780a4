"""Chemical reaction networks under mass action, and what each species of a compiled one stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scisuite.core import InvalidInput

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

BELIEF, SUM, PRODUCT = 0, 1, 2
KIND_NAMES = ("belief", "sum", "product")
UNASSIGNED = -1


class PoolKey(NamedTuple):
    """What a pool stands for: the belief of a variable, or a message between it and a factor.

    ``kind`` is :data:`BELIEF`, :data:`SUM` (factor → variable) or :data:`PRODUCT` (variable → factor); ``factor`` is
    empty for a belief.
    """

    kind: int
    variable: str
    factor: str = ""

    def __str__(self) -> str:
        way = {BELIEF: self.variable, SUM: f"{self.factor}→{self.variable}", PRODUCT: f"{self.variable}→{self.factor}"}
        return f"{KIND_NAMES[self.kind]} {way[self.kind]}"


@dataclass(frozen=True, eq=False)
class Pools:
    """Which pool each species belongs to, and which value of it.

    Attributes
    ----------
    pool_of : int64 (n_species,)
        Number of each species' pool.
    value_of : int64 (n_species,)
        Place of the value that the species stands for; :data:`UNASSIGNED` for a pool's unassigned species.
    keys : tuple of PoolKey
        What each pool stands for.
    """

    pool_of: Ints
    value_of: Ints
    keys: tuple[PoolKey, ...]

    @cached_property
    def number(self) -> dict[PoolKey, int]:
        """Number of the pool of a key."""
        return {key: i for i, key in enumerate(self.keys)}

    @cached_property
    def centre(self) -> Ints:
        """int64 (n_pools,): the unassigned species of each pool."""
        centre = np.full(len(self.keys), -1, dtype=np.int64)
        free = np.flatnonzero(self.value_of == UNASSIGNED)
        centre[self.pool_of[free]] = free
        return centre

    @cached_property
    def members(self) -> tuple[Ints, Ints]:
        """``start`` int64 (n_pools + 1,) and ``species``: the value species of pool i in order of their values are
        ``species[start[i]:start[i + 1]]``."""
        assigned = np.flatnonzero(self.value_of != UNASSIGNED)
        order = assigned[np.lexsort((self.value_of[assigned], self.pool_of[assigned]))]
        counts = np.bincount(self.pool_of[order], minlength=len(self.keys))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order

    def species_of(self, pool: int) -> Ints:
        """int64 (K,): the value species of a pool, in order of their values."""
        start, species = self.members
        return species[start[pool] : start[pool + 1]]


@dataclass(frozen=True, eq=False)
class CRN:
    """A reaction network under mass action: reaction r runs at ``rates[r] · Π_s x_s^reactants[r, s]``.

    Parameters
    ----------
    species : tuple of str
        Names, all different.
    reactants, products : csr_array of int32 (n_reactions, n_species)
        Stoichiometry. A catalyst stands in both.
    rates : float64 (n_reactions,)
        Rate constants, above zero.
    initial : float64 (n_species,)
        Concentrations at time 0.
    pools : Pools or None
        What the species stand for, where that is known: in a network that was compiled here or read with our
        annotation, not in an anonymous one.
    reaction_names : tuple of str or None
        What messages call the reactions by: the ids of an SBML file. By place without them.

    Raises
    ------
    InvalidInput
        If names repeat, shapes differ, a stoichiometry is negative, a rate is not above zero and finite, or a
        concentration is negative or not finite. The message names the species or reaction.
    """

    species: tuple[str, ...]
    reactants: sparse.csr_array
    products: sparse.csr_array
    rates: Floats
    initial: Floats
    pools: Pools | None = None
    reaction_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        n_species, n_reactions = len(self.species), len(self.rates)
        if len(set(self.species)) < n_species:
            seen: set[str] = set()
            twice = next(name for name in self.species if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise InvalidInput(f"two species are called {twice!r}")
        for what, matrix in (("reactants", self.reactants), ("products", self.products)):
            if matrix.shape != (n_reactions, n_species):
                raise InvalidInput(
                    f"{what} has shape {matrix.shape}, not {n_reactions} reactions × {n_species} species"
                )
            if matrix.nnz and matrix.data.min() < 0:
                row = int(np.searchsorted(matrix.indptr, matrix.data.argmin(), side="right")) - 1
                raise InvalidInput(f"{self.reaction(row)} has a negative stoichiometry among its {what}")
        if self.reaction_names is not None and len(self.reaction_names) != n_reactions:
            raise InvalidInput(f"there are {len(self.reaction_names)} names for {n_reactions} reactions")
        if len(self.initial) != n_species:
            raise InvalidInput(f"initial has {len(self.initial)} concentrations for {n_species} species")
        wrong = ~(np.isfinite(self.rates) & (self.rates > 0))
        if wrong.any():
            row = int(wrong.argmax())
            raise InvalidInput(f"the rate of {self.reaction(row)} must be above zero and finite, not {self.rates[row]}")
        wrong = ~(np.isfinite(self.initial) & (self.initial >= 0))
        if wrong.any():
            at = int(wrong.argmax())
            name, value = self.species[at], self.initial[at]
            raise InvalidInput(f"the initial concentration of {name} must be finite and not negative, not {value}")

    def __repr__(self) -> str:
        return f"CRN({self.n_species} species, {self.n_reactions} reactions)"

    @property
    def n_species(self) -> int:
        """Number of species."""
        return len(self.species)

    @property
    def n_reactions(self) -> int:
        """Number of reactions."""
        return len(self.rates)

    @cached_property
    def molecularity(self) -> Ints:
        """int64 (n_reactions,): the number of molecules that meet in each reaction."""
        return np.asarray(self.reactants.sum(axis=1), dtype=np.int64)

    @property
    def max_molecularity(self) -> int:
        """The largest number of molecules that meet in one reaction; 0 without reactions."""
        return int(self.molecularity.max(initial=0))

    def reaction(self, number: int) -> str:
        """What a message calls a reaction: ``reaction 'LOW'`` or, where it has no name, ``reaction 3``."""
        return f"reaction {number if self.reaction_names is None else repr(self.reaction_names[number])}"

    def anonymous(self, rng: np.random.Generator) -> tuple[Self, Ints]:
        """The network under names that say nothing, species and reactions shuffled.

        Returns
        -------
        CRN
            Without ``pools`` and ``reaction_names``.
        int64 (n_species,)
            For each of its species the place that it had in this network.
        """
        order, rows = rng.permutation(self.n_species), rng.permutation(self.n_reactions)
        shuffled = replace(
            self,
            species=tuple(f"x{i}" for i in range(self.n_species)),
            reactants=self.reactants[rows][:, order],
            products=self.products[rows][:, order],
            rates=self.rates[rows],
            initial=self.initial[order],
            pools=None,
            reaction_names=None,
        )
        return shuffled, order
