import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.bench.cli.settings import read_settings
from scisuite.core import InvalidInput
from scisuite.core.files import canonical_json

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(json_values)
def test_any_json_value_comes_back(value):
    assert read_settings([f"key={canonical_json(value)}"], "-k") == {"key": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("photo_pce10", "photo_pce10"),
        ("", ""),
        (".8", 0.8),
        ("200_000", 200_000),
        ("1e-3", 1e-3),
        ("true", True),
        ("True", "True"),
        ("a=b", "a=b"),
        ("degC", "degC"),
    ],
)
def test_what_is_not_json_is_a_number_or_a_string(text, value):
    read = read_settings([f"key={text}"], "-k")["key"]
    assert read == value
    assert type(read) is type(value)


def test_a_dot_goes_one_level_deeper():
    pairs = ["oracle_config.corr=.8", "oracle_config.noise=0", "budget=60"]
    assert read_settings(pairs, "-k") == {"oracle_config": {"corr": 0.8, "noise": 0}, "budget": 60}


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (["budget"], "-k takes key=value, not 'budget'"),
        (["=3"], "-k takes key=value"),
        (["a..b=3"], "-k takes key=value"),
        (["a=1", "a=2"], "-k a is given twice"),
        (["a=1", "a.b=2"], "already has a value"),
        (["a.b=1", "a=2"], "given twice"),
        (["a=NaN"], "must be finite, not NaN"),
        (["a=-inf"], "must be finite, not -inf"),
        (["a=1e999"], "must be finite, not 1e999"),
        (['a={"b": .8}'], "is not JSON"),
    ],
)
def test_bad_pairs(pairs, message):
    with pytest.raises(InvalidInput, match=message):
        read_settings(pairs, "-k")
