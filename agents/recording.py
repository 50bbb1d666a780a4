"""Episodes for others: an animation, or a Minari data set for offline learning."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from scisuite.agents.base import Agent
from scisuite.agents.rollout import run_episode
from scisuite.core import InvalidInput, MissingDependency, __version__, as_seed
from scisuite.core.files import write_atomic
from scisuite.core.progress import track


def record_gif(frames: Iterable[Any], path: str | Path, fps: int = 10) -> None:
    """Write frames as a GIF that repeats for ever, in one palette for all of them.

    Parameters
    ----------
    frames : iterable of uint8 (height, width, 3)
        What ``render()`` gives with ``render_mode="rgb_array"``, all of one size.
    path : str or Path
        Ends in ``.gif``; replaced if it exists, once the new file is whole.
    fps : int
        Frames a second, 1 to 50: GIF counts in hundredths of a second.

    Raises
    ------
    InvalidInput
        For no frames, other arrays than the above, another suffix, another ``fps``, or a folder that cannot be written.
    """
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise InvalidInput(f"the animation is a GIF: its file must end in .gif, not {path.name!r}")
    if isinstance(fps, bool) or not isinstance(fps, int) or not 1 <= fps <= 50:
        raise InvalidInput(f"fps must be an integer from 1 to 50, not {fps!r}")
    arrays = [np.asarray(frame) for frame in frames]
    if not arrays:
        raise InvalidInput("there are no frames to record")
    for array in arrays:
        if array.dtype != np.uint8 or array.ndim != 3 or array.shape[-1] != 3 or array.shape != arrays[0].shape:
            raise InvalidInput(
                f"frames must be uint8 arrays (height, width, 3) of one size, not {array.dtype} {array.shape}"
            )
    palette = Image.new("P", (1, 1))
    palette.putpalette(_palette(arrays).tobytes())
    # Without dithering, what stays the same from frame to frame is stored once.
    first, *rest = (Image.fromarray(array).quantize(palette=palette, dither=Image.Dither.NONE) for array in arrays)
    file = io.BytesIO()
    first.save(file, format="GIF", save_all=True, append_images=rest, duration=round(1000 / fps), loop=0)
    write_atomic(path, file.getvalue())


class MinariRecorder:
    """Collects what happens in an environment and saves it as a local Minari data set.

    Minari keeps its data sets in the folder ``MINARI_DATASETS_PATH``, by default ``~/.minari/datasets``. Seeds are
    recorded with the episodes, and the environment's registration with the data set, so that it can be made again.
    Infos are not: Minari wants those of every step to be alike.

    >>> recorder = MinariRecorder(gym.make("CartPole-v1"), "cartpole/random-v0")      # doctest: +SKIP
    >>> episode = run_episode(recorder.env, agent, seed=0)                            # doctest: +SKIP
    >>> recorder.save(agent="random")                                                 # doctest: +SKIP

    Parameters
    ----------
    env : gymnasium.Env
        Its observations and actions may be of any kind that Minari stores, Dict included.
    dataset_id : str
        ``[namespace/]name-v0``; a new one.

    Attributes
    ----------
    env : gymnasium.Env
        Step this one.

    Raises
    ------
    InvalidInput
        If the id is malformed or taken, or the folder cannot be written: before anything runs.
    MissingDependency
        Without the extra ``rl``.
    """

    def __init__(self, env: gym.Env[Any, Any], dataset_id: str) -> None:
        minari = _minari()
        self.dataset_id = dataset_id
        self.path = _free_path(dataset_id)
        try:
            self.env: gym.Env[Any, Any] = minari.DataCollector(env)
        except OSError as error:
            raise InvalidInput(f"cannot write {self.path.parent}: {error.strerror or error}") from error
        except (NotImplementedError, ValueError, TypeError) as error:
            raise InvalidInput(f"Minari cannot store the spaces of {env}: {error}") from error

    def save(self, *, agent: str, author: str | None = None, description: str | None = None) -> Path:
        """Make the data set of every episode so far; one that was not finished counts as truncated.

        Parameters
        ----------
        agent : str
            The policy's name, stored as ``algorithm_name``.
        author, description : str or None
            Stored with the data set.

        Returns
        -------
        Path
            Its folder.

        Raises
        ------
        InvalidInput
            If something took the id meanwhile.
        """
        path = _free_path(self.dataset_id)
        name = self.env.spec.id if self.env.spec is not None else str(self.env.unwrapped)
        written = False
        try:
            with warnings.catch_warnings():
                # Minari asks for an e-mail address and a permalink, which are the user's to add.
                warnings.simplefilter("ignore", UserWarning)
                self.env.create_dataset(  # type: ignore[attr-defined]
                    self.dataset_id,
                    algorithm_name=agent,
                    author=author,
                    description=description or f"{agent} in {name}, recorded with scisuite {__version__}",
                )
            written = True
        finally:
            if not written:
                shutil.rmtree(path, ignore_errors=True)
        return path


def record_minari(
    env: gym.Env[Any, Any],
    agent: Agent,
    dataset_id: str,
    episodes: int,
    seed: int = 0,
    *,
    agent_name: str | None = None,
    options: dict[str, Any] | None = None,
    max_steps: int | None = None,
    author: str | None = None,
    description: str | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Run an agent and save its episodes as a Minari data set.

    Parameters
    ----------
    env : gymnasium.Env
    agent : Agent
        Bound here.
    dataset_id : str
        See :class:`MinariRecorder`.
    episodes : int
    seed : int
        Of the first episode; each next one takes the next.
    agent_name : str or None
        What the data set calls the policy; ``None`` for its class.
    options, max_steps
        As in :func:`~scisuite.agents.run_episode`.
    author, description
        As in :class:`MinariRecorder`.
    progress : bool

    Returns
    -------
    dict
        JSON: ``dataset_id``, ``path``, ``episodes``, ``steps``, ``mean_return``.

    Raises
    ------
    InvalidInput
        Before anything runs: a bad id, or one that is taken; no episodes; a bad seed.
    MissingDependency
        Without the extra ``rl``.
    """
    seed = as_seed(seed)
    if isinstance(episodes, bool) or not isinstance(episodes, int) or episodes < 1:
        raise InvalidInput(f"episodes must be a positive integer, not {episodes!r}")
    recorder = MinariRecorder(env, dataset_id)
    agent.bind(recorder.env)
    steps, returns = 0, []
    for number in track(range(episodes), f"recording {dataset_id}", enabled=progress):
        episode = run_episode(recorder.env, agent, seed=seed + number, options=options, max_steps=max_steps)
        steps += episode.length
        returns.append(episode.total_reward)
    path = recorder.save(agent=agent_name or type(agent).__name__, author=author, description=description)
    return {
        "dataset_id": dataset_id,
        "path": str(path),
        "episodes": episodes,
        "steps": steps,
        "mean_return": float(np.mean(returns)),
    }


