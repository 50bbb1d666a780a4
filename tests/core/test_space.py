"""Spaces: two forms of a point, the borders between valid and refused, and uniform designs."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scisuite.core import Categorical, Continuous, Integer, InvalidInput, Space, generator
from scisuite.core.space import project_to_simplex

MIXED = Space.from_bounds(
    temperature=(20, 120, "degC"),
    equivalents=Integer("equivalents", 1, 6),
    solvent=["DMF", "MeCN", "THF"],
)
FRACTIONS = Space.from_bounds(a=(0, 1), b=(0, 1), c=(0, 1), simplex=True)

FINITE = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def dimensions(draw: st.DrawFn, name: str) -> Any:
    kind = draw(st.sampled_from(["continuous", "integer", "categorical"]))
    if kind == "continuous":
        low, high = sorted(draw(st.tuples(FINITE, FINITE).filter(lambda pair: abs(pair[0] - pair[1]) > 1e-6)))
        return Continuous(name, low, high, draw(st.sampled_from(["", "degC"])))
    if kind == "integer":
        low, span = draw(st.integers(-1000, 1000)), draw(st.integers(1, 1000))
        return Integer(name, low, low + span)
    return Categorical(name, tuple(draw(st.lists(st.text(max_size=3), min_size=2, max_size=5, unique=True))))


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    if draw(st.integers(0, 4)) == 0:
        return Space(tuple(Continuous(f"x{i}", 0, 1) for i in range(draw(st.integers(2, 5)))), simplex=True)
    return Space(tuple(draw(dimensions(f"x{i}")) for i in range(draw(st.integers(1, 4)))))


def rows(space: Space, low: float = -2.0, high: float = 3.0) -> st.SearchStrategy[Any]:
    return hnp.arrays(np.float64, (4, space.d), elements=st.floats(low, high))


@given(spaces(), st.integers(0, 2**32))
def test_samples_and_designs_are_valid_points(space: Space, seed: int) -> None:
    rng = generator(seed, "space")
    for x in (space.sample(rng, 7), space.latin_hypercube(rng, 7)):
        assert x.shape == (7, space.d)
        assert x.dtype == np.float64
        assert space.contains(x).all()
        assert np.array_equal(space.require(x), x)
    assert space.sample(rng, 0).shape == space.latin_hypercube(rng, 0).shape == (0, space.d)


@given(spaces(), st.integers(0, 2**32))
def test_same_generator_state_gives_the_same_points(space: Space, seed: int) -> None:
    for draw in ("sample", "latin_hypercube"):
        first, second = (getattr(space, draw)(generator(seed), 5) for _ in range(2))
        assert np.array_equal(first, second)


@given(spaces(), st.integers(0, 2**32))
def test_decode_and_encode_are_inverse(space: Space, seed: int) -> None:
    x = space.sample(generator(seed), 5)
    points = space.decode(x)
    assert np.allclose(space.encode(points), x, rtol=0, atol=1e-9)
    again = space.decode(space.encode(points))
    for point, twin in zip(points, again, strict=True):
        for dimension in space.dimensions:
            if isinstance(dimension, Continuous):
                assert twin[dimension.name] == pytest.approx(point[dimension.name], rel=1e-9, abs=1e-9)
            else:
                assert twin[dimension.name] == point[dimension.name]
                assert type(twin[dimension.name]) is type(point[dimension.name])


@given(spaces())
def test_corners_decode_to_the_bounds_and_encode_again(space: Space) -> None:
    if space.simplex:
        return
    for corner in (0.0, 1.0):
        x = space.snap(np.full((1, space.d), corner))
        (point,) = space.decode(x)
        for dimension in space.dimensions:
            if not isinstance(dimension, Categorical):
                bound = dimension.low if corner == 0 else dimension.high
                assert abs(point[dimension.name] - bound) <= 1e-12 * (dimension.high - dimension.low)
        assert space.contains(space.encode([point])).all()


@given(spaces().flatmap(lambda space: st.tuples(st.just(space), rows(space))))
def test_snap_gives_valid_points_and_leaves_valid_points(case: tuple[Space, Any]) -> None:
    space, x = case
    before = x.copy()
    snapped = space.snap(x)
    assert space.contains(snapped).all()
    assert np.allclose(space.snap(snapped), snapped, rtol=0, atol=1e-12)
    assert np.array_equal(x, before)
    valid = space.sample(generator(0), 4)
    assert np.allclose(space.snap(valid), valid, rtol=0, atol=1e-9)
    space.encode(space.decode(snapped))


@given(st.integers(2, 6).flatmap(lambda d: hnp.arrays(np.float64, (3, d), elements=st.floats(-1e12, 1e12))))
def test_projection_lands_on_the_simplex_and_is_the_nearest(x: Any) -> None:
    projected = project_to_simplex(x)
    assert (projected >= 0).all()
    assert np.allclose(projected.sum(axis=1), 1, rtol=0, atol=1e-9)
    assert np.allclose(project_to_simplex(projected), projected, rtol=0, atol=1e-9)
    # Nearest: the vector from the projection to x makes no acute angle with any direction inside the simplex.
    inward = np.eye(x.shape[1])[None] - projected[:, None]
    angles = np.einsum("nkd,nd->nk", inward, x - projected)
    assert (angles <= 1e-9 * max(1.0, np.abs(x).max())).all()


@given(st.integers(1, 40), st.integers(0, 2**32))
def test_latin_hypercube_fills_every_stratum_once(n: int, seed: int) -> None:
    space = Space.from_bounds(a=(0, 1), b=(-5, 5), c=(1e3, 1e6))
    x = space.latin_hypercube(generator(seed), n)
    strata = np.sort(np.floor(x * n).astype(int), axis=0)
    assert np.array_equal(strata, np.tile(np.arange(n)[:, None], (1, 3)))


def test_latin_hypercube_balances_levels() -> None:
    space = Space((Categorical("solvent", ("a", "b", "c")), Integer("n", 0, 3)))
    x = space.latin_hypercube(generator(1), 12)
    assert x[:, :3].sum(axis=0).tolist() == [4, 4, 4]
    assert np.unique(x[:, 3], return_counts=True)[1].tolist() == [3, 3, 3, 3]


def test_sampling_is_uniform_over_integers_and_levels() -> None:
    space = Space((Categorical("solvent", ("a", "b", "c")), Integer("n", 1, 4)))
    x = space.sample(generator(2), 12_000)
    assert np.allclose(x[:, :3].mean(axis=0), 1 / 3, atol=0.02)
    assert np.allclose(np.bincount(space.to_units(x)[:, 1].astype(int), minlength=5)[1:] / 12_000, 1 / 4, atol=0.02)


def test_the_encoding_is_the_documented_one() -> None:
    x = MIXED.encode([{"temperature": 70, "equivalents": 6, "solvent": "MeCN"}])
    assert x.tolist() == [[0.5, 1.0, 0.0, 1.0, 0.0]]
    assert MIXED.d == 5
    assert MIXED.slices == (slice(0, 1), slice(1, 2), slice(2, 5))
    assert MIXED.to_units(x).tolist() == [[70.0, 6.0, 1.0]]
    assert MIXED.decode(x) == [{"temperature": 70.0, "equivalents": 6, "solvent": "MeCN"}]
    assert MIXED.units == {"temperature": "degC", "equivalents": "", "solvent": ""}
    assert not MIXED.is_continuous
    assert FRACTIONS.is_continuous


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ({"temperature": 70, "solvent": "THF"}, "point lacks equivalents"),
        ({"temperature": 70, "equivalents": 2, "solvent": "THF", "pH": 7}, "unknown pH; known: temperature, equiv"),
        ({"temperature": 121, "equivalents": 2, "solvent": "THF"}, r"temperature = 121 is outside \[20, 120\] degC"),
        ({"temperature": float("nan"), "equivalents": 2, "solvent": "THF"}, "temperature must be a finite number"),
        ({"temperature": "70", "equivalents": 2, "solvent": "THF"}, "temperature must be a finite number, not '70'"),
        ({"temperature": True, "equivalents": 2, "solvent": "THF"}, "temperature must be a finite number"),
        ({"temperature": 70, "equivalents": 2.5, "solvent": "THF"}, "equivalents must be a whole number"),
        ({"temperature": 70, "equivalents": 0, "solvent": "THF"}, r"equivalents = 0 is outside \[1, 6\]"),
        ({"temperature": 70, "equivalents": 2, "solvent": "water"}, "solvent must be one of"),
        ({"temperature": 70, "equivalents": 2, "solvent": ["THF"]}, "solvent must be one of"),
        ({"temperature": 70, "equivalents": 2, "solvent": np.array([1, 2])}, "solvent must be one of"),
        ("temperature", "a point must be a mapping"),
    ],
)
def test_points_that_are_refused(point: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        MIXED.encode([point])


def test_fractions_must_sum_to_one() -> None:
    with pytest.raises(InvalidInput, match=r"off the simplex \(its values sum to 0.9\)"):
        FRACTIONS.encode([{"a": 0.3, "b": 0.3, "c": 0.3}])
    assert FRACTIONS.contains([[0.3, 0.3, 0.4], [0.3, 0.3, 0.3]]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, np.nan, 0, 1, 0], "holds NaN or infinity"),
        ([0.5, np.inf, 0, 1, 0], "holds NaN or infinity"),
        ([1.5, 1.0, 0, 1, 0], "is outside the space"),
        ([0.5, 0.5, 0, 1, 0], "is outside the space"),
        ([0.5, 1.0, 0, 1, 1], "is outside the space"),
        ([0.5, 1.0, 0, 0.5, 0.5], "is outside the space"),
    ],
)
def test_rows_that_are_refused(row: list[float], message: str) -> None:
    good = MIXED.sample(generator(0), 1)[0]
    with pytest.raises(InvalidInput, match=rf"x\[1\] = .* {message}"):
        MIXED.require([good, row])


@pytest.mark.parametrize("x", [[0.5] * 5, np.zeros((2, 4)), np.zeros((1, 2, 5)), 3.0, "x", [["a"] * 5], [[1], [1, 2]]])
def test_shapes_that_are_refused(x: Any) -> None:
    for method in (MIXED.require, MIXED.contains, MIXED.decode, MIXED.snap, MIXED.to_units):
        with pytest.raises(InvalidInput, match=r"x must (have|be)"):
            method(x)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("space", [MIXED, FRACTIONS])
def test_nothing_is_made_of_nan(space: Space, bad: float) -> None:
    x = space.sample(generator(0), 3)
    x[1, 0] = bad
    for method in (space.snap, space.decode):
        with pytest.raises(InvalidInput, match=r"x\[1\] holds NaN or infinity"):
            method(x)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Space(()), "at least one dimension"),
        (lambda: Space((Continuous("a", 0, 1), Continuous("a", 0, 2))), "names must differ"),
        (lambda: Continuous("a", 1, 1), "low < high"),
        (lambda: Continuous("a", 2, 1), "low < high"),
        (lambda: Continuous("a", 0, float("inf")), "finite"),
        (lambda: Continuous("a", float("nan"), 1), "finite"),
        (lambda: Continuous("a", -1.7e308, 1.7e308), "finite"),
        (lambda: Continuous("a", "0", 1), "finite"),  # type: ignore[arg-type]
        (lambda: Integer("a", 0.5, 2), "integers"),  # type: ignore[arg-type]
        (lambda: Integer("a", 0, float("inf")), "integers"),  # type: ignore[arg-type]
        (lambda: Integer("a", float("nan"), 3), "integers"),  # type: ignore[arg-type]
        (lambda: Integer("a", 3, 3), "low < high"),
        (lambda: Categorical("a", ("x",)), "at least two different levels"),
        (lambda: Categorical("a", ("x", "x")), "at least two different levels"),
        (lambda: Categorical("a", (1, True)), "at least two different levels"),
        (lambda: Categorical("a", ("x", float("nan"))), "texts, finite numbers or booleans"),
        (lambda: Categorical("a", ("x", None)), "texts, finite numbers or booleans"),  # type: ignore[arg-type]
        (lambda: Space((Continuous("a", 0, 1), Continuous("b", 0, 2)), simplex=True), r"b: on a simplex"),
        (lambda: Space((Continuous("a", 0, 1),), simplex=True), "at least two dimensions"),
        (lambda: Space.from_bounds(a=("low", "high")), r"levels go in a list"),
        (lambda: Space.from_bounds(a=(1,)), r"expected \(low, high\)"),
        (lambda: Space.from_bounds(a="DMF"), r"expected \(low, high\)"),
        (lambda: Space.from_bounds(a=Integer("b", 0, 1)), "the dimension given for it is called 'b'"),
    ],
)
def test_spaces_that_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make()


def test_numpy_numbers_are_numbers() -> None:
    space = Space.from_bounds(a=(np.int64(0), np.float32(2)), b=(0, 1))
    assert space.encode([{"a": np.float32(1), "b": np.int64(1)}]).tolist() == [[0.5, 1.0]]


@given(spaces())
def test_json_round_trip_and_copies(space: Space) -> None:
    assert Space.from_json(json.loads(json.dumps(space.to_json()))) == space
    assert space.d == sum(d.width for d in space.dimensions)
    assert copy.deepcopy(space) == space
    assert pickle.loads(pickle.dumps(space)) == space


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"dimensions": None, "simplex": False},
        {"dimensions": ["abc"], "simplex": False},
        {"dimensions": [{"kind": "complex", "name": "a"}], "simplex": False},
        {"dimensions": [{"kind": "continuous", "name": "a", "low": 0}], "simplex": False},
        {"dimensions": [{"kind": "continuous", "name": "a", "low": 0, "high": 1, "step": 1}], "simplex": False},
    ],
)
def test_descriptions_that_are_refused(description: Any) -> None:
    with pytest.raises(InvalidInput, match="not the description of a space"):
        Space.from_json(description)


def test_a_finite_space_lists_its_points() -> None:
    space = Space((Integer("n", 0, 2), Categorical("solvent", ("DMF", "THF"))))
    points = space.enumerate()
    assert points is not None
    assert space.contains(points).all()
    assert space.decode(points) == [{"n": n, "solvent": s} for n in range(3) for s in ("DMF", "THF")]
    assert space.enumerate(limit=5) is None
    assert Space.from_bounds(x=(0, 1)).enumerate() is None
