"""A user's own table: what is read, how gaps and mistakes are named."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import Categorical, Continuous, Integer, InvalidInput
from scisuite.scenarios import check_scenario, from_arrays, from_csv

COLUMNS = "temperature,solvent,loading,yield\n"
ROWS = "20,DMF,0.5,12\n60,MeCN,1.0,55\n120,THF,5.0,31\n90,DMF,2.0,71.5\n"
INPUTS = ["temperature", "solvent", "loading"]


@pytest.fixture
def csv_file(tmp_path):
    def write(content, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


def test_a_table_with_a_categorical_column(csv_file):
    made = from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield", units={"temperature": "degC", "yield": "%"})
    made.id = "tests/own"
    check_scenario(made)
    assert [type(d) for d in made.space.dimensions] == [Continuous, Categorical, Continuous]
    assert made.space.decode(made.pool)[3] == {"temperature": 90.0, "solvent": "DMF", "loading": 2.0}
    assert made.pool_values.tolist() == [12, 55, 31, 71.5]
    assert made.optimum == 71.5
    assert made.unit == "%"
    assert made.space.units["temperature"] == "degC"
    assert made.value_name == "yield"
    assert made.describe().source == "data.csv"
    assert made.describe().licence == "unstated"


def test_the_default_range_is_wider_than_the_column(csv_file):
    made = from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield")
    assert made.value_range == pytest.approx((12 - 5.95, 71.5 + 5.95))
    assert from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield", value_range=(0, 100)).value_range == (0.0, 100.0)


def test_minimise_and_summary(csv_file):
    made = from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield", maximise=False)
    assert made.optimum == 12
    assert made.describe().summary == "Minimise yield over temperature, solvent, loading."
    assert from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield", summary="Say it.").context()["task"] == "Say it."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_encodings_and_delimiters(csv_file, encoding, mark):
    made = from_csv(csv_file((COLUMNS + ROWS).replace(",", mark), encoding=encoding), INPUTS, "yield")
    assert made.pool_values.tolist() == [12, 55, 31, 71.5]


def test_decimal_commas_in_a_file_with_semicolons(csv_file):
    content = "a;b;y\n0,5;x;1,25\n1,5;z;2,5e1\n2;x;-3,5\n"
    made = from_csv(csv_file(content), ["a", "b"], "y")
    assert made.pool_values.tolist() == [1.25, 25.0, -3.5]
    assert made.space.dimensions[0] == Continuous("a", 0.5, 2.0)


def test_quotes_blank_lines_spaces_and_crlf(csv_file):
    content = '"a" , y\r\n\r\n"1", 5\r\n 2 ,6\r\n,\r\n3,9\r\n'
    made = from_csv(csv_file(content), ["a"], "y")
    assert made.pool_values.tolist() == [5, 6, 9]


def test_a_delimiter_can_be_said(csv_file):
    made = from_csv(csv_file("a:y\n1:2\n2:3\n3:5\n"), ["a"], "y", delimiter=":")
    assert made.optimum == 5


def test_duplicates_are_averaged_with_a_warning_that_says_how_many(csv_file):
    path = csv_file(COLUMNS + ROWS + "20,DMF,0.5,14\n20,DMF,0.5,16\n")
    with pytest.warns(
        UserWarning, match="^2 of 6 rows repeat the inputs of an earlier one: averaged to 4 rows$"
    ) as caught:
        made = from_csv(path, INPUTS, "yield")
    assert caught[0].filename == __file__
    assert made.pool_values.tolist() == [14, 55, 31, 71.5]


def test_duplicates_can_be_refused(csv_file):
    path = csv_file(COLUMNS + ROWS + "20,DMF,0.5,14\n")
    with pytest.raises(InvalidInput, match="1 of 5 rows repeat the inputs of an earlier one; remove them or pass"):
        from_csv(path, INPUTS, "yield", duplicates="error")


def test_no_warning_without_duplicates(csv_file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield")


def test_bounds_make_counts_levels_and_units(csv_file):
    content = "cycles,base,t,y\n1,1,30,3\n2,2,40,5\n4,1,50,9\n"
    bounds = {"cycles": Integer("cycles", 1, 9), "base": ["1", "2", "3"], "t": (0, 100, "degC")}
    made = from_csv(csv_file(content), ["cycles", "base", "t"], "y", bounds=bounds, units={"cycles": "runs"})
    assert made.space.dimensions == (
        Integer("cycles", 1, 9, "runs"),
        Categorical("base", ("1", "2", "3")),
        Continuous("t", 0.0, 100.0, "degC"),
    )
    assert made.space.decode(made.pool)[1] == {"cycles": 2, "base": "2", "t": pytest.approx(40)}


def test_numbers_that_are_labels(csv_file):
    content = "ligand,t,y\n1,30,3\n2,40,5\n7,50,9\n"
    made = from_csv(csv_file(content), ["ligand", "t"], "y", categorical=["ligand"])
    assert made.space.dimensions[0] == Categorical("ligand", ("1", "2", "7"))


def test_a_mixture_is_renormalised(csv_file):
    content = "a,b,y\n0.333,0.666,1\n0.5,0.5,2\n1,0,4\n"
    made = from_csv(csv_file(content), ["a", "b"], "y", simplex=True)
    made.id = "tests/mixture"
    check_scenario(made)
    assert made.pool[0].tolist() == pytest.approx([1 / 3, 2 / 3])
    with pytest.raises(InvalidInput, match=r"data.csv, row 1 \(line 2\): the inputs sum to 0.7, not to 1"):
        from_csv(csv_file("a,b,y\n0.3,0.4,1\n0.5,0.5,2\n"), ["a", "b"], "y", simplex=True)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("60,MeCN,1.0,", "data.csv, row 2 (line 3), column 'yield': missing value; fill it in or remove the row"),
        ("60,MeCN,nan,1", "data.csv, row 2 (line 3), column 'loading': missing value; fill it in or remove the row"),
        ("60,,1.0,5", "data.csv, row 2 (line 3), column 'solvent': missing value; fill it in or remove the row"),
        (
            "n/a,DMF,1.0,5",
            "data.csv, row 2 (line 3), column 'temperature': missing value; fill it in or remove the row",
        ),
        ("60,MeCN,1.0,high", "data.csv, row 2 (line 3), column 'yield': 'high' is not a number"),
        ("60,MeCN,1.0,inf", "data.csv, row 2 (line 3), column 'yield': 'inf' is not finite"),
        (
            "warm,MeCN,1.0,5",
            "data.csv, row 2 (line 3), column 'temperature': 'warm' is not a number; "
            "pass categorical=['temperature'] if the column holds labels",
        ),
        ("60,MeCN,1.0", "data.csv, row 2 (line 3) has 3 cells, the header 4"),
        ("60,MeCN,1,0,5", "data.csv, row 2 (line 3) has 5 cells, the header 4"),
    ],
)
def test_a_bad_cell_is_named_by_row_line_and_column(csv_file, row, message):
    path = csv_file(COLUMNS + "20,DMF,0.5,12\n" + row + "\n90,THF,2.0,71.5\n")
    with pytest.raises(InvalidInput) as caught:
        from_csv(path, INPUTS, "yield")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "inputs", "target", "message"),
    [
        ("", ["a"], "y", "data.csv is empty"),
        (" \n\n", ["a"], "y", "data.csv is empty"),
        ("a,y\n", ["a"], "y", "data.csv has a header and no rows"),
        ("a,y\n1,2\n", ["a"], "y", "a table needs at least two rows, not 1"),
        ("a,y\n1,2\n2,2\n", ["a"], "y", "'y' is 2 in every row: there is nothing to optimise"),
        ("a,b,y\n1,4,2\n2,4,3\n", ["a", "b"], "y", "column 'b' is 4 in every row; leave it out of inputs, or give its"),
        ("a,b,y\n1,x,2\n2,x,3\n", ["a", "b"], "y", "column 'b' is 'x' in every row; leave it out of inputs"),
        ("a,a,y\n1,2,3\n", ["a"], "y", "data.csv has more than one column 'a'"),
        ("temp,y\n1,2\n2,3\n", ["tmep"], "y", "data.csv has no column 'tmep'; did you mean 'temp'?"),
        ("temp,yield\n1,2\n2,3\n", ["temp"], "yeild", "data.csv has no column 'yeild'; did you mean 'yield'?"),
        ("a,y\n1,2\n2,3\n", "a", "y", "inputs must be a list of column names, not 'a'"),
        ("a,y\n1,2\n2,3\n", [], "y", r"inputs must be a list of column names, not \[\]"),
        ("a,y\n1,2\n2,3\n", ["a", "a"], "y", r"inputs repeat a column: \['a', 'a'\]"),
        ("a,y\n1,2\n2,3\n", ["a", "y"], "y", "'y' is an input and cannot be the target as well"),
        (b"a,y\n1,\xff\xfe\n", ["a"], "y", r"data.csv is not UTF-8 text \(byte 6\); save it as CSV UTF-8"),
        (b"a,y\n1,\x00\n", ["a"], "y", "data.csv is not a text file"),
    ],
)
def test_a_bad_file(csv_file, content, inputs, target, message):
    with pytest.raises(InvalidInput, match=message):
        from_csv(csv_file(content), inputs, target)


def test_no_such_file_and_a_folder(tmp_path):
    with pytest.raises(InvalidInput, match="no such file: .*nowhere.csv"):
        from_csv(tmp_path / "nowhere.csv", ["a"], "y")
    with pytest.raises(InvalidInput, match="cannot read .*: Is a directory"):
        from_csv(tmp_path, ["a"], "y")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"units": {"temprature": "K"}}, "units names no column 'temprature'; did you mean 'temperature'"),
        ({"categorical": ["solvents"]}, "categorical names no column 'solvents'; did you mean 'solvent'"),
        ({"bounds": {"load": (0, 1)}}, "bounds names no column 'load'"),
        ({"bounds": {"loading": (0, 1)}}, r"data.csv, row 3 \(line 4\): loading = 5.0 is outside \[0, 1\]"),
        (
            {"bounds": {"loading": Integer("loading", 0, 9)}},
            r"row 1 \(line 2\): loading must be a whole number, not 0.5",
        ),
        (
            {"bounds": {"solvent": ["DMF", "THF"]}},
            r"row 2 \(line 3\): solvent must be one of \['DMF', 'THF'\], not 'MeCN'",
        ),
        ({"bounds": {"loading": Integer("load", 0, 9)}}, "loading: the dimension given for it is called 'load'"),
        ({"duplicates": "drop"}, 'duplicates must be "average" or "error", not \'drop\''),
        ({"value_range": (20, 100)}, r"yield = 12 is outside its declared range \[20, 100\]"),
        ({"delimiter": ",,"}, "delimiter must be one character, not ',,'"),
        ({"simplex": True}, "solvent: on a simplex every dimension is Continuous"),
    ],
)
def test_bad_arguments(csv_file, arguments, message):
    with pytest.raises(InvalidInput, match=message):
        from_csv(csv_file(COLUMNS + ROWS), INPUTS, "yield", **arguments)


def test_arrays():
    x = np.array([[0, 10], [1, 20], [2, 15]])
    made = from_arrays(x, [1, 5, 3], target="y")
    made.id = "tests/arrays"
    check_scenario(made)
    assert made.space.names == ("x1", "x2")
    assert made.optimum == 5
    assert made.space.to_units(made.pool).tolist() == x.tolist()


def test_columns_by_name_and_labels():
    columns = {"t": [1.0, 2.0, 3.0], "solvent": ["a", "b", "a"], "unused": [0, 0, 0]}
    made = from_arrays(columns, np.array([3, 1, 2]), names=["solvent", "t"], maximise=False)
    assert made.space.names == ("solvent", "t")
    assert made.optimum == 1


def test_a_data_frame():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": [1, 2, 3], "solvent": ["a", "b", "a"], "y": [3.0, 1.0, 2.0]})
    made = from_arrays(frame[["t", "solvent"]], frame["y"], target="y")
    assert made.space.decode(made.pool)[2] == {"t": 3.0, "solvent": "a"}


@pytest.mark.parametrize(
    ("x", "y", "names", "message"),
    [
        ([[1.0], [2.0]], [1.0], None, r"y must have shape \(2,\), one value a row of x, not \(1,\)"),
        ([[1.0], [2.0]], [[1.0], [2.0]], None, r"y must have shape \(2,\), one value a row of x, not \(2, 1\)"),
        ([[1.0], [2.0]], 3.0, None, r"y must have shape \(2,\), one value a row of x, not \(\)"),
        ([1.0, 2.0], [1.0, 2.0], None, r"x must have shape \(n, k\), not \(2,\)"),
        ([[1.0], [2.0, 3.0]], [1.0, 2.0], None, r"x must have shape \(n, k\), not \(2,\)"),
        ([[1.0], [2.0]], [1.0, 2.0], ["a", "b"], "names must be 1 different names, one a column of x"),
        ([[1.0], [np.nan]], [1.0, 2.0], None, "row 1, column 'x1': missing value; fill it in or remove the row"),
        ([[1.0], [2.0]], [1.0, None], None, "row 1, column 'value': missing value"),
        ([["a"], [None]], [1.0, 2.0], None, "row 1, column 'x1': missing value"),
        ([[1.0], [2.0]], [1.0, np.inf], None, "row 1, column 'value': inf is not finite"),
        ({"t": [1, 2], "u": [1]}, [1.0, 2.0], None, "columns of x differ in length"),
        ({"t": [1, 2]}, [1.0, 2.0], ["T"], "x names no column 'T'; did you mean 't'"),
        ({"value": [1, 2]}, [1.0, 2.0], None, "'value' is an input and cannot be the target as well"),
        ({}, [], None, "x has no rows"),
        (np.empty((0, 2)), [], None, "x has no rows"),
    ],
)
def test_bad_arrays(x, y, names, message):
    with pytest.raises(InvalidInput, match=message):
        from_arrays(x, y, names=names)


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.sampled_from(["a", "b", "c"]), st.floats(-1e3, 1e3)), min_size=4, max_size=20
    )
)
def test_any_table_survives_the_way_through_a_scenario(rows):
    x = [[number, label] for number, label, _ in rows]
    y = [value for _, _, value in rows]
    distinct = {tuple(row) for row in x}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = from_arrays(x, y)
    except InvalidInput as error:
        assert str(error)
        return
    assert len(made.pool) <= len(distinct)
    assert made.space.contains(made.pool).all()
    assert min(y) - 1e-9 <= made.pool_values.min()
    assert made.pool_values.max() <= max(y) + 1e-9
    assert made.optimum == made.evaluate(made.pool).max()
