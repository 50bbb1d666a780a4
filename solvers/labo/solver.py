"""LABO behind scisuite's solver contract."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scisuite.core import (
    Budget,
    Categorical,
    CpuClock,
    DamagedFile,
    Integer,
    InvalidInput,
    NotFitted,
    Space,
    Tool,
    as_seed,
    generator,
)
from scisuite.scenarios import BlackBoxScenario, Scenario
from scisuite.solvers.base import FitReport, Solver
from scisuite.solvers.labo.campaign import Campaign
from scisuite.solvers.labo.figures import figures_of_merit
from scisuite.solvers.labo.gp import Hyperparameters
from scisuite.solvers.labo.labo import LABO
from scisuite.solvers.labo.oracles import RandomOracle, SimulatedOracle, make_oracle
from scisuite.solvers.labo.strategies import STRATEGIES, make_strategy
from scisuite.solvers.labo.surrogate import KOHSurrogate

Array = NDArray[np.float64]


class LABOSolver(Solver):
    """Run a campaign on a black-box scenario and keep its data and surrogate.

    Parameters
    ----------
    strategy : str
        ``"labo"``, or an ablation that keeps its surrogate (a key of
        :data:`~scisuite.solvers.labo.strategies.STRATEGIES` whose class is LABO's or derives from it).
    oracle : str
        ``"simulated"``, ``"random"``, ``"local"`` or ``"endpoint"``.
    oracle_config : dict or None
        JSON arguments of the oracle. A simulated or random one without ``seed`` takes the seed of the fit.
    cost_real, cost_llm : float
        Cost of a query, for the figure ``cost``.
    **options
        JSON arguments of the strategy: ``tau``, ``q``, ``beta``, ``rho_fit``, ``n_latin``, ``max_llm``, …

    Raises
    ------
    InvalidInput
        If the strategy is unknown or has no surrogate, or an option is refused.

    Examples
    --------
    >>> from scisuite import scenarios, solvers
    >>> solver = solvers.make("labo").fit(scenarios.make("functions/quadratic2"), seed=0, budget="8 evaluations")
    >>> sorted(solver.evaluate(scenarios.make("functions/quadratic2")))[:3]
    ['auc_regret', 'best', 'cost']
    """

    id = "labo"
    example = ("functions/quadratic2", "8 evaluations")

    def __init__(
        self,
        strategy: str = "labo",
        oracle: str = "simulated",
        oracle_config: dict[str, Any] | None = None,
        cost_real: float = 1.0,
        cost_llm: float = 0.01,
        **options: Any,
    ) -> None:
        known = [name for name, strategy in STRATEGIES.items() if strategy.has_surrogate]
        if strategy not in known:
            raise InvalidInput(f"strategy must be one of {', '.join(known)}, not {strategy!r}")
        self.config = {
            "strategy": strategy,
            "oracle": oracle,
            "oracle_config": dict(oracle_config or {}),
            "cost_real": float(cost_real),
            "cost_llm": float(cost_llm),
            **options,
        }
        self._new_oracle(0)
        make_strategy(strategy, space=Space.from_bounds(x=(0, 1)), value_range=(0.0, 1.0), **options)
        self.campaign: Campaign | None = None
        self._surrogate: KOHSurrogate | None = None

    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        """Run the campaign; the budget is in ``evaluations``, the real runs.

        Raises
        ------
        InvalidInput
            If the scenario is no black box, or the budget has another unit or is less than the starting points.
        OracleError
            If the oracle stops answering.
        """
        seed = as_seed(seed)
        allowed = Budget.parse(budget)
        if allowed.unit != "evaluations":
            raise InvalidInput(
                f'labo counts real evaluations; give a budget like "60 evaluations", not {str(allowed)!r}'
            )
        if not isinstance(scenario, BlackBoxScenario):
            raise InvalidInput(f"labo needs a black-box scenario, not {type(scenario).__name__}")
        clock = CpuClock()
        options = {k: v for k, v in self.config.items() if k not in _OWN_KEYS}
        campaign = make_strategy(
            self.config["strategy"],
            space=scenario.space,
            pool=scenario.pool,
            maximise=scenario.maximise,
            budget=allowed.count,
            seed=seed,
            oracle=self._new_oracle(seed).bind(scenario),
            value_range=scenario.value_range,
            **options,
        )
        campaign.run(scenario)
        assert isinstance(campaign, LABO)
        self.campaign = campaign
        self._space, self._sign = scenario.space, campaign.sign
        self._linked = campaign.uses_llm and len(np.unique(campaign.paired_data()[0], axis=0)) >= 2
        self._data = self._training_data(campaign, self._linked)
        self._figures = (allowed.count, campaign.n_start, campaign.n_llm, campaign.n_warm_start)
        self._surrogate = self._refit((None, None))
        history = [
            {"source": s.query.source, "value": s.value, "best": s.best, "p_delta": s.p_delta, "rho": s.rho}
            for s in campaign.trace.steps
        ]
        history = [{k: (None if isinstance(v, float) and v != v else v) for k, v in step.items()} for step in history]
        self.fit_report = FitReport(str(allowed), float(campaign.n_real), clock.cpu_seconds(), history)
        return self

    def predict(self, inputs: Any) -> tuple[Array, Array]:
        """Posterior mean and standard deviation (n,), in the value's own unit, at encoded ``inputs`` (n, d)."""
        if self._surrogate is None:
            raise NotFitted("labo has not been fitted; call fit(scenario, seed=…, budget=…) or solvers.load first")
        posterior = self._surrogate.predict(self._space.require(inputs))
        return self._sign * posterior.mu, np.sqrt(posterior.var)

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        """Figures of the campaign, by :func:`~scisuite.solvers.labo.figures.figures_of_merit`; there are no splits."""
        if self._surrogate is None:
            raise NotFitted("labo has not been fitted; call fit(scenario, seed=…, budget=…) or solvers.load first")
        if not isinstance(scenario, BlackBoxScenario) or scenario.space.to_json() != self._space.to_json():
            raise InvalidInput("evaluate needs the scenario that labo was fitted on")
        budget, n_start, n_llm, n_warm_start = self._figures
        return figures_of_merit(
            scenario,
            self._data["real_values"],
            budget=budget,
            n_start=n_start,
            n_llm=n_llm,
            n_warm_start=n_warm_start,
            cost_real=self.config["cost_real"],
            cost_llm=self.config["cost_llm"],
        )

    def as_tool(self) -> Tool:
        """Predictions in the user's units: ``{"points": [{name: value, …}]}`` → ``{"mean": […], "std": […]}``.

        Once fitted, the schema names every variable with its unit, bounds or levels.
        """
        space = self._space if self._surrogate is not None else None
        point = {"type": "object"} if space is None else point_schema(space)
        schema = {"type": "object", "properties": {"points": {"type": "array", "items": point}}, "required": ["points"]}

        def call(arguments: dict[str, Any]) -> dict[str, Any]:
            if self._surrogate is None or not isinstance(arguments["points"], list):
                raise InvalidInput("points must be a list of objects, and labo must have been fitted")
            mean, std = self.predict(self._space.encode(arguments["points"]))
            return {"mean": mean.tolist(), "std": std.tolist()}

        return Tool("labo_predict", "Predict the outcome of experiments, with an uncertainty.", schema, call)

    def _new_oracle(self, seed: int) -> Any:
        config = dict(self.config["oracle_config"])
        oracle = make_oracle(self.config["oracle"], **config)
        if isinstance(oracle, SimulatedOracle | RandomOracle) and "seed" not in config:
            own_seed = int(generator(seed, "oracle").integers(2**31))
            oracle = make_oracle(self.config["oracle"], **config, seed=own_seed)
        return oracle

    @staticmethod
    def _training_data(campaign: LABO, linked: bool) -> dict[str, Array]:
        x_llm, y_llm = campaign.llm_data()
        x_pairs, real, cheap = campaign.paired_data()
        if not linked:
            x_pairs, real = campaign.real_data()
            cheap = np.zeros(len(real))
            x_llm, y_llm = x_pairs, cheap
        return {
            "x_llm": x_llm,
            "y_llm": y_llm,
            "x_pairs": x_pairs,
            "y_real": real,
            "y_llm_at_pairs": cheap,
            "real_values": campaign.trace.real_values(),
        }

    def _refit(self, hyperparameters: tuple[Hyperparameters | None, Hyperparameters | None]) -> KOHSurrogate:
        data = self._data
        surrogate = KOHSurrogate(
            self.config.get("rho_fit", "centred") if self._linked else "fixed",
            self.config.get("rho", 0.0) if self._linked else 0.0,
            sigma_l_includes_noise=bool(self.config.get("sigma_l_includes_noise", False)),
            hyperparameters=hyperparameters,
        )
        return surrogate.fit(data["x_llm"], data["y_llm"], data["x_pairs"], data["y_real"], data["y_llm_at_pairs"])

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        surrogate = self._surrogate
        assert surrogate is not None
        chosen = [surrogate.gp_cheap.hyperparameters, surrogate.gp_discrepancy.hyperparameters]
        state = {
            "space": self._space.to_json(),
            "sign": self._sign,
            "linked": self._linked,
            "hyperparameters": [[h.length_scale, h.noise] for h in chosen if h is not None],
            "figures": list(self._figures),
        }
        return state, dict(self._data)

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        space = Space.from_json(state["space"])
        cheap, discrepancy = (Hyperparameters(float(a), float(b)) for a, b in state["hyperparameters"])
        if missing := {"x_llm", "y_llm", "x_pairs", "y_real", "y_llm_at_pairs", "real_values"} - set(tensors):
            raise DamagedFile(f"the saved state of labo lacks {', '.join(sorted(missing))}")
        self._space, self._sign = space, float(state["sign"])
        self._data = tensors
        self._linked = bool(state["linked"])
        self._figures = tuple(int(n) for n in state["figures"])
        self._surrogate = self._refit((cheap, discrepancy))


_OWN_KEYS = ("strategy", "oracle", "oracle_config", "cost_real", "cost_llm")


def point_schema(space: Space) -> dict[str, Any]:
    """JSON Schema of one point of ``space`` in the user's units."""
    properties: dict[str, Any] = {}
    for dimension in space.dimensions:
        fields: dict[str, Any] = {"description": f"in {dimension.unit}"} if dimension.unit else {}
        if isinstance(dimension, Categorical):
            fields["enum"] = list(dimension.levels)
        else:
            kind = "integer" if isinstance(dimension, Integer) else "number"
            fields |= {"type": kind, "minimum": dimension.low, "maximum": dimension.high}
        properties[dimension.name] = fields
    schema = {"type": "object", "properties": properties, "required": list(space.names), "additionalProperties": False}
    return {**schema, "description": "fractions that sum to one"} if space.simplex else schema
