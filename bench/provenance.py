"""Which code and which machine answered: hashes of sources, package versions, missing extras."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from scisuite.core import InvalidInput, MissingDependency, __version__
from scisuite.core.files import canonical_json, sha256

DISTRIBUTION = "scisuite"
_FOLDERS = ("core", "scenarios", "solvers", "envs", "agents")
# Of bench only what a cell's numbers pass through: a change of the report or of the command line makes no row stale.
_BENCH_SOURCES = ("experiment.py", "cells.py", "experiments")
_SUFFIXES = (".py", ".toml")
_NUMERICAL = ("numpy", "scipy", "networkx", "gymnasium", "torch", "botorch", "gpytorch")


def code_of(run: str, extras: Iterable[str] = ()) -> str:
    """What would answer a cell: ``<hash of the sources>-<hash of package versions>``, twelve digits each.

    The sources are all Python, TOML and data files of scisuite but those of the report and the command line, and,
    where ``run`` (``"module:function"``) lies elsewhere, those of its top-level package. The versions are those of
    the numerical packages, where installed, and of all that ``extras`` bring. Nothing is imported.

    Raises
    ------
    InvalidInput
        If there is no such module.
    """
    names = {*_NUMERICAL, *(name for extra in extras for name, _ in requirements(extra))}
    packages = sha256(canonical_json(versions(names)).encode())
    return f"{_sources_digest(run)[:12]}-{packages[:12]}"


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

    if extra not in known_extras():
        return [(extra, SpecifierSet())]
    found: dict[str, Any] = {}
    waiting, seen = [extra], {extra}
    while waiting:
        current = waiting.pop(0)
        for text in metadata.requires(DISTRIBUTION) or ():
            requirement = Requirement(text)
            if requirement.marker is None or not requirement.marker.evaluate({"extra": current}):
                continue
            if requirement.marker.evaluate({"extra": ""}):
                continue
            if requirement.name == DISTRIBUTION:
                waiting += sorted(requirement.extras - seen)
                seen |= requirement.extras
            else:
                found.setdefault(requirement.name, requirement.specifier)
    return list(found.items())


def known_extras() -> tuple[str, ...]:
    """The extras that the installed scisuite declares."""
    return tuple(metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or ())


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
    command = None if extra in known_extras() else f"pip install {extra}"
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
    names = {*_NUMERICAL, "joblib", *(name for extra in extras for name, _ in requirements(extra))}
    return {**machine(), "packages": versions(names)}


def _sources_digest(run: str) -> str:
    digest = hashlib.sha256()
    for name, path in _sources(run):
        digest.update(f"{name}\0{sha256(path.read_bytes())}\n".encode())
    return digest.hexdigest()


def _sources(run: str) -> Iterator[tuple[str, Path]]:
    for folder in _FOLDERS:
        yield from _files_of(f"{DISTRIBUTION}.{folder}")
    for name, path in _files_of(f"{DISTRIBUTION}.bench"):
        if name.split("/")[1] in _BENCH_SOURCES:
            yield name, path
    parts = run.partition(":")[0].split(".")
    own = ".".join(parts[:2]) if parts[0] == DISTRIBUTION else parts[0]
    if own not in {f"{DISTRIBUTION}.{folder}" for folder in (*_FOLDERS, "bench")}:
        yield from _files_of(own)


def _files_of(module: str) -> Iterator[tuple[str, Path]]:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise InvalidInput(f"there is no module {module}")
    if spec.submodule_search_locations is None:
        if spec.origin is not None and spec.origin.endswith(".py"):
            yield module, Path(spec.origin)
        return
    for folder in sorted(spec.submodule_search_locations):
        for path in sorted(Path(folder).rglob("*")):
            inside = path.relative_to(folder)
            if "__pycache__" not in inside.parts and path.is_file() and _counts(inside):
                yield f"{module}/{inside.as_posix()}", path


def _counts(inside: Path) -> bool:
    return inside.suffix in _SUFFIXES or "data" in inside.parts[:-1]


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
