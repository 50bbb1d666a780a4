"""Certificates of tables near the ends of float64's range: none forged by underflow, none refused for it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.reduction import (
    Certificate,
    CertificateError,
    GraphSummary,
    Move,
    Operand,
    certificate_from_json,
    certificate_to_json,
    reduce,
    verify_certificate,
    wide,
)
from scisuite.solvers.crn_reduce.reduction.wide import WideTable, agree, summed_product

F, U, W, G = (Operand(name, scope) for name, scope in (("f", ("a", "b")), ("u", ("a",)), ("w", ("a",)), ("g", ("a",))))
CARD = {"a": 2, "b": 2}
SMALL_ENTRIES = (["a", "b"], [[1, 0.3], [0.2, 1]])
LOST_ENTRIES = (["a", "b"], [[1, 0.5], [0, 1]])
ONES = (["a"], [1.0, 1.0])


@pytest.mark.parametrize(
    ("before", "moves", "after", "message"),
    [
        (
            FactorGraph(CARD, {"f": SMALL_ENTRIES}),
            [Move("scale", "", (F,), exponent=1073), Move("scale", "", (F,), exponent=-1073)],
            FactorGraph(CARD, {"f": LOST_ENTRIES}),
            "^the moves lead to another table of factor 'f'$",
        ),
        (
            FactorGraph(CARD, {"f": SMALL_ENTRIES, "u": ONES, "w": ONES}),
            [Move("unary", "a", (F, U), exponent=1073), Move("unary", "a", (F, W), exponent=-1073)],
            FactorGraph(CARD, {"f": LOST_ENTRIES}),
            "^the moves lead to another table of factor 'f'$",
        ),
        (
            FactorGraph(CARD, {"f": (["a", "b"], [[1, 1], [0.2, 0.2]]), "g": (["a"], [0.2, 0.9])}),
            [
                Move("scale", "", (F,), exponent=1074),
                Move("scale", "", (F,), exponent=-1074),
                Move("support", "a", (F, G), values=(0,), card=2),
            ],
            FactorGraph({"b": 2}, {"f": (["b"], [1.0, 1.0])}, log_scale=math.log(0.2)),
            r"^move 3 of 3, support\(a, f, g\): value 1 of 'a' is possible$",
        ),
        (
            FactorGraph(
                {"a": 2}, {"f": (["a"], [1, 1e-200]), "u": (["a"], [1, 1e-200]), "w": (["a"], [1e-300, 1e300])}
            ),
            [Move("unary", "a", (Operand("f", ("a",)), U))],
            FactorGraph({"a": 2}, {"f": (["a"], [1.0, 0.0]), "w": (["a"], [1e-300, 1e300])}),
            "^the moves lead to another table of factor 'f'$",
        ),
    ],
    ids=["scale", "unary", "support", "product"],
)
def test_entries_lost_to_underflow_are_no_reduction(before, moves, after, message):
    certificate = Certificate(tuple(moves), (), GraphSummary.of(before), GraphSummary.of(after))
    for given_as in (certificate, certificate_from_json(certificate_to_json(certificate))):
        with pytest.raises(CertificateError, match=message):
            verify_certificate(before, given_as, after)


@pytest.mark.parametrize(
    ("graph", "keep", "moves"),
    [
        *(
            (
                FactorGraph({"a": 2, "b": 2, "c": 2}, {"f": (["a", "b"], table), "g": (["b", "c"], [[1, 2], [3, 4]])}),
                k,
                3,
            )
            for table in ([[1e300, 1e300], [1e-300, 1e-300]], [[1e200, 1e-200], [1e-200, 1e200]])
            for k in (["a"], ["c"], [])
        ),
        (
            FactorGraph(
                {"a": 2}, {"f": (["a"], [1, 1e-200]), "u": (["a"], [1, 1e-200]), "w": (["a"], [1e-300, 1e300])}
            ),
            [],
            2,
        ),
        (FactorGraph(CARD, {"f": (["a", "b"], [[5e-324, 1], [1, 3e-320]]), "u": (["a"], [1, 2])}), ["a", "b"], 1),
    ],
)
def test_reductions_of_wide_tables_verify(graph, keep, moves):
    reduction = reduce(graph, keep)
    assert len(reduction.certificate) >= moves
    verify_certificate(graph, reduction.certificate, reduction.graph)


def test_exponents_that_are_no_whole_numbers_are_refused():
    graph = FactorGraph(CARD, {"f": SMALL_ENTRIES})
    for exponent in (math.nan, 0.5, 4097):
        moves = (Move("scale", "", (F,), exponent=exponent),)
        certificate = Certificate(moves, (), GraphSummary.of(graph), GraphSummary.of(graph))
        with pytest.raises(
            CertificateError, match=r"^move 1 of 1, scale\(f\): no table is scaled by 2 to the power of"
        ):
            verify_certificate(graph, certificate, graph)


def exact(table: WideTable) -> np.ndarray:
    """Entries as fractions."""
    pairs = zip(table.mantissa.ravel(), table.exponent.ravel(), strict=True)
    entries = [Fraction(m) * Fraction(2) ** int(e) if m else Fraction(0) for m, e in pairs]
    return np.array(entries, dtype=object).reshape(table.mantissa.shape)


@pytest.mark.parametrize("at_once", [True, False])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_sums_of_products_are_those_of_fractions(at_once, seed):
    rng = np.random.default_rng(seed)
    tables = []
    for shape in ((2, 3), (3, 2, 2)):
        table = WideTable.of(rng.uniform(0.1, 1, shape) * (rng.random(shape) < 0.8))
        powers = np.where(table.mantissa, rng.integers(-3000, 3000, shape), 0)
        tables.append(WideTable(table.mantissa, table.exponent + powers))
    with pytest.MonkeyPatch.context() as patch:
        if not at_once:
            patch.setattr(wide, "_MOST_ENTRIES", 1)
        found = exact(summed_product([("a", "v"), ("v", "b", "c")], tables, ("c", "a", "b")))
    expected = np.einsum("av,vbc->cab", *map(exact, tables))
    assert found.shape == (2, 2, 2)
    assert (abs(found - expected) <= Fraction(1, 10**15) * expected).all()
    whole = exact(summed_product([("a", "v"), ("v", "b", "c")], tables, ("a", "v", "b", "c")))
    product = np.einsum("av,vbc->avbc", *map(exact, tables))
    assert (abs(whole - product) <= Fraction(1, 10**15) * product).all()


def test_tables_agree_where_every_entry_does():
    table = WideTable.of(np.array([1.0, 5e-324, 0.0]))
    assert agree(table, WideTable.of(np.array([np.nextafter(1, 0), 5e-324, 0.0])), 1e-12)
    for other in ([1.0, 5e-324, 5e-324], [1.0, 0.0, 0.0], [1.0, 1e-323, 0], [2, 5e-324, 0], [1 + 1e-11, 5e-324, 0]):
        assert not agree(table, WideTable.of(np.array(other)), 1e-12)
        assert not agree(WideTable.of(np.array(other)), table, 1e-12)
    for odd in (np.nan, np.inf, -1.0):
        strange = WideTable.of(np.array([odd]))
        assert not agree(strange, strange, 1e-12)
