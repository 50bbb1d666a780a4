"""``check_solver`` passes what keeps the contract and names the rule that anything else breaks."""

from __future__ import annotations

import threading
from typing import Any, Self

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.core import Budget, InvalidInput, Space, Tool, as_seed
from scisuite.scenarios import BlackBoxScenario, DataScenario, Description, Scenario, WorldScenario
from scisuite.solvers import FitReport, Solver, check_solver

DRAWS = np.random.default_rng(0)


def points(scenario: BlackBoxScenario, seed: int, n: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return scenario.space.sample(rng, n) if scenario.pool is None else rng.choice(scenario.pool, n, replace=False)


class Honest(Solver):
    """Least squares on points drawn from a black box; keeps every rule."""

    id = "toy-honest"

    def __init__(self, ridge: float = 1e-6) -> None:
        self.config: dict[str, Any] = {"ridge": ridge}

    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        seed, allowed = as_seed(seed), Budget.parse(budget)
        if not isinstance(scenario, BlackBoxScenario):
            raise InvalidInput(f"{self.id} fits black boxes")
        x = points(scenario, seed, allowed.count)
        a = np.column_stack([np.ones(len(x)), x])
        self.space = scenario.space
        penalty = self.config["ridge"] * np.eye(a.shape[1])
        self.weights = np.linalg.solve(a.T @ a + penalty, a.T @ scenario.evaluate(x))
        self.fit_report = FitReport(str(allowed), allowed.amount, 0.0, [{"n": len(x)}])
        return self

    def predict(self, inputs: Any) -> Any:
        self._require_fitted()
        return self.weights[0] + self.space.require(inputs) @ self.weights[1:]

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        self._require_fitted()
        x = points(scenario, 1, 8)
        return {"mae": float(np.abs(self.predict(x) - scenario.evaluate(x)).mean())}

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"space": self.space.to_json()}, {"weights": self.weights}

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self.space = Space.from_json(state["space"])
        self.weights = tensors["weights"]


# One class for each rule that is broken; what follows ``rule`` is what check_solver must say of it.


class NoId(Honest):
    id = ""
    rule = "a solver class needs an id"


class ConfigOfSets(Honest):
    rule = "config is not JSON: .*set"

    def __init__(self) -> None:
        self.config = {"ridge": 1e-6, "kinds": {1, 2}}


class ConfigOfNaN(Honest):
    rule = "config is not JSON: "

    def __init__(self) -> None:
        self.config = {"ridge": float("nan")}


class ConfigOfTuples(Honest):
    rule = r"config does not survive JSON: .*\(1, 2\)"

    def __init__(self) -> None:
        self.config = {"ridge": 1e-6, "layers": (1, 2)}


class NoConfig(Honest):
    rule = "keeps the arguments that built it in config"

    def __init__(self) -> None:
        pass


class ForgottenConfig(Honest):
    rule = "a loaded solver predicts otherwise"

    def __init__(self, ridge: float = 1e-6, shift: float = 0.0) -> None:
        super().__init__(ridge)
        self.shift = shift

    @classmethod
    def build(cls) -> Self:
        return cls(shift=1.0)

    def predict(self, inputs: Any) -> Any:
        return super().predict(inputs) + self.shift


class ConfigOfAnother(Honest):
    rule = "config does not build the solver again: .*unexpected keyword argument 'ridge'"

    def __init__(self) -> None:
        super().__init__()


class PredictsUnfitted(Honest):
    rule = "predict before fit: expected NotFitted, nothing was raised"

    def predict(self, inputs: Any) -> Any:
        return super().predict(inputs) if self.fit_report else np.zeros(len(inputs))


class CrashesUnfitted(Honest):
    rule = "predict before fit: expected NotFitted, got AttributeError"

    def predict(self, inputs: Any) -> Any:
        return self.weights[0] + self.space.require(inputs) @ self.weights[1:]


class SavesUnfitted(Honest):
    rule = "save before fit: expected NotFitted, nothing was raised"

    def save(self, folder: Any) -> None:
        if self.fit_report:
            super().save(folder)


class EvaluatesUnfitted(Honest):
    rule = "evaluate before fit: expected NotFitted, nothing was raised"

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        return {"mae": 0.0}


class FloatSeed(Honest):
    rule = "seed=1.5: expected InvalidInput, nothing was raised"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        return super().fit(scenario, seed=int(seed) if isinstance(seed, float) else seed, budget=budget)


class WholeFloatSeed(Honest):
    rule = "seed=1.0: expected InvalidInput, nothing was raised"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        return super().fit(scenario, seed=int(seed) if seed == 1.0 else seed, budget=budget)


