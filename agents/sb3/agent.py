"""A trained Stable-Baselines3 model as an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from scisuite.agents.base import Transition
from scisuite.agents.sb3.algorithms import algorithm
from scisuite.agents.sb3.randomness import global_generators
from scisuite.core import DamagedFile, InvalidInput, NotFitted, generator
from scisuite.core.files import read_json


class SB3Agent:
    """Act as a saved model does.

    Stable-Baselines3's files contain pickles, and opening a pickle can run any code that its author liked: load only
    models that you trained yourself.

    Parameters
    ----------
    path : str or Path
        The ``out`` folder of a training run, or a model's ``.zip``.
    algo : str or None
        Which algorithm saved it; ``None`` reads it from the ``config.json`` of the run.
    deterministic : bool
        Take the most probable action instead of drawing one.

    Raises
    ------
    InvalidInput
        If there is no such model, or nothing says which algorithm it is.
    """

    def __init__(self, path: str | Path, algo: str | None = None, deterministic: bool = True) -> None:
        path = Path(path)
        self.path = path / "model.zip" if path.is_dir() else path
        if not self.path.is_file():
            raise InvalidInput(f"no model at {self.path}")
        self.algorithm = algorithm(algo if algo is not None else _algorithm_of(self.path))
        self.deterministic = deterministic
        self._model: Any = None
        self._env: gym.Env[Any, Any] | None = None
        self._rng = generator(0, "sb3 agent")

    def bind(self, env: gym.Env[Any, Any]) -> None:
        """Load the model.

        Raises
        ------
        InvalidInput
            If it was trained on other spaces than ``env`` has.
        DamagedFile
            If the file is no model of that algorithm.
        """
        # A network draws its first weights, which the saved ones replace.
        with global_generators():
            self._model = self._load()
        for name in ("observation_space", "action_space"):
            trained, found = getattr(self._model, name), getattr(env, name)
            if trained != found:
                raise InvalidInput(f"{self.path} was trained with {name} {trained}, the environment has {found}")
        self._env = env

    def reset(self, *, seed: int) -> None:
        """Begin an episode; ``seed`` matters where actions are drawn."""
        self._rng = generator(seed, "sb3 agent")

    def act(self, observation: Any, info: dict[str, Any]) -> Any:
        """The model's action."""
        if self._model is None or self._env is None:
            raise NotFitted("bind the agent to an environment before it acts")
        arguments: dict[str, Any] = {"deterministic": self.deterministic}
        if self.algorithm.masked:
            arguments["action_masks"] = self._env.get_wrapper_attr("action_masks")()
        if self.deterministic:
            action, _ = self._model.predict(observation, **arguments)
        else:
            with global_generators(int(self._rng.integers(2**31))):
                action, _ = self._model.predict(observation, **arguments)
        return int(np.asarray(action).item()) if isinstance(self._env.action_space, spaces.Discrete) else action

    def observe(self, transition: Transition) -> None:
        """A trained policy learns nothing more."""

    def _load(self) -> Any:
        import zipfile

        try:
            return self.algorithm.load().load(self.path, device="auto")
        except (ValueError, KeyError, AssertionError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
            raise DamagedFile(f"{self.path} is no {self.algorithm.name} model: {error}") from error


def _algorithm_of(model: Path) -> str:
    for folder in model.resolve().parents[:3]:
        if (folder / "config.json").is_file():
            return str(read_json(folder / "config.json").get("algo"))
    raise InvalidInput(f"nothing beside {model} says which algorithm it is; give algo=…")
