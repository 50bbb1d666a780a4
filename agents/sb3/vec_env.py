"""Gymnasium's vector environments as Stable-Baselines3 ones. Importing this imports Stable-Baselines3."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from scisuite.core import EngineFailure, InvalidInput

# An array (n, …), or a dictionary of such.
Observation = Any


class NativeVecEnv(VecEnv):
    """Stable-Baselines3's ``VecEnv`` over a Gymnasium vector environment that steps all its copies in one call.

    Stable-Baselines3 expects an episode that ends to begin anew within the same step, the last observation of the old
    one in ``infos[i]["terminal_observation"]``. Two of Gymnasium's three autoreset modes can give that:

    - ``SAME_STEP``: the environment resets, and ``infos["final_obs"]`` holds the last observations (rows that
      ``infos["_final_obs"]`` marks) and ``infos["final_info"]`` the last infos;
    - ``DISABLED``: the rows that ended are reset here, by ``reset(options={"reset_mask": done})``.

    ``NEXT_STEP`` spends one further step, whose action is ignored, on every reset. That step cannot be hidden from
    Stable-Baselines3, which would learn from it, so the mode is refused.

    Parameters
    ----------
    env : gymnasium.vector.VectorEnv
        Owned from here on: :meth:`close` closes it.

    Raises
    ------
    InvalidInput
        If the environment resets on the next step, or does not say how it resets.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        mode = autoreset_mode(env)
        if mode not in (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED):
            stated = "does not say how it resets" if mode is None else "resets on the next step"
            raise InvalidInput(
                f"{env} {stated}; Stable-Baselines3 needs autoreset_mode=AutoresetMode.SAME_STEP in its metadata"
            )
        self.env = env
        self.spec = env.unwrapped.spec
        self._resets_itself = mode is AutoresetMode.SAME_STEP
        self._actions: Any = None
        super().__init__(env.num_envs, env.single_observation_space, env.single_action_space)

    def reset(self) -> Observation:
        """Reset every copy with the seeds and options set since the last reset; observations (n, …)."""
        options = self._options[0]
        if any(other != options for other in self._options[1:]):
            raise InvalidInput("a native vector environment takes one set of reset options for all its copies")
        observation, infos = self.env.reset(seed=self._seeds[0], options=dict(options) or None)
        self.reset_infos = info_rows(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return _copied(observation)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keep ``actions`` (n, …) for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Step all copies: observations (n, …), rewards float32 (n,), dones bool (n,) and n infos."""
        observation, rewards, terminated, truncated, infos = self.env.step(self._actions)
        rewards = np.array(rewards, dtype=np.float32)
        terminated, truncated = np.array(terminated, dtype=bool), np.array(truncated, dtype=bool)
        done = terminated | truncated
        observation = _copied(observation)
        rows = self._rows_at_the_end(observation, infos, done) if done.any() else info_rows(infos, self.num_envs)
        for row, cut in zip(rows, (truncated & ~terminated).tolist(), strict=True):
            row["TimeLimit.truncated"] = cut
        return observation, rewards, done, rows

    def close(self) -> None:
        self.env.close()

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """A frame a copy, as far as the environment renders."""
        frames = self.env.render()
        return [None] * self.num_envs if frames is None else [np.asarray(frame) for frame in frames]

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """An attribute for each of ``indices``: its rows where it has one a copy, else the same for all."""
        if hasattr(self.env.unwrapped, "get_attr"):
            value: Any = self.env.unwrapped.get_attr(attr_name)
        else:
            value = _attribute(self.env, attr_name)
        return [_row(value, index, self.num_envs) for index in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Set an attribute that all copies share."""
        if indices is not None and sorted(self._get_indices(indices)) != list(range(self.num_envs)):
            raise InvalidInput(f"{attr_name} is shared by all copies of a native vector environment; set it for all")
        setattr(self.env.unwrapped, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method once for all copies and return its rows of ``indices`` (``action_masks``: bool (k,) each)."""
        if hasattr(self.env.unwrapped, "call"):
            value = self.env.unwrapped.call(method_name, *method_args, **method_kwargs)
        else:
            value = _attribute(self.env, method_name)(*method_args, **method_kwargs)
        return [_row(value, index, self.num_envs) for index in self._get_indices(indices)]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: int | Iterable[int] | None = None
    ) -> list[bool]:
        """False for each of ``indices``: there are no single environments that could be wrapped."""
        return [False for _ in self._get_indices(indices)]

    def _rows_at_the_end(
        self, observation: Observation, infos: dict[str, Any], done: NDArray[np.bool_]
    ) -> list[dict[str, Any]]:
        """Infos of a step that ended episodes; rows of ``observation`` that are still old ones are replaced."""
        ended = np.flatnonzero(done).tolist()
        if self._resets_itself:
            infos = dict(infos)
            final = infos.pop("final_obs", None)
            marked = np.asarray(infos.pop("_final_obs", done), dtype=bool)
            final_infos, marked_infos = infos.pop("final_info", None), infos.pop("_final_info", None)
            if final is None or not marked[ended].all():
                raise EngineFailure(f"{self.env} resets within the step but gave no final_obs for an episode's end")
            rows = info_rows(infos, self.num_envs)
            marked_infos = done if marked_infos is None else marked_infos
            last = info_rows({"row": final_infos, "_row": marked_infos}, self.num_envs)
            terminal = [_final_row(final, index) for index in ended]
            last_rows = [last[index]["row"] if final_infos is not None else dict(rows[index]) for index in ended]
            new_rows = [rows[index] for index in ended]
        else:
            rows = info_rows(infos, self.num_envs)
            terminal = [_copied(_observation_row(observation, index)) for index in ended]
            fresh, fresh_infos = self.env.reset(options={"reset_mask": done.copy()})
            _replace_rows(observation, fresh, done)
            fresh_rows = info_rows(fresh_infos, self.num_envs)
            last_rows = [rows[index] for index in ended]
            new_rows = [fresh_rows[index] for index in ended]
        for index, terminal_observation, last_row, new_row in zip(ended, terminal, last_rows, new_rows, strict=True):
            self.reset_infos[index] = new_row
            rows[index] = {**last_row, "terminal_observation": terminal_observation}
        return rows


def autoreset_mode(env: VectorEnv[Any, Any, Any]) -> AutoresetMode | None:
    """The mode that a vector environment's metadata states, as the enum or by its name or value."""
    stated = env.metadata.get("autoreset_mode")
    for mode in AutoresetMode:
        if stated in (mode, mode.name, mode.value):
            return mode
    return None


def info_rows(infos: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Gymnasium's dictionary of arrays as one dictionary a copy, the keys that ``_key`` masks out left out.

    >>> info_rows({"hits": np.array([3, 0]), "_hits": np.array([True, False]), "unit": "m"}, 2)
    [{'hits': np.int64(3), 'unit': 'm'}, {'unit': 'm'}]
    """
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, value in infos.items():
        if key.startswith("_") and key[1:] in infos:
            continue
        mask = infos.get(f"_{key}")
        if isinstance(value, Mapping):
            column: Any = info_rows(value, count)
        else:
            column = value if _one_a_copy(value, count) else [value] * count
        if mask is None or np.all(mask):
            for row, item in zip(rows, column, strict=True):
                row[key] = item
        else:
            for index in np.flatnonzero(mask):
                rows[index][key] = column[index]
    return rows


def _one_a_copy(value: Any, count: int) -> bool:
    sequence = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    return sequence and len(value) == count


def _row(value: Any, index: int, count: int) -> Any:
    return value[index] if _one_a_copy(value, count) else value


def _attribute(env: VectorEnv[Any, Any, Any], name: str) -> Any:
    """From the outermost wrapper inwards; ``AttributeError`` where nobody has it."""
    return getattr(env, name) if hasattr(env, name) else getattr(env.unwrapped, name)


def _final_row(final: Any, index: int) -> Any:
    """Row of ``final_obs``: an object array of single observations, or a batch like any other."""
    if isinstance(final, np.ndarray) and final.dtype == object:
        return _copied(final[index])
    return _copied(_observation_row(final, index))


def _observation_row(observation: Any, index: int) -> Any:
    if isinstance(observation, Mapping):
        return {key: value[index] for key, value in observation.items()}
    return observation[index]


def _copied(observation: Any) -> Any:
    """An own copy: environments may write the next step into the arrays of this one."""
    if isinstance(observation, Mapping):
        return {key: np.array(value) for key, value in observation.items()}
    return np.array(observation)


def _replace_rows(observation: Any, fresh: Any, rows: NDArray[np.bool_]) -> None:
    if isinstance(observation, Mapping):
        for key, value in observation.items():
            value[rows] = fresh[key][rows]
    else:
        observation[rows] = fresh[rows]
