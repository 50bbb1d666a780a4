"""Reading BIF: what a network becomes, and every way in which a file can be none."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph, bundled_network, read_bif
from scisuite.scenarios.factor_graphs.bundled import bundled_file

TEXT = """network weather { property author nobody; }
// rain wets the grass
variable Rain {
  type discrete [ 2 ] { no, yes };
}
variable Grass { /* in
  two lines */ property x = "}";
  type discrete [ 3 ] { dry, "very damp" wet };
}
probability ( Rain ) {
  table 0.8, 0.2;
}
probability ( Grass | Rain ) {
  (no) 0.7, 0.2, 0.1;
  (yes) 1e-1, 0.123456789012345678, .776543210987654322;
}
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="net.bif"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return write


def test_what_a_network_becomes(written, same_graph):
    graph = read_bif(written(TEXT))
    assert dict(graph.card) == {"Rain": 2, "Grass": 3}
    assert dict(graph.states) == {"Rain": ("no", "yes"), "Grass": ("dry", "very damp", "wet")}
    assert {name: f.variables for name, f in graph.factors.items()} == {
        "p_Rain": ("Rain",),
        "p_Grass": ("Grass", "Rain"),
    }
    table = graph.factors["p_Grass"].table
    assert table.T.tolist() == [[0.7, 0.2, 0.1], [0.1, 0.123456789012345678, 0.776543210987654322]]
    zipped = written(gzip.compress(TEXT.encode()), "net.bif.gz")
    assert same_graph(FactorGraph.from_bif(zipped), graph)
    assert same_graph(read_bif(str(written("\ufeff" + TEXT.replace("\n", "\r\n")))), graph)


@pytest.mark.parametrize(
    "rows",
    [
        "table 0.7, .1, .2, 0.123456789012345678, 0.1, 0.776543210987654322;",
        "(yes) 0.1 0.123456789012345678 0.776543210987654322; (no) .7 .2 .1;",
        "default .7 .2 .1; ( yes ) 1e-1, 0.123456789012345678, 0.776543210987654322;",
    ],
)
def test_a_table_in_other_words(written, same_graph, rows):
    begin, end = TEXT.index("(no)"), TEXT.index("}\n", TEXT.index("(no)"))
    assert same_graph(read_bif(written(TEXT[:begin] + rows + TEXT[end:])), read_bif(written(TEXT)))


def test_the_order_of_axes_is_that_of_the_file():
    cancer = bundled_network("cancer")
    factor = cancer.factors["p_Cancer"]
    assert factor.variables == ("Cancer", "Pollution", "Smoker")
    place = cancer.value_index
    at = (place("Cancer", "True"), place("Pollution", "high"), place("Smoker", "True"))
    assert factor.table[at] == 0.05
    assert factor.table[at[0], place("Pollution", "low"), at[2]] == 0.03


@pytest.mark.parametrize("name", ["asia", "sachs", "insurance", "hailfinder", "win95pts"])
def test_the_same_tables_as_pyagrum(name, tmp_path):
    """As far as its single precision goes."""
    pyagrum = pytest.importorskip("pyagrum")
    (tmp_path / "net.bif").write_bytes(gzip.decompress(bundled_file(name).read_bytes()))
    theirs, ours = pyagrum.loadBN(str(tmp_path / "net.bif")), bundled_network(name)
    assert set(theirs.names()) == set(ours.card)
    for v in ours.card:
        assert theirs.variable(v).labels() == ours.states[v]
        table, factor = theirs.cpt(v), ours.factors[f"p_{v}"]
        axes = [table.names[::-1].index(u) for u in factor.variables]
        assert np.allclose(table.toarray().transpose(axes), factor.table, rtol=1e-6, atol=0)


