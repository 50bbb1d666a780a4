"""Policies: the papers' own, baselines, and adaptors. ``agents.make("labo/labo")``."""

import json
import shlex
from pathlib import Path
from typing import Any

from scisuite.agents.base import Agent, Transition
from scisuite.agents.checks import check_agent
from scisuite.agents.rollout import Episode, run_episode
from scisuite.core.errors import UnknownName
from scisuite.core.registry import Registry

registry: Registry[Agent] = Registry("agent", "scisuite.agents")
registry.add_folder(Path(__file__).parent)


def make(id: str, *, env_slug: str | None = None, **config: Any) -> Agent:
    """Build an agent by id (``labo/ucb``), by the part behind the ``/`` where that is unique, or by a paper's slug.

    Parameters
    ----------
    id : str
        A paper's slug alone means the paper's own agent: ``labo`` is ``labo/labo``.
    env_slug : str or None
        Slug of the environment the agent is for; its agents are searched, and suggested, first.

    Raises
    ------
    UnknownName
        If there is no such agent; where ``id`` is a path the message says how a trained policy is run.
    """
    known = registry.ids()
    for candidate in (f"{env_slug}/{id}" if env_slug else None, f"{id}/{id}"):
        if candidate is not None and candidate in known:
            return registry.make(candidate, **config)
    if id not in known and _is_path(id):
        as_setting = shlex.quote(json.dumps(id, ensure_ascii=False))
        raise UnknownName(
            f"{id} is a path, not an agent; a trained policy runs as --agent sb3/policy -a path={as_setting}"
        )
    return registry.make(registry.entry(id, first=f"{env_slug}/" if env_slug else "").id, **config)


def _is_path(id: object) -> bool:
    """Whether what should be an agent's id is a model's file or the folder of a run."""
    return isinstance(id, str) and (id.endswith(".zip") or ("/" in id and Path(id).exists()))


__all__ = ["Agent", "Episode", "Transition", "check_agent", "make", "registry", "run_episode"]
