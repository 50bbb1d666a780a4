"""The contract suite itself: good toys of every kind pass, and each broken rule is caught and named."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from scisuite.core import Continuous, InvalidInput, Space, as_seed, generator
from scisuite.scenarios import BlackBoxScenario, DataScenario, Description, Scenario, WorldScenario, check_scenario

counter = itertools.count()


def description(id, **changes):
    facts = {"summary": "a toy", "source": "a test", "licence": "CC0", "real": False, "shapes": {"x": (2,)}}
    return Description(id, **{**facts, **changes})


class Box(BlackBoxScenario):
    """x₁ + x₂ on the unit square."""

    id = "tests/box"
    space = Space((Continuous("a", 0, 1), Continuous("b", 0, 1)))
    value_range = (0.0, 2.0)
    median = 1.0
    optimum = 2.0

    def describe(self):
        return description(self.id)

    def evaluate(self, x):
        return self.space.require(x).sum(axis=1)


class Line(DataScenario):
    """y = 2 x + a seeded offset."""

    id = "tests/line"

    def __init__(self, *, seed=0):
        super().__init__(seed=seed)
        self._x = np.linspace(0, 1, 6)
        self._y = 2 * self._x + generator(self.seed, "offset").random()

    def describe(self):
        return description(self.id)

    def _part(self, array, split):
        if split not in self.splits:
            raise InvalidInput(f"no split {split!r}")
        return array[self.splits.index(split) :: 3].copy()

    def inputs(self, split):
        return self._part(self._x, split)

    def targets(self, split):
        return self._part(self._y, split)

    def metrics(self, prediction, split):
        prediction = np.asarray(prediction, dtype=float)
        if not np.isfinite(prediction).all():
            raise InvalidInput("a prediction is not finite")
        return {"rmse": float(np.sqrt(np.mean((prediction - self.targets(split)) ** 2)))}


@dataclass(frozen=True)
class Maze:
    walls: np.ndarray
    cost: np.ndarray


@dataclass
class SoftMaze:
    walls: np.ndarray


@dataclass(frozen=True)
class Label:
    text: str


class Mazes(WorldScenario):
    id = "tests/mazes"

    def describe(self):
        return description(self.id)

    def generate(self, rng):
        return Maze(rng.random((3, 3)) < 0.3, rng.random(4))


@pytest.mark.parametrize("kind", [Box, Line, Mazes])
def test_good_toys_pass_as_a_class_and_as_an_object(kind):
    check_scenario(kind)
    check_scenario(kind(seed=3))


def test_it_takes_nothing_else():
    with pytest.raises(InvalidInput, match="check_scenario takes an id, a scenario, or a class, not 7"):
        check_scenario(7)


def variant(kind, **members):
    """A class like ``kind`` with other members, importable so that it can be pickled."""
    name = f"Variant{next(counter)}"
    made = type(name, (kind,), {"__module__": __name__, "__qualname__": name, **members})
    globals()[name] = made
    return made


def moody(self, x):
    """Another answer every time."""
    self.calls = getattr(self, "calls", 0) + 1
    return self.space.require(x).sum(axis=1) / self.calls


def remembers_refusals(self, x):
    """A refused point leaves a trace."""
    try:
        return self.space.require(x).sum(axis=1) * getattr(self, "scale", 1.0)
    except InvalidInput:
        self.scale = 0.5
        raise


def spoils_its_argument(self, x):
    values = self.space.require(x).sum(axis=1)
    if isinstance(x, np.ndarray):
        x *= 0.5
    return values


def moves_the_global_state(self, x):
    np.random.random()
    return self.space.require(x).sum(axis=1)


def crashes_on_text(self, x):
    return self.space.require(np.asarray(x, dtype=float)).sum(axis=1)


def takes_nan(self, x):
    x = self.space.as_rows(x)
    self.space.require(np.nan_to_num(x, nan=0.5))
    return np.nan_to_num(x).sum(axis=1)


GRID = np.array([[0.0, 0.0], [0.5, 0.5], [1.0, 0.5]])


def of_pool(self, x):
    x = self.space.require(x)
    for row in x:
        if not (self.pool == row).all(axis=1).any():
            raise InvalidInput("not in the pool")
    return x.sum(axis=1)


POOLED = {"pool": GRID, "optimum": 1.5, "median": 1.0, "evaluate": of_pool}


def test_a_good_pool_passes():
    check_scenario(variant(Box, **POOLED))


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"id": ""}, "has no id"),
        ({"version": 0}, "version must be a whole number from 1"),
        (
            {"describe": lambda self: description("tests/other")},
            "describe.*id is 'tests/other', not its id 'tests/box'",
        ),
        ({"describe": lambda self: description(self.id, licence=" ")}, r"describe\(\).licence is empty"),
        ({"describe": lambda self: description(self.id, real="yes")}, "real must be True or False"),
        ({"describe": lambda self: description(self.id, shapes={})}, "shapes is empty"),
        ({"describe": lambda self: description(self.id, shapes={"x": 2})}, "must be a tuple of whole numbers, not 2"),
        ({"describe": lambda self: description(self.id, units={"a": None})}, r"units\['a'\] must be text, not None"),
        ({"describe": lambda self: description(self.id, summary=object())}, "summary is empty"),
        ({"value_range": (0.0, 1.0)}, "a value is outside value_range"),
        ({"value_range": (0.0, np.inf)}, "value_range must be finite with low < high"),
        ({"optimum": 1.2}, "is better than its optimum"),
        ({"optimum": 1.0}, "better than its optimum|optimum equals median"),
        ({"median": 9.0, "value_range": (0.0, 2.0)}, "median is outside value_range"),
        ({"evaluate": lambda self, x: self.space.require(x).sum(axis=1)[:, None]}, r"evaluate\(x\) must be float64"),
        ({"evaluate": lambda self, x: self.space.require(x).sum(axis=1).tolist()}, r"evaluate\(x\) must be float64"),
        ({"evaluate": lambda self, x: self.space.require(x).sum(axis=1) * np.nan}, r"evaluate\(x\) is not finite"),
        ({"evaluate": lambda self, x: np.sum(x, axis=1)}, "must raise InvalidInput"),
        ({"evaluate": takes_nan}, "evaluate of a NaN must raise InvalidInput$"),
        ({"evaluate": crashes_on_text}, "evaluate of text must raise InvalidInput, not ValueError"),
        ({"evaluate": moody}, "another answer the second time"),
        ({"evaluate": remembers_refusals}, "a refused point changed later answers"),
        ({"evaluate": spoils_its_argument}, "evaluate changes the points that it is asked for"),
        ({"evaluate": moves_the_global_state}, "the global random state was moved"),
        ({"cost": lambda self, x: np.zeros(len(x))}, "cost must be positive"),
        ({"context": lambda self: {"space": self.space}}, r"context\(\) has no JSON form"),
        ({"__reduce__": lambda self: "nowhere"}, "cannot be pickled"),
        (
            {"__setstate__": lambda self, state: self.__dict__.update(state, median=0.9)},
            "a pickled copy gives other numbers",
        ),
        ({"__init__": lambda self, *, seed=0: setattr(self, "seed", seed)}, "seed=-1 must raise InvalidInput"),
        ({**POOLED, "pool": GRID[[0, 0, 1, 2]]}, "the pool repeats a row"),
        ({**POOLED, "pool": GRID + 0.5}, "a row of the pool is outside its space"),
        ({**POOLED, "pool": GRID.tolist()}, r"pool must be float64 of shape \(N, 2\)"),
        ({**POOLED, "pool": GRID[:1]}, "pool must have at least two rows"),
        ({**POOLED, "optimum": 1.6}, "optimum is 1.6, the best of the pool 1.5"),
        ({**POOLED, "median": 0.9}, "median is not that of the pool"),
        ({**POOLED, "evaluate": Box.evaluate}, "evaluate of a point that is not in the pool must raise InvalidInput"),
    ],
)
def test_a_broken_black_box_is_caught(members, rule):
    with pytest.raises(AssertionError, match=rule):
        check_scenario(variant(Box, **members))


def own_random(self, *, seed=0):
    Scenario.__init__(self, seed=seed)
    self._x, self._y = np.linspace(0, 1, 6), np.random.default_rng().random(6)


def silent_metrics(self, prediction, split):
    return {"rmse": float(np.sqrt(np.mean(np.nan_to_num(prediction - self.targets(split)) ** 2)))}


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"splits": ()}, "splits must differ"),
        ({"splits": ("train", "train")}, "splits must differ"),
        (
            {"targets": lambda self, split: self._part(self._y, split)[:1]},
            "inputs and targets of 'train' differ in length",
        ),
        ({"inputs": lambda self, split: np.random.default_rng().random(2)}, r"inputs\('train'\) change"),
        ({"metrics": lambda self, prediction, split: {}}, "metrics must be a dict that is not empty"),
        ({"metrics": lambda self, prediction, split: {"rmse": np.nan}}, "metric 'rmse' must be a finite float"),
        ({"metrics": silent_metrics}, "metrics of a NaN prediction must raise InvalidInput"),
        ({"_part": lambda self, array, split: array[:2]}, "inputs of an unknown split must raise InvalidInput"),
        ({"__init__": own_random}, "two of the same seed give different numbers"),
    ],
)
def test_a_broken_data_set_is_caught(members, rule):
    with pytest.raises(AssertionError, match=rule):
        check_scenario(variant(Line, **members))


@pytest.mark.parametrize(
    ("generate", "rule"),
    [
        (lambda self, rng: SoftMaze(rng.random(3)), "generate must return a frozen dataclass"),
        (lambda self, rng: Label("a"), "an instance must hold at least one array"),
        (lambda self, rng: Maze(np.random.default_rng().random(3), rng.random(4)), "gives different instances"),
        (lambda self, rng: Maze(rng.random(3), np.full(2, np.nan)), "instance.cost of an instance is not finite"),
        (lambda self, rng: Maze(np.array([next(counter)]), rng.random(2)), "gives different instances"),
    ],
)
def test_a_broken_world_is_caught(generate, rule):
    with pytest.raises(AssertionError, match=rule):
        check_scenario(variant(Mazes, generate=generate))


def test_something_of_no_kind_is_caught():
    class Odd(Scenario):
        id = "tests/odd"

        def describe(self):
            return description(self.id)

    with pytest.raises(AssertionError, match="must be a DataScenario, a BlackBoxScenario or a WorldScenario"):
        check_scenario(Odd(seed=0))
    with pytest.raises(AssertionError, match="must be a Scenario, not int"):
        check_scenario(lambda seed: as_seed(seed))
