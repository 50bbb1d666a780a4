"""Every reaction as: one species used, one made, and catalysts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from scipy import sparse

from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import CRN, Ints


@dataclass(frozen=True, eq=False)
class Reactions:
    """The reactions of a network, all of the form used + catalysts → made + catalysts.

    Attributes
    ----------
    used, made : int64 (n_reactions,)
        The species that a reaction uses and makes.
    n_catalysts : int64 (n_reactions,)
        How many catalysts it has.
    catalysed, catalyst : int64 (n,)
        Reaction and species of every catalyst, reaction by reaction.
    """

    crn: CRN
    used: Ints
    made: Ints
    n_catalysts: Ints
    catalysed: Ints
    catalyst: Ints

    def text(self, reaction: int) -> str:
        """Number and formula of a reaction, for messages."""
        return reaction_text(self.crn, reaction)

    def name(self, species: int) -> str:
        """Name of a species, for messages."""
        return self.crn.species[species]


def parse_reactions(crn: CRN) -> Reactions:
    """Split every reaction into the species that it uses, the one that it makes, and its catalysts.

    Raises
    ------
    NotNappAdams
        If the network is empty, or a reaction uses or makes more or less than one species, or has a stoichiometry
        above one.
    """
    if not crn.n_species or not crn.n_reactions:
        raise NotNappAdams(
            f"the network is empty: it has {crn.n_species} species and {crn.n_reactions} reactions, and the smallest "
            "compiled factor graph has 3 and 4"
        )
    reactants, products = _without_zeros(crn.reactants), _without_zeros(crn.products)
    for matrix in (reactants, products):
        if matrix.data.max(initial=1) > 1:
            row = int(np.searchsorted(matrix.indptr, matrix.data.argmax(), side="right")) - 1
            _refuse(crn, row, "has a stoichiometry above 1")
    catalysts = sparse.csr_array(reactants.multiply(products))
    n_catalysts = np.diff(catalysts.indptr).astype(np.int64)
    for matrix, way in ((reactants, "uses up"), (products, "makes")):
        count = np.diff(matrix.indptr) - n_catalysts
        wrong = np.flatnonzero(count != 1)
        if len(wrong):
            row = int(wrong[0])
            _refuse(
                crn, row, f"{way} {count[row] or 'no'} species where it should be one; catalysts stand on both sides"
            )
    number = np.arange(crn.n_species, dtype=np.int64)
    catalyst_sum = catalysts @ number
    return Reactions(
        crn=crn,
        used=reactants @ number - catalyst_sum,
        made=products @ number - catalyst_sum,
        n_catalysts=n_catalysts,
        catalysed=np.repeat(np.arange(crn.n_reactions), n_catalysts),
        catalyst=catalysts.indices.astype(np.int64),
    )


def reaction_text(crn: CRN, reaction: int) -> str:
    """Name or number, and formula, of a reaction: ``reaction 'LOW' (A + B → C + B)``."""
    sides = []
    for matrix in (crn.reactants, crn.products):
        row = slice(matrix.indptr[reaction], matrix.indptr[reaction + 1])
        terms = [
            crn.species[species] if times == 1 else f"{times} {crn.species[species]}"
            for species, times in zip(matrix.indices[row], matrix.data[row], strict=True)
            if times
        ]
        sides.append(" + ".join(terms) or "∅")
    return f"{crn.reaction(reaction)} ({sides[0]} → {sides[1]})"


def _without_zeros(matrix: sparse.csr_array) -> sparse.csr_array:
    tidy = matrix.astype(np.int64)
    tidy.sum_duplicates()
    tidy.eliminate_zeros()
    return tidy


def _refuse(crn: CRN, reaction: int, what: str) -> NoReturn:
    raise NotNappAdams(f"{reaction_text(crn, reaction)} {what}")
