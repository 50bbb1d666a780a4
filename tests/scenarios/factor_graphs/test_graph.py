"""FactorGraph: what it refuses, conditioning, components, immutability."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import Factor, FactorGraph, random_loopy

CARD = {"a": 2, "b": 3}


def graph(**factors):
    return FactorGraph(CARD, factors or {"f": (("a", "b"), np.arange(6.0).reshape(2, 3))}, states={"a": ("no", "yes")})


@pytest.mark.parametrize(
    ("card", "factors", "message"),
    [
        ({3: 2}, {}, "the name of a variable must be a non-empty text, not 3"),
        ({"": 2}, {}, "the name of a variable must be a non-empty text, not ''"),
        ({"a": 0}, {}, "variable 'a' must have a whole number of values, at least 1, not 0"),
        ({"a": True}, {}, "variable 'a' must have a whole number of values, at least 1, not True"),
        ({"a": 2.0}, {}, "variable 'a' must have a whole number of values, at least 1, not 2.0"),
        (CARD, {"": (["a"], [1, 1])}, "the name of a factor must be a non-empty text, not ''"),
        (CARD, {"f": ((), 1.0)}, "factor 'f' has no variables"),
        (CARD, {"f": (["c"], [1, 1])}, "factor 'f' names the unknown variable 'c'; known: a, b"),
        (CARD, {"f": (["a", "a"], np.ones((2, 2)))}, "factor 'f' has the variable 'a' twice in its scope"),
        (CARD, {"f": (["a"], [1, 1, 1])}, "the table of factor 'f' has shape (3,), its variables ask for (2,)"),
        (CARD, {"f": (["a"], [1, np.nan])}, "the table of factor 'f' is NaN at (1,): nan"),
        (CARD, {"f": (["a"], [np.inf, 1])}, "the table of factor 'f' is infinite at (0,): inf"),
        (CARD, {"f": (["a"], [1, -1e-300])}, "the table of factor 'f' is negative at (1,): -1e-300"),
        (CARD, {"f": (["a"], [0, 0])}, "the table of factor 'f' is zero everywhere"),
        (CARD, {"f": (["a"], ["x", "y"])}, "factor 'f' must be (variables, table of numbers): "),
        (CARD, {"f": 3}, "factor 'f' must be (variables, table of numbers): "),
    ],
)
def test_what_is_no_factor_graph(card, factors, message):
    with pytest.raises(InvalidInput) as caught:
        FactorGraph(card, factors)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ({"c": ("x",)}, "states are given for the unknown variable 'c'"),
        ({"a": ("x",)}, r"variable 'a' has 2 values and needs as many different names, not \('x',\)"),
        ({"a": ("x", "x")}, "needs as many different names"),
        ({"a": (0, 1)}, "needs as many different names"),
    ],
)
def test_names_of_values(states, message):
    with pytest.raises(InvalidInput, match=message):
        FactorGraph(CARD, {}, states=states)


@pytest.mark.parametrize("log_scale", [math.nan, math.inf])
def test_a_scale_that_is_no_number(log_scale):
    with pytest.raises(InvalidInput, match="log_scale must be finite"):
        FactorGraph(CARD, {}, log_scale=log_scale)


def test_nothing_of_it_can_be_changed():
    table = np.ones((2, 3))
    made = graph(f=(["a", "b"], table))
    table[0, 0] = 7.0
    assert made.factors["f"].table[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        made.factors["f"].table[0, 0] = 2.0
    with pytest.raises(AttributeError, match="a FactorGraph cannot be changed: card"):
        made.card = {}
    with pytest.raises(TypeError):
        made.card["c"] = 2


def test_it_is_counted_and_copied(same_graph):
    made = graph(f=(["a", "b"], np.ones((2, 3))), u=(["b"], [1, 2, 0]))
    assert (made.n_entries, made.degree("a"), made.degree("b")) == (9, 1, 2)
    assert made.edges == [("f", "a"), ("f", "b"), ("u", "b")]
    assert repr(made) == "FactorGraph(2 variables, 2 factors, 9 table entries)"
    for twin in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert same_graph(twin, made)
        assert not twin.factors["f"].table.flags.writeable


def test_evidence_by_place_and_by_name(same_graph):
    by_place, by_name = graph().condition({"a": 1}), graph().condition({"a": "yes"})
    assert same_graph(by_place, by_name)
    assert by_place.factors["f"] == Factor(("b",), pytest.approx(np.array([3.0, 4.0, 5.0])))
    assert dict(by_place.card) == {"b": 3}
    assert dict(by_place.states) == {}


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"c": 1}, "evidence: there is no variable 'c'; known: a, b"),
        ({"a": 2}, "a has values 0 to 1, not 2"),
        ({"a": -1}, "a has values 0 to 1, not -1"),
        ({"a": True}, "a has values 0 to 1, not True"),
        ({"a": 0.5}, "a has values 0 to 1, not 0.5"),
        ({"a": "maybe"}, "a has no value 'maybe'; it has no, yes"),
        ({"b": "x"}, "b has no value 'x'; its values have no names, give a number"),
        ({"a": 0, "b": 0}, "the evidence is impossible: factor 'f' is zero at a=0, b=0"),
    ],
)
def test_evidence_that_is_refused(evidence, message):
    with pytest.raises(InvalidInput) as caught:
        graph().condition(evidence)
    assert str(caught.value) == message


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_conditioning_slices_the_joint_weights(joint, seed, data):
    rng = np.random.default_rng(seed)
    full = random_loopy(rng, n=5, loops=2)
    observed = data.draw(st.sets(st.sampled_from(list(full.card))))
    evidence = {v: int(rng.integers(full.card[v])) for v in full.card if v in observed}
    at = tuple(evidence.get(v, slice(None)) for v in full.card)
    conditioned = full.condition(evidence)
    assert joint(conditioned) * math.exp(conditioned.log_scale) == pytest.approx(joint(full)[at], rel=1e-12)


def test_variables_of_one_value_leave():
    made = FactorGraph({"a": 1, "b": 2}, {"f": (["a", "b"], [[0.5, 2.0]]), "u": (["a"], [3.0])}).without_constants()
    assert dict(made.card) == {"b": 2}
    assert made.factors["f"].table.tolist() == [0.5, 2.0]
    assert made.log_scale == pytest.approx(math.log(3))


def test_names_that_are_asked_for():
    made = graph()
    assert made.require_variables(["b", "a", "b"]) == ("b", "a")
    with pytest.raises(InvalidInput, match="keep must be a list of variables, not the text 'ab'"):
        made.require_variables("ab")
    with pytest.raises(InvalidInput, match="keep: there is no variable 'c'; known: a, b"):
        made.require_variables(["c"])


def test_components_in_the_order_of_the_variables():
    card = dict.fromkeys("abcdef", 2)
    made = FactorGraph(card, {"f": (["e", "a"], np.ones((2, 2))), "g": (["d", "b"], np.ones((2, 2)))})
    assert made.components() == [("a", "e"), ("b", "d"), ("c",), ("f",)]
