"""Single moves: what each keeps, and what is refused."""

from __future__ import annotations

import math
import string

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.bethe import bethe_free_energy
from scisuite.solvers.crn_reduce.reduction import BeyondFloat64, NotExactError, apply_moves, verify_certificate


def log_z(graph: FactorGraph) -> float:
    letter = dict(zip(graph.card, string.ascii_letters, strict=False))
    scopes = ["", *letter.values(), *("".join(letter[v] for v in f.variables) for f in graph.factors.values())]
    tables = [np.ones(()), *(np.ones(k) for k in graph.card.values()), *(f.table for f in graph.factors.values())]
    return math.log(float(np.einsum(",".join(scopes) + "->", *tables, optimize="greedy"))) + graph.log_scale


@pytest.fixture
def graph() -> FactorGraph:
    """A cycle a–b–c–d with a chord factor, a pendant e, a unary on d, and a factor of rank one over g, h, i."""
    rng = np.random.default_rng(7)
    card = {"a": 2, "b": 3, "c": 2, "d": 3, "e": 2, "g": 2, "h": 2, "i": 3, "j": 3}

    def table(*scope: str) -> tuple[list[str], np.ndarray]:
        return list(scope), rng.uniform(0.2, 2.0, [card[v] for v in scope])

    first, second = rng.uniform(0.2, 2.0, 2), rng.uniform(0.2, 2.0, (2, 3))
    forbids = rng.uniform(0.2, 2.0, (3, 3))
    forbids[:, 1] = 0.0
    factors = {
        "ab": table("a", "b"),
        "bc": table("b", "c"),
        "cd": table("c", "d"),
        "ad": table("a", "d"),
        "de": table("d", "e"),
        "u": table("d"),
        "ghi": (["h", "g", "i"], np.einsum("g,hi->hgi", first, second)),
        "ga": table("g", "a"),
        "hc": table("h", "c"),
        "ij": (["i", "j"], forbids),
        "ja": table("j", "a"),
    }
    return FactorGraph(card, factors, states={"j": ("low", "middle", "high")})


