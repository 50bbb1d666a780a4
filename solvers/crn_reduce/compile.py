"""Napp and Adams's compilation: a reaction network whose steady states are belief propagation's fixed points."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, PRODUCT, SUM, UNASSIGNED, Floats, Ints, PoolKey, Pools


@dataclass(frozen=True)
class Rates:
    """The rate constants and the pools' size of a compilation, all above zero.

    ``k_sum`` multiplies the tables' entries, ``k_prod`` is that of products and beliefs, ``k_rec`` that of recycling,
    ``total`` the conserved total of every pool.
    """

    k_sum: float = 1.0
    k_prod: float = 1.0
    k_rec: float = 0.1
    total: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
            if not (number and math.isfinite(value) and value > 0):
                raise InvalidInput(f"{name} must be a finite number above zero, not {value!r}")


def compile_napp_adams(
    graph: FactorGraph, *, k_sum: float = 1.0, k_prod: float = 1.0, k_rec: float = 0.1, total: float = 1.0
) -> CRN:
    """Compile a factor graph into its reaction network (Napp & Adams, NIPS 2013; known to us at second hand).

    Every message of an edge (f, v) has a pool of ``card[v]`` value species and one unassigned species, and so has every
    variable's belief. With catalysts on both sides left out of the left column's arrows:

    ======================  =====================================================  ====================
    sum f → v               S_0 → S_k, catalysed by P_{k_u}(u, f), u ∈ f ∖ v       k_sum · ψ_f(k), if > 0
    product v → f           P_0 → P_k, catalysed by S_k(f′, v), f′ ∋ v, f′ ≠ f     k_prod
    belief v                B_0 → B_k, catalysed by S_k(f, v), f ∋ v               k_prod
    recycling               X_k → X_0, every value species                         k_rec
    ======================  =====================================================  ====================

    A pool's total is conserved. In a steady state S_k = (k_sum/k_rec) S_0 Σ ψ Π P, so that normalised pools obey the
    sum-product equations, wherever no pool has lost its values (see ``Trajectory.extinct``). Half of each pool starts
    unassigned, half spread evenly over its values (reconstruction): from an unassigned start cycles would stay dark.

    Pools are numbered edge by edge, sum before product, and then belief by belief; the species of a pool lie together,
    the unassigned one first. ``log_scale`` has no part in it.

    Returns
    -------
    CRN
        With ``pools``; Σ_edges 2(K_v + 1) + Σ_v (K_v + 1) species and Σ_f nnz(ψ_f)·|f| + Σ_edges 3K_v + Σ_v 2K_v
        reactions (:func:`compiled_size`).

    Raises
    ------
    InvalidInput
        If a rate or the total is not above zero, the graph is empty, or a variable has one value only.
    """
    rates = Rates(k_sum, k_prod, k_rec, total)
    if not graph.card:
        raise InvalidInput("there is nothing to compile: the graph has no variables")
    single = next((v for v, k in graph.card.items() if k == 1), None)
    if single is not None:
        raise InvalidInput(
            f"variable {single!r} has one value only, and a pool of one value says nothing about which of its species "
            "is the unassigned one; take graph.without_constants()"
        )
    edges = graph.edges
    keys = [key for f, v in edges for key in (PoolKey(SUM, v, f), PoolKey(PRODUCT, v, f))]
    keys += [PoolKey(BELIEF, v) for v in graph.card]
    values = np.array([graph.card[key.variable] for key in keys], dtype=np.int64)
    start = np.concatenate([[0], np.cumsum(values + 1)])
    centre = start[:-1]
    n_edges = len(edges)
    edge_number = {edge: i for i, edge in enumerate(edges)}
    sums, products, beliefs = centre[0 : 2 * n_edges : 2], centre[1 : 2 * n_edges : 2], centre[2 * n_edges :]

    parts = [_recycling(values, centre, rates.k_rec)]
    for shape, names in _grouped(graph.factors, lambda f: graph.factors[f].table.shape):
        at = np.array([[edge_number[f, v] for v in graph.factors[f].variables] for f in names])
        tables = np.stack([graph.factors[f].table.ravel() for f in names])
        parts += _sums(shape, tables * rates.k_sum, sums[at], products[at])
    variable_number = {v: i for i, v in enumerate(graph.card)}
    for (degree, k), names in _grouped(graph.card, lambda v: (graph.degree(v), graph.card[v])):
        at = np.array([[edge_number[f, v] for f in graph.factors_of[v]] for v in names], dtype=np.int64)
        parts += _products(
            k, sums[at.reshape(len(names), degree)], products[at.reshape(len(names), degree)], rates.k_prod
        )
        parts.append(
            _belief(k, sums[at.reshape(len(names), degree)], beliefs[[variable_number[v] for v in names]], rates.k_prod)
        )

    pool_of = np.repeat(np.arange(len(keys)), values + 1)
    value_of = np.arange(start[-1]) - centre[pool_of] - 1
    initial = np.where(value_of == UNASSIGNED, rates.total / 2, rates.total / (2 * values[pool_of]))
    reactants, produced, constants = _assemble(parts, int(start[-1]))
    return CRN(
        species=_names(keys, values),
        reactants=reactants,
        products=produced,
        rates=constants,
        initial=initial,
        pools=Pools(pool_of, value_of, tuple(keys)),
    )


def compiled_size(graph: FactorGraph) -> tuple[int, int]:
    """Number of species and of reactions that the graph compiles to, without compiling it."""
    edges = sum(graph.card[v] for f in graph.factors.values() for v in f.variables)
    n_edges = sum(len(f.variables) for f in graph.factors.values())
    values = sum(graph.card.values())
    entries = sum(int(np.count_nonzero(f.table)) * len(f.variables) for f in graph.factors.values())
    return 2 * (edges + n_edges) + values + len(graph.card), entries + 3 * edges + 2 * values


def compiled_molecularity(graph: FactorGraph) -> int:
    """Largest number of molecules that meet in one reaction of the compiled network: max(degree + 1, |f|)."""
    degrees = (graph.degree(v) + 1 for v in graph.card)
    return max([*degrees, *(len(f.variables) for f in graph.factors.values())], default=0)


Part = tuple[Ints, Ints, Floats]
"""Reactions of one shape: catalysts behind the species that is used up (n, m), the species made (n,), rates (n,)."""


def _recycling(values: Ints, centre: Ints, rate: float) -> Part:
    pool = np.repeat(np.arange(len(values)), values)
    first = np.repeat(np.cumsum(values) - values, values)
    species = centre[pool] + 1 + np.arange(len(pool)) - first
    return species[:, None], centre[pool], np.full(len(pool), rate)


def _sums(shape: tuple[int, ...], tables: Floats, sums: Ints, products: Ints) -> list[Part]:
    """Reactions of the sum messages of equally shaped factors; ``tables`` (m, entries), pools (m, arity)."""
    entry = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=-1)
    row, column = np.nonzero(tables)
    rate = tables[row, column]
    value = products[row] + 1 + entry[column]
    parts = []
    for i in range(len(shape)):
        used = value.copy()
        used[:, i] = used[:, 0]
        used[:, 0] = sums[row, i]
        parts.append((used, sums[row, i] + 1 + entry[column, i], rate))
    return parts


def _products(k: int, sums: Ints, products: Ints, rate: float) -> list[Part]:
    """Reactions of the product messages of variables of one degree and cardinality; pools (m, degree)."""
    parts = []
    degree = sums.shape[1]
    for i in range(degree):
        others = np.delete(sums, i, axis=1)
        parts.append(_per_value(k, products[:, i], others, rate))
    return parts


def _belief(k: int, sums: Ints, beliefs: Ints, rate: float) -> Part:
    return _per_value(k, beliefs, sums, rate)


def _per_value(k: int, centre: Ints, catalysts: Ints, rate: float) -> Part:
    """``centre_0 + Σ catalysts_k → centre_k + Σ catalysts_k`` for every value k."""
    value = np.tile(np.arange(1, k + 1), len(centre))
    centre, catalysts = np.repeat(centre, k), np.repeat(catalysts, k, axis=0)
    used = np.concatenate([centre[:, None], catalysts + value[:, None]], axis=1)
    return used, centre + value, np.full(len(centre), rate)


def _assemble(parts: Sequence[Part], n_species: int) -> tuple[sparse.csr_array, sparse.csr_array, Floats]:
    arity = np.concatenate([np.full(len(made), used.shape[1]) for used, made, _ in parts])
    used = np.concatenate([used.ravel() for used, _, _ in parts])
    replaced = []
    for columns, made, _ in parts:
        after = columns.copy()
        after[:, 0] = made
        replaced.append(after.ravel())
    indptr = np.concatenate([[0], np.cumsum(arity)])
    matrices = []
    for indices in (used, np.concatenate(replaced)):
        data = np.ones(len(indices), dtype=np.int32)
        matrix = sparse.csr_array((data, indices, indptr), shape=(len(arity), n_species))
        matrix.sum_duplicates()
        matrices.append(matrix)
    return matrices[0], matrices[1], np.concatenate([rate for _, _, rate in parts])


def _grouped(items: Iterable[str], key: Any) -> list[tuple[Any, list[str]]]:
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return list(groups.items())


def _names(keys: Sequence[PoolKey], values: Ints) -> tuple[str, ...]:
    """Names that are SBML identifiers too: ``B_rain_1``, ``S_wets_rain_0``; unassigned species end in ``_free``."""
    letter = {BELIEF: "B", SUM: "S", PRODUCT: "P"}
    taken: set[str] = set()
    names: list[str] = []
    for i, (key, k) in enumerate(zip(keys, values, strict=True)):
        parts = {BELIEF: (key.variable,), SUM: (key.factor, key.variable), PRODUCT: (key.variable, key.factor)}[
            key.kind
        ]
        stem = "_".join([letter[key.kind], *(re.sub(r"\W", "_", part, flags=re.ASCII) for part in parts)])
        while stem in taken:
            stem = f"{stem}_{i}"
        taken.add(stem)
        names += [f"{stem}_free", *(f"{stem}_{value}" for value in range(k))]
    return tuple(names)
