"""Stable-Baselines3: training, and trained models as agents. torch is imported on use, not here."""

from typing import TYPE_CHECKING, Any

from scisuite.agents.sb3.agent import SB3Agent
from scisuite.agents.sb3.algorithms import ALGORITHMS
from scisuite.agents.sb3.environments import make_vec_env
from scisuite.agents.sb3.training import train

if TYPE_CHECKING:
    from scisuite.agents.sb3.vec_env import NativeVecEnv

__all__ = ["ALGORITHMS", "NativeVecEnv", "SB3Agent", "make_vec_env", "train"]


def __getattr__(name: str) -> Any:
    if name == "NativeVecEnv":
        from scisuite.agents.sb3.vec_env import NativeVecEnv

        return NativeVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
