"""Toy environments whose every episode end is known beforehand, single and native, registered for one test session."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

OBSERVATION = spaces.Dict({"clock": spaces.Box(0, 1e6, (3,)), "phase": spaces.Discrete(4)})


def episode_length(offset: int, episode: int) -> int:
    return 2 + (offset + 2 * episode) % 4


def ends_by_truncation(offset: int, episode: int) -> bool:
    return (offset + episode) % 2 == 0


class Clock(gym.Env):
    """Counts: copy ``offset`` ends episode ``e`` after ``episode_length(offset, e)`` steps, by turns truncated."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 5}
    observation_space = OBSERVATION
    action_space = spaces.Discrete(3)

    def __init__(self, render_mode: str | None = None, pace: float = 1.0) -> None:
        self.render_mode = render_mode
        self.pace = pace
        self.offset, self.episode, self.steps, self.total = 0, -1, 0, 0.0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        if seed is not None:
            self.offset, self.episode = seed, -1
        self.episode += 1
        self.steps, self.total = 0, float((options or {}).get("start", 0.0))
        return self._observation(), {"began": self.episode}

    def step(self, action: int) -> Any:
        self.steps += 1
        self.total += self.pace * float(action)
        over = self.steps >= episode_length(self.offset, self.episode)
        cut = over and ends_by_truncation(self.offset, self.episode)
        info: dict[str, Any] = {"steps": self.steps, "nested": {"total": self.total}}
        if self.steps % 2 == 0:
            info["even"] = True
        return self._observation(), self.pace * float(action), over and not cut, cut, info

    def action_masks(self) -> np.ndarray:
        return np.array([True, self.steps % 2 == 0, True])

    def render(self) -> np.ndarray:
        return np.full((4, 4, 3), self.steps, dtype=np.uint8)

    def _observation(self) -> dict[str, Any]:
        clock = np.array([self.episode, self.steps, self.total], dtype=np.float32)
        return {"clock": clock, "phase": np.int64(self.steps % 4)}


class ClockVector(VectorEnv):
    """The same, all copies at once, written into arrays that are reused at every step."""

    metadata = {"render_modes": ["rgb_array"], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        render_mode: str | None = None,
        pace: float = 1.0,
        autoreset_mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    ) -> None:
        self.num_envs, self.render_mode, self.pace = num_envs, render_mode, pace
        self.metadata = {**self.metadata, "autoreset_mode": autoreset_mode}
        self.mode = autoreset_mode
        self.single_observation_space, self.single_action_space = OBSERVATION, spaces.Discrete(3)
        self.observation_space = batch_space(OBSERVATION, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.offset = np.arange(num_envs)
        self.episode = np.full(num_envs, -1)
        self.steps = np.zeros(num_envs, dtype=np.int64)
        self.total = np.zeros(num_envs)
        self._clock = np.zeros((num_envs, 3), dtype=np.float32)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        options = options or {}
        if seed is not None:
            self.offset, self.episode = seed + np.arange(self.num_envs), np.full(self.num_envs, -1)
        return self._begin(options.get("reset_mask", np.ones(self.num_envs, dtype=bool)), options.get("start", 0.0))

    def step(self, actions: np.ndarray) -> Any:
        self.steps += 1
        self.total += self.pace * actions
        over = self.steps >= [episode_length(o, e) for o, e in zip(self.offset, self.episode, strict=True)]
        cut = over & [ends_by_truncation(o, e) for o, e in zip(self.offset, self.episode, strict=True)]
        even = self.steps % 2 == 0
        infos: dict[str, Any] = {"steps": self.steps.copy(), "nested": {"total": self.total.copy()}}
        infos |= {"even": np.ones(self.num_envs, dtype=bool), "_even": even}
        observation = self._observation()
        if over.any() and self.mode is AutoresetMode.SAME_STEP:
            final = {key: value.copy() for key, value in observation.items()}
            observation, began = self._begin(over, 0.0)
            infos = {
                "final_obs": final,
                "_final_obs": over,
                "final_info": infos,
                "_final_info": over,
                **{key: value for key, value in infos.items() if key in ("steps", "nested")},
                "even": infos["even"],
                "_even": even & ~over,
                **began,
            }
        return observation, self.pace * actions.astype(np.float64), over & ~cut, cut, infos

    def action_masks(self) -> np.ndarray:
        masks = np.ones((self.num_envs, 3), dtype=bool)
        masks[:, 1] = self.steps % 2 == 0
        return masks

    def render(self) -> tuple[np.ndarray, ...]:
        return tuple(np.full((4, 4, 3), steps, dtype=np.uint8) for steps in self.steps)

    def _begin(self, rows: np.ndarray, start: float) -> Any:
        self.episode[rows] += 1
        self.steps[rows], self.total[rows] = 0, start
        return self._observation(), {"began": self.episode.copy(), "_began": rows.copy()}

    def _observation(self) -> dict[str, np.ndarray]:
        self._clock[:] = np.stack([self.episode, self.steps, self.total], axis=1)
        return {"clock": self._clock, "phase": self.steps % 4}


class Point(gym.Env):
    """Ten steps towards the origin of a plane; the actions are of the kind that ``actions`` names."""

    observation_space = spaces.Box(-5, 5, (2,))
    SPACES = {
        "box": spaces.Box(-1, 1, (2,)),
        "discrete": spaces.Discrete(4),
        "multi": spaces.MultiDiscrete([3, 3]),
        "dict": spaces.Dict({"move": spaces.Box(-1, 1, (2,)), "mode": spaces.Discrete(2)}),
        "unbounded": spaces.Box(-np.inf, np.inf, (2,)),
    }

    def __init__(self, actions: str = "box", observations: str = "box") -> None:
        self.action_space = self.SPACES[actions]
        if observations == "tuple":
            self.observation_space = spaces.Tuple([spaces.Discrete(2)])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        self.steps = 0
        return self.place.copy(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        moves = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
        kind = type(self.action_space).__name__
        move = moves[action] if kind == "Discrete" else np.asarray(action) - (kind == "MultiDiscrete")
        self.place = np.clip(self.place + 0.2 * move, -5, 5).astype(np.float32)
        return self.place.copy(), -float(np.abs(self.place).sum()), False, self.steps >= 10, {}


@pytest.fixture(scope="session")
def toys() -> Any:
    ids = {
        "toys/Clock-v0": {"entry_point": Clock, "vector_entry_point": ClockVector},
        "toys/SerialClock-v0": {"entry_point": Clock},
        "toys/Point-v0": {"entry_point": Point},
        "toys/PointFlat-v0": {"entry_point": Point},
    }
    for name, arguments in ids.items():
        gym.register(name, **arguments)
    yield SimpleNamespace(Clock=Clock, ClockVector=ClockVector, Point=Point)
    for name in ids:
        del gym.registry[name]
