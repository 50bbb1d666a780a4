"""Mass action against its definition, reaction by reaction, and against finite differences."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from scisuite.solvers.crn_reduce.mass_action import MassAction
from scisuite.solvers.crn_reduce.network import CRN


def network(reactants, products, rates):
    reactants, products = np.atleast_2d(reactants), np.atleast_2d(products)
    return CRN(
        species=tuple("abcdefgh"[: reactants.shape[1]]),
        reactants=sparse.csr_array(reactants.astype(np.int32)),
        products=sparse.csr_array(products.astype(np.int32)),
        rates=np.asarray(rates, dtype=float),
        initial=np.ones(reactants.shape[1]),
    )


def random_network(rng):
    """Up to four molecules of a kind, repeated catalysts, sources and sinks, species that nothing touches."""
    shape = int(rng.integers(1, 12)), int(rng.integers(1, 7))
    draw = lambda: np.where(rng.random(shape) < 0.4, rng.integers(1, 4, shape), 0)  # noqa: E731
    return network(draw(), draw(), rng.uniform(0.1, 3, shape[0]))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_derivative_and_jacobian_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    crn = random_network(rng)
    used, made = crn.reactants.toarray(), crn.products.toarray()
    x = rng.uniform(0.2, 2, crn.n_species)
    x[rng.random(crn.n_species) < 0.2] = 0.0
    kinetics = MassAction(crn)
    speed = crn.rates * (x**used).prod(axis=1)
    np.testing.assert_allclose(kinetics.derivative(x), (made - used).T @ speed, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kinetics.turnover(x), abs(made - used).T @ speed, rtol=1e-12)
    np.testing.assert_allclose(kinetics.inflow(x), np.maximum(made - used, 0).T @ speed, rtol=1e-12)
    jacobian = np.zeros((crn.n_species, crn.n_species))
    size = np.zeros_like(jacobian)
    for j in range(crn.n_species):
        lower = used.copy()
        lower[:, j] = np.maximum(used[:, j] - 1, 0)
        slope = crn.rates * used[:, j] * (x**lower).prod(axis=1)
        jacobian[:, j], size[:, j] = (made - used).T @ slope, abs(made - used).T @ slope
    np.testing.assert_allclose(kinetics.jacobian(x).toarray(), jacobian, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kinetics.jacobian_size(x).toarray(), size, rtol=1e-12, atol=1e-12)


def test_a_repeated_catalyst_counts_twice_and_cancels_in_the_change():
    kinetics = MassAction(network([1, 0, 2], [0, 1, 2], [3.0]))
    x = np.array([2.0, 5.0, 4.0])
    assert kinetics.net.toarray().tolist() == [[-1, 1, 0]]
    assert kinetics.derivative(x).tolist() == [-96, 96, 0]
    assert kinetics.jacobian(x).toarray().tolist() == [[-48, 0, -48], [48, 0, 48], [0, 0, 0]]


def test_the_pattern_does_not_depend_on_where_the_jacobian_is_taken():
    kinetics = MassAction(network([[1, 1, 0], [0, 2, 1]], [[0, 1, 1], [1, 1, 1]], [1.0, 2.0]))
    everywhere, nowhere = kinetics.jacobian(np.ones(3)), kinetics.jacobian(np.zeros(3))
    np.testing.assert_array_equal(everywhere.indices, nowhere.indices)
    assert nowhere.nnz == everywhere.nnz > np.count_nonzero(nowhere.toarray())


def test_sources_and_networks_without_reactions():
    source = MassAction(network([0, 0], [2, 0], [1.5]))
    assert source.derivative(np.zeros(2)).tolist() == [3, 0]
    assert source.jacobian(np.zeros(2)).nnz == 0
    still = MassAction(network(np.zeros((0, 2)), np.zeros((0, 2)), []))
    assert still.derivative(np.ones(2)).tolist() == [0, 0]
    assert still.jacobian(np.ones(2)).shape == (2, 2)
