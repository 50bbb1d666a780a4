"""Gymnasium environments. Importing this registers every id under ``sci/``; nothing else is imported."""

import tomllib
from pathlib import Path

import gymnasium as _gymnasium

from scisuite.envs.checks import check_env


def _register_all() -> None:
    """Register what each ``<slug>/env.toml`` lists: ``id``, ``entry_point``, and optionally ``vector_entry_point``,
    ``kwargs`` and ``max_episode_steps``."""
    for path in sorted(Path(__file__).parent.glob("*/env.toml")):
        for table in tomllib.loads(path.read_text(encoding="utf-8"))["env"]:
            arguments = {k: v for k, v in table.items() if k not in ("summary", "paper", "extras")}
            if arguments["id"] not in _gymnasium.registry:
                _gymnasium.register(**arguments)


_register_all()

__all__ = ["check_env"]
