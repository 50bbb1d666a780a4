"""The training environments: a native vector environment where there is one, else Stable-Baselines3's own."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, load_env_creator
from gymnasium.vector import AutoresetMode, VectorEnv

from scisuite.core import InvalidInput, UnknownName
from scisuite.core.registry import did_you_mean

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecEnv, VecMonitor


def env_spec(env_id: str) -> EnvSpec:
    """Gymnasium's registration of ``env_id``; ``"module:id"`` imports the module first.

    Raises
    ------
    UnknownName
        If it is not registered; the message names the nearest ids.
    """
    import scisuite.envs  # noqa: F401 — registers sci/*

    if not isinstance(env_id, str):
        raise InvalidInput(f"an environment is named by its id, not by {type(env_id).__name__}")
    module, colon, name = env_id.rpartition(":")
    if colon:
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            raise UnknownName(f"{env_id!r}: there is no module {error.name!r}") from error
    try:
        return gym.spec(name)
    except gym.error.Error as error:
        own = [known for known in gym.registry if known.startswith("sci/")]
        raise UnknownName(f"unknown environment {env_id!r}{did_you_mean(name, own)}") from error


def make_vec_env(
    env_id: str,
    vec: int = 1,
    *,
    seed: int = 0,
    env_kwargs: Mapping[str, Any] | None = None,
    processes: bool = False,
) -> VecMonitor:
    """Make ``vec`` copies of an environment for Stable-Baselines3, with episode statistics in ``infos``.

    Parameters
    ----------
    env_id : str
    vec : int
        A registration with a ``vector_entry_point`` steps all copies in one call; otherwise they are stepped one
        after the other, or each in a process of its own.
    seed : int
        Copy ``i`` of a serial environment is seeded with ``seed + i``, a native one as it defines.
    env_kwargs : mapping or None
        Arguments of the environment.
    processes : bool
        Whether copies without a native vector environment get processes: worth it where a step costs more than about
        half a millisecond.

    Raises
    ------
    UnknownName
        If the environment is not registered.
    InvalidInput
        If it does not take ``env_kwargs``, or ``vec`` is no positive integer.
    """
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecMonitor

    if isinstance(vec, bool) or not isinstance(vec, int) or vec < 1:
        raise InvalidInput(f"the number of copies must be a positive integer, not {vec!r}")
    spec = env_spec(env_id)
    keywords = dict(env_kwargs or {})
    try:
        made: VecEnv | None = _native(spec, vec, keywords) if spec.vector_entry_point is not None else None
        if made is None and processes and vec > 1:
            # A child that cannot make its environment only breaks a pipe: this one says why.
            _single(spec, keywords).close()
            made = SubprocVecEnv([partial(_single_in_process, spec, keywords)] * vec)
        elif made is None:
            made = DummyVecEnv([partial(_single, spec, keywords)] * vec)
    except TypeError as error:
        raise InvalidInput(f"{env_id} does not take {keywords}: {error}") from error
    monitored = VecMonitor(made)
    monitored.seed(seed)
    return monitored


def record_episodes(vec: VecMonitor, path: Path) -> None:
    """Write one line an episode to ``<path>.monitor.csv`` from here on, as Stable-Baselines3's plots read it."""
    from stable_baselines3.common.monitor import ResultsWriter

    path.parent.mkdir(parents=True, exist_ok=True)
    spec = vec.get_attr("spec")[0]
    vec.results_writer = ResultsWriter(str(path), header={"t_start": vec.t_start, "env_id": spec.id})


def kind_of(vec: VecEnv) -> str:
    """``"native"``, ``"processes"`` or ``"serial"``."""
    from stable_baselines3.common.vec_env import SubprocVecEnv

    from scisuite.agents.sb3.vec_env import NativeVecEnv

    if isinstance(vec.unwrapped, NativeVecEnv):
        return "native"
    return "processes" if isinstance(vec.unwrapped, SubprocVecEnv) else "serial"


def _native(spec: EnvSpec, count: int, keywords: dict[str, Any]) -> VecEnv | None:
    """The native vector environment, or ``None`` with a warning where Stable-Baselines3 cannot use it."""
    from scisuite.agents.sb3.vec_env import NativeVecEnv, autoreset_mode

    creator: Any = spec.vector_entry_point
    if isinstance(creator, str):
        creator = load_env_creator(creator)
    if "autoreset_mode" in inspect.signature(creator).parameters:
        keywords = {"autoreset_mode": AutoresetMode.SAME_STEP, **keywords}
    env: VectorEnv[Any, Any, Any] = gym.make_vec(
        spec, num_envs=count, vectorization_mode="vector_entry_point", **keywords
    )
    if autoreset_mode(env) in (AutoresetMode.SAME_STEP, AutoresetMode.DISABLED):
        return NativeVecEnv(env)
    env.close()
    warnings.warn(
        f"the vector environment of {spec.id} resets on the next step, which Stable-Baselines3 cannot use; "
        "stepping single environments instead",
        stacklevel=3,
    )
    return None


def _single(spec: EnvSpec, keywords: dict[str, Any]) -> gym.Env[Any, Any]:
    return gym.make(spec, **keywords)


def _single_in_process(spec: EnvSpec, keywords: dict[str, Any]) -> gym.Env[Any, Any]:
    import signal

    # Ctrl-C reaches every process of the terminal; only the trainer may answer it, after its checkpoint.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _single(spec, keywords)
