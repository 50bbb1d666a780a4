"""Lifted beliefs and carried messages, where single moves do not show them."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.factor_graphs import FactorGraph, hmm, ising
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.multistart import fixed_points
from scisuite.solvers.crn_reduce.reduction import (
    MOVES,
    Beliefs,
    certificate_from_json,
    certificate_to_json,
    lift,
    reduce,
)


def test_marginals_of_a_hidden_markov_model_come_back_from_one_variable():
    graph = hmm(np.random.default_rng(0))
    reduction = reduce(graph)
    result = bp(reduction.graph)
    lifted = reduction.lift(result)
    for v, belief in bp(graph).var_beliefs.items():
        np.testing.assert_allclose(lifted.var_beliefs[v], belief, atol=1e-11)
    for f, (scope, _) in graph.factors.items():
        assert lifted.factor_beliefs[f].sum() == pytest.approx(1)
        for axis, v in enumerate(scope):
            others = tuple(i for i in range(len(scope)) if i != axis)
            np.testing.assert_allclose(lifted.factor_beliefs[f].sum(axis=others), lifted.var_beliefs[v], atol=1e-14)


def test_a_certificate_from_a_file_lifts_as_well():
    graph = hmm(np.random.default_rng(0))
    reduction = reduce(graph, ["h3"], tuple(MOVES))
    result = bp(reduction.graph)
    stored = certificate_from_json(certificate_to_json(reduction.certificate))
    beliefs = lift(stored, reduction.graph, Beliefs(result.var_beliefs, result.factor_beliefs))
    for v, belief in reduction.lift(result).var_beliefs.items():
        np.testing.assert_array_equal(beliefs.var_beliefs[v], belief)


def test_each_fixed_point_of_an_ising_model_with_hair_is_carried_and_lifted_back():
    graph = ising(np.random.default_rng(0), hair=True)
    found = fixed_points(graph, 6, rng=generator(0, "starts"))
    assert len(found.results) >= 2
    for moves in (("leaf", "unary"), tuple(MOVES)):
        reduction = reduce(graph, moves=moves)
        assert len(reduction.graph.card) < len(graph.card)
        for old in found.results:
            new = bp(reduction.graph, init=reduction.carry(old.messages), tol=1e-11)
            assert new.iterations <= 1
            for v, belief in reduction.lift(new).var_beliefs.items():
                np.testing.assert_allclose(belief, old.var_beliefs[v], atol=1e-10)


def test_bad_beliefs_are_refused():
    graph = FactorGraph({"x": 2, "y": 3}, {"f": (["x", "y"], np.ones((2, 3)))})
    reduction = reduce(graph)
    good = bp(reduction.graph)
    variables, factors = good.var_beliefs, good.factor_beliefs
    for beliefs, message in [
        (Beliefs({}, factors), r"^the belief of variable 'x' is missing$"),
        (Beliefs(variables, {}), r"^the belief of factor 'f' is missing$"),
        (Beliefs({"x": np.ones(3) / 3}, factors), r"^the belief of variable 'x' has shape \(3,\), not \(2,\)$"),
        (
            Beliefs({**variables, "y": np.ones(3)}, factors),
            r"^there is a belief of variable 'y', which the reduced gra",
        ),
        (
            bp(reduction.graph, init=generator(0, "start"), max_iter=1, tol=1e-300),
            r"^beliefs of a run of belief propag",
        ),
    ]:
        with pytest.raises(InvalidInput, match=message):
            reduction.lift(beliefs)


def test_carrying_needs_every_message():
    graph = FactorGraph({"x": 2, "y": 3}, {"f": (["x", "y"], np.ones((2, 3))), "g": (["x"], [1, 2])})
    from scisuite.solvers.crn_reduce.belief_propagation import Messages

    with pytest.raises(InvalidInput, match=r"^the message from factor 'g' to variable 'x' is missing$"):
        reduce(graph).carry(Messages({("f", "x"): np.ones(2)}))
    opposed = Messages({("f", "x"): np.array([1, 0]), ("g", "x"): np.array([0, 1])})
    with pytest.raises(InvalidInput, match=r"^the messages to variable 'x' contradict each other$"):
        reduce(graph).carry(opposed)
