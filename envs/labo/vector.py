"""Many copies of ``sci/LABO-v0`` in one: the bookkeeping of all of them in a few NumPy calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from scisuite.core import Categorical, Continuous, InvalidInput, as_seed
from scisuite.core.registry import did_you_mean
from scisuite.envs.errors import EpisodeOver
from scisuite.envs.labo.sources import Sources
from scisuite.envs.labo.task import LLM, REAL, SCALED_HIGH, SCALED_LOW, Array, Float32, Task
from scisuite.scenarios import BlackBoxScenario

Bools = NDArray[np.bool_]
Info = dict[str, Any]

SOURCES = np.array(["llm", "real"], dtype=object)


class LABOVectorEnv(VectorEnv[Any, Any, Any]):
    """``num_envs`` copies of :class:`~scisuite.envs.labo.env.LABOEnv`, with the same arguments.

    Step for step what ``gymnasium.make_vec(…, vectorization_mode="sync")`` gives in the autoreset mode ``SAME_STEP``:
    an episode that ends begins anew within the step, its last observation and info being in ``infos["final_obs"]`` and
    ``infos["final_info"]``. On a pool with a simulated oracle the answers of a step are looked up in one go; else each
    copy asks on its own. ``reset`` takes the options of the single environment but ``"scenario"``, and Gymnasium's
    ``"reset_mask"``.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "render_modes": ["rgb_array"],
        "render_fps": 4,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
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
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise InvalidInput(f"num_envs must be a whole number of at least 1, not {num_envs!r}")
        if render_mode not in (None, "rgb_array"):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.num_envs = n = int(num_envs)
        self.render_mode = render_mode
        self.task = Task(scenario, scenario_config, budget, max_llm, cost_real, cost_llm, cost_weight)
        first = Sources(self.task, oracle, oracle_config)
        self.sources = [first, *(first.copy(oracle, oracle_config) for _ in range(n - 1))]
        self._generators: list[np.random.Generator | None] = [None] * n
        self._viewer: Any = None
        self._set_spaces()
        self.observation_space = batch_space(self.single_observation_space, n)
        self.action_space = batch_space(self.single_action_space, n)
        self._allocate()

    @property
    def scenario(self) -> BlackBoxScenario:
        """What is optimised, by all copies."""
        return self.task.scenario

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Info]:
        """Begin an episode in every copy; copy i takes the seed ``seed + i``, or ``seed[i]`` of a list.

        Raises
        ------
        InvalidInput
            If a seed is no non-negative integer, there are too few of them, or an option is unknown.
        """
        seeds = self._seeds(seed)
        mask, oracle_seed = self._chosen(dict(options or {}))
        for i in np.flatnonzero(mask):
            if seeds[i] is not None:
                self._generators[i], _ = seeding.np_random(seeds[i])
            self._begin(int(i), oracle_seed)
        infos: Info = {}
        if mask.all():
            none = np.full(self.num_envs, "none", dtype=object)
            infos = self._infos(infos, np.zeros(self.num_envs), ~mask, none, np.zeros(self.num_envs))
        else:
            for i in np.flatnonzero(mask):
                infos = self._add_info(infos, self._info(int(i), None, "none", 0.0), int(i))
        return self._observations(), infos

    def step(self, actions: Any) -> tuple[Any, Array, Bools, Bools, Info]:
        """Step every copy.

        Raises
        ------
        InvalidInput
            If an action is not in the action space; no copy has moved then.
        EpisodeOver
            Before ``reset``.
        """
        if self._never_reset.any():
            raise EpisodeOver("not every copy has begun an episode; call reset()")
        points, source = self._parse(actions)
        task = self.task
        real = source == REAL
        refused = ~real & (self.n_llm == task.max_llm)
        asked = ~real & ~refused
        values, costs = self._answers(points, real, asked)

        rewards = np.where(refused, 0.0, 0.0 - task.cost_weight * costs)
        self._write(points, values, real, asked)
        if real.any():
            rewards[real] += self._improve(points, values, np.flatnonzero(real))
        self.n_llm += asked
        self.n_failed += asked & np.isnan(values)
        self.n_real += real
        self.spent += costs
        terminated = real & (self.n_real == task.budget)
        truncated = refused

        infos: Info = {}
        names = SOURCES[source]
        if (ended := terminated | truncated).any():
            for i in np.flatnonzero(ended):
                final = self._info(int(i), float(values[i]), str(names[i]), float(costs[i]))
                ending = {"final_obs": self._observation(int(i)), "final_info": final}
                infos = self._add_info(infos, ending, int(i))
                self._begin(int(i), None)
            values = np.where(ended, 0.0, values)
            names[ended] = "none"
            costs = np.where(ended, 0.0, costs)
        infos = self._infos(infos, values, ~ended, names, costs)
        return self._observations(), rewards, terminated, truncated, infos

    def render(self) -> tuple[Any, ...] | None:
        """A frame for each copy, or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        from scisuite.envs.labo.render import Viewer

        self._viewer = self._viewer or Viewer(self.task)
        frames = []
        for i in range(self.num_envs):
            n, m = int(self.n_real[i]), int(self.n_llm[i])
            answered = self._mask_L[i, :m].astype(bool)
            values = [float(v) for v in self._real_values[i, :n]]
            frames.append(
                self._viewer.draw(self._D_R[i, :n, :-1], values, self._D_L[i, :m, :-1], answered, float(self.spent[i]))
            )
        return tuple(frames)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewer": None}

    def _set_spaces(self) -> None:
        self.single_observation_space: gym.Space[Any] = self.task.observation_space()
        self.single_action_space: gym.Space[Any] = self.task.action_space()

    def _parse(self, actions: Any) -> tuple[Any, NDArray[np.intp]]:
        """Pool rows int (n,) or encoded points (n, d), and sources int (n,)."""
        try:
            x, source = actions["x"], actions["source"]
        except (TypeError, KeyError, IndexError):
            raise InvalidInput("actions are a mapping with 'x' and 'source'") from None
        return self._points(x), self._source(source)

    def _points(self, x: Any) -> Any:
        task, x = self.task, np.asarray(x)
        if task.pool is None:
            if len(x) != self.num_envs:
                raise InvalidInput(f"x must have shape ({self.num_envs}, {task.d}), not {x.shape}")
            return np.stack([np.asarray(task.point(row)) for row in x])
        if x.shape != (self.num_envs,) or not np.issubdtype(x.dtype, np.integer):
            raise InvalidInput(f"x must be {self.num_envs} pool rows, not {x.dtype} of shape {x.shape}")
        if x.min() < 0 or x.max() >= len(task.pool):
            raise InvalidInput(f"x must be rows of the pool, 0 to {len(task.pool) - 1}, not {x.min()} to {x.max()}")
        return x.astype(np.intp)

    def _source(self, source: Any) -> NDArray[np.intp]:
        source = np.asarray(source)
        if source.shape != (self.num_envs,) or not np.isin(source, (LLM, REAL)).all():
            raise InvalidInput(f"source must be {self.num_envs} of 0 (LLM) or 1 (real), not {source!r}")
        return np.asarray(source, dtype=np.intp)

    def _answers(self, points: Any, real: Bools, asked: Bools) -> tuple[Array, Array]:
        """Values and costs (n,); NaN and 0 for a refused query. Nothing is changed."""
        values, costs = np.full(self.num_envs, math.nan), np.zeros(self.num_envs)
        costs[asked] = self.task.cost_llm
        if self._tables is not None:
            truth, prices, answers = self._tables
            values[real], costs[real] = truth[points[real]], prices[points[real]]
            values[asked] = answers[asked, points[asked]]
            return values, costs
        for i in np.flatnonzero(real):
            values[i], costs[i] = self.sources[i].measure(self._point(points, i))
        for i in np.flatnonzero(asked):
            values[i] = self.sources[i].ask(self._point(points, i))
        return values, costs

    def _point(self, points: Any, i: Any) -> Any:
        return points[i] if self.task.pool is None else int(points[i])

    def _write(self, points: Any, values: Array, real: Bools, asked: Bools) -> None:
        task = self.task
        rows = task.pool32[points] if task.pool32 is not None else points
        scaled = np.clip((values - task.low) / task.span, SCALED_LOW, SCALED_HIGH)
        for chosen, table, mask, count in (
            (real, self._D_R, self._mask_R, self.n_real),
            (asked, self._D_L, self._mask_L, self.n_llm),
        ):
            i = np.flatnonzero(chosen)
            k = count[i]
            answered = ~np.isnan(values[i])
            table[i, k, :-1] = rows[i]
            table[i, k, -1] = np.where(answered, scaled[i], 0.0)
            mask[i, k] = answered
        where = np.flatnonzero(real)
        self._real_values[where, self.n_real[where]] = values[where]

    def _improve(self, points: Any, values: Array, i: NDArray[np.intp]) -> Array:
        """Improvements that are rewarded in the copies ``i``, whose best points are brought up to date."""
        task = self.task
        improvement = (values[i] - task.median) * task.reward_per_unit - self._achieved[i]
        better = improvement > 0
        for j in i[better]:
            self._best_value[j], self._has_best[j] = values[j], True
            for name, value in task.in_units(self._point(points, j)).items():
                self._best_x[name][j] = value
        improvement[~better] = 0.0
        self._achieved[i] += improvement
        return improvement

    def _observations(self) -> Any:
        shares = self._shares()
        return {
            "D_L": self._D_L.copy(),
            "D_R": self._D_R.copy(),
            "llm_left": shares[:, :1].copy(),
            "mask_L": self._mask_L.copy(),
            "mask_R": self._mask_R.copy(),
            "real_left": shares[:, 1:].copy(),
        }

    def _observation(self, i: int) -> Any:
        """What copy ``i`` observes, as a single environment would give it."""
        shares = self._shares()
        return {
            "D_L": self._D_L[i].copy(),
            "D_R": self._D_R[i].copy(),
            "llm_left": shares[i, :1].copy(),
            "mask_L": self._mask_L[i].copy(),
            "mask_R": self._mask_R[i].copy(),
            "real_left": shares[i, 1:].copy(),
        }

    def _shares(self) -> Float32:
        task = self.task
        return np.stack((1 - self.n_llm / task.max_llm, 1 - self.n_real / task.budget), axis=1).astype(np.float32)

    def _infos(self, infos: Info, values: Array, has_value: Bools, sources: NDArray[Any], costs: Array) -> Info:
        """The infos of all copies, in the form in which Gymnasium collects those of single ones."""
        columns: Info = {
            "source": sources,
            "best_value": self._best_value.copy(),
            "best_x": self._best_points(),
            "cost": costs,
            "spent": self.spent.copy(),
            "n_real": self.n_real.copy(),
            "n_llm": self.n_llm.copy(),
            "n_failed": self.n_failed.copy(),
            "regret": 1.0 - self._achieved,
            "units": _repeated(self.task.units(), self.num_envs),
        }
        for name, column in columns.items():
            infos[name], infos[f"_{name}"] = column, np.ones(self.num_envs, dtype=np.bool_)
        if has_value.any():
            infos["value"], infos["_value"] = values, has_value
        return infos

    def _best_points(self) -> Info:
        if not self._has_best.any():
            return {}
        columns: Info = {}
        for name, column in self._best_x.items():
            empty: Any = None if column.dtype == object else 0
            columns[name] = np.where(self._has_best, column, empty).astype(column.dtype)
            columns[f"_{name}"] = self._has_best.copy()
        return columns

    def _info(self, i: int, value: float | None, source: str, cost: float) -> Info:
        """What a single environment would tell of copy ``i``."""
        best = {
            name: column[i].item() if column.dtype != object else column[i] for name, column in self._best_x.items()
        }
        info: Info = {} if value is None else {"value": value}
        info |= {
            "source": source,
            "best_value": float(self._best_value[i]),
            "best_x": best if self._has_best[i] else {},
            "cost": cost,
            "spent": float(self.spent[i]),
            "n_real": int(self.n_real[i]),
            "n_llm": int(self.n_llm[i]),
            "n_failed": int(self.n_failed[i]),
            "regret": float(1.0 - self._achieved[i]),
            "units": self.task.units(),
        }
        return info

    def _allocate(self) -> None:
        n, task = self.num_envs, self.task
        self._D_L = np.zeros((n, task.max_llm, task.d + 1), np.float32)
        self._D_R = np.zeros((n, task.budget, task.d + 1), np.float32)
        self._mask_L = np.zeros((n, task.max_llm), np.int8)
        self._mask_R = np.zeros((n, task.budget), np.int8)
        self._real_values = np.zeros((n, task.budget))
        self.n_real, self.n_llm, self.n_failed = (np.zeros(n, np.int64) for _ in range(3))
        self.spent = np.zeros(n)
        self._achieved, self._best_value = np.zeros(n), np.full(n, task.median)
        self._best_x = {d.name: np.zeros(n, _info_dtype(d)) for d in task.scenario.space.dimensions}
        self._has_best = np.zeros(n, np.bool_)
        self._never_reset = np.ones(n, np.bool_)
        self._tables: tuple[Array, Array, Array] | None = None
        if (tables := self.sources[0].tables) is not None:
            self._tables = (tables[0], tables[1], np.repeat(tables[2][None], n, axis=0))

    def _begin(self, i: int, oracle_seed: int | None) -> None:
        generator = self._generators[i]
        if generator is None:
            generator, _ = seeding.np_random()
            self._generators[i] = generator
        self.sources[i].begin(generator, oracle_seed)
        if self._tables is not None and (tables := self.sources[i].tables) is not None:
            self._tables[2][i] = tables[2]
        for rows in (self._D_L, self._D_R, self._mask_L, self._mask_R):
            rows[i] = 0
        for counter in (self.n_real, self.n_llm, self.n_failed, self.spent, self._achieved):
            counter[i] = 0
        self._best_value[i] = self.task.median
        self._has_best[i] = self._never_reset[i] = False

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, list | tuple):
            if len(seed) != self.num_envs:
                raise InvalidInput(f"there are {len(seed)} seeds for {self.num_envs} environments")
            return [None if s is None else as_seed(s) for s in seed]
        return [as_seed(seed) + i for i in range(self.num_envs)]

    def _chosen(self, options: dict[str, Any]) -> tuple[Bools, int | None]:
        known = ("oracle_seed", "reset_mask")
        for name in options:
            if name not in known:
                raise InvalidInput(f"unknown option {name!r}{did_you_mean(str(name), known)}")
        mask = np.asarray(options.get("reset_mask", np.ones(self.num_envs, np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise InvalidInput(f"reset_mask must be {self.num_envs} booleans, one of them true at least")
        return mask, self.sources[0].require_seed(options.get("oracle_seed"))


def _info_dtype(dimension: Any) -> Any:
    """The type in which Gymnasium collects the values of a dimension."""
    if isinstance(dimension, Categorical):
        kinds = {type(level) for level in dimension.levels}
        kind = kinds.pop() if len(kinds) == 1 else object
        return kind if kind in (int, float, bool) else object
    return np.float64 if isinstance(dimension, Continuous) else np.int64


def _repeated(info: Mapping[str, Any], n: int) -> Info:
    """A constant info of strings, in the form in which Gymnasium collects it from ``n`` environments."""
    columns: Info = {}
    for name, value in info.items():
        columns[name] = _repeated(value, n) if isinstance(value, Mapping) else np.full(n, value, dtype=object)
        columns[f"_{name}"] = np.ones(n, dtype=np.bool_)
    return columns
