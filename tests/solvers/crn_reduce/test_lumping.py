"""Equivalences against all partitions of small networks, and against the systems that they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.integrate import solve_ivp

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph, cycle_hair, hmm, ising
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.lumping import backward_equivalence, forward_equivalence
from scisuite.solvers.crn_reduce.mass_action import MassAction
from scisuite.solvers.crn_reduce.network import CRN, PoolKey


def network(reactants, products, rates):
    reactants, products = np.array(reactants, dtype=np.int32), np.array(products, dtype=np.int32)
    n = reactants.shape[1]
    names = tuple("abcdef"[:n])
    return CRN(names, sparse.csr_array(reactants), sparse.csr_array(products), np.array(rates, dtype=float), np.ones(n))


def partitions(n):
    """Labels of all partitions of n things."""
    if n == 0:
        yield []
        return
    for labels in partitions(n - 1):
        for label in range(max(labels, default=-1) + 2):
            yield [*labels, label]


def speed(crn, x):
    used, made = crn.reactants.toarray().astype(object), crn.products.toarray()
    return (made - used).T @ (crn.rates.astype(int).astype(object) * (x**used).prod(axis=1))


def slopes(crn, x):
    used, made = crn.reactants.toarray().astype(object), crn.products.toarray()
    columns = []
    for j in range(crn.n_species):
        lower = used.copy()
        lower[:, j] = np.maximum(used[:, j] - 1, 0)
        columns.append((made - used).T @ (crn.rates.astype(int) * used[:, j] * (x**lower).prod(axis=1)))
    return np.array(columns).T


def whole(rng, n):
    return np.array([int(i) for i in rng.integers(1, 10**6, n)], dtype=object)


def constant_on_blocks(values, labels):
    return all(len({tuple(np.atleast_1d(values[i])) for i in np.flatnonzero(labels == b)}) == 1 for b in set(labels))


def random_network(rng):
    """Small whole rates and few species, so that symmetries are common."""
    n = int(rng.integers(2, 6))
    shape = int(rng.integers(1, 6)), n
    reactants = np.where(rng.random(shape) < 0.35, 1, 0)
    products = np.where(rng.random(shape) < 0.35, rng.integers(1, 3, shape), 0)
    crn = network(reactants, products, rng.integers(1, 3, shape[0]))
    if rng.random() < 0.5:
        return crn
    # The same once more with two species exchanged, which are then backward equivalent.
    order = np.arange(n)
    order[:2] = 1, 0
    twice = lambda part: np.concatenate([part, part[:, order]])  # noqa: E731
    return network(twice(reactants), twice(products), np.tile(crn.rates, 2))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_both_are_the_coarsest_of_all_partitions_that_qualify_exactly(seed):
    rng = np.random.default_rng(seed)
    crn = random_network(rng)
    n = crn.n_species
    observed = [0] if rng.random() < 0.7 else []
    draws = [whole(rng, n) for _ in range(3)]
    best = {"backward": None, "forward": None}
    for candidate in partitions(n):
        labels = np.array(candidate)
        indicator = np.eye(labels.max() + 1, dtype=int)[labels]
        backward = all(constant_on_blocks(speed(crn, x[labels]), labels) for x in draws)
        alone = all((labels == labels[i]).sum() == 1 for i in observed)
        forward = alone and all(constant_on_blocks(slopes(crn, x).T @ indicator, labels) for x in draws)
        for name, holds in (("backward", backward), ("forward", forward)):
            if holds and (best[name] is None or labels.max() < best[name].max()):
                best[name] = labels
    np.testing.assert_array_equal(backward_equivalence(crn, seed=seed), best["backward"])
    np.testing.assert_array_equal(forward_equivalence(crn, observed, seed=seed), best["forward"])


def test_a_symmetric_pair_is_backward_equivalent_but_not_where_one_of_it_is_observed():
    pair = network([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [2, 2])
    assert backward_equivalence(pair).tolist() == [0, 1, 1]
    assert forward_equivalence(pair, ["b"]).tolist() == [0, 1, 2]
    assert forward_equivalence(pair, ["a"]).tolist() == [0, 1, 1]


def test_what_is_only_summed_is_forward_equivalent_whatever_its_rates():
    pair = network([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [2, 3])
    assert backward_equivalence(pair).tolist() == [0, 1, 2]
    assert forward_equivalence(pair, ["a"]).tolist() == [0, 1, 1]
    assert forward_equivalence(pair).tolist() == [0, 0, 0]


def test_rates_that_differ_a_little_differ_and_sums_that_round_differently_do_not():
    near = network([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [1, 1 + 1e-7])
    assert backward_equivalence(near).tolist() == [0, 1, 2]
    rounded = network([[1, 0, 0]] * 3, [[0, 1, 0], [0, 1, 0], [0, 0, 1]], [0.1, 0.2, 0.3])
    assert backward_equivalence(rounded).tolist() == [0, 1, 1]
    cancelled = network([[1, 1, 0]] * 3 + [[0, 0, 1]], [[2, 1, 0], [2, 1, 0], [0, 1, 0], [1, 0, 0]], [0.1, 0.2, 0.3, 1])
    assert forward_equivalence(cancelled, ["a"]).tolist() == [0, 1, 2]
    assert forward_equivalence(cancelled, ["c"]).tolist() == [0, 0, 1]


def test_a_given_partition_is_only_split():
    pair = network([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]], [2, 2])
    assert backward_equivalence(pair, initial=[7, 7, 3]).tolist() == [0, 1, 2]
    assert backward_equivalence(pair, initial=[3, 7, 7]).tolist() == [0, 1, 1]


@pytest.mark.parametrize("seed", range(2))
def test_the_smaller_systems_do_what_the_whole_does(seed):
    rng = np.random.default_rng(seed)
    graph = cycle_hair(rng, n=3)
    crn = compile_napp_adams(graph)
    kinetics = MassAction(crn)

    def end(derivative, x0):
        return solve_ivp(lambda _, x: derivative(x), (0, 3), x0, rtol=1e-9, atol=1e-12).y[:, -1]

    labels = backward_equivalence(crn)
    first = np.unique(labels, return_index=True)[1]
    assert len(first) < crn.n_species
    x0 = rng.uniform(0, 1, len(first))
    whole_end = end(kinetics.derivative, x0[labels])
    lumped_end = end(lambda y: kinetics.derivative(y[labels])[first], x0)
    np.testing.assert_allclose(whole_end, lumped_end[labels], rtol=1e-6, atol=1e-9)

    observed = crn.pools.species_of(crn.pools.number[PoolKey(0, "c0")])
    labels = forward_equivalence(crn, observed)
    size = np.bincount(labels)
    assert len(size) < crn.n_species
    assert (size[labels[observed]] == 1).all()

    def summed(x):
        return np.bincount(labels, weights=x)

    x0 = rng.uniform(0, 1, crn.n_species)
    whole_end = end(kinetics.derivative, x0)
    lumped_end = end(lambda y: summed(kinetics.derivative((y / size)[labels])), summed(x0))
    np.testing.assert_allclose(summed(whole_end), lumped_end, rtol=1e-6, atol=1e-9)


def blocks(graph, kept):
    crn = compile_napp_adams(graph)
    observed = np.concatenate([crn.pools.species_of(crn.pools.number[PoolKey(0, v)]) for v in kept])
    return crn.n_species, backward_equivalence(crn).max() + 1, forward_equivalence(crn, observed).max() + 1


def test_blocks_of_the_models_that_the_paper_is_set_beside():
    rng = np.random.default_rng(0)
    assert blocks(hmm(rng, T=6, K=2, M=2), ["h0"]) == (210, 180, 91)
    # The product messages of the five leaves are alike: five unassigned species and ten values.
    assert blocks(cycle_hair(rng, n=5), ["c0"]) == (255, 255 - 4 - 9, 139)
    torus = ising(rng, coupling=0.3, torus=True, homogeneous=True)
    assert blocks(torus, ["s0_0"]) == (297, 15, 247)


def test_bad_input_is_refused():
    crn = compile_napp_adams(FactorGraph({"a": 2}, {"f": (["a"], [1.0, 2.0])}))
    with pytest.raises(InvalidInput, match="observe: there is no species 'B_a_2'; did you mean"):
        forward_equivalence(crn, ["B_a_2"])
    with pytest.raises(InvalidInput, match="observe must be a list of species, not the text 'B_a_0'"):
        forward_equivalence(crn, "B_a_0")
    for wrong in (9, -1, True, 0.5):
        with pytest.raises(InvalidInput, match=f"observe: species are numbered 0 to 8, not {wrong!r}"):
            forward_equivalence(crn, [wrong])
    for initial in ([0, 1], np.zeros(9)):
        with pytest.raises(InvalidInput, match=r"initial must be whole numbers \(9,\), not"):
            backward_equivalence(crn, initial=initial)
    for equivalence in (forward_equivalence, backward_equivalence):
        with pytest.raises(InvalidInput, match="draws must be a whole number of at least 1, not 0"):
            equivalence(crn, draws=0)
        with pytest.raises(InvalidInput, match="tol must be between 0 and 1, not nan"):
            equivalence(crn, tol=np.nan)
