"""Belief propagation against enumeration, against a plain form of its equations, and at the ends of float64."""

from __future__ import annotations

import math
import pickle
import string

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import Messages, bp, carry_messages, run
from scisuite.solvers.crn_reduce.message_passing import MessagePassing


def exact(graph: FactorGraph) -> dict[str, np.ndarray]:
    """Marginals by enumeration."""
    letter = dict(zip(graph.card, string.ascii_letters, strict=False))
    terms = [np.ones(k) for k in graph.card.values()] + [f.table for f in graph.factors.values()]
    scopes = [letter[v] for v in graph.card] + ["".join(letter[v] for v in f.variables) for f in graph.factors.values()]
    marginals = {}
    for v in graph.card:
        unscaled = np.einsum(f"{','.join(scopes)}->{letter[v]}", *terms, optimize="greedy")
        marginals[v] = unscaled / unscaled.sum()
    return marginals


def plain_round(graph: FactorGraph, to_variable: dict) -> dict:
    """One undamped round of the brief's equations, one message at a time."""
    to_factor = {}
    for f, v in graph.edges:
        message = np.ones(graph.card[v])
        for other in graph.factors_of[v]:
            if other != f:
                message = message * to_variable[other, v]
        to_factor[f, v] = message
    new = {}
    for f, v in graph.edges:
        table = graph.factors[f].table
        for axis, u in enumerate(graph.factors[f].variables):
            if u != v:
                table = table * to_factor[f, u].reshape([-1 if a == axis else 1 for a in range(table.ndim)])
        axis = graph.factors[f].variables.index(v)
        message = table.sum(axis=tuple(a for a in range(table.ndim) if a != axis))
        new[f, v] = message / message.sum()
    return new


