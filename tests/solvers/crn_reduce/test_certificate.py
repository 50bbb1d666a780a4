"""Certificates: what proves a reduction, and what is refused as proof."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput, NewerFormat
from scisuite.scenarios.factor_graphs import Factor, FactorGraph
from scisuite.solvers.crn_reduce.reduction import (
    Certificate,
    CertificateError,
    GraphSummary,
    Move,
    Operand,
    Reduction,
    apply_moves,
    certificate_from_json,
    certificate_to_json,
    graph_hash,
    reduce,
    verify_certificate,
)


@pytest.fixture
def reduction() -> Reduction:
    """One move of each kind, c being kept."""
    rng = np.random.default_rng(7)
    card = {"a": 2, "b": 3, "c": 2, "d": 3, "e": 2, "g": 2, "h": 2, "i": 3, "j": 3}
    tables = {
        "ab": "a b",
        "bc": "b c",
        "cd": "c d",
        "ad": "a d",
        "de": "d e",
        "u": "d",
        "ga": "g a",
        "hc": "h c",
        "ia": "i a",
        "ij": "i j",
        "jc": "j c",
    }
    factors = {
        name: (scope.split(), rng.uniform(0.2, 2, [card[v] for v in scope.split()])) for name, scope in tables.items()
    }
    factors["ghi"] = (["g", "h", "i"], np.einsum("g,hi->ghi", [0.3, 0.9], rng.uniform(0.2, 2, (2, 3))))
    factors["ij"][1][:, 1] = 0
    steps = [
        ("leaf", "e"),
        ("unary", "u", "ad"),
        ("split", "ghi"),
        ("support", "j"),
        ("series", "b"),
        ("cluster", "de", "cd"),
    ]
    return apply_moves(FactorGraph(card, factors), steps, ["c"])


def forged(reduction: Reduction, moves: list[Move], after: FactorGraph | None = None) -> None:
    """Verify other moves, under a header that says nothing wrong."""
    graph = after or reduction.graph
    certificate = Certificate(tuple(moves), reduction.keep, reduction.before, GraphSummary.of(graph))
    verify_certificate(reduction.original, certificate, graph)


def test_a_certificate_has_every_kind_and_holds(reduction):
    kinds = [move.kind for move in reduction.certificate]
    assert kinds[:6] == ["leaf", "unary", "split", "support", "series", "cluster"]
    assert set(kinds[6:]) == {"scale"}
    forged(reduction, list(reduction.certificate))
    assert repr(reduction.certificate[1]) == "unary(d, ad, u)"
    assert (reduction.certificate.before.variables, reduction.certificate.after.variables) == (9, 7)


def tampered_tables(reduction: Reduction) -> list[tuple[int, Move]]:
    """Every table of every move, with one entry changed in the tenth digit."""
    found = []
    for number, move in enumerate(reduction.certificate):
        for field in ("operands", "results"):
            for at, operand in enumerate(getattr(move, field)):
                if operand.table is not None:
                    table = operand.table.copy()
                    table.flat[-1] *= 1 + 1e-10
                    operands = list(getattr(move, field))
                    operands[at] = operand._replace(table=table)
                    found.append((number, replace(move, **{field: tuple(operands)})))
    return found


def test_a_changed_table_entry_is_refused(reduction):
    changed = tampered_tables(reduction)
    assert [move.kind for _, move in changed] == ["leaf", "split", "split", "series", "series"]
    for number, move in changed:
        moves = list(reduction.certificate)
        moves[number] = move
        with pytest.raises(CertificateError, match=rf"^move {number + 1} of \d+, {move.kind}\(.* another "):
            forged(reduction, moves)


def test_a_dropped_or_repeated_move_is_refused(reduction):
    moves = list(reduction.certificate)
    for number in range(len(moves)):
        with pytest.raises(CertificateError):
            forged(reduction, moves[:number] + moves[number + 1 :])
        with pytest.raises(CertificateError):
            forged(reduction, moves[: number + 1] + moves[number:])


def test_a_changed_exponent_is_refused(reduction):
    for number, move in enumerate(reduction.certificate):
        moves = list(reduction.certificate)
        moves[number] = replace(move, exponent=move.exponent + 1)
        with pytest.raises(CertificateError):
            forged(reduction, moves)
    moves[-1] = replace(moves[-1], exponent=10**6)
    with pytest.raises(CertificateError, match=r"no table is scaled by 2 to the power of -1000000$"):
        forged(reduction, moves)


def renamed(name: str) -> Callable[[Operand], Operand]:
    return lambda operand: operand._replace(name=name)


@pytest.mark.parametrize(
    ("number", "change", "message"),
    [
        (0, {"variable": "c"}, "variable 'c' is kept"),
        (0, {"variable": "zz"}, "there is no variable 'zz' any more, or there never was"),
        (0, {"variable": "d"}, r"variable 'd' is in \['ad', 'cd', 'de', 'u'\], not in \['de'\]"),
        (0, {"kind": "lifting"}, "'lifting' is no exact move"),
        (0, {"operands": ()}, "it names 0 factors instead of 1"),
        (0, {"operands": renamed("xx")}, "there is no factor 'xx' any more, or there never was"),
        (0, {"operands": lambda o: o._replace(variables=("e", "d"))}, "factor 'de' is about"),
        (0, {"operands": lambda o: o._replace(table=None)}, "the table of factor 'de' is missing"),
        (0, {"operands": lambda o: o._replace(table=o.table.T)}, "the table of factor 'de' is another one"),
        (1, {"operands": renamed("u")}, "factor 'u' is about"),
        (1, {"variable": "a"}, "factor 'u' is not a unary factor of 'a'"),
        (1, {"operands": (Operand("u", ("d",)), Operand("u", ("d",)))}, "it names a factor twice"),
        (1, {"operands": (Operand("ab", ("a", "b")), Operand("u", ("d",)))}, "factor 'ab' is not about 'd'"),
        (2, {"results": ()}, "it has not two results"),
        (2, {"exponent": 1}, "it has an exponent"),
        (3, {"exponent": -1}, "it has an exponent"),
        (2, {"results": renamed("ghi")}, "its parts cannot be called 'ghi' and 'ghi'"),
        (2, {"results": lambda o: o._replace(variables=())}, "a part is about nothing"),
        (2, {"results": lambda o: o._replace(variables=o.variables[:1])}, "the parts' variables are not those"),
        (2, {"results": lambda o: o._replace(table=o.table[..., 0])}, "the table of part 'ghi' is none over g"),
        (2, {"results": lambda o: o._replace(table=-o.table)}, "the table of part 'ghi' is none over g"),
        (2, {"results": lambda o: o._replace(table=None)}, "the table of a part is missing"),
        (3, {"values": (0,)}, "value 2 of 'j' is possible"),
        (3, {"values": (2, 0)}, r"\[2, 0\] of 3 are not some of the 3 values of 'j'"),
        (3, {"values": (0, 1, 2)}, "it takes no value away"),
        (3, {"card": 2}, r"\[0, 2\] of 2 are not some of the 3 values of 'j'"),
        (4, {"variable": "a"}, r"variable 'a' is in"),
        (5, {"variable": "c"}, r"factors 'de' and 'cd' share \['d'\], not 'c' alone"),
        (6, {"operands": ()}, "it names 0 factors instead of 1"),
    ],
)
def test_a_changed_move_is_refused_by_name(reduction, number, change, message):
    moves = list(reduction.certificate)
    made = {}
    for field, value in change.items():
        made[field] = tuple(map(value, getattr(moves[number], field))) if callable(value) else value
    moves[number] = replace(moves[number], **made)
    with pytest.raises(CertificateError, match=rf"^move {number + 1} of {len(moves)}, .*: {message}"):
        forged(reduction, moves)


def test_the_parts_of_a_split_must_have_its_zeros_and_a_name_of_their_own(reduction):
    moves = list(reduction.certificate)
    (first, second) = moves[2].results
    moves[2] = replace(moves[2], results=(first, second._replace(name="ab")))
    with pytest.raises(CertificateError, match=r"^move 3 of .* its parts cannot be called 'ghi' and 'ab'$"):
        forged(reduction, moves)


def test_an_inserted_nested_merge_is_refused():
    graph = FactorGraph(
        {"x": 2, "y": 2, "z": 2},
        {"f": (["x", "y", "z"], np.ones((2, 2, 2))), "g": (["x", "y"], [[1.0, 2], [3, 4]]), "h": (["z"], [1.0, 2])},
    )
    merged = FactorGraph(
        graph.card, {"f": (["x", "y", "z"], np.repeat([[[1.0], [2]], [[3], [4]]], 2, axis=2)), "h": (["z"], [1, 2])}
    )
    operands = (Operand("f", ("x", "y", "z")), Operand("g", ("x", "y")))
    for kind, variable in (("cluster", "x"), ("unary", "x")):
        moves = (Move(kind, variable, operands),)
        certificate = Certificate(moves, (), GraphSummary.of(graph), GraphSummary.of(merged))
        with pytest.raises(CertificateError, match=rf"^move 1 of 1, {kind}\(x, f, g\): factor"):
            verify_certificate(graph, certificate, merged)


def test_a_series_move_between_factors_that_share_another_variable_is_refused():
    graph = FactorGraph({"x": 2, "y": 2}, {"f": (["x", "y"], [[1, 2], [3, 4]]), "g": (["x", "y"], [[4, 2], [1, 1]])})
    tables = [factor.table for factor in graph.factors.values()]
    summed = FactorGraph({"y": 2}, {"f": (["y"], (tables[0] * tables[1]).sum(axis=0))})
    operands = tuple(Operand(name, ("x", "y"), table) for name, table in zip("fg", tables, strict=True))
    certificate = Certificate((Move("series", "x", operands),), (), GraphSummary.of(graph), GraphSummary.of(summed))
    with pytest.raises(
        CertificateError, match=r"series\(x, f, g\): factors 'f' and 'g' share \['x', 'y'\], not 'x' alone$"
    ):
        verify_certificate(graph, certificate, summed)


@pytest.mark.parametrize(
    ("factors", "move", "message"),
    [
        (
            {"f": (["x"], [1, 2])},
            Move("leaf", "x", (Operand("f", ("x",), np.array([1.0, 2])),)),
            "factor 'f' is about nothing else",
        ),
        (
            {"f": (["x"], [1, 2]), "g": (["x"], [1, 2])},
            Move("series", "x", tuple(Operand(name, ("x",), np.array([1.0, 2])) for name in "fg")),
            "its factors are about nothing else",
        ),
        (
            {"f": (["x"], [1, 0]), "g": (["x"], [0, 2])},
            Move("unary", "x", (Operand("f", ("x",)), Operand("g", ("x",)))),
            "nothing is left of the factor",
        ),
        (
            {"f": (["x", "y"], [[0, 1], [0, 0]]), "g": (["x"], [0, 2])},
            Move("support", "x", (Operand("f", ("x", "y")), Operand("g", ("x",))), values=(1,), card=2),
            "nothing is left of factor 'f'",
        ),
    ],
)
def test_moves_that_leave_nothing_are_refused(factors, move, message):
    graph = FactorGraph({"x": 2, "y": 2}, factors)
    certificate = Certificate((move,), (), GraphSummary.of(graph), GraphSummary.of(graph))
    with pytest.raises(CertificateError, match=rf"^move 1 of 1, {move.kind}\(x, .*: {message}$"):
        verify_certificate(graph, certificate, graph)


def test_variables_cut_out_by_support_verify():
    graph = FactorGraph(
        {"x": 2, "y": 3, "z": 2},
        {"f": (["x", "y"], [[1, 2, 3], [4, 5, 6]]), "seen": (["x"], [0, 5]), "g": (["z", "y"], np.ones((2, 3)))},
        log_scale=0.5,
    )
    reduction = apply_moves(graph, [("support", "x")])
    verify_certificate(graph, reduction.certificate, reduction.graph)
    assert set(reduction.graph.card) == {"y", "z"}
    with pytest.raises(CertificateError, match=r"^the moves lead to log_scale 3.49573.*, not 2.109"):
        lost = changed(reduction.graph, log_scale=reduction.graph.log_scale - math.log(4))
        verify_certificate(graph, reduction.certificate, lost)


def changed(graph: FactorGraph, **change: object) -> FactorGraph:
    parts = {"card": graph.card, "factors": graph.factors, "log_scale": graph.log_scale, **change}
    return FactorGraph.trusted(**parts)


def test_another_graph_after_the_moves_is_refused(reduction):
    moves, graph = list(reduction.certificate), reduction.graph
    scope, table = graph.factors["ga"]
    with pytest.raises(CertificateError, match=r"^the moves lead to another table of factor 'ga'$"):
        forged(reduction, moves, changed(graph, factors={**graph.factors, "ga": Factor(scope, table * (1 + 1e-11))}))
    others = {f: factor for f, factor in graph.factors.items() if f != "ga"}
    with pytest.raises(CertificateError, match=r"^the moves do not lead to the factors of .* one side has ag, ga$"):
        forged(reduction, moves, changed(graph, factors={**others, "ag": Factor(scope, table)}))
    with pytest.raises(CertificateError, match=r"^the moves lead to another scope of factor 'ga': \('g', 'a'\)$"):
        forged(reduction, moves, changed(graph, factors={**others, "ga": Factor(("g", "h"), table)}))
    with pytest.raises(CertificateError, match=r"^the moves do not lead to the variables of .* has \('new', 2\)$"):
        forged(reduction, moves, changed(graph, card={**graph.card, "new": 2}))
    with pytest.raises(CertificateError, match=r"^the moves lead to log_scale .*, not "):
        forged(reduction, moves, changed(graph, log_scale=graph.log_scale + 1e-9))
    forged(reduction, moves, changed(graph, factors={**others, "ga": Factor(scope, table * (1 + 1e-14))}))


def test_graphs_other_than_those_named_are_refused(reduction):
    scope, table = reduction.original.factors["ab"]
    other = changed(reduction.original, factors={**reduction.original.factors, "ab": Factor(scope, table * 2)})
    with pytest.raises(
        CertificateError,
        match=r"^the graph before the moves is not the one that the certificate names: it has the same sizes, but "
        r"other names or table entries$",
    ):
        verify_certificate(other, reduction.certificate, reduction.graph)
    with pytest.raises(
        CertificateError,
        match=r"^the graph after the moves is not the one that the certificate names: it has 9 variables instead of 7, "
        r"12 factors instead of 10, \d+ species instead of \d+, \d+ reactions instead of \d+$",
    ):
        verify_certificate(reduction.original, reduction.certificate, reduction.original)
    strange = replace(reduction.certificate, keep=("nobody",))
    with pytest.raises(CertificateError, match=r"^the certificate keeps 'nobody', which is no variable of the graph$"):
        verify_certificate(reduction.original, strange, reduction.graph)


def test_names_of_values_are_those_of_the_values_that_are_left(reduction):
    states = {"j": ("low", "middle", "high"), "c": ("yes", "no"), "e": ("gone", "too")}
    named = changed(reduction.original, states=states)
    for after in ({"j": ("low", "high"), "c": ("yes", "no"), "a": ("only", "here")}, {}):
        verify_certificate(named, reduction.certificate, changed(reduction.graph, states=after))
    for v, names, right in (("c", ("no", "yes"), "yes, no"), ("j", ("low", "middle"), "low, high")):
        message = rf"^the moves lead to the values {right} of variable '{v}', not {', '.join(names)}$"
        with pytest.raises(CertificateError, match=message):
            verify_certificate(named, reduction.certificate, changed(reduction.graph, states={v: names}))


def test_a_certificate_that_keeps_less_than_is_asked_for_is_refused(reduction):
    verify_certificate(reduction.original, reduction.certificate, reduction.graph, keep=["c"])
    less = replace(reduction.certificate, keep=())
    verify_certificate(reduction.original, less, reduction.graph)
    with pytest.raises(CertificateError, match=r"^the certificate does not keep 'c'; it keeps nothing$"):
        verify_certificate(reduction.original, less, reduction.graph, keep=["c"])
    with pytest.raises(CertificateError, match=r"^the certificate does not keep 'a'; it keeps c$"):
        verify_certificate(reduction.original, reduction.certificate, reduction.graph, keep=["c", "a"])
    with pytest.raises(InvalidInput, match="there is no variable 'zz'"):
        verify_certificate(reduction.original, reduction.certificate, reduction.graph, keep=["zz"])


def test_the_hash_is_of_what_a_network_knows(reduction):
    graph = reduction.original
    turned = FactorGraph(
        dict(reversed(graph.card.items())),
        {f: (s[::-1], t.transpose()) for f, (s, t) in reversed(graph.factors.items())},
        log_scale=3.0,
        states={"a": ("yes", "no")},
    )
    assert graph_hash(turned) == graph_hash(graph)
    one_bit = {**graph.factors, "u": Factor(("d",), np.nextafter(graph.factors["u"].table, 9))}
    assert graph_hash(changed(graph, factors=one_bit)) != graph_hash(graph)
    assert graph_hash(changed(graph, card={**graph.card, "z": 2})) != graph_hash(graph)


def test_a_long_chain_verifies_to_twelve_digits():
    rng = np.random.default_rng(0)
    n = 3_000
    factors = {f"f{i}": ((f"x{i}", f"x{i + 1}"), rng.uniform(0.1, 1, (2, 2))) for i in range(n)}
    chain = FactorGraph({f"x{i}": 2 for i in range(n + 1)}, factors)
    for keep in ([], ["x0", f"x{n}"]):
        reduction = reduce(chain, keep)
        verify_certificate(chain, reduction.certificate, reduction.graph)


def test_json_holds_the_header_and_one_line_a_move(reduction):
    text = certificate_to_json(reduction.certificate)
    whole = json.loads(text)
    assert (whole["format"], whole["version"], whole["keep"]) == ("scisuite-crn-certificate", 1, ["c"])
    assert whole["before"] == vars(reduction.before)
    assert len([line for line in text.splitlines() if '"kind"' in line]) == len(reduction.certificate)
    again = certificate_from_json(text)
    verify_certificate(reduction.original, again, reduction.graph)
    assert certificate_to_json(again) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(format="zip"), r'^this is no certificate: it does not say "format": "scisuite-crn-certif'),
        (lambda c: c.pop("keep"), r"^the certificate: 'keep' is missing$"),
        (lambda c: c.update(keep=[1]), r"^the certificate: 'keep' holds something else than texts$"),
        (lambda c: c.update(keep="c"), r"^the certificate: 'keep' must be a list, not 'c'$"),
        (lambda c: c["before"].pop("sha256"), r"^before: 'sha256' is missing$"),
        (lambda c: c["after"].update(species=True), r"^after: 'species' must be a whole number, not True$"),
        (lambda c: c["moves"].insert(1, 3), r"^move 2 is no JSON object$"),
        (lambda c: c["moves"][2].pop("kind"), r"^move 3: 'kind' is missing$"),
        (lambda c: c["moves"][3].update(values=[0.5]), r"^move 4: 'values' holds something else than numbers$"),
        (
            lambda c: c["moves"][0]["operands"][0].update(table=[[1, 2], [3]]),
            r"^move 1: the table of factor 'de' is no table of numbers",
        ),
        (
            lambda c: c["moves"][0]["operands"][0].update(table=[1, 2]),
            r"^move 1: the table of factor 'de' must have an axis for each of its 2 variables, and finite entries, non",
        ),
        (
            lambda c: c["moves"][0]["operands"][0].update(table=[[1, -2]]),
            r"^move 1: the table of factor 'de' must have",
        ),
    ],
)
def test_damaged_json_is_refused(reduction, change, message):
    whole = json.loads(certificate_to_json(reduction.certificate))
    change(whole)
    with pytest.raises(CertificateError, match=message):
        certificate_from_json(json.dumps(whole))


def test_what_is_no_json_or_newer_is_refused(reduction):
    text = certificate_to_json(reduction.certificate)
    with pytest.raises(CertificateError, match=r"^the certificate is no JSON: "):
        certificate_from_json(text[:-5])
    with pytest.raises(CertificateError, match="^this is no certificate"):
        certificate_from_json("[]")
    with pytest.raises(NewerFormat, match=r"^the certificate has version 2; this scisuite reads up to 1$"):
        certificate_from_json(text.replace('"version": 1', '"version": 2'))
    assert issubclass(CertificateError, InvalidInput)


def test_a_certificate_nested_without_end_is_damaged():
    with pytest.raises(
        CertificateError, match="the certificate is damaged: its lists or objects are nested too deeply"
    ):
        certificate_from_json("[" * 100_000)
