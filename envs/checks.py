"""The contract of an environment as one function: ours pass it, and so should a third party's.

Nothing but Gymnasium and NumPy is imported until a check needs it.
"""

from __future__ import annotations

import copy
import importlib.util
import inspect
import json
import math
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.seeding import global_random_state_untouched

AnyEnv = gym.Env[Any, Any]
Make = Callable[..., AnyEnv]

DOCSTRING_SECTIONS = ("Observation", "Action", "Reward", "Termination", "Info", "Arguments", "Source")


def check_env(env: str | AnyEnv, *, slow: bool = True, steps: int = 48, **kwargs: Any) -> None:
    """Put an environment through the contract; return silently or raise ``AssertionError`` with the reason.

    Gymnasium's own ``check_env``; the same seed gives the same trajectory and another seed another one; ``reset``
    takes ``options=None``; pickles and deep copies made in mid-episode go on alike; every observation lies in its
    space, every reward is a finite number and ``info`` holds plain values; NaN, infinite, out-of-bounds and misshapen
    actions are refused with :class:`~scisuite.core.InvalidInput` and change nothing; a step before ``reset`` or after
    the end is refused; frames are uint8 (H, W, 3); the class docstring has its sections; ``spec.to_json()`` makes the
    same environment again; the global random state is left alone; ``make_vec`` agrees with single environments, and a
    ``vector_entry_point`` with ``make_vec`` step for step.

    An environment whose dynamics has nothing random says so by ``metadata["deterministic"] = True``.

    Parameters
    ----------
    env : str or gymnasium.Env
        An id, or an environment: what needs more than one of them then uses its ``spec``, or deep copies without one.
    slow : bool
        Also check worker processes (``make_vec`` async), ``RecordVideo`` where moviepy is installed, and, where
        Stable-Baselines3 is installed and takes the spaces, its ``check_env`` and 64 steps of A2C.
    steps : int
        Length of the compared trajectories.
    **kwargs
        Arguments of ``gymnasium.make`` where ``env`` is an id.
    """
    make = _maker(env, kwargs)
    _check_docstring(make)
    with global_random_state_untouched():
        _check_gymnasium(make)
        _check_seeds(make, steps)
        _check_values(make, steps)
        _check_copies(make, steps)
        _check_bad_actions(make)
        _check_order(make, steps)
        _check_frames(make)
        _check_spec(make, steps)
    if (spec := make().spec) is not None:
        _check_vector(make, spec, "sync", steps)
        _check_native_vector(spec, steps)
        if slow:
            _check_vector(make, spec, "async", steps)
    if slow:
        _check_video(make)
        _check_stable_baselines3(make)


def _maker(env: str | AnyEnv, kwargs: dict[str, Any]) -> Make:
    if isinstance(env, str):
        import scisuite.envs  # noqa: F401  (registers the ids)

        return lambda **more: gym.make(env, **{**kwargs, **more})
    if not isinstance(env, gym.Env):
        raise InvalidInput(f"check_env takes an id or a gymnasium.Env, not {type(env).__name__}")
    if kwargs:
        raise InvalidInput(f"{', '.join(kwargs)}: arguments are for an id, an environment is checked as it is")
    if (spec := env.spec) is not None:
        return lambda **more: gym.make(spec, **more)
    return lambda **more: copy.deepcopy(env)


def _check_docstring(make: Make) -> None:
    env = make()
    text = inspect.getdoc(type(env.unwrapped)) or ""
    for section in DOCSTRING_SECTIONS:
        pattern = rf"^[#\s*]*{section}s?( space)?[\s:*]*$"
        found = re.search(pattern, text, re.IGNORECASE | re.MULTILINE)
        assert found, f"the docstring of {type(env.unwrapped).__name__} has no section {section!r}"
    env.close()


def _check_gymnasium(make: Make) -> None:
    from gymnasium.utils.env_checker import check_env as gymnasium_check_env

    gymnasium_check_env(make().unwrapped)


def _check_seeds(make: Make, steps: int) -> None:
    env = make()
    env.reset(options=None)
    first, again = _trajectory(env, 0, steps), _trajectory(make(), 0, steps)
    assert _same(first, again), f"the same seed gave another trajectory: {_difference(first, again)}"
    assert _same(first, _trajectory(env, 0, steps)), "an episode depends on the ones before it"
    if not env.metadata.get("deterministic", False):
        others = [_trajectory(env, seed, steps, actions=[step[0] for step in first[1:]]) for seed in (1, 2, 3)]
        assert any(not _same(first, other) for other in others), "seeds 0, 1, 2 and 3 gave one trajectory"
    env.close()


