"""UAI networks and evidence: there and back to the last bit, pyAgrum's reading of ours, and files that are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import (
    FactorGraph,
    bundled_network,
    parents,
    random_loopy,
    read_uai,
    read_uai_evidence,
    write_uai,
)

TEXT = """MARKOV
3
2 2 3
2
2 0 1
2 2 1

4
 .1 .2
 .3 1e-5
6
 0 1 2 3 4 5
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="net.uai"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def renamed(graph):
    variable = {v: f"x{i}" for i, v in enumerate(graph.card)}
    factors = {f"f{i}": ([variable[v] for v in f.variables], f.table) for i, f in enumerate(graph.factors.values())}
    return FactorGraph({variable[v]: k for v, k in graph.card.items()}, factors)


def test_what_a_network_becomes(written):
    graph = FactorGraph.from_uai(written(TEXT))
    assert dict(graph.card) == {"x0": 2, "x1": 2, "x2": 3}
    assert graph.factors["f0"].variables == ("x0", "x1")
    assert graph.factors["f0"].table.tolist() == [[0.1, 0.2], [0.3, 1e-5]]
    assert graph.factors["f1"].variables == ("x2", "x1")
    assert graph.factors["f1"].table.tolist() == [[0, 1], [2, 3], [4, 5]]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_there_and_back(tmp_path_factory, same_graph, seed):
    path = tmp_path_factory.mktemp("uai") / "net.uai"
    graph = random_loopy(np.random.default_rng(seed), n=6)
    graph.to_uai(path)
    assert same_graph(read_uai(path), renamed(graph))


@pytest.mark.parametrize("name", ["asia", "insurance"])
def test_there_and_back_as_a_bayesian_network(tmp_path, same_graph, name):
    graph = bundled_network(name)
    write_uai(graph, tmp_path / "net.uai", header="BAYES")
    assert same_graph(read_uai(tmp_path / "net.uai"), renamed(graph))
    number = {v: str(i) for i, v in enumerate(graph.card)}
    scopes = (tmp_path / "net.uai").read_text().splitlines()[4 : 4 + len(graph.factors)]
    for line, factor in zip(scopes, graph.factors.values(), strict=True):
        child, *above = factor.variables
        assert line.split() == [str(len(factor.variables)), *(number[v] for v in (*above, child))]


def test_pyagrum_reads_what_is_written(tmp_path):
    """As far as its single precision goes, and its order of axes: beyond one parent it is not the format's."""
    pyagrum = pytest.importorskip("pyagrum")
    write_uai(bundled_network("insurance"), tmp_path / "net.uai", header="BAYES")
    theirs = pyagrum.loadBN(str(tmp_path / "net.uai"))
    compared = 0
    for factor in renamed(bundled_network("insurance")).factors.values():
        table = theirs.cpt(factor.variables[0].removeprefix("x"))
        assert set(table.names) == {v.removeprefix("x") for v in factor.variables}
        if len(factor.variables) == 2:
            axes = [table.names[::-1].index(v.removeprefix("x")) for v in factor.variables]
            assert np.allclose(table.toarray().transpose(axes), factor.table, rtol=1e-6, atol=0)
            compared += 1
    assert compared == 3


def test_the_last_variable_changes_fastest(written):
    """The example of the format's own description: a chain of three variables, each row of which adds up to one."""
    tables = "2 .436 .564  4 .128 .872 .920 .080  6 .210 .333 .457 .811 .000 .189"
    chain = f"3  2 2 3  3  1 0  2 0 1  2 1 2  {tables}"
    markov, bayes = (read_uai(written(f"{header} {chain}")) for header in ("MARKOV", "BAYES"))
    assert markov.factors["f2"].variables == ("x1", "x2")
    assert markov.factors["f2"].table.tolist() == [[0.21, 0.333, 0.457], [0.811, 0, 0.189]]
    assert bayes.factors["f2"].variables == ("x2", "x1")
    assert np.array_equal(bayes.factors["f2"].table, markov.factors["f2"].table.T)
    assert parents(bayes) == {"x0": (), "x1": ("x0",), "x2": ("x1",)}


def test_a_constant_goes_with_the_first_table(tmp_path):
    asia = bundled_network("asia").condition({"tub": 0, "asia": 1})
    assert asia.log_scale < -2
    write_uai(asia, tmp_path / "net.uai")
    first, read = next(iter(asia.factors.values())).table, read_uai(tmp_path / "net.uai")
    assert read.factors["f0"].table == pytest.approx(first * math.exp(asia.log_scale), rel=1e-15)
    beyond = FactorGraph({"a": 2}, {"f": (["a"], [1, 2])}, log_scale=-800)
    with pytest.raises(InvalidInput, match="factor 'f' cannot take log_scale -800: it would overflow or vanish"):
        write_uai(beyond, tmp_path / "other.uai")
    with pytest.raises(InvalidInput, match="a graph without factors has no table"):
        write_uai(FactorGraph({"a": 2}, {}, log_scale=1.0), tmp_path / "other.uai")
    assert not (tmp_path / "other.uai").exists()