def random_graph(seed: int, *, zeros: bool = False) -> FactorGraph:
    """A graph with cycles of 2- and 3-ary and unary factors, K from 1 to 4; with zeros no table contradicts another."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    card = {f"x{i}": int(rng.integers(1, 5)) for i in range(n)}
    factors = {}
    for i in range(int(rng.integers(3, 8))):
        scope = [f"x{j}" for j in rng.permutation(n)[: rng.integers(1, 4)]]
        table = rng.uniform(0.3, 1.0, [card[v] for v in scope])
        if zeros:
            table[rng.random(table.shape) < 0.3] = 0.0
            table[(0,) * table.ndim] = 1.0
        factors[f"f{i}"] = (scope, table)
    return FactorGraph(card, factors)


def random_tree(seed: int, *, zeros: bool = False) -> FactorGraph:
    """A tree whose factors hold two or three variables and some of whose variables have unary factors."""
    rng = np.random.default_rng(seed)
    card = {"x0": int(rng.integers(1, 4))}
    factors: dict = {}
    for i in range(int(rng.integers(1, 6))):
        scope = [str(rng.choice(list(card)))]
        for _ in range(int(rng.integers(1, 3))):
            card[f"x{len(card)}"] = int(rng.integers(1, 4))
            scope.append(f"x{len(card) - 1}")
        factors[f"f{i}"] = (scope, rng.uniform(0.1, 1.0, [card[v] for v in scope]))
        factors[f"u{i}"] = ([scope[-1]], rng.uniform(0.1, 1.0, card[scope[-1]]))
    if zeros:
        for _, table in factors.values():
            table[rng.random(table.shape) < 0.3] = 0.0
            table[(0,) * table.ndim] = 0.5
    return FactorGraph(card, factors)


def ising(n: int, coupling: float, *, torus: bool = False) -> FactorGraph:
    table = np.exp(coupling * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    card = {f"x{i}{j}": 2 for i in range(n) for j in range(n)}
    factors = {}
    for i in range(n):
        for j in range(n):
            for way, (a, b) in (("v", (i + 1, j)), ("h", (i, j + 1))):
                if torus or max(a, b) < n:
                    factors[f"{way}{i}{j}"] = ([f"x{i}{j}", f"x{a % n}{b % n}"], table)
    return FactorGraph(card, factors)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=40, deadline=None)
def test_on_trees_beliefs_are_the_marginals(seed, zeros):
    graph = random_tree(seed, zeros=zeros)
    result = bp(graph, damping=0.0)
    assert result.converged
    for v, marginal in exact(graph).items():
        np.testing.assert_allclose(result.var_beliefs[v], marginal, atol=1e-12)
        np.testing.assert_array_equal(result.var_beliefs[v] == 0, marginal == 0)


@given(st.integers(0, 10_000), st.booleans(), st.sampled_from([0.0, 0.3, 0.6]))
@settings(max_examples=40, deadline=None)
def test_it_ends_at_a_fixed_point_of_the_plain_equations(seed, zeros, damping):
    graph = random_graph(seed, zeros=zeros)
    result = bp(graph, damping=damping, tol=1e-11, init=np.random.default_rng(seed))
    assert result.converged or zeros
    assume(result.converged)
    assert result.residual < 1e-11
    messages = result.messages.to_variable
    assert list(messages) == graph.edges
    again = plain_round(graph, dict(messages))
    assert max(np.abs(again[edge] - messages[edge]).max() for edge in messages) < 1e-10
    for (f, v), message in result.messages.to_factor.items():
        others = np.prod([messages[g, v] for g in graph.factors_of[v] if g != f], axis=0) * np.ones(graph.card[v])
        np.testing.assert_allclose(message, others / others.sum(), atol=1e-12)


@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=25, deadline=None)
def test_beliefs_are_normalised_and_those_of_factors_agree_with_those_of_variables(seed, zeros):
    graph = random_graph(seed, zeros=zeros)
    result = bp(graph, tol=1e-13)
    for f, belief in result.factor_beliefs.items():
        assert belief.shape == graph.factors[f].table.shape
        assert belief.sum() == pytest.approx(1.0, abs=1e-14)
        for axis, v in enumerate(graph.factors[f].variables):
            summed = belief.sum(axis=tuple(a for a in range(belief.ndim) if a != axis))
            np.testing.assert_allclose(summed, result.var_beliefs[v], atol=1e-11)
    for v, k in graph.card.items():
        assert result.var_beliefs[v].shape == (k,)
        assert result.var_beliefs[v].sum() == pytest.approx(1.0, abs=1e-14)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_the_order_of_variables_factors_and_axes_is_no_matter(seed):
    graph, rng = random_graph(seed, zeros=True), np.random.default_rng(seed)
    factors = {}
    for f in rng.permutation(list(graph.factors)):
        scope, table = graph.factors[f]
        axes = rng.permutation(len(scope))
        factors[str(f)] = ([scope[a] for a in axes], table.transpose(axes))
    shuffled = FactorGraph({str(v): graph.card[v] for v in rng.permutation(list(graph.card))}, factors)
    one, other = bp(graph), bp(shuffled)
    assert one.iterations == other.iterations
    for v in graph.card:
        np.testing.assert_allclose(one.var_beliefs[v], other.var_beliefs[v], atol=1e-12)


@pytest.mark.parametrize("damping", [0.0, 0.25, 0.9])
def test_damping_is_the_share_of_the_old_message(damping):
    graph = random_graph(3)
    rng = np.random.default_rng(0)
    start = {(f, v): rng.dirichlet(np.ones(graph.card[v])) for f, v in graph.edges}
    result = bp(graph, damping=damping, init=Messages(start), max_iter=1, tol=1e-15)
    new = plain_round(graph, start)
    assert result.iterations == 1
    for edge, old in start.items():
        expected = (1 - damping) * new[edge] + damping * old
        np.testing.assert_allclose(result.messages.to_variable[edge], expected, atol=1e-14)
    after = plain_round(graph, dict(result.messages.to_variable))
    change = max(np.abs(after[edge] - result.messages.to_variable[edge]).max() for edge in after)
    products = [
        [
            np.prod([m[g, v] for g in graph.factors_of[v] if g != f], axis=0) * np.ones(graph.card[v])
            for m in (messages, after)
        ]
        for messages in [dict(result.messages.to_variable)]
        for v in graph.card
        for f in [None, *graph.factors_of[v]]
    ]
    change = max(change, *(np.abs(a / a.sum() - b / b.sum()).max() for a, b in products))
    assert result.residual == pytest.approx(change, abs=1e-14)


def test_a_run_that_does_not_converge_says_so():
    graph = ising(4, -1.0)
    frustrated = FactorGraph(
        {f"x{i}": 2 for i in range(4)},
        {f"f{i}{j}": ([f"x{i}", f"x{j}"], graph.factors["v00"].table) for i in range(4) for j in range(i)},
    )
    result = bp(frustrated, damping=0.0, init=np.random.default_rng(0), max_iter=300)
    assert not result.converged
    assert result.residual > 1e-3
    assert result.iterations == 300
    damped = bp(frustrated, damping=0.5, init=np.random.default_rng(0), max_iter=300)
    assert damped.converged
    assert damped.iterations < 300


def test_a_start_whose_messages_run_out_of_float64_does_not_stop_the_others():
    graph = random_graph(590, zeros=True)
    lost, kept = run(MessagePassing(graph), [np.random.default_rng(590), None], damping=0.0)
    assert (lost.converged, lost.residual) == (False, math.inf)
    assert lost.iterations < 100
    assert kept.converged
    np.testing.assert_allclose(kept.var_beliefs["x0"], [1.0, 0.0, 0.0], atol=1e-11)


def test_many_starts_at_once_end_where_each_ends_alone():
    graph = ising(3, 1.2)
    plan = MessagePassing(graph)
    together = run(plan, [None, *(np.random.default_rng(i) for i in range(5))])
    alone = [bp(graph), *(bp(graph, init=np.random.default_rng(i)) for i in range(5))]
    assert len({result.iterations for result in together}) > 2
    for one, other in zip(together, alone, strict=True):
        assert (one.iterations, one.converged) == (other.iterations, True)
        np.testing.assert_allclose(one.flat_beliefs, other.flat_beliefs, atol=1e-12)


def test_messages_start_a_run_where_another_ended():
    graph = ising(3, 1.2)
    first = bp(graph, init=np.random.default_rng(1))
    for messages in (first.messages, Messages(dict(first.messages.to_variable))):
        again = bp(graph, init=messages)
        assert again.iterations == 0
        np.testing.assert_allclose(again.var_beliefs["x11"], first.var_beliefs["x11"], atol=1e-15)
    assert abs(first.var_beliefs["x11"][0] - bp(graph).var_beliefs["x11"][0]) > 0.4
    scaled = {edge: 7.0 * message for edge, message in first.messages.to_variable.items()}
    assert bp(graph, init=Messages(scaled)).iterations <= 1


def test_a_fixed_point_is_carried_onto_merged_factors():
    graph = ising(3, 1.2)
    factors = dict(graph.factors) | {"field": (("x00",), np.array([0.6, 0.4]))}
    whole = FactorGraph(graph.card, factors)
    table = factors["v00"][1] * np.array([0.6, 0.4])[:, None]
    merged = FactorGraph(graph.card, dict(graph.factors) | {"v00": (factors["v00"][0], table)})
    for seed in range(3):
        old = bp(whole, init=np.random.default_rng(seed))
        new = bp(merged, init=carry_messages(old.messages, {"v00": ("v00", "field")}, merged), tol=1e-11)
        assert new.iterations == 0
        assert max(np.abs(new.var_beliefs[v] - old.var_beliefs[v]).max() for v in graph.card) < 1e-12
    with pytest.raises(InvalidInput, match=r"^no message to variable 'x00' is known from any part of factor 'v00'$"):
        carry_messages(old.messages, {"v00": ("h11",)}, merged)


def test_generators_reproduce_and_differ():
    graph = random_graph(5)
    one, same, other = (bp(graph, init=np.random.default_rng(s), max_iter=1) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.flat_beliefs, same.flat_beliefs)
    assert np.abs(one.flat_beliefs - other.flat_beliefs).max() > 1e-6


def test_graphs_with_little_in_them():
    lonely = bp(FactorGraph({"a": 3, "b": 1}, {}))
    assert lonely.converged
    np.testing.assert_array_equal(lonely.var_beliefs["a"], np.ones(3) / 3)
    np.testing.assert_array_equal(lonely.var_beliefs["b"], [1.0])
    assert lonely.factor_beliefs == {}
    assert len(lonely.messages.to_variable) == 0
    assert bp(FactorGraph({}, {}), init=np.random.default_rng(0)).var_beliefs == {}
    unary = bp(FactorGraph({"a": 2, "b": 2}, {"f": (["b"], [1.0, 3.0])}))
    np.testing.assert_allclose(unary.var_beliefs["b"], [0.25, 0.75], atol=1e-12)
    np.testing.assert_allclose(unary.factor_beliefs["f"], [0.25, 0.75], atol=1e-12)


def test_components_do_not_meet():
    parts = [random_graph(1), random_graph(2)]
    both = FactorGraph(
        {f"{i}{v}": k for i, part in enumerate(parts) for v, k in part.card.items()},
        {f"{i}{f}": ([f"{i}{v}" for v in s], t) for i, part in enumerate(parts) for f, (s, t) in part.factors.items()},
    )
    together = bp(both)
    for i, part in enumerate(parts):
        for v, belief in bp(part).var_beliefs.items():
            np.testing.assert_allclose(together.var_beliefs[f"{i}{v}"], belief, atol=1e-11)


@pytest.mark.parametrize("leaves", [3, 255, 1_000, 1_025])
def test_a_variable_of_many_factors_does_not_underflow(leaves):
    rng = np.random.default_rng(leaves)
    tables = rng.uniform(1e-3, 1.0, (leaves, 2, 3))
    tables[: leaves // 2, 0] *= 1e-3
    tables[leaves // 2 :, 1] *= 1e-3
    tables[0, :, 0] = 0.0
    graph = FactorGraph(
        {"hub": 2, **{f"x{i}": 3 for i in range(leaves)}},
        {f"f{i}": (["hub", f"x{i}"], table) for i, table in enumerate(tables)},
    )
    logs = np.log(tables.sum(axis=2))
    logs -= logs.sum(axis=0).max() / leaves
    hub = np.exp(logs.sum(axis=0) - np.logaddexp.reduce(logs.sum(axis=0)))
    result = bp(graph)
    np.testing.assert_allclose(result.var_beliefs["hub"], hub, rtol=1e-8, atol=1e-12)
    for i in (0, leaves - 1):
        rest = logs.sum(axis=0) - logs[i]
        expected = np.exp(rest - rest.max()) @ tables[i]
        np.testing.assert_allclose(result.var_beliefs[f"x{i}"], expected / expected.sum(), atol=1e-11)


def test_a_tree_of_24000_variables():
    n, rng = 24_000, np.random.default_rng(0)
    parents = [int(rng.integers(i)) for i in range(1, n)]
    tables = rng.uniform(0.1, 1.0, (n - 1, 3, 3))
    graph = FactorGraph(
        {f"x{i}": 3 for i in range(n)},
        {f"f{i}": ([f"x{p}", f"x{i}"], tables[i - 1]) for i, p in enumerate(parents, start=1)},
    )
    result = bp(graph)
    assert result.converged
    upward = np.ones((n, 3))
    for i in range(n - 1, 0, -1):
        message = tables[i - 1] @ upward[i]
        upward[parents[i - 1]] *= message / message.sum()
        upward[parents[i - 1]] /= upward[parents[i - 1]].sum()
    np.testing.assert_allclose(result.var_beliefs["x0"], upward[0] / upward[0].sum(), atol=1e-11)


def test_tables_at_the_ends_of_float64():
    table = np.array([[1.7, 1.0], [1.0, 1.1]])
    big, small = table * 1e308, table * 1e-307
    beliefs = [
        bp(FactorGraph({"a": 2, "b": 2}, {"f": (["a", "b"], t), "g": (["b", "a"], t)})).var_beliefs["a"]
        for t in (big, small, table)
    ]
    np.testing.assert_allclose(beliefs[0], beliefs[2], atol=1e-12)
    np.testing.assert_allclose(beliefs[1], beliefs[2], atol=1e-12)


EQUAL = np.eye(2)
IMPOSSIBLE = r"^the graph \(or the evidence it was given\) is impossible: zeros of the tables leave variable "


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_zeros_that_contradict_each_other_are_refused_with_the_variable(damping):
    yes, no = (["a"], [1.0, 0.0]), (["a"], [0.0, 1.0])
    with pytest.raises(InvalidInput, match=IMPOSSIBLE + r"'a' no value; it is in yes, no$"):
        bp(FactorGraph({"b": 2, "a": 2}, {"yes": yes, "no": no}), damping=damping)
    chain = {f"e{i}": ([f"x{i}", f"x{i + 1}"], EQUAL) for i in range(6)}
    ends = {"first": (["x0"], [1.0, 0.0]), "last": (["x6"], [0.0, 1.0])}
    graph = FactorGraph({f"x{i}": 2 for i in range(7)}, chain | ends)
    with pytest.raises(InvalidInput, match=IMPOSSIBLE + r"'x\d' no value; it is in e"):
        bp(graph, damping=damping)
    either = np.array([[0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(InvalidInput, match=IMPOSSIBLE + r"'[ab]' no value"):
        bp(FactorGraph({"a": 2, "b": 2}, {"f": (["a", "b"], either), "a": yes, "b": (["b"], [1.0, 0.0])}))
    many = {f"u{i}": (["a"], [1.0, float(i)]) for i in range(7)}
    with pytest.raises(InvalidInput, match=r"it is in u0, u1, u2, u3, u4 and 3 more$"):
        bp(FactorGraph({"a": 2}, many | {"no": no}), damping=damping)


def test_values_that_are_impossible_are_zero_in_every_message_of_a_damped_run():
    chain = {f"e{i}": ([f"x{i}", f"x{i + 1}"], EQUAL) for i in range(6)}
    graph = FactorGraph({f"x{i}": 2 for i in range(7)}, chain | {"first": (["x0"], [1.0, 0.0])})
    result = bp(graph, damping=0.5)
    assert result.iterations <= 1
    np.testing.assert_array_equal(result.var_beliefs["x6"], [1.0, 0.0])


def test_beliefs_that_hang_on_numbers_below_float64_are_not_converged():
    def hubs(leaves: int) -> FactorGraph:
        card = {"a": 2, "b": 2}
        factors: dict = {"same": (["a", "b"], EQUAL)}
        factors |= {f"a{i}": (["a"], [10.0, 1.0]) for i in range(leaves)}
        factors |= {f"b{i}": (["b"], [1.0, 10.0]) for i in range(leaves)}
        return FactorGraph(card, factors)

    for leaves in (15, 250):
        result = bp(hubs(leaves))
        assert result.converged
        np.testing.assert_allclose(result.var_beliefs["a"], [0.5, 0.5], atol=1e-9)
    beyond = bp(hubs(400))
    assert (beyond.converged, beyond.residual) == (False, math.inf)
    agreeing = FactorGraph({"a": 2, "b": 2}, {f: s for f, s in hubs(400).factors.items() if not f.startswith("b")})
    np.testing.assert_allclose(bp(agreeing).var_beliefs["b"], [1.0, 0.0], atol=1e-11)


def test_results_cannot_be_changed_and_can_be_pickled():
    result = bp(random_graph(4))
    with pytest.raises(AttributeError):
        result.residual = 0.0
    for array in (*result.var_beliefs.values(), *result.messages.to_variable.values()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    copy = pickle.loads(pickle.dumps(result))
    assert copy.iterations == result.iterations
    for v, belief in result.var_beliefs.items():
        np.testing.assert_array_equal(copy.var_beliefs[v], belief)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"damping": 1.0}, r"^damping must be at least 0 and below 1, not 1\.0$"),
        ({"damping": -0.1}, r"^damping must be at least 0 and below 1, not -0\.1$"),
        ({"damping": math.nan}, r"^damping must be at least 0 and below 1, not nan$"),
        ({"damping": True}, r"^damping must be at least 0 and below 1, not True$"),
        ({"tol": 0.0}, r"^tol must be a finite number above zero, not 0\.0$"),
        ({"tol": math.nan}, r"^tol must be a finite number above zero, not nan$"),
        ({"tol": "small"}, r"^tol must be a finite number above zero, not 'small'$"),
        ({"max_iter": 0}, r"^max_iter must be a whole number, at least 1, not 0$"),
        ({"max_iter": 1.5}, r"^max_iter must be a whole number, at least 1, not 1\.5$"),
        ({"init": 3}, r"^init must be None, a numpy Generator or Messages, not 3$"),
    ],
)
def test_parameters_out_of_range(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        bp(random_graph(0), **arguments)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({("g", "a"): [1, 1]}, r"^init: there is no edge \('g', 'a'\); messages are named \(factor, variable\)$"),
        ({("f", "b"): None}, r"^init: the message from factor 'f' to variable 'b' is missing$"),
        ({("f", "b"): [1, 1]}, r"^init: the message from factor 'f' to variable 'b' has shape \(2,\), not \(3,\)$"),
        ({("f", "a"): [1, -1]}, r"^init: the message from factor 'f' to variable 'a' must be finite and not negative"),
        ({("f", "a"): [1, math.nan]}, r"'f' to variable 'a' must be finite and not negative: \[ 1\. nan\]$"),
        ({("f", "a"): [1, 0]}, r"'f' to variable 'a' has no possible value above zero: \[1\. 0\.\]$"),
        ({("f", "a"): ["x", 0]}, r"^init: the message from factor 'f' to variable 'a' must hold numbers: "),
    ],
)
def test_starts_that_do_not_fit_the_graph(changes, message):
    graph = FactorGraph({"a": 2, "b": 3}, {"f": (["a", "b"], [[0, 0, 0], [1, 2, 3]])})
    start = {("f", "a"): [1, 1], ("f", "b"): [1, 1, 1]} | changes
    with pytest.raises(InvalidInput, match=message):
        bp(graph, init=Messages({edge: m for edge, m in start.items() if m is not None}))
