"""Which Stable-Baselines3 algorithm fits which environment, and with what defaults."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from scisuite.core import InvalidInput, MissingDependency, UnknownName
from scisuite.core.registry import did_you_mean

_MULTIPLE = (spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
_REPLAY_BYTES = 2**30


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: where its class is, which actions it takes, whether it learns from a replay buffer."""

    name: str
    target: str
    actions: tuple[type[spaces.Space[Any]], ...]
    off_policy: bool = False
    masked: bool = False

    def load(self) -> Any:
        """The class; :class:`~scisuite.core.MissingDependency` where its package is not installed."""
        module, _, name = self.target.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except ModuleNotFoundError as error:
            raise MissingDependency(f"training with {self.name} needs {error.name}", "rl") from error


ALGORITHMS: Mapping[str, Algorithm] = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("ppo", "stable_baselines3:PPO", (spaces.Box, *_MULTIPLE)),
        Algorithm("a2c", "stable_baselines3:A2C", (spaces.Box, *_MULTIPLE)),
        Algorithm("dqn", "stable_baselines3:DQN", (spaces.Discrete,), off_policy=True),
        Algorithm("sac", "stable_baselines3:SAC", (spaces.Box,), off_policy=True),
        Algorithm("td3", "stable_baselines3:TD3", (spaces.Box,), off_policy=True),
        Algorithm("maskable-ppo", "sb3_contrib:MaskablePPO", _MULTIPLE, masked=True),
    )
}


def algorithm(name: str) -> Algorithm:
    """The algorithm of that name; :class:`~scisuite.core.UnknownName` suggests the nearest."""
    if name not in ALGORITHMS:
        raise UnknownName(f"unknown algorithm {name!r}{did_you_mean(str(name), ALGORITHMS)}")
    return ALGORITHMS[name]


def check_fit(
    name: str, env_id: str, observation_space: spaces.Space[Any], action_space: spaces.Space[Any], has_masks: bool
) -> None:
    """Refuse an algorithm that cannot train in an environment, naming those that can.

    Raises
    ------
    InvalidInput
        If Stable-Baselines3 takes no such observations or actions, naming the environment's flat twin where one is
        registered; if this algorithm does not; or if it needs action masks that the environment does not give.
    """
    if problem := _unsupported_observation(observation_space):
        raise InvalidInput(f"Stable-Baselines3 cannot read {problem} observations of {env_id}{_twin_hint(env_id)}")
    fitting = [a.name for a in ALGORITHMS.values() if _takes(a, action_space) and (has_masks or not a.masked)]
    if not fitting:
        kind = type(action_space).__name__
        raise InvalidInput(f"no algorithm takes the {kind} actions of {env_id}{_twin_hint(env_id)}")
    if name in fitting:
        return
    chosen = algorithm(name)
    if chosen.masked and _takes(chosen, action_space):
        raise InvalidInput(
            f"{name} needs a method action_masks(), which {env_id} does not have; those that fit: {', '.join(fitting)}"
        )
    kind = type(action_space).__name__
    raise InvalidInput(f"{name} cannot act in {env_id} ({kind} actions); those that fit: {', '.join(fitting)}")


def flat_twin(env_id: str) -> str | None:
    """The registered environment of the same name with ``Flat`` before its version, or ``None``."""
    name, dash, version = env_id.rpartition(":")[2].rpartition("-v")
    twin = f"{name}Flat{dash}{version}"
    return twin if twin in gym.registry else None


def policy_name(observation_space: spaces.Space[Any]) -> str:
    """``"MultiInputPolicy"`` for Dict observations, ``"CnnPolicy"`` for images, else ``"MlpPolicy"``."""
    from stable_baselines3.common.preprocessing import is_image_space

    if isinstance(observation_space, spaces.Dict):
        return "MultiInputPolicy"
    # The convolutional policy of Stable-Baselines3 needs at least 36 pixels a side.
    if is_image_space(observation_space) and sorted(observation_space.shape or ())[1] >= 36:
        return "CnnPolicy"
    return "MlpPolicy"