class BooleanSeed(Honest):
    rule = "seed=True: expected InvalidInput, nothing was raised"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        return super().fit(scenario, seed=int(seed) if seed is True else seed, budget=budget)


class SeedOfNumPy(Honest):
    rule = "seed=1.5: expected InvalidInput, got TypeError"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        np.random.default_rng(seed)
        return super().fit(scenario, seed=seed, budget=budget)


class AnyBudget(Honest):
    rule = "budget='fast': expected InvalidInput, nothing was raised"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        return super().fit(scenario, seed=seed, budget="4 evaluations" if budget == "fast" else budget)


class AnyScenario(Honest):
    rule = "a scenario that is none: expected InvalidInput, got AttributeError"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        assert scenario.space.d
        return super().fit(scenario, seed=seed, budget=budget)


class FittedByRefusal(Honest):
    rule = "a refused fit left the solver fitted"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        self.fit_report = FitReport("", 0.0, 0.0)
        return super().fit(scenario, seed=seed, budget=budget)


class ForgetsByRefusal(Honest):
    rule = "a refused fit changed the solver"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        if self.fit_report:
            self.weights = self.weights * 0
        return super().fit(scenario, seed=seed, budget=budget)


class MovesNumPy(Honest):
    rule = "the global random state was moved"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        super().fit(scenario, seed=seed, budget=budget)
        np.random.rand()
        return self


class SeedsNumPy(Honest):
    rule = "the global random state was moved"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        np.random.seed(20_26)
        return super().fit(scenario, seed=seed, budget=budget)


class MovesNumPyInPredict(Honest):
    rule = "the global random state was moved"

    def predict(self, inputs: Any) -> Any:
        np.random.rand()
        return super().predict(inputs)


class MovesTorch(Honest):
    rule = "the global random state was moved"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        import torch

        torch.rand(1)
        return super().fit(scenario, seed=seed, budget=budget)


class ReturnsNothing(Honest):
    rule = "fit returned NoneType, not the solver"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Any:
        super().fit(scenario, seed=seed, budget=budget)


class ReportsNothing(Honest):
    rule = "fit set no fit_report"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        super().fit(scenario, seed=seed, budget=budget).fit_report = None
        return self


class Reporting(Honest):
    """Changes one field of its report."""

    field: tuple[str, Any]

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        super().fit(scenario, seed=seed, budget=budget)
        setattr(self.fit_report, *self.field)
        return self


class OverBudget(Reporting):
    field = ("used", 9.0)
    rule = "used 9.0 of a budget of 8 evaluations"


class UsesNothing(Reporting):
    field = ("used", 0.0)
    rule = "used 0.0 of a budget of 8 evaluations"


class AnotherBudget(Reporting):
    field = ("budget", "8")
    rule = "fit_report.budget is '8', asked was '8 evaluations'"


class NegativeTime(Reporting):
    field = ("cpu_seconds", -1.0)
    rule = "fit_report.cpu_seconds is negative"


class HistoryOfObjects(Reporting):
    field = ("history", [{"space": object()}])
    rule = "fit_report.history is not JSON"


class HistoryOfTuples(Reporting):
    field = ("history", [{"at": (0, 1)}])
    rule = "a loaded solver has another fit_report"


class Predicting(Honest):
    """Spoils a right prediction."""

    def predict(self, inputs: Any) -> Any:
        return self.spoil(super().predict(inputs))

    def spoil(self, values: Any) -> Any:
        raise InvalidInput("to be overridden")


class Scalar(Predicting):
    rule = "predict gave .*, not one row for each input"

    def spoil(self, values: Any) -> Any:
        return float(values.mean())


class Mapped(Predicting):
    rule = r"(?s)predict gave .*'mean'.*, not one row for each input"

    def spoil(self, values: Any) -> Any:
        return {"mean": values}


class Objects(Predicting):
    rule = "predict gave objects, not numbers"

    def spoil(self, values: Any) -> Any:
        return values.astype(object)


class WrongLength(Predicting):
    rule = "predict gave 15 rows for 16 inputs"

    def spoil(self, values: Any) -> Any:
        return values[:-1] if len(values) == 16 else values


class WrongLengthOfOnePart(Predicting):
    rule = "predict gave 1 rows for 16 inputs"

    def spoil(self, values: Any) -> Any:
        return values, np.zeros(1)


class NaNPrediction(Predicting):
    rule = "predict gave NaN or infinity for valid inputs"

    def spoil(self, values: Any) -> Any:
        return np.where(values == values.max(), np.nan, values)


