"""What stays the same over the episodes of ``sci/ActiveRCT-v0``: where trials come from, spaces and rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite import scenarios
from scisuite.core import InvalidInput, as_seed
from scisuite.core.registry import did_you_mean
from scisuite.envs.active_rct.domain import WarmLogistic
from scisuite.envs.active_rct.observation import pool_space, summary_space
from scisuite.scenarios.trials import Trial, TrialScenario
from scisuite.solvers.active_rct.learners.registry import make_learner
from scisuite.solvers.active_rct.loop import ActiveRCT
from scisuite.solvers.active_rct.randomisation import Randomisation, Rule

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Source = TrialScenario | Trial

OPTIONS = ("instance_seed", "data")
ACTIONS = ("weights", "index")
DRAWN_SEEDS = 2**31
"""Seeds that are drawn lie below this."""

SHORT = {"ihdp": "ihdp_b"}


class Task:
    """The arguments of an environment, checked, and what follows from them.

    Parameters
    ----------
    data : str, TrialScenario or Trial
    data_config : mapping or None
        Arguments of the scenario, where it is named by its id.
    budget, batch : int
    learner : str
    learner_config : mapping or None
    action : {"weights", "index"}
    p_rule, p_bounds
        See :class:`~scisuite.solvers.active_rct.randomisation.Randomisation`.
    instance_seed : int or None

    Raises
    ------
    InvalidInput
        If one of them is unknown or out of its range.
    """

    def __init__(
        self,
        data: Any,
        data_config: Mapping[str, Any] | None,
        budget: int,
        batch: int,
        learner: str,
        learner_config: Mapping[str, Any] | None,
        action: str,
        p_rule: Rule,
        p_bounds: Sequence[float],
        instance_seed: int | None,
    ) -> None:
        self.budget, self.batch = _count("budget", budget), _count("batch", batch)
        if action not in ACTIONS:
            raise InvalidInput(f"action must be one of {', '.join(map(repr, ACTIONS))}, not {action!r}")
        if not isinstance(learner_config, Mapping | None):
            raise InvalidInput(f"learner_config must be a mapping or None, not {type(learner_config).__name__}")
        self.action = action
        self.learner, self.learner_config = learner, dict(learner_config or {})
        self.randomisation = _randomisation(p_rule, p_bounds)
        self.instance_seed = None if instance_seed is None else _instance_seed(instance_seed)
        self.source = _source(data, data_config)
        self._kept: tuple[Source, int, Trial] | None = None
        first = self.trial(self.instance_seed or 0)
        self.loop(first, 0)
        self.n_pool = first.n_pool
        """Units of the pool that an index can name."""

    @property
    def rounds(self) -> int:
        """Batches of an episode."""
        return math.ceil(self.budget / self.batch)

    def trial(self, seed: int, source: Source | None = None) -> Trial:
        """The trial of an instance seed, of another source than the own one if one is given; the last one is kept.

        Raises
        ------
        InvalidInput
            If its pool is smaller than the budget.
        """
        source = self.source if source is None else source
        if isinstance(source, Trial):
            found = source
        elif self._kept is not None and self._kept[0] is source and self._kept[1] == seed:
            found = self._kept[2]
        else:
            found = source.trial(seed)
        for name, n in (("batch", self.batch), ("budget", self.budget)):
            if n > found.n_pool:
                raise InvalidInput(f"the {name} of {n} units exceeds the pool of {found.name}, {found.n_pool} units")
        self._kept = (source, seed, found)
        return found

    def loop(self, trial: Trial, seed: int) -> ActiveRCT:
        """Algorithm 1 on a trial, before its first batch."""
        return ActiveRCT(
            make_learner(self.learner, trial, seed, **self.learner_config),
            trial.observational,
            trial.pool_x,
            batch=self.batch,
            p_rule=self.randomisation.rule,
            p_bounds=self.randomisation.bounds,
            binary=trial.binary,
            known_p=trial.propensity(np.arange(trial.n_pool)),
            group=trial.pool_group,
            domain=WarmLogistic().again,
            seed=seed,
        )

    def observation_space(self) -> gym.Space[Any]:
        """A new space of the observations."""
        return pool_space(self.n_pool) if self.action == "index" else summary_space()

    def action_space(self) -> gym.Space[Any]:
        """A new space of the actions."""
        if self.action == "index":
            return gym.spaces.MultiDiscrete(np.full(self.batch, self.n_pool))
        return gym.spaces.Box(0.0, 1.0, (3,), np.float32)

    def weights(self, action: Any) -> Floats:
        """``action`` as weights, float64 (3,) in [0, 1]; :class:`~scisuite.core.InvalidInput` otherwise."""
        try:
            weights = np.asarray(action, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.zeros(0)
        # NaN fails every comparison.
        if weights.shape != (3,) or not ((weights >= 0) & (weights <= 1)).all():
            raise InvalidInput(f"an action is three weights in [0, 1], of v, d and o, not {action!r}")
        return weights

    def units(self, action: Any) -> Ints:
        """``action`` as places in the pool, int64 (batch,); :class:`~scisuite.core.InvalidInput` otherwise."""
        units = np.asarray(action)
        whole = np.issubdtype(units.dtype, np.integer)
        if units.shape != (self.batch,) or not whole or units.min() < 0 or units.max() >= self.n_pool:
            raise InvalidInput(
                f"an action is {self.batch} whole numbers from 0 to {self.n_pool - 1}, places in the pool, "
                f"not {action!r}"
            )
        return units.astype(np.int64)


def require_options(options: Any) -> dict[str, Any]:
    """``options`` of ``reset`` as a new dictionary, refused where one is unknown."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise InvalidInput(f"options must be a mapping, not {type(options).__name__}")
    for name in options:
        if name not in OPTIONS:
            raise InvalidInput(f"unknown option {name!r}{did_you_mean(str(name), OPTIONS)}")
    chosen = dict(options)
    if "instance_seed" in chosen:
        chosen["instance_seed"] = _instance_seed(chosen["instance_seed"])
    if "data" in chosen:
        chosen["data"] = _source(chosen["data"], None)
    return chosen


def _instance_seed(seed: Any) -> int:
    try:
        return as_seed(seed)
    except InvalidInput as error:
        raise InvalidInput(f"instance_{error}") from None


def _randomisation(rule: Rule, bounds: Sequence[float]) -> Randomisation:
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise InvalidInput(f"p_bounds must be two probabilities, not {bounds!r}") from None
    return Randomisation(rule, (low, high))


def _source(data: Any, config: Mapping[str, Any] | None) -> Source:
    if not isinstance(config, Mapping | None):
        raise InvalidInput(f"data_config must be a mapping or None, not {type(config).__name__}")
    if isinstance(data, str):
        made = scenarios.make(data if "/" in data else f"trials/{SHORT.get(data, data)}", **(config or {}))
        if not isinstance(made, TrialScenario):
            raise InvalidInput(f"data {data!r} is no trial")
        return made
    if config:
        raise InvalidInput("data_config is for a trial that is named by its id")
    if isinstance(data, Source):
        return data
    raise InvalidInput(f"data is an id, a TrialScenario or a Trial, not {type(data).__name__}")


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InvalidInput(f"{name} must be a whole number of at least 1, not {value!r}")
    return int(value)