STEPS = {
    "leaf": ("leaf", "e"),
    "unary": ("unary", "u"),
    "series": ("series", "b"),
    "cluster": ("cluster", "de", "cd"),
    "support": ("support", "j"),
    "split": ("split", "ghi"),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_a_move_keeps_the_sum_the_fixed_point_its_free_energy_and_the_eliminated_beliefs(graph, step):
    reduction = apply_moves(graph, [step])
    before = bp(graph, tol=1e-14)
    after = bp(reduction.graph, init=reduction.carry(before.messages), tol=1e-13)
    assert before.converged
    assert after.iterations == 0
    assert log_z(reduction.graph) == pytest.approx(log_z(graph), abs=1e-13)
    assert bethe_free_energy(reduction.graph, after) == pytest.approx(bethe_free_energy(graph, before), abs=1e-13)
    lifted = reduction.lift(after)
    assert list(lifted.var_beliefs) == list(graph.card)
    for name, belief in before.var_beliefs.items():
        np.testing.assert_allclose(lifted.var_beliefs[name], belief, atol=1e-13)
    for name, belief in before.factor_beliefs.items():
        np.testing.assert_allclose(lifted.factor_beliefs[name], belief, atol=1e-13)
    verify_certificate(graph, reduction.certificate, reduction.graph)
    assert [move.kind for move in reduction.certificate if move.kind != "scale"] == [step[0]]


def test_the_result_has_the_name_and_place_of_the_first(graph):
    assert list(apply_moves(graph, [("cluster", "de", "cd")]).graph.factors)[3] == "de"
    assert apply_moves(graph, [("cluster", "de", "cd")]).graph.factors["de"].variables == ("d", "e", "c")
    assert apply_moves(graph, [("series", "b")]).graph.factors["ab"].variables == ("a", "c")
    assert "u" not in apply_moves(graph, [("unary", "u")]).graph.factors


def test_a_unary_factor_goes_into_the_first_other_or_the_one_named(graph):
    def changed(*step: str) -> list[str]:
        factors = apply_moves(graph, [step]).graph.factors
        return [name for name, factor in factors.items() if factor.table is not graph.factors[name].table]

    assert changed("unary", "u") == ["cd"]
    assert changed("unary", "u", "de") == ["de"]


def test_support_cuts_values_with_their_names_and_one_valued_variables():
    graph = FactorGraph(
        {"a": 3, "b": 2},
        {"f": (["a", "b"], [[1, 2], [0, 0], [3, 4]]), "g": (["b"], [0, 5])},
        states={"a": ("x", "y", "z")},
    )
    cut = apply_moves(graph, [("support", "a")])
    assert cut.graph.states["a"] == ("x", "z")
    np.testing.assert_array_equal(cut.graph.factors["f"].table, np.array([[1, 2], [3, 4]]) / 4)
    gone = apply_moves(graph, [("support", "b"), ("support", "a")])
    assert list(gone.graph.factors) == ["f"]
    np.testing.assert_array_equal(gone.graph.factors["f"].table, np.array([2, 4]) / 4)
    assert gone.graph.log_scale == pytest.approx(math.log(20))
    lifted = gone.lift(bp(gone.graph))
    np.testing.assert_allclose(lifted.var_beliefs["a"], [1 / 3, 0, 2 / 3])
    np.testing.assert_allclose(lifted.var_beliefs["b"], [0, 1])
    np.testing.assert_allclose(lifted.factor_beliefs["f"], [[0, 1 / 3], [0, 0], [0, 2 / 3]])
    np.testing.assert_allclose(lifted.factor_beliefs["g"], [0, 1])
    np.testing.assert_allclose(gone.surviving(lifted.var_beliefs)["a"], [1 / 3, 2 / 3])


def test_merging_factors_that_share_two_variables_would_move_beliefs_and_is_refused():
    h, u = ["y", "z"], ["x"]
    card, others = {"x": 2, "y": 2, "z": 2}, {"h": (h, [[3, 1], [1, 2]]), "u": (u, [2, 3])}
    f, g = np.array([[4, 1], [1, 1]]), np.array([[4, 1], [1, 2]])
    apart = FactorGraph(card, {"f": (["x", "y"], f), "g": (["x", "y"], g), **others})
    merged = FactorGraph(card, {"f": (["x", "y"], f * g), **others})
    moved = [np.abs(bp(apart).var_beliefs[v] - bp(merged).var_beliefs[v]).max() for v in card]
    assert max(moved) == pytest.approx(0.048, abs=5e-4)
    with pytest.raises(
        NotExactError,
        match=r"^factors 'f' and 'g' share 2 variables \(x, y\): merging them would move belief propagation's fixed",
    ):
        apply_moves(apart, [("cluster", "f", "g")])


def test_merging_a_nested_factor_of_two_variables_is_refused():
    nested = FactorGraph(
        {"x": 2, "y": 2, "z": 2}, {"f": (["x", "y", "z"], np.ones((2, 2, 2))), "g": (["z", "x"], np.eye(2))}
    )
    with pytest.raises(NotExactError, match=r"^factors 'f' and 'g' share 2 variables \(x, z\): merging"):
        apply_moves(nested, [("cluster", "f", "g")])


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("leaf", "k")], r"^variable 'a' is kept and cannot be eliminated$"),
        ([("series", "k")], r"^variable 'a' is kept and cannot be eliminated$"),
        ([("support", "k")], r"^variable 'a' is kept and cannot be eliminated$"),
        ([("leaf", "b")], r"^variable 'b' is no leaf: it is in 2 factors \(ab, bc\)$"),
        (
            [("leaf", "e"), ("unary", "de", "u"), ("leaf", "b")],
            r"^variable 'b' is no leaf: it is in 2 factors \(ab, bc\)$",
        ),
        ([("series", "a")], r"^variable 'a' is not between two factors: it is in 4 factors \(ab, ad, ga, ja\)$"),
        ([("unary", "ab")], r"^factor 'ab' is not unary: it is about a, b$"),
        ([("unary", "u", "ab")], r"^factor 'ab' cannot take in 'u': it is no other factor of 'd'$"),
        ([("unary", "u", "u")], r"^factor 'u' cannot take in 'u': it is no other factor of 'd'$"),
        ([("cluster", "ab", "ab")], r"^factor 'ab' cannot be merged with itself$"),
        ([("cluster", "ab", "cd")], r"^factors 'ab' and 'cd' share no variable: there is nothing to merge$"),
        ([("support", "b")], r"^all 3 values of variable 'b' are possible$"),
        ([("split", "ab")], r"^the table of factor 'ab' is no product of two$"),
        ([("split", "ghi", ("g", "x"))], r"^g, x are not some and not all of h, g, i$"),
        (
            [("split", "ghi", ("h",))],
            r"^the table of factor 'ghi' is no product of one of h and one of the others$",
        ),
        (
            [("lifting", "a")],
            r"^there is no exact move 'lifting'; known: cluster, leaf, series, split, support, unary \(Merging what",
        ),
        ([("leef", "a")], r"^there is no exact move 'leef'; did you mean 'leaf'\? \(Merging what is alike"),
    ],
)
def test_what_is_not_exact_is_refused(graph, steps, message):
    keep = ["a"] if steps[0][1] == "k" else []
    with pytest.raises(NotExactError, match=message):
        apply_moves(graph, [tuple("a" if word == "k" else word for word in step) for step in steps], keep)


