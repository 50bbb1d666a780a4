"""Active randomised trials behind scisuite's solver contract."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Budget, CpuClock, InvalidInput, Tool, as_seed, generator
from scisuite.core.files import jsonable
from scisuite.scenarios import Scenario
from scisuite.scenarios.trials import (
    Logged,
    Trial,
    TrialScenario,
    coverage,
    finite_rows,
    interval_width,
    pehe,
    qini,
)
from scisuite.solvers.active_rct.learners import Learner, LinearLearner
from scisuite.solvers.active_rct.learners.registry import make_learner
from scisuite.solvers.active_rct.linear import Kind
from scisuite.solvers.active_rct.loop import ActiveRCT, Strategy
from scisuite.solvers.active_rct.randomisation import Randomisation, Rule
from scisuite.solvers.active_rct.scores import score_weights
from scisuite.solvers.base import FitReport, Solver

Floats = NDArray[np.float64]

SPLITS = ("validation", "test")


@dataclass(frozen=True)
class _Origin:
    """What a learner is built on, of a trial that need not be drawn again."""

    observational: Logged
    linear: bool


class ActiveRCTSolver(Solver):
    """Run Algorithm 1 on a trial, and estimate the effect.

    Parameters
    ----------
    learner : str
        Model of the effect; see :func:`~scisuite.solvers.active_rct.learners.make_learner`.
    learner_config : mapping
        Its arguments, as JSON.
    batch : int
        Units a round.
    weights : (float, float, float)
        α, β, γ of uncertainty, domain discrepancy and overlap deficit.
    strategy : {"score", "random", "effect"}
        Algorithm 1's score; chance; or the largest estimated effect, the negative control, from the first batch on.
    p_rule : {"fixed", "adaptive"}
        ½ for everybody, or a probability that follows the estimated effect. A replayed trial has its own.
    p_bounds : (float, float)

    Attributes
    ----------
    batches : tuple of Logged
        The randomised units of each round, with the probabilities that were used.

    Raises
    ------
    InvalidInput
        If an argument is out of range.

    Examples
    --------
    >>> from scisuite import scenarios, solvers
    >>> world = scenarios.make("trials/linear")
    >>> solver = solvers.make("active_rct").fit(world, seed=0, budget="400 evaluations")
    >>> sorted(solver.evaluate(world))
    ['coverage', 'n_used', 'obs_only', 'pehe', 'rct_only', 'width']
    """

    id = "active_rct"
    example = ("trials/segments", "200 evaluations")

    def __init__(
        self,
        learner: str = "linear",
        learner_config: Mapping[str, Any] | None = None,
        batch: int = 50,
        weights: Sequence[float] = (1.0, 1.0, 1.0),
        strategy: Strategy = "score",
        p_rule: Rule = "fixed",
        p_bounds: tuple[float, float] = (0.2, 0.8),
    ) -> None:
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise InvalidInput(f"batch must be a positive whole number, not {batch!r}")
        if strategy not in ("score", "random", "effect"):
            raise InvalidInput(f"strategy must be score, random or effect, not {strategy!r}")
        randomisation = Randomisation(p_rule, p_bounds)
        if not isinstance(learner_config, Mapping | None):
            raise InvalidInput(f"learner_config must be a mapping or None, not {learner_config!r}")
        self.config = {
            "learner": learner,
            "learner_config": jsonable(dict(learner_config or {})),
            "batch": batch,
            "weights": list(score_weights(weights)),
            "strategy": strategy,
            "p_rule": randomisation.rule,
            "p_bounds": list(randomisation.bounds),
        }
        self._world: Trial | None = None
        self._scenario: tuple[str, int] = ("", 0)
        self._settings: dict[str, Any] | None = None
        self._learner: Learner | None = None
        self._log = Logged(np.zeros((0, 0)), np.zeros(0, dtype=np.int64), np.zeros(0))
        self._linear = False
        self.batches: tuple[Logged, ...] = ()

    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        """Draw the trial of ``seed`` and spend the budget on it, in ``evaluations`` (units) or ``cpu_seconds``.

        Raises
        ------
        InvalidInput
            If the scenario is no trial, the budget is in steps, or it exceeds the pool.
        MissingDependency
            If the learner's package is not installed.
        """
        seed, allowed = as_seed(seed), Budget.parse(budget)
        if allowed.unit == "steps":
            raise InvalidInput(f'active_rct counts units; give a budget like "400 evaluations", not {str(allowed)!r}')
        if not isinstance(scenario, TrialScenario):
            raise InvalidInput(f"active_rct needs a trial, not {type(scenario).__name__}")
        world = scenario.trial(seed)
        if allowed.unit == "evaluations" and allowed.amount > world.n_pool:
            raise InvalidInput(f"the budget of {allowed.amount:g} units exceeds the pool of {world.n_pool}")
        clock = CpuClock()
        loop = self._new_loop(world, seed)
        rng = generator(seed, "answers")
        history = []
        while len(loop.left):
            left = allowed.amount - loop.n_spent if allowed.unit == "evaluations" else len(loop.left)
            late = allowed.unit == "cpu_seconds" and clock.cpu_seconds() >= allowed.amount
            if left < 1 or (late and loop.n_spent):
                break
            units, p = loop.select(int(min(self.config["batch"], left, len(loop.left))))
            loop.observe(units, *world.reveal(units, p, rng), p)
            history.append({"units": loop.n_spent})
        seconds = clock.cpu_seconds()
        used = max(seconds, 1e-9) if allowed.unit == "cpu_seconds" else float(loop.n_spent)
        self._world, self._learner = world, loop.learner
        self._log, self._linear, self._scenario = world.observational, world.linear, (scenario.id, seed)
        self._settings = _settings(scenario)
        group = world.pool_group
        self.batches = tuple(
            Logged(
                world.pool_x[each.units], each.t, each.y, p=each.p, group=None if group is None else group[each.units]
            )
            for each in loop.history
        )
        self.fit_report = FitReport(str(allowed), used, seconds, history)
        return self

    def predict(self, inputs: Any) -> Floats:
        """τ̂, float64 (n,), in units of the outcome, for covariates (n, d).

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the covariates are of another width or not finite.
        """
        self._require_fitted()
        return self._effect(self._rows(inputs))

    def interval(
        self, inputs: Any, level: float = 0.95, kind: Kind = "wald", *, sigma: float | None = None, S: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Bounds of the effect, float64 (n,) each; see :meth:`LinearCATE.interval`.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the learner is not the linear one, which alone has intervals, or an argument is out of range.
        """
        self._require_fitted()
        if not isinstance(self._learner, LinearLearner):
            raise InvalidInput(f"the learner {self.config['learner']!r} has no intervals; the linear one has")
        return self._learner.cate.interval(self._learner.basis(self._rows(inputs)), level, kind, sigma=sigma, S=S)

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        """Error on a held-out slice of the trial that was fitted.

        Returns
        -------
        dict
            ``pehe``, or ``qini`` where the true effects are not known; ``n_used``, units randomised; ``obs_only`` and
            ``rct_only``, the same error of least squares on the log alone and of the linear learner on the randomised
            units without the log; of the linear learner where the truth is known also ``coverage`` and mean ``width``
            of its 95 % intervals.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the scenario is not the one that was fitted or has other arguments, there is no such split, or the figure
            does not exist for its outcomes.
        """
        self._require_fitted()
        if split not in SPLITS:
            raise InvalidInput(f"split must be {' or '.join(SPLITS)}, not {split!r}")
        world = self._trial(scenario)
        held_out = world.test if split == "test" else world.validation
        alone = make_learner("linear_log", world)
        randomised = make_learner("linear", world, nuisance="none")
        for each in self.batches:
            randomised.observe(each)
        name = "pehe" if held_out.tau is not None else "qini"
        figures = {}
        for key, effect in (
            (name, self._effect(held_out.x)),
            ("obs_only", alone.effect(held_out.x)),
            ("rct_only", randomised.effect(held_out.x)),
        ):
            if held_out.tau is not None:
                figures[key] = pehe(effect, held_out.tau)
            else:
                figures[key] = qini(effect, held_out.t, held_out.y)
        figures["n_used"] = float(sum(len(each) for each in self.batches))
        if held_out.tau is not None and isinstance(self._learner, LinearLearner):
            low, high = self.interval(held_out.x)
            figures |= {"coverage": coverage(low, high, held_out.tau), "width": interval_width(low, high)}
        return figures

    def example_inputs(self, scenario: Scenario) -> Floats:
        """float64 (8, d): covariates of held-out units, for the contract suite."""
        return self._trial(scenario).test.x[:8]

    def as_tool(self) -> Tool:
        """τ̂ of units: ``{"inputs": [[…], …]}`` → ``{"effect": […], "low": […], "high": […]}``.

        The bounds, of 95 % intervals, are there for the linear learner; one that is infinite is null.
        """
        schema = {
            "type": "object",
            "properties": {
                "inputs": {
                    "type": "array",
                    "description": "covariates, one row a unit",
                    "items": {"type": "array", "items": {"type": "number"}},
                }
            },
            "required": ["inputs"],
        }

        def call(arguments: dict[str, Any]) -> dict[str, Any]:
            answer: dict[str, Any] = {"effect": self.predict(arguments["inputs"])}
            if isinstance(self._learner, LinearLearner):
                answer["low"], answer["high"] = self.interval(arguments["inputs"])
            found: dict[str, Any] = jsonable(answer)
            return found

        return Tool("active_rct_effect", "Estimated effect of treating units with these covariates.", schema, call)

    def _new_loop(self, world: Trial, seed: int) -> ActiveRCT:
        config = self.config
        learner = make_learner(config["learner"], world, seed, **config["learner_config"])
        return ActiveRCT(
            learner,
            world.observational,
            world.pool_x,
            batch=min(config["batch"], world.n_pool),
            weights=config["weights"],
            strategy=config["strategy"],
            p_rule=config["p_rule"],
            p_bounds=tuple(config["p_bounds"]),
            binary=world.binary,
            known_p=world.propensity(np.arange(world.n_pool)),
            group=world.pool_group,
            seed=seed,
        )

    def _trial(self, scenario: Any) -> Trial:
        """The trial that was fitted, refused where the scenario is another."""
        name, seed = self._scenario
        needs = f"evaluate needs {name or 'the trial'}, on which active_rct was fitted"
        if not isinstance(scenario, TrialScenario) or scenario.id != name:
            raise InvalidInput(needs)
        given = _settings(scenario)
        fitted = given if self._settings is None else self._settings
        for key in ("kind", *sorted(fitted)):
            if key not in given or given[key] != fitted[key]:
                raise InvalidInput(f"{needs}, with {key} {fitted[key]!r}, not {given.get(key)!r}")
        if self._world is None:
            drawn = scenario.trial(seed)
            if not all(np.array_equal(getattr(drawn.observational, key), getattr(self._log, key)) for key in "xty"):
                raise InvalidInput(f"{needs}: this one has another log")
            self._world = drawn
        return self._world

    def _effect(self, rows: Floats) -> Floats:
        assert self._learner is not None
        return self._learner.effect(rows)

    def _rows(self, inputs: Any) -> Floats:
        rows = finite_rows("inputs", inputs)
        if rows.shape[1] != self._log.x.shape[1]:
            raise InvalidInput(f"inputs have {rows.shape[1]} covariates, the trial {self._log.x.shape[1]}")
        return rows

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        name, seed = self._scenario
        state = {
            "scenario": name,
            "seed": seed,
            "settings": self._settings,
            "linear": self._linear,
            "sizes": [len(batch) for batch in self.batches],
        }
        grouped = self.batches[0].group is not None
        randomised = {
            key: np.concatenate([getattr(batch, key) for batch in self.batches])
            for key in ("x", "t", "y", "p", *(["group"] if grouped else []))
        }
        log = {key: getattr(self._log, key) for key in ("x", "t", "y")}
        tensors = {f"randomised.{key}": value for key, value in randomised.items()}
        return state, tensors | {f"log.{key}": value for key, value in log.items()}

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self._scenario, self._linear, self._world = (state["scenario"], state["seed"]), bool(state["linear"]), None
        # Absent in saves of earlier versions.
        self._settings = state.get("settings")
        self._log = Logged(*(tensors[f"log.{key}"] for key in ("x", "t", "y")))
        bounds = np.cumsum([0, *state["sizes"]])
        rows = {
            key: tensors[f"randomised.{key}"] for key in ("x", "t", "y", "p", "group") if f"randomised.{key}" in tensors
        }
        self.batches = tuple(
            Logged(**{key: each[a:b] for key, each in rows.items()}) for a, b in itertools.pairwise(bounds)
        )
        origin = _Origin(self._log, self._linear)
        self._learner = make_learner(self.config["learner"], origin, state["seed"], **self.config["learner_config"])
        for batch in self.batches:
            self._learner.observe(batch)


def _settings(scenario: TrialScenario) -> dict[str, Any]:
    settings: dict[str, Any] = jsonable({"kind": scenario.kind, **scenario.settings})
    return settings
