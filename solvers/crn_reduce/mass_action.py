"""Mass-action kinetics of a reaction network: its right-hand side and its sparse Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scisuite.solvers.crn_reduce.network import CRN, Floats, Ints


class MassAction:
    """The ordinary differential equations dx/dt = Nᵀ v(x) of a network, v_r(x) = k_r Π_s x_s^a_rs.

    N = products − reactants is the net stoichiometry, in which catalysts cancel; any whole stoichiometry is allowed.
    The derivative of v_r by a species is a sum, over the molecules of that species among the reactants, of the product
    of all the others, so that nothing is divided and concentrations of zero are as good as any. Where the Jacobian
    has entries is found once; an evaluation fills them in.

    Parameters
    ----------
    crn : CRN
        S species and R reactions. Time and memory are proportional to the molecules that meet in all reactions, times
        the species that each of them changes.

    Attributes
    ----------
    net : int32 csr_array (R, S)
        N, without stored zeros.
    """

    def __init__(self, crn: CRN) -> None:
        self.crn = crn
        self.n_species = crn.n_species
        self.net = _net(crn)
        molecules = np.repeat(crn.reactants.indices, crn.reactants.data)
        start = np.cumsum(crn.molecularity) - crn.molecularity
        self._groups: list[tuple[Floats, Ints]] = []
        rows: list[Ints] = []
        reactions: list[Ints] = []
        for count in np.unique(crn.molecularity).tolist():
            row = np.flatnonzero(crn.molecularity == count)
            species = molecules[start[row] + np.arange(count)[:, None]].astype(np.intp)
            self._groups.append((crn.rates[row], species))
            rows.append(row)
            reactions.append(np.tile(row, count))
        self._change = self.net[_joined(rows, np.int64)].T.tocsr().astype(np.float64)
        self._turnover = abs(self._change)
        self._made = self._change.maximum(0)
        met = _joined([species.ravel() for _, species in self._groups], np.int64)
        self._indptr, self._indices, self._fill = _pattern(self.net, _joined(reactions, np.int64), met)

    def derivative(self, x: Floats) -> Floats:
        """dx/dt, float64 (S,), at concentrations ``x`` (S,)."""
        return np.asarray(self._change @ self._rates(x))

    def inflow(self, x: Floats) -> Floats:
        """Σ_r max(N_rs, 0) v_r, float64 (S,): how fast each species is made, leaving out how fast it is used up."""
        return np.asarray(self._made @ self._rates(x))

    def turnover(self, x: Floats) -> Floats:
        """Σ_r |N_rs| |v_r|, float64 (S,): what the terms of each derivative amount to, the measure of its rounding."""
        return np.asarray(self._turnover @ np.abs(self._rates(x)))

    def jacobian(self, x: Floats) -> sparse.csc_array:
        """∂(dx_i/dt)/∂x_j, float64 (S, S). Entries that happen to be zero are stored, so that its pattern is fixed."""
        return self._filled(self._fill, x)

    def jacobian_size(self, x: Floats) -> sparse.csc_array:
        """The Jacobian with the absolute value of every term that it is a sum of, float64 (S, S)."""
        return self._filled(abs(self._fill), x)

    def _filled(self, fill: sparse.csr_array, x: Floats) -> sparse.csc_array:
        others = [(rate * _all_but_one(x[species])).ravel() for rate, species in self._groups]
        data = fill @ _joined(others, np.float64)
        return sparse.csc_array((data, self._indices, self._indptr), shape=(self.n_species, self.n_species))

    def _rates(self, x: Floats) -> Floats:
        return _joined([rate * x[species].prod(axis=0) for rate, species in self._groups], np.float64)


def _net(crn: CRN) -> sparse.csr_array:
    net = sparse.csr_array(crn.products - crn.reactants)
    net.sum_duplicates()
    net.eliminate_zeros()
    return net


def _joined(parts: list[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)


def _all_but_one(values: Floats) -> Floats:
    """For each row of ``values`` (m, n) the product of the other rows, float64 (m, n)."""
    products = np.ones_like(values)
    for i in range(1, len(values)):
        products[i] = products[i - 1] * values[i - 1]
    behind = np.ones(values.shape[1])
    for i in range(len(values) - 2, -1, -1):
        behind = behind * values[i + 1]
        products[i] *= behind
    return products


def _pattern(net: sparse.csr_array, reaction: Ints, species: Ints) -> tuple[Ints, Ints, sparse.csr_array]:
    """``indptr`` and ``indices`` of the Jacobian by columns, and the matrix that makes its data of ∂v/∂x, molecule by
    molecule: ``reaction`` and ``species`` say which v and which x."""
    n_species = net.shape[1]
    per = np.diff(net.indptr)[reaction]
    molecule = np.repeat(np.arange(len(reaction)), per)
    entry = np.repeat(net.indptr[reaction] - (np.cumsum(per) - per), per) + np.arange(per.sum())
    place = species[molecule].astype(np.int64) * n_species + net.indices[entry]
    places, which = np.unique(place, return_inverse=True)
    fill = sparse.csr_array((net.data[entry].astype(np.float64), (which, molecule)), shape=(len(places), len(reaction)))
    indptr = np.searchsorted(places, np.arange(n_species + 1) * n_species)
    return indptr.astype(np.int32), (places % n_species).astype(np.int32), fill
