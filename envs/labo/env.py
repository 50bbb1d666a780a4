"""``sci/LABO-v0``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from scisuite.core import InvalidInput, as_seed
from scisuite.core.registry import did_you_mean
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.labo.sources import Sources
from scisuite.envs.labo.task import REAL, Array, Float32, Task
from scisuite.scenarios import BlackBoxScenario

Observation = Any
Info = dict[str, Any]


class LABOEnv(gym.Env[Any, Any]):
    """Find the best point of an expensive experiment, with a cheap and biased predictor beside it.

    Each step asks one of two sources about one point: the predictor (a language model, or a stand-in for one), whose
    answer costs next to nothing and may be biased, noisy, missing or useless, or the real experiment, of which there
    are ``budget``. How good the predictor is has to be learnt within the episode. This is the decision problem that
    LABO solves: where to ask, and which of the two.

    Observation
    -----------
    ``Dict``, float32 unless stated; d is the number of encoded columns of the scenario's space:

    - ``D_L`` (max_llm, d + 1): the predictor's answers in the order of asking, one a row: the encoded point in [0, 1]
      and the value, scaled by the declared range of the value to (y − low) / (high − low) and clipped to [−1, 2].
      Rows not used yet are zero.
    - ``D_R`` (budget, d + 1): the real experiments, likewise.
    - ``mask_L`` (max_llm,), ``mask_R`` (budget,): int8, 1 where a row holds a value. A failed answer takes a row of
      ``D_L`` that keeps its point, has the value 0 and the mask 0.
    - ``llm_left``, ``real_left`` (1,): share of ``max_llm`` and of ``budget`` that is left.

    Whether larger or smaller values are better does not change the scaling; it is a property of the scenario.

    Action
    ------
    ``Dict``: ``x``, the point: ``Box`` [0, 1] (d,) float32, moved to the nearest valid point where the space has whole
    numbers, levels or fractions that sum to one, or ``Discrete(N)`` for a row of the scenario's pool; and ``source``,
    ``Discrete(2)``: 0 asks the predictor, 1 makes the experiment, which does not reveal what the predictor would have
    said. A point may be asked for again: it costs as much and has the same value.

    Reward
    ------
    Improvement of the best real value over y_best − y_median, minus ``cost_weight`` times the cost of the step. The
    best starts at the median of the scenario: the rewards of an episode sum to 1 − regret − ``cost_weight`` · spent.
    Where the scenario does not know its optimum the better end of the declared range stands for y_best.

    Termination
    -----------
    Terminated when the last of ``budget`` real experiments is made. Truncated by the query to the predictor after
    ``max_llm`` of them, which is neither answered nor charged (*reconstruction*).

    Info
    ----
    ``value``: answer to this step's query, float in its own unit, NaN if it failed or was refused; absent after
    ``reset``. ``source``: ``"llm"``, ``"real"`` or, after ``reset``, ``"none"``. ``best_value``: the median or the best
    real value, if that is better; ``best_x``: its point in the user's units, by name, empty as long as it is the
    median. ``cost``, ``spent``: of this step and so far, floats in the unit of ``cost_real`` and ``cost_llm``.
    ``n_real``, ``n_llm``, ``n_failed``: ints: experiments, questions to the predictor, and those of them that failed.
    ``regret``: (y_best − best_value) / (y_best − y_median), from 1 down to 0. ``units``: of value and cost, and of
    each input under ``x``.

    Arguments
    ---------
    scenario : str or BlackBoxScenario
        ``"hartmann6"``, ``"photo_pce10"``, ``"fullerenes"``, ``"p3ht"``, ``"agnp"`` or any other black box.
    oracle : str or object
        ``"simulated"``, ``"random"``, ``"local"``, ``"endpoint"``, or an object with ``bind`` and ``predict``, a
        solver or a callable. The first two are drawn anew for each episode from the environment's seed.
    oracle_config : mapping or None
        Arguments of a named oracle: ``{"corr": 0.8}`` for ``"simulated"``; with a ``"seed"`` it is the same in all
        episodes; ``{"cache": path}`` keeps the answers of a language model in a file.
    budget, max_llm : int
    cost_real, cost_llm, cost_weight : float
    render_mode : None or "rgb_array"
    scenario_config : mapping or None
        Arguments of ``scenarios.make`` where the scenario is an id.

    ``reset`` takes the options ``{"oracle_seed": int}``, which draws this episode's oracle from that seed, and
    ``{"scenario": id or object}``, another scenario of the same shape, from this episode on.

    Source
    ------
    LABO, arXiv 2605.22054. The decision problem is the paper's; observation, reward and truncation are a
    *reconstruction*.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(
        self,
        scenario: str | BlackBoxScenario = "hartmann6",
        oracle: Any = "simulated",
        oracle_config: Mapping[str, Any] | None = None,
        budget: int = 60,
        max_llm: int = 400,
        cost_real: float = 1.0,
        cost_llm: float = 0.01,
        cost_weight: float = 0.002,
        render_mode: str | None = None,
        scenario_config: Mapping[str, Any] | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        self._oracle = (oracle, oracle_config)
        self.task = Task(scenario, scenario_config, budget, max_llm, cost_real, cost_llm, cost_weight)
        self.sources = Sources(self.task, oracle, oracle_config)
        self._viewer: Any = None
        self._set_spaces()
        self._begin()
        self._over = True

    @property
    def scenario(self) -> BlackBoxScenario:
        """What is optimised: an agent may read its space, pool and declared range, and not call ``evaluate``."""
        return self.task.scenario

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        """Begin an episode.

        Raises
        ------
        InvalidInput
            If the seed is no non-negative integer or an option is unknown or out of its range.
        """
        if seed is not None:
            as_seed(seed)
        task, sources, oracle_seed = self._chosen(options or {})
        super().reset(seed=seed)
        if task is not self.task:
            self._viewer = None
        self.task, self.sources = task, sources
        self.sources.begin(self.np_random, oracle_seed)
        self._begin()
        return self._observation(), self._info(None, "none", 0.0)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Ask one source about one point.

        Raises
        ------
        InvalidInput
            If the action is not in the action space; nothing has changed then.
        EpisodeOver
            Before ``reset`` and after the end of an episode.
        OracleError
            If the predictor answers nothing any more; nothing has changed then.
        """
        if self._over:
            raise EpisodeOver("the episode is over or has not begun; call reset()")
        point, source = self._parse(action)
        if source == REAL:
            value, cost = self.sources.measure(point)
            improvement = self._record_real(point, value)
            self._over = terminated = self.n_real == self.task.budget
            self.spent += cost
            reward = improvement - self.task.cost_weight * cost
            return self._observation(), reward, terminated, False, self._info(value, "real", cost)
        if self.n_llm == self.task.max_llm:
            self._over = True
            return self._observation(), 0.0, False, True, self._info(math.nan, "llm", 0.0)
        value, cost = self.sources.ask(point), self.task.cost_llm
        self._record_llm(point, value)
        self.spent += cost
        reward = -self.task.cost_weight * cost
        return self._observation(), reward, False, False, self._info(value, "llm", cost)

    def render(self) -> Any:
        """The episode so far as uint8 (480, 960, 3), or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        if self._viewer is None:
            from scisuite.envs.labo.render import Viewer

            self._viewer = Viewer(self.task)
        n, m = self.n_real, self.n_llm
        asked, measured = self._D_L[:m], self._D_R[:n]
        answered = self._mask_L[:m].astype(bool)
        return self._viewer.draw(measured[:, :-1], self.real_values, asked[:, :-1], answered, self.spent)

    def close(self) -> None:
        """Forget the figure."""
        self._viewer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewer": None}

    def _set_spaces(self) -> None:
        self.observation_space = self.task.observation_space()
        self.action_space = self.task.action_space()

    def _parse(self, action: Any) -> tuple[int | Array, int]:
        """The point and the source that an action names."""
        try:
            x, source = action["x"], action["source"]
        except (TypeError, KeyError, IndexError):
            raise InvalidInput(f"an action is a mapping with 'x' and 'source', not {action!r}") from None
        return self.task.point(x), self.task.source(source)

    def _observation(self) -> Observation:
        shares = self._shares()
        return {
            "D_L": self._D_L.copy(),
            "D_R": self._D_R.copy(),
            "llm_left": shares[:1],
            "mask_L": self._mask_L.copy(),
            "mask_R": self._mask_R.copy(),
            "real_left": shares[1:],
        }

    def _shares(self) -> Float32:
        """Shares of ``max_llm`` and of ``budget`` that are left."""
        task = self.task
        return np.array((1 - self.n_llm / task.max_llm, 1 - self.n_real / task.budget), np.float32)

    def _begin(self) -> None:
        task = self.task
        self._D_L = np.zeros((task.max_llm, task.d + 1), np.float32)
        self._D_R = np.zeros((task.budget, task.d + 1), np.float32)
        self._mask_L = np.zeros(task.max_llm, np.int8)
        self._mask_R = np.zeros(task.budget, np.int8)
        self.n_real = self.n_llm = self.n_failed = 0
        self.spent = 0.0
        self.real_values: list[float] = []
        self._achieved = 0.0
        self._best_value = task.median
        self._best_x: dict[str, Any] = {}
        self._over = False

    def _record_real(self, point: int | Array, value: float) -> float:
        """Write an experiment down and return the improvement that is rewarded."""
        task, row = self.task, self._D_R[self.n_real]
        self._write(row, point, value)
        self._mask_R[self.n_real] = 1
        self.n_real += 1
        self.real_values.append(value)
        improvement = task.achievement(value) - self._achieved
        if improvement <= 0:
            return 0.0
        self._achieved += improvement
        self._best_value, self._best_x = value, task.in_units(point)
        return improvement

    def _record_llm(self, point: int | Array, value: float) -> None:
        failed = value != value
        self._write(self._D_L[self.n_llm], point, None if failed else value)
        self._mask_L[self.n_llm] = not failed
        self.n_llm += 1
        self.n_failed += failed

    def _write(self, row: Any, point: int | Array, value: float | None) -> None:
        task = self.task
        row[:-1] = task.pool32[point] if isinstance(point, int) and task.pool32 is not None else point
        if value is not None:
            row[-1] = task.scaled(value)

    def _info(self, value: float | None, source: str, cost: float) -> Info:
        info: Info = {} if value is None else {"value": value}
        info |= {
            "source": source,
            "best_value": self._best_value,
            "best_x": dict(self._best_x),
            "cost": cost,
            "spent": self.spent,
            "n_real": self.n_real,
            "n_llm": self.n_llm,
            "n_failed": self.n_failed,
            "regret": 1.0 - self._achieved,
            "units": self.task.units(),
        }
        return info

    def _chosen(self, options: Mapping[str, Any]) -> tuple[Task, Sources, int | None]:
        """Task, sources and oracle seed that the options of ``reset`` ask for; nothing is changed."""
        if not isinstance(options, Mapping):
            raise InvalidInput(f"options must be a mapping, not {type(options).__name__}")
        for name in options:
            if name not in ("oracle_seed", "scenario"):
                raise InvalidInput(f"unknown option {name!r}{did_you_mean(str(name), ('oracle_seed', 'scenario'))}")
        task, sources = self.task, self.sources
        if "scenario" in options:
            old = self.task
            task = Task(
                options["scenario"], None, old.budget, old.max_llm, old.cost_real, old.cost_llm, old.cost_weight
            )
            if task.observation_space() != old.observation_space() or task.action_space() != old.action_space():
                raise InvalidInput(
                    f"scenario {options['scenario']!r} has other spaces ({_shape(task)}) than this environment was "
                    f"made for ({_shape(old)}); make another environment for it"
                )
            sources = Sources(task, *self._oracle)
        return task, sources, sources.require_seed(options.get("oracle_seed"))


def _shape(task: Task) -> str:
    return f"{task.d} columns" if task.pool is None else f"{len(task.pool)} rows of {task.d} columns"
