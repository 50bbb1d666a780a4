"""Reduction of reaction networks behind scisuite's solver contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from scisuite.core import Budget, CpuClock, EngineFailure, InvalidInput, Tool, as_seed, generator
from scisuite.scenarios import Scenario
from scisuite.scenarios.factor_graphs import FactorGraph, FactorGraphScenario
from scisuite.solvers.base import FitReport, Solver
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.compile import Rates, compile_napp_adams, compiled_molecularity, compiled_size
from scisuite.solvers.crn_reduce.network import CRN
from scisuite.solvers.crn_reduce.recovery import recover_named
from scisuite.solvers.crn_reduce.reduction import Reduction, reduce, reduce_crn
from scisuite.solvers.crn_reduce.reduction.moves import MOVES

Floats = NDArray[np.float64]


class CRNReduceSolver(Solver):
    """Compile a factor graph, recover it from its network, and reduce it.

    Parameters
    ----------
    moves : sequence of str
        Which moves to use: ``leaf``, ``unary``, ``series``, ``cluster``, ``support``, ``split``.
    k_rec : float
        Rate of recycling of the networks, above zero.

    Raises
    ------
    InvalidInput
        If there is no such move or ``k_rec`` is not above zero.

    Examples
    --------
    >>> from scisuite import scenarios, solvers
    >>> chain = scenarios.make("factor_graphs/hmm")
    >>> solver = solvers.make("crn_reduce").fit(chain, seed=0, budget="1 steps")
    >>> figures = solver.evaluate(chain)
    >>> figures["reactions_before"], figures["reactions_after"]
    (744.0, 18.0)
    """

    id = "crn_reduce"
    example = ("factor_graphs/random_loopy", "1 steps")

    def __init__(self, moves: Sequence[str] = ("leaf", "unary", "series"), k_rec: float = 0.1) -> None:
        if isinstance(moves, str) or not all(move in MOVES for move in moves):
            raise InvalidInput(f"moves must be a list of {', '.join(MOVES)}, not {moves!r}")
        self.config = {"moves": list(moves), "k_rec": Rates(k_rec=k_rec).k_rec}
        self.graph: FactorGraph | None = None
        self.reduction: Reduction | None = None
        self._beliefs: dict[str, Floats] | None = None

    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        """Draw the instance of ``seed``, compile it, recover it from its network, and reduce it: one step.

        Raises
        ------
        InvalidInput
            If the scenario gives no factor graphs, or the budget is in evaluations.
        """
        seed, allowed = as_seed(seed), Budget.parse(budget)
        if allowed.unit == "evaluations":
            raise InvalidInput(f'crn_reduce counts reductions as steps; give "1 steps", not {str(allowed)!r}')
        if not isinstance(scenario, FactorGraphScenario):
            raise InvalidInput(f"crn_reduce needs a scenario of factor graphs, not {type(scenario).__name__}")
        problem = scenario.generate(generator(seed, "problem"))
        clock = CpuClock()
        recovered = recover_named(compile_napp_adams(problem.graph, k_rec=self.config["k_rec"])).graph
        graph = FactorGraph.trusted(
            recovered.card, recovered.factors, problem.graph.log_scale, dict(problem.graph.states)
        )
        reduction = reduce(graph, problem.keep, moves=tuple(self.config["moves"]))
        seconds = clock.cpu_seconds()
        self.graph, self.reduction, self._beliefs = graph, reduction, None
        used = max(seconds, 1e-9) if allowed.unit == "cpu_seconds" else 1.0
        self.fit_report = FitReport(str(allowed), used, seconds, [{"moves": len(reduction.certificate)}])
        return self

    def predict(self, inputs: Any) -> Any:
        """The reduced network of a network, or beliefs of variables of the fitted graph.

        Parameters
        ----------
        inputs : CRN, or int (m,)
            A network of Napp and Adams's form, of which every variable that the fit kept is kept; or numbers of
            variables, in the order of the fitted graph.

        Returns
        -------
        CRN or float64 (m, K)
            The reduced network; or the beliefs, found by belief propagation on the reduced graph and lifted to the
            eliminated variables, zero behind a variable's last value.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the network is not of that form or lacks a kept variable, or there is no such variable.
        EngineFailure
            If belief propagation does not converge.
        """
        graph, reduction = self._fitted()
        if isinstance(inputs, CRN):
            return reduce_crn(inputs, reduction.keep, moves=tuple(self.config["moves"]))[0]
        numbers = np.asarray(inputs)
        if numbers.ndim != 1 or not len(numbers) or not np.issubdtype(numbers.dtype, np.integer):
            raise InvalidInput(f"inputs must be a CRN or whole numbers (m,), not {numbers.dtype} {numbers.shape}")
        names = list(graph.card)
        if not 0 <= numbers.min() <= numbers.max() < len(names):
            raise InvalidInput(f"variables are numbered 0 to {len(names) - 1}, not {numbers.min()} to {numbers.max()}")
        beliefs = self._lifted()
        padded = np.zeros((len(numbers), max(graph.card.values())))
        for row, number in zip(padded, numbers, strict=True):
            belief = beliefs[names[number]]
            row[: len(belief)] = belief
        return padded

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        """Sizes before and after, and the largest change of a surviving belief, for the instance that was fitted.

        There is one split. Time is in ``fit_report.cpu_seconds``.

        Returns
        -------
        dict
            ``species_before``, ``species_after``, ``reactions_before``, ``reactions_after``, ``max_molecularity`` and
            ``belief_error``.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the scenario gives no factor graphs.
        EngineFailure
            If belief propagation does not converge on either graph.
        """
        graph, reduction = self._fitted()
        if not isinstance(scenario, FactorGraphScenario):
            raise InvalidInput(f"crn_reduce needs a scenario of factor graphs, not {type(scenario).__name__}")
        before, after = compiled_size(graph), compiled_size(reduction.graph)
        full, small = bp(graph), bp(reduction.graph)
        _require_converged(full.converged and small.converged)
        errors = [np.abs(small.var_beliefs[v] - b).max() for v, b in reduction.surviving(full.var_beliefs).items()]
        return {
            "species_before": float(before[0]),
            "species_after": float(after[0]),
            "reactions_before": float(before[1]),
            "reactions_after": float(after[1]),
            "max_molecularity": float(compiled_molecularity(reduction.graph)),
            "belief_error": float(max(errors)),
        }

    def example_inputs(self, scenario: Scenario) -> NDArray[np.int64]:
        """int64 (n,): the numbers of all variables of the fitted graph, for the contract suite."""
        return np.arange(len(self._fitted()[0].card))

    def as_tool(self) -> Tool:
        """Beliefs of a variable: ``{"variable": "HR"}`` → ``{"belief": {"LOW": .02, …}}``."""
        schema = {
            "type": "object",
            "properties": {"variable": {"type": "string", "description": "name of the variable"}},
            "required": ["variable"],
        }

        def call(arguments: dict[str, Any]) -> dict[str, Any]:
            graph = self._fitted()[0]
            (name,) = graph.require_variables([arguments["variable"]], "variable")
            values = graph.states.get(name, tuple(str(k) for k in range(graph.card[name])))
            return {"belief": dict(zip(values, self._lifted()[name].tolist(), strict=True))}

        description = "The belief of a variable, by belief propagation on the reduced factor graph."
        return Tool("crn_reduce_belief", description, schema, call)

    def _lifted(self) -> dict[str, Floats]:
        if self._beliefs is None:
            _, reduction = self._fitted()
            result = bp(reduction.graph)
            _require_converged(result.converged)
            self._beliefs = dict(reduction.lift(result).var_beliefs)
        return self._beliefs

    def _fitted(self) -> tuple[FactorGraph, Reduction]:
        self._require_fitted()
        assert self.graph is not None
        assert self.reduction is not None
        return self.graph, self.reduction

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        graph, reduction = self._fitted()
        state = {
            "card": dict(graph.card),
            "scopes": {name: list(factor.variables) for name, factor in graph.factors.items()},
            "log_scale": graph.log_scale,
            "states": {v: list(names) for v, names in graph.states.items()},
            "keep": list(reduction.keep),
        }
        return state, {f"table.{name}": factor.table for name, factor in graph.factors.items()}

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        factors = {name: (scope, tensors[f"table.{name}"]) for name, scope in state["scopes"].items()}
        self.graph = FactorGraph(state["card"], factors, log_scale=state["log_scale"], states=state["states"])
        self.reduction = reduce(self.graph, state["keep"], moves=tuple(self.config["moves"]))
        self._beliefs = None


def _require_converged(converged: bool) -> None:
    if not converged:
        raise EngineFailure("belief propagation does not converge on this graph, so that it has no beliefs to report")
