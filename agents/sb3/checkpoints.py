"""Checkpoints that are whole or absent.

A checkpoint is a folder ``step-000001024/`` with ``model.zip``, for off-policy algorithms ``replay_buffer.pkl``, and
``checkpoint.json``, which lists their sizes and SHA-256. It is written under another name and renamed when complete;
one that a killed machine left torn does not match its list and is passed over.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scisuite.core import EngineFailure, InvalidInput
from scisuite.core.files import read_json, write_atomic, write_json

_LIST = "checkpoint.json"
_KEPT = 3


@dataclass(frozen=True)
class Checkpoint:
    """A whole checkpoint and the environment steps it was taken after."""

    folder: Path
    timesteps: int

    @property
    def model(self) -> Path:
        return self.folder / "model.zip"

    @property
    def replay_buffer(self) -> Path | None:
        path = self.folder / "replay_buffer.pkl"
        return path if path.is_file() else None


def save_checkpoint(model: Any, root: Path) -> Checkpoint:
    """Save a Stable-Baselines3 model under ``root``; the newest three checkpoints stay.

    Raises
    ------
    EngineFailure
        If the disk is full or fails; earlier checkpoints are untouched.
    """
    timesteps = int(model.num_timesteps)
    final = root / f"step-{timesteps:09d}"
    partial = root / f".{final.name}.part"
    for torn in root.glob(".step-*.part"):
        shutil.rmtree(torn, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
        model.save(partial / "model.zip")
        if getattr(model, "replay_buffer", None) is not None:
            model.save_replay_buffer(partial / "replay_buffer.pkl")
        files = {path.name: {"bytes": path.stat().st_size, "sha256": _digest(path)} for path in partial.iterdir()}
        write_json(partial / _LIST, {"format": "scisuite-sb3-checkpoint", "timesteps": timesteps, "files": files})
        shutil.rmtree(final, ignore_errors=True)
        os.replace(partial, final)
    except OSError as error:
        raise EngineFailure(f"cannot write checkpoint {final}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    for old in sorted(root.glob("step-*"))[:-_KEPT]:
        shutil.rmtree(old, ignore_errors=True)
    return Checkpoint(final, timesteps)


def latest_checkpoint(root: Path) -> Checkpoint | None:
    """The whole checkpoint with the most steps, or ``None``."""
    for folder in sorted(root.glob("step-*"), reverse=True):
        timesteps = _steps_if_whole(folder)
        if timesteps is not None:
            return Checkpoint(folder, timesteps)
    return None


def publish_model(checkpoint: Checkpoint, path: Path) -> None:
    """Copy a checkpoint's model to ``path``, whole or not at all."""
    write_atomic(path, checkpoint.model.read_bytes())


def _steps_if_whole(folder: Path) -> int | None:
    try:
        listed = read_json(folder / _LIST)
        files: dict[str, dict[str, Any]] = listed["files"]
        whole = "model.zip" in files and all(
            (folder / name).stat().st_size == entry["bytes"] and _digest(folder / name) == entry["sha256"]
            for name, entry in files.items()
        )
        return int(listed["timesteps"]) if whole else None
    except (InvalidInput, OSError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