class Wavers(Predicting):
    rule = "predict gave other values the second time"

    def spoil(self, values: Any) -> Any:
        return values + DRAWS.random()


class ChangesInputs(Honest):
    rule = "predict changed its inputs"

    def predict(self, inputs: Any) -> Any:
        values = super().predict(inputs)
        inputs[:] = 0
        return values


class FitsAnew(Honest):
    rule = "the same seed gave another prediction"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        super().fit(scenario, seed=seed, budget=budget)
        self.weights = self.weights + DRAWS.random()
        return self


class Evaluating(Honest):
    figures: Any

    def evaluate(self, scenario: Any, split: str = "test") -> Any:
        self._require_fitted()
        return dict(self.figures)


class NoMetrics(Evaluating):
    figures: Any = {}
    rule = "evaluate gave no metrics"


class IntegerMetric(Evaluating):
    figures: Any = {"hits": 3}
    rule = "metric hits is a int, not a float"


class NaNMetric(Evaluating):
    figures: Any = {"mae": float("nan")}
    rule = "metric mae is nan"


class NumberedMetric(Evaluating):
    figures: Any = {0: 1.0}
    rule = "metric name 0 is not a string"


class WaveringMetric(Honest):
    rule = "the same seed gave other metrics"

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        return {"mae": super().evaluate(scenario)["mae"] + DRAWS.random()}


class HoldsALock(Honest):
    rule = "no deep copy can be made: TypeError: cannot pickle"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        self.lock = threading.Lock()
        return super().fit(scenario, seed=seed, budget=budget)


class HoldsALambda(Honest):
    rule = "no pickled copy can be made: .*lambda"

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        self.link = lambda value: value
        return super().fit(scenario, seed=seed, budget=budget)


class PicklesBadly(Honest):
    rule = "a pickled copy predicts otherwise"

    def __reduce__(self) -> Any:
        return (_halved, (self.__dict__,))

    def __deepcopy__(self, memo: Any) -> Any:
        return self


def _halved(attributes: dict[str, Any]) -> PicklesBadly:
    solver = PicklesBadly()
    solver.__dict__ = attributes | {"weights": attributes["weights"] / 2}
    return solver


class CopiesBadly(Honest):
    rule = "a deep copy predicts otherwise"

    def __getstate__(self) -> Any:
        return self.__dict__ | {"weights": np.zeros_like(self.weights)}


class TakesNaN(Honest):
    rule = "predict of NaN: expected InvalidInput, nothing was raised"

    def predict(self, inputs: Any) -> Any:
        return super().predict(np.nan_to_num(np.asarray(inputs)))


class TakesNoColumns(Honest):
    rule = "predict of no columns: expected InvalidInput, got ValueError"

    def predict(self, inputs: Any) -> Any:
        self._require_fitted()
        if np.isnan(inputs).any():
            raise InvalidInput("NaN")
        return self.weights[0] + np.asarray(inputs) @ self.weights[1:]


class ChangedByRefusal(Honest):
    rule = "a refused predict changed the solver"

    def predict(self, inputs: Any) -> Any:
        try:
            return super().predict(inputs)
        except InvalidInput:
            if self.fit_report:
                self.weights = self.weights + 1
            raise


class SavesLitter(Honest):
    rule = "a folder saved twice holds .*extra-"

    def save(self, folder: Any) -> None:
        super().save(folder)
        (folder / f"extra-{len(list(folder.iterdir()))}").touch()


class SavesHalf(Honest):
    rule = "a loaded solver predicts otherwise"

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        state, tensors = super()._state()
        return state, {"weights": tensors["weights"].astype(np.float32)}


class SavesAnotherConfig(Honest):
    rule = "the saved config is another"

    def save(self, folder: Any) -> None:
        own, self.config = self.config, {"ridge": 1.0}
        super().save(folder)
        self.config = own


class NoTool(Honest):
    rule = "as_tool gave no Tool"

    def as_tool(self) -> Any:
        return self.predict


class ToolOfObjects(Honest):
    rule = "the description of the tool is not JSON"

    def as_tool(self) -> Tool:
        return Tool("predict", "Predict.", {"properties": {"x": object()}}, lambda arguments: arguments)


