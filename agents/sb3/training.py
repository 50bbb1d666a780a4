"""Train a Stable-Baselines3 algorithm so that a killed run can go on: ``scisuite train``."""

from __future__ import annotations

import copy
import importlib.util
import time
import warnings
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scisuite.agents.sb3.algorithms import (
    Algorithm,
    action_noise,
    algorithm,
    check_fit,
    hyperparameters,
    policy_name,
)
from scisuite.agents.sb3.checkpoints import Checkpoint, latest_checkpoint, publish_model, save_checkpoint
from scisuite.agents.sb3.environments import kind_of, make_vec_env, record_episodes
from scisuite.agents.sb3.randomness import global_generators
from scisuite.core import InvalidInput, MissingDependency, __version__, as_seed, generator
from scisuite.core.files import canonical_json, jsonable, read_json, write_json
from scisuite.core.progress import Progress
from scisuite.core.registry import refuse_unknown_arguments

if TYPE_CHECKING:
    from stable_baselines3.common.callbacks import EvalCallback
    from stable_baselines3.common.vec_env import VecMonitor

_RESERVED = ("env", "seed", "tensorboard_log", "verbose", "_init_setup_model")
_SAME_ON_RESUME = ("env", "algo", "seed", "vec", "env_kwargs", "algo_kwargs")


def train(
    env_id: str,
    *,
    algo: str = "ppo",
    timesteps: int,
    vec: int = 1,
    out: str | Path,
    seed: int = 0,
    resume: bool = False,
    eval_every: int | None = None,
    checkpoint_every: int | None = None,
    env_kwargs: Mapping[str, Any] | None = None,
    algo_kwargs: Mapping[str, Any] | None = None,
    processes: bool = False,
    progress: bool = True,
) -> dict[str, Any]:
    """Train ``algo`` in ``env_id`` and leave everything in ``out``.

    ``out`` then holds ``model.zip`` (the newest model), ``config.json`` (what was asked), ``summary.json`` (what came
    of it, also returned), ``checkpoints/``, ``best/best_model.zip`` and ``evaluations.npz`` (from the evaluations),
    ``episodes/*.monitor.csv`` (a line an episode) and ``tensorboard/``.

    Ctrl-C ends the run after the current step, saves a checkpoint and a summary whose ``status`` is
    ``"interrupted"``, and raises ``KeyboardInterrupt``. A second Ctrl-C stops at once.

    Parameters
    ----------
    env_id : str
    algo : {"ppo", "a2c", "dqn", "sac", "td3", "maskable-ppo"}
    timesteps : int
        Environment steps in all, over every copy and every start. On-policy algorithms finish the rollout they are in.
    vec : int
        Copies of the environment that are stepped together.
    out : str or Path
    seed : int
        Of the parameters, the exploration and the environments. A resumed run draws new numbers from the seed and
        the steps done, so that it is reproducible, though not equal to a run that was never stopped.
    resume : bool
        Go on from the newest whole checkpoint in ``out``, whose arguments must be these; torn ones are passed over.
        With ``timesteps`` reached nothing runs.
    eval_every : int or None
        Steps between evaluations of five episodes in an environment of their own; ``None`` for a tenth of
        ``timesteps``, though at least a thousand (or once, in a shorter run), 0 for none.
    checkpoint_every : int or None
        Steps between checkpoints, rounded up to whole rollouts; ``None`` likewise, 0 for one at the end only.
    env_kwargs, algo_kwargs : mapping or None
        JSON arguments of the environment and of the algorithm (see
        :func:`~scisuite.agents.sb3.algorithms.hyperparameters` for the defaults).
    processes : bool
        Whether copies that have no native vector environment run in processes of their own.
    progress : bool
        Whether to show a bar on standard error.

    Returns
    -------
    dict
        JSON: ``env``, ``algo``, ``seed``, ``vec``, ``vector`` (native, serial or processes), ``status`` (done or
        interrupted), ``timesteps``, ``resumed_from``, ``updates``, ``episodes`` (of this start) and ``mean_return``
        (of the last hundred), ``best_evaluation``, ``seconds`` (of this start, all told), ``training_seconds`` (of
        them, those spent learning: without imports, evaluations and the set-up before the first step),
        ``steps_per_second`` (of the latter), ``model``, ``versions``.

    Raises
    ------
    InvalidInput
        Before anything is written: for arguments out of range, an algorithm that does not fit the environment's
        spaces (the message names those that do), a folder that holds something although ``resume`` is false, or one
        that was started with other arguments.
    MissingDependency
        Without the extra ``rl``.
    EngineFailure
        If a checkpoint cannot be written.
    """
    started = time.perf_counter()
    method = algorithm(algo)
    seed = as_seed(seed)
    for name, value, least in (("timesteps", timesteps, 1), ("vec", vec, 1)):
        _check_integer(name, value, least)
    eval_every = _interval("eval_every", eval_every, timesteps)
    checkpoint_every = _interval("checkpoint_every", checkpoint_every, timesteps)
    config = jsonable(
        {
            "env": env_id,
            "algo": algo,
            "seed": seed,
            "vec": vec,
            "env_kwargs": dict(env_kwargs or {}),
            "algo_kwargs": dict(algo_kwargs or {}),
            "timesteps": timesteps,
            "eval_every": eval_every,
            "checkpoint_every": checkpoint_every,
            "processes": processes,
        }
    )
    out = Path(out)
    start = _start(out, config, resume)
    if start is not None and start.timesteps >= timesteps and (out / "summary.json").is_file():
        return dict(read_json(out / "summary.json"))
    _require_tensorboard()
    method.load()

    with global_generators():
        run_seed = _derived_seed(seed, "start", start.timesteps) if start else seed % 2**31
        train_env = make_vec_env(env_id, vec, seed=run_seed, env_kwargs=env_kwargs, processes=processes)
        eval_env: VecMonitor | None = None
        try:
            masks = train_env.has_attr("action_masks")
            check_fit(algo, env_id, train_env.observation_space, train_env.action_space, masks)
            model = _new_or_loaded(method, train_env, config, run_seed, out, start)
            model.seed = seed
            if eval_every:
                evaluation_seed = _derived_seed(seed, "evaluation", model.num_timesteps)
                eval_env = make_vec_env(env_id, 1, seed=evaluation_seed, env_kwargs=env_kwargs)
            write_json(out / "config.json", config)
            record_episodes(train_env, out / "episodes" / f"from-{model.num_timesteps:09d}")
            return _learn(model, method, train_env, eval_env, out, config, progress, started)
        finally:
            train_env.close()
            if eval_env is not None:
                eval_env.close()