def test_a_factor_of_no_variables_is_a_constant(written):
    graph = read_uai(written("MARKOV 1 2 2 1 0 0 2 .5 .5 1 .25"))
    assert (len(graph.factors), graph.log_scale) == (1, pytest.approx(math.log(0.25)))


def test_a_file_that_is_there_stays(written):
    path = written("mine")
    graph = random_loopy(np.random.default_rng(0))
    for write in (write_uai, FactorGraph.to_uai):
        with pytest.raises(InvalidInput, match=r"net\.uai is there already; say that it may be overwritten"):
            write(graph, path)
    assert path.read_text() == "mine"
    graph.to_uai(path, overwrite=True)
    assert path.read_text().startswith("MARKOV\n10\n")


def test_only_a_bayesian_network_is_written_as_one(tmp_path):
    with pytest.raises(InvalidInput, match="this is no Bayesian network"):
        write_uai(random_loopy(np.random.default_rng(0)), tmp_path / "net.uai", header="BAYES")
    with pytest.raises(InvalidInput, match="header must be 'MARKOV' or 'BAYES', not 'markov'"):
        write_uai(random_loopy(np.random.default_rng(0)), tmp_path / "net.uai", header="markov")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file ends where 'MARKOV' or 'BAYES' should follow"),
        ("LIMID\n", "line 1: a UAI file begins with MARKOV or BAYES, not with 'LIMID'"),
        ("MARKOV\n\n-1", "line 3: the number of variables must be a whole number from 0 to 999999999, not '-1'"),
        ("MARKOV\n999999999", "line 2: the number of variables is 999999999, and the file ends before as many can"),
        ("MARKOV\n9999999999", "line 2: the number of variables must be a whole number from 0 to 999999999, not"),
        (
            TEXT.replace("2 2 3\n", "2 0 3\n"),
            "line 3: the number of values of variable 1 must be a whole number from 1 to",
        ),
        (TEXT.replace("2 0 1", "2 0 3"), "line 5: factor 0 names variable 3, and there are 3, from 0"),
        (TEXT.replace("2 0 1", "2 0 0"), "line 5: factor 0 names variable 0 twice"),
        (TEXT.replace("\n6", "\n5"), "line 11: the table of factor 1 has 5 entries, its variables ask for 6"),
        (TEXT.replace(".3", "x"), "line 10: an entry of factor 0 must be a number, not 'x'"),
        (TEXT.replace(".3", "1_0"), "line 10: an entry of factor 0 must be a number, not '1_0'"),
        (TEXT.replace(".3", "-.3"), "line 10: an entry of factor 0 must be finite and not negative, not -.3"),
        (TEXT.replace("4 5", "4 nan"), "line 12: an entry of factor 1 must be finite and not negative, not nan"),
        (TEXT.replace("0 1 2 3 4 5", "0 0 0 0 0 0"), "line 12: the table of factor 1 is zero everywhere"),
        (TEXT.replace("4 5", "4"), "line 12: the file ends where an entry of factor 1 should follow"),
        (TEXT + "7\n", "line 13: nothing should follow, and there is '7'"),
        (
            f"MARKOV 65 {'1 ' * 65} 1 65 {' '.join(map(str, range(65)))} 1 1",
            "line 1: factor 0 has 65 variables, and 64",
        ),
    ],
)
def test_what_is_no_network(written, text, message):
    path = written(text)
    with pytest.raises(InvalidInput) as caught:
        read_uai(path)
    assert str(caught.value).startswith(f"{path}, {message}")


@pytest.mark.parametrize("cut", range(1, len(TEXT.split())))
def test_a_file_cut_anywhere_is_refused(written, cut):
    with pytest.raises(InvalidInput, match=r"net\.uai, line 1: .*(ends|asks? for)"):
        read_uai(written(" ".join(TEXT.split()[:cut])))


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("0", {}),
        ("2 0 1 5 2", {"x0": 1, "x5": 2}),
        ("1\n2 0 1\n5 2\n", {"x0": 1, "x5": 2}),
        ("1 3 0", {"x3": 0}),
        ("1 0", {}),
    ],
)
def test_evidence(written, text, evidence):
    assert read_uai_evidence(written(text)) == evidence


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the file ends where the number of cases should follow"),
        ("2\n1 0 1 1 0 0 1", "line 1: only one case of evidence can be read"),
        ("2 0 1\n0 1", "line 2: variable 0 is observed twice"),
        ("1\n0 -1", "line 2: a value must be a whole number from 0 to 999999999, not '-1'"),
        ("1 0 1 4 4", "line 1: nothing should follow, and there is '4'"),
        ("3 0 1", "line 1: the number of observed variables is 3, and the file ends before as many can follow"),
    ],
)
def test_what_is_no_evidence(written, text, message):
    path = written(text, "net.evid")
    with pytest.raises(InvalidInput) as caught:
        read_uai_evidence(path)
    assert str(caught.value).startswith(f"{path}, {message}")
