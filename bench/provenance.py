"""Which code and which machine answered: hashes of sources, package versions, missing extras."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

from scisuite.bench.sources import reached
from scisuite.core import MissingDependency, __version__
from scisuite.core.files import canonical_json, sha256

DISTRIBUTION = "scisuite"
_NUMERICAL = ("numpy", "scipy", "networkx", "gymnasium", "torch", "botorch", "gpytorch")


def sources_hash(modules: Iterable[str], mentions: Iterable[str] = ()) -> str:
    """Twelve digits that change with the sources that ``modules`` can reach (:func:`scisuite.bench.sources.reached`).

    The report, the command line and other papers are not among them, so that their changes make no row stale.

    Raises
    ------
    InvalidInput
        If one of ``modules`` does not exist.
    """
    digest = hashlib.sha256()
    for name, path in sorted(reached(modules, mentions).items()):
        digest.update(f"{name}\0{sha256(path.read_bytes())}\n".encode())
    return digest.hexdigest()[:12]


def packages_hash(extras: Iterable[str] = ()) -> str:
    """Twelve digits that change with the versions of the numerical packages and of those that ``extras`` bring."""
    return sha256(canonical_json(versions(_covered(extras))).encode())[:12]


def versions(names: Iterable[str]) -> dict[str, str]:
    """The installed ones of some distributions, with their versions."""
    found: dict[str, str] = {}
    for name in sorted(set(names)):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def requirements(extra: str) -> list[tuple[str, Any]]:
    """Name and version specifier of each package that an extra of scisuite brings, extras of extras resolved.

    A name that is no extra of scisuite is taken for a package of that name, so that a plug-in's arm can ask for one.
    """
    from packaging.requirements import Requirement
    from packaging.specifiers import SpecifierSet

    if _canonical(extra) not in known_extras():
        return [(extra, SpecifierSet())]
    found: dict[str, Any] = {}
    waiting, seen = [_canonical(extra)], {_canonical(extra)}
    while waiting:
        current = waiting.pop(0)
        for text in metadata.requires(DISTRIBUTION) or ():
            requirement = Requirement(text)
            if requirement.marker is None or not requirement.marker.evaluate({"extra": current}):
                continue
            if requirement.marker.evaluate({"extra": ""}):
                continue
            if requirement.name == DISTRIBUTION:
                included = {_canonical(name) for name in requirement.extras}
                waiting += sorted(included - seen)
                seen |= included
            else:
                found.setdefault(requirement.name, requirement.specifier)
    return list(found.items())


def known_extras() -> tuple[str, ...]:
    """The extras that the installed scisuite declares, by their canonical names."""
    return tuple(_canonical(name) for name in metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or ())


def _canonical(extra: str) -> str:
    """The name under which packaging tools know an extra: ``laplacian_nav`` is ``laplacian-nav``."""
    from packaging.utils import canonicalize_name

    return str(canonicalize_name(extra))


def missing_requirement(extra: str) -> str | None:
    """The first package of an extra that is absent or too old, or ``None``."""
    for name, specifier in requirements(extra):
        try:
            if not specifier.contains(metadata.version(name), prereleases=True):
                return f"{name}{specifier}"
        except metadata.PackageNotFoundError:
            return name
    return None


def missing_extra(extras: Iterable[str]) -> str | None:
    """The first of some extras of which a package is not installed, or ``None``."""
    return next((extra for extra in extras if missing_requirement(extra) is not None), None)


def missing_dependency(who: str, extras: Iterable[str]) -> MissingDependency | None:
    """The error, with the command that cures it, for the first of ``extras`` that is missing; ``None`` if none is."""
    extra = missing_extra(extras)
    if extra is None:
        return None
    command = None if _canonical(extra) in known_extras() else f"pip install {extra}"
    return MissingDependency(f"{who} needs {missing_requirement(extra)}, which is not installed", extra, command)


@functools.cache
def machine() -> dict[str, Any]:
    """Python, platform, processor, cores, scisuite's version and, in a clone, its commit (``-dirty`` if changed)."""
    return {
        "scisuite": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "commit": _commit(),
    }


def environment(extras: Iterable[str] = ()) -> dict[str, Any]:
    """The ``environment`` of a row: the machine, and the versions of the packages that the row's code hash covers."""
    return {**machine(), "packages": dict(_loaded_versions(tuple(extras)))}


@functools.cache
def _loaded_versions(extras: tuple[str, ...]) -> dict[str, str]:
    # A process keeps the versions it started with, and reading them takes longer than a small cell.
    return versions({*_covered(extras), "joblib"})


def _covered(extras: Iterable[str]) -> set[str]:
    return {*_NUMERICAL, *(name for extra in extras for name, _ in requirements(extra))}


def _cpu_model() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _commit() -> str | None:
    spec = importlib.util.find_spec(f"{DISTRIBUTION}.core")
    root = Path(next(iter((spec and spec.submodule_search_locations) or ["."]))).resolve().parent
    # Installed into an environment that lies in somebody else's clone, the commit found there would not be ours.
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip() or None
