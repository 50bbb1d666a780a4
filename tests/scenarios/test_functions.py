"""Closed-form functions: values against other implementations' numbers, optima, pools."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.core import InvalidInput
from scisuite.scenarios.functions import FUNCTIONS, FunctionScenario, function

SIGN = {True: -1.0, False: 1.0}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_known_best_point_has_the_known_optimum(name):
    formula = FUNCTIONS[name](None)
    assert formula.values(np.array([formula.best]))[0] == pytest.approx(formula.optimum, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_beats_the_optimum_and_the_range_holds_everything(name):
    made = function(name, pool_size=0)
    rng = np.random.default_rng(1)
    x = made.space.sample(rng, 20_000)
    if made.space.is_continuous:
        best = np.array(FUNCTIONS[name](None).best)
        lows = np.array([d.low for d in made.space.dimensions])
        spans = np.array([d.high - d.low for d in made.space.dimensions])
        around = (best - lows) / spans + 0.02 * rng.standard_normal((5000, made.space.d))
        x = np.concatenate([x, np.clip(around, 0, 1)])
    values = made.evaluate(x)
    sign = SIGN[made.maximise]
    assert (sign * values >= sign * made.optimum - 1e-9).all()
    low, high = made.value_range
    assert (values >= low).all()
    assert (values <= high).all()


@pytest.mark.parametrize(
    ("name", "botorch_name", "dimension"),
    [
        ("hartmann6", "Hartmann", 6),
        ("hartmann3", "Hartmann", 3),
        ("branin", "Branin", 2),
        ("ackley", "Ackley", 4),
        ("rosenbrock", "Rosenbrock", 4),
        ("levy", "Levy", 4),
    ],
)
def test_values_agree_with_botorch(name, botorch_name, dimension):
    torch = pytest.importorskip("torch")
    synthetic = pytest.importorskip("botorch.test_functions.synthetic")
    own = FUNCTIONS[name](None)
    lows = [d.low for d in own.space.dimensions]
    highs = [d.high for d in own.space.dimensions]
    options = {} if botorch_name == "Branin" else {"dim": dimension}
    other = getattr(synthetic, botorch_name)(**options, bounds=list(zip(lows, highs, strict=True)), dtype=torch.double)
    x = np.random.default_rng(0).uniform(lows, highs, (50, dimension))
    expected = SIGN[own.maximise] * other.evaluate_true(torch.from_numpy(x)).numpy()
    # botorch keeps the constants of Hartmann in single precision
    np.testing.assert_allclose(own.values(x), expected, rtol=1e-6)


def test_the_hartmann6_pool_is_the_agreed_one():
    made = scenarios.make("hartmann6")
    np.testing.assert_array_equal(made.pool, np.random.default_rng(5).random((2000, 6)))
    assert made.maximise
    assert made.optimum == made.pool_values.max() < 3.32237
    assert scenarios.make("hartmann6", seed=9).optimum == made.optimum


def test_without_a_pool_the_optimum_is_that_of_the_formula():
    made = scenarios.make("hartmann6", pool_size=0)
    assert made.pool is None
    assert made.optimum == pytest.approx(3.32237, abs=1e-5)
    assert made.evaluate(np.full((2, 6), 0.5)).shape == (2,)


def test_units_are_those_of_the_formula():
    made = function("branin", pool_size=0)
    assert made.evaluate(made.space.encode([{"x1": np.pi, "x2": 2.275}]))[0] == pytest.approx(0.397887, abs=1e-6)


def test_dimension_is_free_where_it_can_be():
    assert function("ackley", dimension=7, pool_size=10).space.d == 7
    with pytest.raises(InvalidInput, match="hartmann6 has 6 inputs, not 5"):
        function("hartmann6", dimension=5)
    with pytest.raises(InvalidInput, match="dimension of levy must be a whole number from 2 to 100, not 1"):
        function("levy", dimension=1)


def test_mixed_space_has_three_kinds_of_dimension():
    made = scenarios.make("mixed")
    assert [type(d).__name__ for d in made.space.dimensions] == ["Continuous", "Continuous", "Integer", "Categorical"]
    best = made.space.encode([{"u": 0.7, "v": 0.4, "count": 5, "kind": "B"}])
    assert function("mixed", pool_size=0).evaluate(best).tolist() == [1.0]


def test_the_smallest_scenario_is_small():
    assert scenarios.make("quadratic2").pool.shape == (25, 2)


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies(twin):
    made = function("levy", pool_size=0)
    x = made.space.sample(np.random.default_rng(0), 5)
    assert isinstance(twin(made), FunctionScenario)
    np.testing.assert_array_equal(twin(made).evaluate(x), made.evaluate(x))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "branim"}, "unknown function 'branim'; did you mean 'branin'"),
        ({"name": "branin", "pool_size": 1}, r"pool_size must be 0 \(the whole space\) or at least 2, not 1"),
        ({"name": "branin", "pool_size": -5}, "pool_size must be a whole number from 0, not -5"),
        ({"name": "branin", "pool_size": 2.5}, "pool_size must be a whole number from 0, not 2.5"),
        ({"name": "branin", "pool_seed": None}, "pool_seed must be a whole number from 0, not None"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        function(**arguments)


def test_a_point_outside_the_space_is_refused():
    made = function("branin", pool_size=0)
    with pytest.raises(InvalidInput, match=r"x\[0\] = \[0.5 1.2\] is outside the space"):
        made.evaluate([[0.5, 1.2]])