def _palette(frames: Sequence[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """uint8 (k ≤ 255, 3): colours for all frames, such that a small mark keeps its own.

    Colours are put in boxes of eight levels a side. A box counts by the square root of its pixels, so that a mark
    weighs something beside a background, and the box farthest from the colours so far, by distance times that weight,
    comes next (greedy k-centre). A box stands for the most frequent colour in it.
    """
    colours, counts = _colours(frames)
    rgb = np.stack((colours >> 16, colours >> 8 & 255, colours & 255), axis=1)
    by_count = np.argsort(-counts, kind="stable")
    _, most, box = np.unique((rgb[by_count] // 8) @ [1 << 10, 1 << 5, 1], return_index=True, return_inverse=True)
    centres = rgb[by_count][most].astype(np.float64)
    weight = np.sqrt(np.bincount(box.ravel(), counts[by_count]))
    chosen = [int(weight.argmax())]
    apart = np.full(len(centres), np.inf)
    while len(chosen) < min(255, len(centres)):
        apart = np.minimum(apart, np.linalg.norm(centres - centres[chosen[-1]], axis=1))
        chosen.append(int((apart * weight).argmax()))
    return centres[chosen].astype(np.uint8)


def _colours(frames: Sequence[NDArray[np.uint8]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Colours (k,), as red · 2¹⁶ + green · 2⁸ + blue, and how often a pixel takes each on."""
    colours, counts, before = np.zeros(0, dtype=np.int64), np.zeros(0), np.int64(-1)
    for frame in frames:
        red, green, blue = np.moveaxis(frame.astype(np.int32), -1, 0)
        now = red << 16 | green << 8 | blue
        new, how_often = np.unique(now[now != before], return_counts=True)
        colours, which = np.unique(np.concatenate((colours, new)), return_inverse=True)
        counts = np.bincount(which.ravel(), np.concatenate((counts, how_often)))
        before = now
    return colours, counts


def _minari() -> Any:
    try:
        import h5py  # noqa: F401 — Minari finds out that it is missing only when it writes
        import minari
    except ModuleNotFoundError as error:
        raise MissingDependency(f"recording a Minari data set needs {error.name}", "rl") from error
    return minari


def _free_path(dataset_id: str) -> Path:
    """The folder a new data set will have."""
    from minari.dataset.minari_dataset import parse_dataset_id
    from minari.storage.datasets_root_dir import get_dataset_path

    try:
        parse_dataset_id(dataset_id)
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"a Minari id reads like labo/random-v0, not {dataset_id!r}") from error
    with contextlib.suppress(OSError):
        path = Path(get_dataset_path(dataset_id))
        if path.exists():
            raise InvalidInput(f"the Minari data set {dataset_id} exists already; choose another name or version")
        return path
    raise InvalidInput(f"cannot write {os.environ.get('MINARI_DATASETS_PATH', '~/.minari/datasets')}")