class LooseTool(Tool):
    def call(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {}


class ToolTakesAnything(Honest):
    rule = "an unknown argument of the tool: expected InvalidInput, nothing was raised"

    def as_tool(self) -> Tool:
        return LooseTool("predict", "Predict.", {"properties": {}}, dict)


def _broken(kind: type[Solver] = Solver) -> list[type[Any]]:
    found = [kind] if "rule" in vars(kind) and kind.__module__ == __name__ else []
    return found + [each for child in kind.__subclasses__() for each in _broken(child)]


def test_one_that_keeps_the_rules() -> None:
    check_solver(Honest)
    check_solver(Honest, scenario="functions/branin", budget="5 evaluations", ridge=0.5)
    check_solver(lambda: Honest(ridge=0.25), scenario=scenarios.make("hartmann3", pool_size=0))


@pytest.mark.parametrize("kind", _broken(), ids=lambda kind: kind.__name__)
def test_one_that_breaks_a_rule(kind: Any) -> None:
    numpy_state = np.random.get_state()
    try:
        with pytest.raises(AssertionError, match=kind.rule):
            check_solver(getattr(kind, "build", kind))
    finally:
        np.random.set_state(numpy_state)


def test_there_are_as_many_broken_solvers_as_rules() -> None:
    assert len(_broken()) >= 50


def test_something_that_is_no_solver() -> None:
    with pytest.raises(AssertionError, match="object does not derive from Solver"):
        check_solver(object)  # type: ignore[arg-type]


@pytest.mark.parametrize("solver", [None, 3, Honest()])
def test_something_that_builds_nothing(solver: Any) -> None:
    with pytest.raises(InvalidInput, match="check_solver takes an id, a class, or a function that builds a solver"):
        check_solver(solver)


class Maze(WorldScenario):
    def describe(self) -> Description:
        return Description("toy", "toy", "toy", "CC0", False)

    def generate(self, rng: np.random.Generator) -> Any:
        return rng.random()


def test_a_world_has_no_inputs_to_predict_for() -> None:
    class Ready(Honest):
        def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
            instead = scenarios.make("quadratic2") if isinstance(scenario, Maze) else scenario
            return super().fit(instead, seed=seed, budget=budget)

        def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
            self._require_fitted()
            return {"mae": 0.0}

    with pytest.raises(InvalidInput, match="check_solver fits on a data or black-box scenario, not Maze"):
        check_solver(Ready, scenario=Maze())


class MazeSolver(Honest):
    """Takes worlds, and says itself what it predicts for."""

    def fit(self, scenario: Any, *, seed: Any, budget: Any) -> Self:
        if not isinstance(scenario, Maze):
            raise InvalidInput("toy-honest fits mazes")
        return super().fit(scenarios.make("quadratic2"), seed=seed, budget=budget)

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        self._require_fitted()
        return {"mae": 0.0}

    def example_inputs(self, scenario: Any) -> np.ndarray:
        return self.space.sample(np.random.default_rng(0), 5)


class ForgetfulMazeSolver(MazeSolver):
    def predict(self, inputs: Any) -> Any:
        return super().predict(inputs)[1:]


def test_a_solver_of_worlds_gives_its_own_inputs() -> None:
    check_solver(MazeSolver, scenario=Maze())
    with pytest.raises(AssertionError, match="predict gave 4 rows for 5 inputs"):
        check_solver(ForgetfulMazeSolver, scenario=Maze())


class Table(DataScenario):
    """Pairs of numbers and their sums."""

    def describe(self) -> Description:
        return Description("toy", "toy", "toy", "CC0", False)

    def inputs(self, split: str) -> np.ndarray:
        return np.random.default_rng(self.splits.index(split)).random((6, 2))

    def targets(self, split: str) -> np.ndarray:
        return self.inputs(split).sum(axis=1)

    def metrics(self, prediction: Any, split: str) -> dict[str, float]:
        return {"mae": float(np.abs(prediction - self.targets(split)).mean())}


class LeastSquares(Solver):
    id = "toy-least-squares"

    def __init__(self) -> None:
        self.config = {}

    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        as_seed(seed)
        allowed = Budget.parse(budget)
        if not isinstance(scenario, DataScenario):
            raise InvalidInput("toy-least-squares fits data")
        self.weights = np.linalg.lstsq(scenario.inputs("train"), scenario.targets("train"))[0]
        self.fit_report = FitReport(str(allowed), 0.001, 0.001)
        return self

    def predict(self, inputs: Any) -> np.ndarray:
        self._require_fitted()
        if np.shape(inputs)[1:] != (2,) or not np.isfinite(inputs).all():
            raise InvalidInput("inputs must be finite numbers of shape (n, 2)")
        return np.asarray(inputs) @ self.weights

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {}, {"weights": self.weights}

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self.weights = tensors["weights"]


def test_a_solver_of_data_and_a_budget_in_seconds() -> None:
    check_solver(LeastSquares, scenario=Table(), budget="1 cpu_seconds")
