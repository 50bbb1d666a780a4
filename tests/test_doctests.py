"""Every example in a docstring runs. Modules are imported by name: ``--doctest-modules`` would import them twice."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

FOLDERS = ("core", "scenarios", "solvers", "envs", "agents", "bench")


def modules() -> list[str]:
    names = []
    for folder in FOLDERS:
        package = importlib.import_module(f"scisuite.{folder}")
        names.append(package.__name__)
        names += [
            found.name for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".", onerror=raise_it)
        ]
    return names


def raise_it(name: str) -> None:
    raise AssertionError(f"{name} cannot be imported")


def test_docstring_examples() -> None:
    failures, attempted, missing = [], 0, []
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            assert not (error.name or "").startswith("scisuite"), name
            missing.append(name)
            continue
        result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        attempted += result.attempted
        if result.failed:
            failures.append(name)
    assert failures == []
    assert attempted >= 10, f"only {attempted} examples ran; not importable here: {missing}"


def test_every_module_says_what_it_is_for() -> None:
    undocumented = []
    for name in modules():
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as error:
            pytest.importorskip(error.name or name)
            raise
        if not (module.__doc__ or "").strip():
            undocumented.append(name)
    assert undocumented == []
