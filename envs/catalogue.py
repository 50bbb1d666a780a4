"""What the environments are called, model and need, read from their ``env.toml`` without importing any of them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium as gym

from scisuite.core import UnknownName
from scisuite.core.registry import did_you_mean


@dataclass(frozen=True)
class EnvEntry:
    """One registered environment.

    ``slug`` is the folder, and thereby the paper, it belongs to; ``extras`` are what its default arguments need.
    """

    id: str
    summary: str
    slug: str
    paper: str | None = None
    extras: tuple[str, ...] = ()


@cache
def catalogue() -> dict[str, EnvEntry]:
    """Every environment of scisuite by id, sorted."""
    entries: dict[str, EnvEntry] = {}
    for path in sorted(Path(__file__).parent.glob("*/env.toml")):
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["env"]:
            extras = tuple(table.get("extras", ()))
            entries[table["id"]] = EnvEntry(table["id"], table["summary"], path.parent.name, table.get("paper"), extras)
    return dict(sorted(entries.items()))


def entry(id: str) -> EnvEntry:
    """The entry of a full id (``sci/LABO-v0``) or of one without its namespace or version (``LABO-v0``, ``labo``).

    Raises
    ------
    UnknownName
        If there is none, or more than one; the message names the nearest.
    """
    entries = catalogue()
    if id in entries:
        return entries[id]
    matches = [e for e in entries.values() if id.lower() in _short_names(e.id)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UnknownName(f"environment {id!r} is ambiguous: {', '.join(e.id for e in matches)}")
    raise UnknownName(f"unknown environment {id!r}{did_you_mean(str(id), entries)}")


def slug_of(env: str | gym.Env[Any, Any]) -> str | None:
    """The slug of the paper that an environment belongs to, or ``None`` for one that is not of scisuite."""
    if isinstance(env, str):
        id = env.partition(":")[2] or env
    else:
        spec = env.unwrapped.spec or env.spec
        id = spec.id if spec is not None else ""
    known = catalogue().get(id)
    return known.slug if known is not None else None


def _short_names(id: str) -> tuple[str, str]:
    name = id.rpartition("/")[2].lower()
    return name, name.rpartition("-v")[0]