def _check_values(make: Make, steps: int) -> None:
    env = make()
    for step, (_, observation, reward, terminated, truncated, info) in enumerate(_trajectory(env, 5, 4 * steps)):
        assert observation in env.observation_space, f"step {step}: the observation is outside its space"
        number = isinstance(reward, int | float | np.number)
        assert number and math.isfinite(reward), f"step {step}: the reward is {reward!r}"  # noqa: PT018
        assert isinstance(terminated, bool | np.bool_), f"step {step}: terminated is {terminated!r}"
        assert isinstance(truncated, bool | np.bool_), f"step {step}: truncated is {truncated!r}"
        _require_plain(info, "info")
    env.close()


def _check_copies(make: Make, steps: int) -> None:
    env = make()
    _trajectory(env, 7, 5)
    duplicates = {"deep copy": copy.deepcopy(env), "pickle": pickle.loads(pickle.dumps(env))}
    mine = _continued(env, steps)
    for name, duplicate in duplicates.items():
        copied = _continued(duplicate, steps)
        assert _same(mine, copied), f"a {name} made in mid-episode goes on otherwise: {_difference(mine, copied)}"
    env.close()


def _check_bad_actions(make: Make) -> None:
    env = make()
    env.reset(seed=11)
    env.action_space.seed(11)
    untouched = copy.deepcopy(env)
    for what, action in _bad_actions(copy.deepcopy(env.action_space)):
        try:
            env.step(action)
        except InvalidInput:
            continue
        except Exception as error:
            got = f"{type(error).__name__} ({error})"
            raise AssertionError(f"an action {what} raised {got}, not InvalidInput") from error
        raise AssertionError(f"an action {what} was accepted")
    mine, expected = _continued(env, 8), _continued(untouched, 8)
    assert _same(mine, expected), f"a refused action changed the environment: {_difference(expected, mine)}"
    env.close()


def _check_order(make: Make, steps: int) -> None:
    env = make().unwrapped
    _require_refused(env, "before reset")
    _, info = env.reset(seed=13)
    env.action_space.seed(13)
    for _ in range(100 * steps):
        _, _, terminated, truncated, info = env.step(_sample(env, info))
        if terminated or truncated:
            _require_refused(env, "after the end of the episode")
            break
    env.close()


def _require_refused(env: AnyEnv, when: str) -> None:
    try:
        env.step(env.action_space.sample())
    except (InvalidInput, gym.error.ResetNeeded):
        return
    except Exception as error:
        raise AssertionError(f"a step {when} raised {type(error).__name__} ({error}), not InvalidInput") from error
    raise AssertionError(f"a step {when} was accepted")


def _check_frames(make: Make) -> None:
    env = make()
    modes = env.metadata.get("render_modes", [])
    assert env.render_mode is not None or env.unwrapped.render() is None, "render() without a render mode must be None"
    if "rgb_array" not in modes:
        return
    env = make(render_mode="rgb_array")
    env.reset(seed=3)
    for frame in (env.render(), env.step(env.action_space.sample()) and env.render()):
        assert isinstance(frame, np.ndarray), f"a frame must be an array, not {type(frame).__name__}"
        assert frame.dtype == np.uint8, f"a frame must be uint8, not {frame.dtype}"
        assert frame.shape[2:] == (3,), f"a frame must have shape (H, W, 3), not {frame.shape}"
        assert frame.min() < frame.max(), "a frame shows nothing"
    env.close()


def _check_spec(make: Make, steps: int) -> None:
    spec = make().spec
    if spec is None:
        return
    try:
        json.dumps(spec.kwargs)
    except TypeError:
        return  # made with objects, which JSON cannot say
    again = gym.envs.registration.EnvSpec.from_json(spec.to_json())
    first, second = _trajectory(make(), 17, steps), _trajectory(gym.make(again), 17, steps)
    assert _same(first, second), f"spec.to_json() makes another environment: {_difference(first, second)}"