def test_series_between_factors_that_share_another_variable_is_refused():
    graph = FactorGraph({"x": 2, "y": 2}, {"f": (["x", "y"], np.ones((2, 2))), "g": (["y", "x"], np.ones((2, 2)))})
    with pytest.raises(
        NotExactError, match=r"^factors 'f' and 'g' share 2 variables \(x, y\): merging them would move"
    ):
        apply_moves(graph, [("series", "x")])


def test_the_last_variable_of_a_component_stays():
    alone = FactorGraph({"x": 2}, {"f": (["x"], [1, 2]), "g": (["x"], [3, 1])})
    with pytest.raises(NotExactError, match=r"^variable 'x' is all that factors 'f' and 'g' are about$"):
        apply_moves(alone, [("series", "x")])
    with pytest.raises(NotExactError, match=r"^variable 'x' is no leaf: its only factor 'g' is about nothing else$"):
        apply_moves(alone, [("unary", "f"), ("leaf", "x")])
    with pytest.raises(NotExactError, match=r"^factor 'g' is the only one of variable 'x': nothing can take it in$"):
        apply_moves(alone, [("unary", "f"), ("unary", "g")])


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (("leaf", "q"), r"^there is no variable 'q'"),
        (("unary", "abb"), r"^there is no factor 'abb'; did you mean 'ab'\?$"),
        (("cluster", "ab"), r"^move 'cluster' cannot be about \['ab'\]: missing a required argument: 'second'$"),
        (("leaf", "a", "b", "c"), r"^move 'leaf' cannot be about \['a', 'b', 'c'\]: too many positional arguments$"),
    ],
)
def test_unknown_names_and_wrong_numbers_of_them_are_refused(graph, step, message):
    with pytest.raises(InvalidInput, match=message):
        apply_moves(graph, [step])