def hyperparameters(
    name: str, vec: int, timesteps: int, observation_space: spaces.Space[Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Defaults that suit the number of copies and the length of the run, overridden by ``given``.

    Stable-Baselines3's own are for one copy and a million steps. With ``vec`` copies PPO collects at least 128 steps
    from each and takes batches of a thirty-second of that; off-policy algorithms keep one gradient step per
    transition (DQN: per four), and their replay buffer is no longer than the run and, at 1 GiB, no larger than a
    laptop allows. A run that is shorter than a rollout is one rollout. ``action_noise`` may be a number: the standard
    deviation of Gaussian noise on actions scaled to [−1, 1] (TD3 explores by it alone; default 0.1).
    """
    defaults: dict[str, Any] = {}
    share = math.ceil(timesteps / vec)
    if name in ("ppo", "maskable-ppo"):
        usual = max(2048 // vec, 128) // 8 * 8
        steps = int(given.get("n_steps", min(usual, 8 * math.ceil(share / 8) if share > 8 else max(share, 2))))
        target = max(64, steps * vec // 32)
        defaults = {"n_steps": steps, "batch_size": _largest_divisor(steps * vec, target)}
    elif algorithm(name).off_policy:
        fits = _REPLAY_BYTES // (2 * _bytes_of(observation_space) + 64)
        defaults = {
            "buffer_size": int(max(min(1_000_000, max(timesteps, 1_000), fits), vec)),
            "gradient_steps": vec,
            "learning_starts": min(100, max(timesteps // 4, 1)),
        }
        if name == "td3":
            defaults["action_noise"] = 0.1
    return {**defaults, **given}


def action_noise(standard_deviation: float, action_space: spaces.Space[Any]) -> Any:
    """Gaussian exploration noise of that standard deviation in every dimension."""
    from stable_baselines3.common.noise import NormalActionNoise

    if not standard_deviation > 0:
        raise InvalidInput(f"action_noise must be a positive standard deviation, not {standard_deviation}")
    size = math.prod(action_space.shape or ())
    return NormalActionNoise(np.zeros(size), np.full(size, float(standard_deviation)))


def _takes(candidate: Algorithm, action_space: spaces.Space[Any]) -> bool:
    if isinstance(action_space, spaces.Box):
        bounded = bool(np.all(np.isfinite(action_space.low)) and np.all(np.isfinite(action_space.high)))
        return spaces.Box in candidate.actions and bounded
    if isinstance(action_space, spaces.MultiDiscrete | spaces.MultiBinary):
        return type(action_space) in candidate.actions and len(action_space.shape) == 1
    return isinstance(action_space, candidate.actions)


def _unsupported_observation(space: spaces.Space[Any]) -> str:
    """Name of the kind of space that Stable-Baselines3 has no features for, or ``""``."""
    if isinstance(space, spaces.Dict):
        kinds = [part for part in space.spaces.values() if not isinstance(part, spaces.Box | _MULTIPLE_UNION)]
        return f"nested {type(kinds[0]).__name__}" if kinds else ""
    return "" if isinstance(space, spaces.Box | _MULTIPLE_UNION) else type(space).__name__


_MULTIPLE_UNION = spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary


def _twin_hint(env_id: str) -> str:
    twin = flat_twin(env_id)
    return f"; train in its flat twin {twin}" if twin else ""


def _bytes_of(space: spaces.Space[Any]) -> int:
    if isinstance(space, spaces.Dict):
        return sum(_bytes_of(part) for part in space.spaces.values())
    return int(math.prod(space.shape or (1,)) * np.dtype(space.dtype or np.float32).itemsize)


def _largest_divisor(number: int, limit: int) -> int:
    return max(d for d in range(1, min(number, limit) + 1) if number % d == 0)