def _check_vector(make: Make, spec: Any, mode: str, steps: int) -> None:
    """Two environments side by side do what each does alone, until the first of them ends."""
    seed = 19
    vector = gym.make_vec(spec, num_envs=2, vectorization_mode=mode)
    singles = [make() for _ in range(2)]
    try:
        vector.action_space.seed(seed)
        observations, _ = vector.reset(seed=seed)
        alone = [env.reset(seed=seed + i)[0] for i, env in enumerate(singles)]
        for step in range(steps):
            for i, rows in enumerate(gym.vector.utils.iterate(vector.observation_space, observations)):
                assert _same(rows, alone[i]), f"make_vec {mode}, step {step}: environment {i} differs from a single one"
            actions = vector.action_space.sample()
            observations, rewards, terminated, truncated, _ = vector.step(actions)
            each = [env.step(a) for env, a in zip(singles, _each(vector, actions), strict=True)]
            assert np.allclose(rewards, [float(e[1]) for e in each], rtol=0, atol=1e-12), f"make_vec {mode}: rewards"
            if (terminated | truncated).any():
                break
            alone = [e[0] for e in each]
    finally:
        vector.close()
        for env in singles:
            env.close()


def _check_native_vector(spec: Any, steps: int) -> None:
    """A ``vector_entry_point`` and a sync ``make_vec`` in its autoreset mode give the same numbers and infos."""
    if spec.vector_entry_point is None:
        return
    native = gym.make_vec(spec, num_envs=3, vectorization_mode="vector_entry_point")
    mode = native.metadata.get("autoreset_mode")
    assert isinstance(mode, gym.vector.AutoresetMode), "a vector environment declares metadata['autoreset_mode']"
    reference = gym.make_vec(spec, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode})
    try:
        assert native.observation_space == reference.observation_space, "native vector: other observation space"
        assert native.action_space == reference.action_space, "native vector: other action space"
        reference.action_space.seed(23)
        mine, theirs = native.reset(seed=23), reference.reset(seed=23)
        assert _same(mine, theirs), f"native vector, reset: {_difference(theirs, mine)}"
        ended = 0
        for step in range(20 * steps):
            actions = reference.action_space.sample()
            results, expected = native.step(actions), reference.step(actions)
            assert _same(results, expected), f"native vector, step {step}: {_difference(expected, results)}"
            ended += int((results[2] | results[3]).sum())
            if ended >= 4:
                break
    finally:
        native.close()
        reference.close()


def _check_video(make: Make) -> None:
    if importlib.util.find_spec("moviepy") is None or "rgb_array" not in make().metadata.get("render_modes", []):
        return
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        inside = Path(folder, "video")
        drawn = make(render_mode="rgb_array")
        env: Any = gym.wrappers.RecordVideo(drawn, str(inside), video_length=3, disable_logger=True)
        _trajectory(env, 29, 4)
        env.close()
        videos = [path for path in inside.glob("*.mp4") if path.stat().st_size > 0]
        assert videos, "RecordVideo wrote no video"


def _check_stable_baselines3(make: Make) -> None:
    if importlib.util.find_spec("stable_baselines3") is None or not _stable_baselines3_takes(make()):
        return
    import torch
    from stable_baselines3 import A2C
    from stable_baselines3.common.env_checker import check_env as sb3_check_env

    # The bare environment: the checker looks for compute_reward on what it is given, and Gymnasium's wrappers hide it.
    sb3_check_env(make().unwrapped, skip_render_check=True)
    env = make()
    policy = "MultiInputPolicy" if isinstance(env.observation_space, gym.spaces.Dict) else "MlpPolicy"
    with torch.random.fork_rng(devices=[]):
        model = A2C(policy, env, n_steps=16, device="cpu").learn(64)
    assert model.num_timesteps >= 64, f"Stable-Baselines3 stopped after {model.num_timesteps} steps"


def _stable_baselines3_takes(env: AnyEnv) -> bool:
    flat = (gym.spaces.Box, gym.spaces.Discrete, gym.spaces.MultiDiscrete, gym.spaces.MultiBinary)
    if not isinstance(env.action_space, flat):
        return False
    observation = env.observation_space
    parts = list(observation.spaces.values()) if isinstance(observation, gym.spaces.Dict) else [observation]
    return all(isinstance(part, flat) for part in parts)


def _trajectory(env: AnyEnv, seed: int, steps: int, actions: list[Any] | None = None) -> list[tuple[Any, ...]]:
    """Rows (action, observation, reward, terminated, truncated, info) from ``reset(seed)`` on; ends begin anew."""
    observation, info = env.reset(seed=seed)
    env.action_space.seed(seed)
    return [(None, copy.deepcopy(observation), 0.0, False, False, info), *_continued(env, steps, actions, info)]


def _continued(env: AnyEnv, steps: int, actions: list[Any] | None = None, info: Any = None) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for step in range(steps if actions is None else len(actions)):
        action = _sample(env, info) if actions is None else actions[step]
        observation, reward, terminated, truncated, info = env.step(action)
        rows.append((action, copy.deepcopy(observation), reward, terminated, truncated, copy.deepcopy(info)))
        if terminated or truncated:
            _, info = env.reset()
    return rows