def _learn(
    model: Any,
    method: Algorithm,
    train_env: VecMonitor,
    eval_env: VecMonitor | None,
    out: Path,
    config: dict[str, Any],
    progress: bool,
    started: float,
) -> dict[str, Any]:
    from scisuite.agents.sb3.callbacks import CheckpointWriter, ProgressCallback, StopOnRequest, TrainingClock

    begun_at, timesteps, vec = model.num_timesteps, config["timesteps"], config["vec"]
    stop, clock = StopOnRequest(), TrainingClock()
    title = f"{config['algo']} in {config['env']}"
    with Progress(title, total=timesteps, enabled=progress) as bar, stop.on_interrupt():
        evaluation = _evaluation(model, method, eval_env, out, max(config["eval_every"] // vec, 1))
        callbacks = [clock, CheckpointWriter(out / "checkpoints", config["checkpoint_every"]), ProgressCallback(bar)]
        callbacks += clock.leaving_out(evaluation) if evaluation is not None else []
        # Last in the list, so that the step that is interrupted has been counted and evaluated like any other.
        callbacks.append(stop)
        model.learn(
            max(timesteps - begun_at, 0),
            callback=callbacks,
            tb_log_name=config["algo"],
            reset_num_timesteps=begun_at == 0,
        )
        clock.stop()
        checkpoint = save_checkpoint(model, out / "checkpoints")
        publish_model(checkpoint, out / "model.zip")
    recent = list(model.ep_info_buffer or ())
    best = float(evaluation.best_mean_reward) if evaluation is not None else -np.inf
    summary = jsonable(
        {
            **{name: config[name] for name in ("env", "algo", "seed", "vec", "env_kwargs")},
            "vector": kind_of(train_env),
            "status": "interrupted" if stop.requested else "done",
            "timesteps": model.num_timesteps,
            "resumed_from": begun_at,
            "updates": model._n_updates,
            "episodes": train_env.episode_count,
            "mean_return": float(np.mean([episode["r"] for episode in recent])) if recent else None,
            "best_evaluation": best,
            "seconds": time.perf_counter() - started,
            "training_seconds": clock.seconds,
            "steps_per_second": (model.num_timesteps - begun_at) / clock.seconds if clock.seconds else None,
            "model": str(out / "model.zip"),
            "versions": _versions(),
        }
    )
    write_json(out / "summary.json", summary)
    if stop.requested:
        raise KeyboardInterrupt(f"stopped after {model.num_timesteps} steps; resume to go on")
    return dict(summary)


def _start(out: Path, config: dict[str, Any], resume: bool) -> Checkpoint | None:
    """The checkpoint to go on from, or ``None`` for a run from the beginning."""
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"{out} is a file; out must be a folder")
    if not resume:
        if out.exists() and any(out.iterdir()):
            raise InvalidInput(f"{out} is not empty; resume that run or name another folder")
        return None
    if not (out / "config.json").is_file():
        raise InvalidInput(f"nothing to resume in {out}: no run was started there")
    before = read_json(out / "config.json")
    for name in _SAME_ON_RESUME:
        if canonical_json(before.get(name)) != canonical_json(config[name]):
            raise InvalidInput(
                f"{out} was started with {name}={before.get(name)!r}, not {config[name]!r}; "
                "resume it with the same arguments or name another folder"
            )
    return latest_checkpoint(out / "checkpoints")


def _new_or_loaded(
    method: Algorithm, vec_env: VecMonitor, config: dict[str, Any], seed: int, out: Path, start: Checkpoint | None
) -> Any:
    algorithm_class = method.load()
    # Stable-Baselines3 writes its own defaults into policy_kwargs.
    given = copy.deepcopy(config["algo_kwargs"])
    if clash := sorted(set(given) & set(_RESERVED)):
        raise InvalidInput(f"{clash[0]} is set by train() itself, not through algo_kwargs")
    refuse_unknown_arguments(algorithm_class, {"policy": "", "env": vec_env, **given}, f"algorithm {method.name!r}")
    logs = str(out / "tensorboard")
    if start is not None:
        model = algorithm_class.load(
            start.model, env=vec_env, device=given.get("device", "auto"), seed=seed, tensorboard_log=logs
        )
        if start.replay_buffer is not None:
            model.load_replay_buffer(start.replay_buffer)
        return model
    chosen = hyperparameters(method.name, config["vec"], config["timesteps"], vec_env.observation_space, given)
    policy = chosen.pop("policy", policy_name(vec_env.observation_space))
    if isinstance(chosen.get("action_noise"), int | float):
        chosen["action_noise"] = action_noise(chosen["action_noise"], vec_env.action_space)
    try:
        return algorithm_class(policy, vec_env, seed=seed, tensorboard_log=logs, verbose=0, **chosen)
    except (TypeError, ValueError, AssertionError) as error:
        raise InvalidInput(f"{method.name} cannot be set up with {given}: {error}") from error


def _evaluation(
    model: Any, method: Algorithm, eval_env: VecMonitor | None, out: Path, every_calls: int
) -> EvalCallback | None:
    """The evaluation callback, which knows what an interrupted run had found."""
    if eval_env is None:
        return None
    from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
    from stable_baselines3.common.callbacks import EvalCallback

    # As the model has wrapped its own environment: images are transposed.
    wrapped = model._wrap_env(eval_env, 0, True)
    kind = MaskableEvalCallback if method.masked else EvalCallback
    callback: EvalCallback = kind(
        wrapped,
        eval_freq=every_calls,
        log_path=str(out),
        best_model_save_path=str(out / "best"),
        deterministic=True,
        verbose=0,
    )
    try:
        with np.load(out / "evaluations.npz") as before:
            kept = before["timesteps"] <= model.num_timesteps
            callback.evaluations_timesteps = before["timesteps"][kept].tolist()
            callback.evaluations_results = before["results"][kept].tolist()
            callback.evaluations_length = before["ep_lengths"][kept].tolist()
    except FileNotFoundError:
        pass
    except (OSError, ValueError, KeyError, EOFError) as error:
        warnings.warn(f"{out / 'evaluations.npz'} is damaged and starts anew: {error}", stacklevel=2)
    if callback.evaluations_results:
        callback.best_mean_reward = float(np.max(np.mean(callback.evaluations_results, axis=1)))
    return callback


def _check_integer(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be an integer of at least {least}, not {value!r}")


def _interval(name: str, value: int | None, timesteps: int) -> int:
    if value is None:
        return max(timesteps // 10, min(timesteps, 1000))
    _check_integer(name, value, 0)
    return value


def _derived_seed(seed: int, *purpose: str | int) -> int:
    return int(generator(seed, "sb3", *purpose).integers(2**31))


def _require_tensorboard() -> None:
    if importlib.util.find_spec("tensorboard") is None:
        raise MissingDependency("training logs need tensorboard, which is not installed", "rl")


def _versions() -> dict[str, str]:
    names = ("stable-baselines3", "sb3-contrib", "gymnasium", "torch", "numpy")
    return {"scisuite": __version__, **{name: metadata.version(name) for name in names}}
