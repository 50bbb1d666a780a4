"""LABO, its ablations and its baselines as policies in ``sci/LABO-v0`` and ``sci/LABOFlat-v0``."""

from __future__ import annotations

import importlib.util
import math
from typing import Any

import gymnasium as gym
import numpy as np

from scisuite.agents.base import Transition
from scisuite.core import InvalidInput, MissingDependency, as_seed
from scisuite.envs.labo.env import LABOEnv
from scisuite.envs.labo.flat import LABOFlatEnv


class AskTellAgent:
    """An optimiser of :mod:`scisuite.solvers.labo` that asks the environment's two sources instead of its own oracle.

    The optimiser's next query is the next action, and what the environment answers is told to it, so that the arms of
    the experiment and the agents are the same code. The starts differ: an environment's predictor proposes nothing, so
    that "the same starts" are here the best three of fifty Latin-hypercube answers, which every such agent asks for.

    Parameters
    ----------
    strategy : str
        A name of :func:`scisuite.solvers.labo.make_strategy`: ``"labo"``, ``"ucb"``, ``"random"``, …
    **config
        Arguments of that strategy, such as ``tau``.

    Raises
    ------
    MissingDependency
        If botorch is not installed; ``"random"`` needs none.
    """

    id = ""

    def __init__(self, strategy: str = "labo", **config: Any) -> None:
        for module in () if strategy == "random" else ("torch", "botorch"):
            if importlib.util.find_spec(module) is None:
                raise MissingDependency(f"the agent {strategy!r} needs {module}, which is not installed", "bo")
        self.strategy = strategy
        self.config = config
        self._env: LABOEnv | None = None
        self._campaign: Any = None
        self._query: Any = None

    @property
    def campaign(self) -> Any:
        """The optimiser of this episode, with its ``trace``; ``None`` before the first ``reset``."""
        return self._campaign

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Take the environment.

        Raises
        ------
        InvalidInput
            If it is not ``sci/LABO-v0`` or its flat twin, or too small for the strategy's starting points.
        """
        inner = env.unwrapped
        if not isinstance(inner, LABOEnv):
            raise InvalidInput(f"the agent {self.strategy!r} acts in sci/LABO-v0 and sci/LABOFlat-v0, not in {inner}")
        self._new_campaign(inner, 0)
        self._env = inner

    def reset(self, *, seed: int) -> None:
        """Begin a campaign."""
        self._campaign = self._new_campaign(self._bound(), as_seed(seed))
        self._query = None

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The optimiser's next query as an action."""
        env = self._bound()
        if self._campaign is None:
            raise InvalidInput("the agent has not begun an episode; call reset(seed=…)")
        self._query = query = self._campaign.ask()[0]
        source = int(query.source == "real")
        row = None if env.scenario.pool is None else query.index
        if isinstance(env, LABOFlatEnv):
            if row is not None:
                return np.array([row, source], dtype=np.int64)
            return np.array([*query.encoded, source], dtype=np.float32)
        where = np.array(query.encoded, dtype=np.float32) if row is None else np.int64(row)
        return {"source": np.int64(source), "x": where}

    def observe(self, transition: Transition) -> None:
        """Tell the optimiser what the environment answered; NaN is a failed answer, a refused query none at all."""
        if self._query is None:
            raise InvalidInput("nothing was asked: act comes before observe")
        query, self._query = self._query, None
        if not transition.truncated:
            self._campaign.tell(query, float(transition.info.get("value", math.nan)))

    def _new_campaign(self, env: LABOEnv, seed: int) -> Any:
        from scisuite.solvers.labo.strategies import make_strategy

        scenario = env.scenario
        return make_strategy(
            self.strategy,
            space=scenario.space,
            pool=scenario.pool,
            maximise=scenario.maximise,
            budget=env.task.budget,
            max_llm=env.task.max_llm,
            seed=seed,
            value_range=scenario.value_range,
            **self.config,
        )

    def _bound(self) -> LABOEnv:
        if self._env is None:
            raise InvalidInput("the agent is not bound to an environment; call bind(env) first")
        return self._env
