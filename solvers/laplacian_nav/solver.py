"""Laplacian navigation behind scisuite's solver contract."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import Budget, CpuClock, InvalidInput, Tool, as_seed, generator
from scisuite.scenarios import Scenario
from scisuite.scenarios.nav import ACTION_NAMES, GridWorld, NavScenario
from scisuite.solvers.base import FitReport, Solver
from scisuite.solvers.laplacian_nav.rollout import success_and_spl
from scisuite.solvers.laplacian_nav.sources import SOURCES, Source

Ints = NDArray[np.int64]

SPLITS = ("train", "validation", "test")
N_GOALS, N_STARTS, MAX_FACTOR = 20, 40, 10


class LaplacianNavSolver(Solver):
    """Learn a potential in one layout of a scenario, and climb it towards any goal.

    Parameters
    ----------
    source : {"graph", "transitions", "pixels"}
        ``"graph"`` reads the map and needs no walk: (L + εI)⁻¹; where there are one-way doors, the discounted walk
        (I − γP)⁻¹. ``"transitions"`` walks at random and solves (I − γP̂)⁻¹ of what it saw, by tried moves only.
        ``"pixels"`` learns the slowest modes from pictures along a random walk (needs torch).
    eps : float or str
        Of ``"graph"``: 0 for the pseudo-inverse, > 0, or ``"sr:0.99"`` for a successor representation.
    modes : int or None
        Use only so many eigenmodes beside the constant one, by ``distance``; of ``"pixels"`` at most 32, which is its
        default. Arrival is then no longer certain. Not for ``"transitions"``.
    gamma : float
        Discount in (0, 1) of the walk, for ``"transitions"`` and one-way doors.
    distance : {"inner", "resistance", "biharmonic"}
        What is read out of the modes.
    layout_seed : int
        Which layout of the scenario.
    method : {"spectral_contrastive", "allo"}
        How ``"pixels"`` learns.
    train_steps : int
        Gradient steps of ``"pixels"`` where the budget is in steps.

    Raises
    ------
    InvalidInput
        If an argument is out of range.

    Examples
    --------
    >>> from scisuite import scenarios, solvers
    >>> maze = scenarios.make("nav/small_maze")
    >>> solver = solvers.make("laplacian_nav").fit(maze, seed=0, budget="1 steps")
    >>> solver.evaluate(maze)["success"]
    1.0
    """

    id = "laplacian_nav"
    example = ("nav/small_maze", "2000 steps")

    def __init__(
        self,
        source: str = "graph",
        eps: float | str = 0.1,
        modes: int | None = None,
        gamma: float = 0.97,
        distance: str = "resistance",
        layout_seed: int = 0,
        method: str = "spectral_contrastive",
        train_steps: int = 1000,
    ) -> None:
        _one_of("source", source, tuple(SOURCES))
        _one_of("distance", distance, ("inner", "resistance", "biharmonic"))
        _one_of("method", method, ("spectral_contrastive", "allo"))
        if modes is not None and source == "transitions":
            raise InvalidInput('modes are for source="graph" and "pixels"; "transitions" solves for the potential')
        for name, count in (("modes", modes), ("train_steps", train_steps)):
            if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
                raise InvalidInput(f"{name} must be a positive whole number, not {count!r}")
        if not (isinstance(gamma, int | float) and 0 < gamma < 1):
            raise InvalidInput(f"gamma must be in (0, 1), not {gamma!r}")
        self.config = {
            "source": source,
            "eps": eps if isinstance(eps, str) else _non_negative("eps", eps),
            "modes": modes,
            "gamma": float(gamma),
            "distance": distance,
            "layout_seed": as_seed(layout_seed),
            "method": method,
            "train_steps": train_steps,
        }
        self.world: GridWorld | None = None
        self._source: Source | None = None
        self._arrays: dict[str, Any] = {}

    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        """Learn in the scenario's layout; the budget is in ``steps``, the transitions walked, or ``cpu_seconds``.

        ``"graph"`` walks nowhere and counts as one step. ``fit_report.history`` holds the number of transitions that
        were seen, so that a fit of ``"transitions"`` on CPU seconds can be made again on steps.

        Raises
        ------
        InvalidInput
            If the scenario is no ``nav/…`` one, the budget is in evaluations, or ε or the modes do not suit the layout.
        MissingDependency
            If ``"pixels"`` lacks torch.
        """
        seed, allowed = as_seed(seed), Budget.parse(budget)
        if allowed.unit == "evaluations":
            raise InvalidInput(
                f'laplacian_nav counts transitions; give a budget like "10000 steps", not {str(allowed)!r}'
            )
        world = self._layout(scenario)
        clock = CpuClock()
        source = SOURCES[self.config["source"]].learn(world, self.config, seed, allowed)
        seconds = clock.cpu_seconds()
        used = max(seconds, 1e-9) if allowed.unit == "cpu_seconds" else float(max(source.transitions, 1))
        self.world, self._source = world, source
        self.fit_report = FitReport(str(allowed), used, seconds, [{"transitions": source.transitions}])
        return self

    def predict(self, inputs: Any) -> Any:
        """The action towards a goal.

        Parameters
        ----------
        inputs : (int, int) or int (m, 2)
            State and goal, numbered as the free cells of the layout in reading order.

        Returns
        -------
        int or int64 (m,)
            Up, right, down, left = 0 … 3. In a state of which nothing is known it is 0.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If they are no whole numbers, of another shape, or not in the layout.
        """
        source, world = self._fitted()
        pairs = np.asarray(inputs)
        single = pairs.ndim == 1
        rows = pairs[None] if single else pairs
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise InvalidInput(f"inputs must be (state, goal) or of shape (m, 2), not {pairs.shape}")
        if not np.issubdtype(rows.dtype, np.integer):
            raise InvalidInput(f"states and goals must be whole numbers, not {rows.dtype}")
        states = world.states(rows[:, 0])
        goals, column = np.unique(world.states(rows[:, 1]), return_inverse=True)
        actions = np.maximum(source.actions(goals)[states, column], 0)
        return int(actions[0]) if single else actions

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        """Navigate between 20 goals and 40 starts drawn for the split, at most 10 × the shortest path long.

        Moves do what they say, also where an environment would let the navigator slip.

        Returns
        -------
        dict
            ``success``: share of the runs that arrive; ``spl``: mean of shortest / walked, 0 for those that do not;
            ``steps``: mean number of moves of those that arrive, 0 if none does; ``residual``: how far potential or
            modes are from solving their equation.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the scenario's layout is not the one that was fitted, or there is no such split.
        """
        source, world = self._fitted()
        _one_of("split", split, SPLITS)
        if not _same_world(self._layout(scenario), world):
            raise InvalidInput("evaluate needs the scenario that laplacian_nav was fitted on")
        goals, starts = _goals_and_starts(world, split)
        figures = success_and_spl(source.actions(goals), replace(world, slip=0.0), goals, starts, max_factor=MAX_FACTOR)
        steps = float(figures["steps"])
        return {
            "success": float(figures["success"]),
            "spl": float(figures["spl"]),
            "steps": steps if math.isfinite(steps) else 0.0,
            "residual": source.residual(goals),
        }

    def example_inputs(self, scenario: Any) -> Ints:
        """int64 (16, 2): states and goals of the layout, for the contract suite."""
        pairs: Ints = generator(0, "example").integers(self._layout(scenario).n, size=(16, 2))
        return pairs

    def as_tool(self) -> Tool:
        """One move: ``{"state": 17, "goal": 203}`` → ``{"action": 2, "name": "down", "next_state": 19}``.

        Once fitted, the schema says how many states there are.
        """
        number: dict[str, Any] = {"type": "integer", "minimum": 0}
        if self.world is not None:
            number["maximum"] = self.world.n - 1
        properties = {
            "state": {**number, "description": "where the navigator is: the number of its free cell, in reading order"},
            "goal": {**number, "description": "the free cell to go to"},
        }
        schema = {"type": "object", "properties": properties, "required": ["state", "goal"]}

        def call(arguments: dict[str, Any]) -> dict[str, Any]:
            world = self._fitted()[1]
            if any(isinstance(arguments[name], bool) or not isinstance(arguments[name], int) for name in properties):
                raise InvalidInput("state and goal must be whole numbers")
            action = self.predict((arguments["state"], arguments["goal"]))
            following = int(world.moves[arguments["state"], action])
            return {"action": action, "name": ACTION_NAMES[action], "next_state": following}

        return Tool("laplacian_nav_move", "The next move of a navigator towards a goal in a known map.", schema, call)

    def _layout(self, scenario: Any) -> GridWorld:
        if not isinstance(scenario, NavScenario):
            raise InvalidInput(f"laplacian_nav needs a nav scenario, not {type(scenario).__name__}")
        return scenario.layout(self.config["layout_seed"])

    def _fitted(self) -> tuple[Source, GridWorld]:
        self._require_fitted()
        assert self.world is not None
        if self._source is None:
            self._source = SOURCES[self.config["source"]].rebuild(self.world, self.config, self._arrays)
        return self._source, self.world

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        source, world = self._fitted()
        state = {"neighbours": world.neighbours, "periodic": world.periodic, "slip": world.slip}
        closed = {} if world.closed is None else {"world.closed": world.closed}
        learnt = {f"source.{name}": array for name, array in source.arrays.items()}
        return state, {"world.free": world.free, **closed, **learnt}

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self.world = GridWorld(
            tensors["world.free"],
            neighbours=state["neighbours"],
            periodic=state["periodic"],
            closed=tensors.get("world.closed"),
            slip=state["slip"],
        )
        arrays = {name.removeprefix("source."): a for name, a in tensors.items() if name.startswith("source.")}
        self._source = SOURCES[self.config["source"]].rebuild(self.world, self.config, arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Without the factorisation, which cannot be pickled: it is made again from what was learnt."""
        arrays = self._arrays if self._source is None else self._source.arrays
        return {**self.__dict__, "_source": None, "_arrays": arrays}


def _goals_and_starts(world: GridWorld, split: str) -> tuple[Ints, Ints]:
    """Up to 20 goals and 40 starts, different states each, in the largest strongly connected component."""
    states = np.flatnonzero(world.components == np.bincount(world.components).argmax())
    rng = generator(SPLITS.index(split), "evaluate")
    goals, starts = (rng.permutation(states)[:count] for count in (N_GOALS, N_STARTS))
    return goals, starts


def _same_world(one: GridWorld, other: GridWorld) -> bool:
    return one is other or (
        one.shape == other.shape and np.array_equal(one.free, other.free) and np.array_equal(one.moves, other.moves)
    )


def _one_of(name: str, given: Any, known: tuple[str, ...]) -> None:
    if given not in known:
        raise InvalidInput(f"{name} must be one of {', '.join(known)}, not {given!r}")


def _non_negative(name: str, given: ArrayLike) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given < math.inf:
        raise InvalidInput(f"{name} must be a finite number ≥ 0, or text like 'sr:0.99', not {given!r}")
    return float(given)