def _sample(env: AnyEnv, info: Any) -> Any:
    mask = info.get("action_mask") if isinstance(info, dict) else None
    return env.action_space.sample() if mask is None else env.action_space.sample(mask=mask)


def _each(vector: Any, actions: Any) -> Iterator[Any]:
    return iter(gym.vector.utils.iterate(vector.action_space, actions))


def _bad_actions(space: gym.Space[Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Actions outside ``space``, one fault each, with what is wrong with them."""
    if isinstance(space, gym.spaces.Box):
        good = np.asarray(space.sample())
        faults: dict[str, float] = {"NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf}
        if not np.issubdtype(space.dtype or np.float32, np.floating):
            faults = {}
        if space.is_bounded("above"):
            faults["a value above its bound"] = float(space.high.max()) + 1
        if space.is_bounded("below"):
            faults["a value below its bound"] = float(space.low.min()) - 1
        for what, value in faults.items():
            if good.size:
                bad = good.astype(np.float64)
                bad.flat[bad.size - 1] = value
                yield f"with {what}{where}", bad.astype(space.dtype)
        yield f"of another shape{where}", np.zeros((*space.shape, 2), space.dtype)
    elif isinstance(space, gym.spaces.Discrete):
        start, n = int(space.start), int(space.n)
        for number in (start + n, start - 1, None, float("nan"), 0.5 + start):
            yield f"of {number}{where}", number
    elif isinstance(space, gym.spaces.MultiDiscrete | gym.spaces.MultiBinary):
        good = np.asarray(space.sample())
        bad = good.astype(np.int64)
        bad.flat[0] = int(np.max(getattr(space, "nvec", 1))) + 1
        yield f"with a value above its bound{where}", bad
        yield f"of another shape{where}", np.zeros((*good.shape, 2), good.dtype)
    elif isinstance(space, gym.spaces.Dict):
        for key, part in space.spaces.items():
            for what, value in _bad_actions(part, f"{where} in {key!r}"):
                yield what, {**space.sample(), key: value}
            yield f"without {key!r}", {k: v for k, v in space.sample().items() if k != key}
        yield "that is no mapping", 0
    elif isinstance(space, gym.spaces.Tuple):
        for i, part in enumerate(space.spaces):
            for what, value in _bad_actions(part, f"{where} in part {i}"):
                yield what, tuple(value if j == i else other for j, other in enumerate(space.sample()))


def _require_plain(value: Any, where: str) -> None:
    """Plain values travel through JSON, processes and Minari: numbers, strings, arrays, and containers of them."""
    if isinstance(value, dict):
        for key, item in value.items():
            assert isinstance(key, str), f"{where} has the key {key!r}, which is no string"
            _require_plain(item, f"{where}[{key!r}]")
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            _require_plain(item, f"{where}[{i}]")
    elif isinstance(value, np.ndarray):
        assert value.dtype != object, f"{where} is an array of objects"
    else:
        plain = value is None or isinstance(value, bool | int | float | str | np.generic)
        assert plain, f"{where} is a {type(value).__name__}, not a plain value"


def _same(a: Any, b: Any) -> bool:
    """Equal values of equal types; NaN equals NaN."""
    return _difference(a, b) is None


def _difference(a: Any, b: Any, where: str = "") -> str | None:
    """The first place in which two nested values differ, in words, or ``None``."""
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return f"keys{where} {sorted(map(str, a))} and {sorted(map(str, b))}"
        pairs: Any = ((f"{where}[{key!r}]", a[key], b[key]) for key in a)
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
        if len(a) != len(b):
            return f"lengths{where} {len(a)} and {len(b)}"
        pairs = ((f"{where}[{i}]", x, y) for i, (x, y) in enumerate(zip(a, b, strict=True)))
    elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"arrays{where} of {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        if a.dtype == object:
            return _difference(a.ravel().tolist(), b.ravel().tolist(), where)
        equal_nan = bool(np.issubdtype(a.dtype, np.inexact))
        return None if np.array_equal(a, b, equal_nan=equal_nan) else f"arrays{where}"
    else:
        both_nan = isinstance(a, float | np.floating) and isinstance(b, float | np.floating) and a != a and b != b
        return None if both_nan or a == b else f"{a!r} and {b!r}{where}"
    return next((found for place, x, y in pairs if (found := _difference(x, y, place)) is not None), None)
