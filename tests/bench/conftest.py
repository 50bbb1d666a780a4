from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from scisuite import scenarios

SOURCES = "aaaaaaaaaaaa"


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module ``toy_bench_arms``, importable by workers too; its scenarios are registered only while a test runs.

    Tests over everything that is registered must not meet them. The hash of the sources is a constant, so that these
    may be edited while the tests run.
    """
    monkeypatch.setattr("scisuite.bench.plan.sources_hash", lambda modules, mentions=(): SOURCES)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    scenarios.registry.ids()
    registered = dict(scenarios.registry._entries)
    yield importlib.import_module("toy_bench_arms")
    sys.modules.pop("toy_bench_arms", None)
    scenarios.registry._entries.clear()
    scenarios.registry._entries.update(registered)
