"""Policies: the papers' own, baselines, and adaptors. ``agents.make("labo/labo")``."""

from pathlib import Path
from typing import Any

from scisuite.agents.base import Agent, Transition
from scisuite.agents.checks import check_agent
from scisuite.agents.rollout import Episode, run_episode
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
        Slug of the environment the agent is for; its agents are searched first.
    """
    known = registry.ids()
    for candidate in (f"{env_slug}/{id}" if env_slug else None, f"{id}/{id}"):
        if candidate is not None and candidate in known:
            return registry.make(candidate, **config)
    return registry.make(id, **config)


__all__ = ["Agent", "Episode", "Transition", "check_agent", "make", "registry", "run_episode"]
