"""A trained MaskablePPO as an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym

from scisuite.agents.sb3 import SB3Agent
from scisuite.core import InvalidInput
from scisuite.envs.crn_reduce.env import CRNReduceEnv


class LearnedAgent(SB3Agent):
    """Acts in ``sci/CRNReduce-v0`` as a saved MaskablePPO model does, among the legal actions.

    Stable-Baselines3's files contain pickles, and opening a pickle can run any code that its author liked: load only
    models that you trained yourself. A model is for the ``max_sites`` that it was trained with.

    Parameters
    ----------
    path : str or Path
        The ``out`` of ``scisuite train``, or a model's ``.zip``.
    deterministic : bool
        Take the most probable action instead of drawing one.

    Raises
    ------
    InvalidInput
        If there is no such model.
    """

    def __init__(self, path: str | Path, deterministic: bool = True) -> None:
        super().__init__(path, algo="maskable-ppo", deterministic=deterministic)

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Load the model.

        Raises
        ------
        InvalidInput
            If ``env`` is not ``sci/CRNReduce-v0``, or the model was trained with another ``max_sites``.
        DamagedFile
            If the file is no MaskablePPO model.
        """
        if not isinstance(env.unwrapped, CRNReduceEnv):
            raise InvalidInput(f"the agent 'maskable_ppo' acts in sci/CRNReduce-v0, not in {env.unwrapped}")
        from scisuite.agents.sb3.randomness import global_generators

        # A network draws its first weights, which the saved ones replace.
        with global_generators():
            super().bind(env)
