"""Forward and backward equivalence: exact lumpings of a mass-action network, the peers of its reduction."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from scisuite.core import InvalidInput, generator
from scisuite.core.registry import did_you_mean
from scisuite.solvers.crn_reduce.mass_action import MassAction
from scisuite.solvers.crn_reduce.network import CRN, Floats, Ints


def backward_equivalence(
    crn: CRN, *, initial: ArrayLike | None = None, draws: int = 3, tol: float = 1e-10, seed: int = 0
) -> Ints:
    """The coarsest partition whose species stay equal when those of each block start equal.

    Cardelli, Tribastone, Tschaikowski and Vandin, "Maximal aggregation of polynomial dynamical systems", PNAS 2017,
    whose tool ERODE decides it symbolically; here it is decided by randomised partition refinement (ours). A partition
    is a backward equivalence if f(x) is constant on its blocks wherever x is. From the coarsest partition allowed,
    draw an x that is constant on blocks and split them by the values of f(x), until ``draws`` draws in a row split
    nothing.

    A split is never wrong: a coarser partition's x is also constant on the blocks of the coarsest equivalence, so that
    f(x) is as well. A split can only be missed, where some f_i − f_j, a polynomial that is not zero, is zero at the
    drawn x. By the Schwartz–Zippel lemma, with n numbers to draw each coordinate from, the chance is at most degree/n;
    drawn from float64 and compared to ``tol``, relative to the terms that make up f, it is about ``tol`` and not 2⁻⁵²,
    for each of the draws at the end.

    The price of ``tol`` is that rates are told apart no better: species whose derivatives differ by less than ``tol``
    (10⁻¹⁰ by default), relative to their terms, are always merged, however many draws.

    Parameters
    ----------
    initial : int (n_species,), optional
        Labels of a partition to begin with, such as that by concentrations at time 0; by default one block.
    draws : int
        Draws that must split nothing before the search ends.
    tol : float
        Sums of floating-point terms that differ by less, relative to the sum of the terms' absolute values, are equal.
    seed : int

    Returns
    -------
    int64 (n_species,)
        Number of each species' block, blocks numbered by their first species.

    Raises
    ------
    InvalidInput
        If ``initial`` has another shape or is not whole, or a number is out of its range.
    """
    labels = _labels(crn, initial)
    kinetics = MassAction(crn)

    def signature(labels: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        x = _drawn(rng, labels.max(initial=0) + 1)[labels]
        return kinetics.derivative(x), kinetics.turnover(x)

    return _refined(labels, signature, draws, tol, seed)


def forward_equivalence(
    crn: CRN, observe: Iterable[str | int] = (), *, draws: int = 3, tol: float = 1e-10, seed: int = 0
) -> Ints:
    """The coarsest partition whose block sums obey equations of their own, with ``observe`` in blocks of one.

    The source is that of :func:`backward_equivalence`, the algorithm ours. A partition is a forward equivalence if the
    derivative of every block's sum depends on nothing but the blocks' sums, which means that ∂(Σ_B f)/∂x_i equals
    ∂(Σ_B f)/∂x_j for all x, all blocks B and all i, j of one block. Draw an x and a weight for each block, and split
    blocks by J(x)ᵀw, where w gives each species its block's weight, until ``draws`` draws in a row split nothing.
    Again a split is never wrong, since the blocks of a coarser partition are unions, and a missed one is as improbable.

    As there, rates that differ by less than ``tol`` (10⁻¹⁰ by default), relative to the terms, always merge.

    Parameters
    ----------
    observe : iterable of str or int
        Names or numbers of species that stay alone.
    draws, tol, seed
        As in :func:`backward_equivalence`.

    Returns
    -------
    int64 (n_species,)
        Number of each species' block, blocks numbered by their first species.

    Raises
    ------
    InvalidInput
        If ``observe`` names an unknown species, or a number is out of its range.
    """
    labels = np.zeros(crn.n_species, dtype=np.int64)
    alone = _observed(crn, observe)
    labels[alone] = 1 + np.arange(len(alone))
    kinetics = MassAction(crn)

    def signature(labels: Ints, rng: np.random.Generator) -> tuple[Floats, Floats]:
        weight = _drawn(rng, labels.max(initial=0) + 1)[labels]
        x = _drawn(rng, crn.n_species)
        return np.asarray(kinetics.jacobian(x).T @ weight), np.asarray(kinetics.jacobian_size(x).T @ weight)

    return _refined(_renumbered(labels), signature, draws, tol, seed)


def _refined(
    labels: Ints,
    signature: Callable[[Ints, np.random.Generator], tuple[Floats, Floats]],
    draws: int,
    tol: float,
    seed: int,
) -> Ints:
    """Split blocks by a signature, values and the sizes of the terms they are sums of, until that changes nothing."""
    if isinstance(draws, bool) or not isinstance(draws, int | np.integer) or draws < 1:
        raise InvalidInput(f"draws must be a whole number of at least 1, not {draws!r}")
    if not 0 < tol < 1:
        raise InvalidInput(f"tol must be between 0 and 1, not {tol!r}")
    rng = generator(seed, "lumping")
    quiet = 0
    while quiet < draws:
        finer = _split(labels, *signature(labels, rng), tol)
        quiet = quiet + 1 if finer.max(initial=0) == labels.max(initial=0) else 0
        labels = finer
    return labels


def _split(labels: Ints, value: Floats, size: Floats, tol: float) -> Ints:
    order = np.lexsort((value, labels))
    apart = np.diff(value[order]) > tol * np.maximum(size[order][1:], size[order][:-1])
    new = np.empty_like(labels)
    new[order] = np.concatenate([[0], np.cumsum(apart | (np.diff(labels[order]) != 0))])[: len(labels)]
    return _renumbered(new)


def _renumbered(labels: Ints) -> Ints:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _drawn(rng: np.random.Generator, n: int) -> Floats:
    # Away from zero, where polynomials that differ would look alike.
    return rng.uniform(0.5, 1.5, n)


def _labels(crn: CRN, initial: ArrayLike | None) -> Ints:
    if initial is None:
        return np.zeros(crn.n_species, dtype=np.int64)
    labels = np.asarray(initial)
    if labels.shape != (crn.n_species,) or not np.issubdtype(labels.dtype, np.integer):
        raise InvalidInput(f"initial must be whole numbers ({crn.n_species},), not {labels.dtype} {labels.shape}")
    return _renumbered(labels.astype(np.int64))


def _observed(crn: CRN, observe: Iterable[str | int]) -> list[int]:
    if isinstance(observe, str):
        raise InvalidInput(f"observe must be a list of species, not the text {observe!r}")
    number = {name: i for i, name in enumerate(crn.species)}
    found = []
    for species in dict.fromkeys(observe):
        if isinstance(species, str) and species not in number:
            raise InvalidInput(f"observe: there is no species {species!r}{did_you_mean(species, crn.species)}")
        at = number[species] if isinstance(species, str) else species
        if isinstance(at, bool) or not isinstance(at, int | np.integer) or not 0 <= at < crn.n_species:
            raise InvalidInput(f"observe: species are numbered 0 to {crn.n_species - 1}, not {species!r}")
        found.append(int(at))
    return list(dict.fromkeys(found))
