"""Tables: lookup, refusals, copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import Categorical, Continuous, Integer, InvalidInput, Space
from scisuite.scenarios import check_scenario
from scisuite.scenarios.tabular import TabularScenario, average_replicates, distinct_rows

SQUARE = Space((Continuous("a", 0, 10, "s"), Continuous("b", 0, 1)))
POOL = np.array([[0.0, 0.0], [0.5, 0.25], [1.0, 1.0], [0.5, 0.75]])
VALUES = np.array([1.0, 4.0, 2.0, 3.0])


def table(pool=POOL, values=VALUES, space=SQUARE, value_range=(0.0, 10.0), **config):
    made = TabularScenario(space, pool, values, value_range=value_range, summary="a toy", source="a test", **config)
    made.id = "tests/toy"
    return made


def test_contract():
    check_scenario(table())
    check_scenario(table(maximise=False, unit="%", value_name="impurity"))


def test_values_optimum_and_median():
    toy = table()
    assert toy.evaluate(POOL[::-1]).tolist() == [3.0, 2.0, 4.0, 1.0]
    assert (toy.optimum, toy.median) == (4.0, 2.5)
    assert table(maximise=False).optimum == 1.0
    assert toy.regret(4.0) == 0
    assert toy.regret(2.5) == 1
    assert table(maximise=False).regret(2.5) == 1
    assert toy.describe().units == {"a": "s", "b": "", "value": ""}


def test_index_and_values_are_the_same_answers():
    toy = table()
    assert [toy.evaluate_index(i) for i in range(4)] == toy.pool_values.tolist() == toy.evaluate(toy.pool).tolist()
    assert toy.indices(POOL[[2, 0, 2]]).tolist() == [2, 0, 2]


@pytest.mark.parametrize("index", [-1, 4])
def test_index_outside_the_pool(index):
    with pytest.raises(InvalidInput, match=f"the pool has rows 0 to 3, not {index}"):
        table().evaluate_index(index)


def test_arrays_are_read_only_and_not_the_callers():
    pool, values = POOL.copy(), VALUES.copy()
    toy = table(pool, values)
    pool[0] = values[0] = 0.9
    assert toy.evaluate(POOL).tolist() == VALUES.tolist()
    for array in (toy.pool, toy.pool_values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_answer_alike_and_stay_read_only(twin):
    toy = twin(table())
    assert toy.evaluate(POOL + 1e-12).tolist() == VALUES.tolist()
    assert toy.id == "tests/toy"
    assert not toy.pool.flags.writeable
    assert not toy.pool_values.flags.writeable


def test_a_match_forgives_rounding_and_nothing_more():
    toy = table()
    assert toy.evaluate([[0.5 + 9e-10, 0.25 - 9e-10]]).tolist() == [4.0]
    assert toy.evaluate([[-0.0, 0.0]]).tolist() == [1.0]
    with pytest.raises(InvalidInput, match=r"x\[1\] \(a=5, b=0.25\) is not one of the 4 rows of the table"):
        toy.evaluate([[0.5, 0.25], [0.5, 0.25 + 2e-9]])


def test_a_float32_round_trip_finds_every_row_of_a_pool_that_is_exact_in_float32():
    toy = table()
    assert toy.evaluate(POOL.astype(np.float32)).tolist() == VALUES.tolist()


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(1, 5))
@settings(max_examples=25, deadline=None)
def test_every_row_of_any_pool_is_found_under_noise(seed, n, d):
    rng = np.random.default_rng(seed)
    space = Space(tuple(Continuous(f"x{j}", 0, 1) for j in range(d)))
    pool = rng.permutation(np.linspace(0.01, 0.99, n * d)).reshape(n, d)
    toy = table(pool, np.arange(n, dtype=float), space, value_range=(-1.0, float(n)))
    order = rng.permutation(n)
    noise = rng.uniform(-9e-10, 9e-10, (n, d))
    assert np.array_equal(toy.indices(pool[order] + noise), order)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool": POOL[[0, 0, 1, 2]]}, "the pool repeats a row; average the replicates first"),
        ({"pool": POOL + 0.5}, "is outside the space"),
        ({"pool": POOL[:, :1]}, r"x must have shape \(n, 2\), not \(4, 1\)"),
        ({"values": VALUES[:3]}, r"values must have shape \(4,\) like the pool, not \(3,\)"),
        ({"values": [1.0, np.nan, 2.0, 3.0]}, "value 1 is not finite"),
        ({"pool": POOL[:1], "values": VALUES[:1]}, "at least two different rows, not 1"),
        ({"value_range": (2.0, 10.0)}, r"value = 1 is outside its declared range \[2, 10\]"),
        ({"value_range": (1.0,)}, r"value_range must be \(low, high\), not \(1.0,\)"),
        ({"value_range": (5.0, 5.0)}, r"value_range must be finite with low < high, not \(5, 5\)"),
        (
            {"values": [4.0, 4.0, 4.0, 1.0]},
            "at least half of the rows already have the best value, 4: nothing to look for",
        ),
        ({"value_name": "a"}, "'a' is an input and cannot be the value as well"),
        ({"seed": -3}, "seed must be"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        table(**arguments)


def test_mixed_and_simplex_spaces():
    mixed = Space((Integer("n", 1, 3), Categorical("c", ("red", "blue"))))
    pool = mixed.encode([{"n": n, "c": c} for n in (1, 2, 3) for c in ("red", "blue")])
    toy = table(pool, np.arange(6.0), mixed)
    check_scenario(toy)
    with pytest.raises(InvalidInput, match="is outside the space"):
        toy.evaluate([[0.25, 1.0, 0.0]])
    blend = Space((Continuous("a", 0, 1), Continuous("b", 0, 1)), simplex=True)
    toy = table(np.array([[0.1, 0.9], [0.4, 0.6], [1.0, 0.0]]), np.arange(3.0), blend)
    check_scenario(toy)
    with pytest.raises(InvalidInput, match="off the simplex"):
        toy.evaluate([[0.1, 0.5]])


def test_replicates_are_averaged_in_order_of_appearance():
    x = np.array([[0.2], [0.1], [0.2 + 1e-13], [0.1], [0.3]])
    pool, means = average_replicates(x, np.array([1.0, 5.0, 3.0, 7.0, 9.0]))
    assert pool[:, 0].tolist() == [0.2, 0.1, 0.3]
    assert means.tolist() == [2.0, 6.0, 9.0]
    first, group = distinct_rows(x)
    assert first.tolist() == [0, 1, 4]
    assert group.tolist() == [0, 1, 0, 1, 2]