def changed(old, new):
    assert TEXT.count(old) == 1
    return TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ", line 1: a BIF file begins with 'network', not with 'its end'"),
        ("<xml>", ", line 1: a BIF file begins with 'network', not with '<xml>'"),
        ("network x {}", " declares no variables"),
        ("network x {", ", line 1: the file ends too early"),
        (b"network \xff", " is not text: byte 8 is no UTF-8"),
        (b"network \0", " is not text: byte 8 is zero"),
        (gzip.compress(TEXT.encode())[:-9], " is a damaged gzip file: "),
        (TEXT[: TEXT.index("damp")], ", line 8: a quotation mark is not closed"),
        (TEXT[: TEXT.index("wet }")], ", line 8: expected a value, found 'the end of the file'"),
        (TEXT[: TEXT.index("1e-1")], ", line 15: a row must read (values) numbers;"),
        (changed("variable Rain", "varable Rain"), ", line 3: expected 'variable' or 'probability', found 'varable'"),
        (changed("[ 2 ]", "[ 2"), ", line 4: expected ']', found '{'"),
        (changed("[ 2 ]", "[ two ]"), ", line 4: the number of values must be a whole number above zero, not 'two'"),
        (changed("[ 2 ]", f"[ {'9' * 5000} ]"), ", line 4: the number of values must be a whole number above zero"),
        (changed("[ 2 ]", "[ 3 ]"), ", line 4: the variable 'Rain' should have 3 values and lists 2"),
        (changed("no, yes }", "no, no }"), ", line 4: the variable 'Rain' has the value 'no' twice"),
        (changed("discrete [ 2 ] { no, yes }", "continuous"), ", line 4: the variable 'Rain' is continuous; only"),
        (changed("type discrete [ 2 ] { no, yes };", ""), ", line 5: the variable 'Rain' has no type"),
        (changed("variable Grass", "variable Rain"), ", line 6: the variable 'Rain' is declared twice"),
        (changed("Grass | Rain", "Grass | Train"), ", line 13: there is no variable 'Train'; did you mean 'Rain'?"),
        (changed("Grass | Rain", "Grass | Rain, Rain"), ", line 13: the variable 'Rain' stands twice in a probability"),
        (changed("( Rain )", "( )"), ", line 10: a probability of no variable"),
        (changed("( Rain )", "( Grass )"), ", line 11: 2 numbers where there must be 3"),
        (changed("0.8, 0.2;", "0.8, 0.2"), ", line 11: numbers must end with ';'"),
        (changed("0.8, 0.2", "0.8, x"), ", line 11: expected a number, found 'x'"),
        (changed("0.8, 0.2", "0.8, 0_2"), ", line 11: expected a number, found '0_2'"),
        (changed("0.8, 0.2", "1.2, -0.2"), ", line 11: a probability must be finite and not negative, not -0.2"),
        (changed("0.8, 0.2", "nan, 1"), ", line 11: a probability must be finite and not negative, not nan"),
        (changed("0.8, 0.2", "1e999, 1"), ", line 11: a probability must be finite and not negative, not 1e999"),
        (changed("0.8, 0.2", "0.8, 0.3"), ", line 11: a row adds up to 1.1, not to 1"),
        (changed("0.8, 0.2", "0, 0"), ", line 11: a row adds up to 0, not to 1"),
        (changed("(no)", "(yes)"), ", line 15: a second row of 'Grass' for Rain=yes"),
        (changed("(no)", "(maybe)"), ", line 14: Rain has no value 'maybe'; it has no, yes"),
        (changed("(no)", "(no, no)"), ", line 14: a row names 2 values for 1 parents"),
        (changed("(no)", "no)"), ", line 14: unexpected 'no'"),
        (changed("  (no) 0.7, 0.2, 0.1;\n", ""), ", line 13: the table of 'Grass' has no row for Rain=no"),
        (changed("table 0.8, 0.2;", ""), ", line 10: the table of 'Rain' has no row"),
        (TEXT[: TEXT.index("probability ( Grass")], " has no probability table for the variable 'Grass'"),
        (TEXT + TEXT[TEXT.index("probability ( R") :], ", line 17: a second probability table for the variable 'Rain'"),
    ],
)
def test_what_is_no_network(written, text, message):
    path = written(text)
    with pytest.raises(InvalidInput) as caught:
        read_bif(path)
    assert str(caught.value).startswith(f"{path}{message}")


ROW, OTHER_ROW = "(yes) 0.7, 0.2, 0.1;", "(no) 0.1, 0.2, 0.7;"
JOINT, DEFAULT = "table .7 .1 .2 .2 .1 .7;", "default 0.1, 0.2, 0.7;"


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ([JOINT, ROW], 15),
        ([JOINT, JOINT], 15),
        ([JOINT, DEFAULT], 15),
        ([ROW, OTHER_ROW, JOINT], 16),
        ([DEFAULT, JOINT], 15),
        ([ROW, DEFAULT, DEFAULT], 16),
    ],
)
def test_probabilities_given_twice(written, rows, line):
    begin = TEXT.index("{", TEXT.index("probability ( Grass")) + 1
    text = TEXT[:begin] + "\n" + "\n".join(rows) + "\n" + TEXT[TEXT.index("}", begin) :]
    with pytest.raises(InvalidInput, match=rf", line {line}: the probabilities of 'Grass' are given a second time$"):
        read_bif(written(text))


@pytest.mark.parametrize("second", ["table 0.5, 0.5;", "default 0.5, 0.5;", "() 0.5, 0.5;"])
def test_probabilities_of_a_root_given_twice(written, second):
    with pytest.raises(InvalidInput, match=r", line 12: the probabilities of 'Rain' are given a second time$"):
        read_bif(written(changed("table 0.8, 0.2;", f"table 0.8, 0.2;\n{second}")))


def test_joint_tables_that_do_not_add_up(written):
    begin, end = TEXT.index("(no)"), TEXT.index("}\n", TEXT.index("(no)"))
    with pytest.raises(InvalidInput, match=r"line 14: a column of the table adds up to 1.1, not to 1"):
        read_bif(written(TEXT[:begin] + "table .7 .1 .2 .1 .1 .9;" + TEXT[end:]))


def test_parents_in_a_circle(written):
    text = changed("probability ( Rain ) {\n  table 0.8, 0.2;", "probability ( Rain | Grass ) {\n  default 0.8, 0.2;")
    with pytest.raises(InvalidInput, match=r"net\.bif: this is no Bayesian network: parents go round in a circle, "):
        read_bif(written(text))


def test_a_short_file_cannot_ask_for_a_huge_table(written):
    names = [f"v{i}" for i in range(40)]
    text = "network x {}" + "".join(f"variable {v} {{ type discrete [2] {{a b}}; }}" for v in names)
    text += f"\nprobability ( v0 | {', '.join(names[1:])} ) {{ default .5 .5; }}"
    with pytest.raises(InvalidInput, match=r"line 2: the table of 'v0', with 39 parents, is too large"):
        read_bif(written(text))


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidInput, match=r"no such file: .*nothing\.bif"):
        read_bif(tmp_path / "nothing.bif")
    with pytest.raises(InvalidInput, match=f"cannot read {tmp_path}: Is a directory"):
        read_bif(tmp_path)