def test_contradictory_zeros_are_impossible():
    graph = FactorGraph({"x": 2}, {"f": (["x"], [0, 1]), "g": (["x"], [1, 0])})
    with pytest.raises(InvalidInput, match=r"impossible: nothing is left of factor 'g' about x$"):
        apply_moves(graph, [("unary", "f")])
    with pytest.raises(InvalidInput, match=r"impossible: zeros of 2 factors \(f, g\) leave variable 'x' no value$"):
        apply_moves(graph, [("support", "x")])
    graph = FactorGraph(
        {"x": 2, "y": 2}, {"f": (["x", "y"], [[1, 0], [0, 0]]), "g": (["x"], [0, 1]), "h": (["x"], [1, 1])}
    )
    with pytest.raises(InvalidInput, match=r"zeros of 3 factors \(f, g, h\) leave variable 'x' no value$"):
        apply_moves(graph, [("support", "x")])


@pytest.mark.parametrize("size", [2.0**-700, 2.0**700])
def test_products_beyond_float64_are_made_of_scaled_tables(size):
    graph = FactorGraph(
        {"x": 2, "y": 2, "z": 2},
        {"f": (["x", "y"], [[size, 2 * size], [3 * size, size]]), "g": (["y", "z"], [[size, size], [2 * size, size]])},
    )
    reduction = apply_moves(graph, [("series", "y")])
    np.testing.assert_allclose(reduction.graph.factors["f"].table, np.array([[5, 3], [5, 4]]) / 4, rtol=1e-14)
    assert reduction.graph.log_scale == pytest.approx(math.log(4) + 2 * math.log(size), rel=1e-14)
    verify_certificate(graph, reduction.certificate, reduction.graph)
    np.testing.assert_allclose(reduction.lift(bp(reduction.graph)).var_beliefs["y"], bp(graph).var_beliefs["y"])


def test_products_beyond_float64_at_any_scale_are_refused():
    wide = FactorGraph({"x": 2, "y": 2}, {"f": (["x", "y"], [[1e-200, 1], [1, 1]]), "u": (["x"], [1e-200, 1])})
    with pytest.raises(BeyondFloat64, match=r"^products of the tables' entries would leave the range of float64$"):
        apply_moves(wide, [("unary", "u")])


@pytest.mark.parametrize(("error", "accepted"), [(0.0, True), (1e-15, True), (1e-12, False)])
def test_a_split_is_exact_to_thirteen_digits(error, accepted):
    table = np.multiply.outer([0.3, 0.7], [0.1, 0.5, 0.4])
    table[1, 2] *= 1 + error
    graph = FactorGraph({"x": 2, "y": 3}, {"f": (["x", "y"], table)})
    if accepted:
        split = apply_moves(graph, [("split", "f")]).graph.factors
        assert {name: factor.variables for name, factor in split.items()} == {"f": ("x",), "f_2": ("y",)}
        product = np.multiply.outer(split["f"].table, split["f_2"].table)
        np.testing.assert_allclose(product / product.sum(), table / table.sum(), rtol=2e-15)
    else:
        with pytest.raises(NotExactError, match="is no product of two"):
            apply_moves(graph, [("split", "f")])


def test_a_split_needs_the_same_zeros():
    graph = FactorGraph({"x": 2, "y": 2}, {"f": (["x", "y"], [[1, 1], [1, 0]]), "g": (["x", "y"], [[0, 0], [1, 2]])})
    with pytest.raises(NotExactError, match="is no product of two"):
        apply_moves(graph, [("split", "f")])
    np.testing.assert_array_equal(apply_moves(graph, [("split", "g")]).graph.factors["g"].table, [0, 1])


def test_a_split_into_parts_of_two_variables_is_found():
    rng = np.random.default_rng(0)
    table = np.einsum("ac,bd->abcd", rng.uniform(0.2, 1, (2, 3)), rng.uniform(0.2, 1, (2, 2)))
    graph = FactorGraph({"a": 2, "b": 2, "c": 3, "d": 2}, {"f": (["a", "b", "c", "d"], table)})
    split = apply_moves(graph, [("split", "f")]).graph.factors
    assert {factor.variables for factor in split.values()} == {("a", "c"), ("b", "d")}
