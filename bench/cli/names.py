"""Every registered id of every kind, for ``list``, ``info`` and ``cite``; nothing registered is imported."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from scisuite.bench.provenance import missing_dependency
from scisuite.core import InvalidInput, MissingDependency, Registry, UnknownName
from scisuite.core.registry import did_you_mean

KINDS = ("environment", "scenario", "solver", "agent", "experiment")


@dataclass(frozen=True)
class Named:
    """One registered id; ``origin`` is the distribution that registered it."""

    kind: str
    id: str
    summary: str
    paper: str | None
    extras: tuple[str, ...]
    origin: str = "scisuite"

    @property
    def available(self) -> bool:
        """Whether the extras that it needs are installed."""
        return self.install is None

    @property
    def install(self) -> str | None:
        """The command that brings the first missing extra, or ``None``."""
        error = _missing(self.extras)
        return error.command if error is not None else None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "id": self.id,
            "summary": self.summary,
            "paper": self.paper,
            "extras": list(self.extras),
            "available": self.available,
            "origin": self.origin,
        }


def registry_of(kind: str) -> Registry[Any]:
    """The registry of a kind other than environments, which Gymnasium registers."""
    if kind == "experiment":
        from scisuite.bench import experiments

        return experiments
    module = importlib.import_module(f"scisuite.{kind}s")
    registry: Registry[Any] = module.registry
    return registry


def read_kind(word: str) -> str:
    """A kind by its name, singular or plural, or a beginning of it: ``env``, ``envs``, ``solvers``.

    Raises
    ------
    InvalidInput
        If it is none of the five.
    """
    stem = word.lower().rstrip("s")
    matches = [kind for kind in KINDS if stem and kind.startswith(stem)]
    if len(matches) != 1:
        listed = ", ".join(f"{kind}s" for kind in KINDS)
        raise InvalidInput(f"unknown kind {word!r}; the kinds are {listed}")
    return matches[0]


def all_named(*kinds: str) -> list[Named]:
    """Everything registered of these kinds (of all, by default), sorted by kind and id."""
    named: list[Named] = []
    for kind in kinds or KINDS:
        if kind == "environment":
            from scisuite.envs.catalogue import catalogue

            for id, environment in sorted(catalogue().items()):
                named.append(Named(kind, id, environment.summary, environment.paper, tuple(environment.extras)))
            continue
        registry = registry_of(kind)
        for entry in map(registry.entry, registry.ids()):
            named.append(Named(kind, entry.id, entry.summary, entry.paper, entry.extras, entry.origin))
    return named


def find_named(name: str) -> list[Named]:
    """What is called ``name``: the whole id, the part behind the ``/``, or an environment's id without ``-vN``.

    Several kinds may share a name (a paper's slug names its solver, experiment and agent): all are returned.

    Raises
    ------
    UnknownName
        If nothing is; the message names the nearest of any kind.
    """
    everything = all_named()
    whole = [named for named in everything if named.id == name]
    matches = whole + [named for named in everything if named not in whole and name.lower() in _short_names(named)]
    if not matches:
        raise UnknownName(f"nothing is called {name!r}{did_you_mean(name, [named.id for named in everything])}")
    return matches


@cache
def _missing(extras: tuple[str, ...]) -> MissingDependency | None:
    return missing_dependency("it", extras)


def _short_names(named: Named) -> set[str]:
    short = named.id.rsplit("/", 1)[-1].lower()
    names = {short, named.id.lower()}
    if named.kind == "environment":
        names |= {n.rpartition("-v")[0] for n in names if "-v" in n}
    return names
