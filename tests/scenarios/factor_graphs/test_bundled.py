"""The networks that come with pgmpy."""

from __future__ import annotations

import gzip
import subprocess
import sys
from importlib.machinery import ModuleSpec

import numpy as np
import pytest

from scisuite.core import DataUnavailable, UnknownName
from scisuite.scenarios.factor_graphs import BUNDLED, ELEVEN, bundled, bundled_network, parents

SIZES = {
    # name: (variables, arcs, table entries, most values), the first two as the bnlearn repository gives them
    "alarm": (37, 46, 752, 4),
    "andes": (223, 338, 2314, 2),
    "asia": (8, 8, 36, 2),
    "barley": (48, 84, 130180, 67),
    "cancer": (5, 4, 20, 2),
    "child": (20, 25, 344, 6),
    "earthquake": (5, 4, 20, 2),
    "hailfinder": (56, 66, 3741, 11),
    "hepar2": (70, 123, 2139, 4),
    "insurance": (27, 52, 1419, 5),
    "link": (724, 1125, 20502, 4),
    "munin1": (186, 273, 19226, 21),
    "pigs": (441, 592, 8427, 3),
    "sachs": (11, 17, 267, 3),
    "survey": (6, 6, 37, 3),
    "water": (32, 66, 13484, 4),
    "win95pts": (76, 112, 1148, 2),
}


@pytest.mark.parametrize("name", SIZES)
def test_size_and_normalisation(name):
    graph = bundled_network(name)
    n_arcs = sum(map(len, parents(graph).values()))
    assert (len(graph.card), n_arcs, graph.n_entries, max(graph.card.values())) == SIZES[name]
    assert all(np.allclose(f.table.sum(axis=0), 1, rtol=0, atol=1e-6) for f in graph.factors.values())
    assert set(graph.states) == set(graph.card)


def test_every_file_is_there():
    assert len(BUNDLED) == 24
    assert set(SIZES) | {"diabetes", "mildew", "munin", "munin2", "munin3", "munin4", "pathfinder"} == set(BUNDLED)
    assert all(bundled.bundled_file(name).name == f"{name}.bif.gz" for name in BUNDLED)
    assert set(ELEVEN) <= set(BUNDLED)


def test_a_value_that_pyagrum_cannot_read():
    assert bundled_network("child").states["ChestXray"][-1] == "Asy/Patch"


def test_a_network_is_read_once():
    assert bundled_network("asia") is bundled_network("asia")


@pytest.mark.parametrize("name", ["alrm", 3, ["alarm"]])
def test_unknown_names(name):
    with pytest.raises(UnknownName, match="unknown network"):
        bundled_network(name)


def test_without_pgmpy(monkeypatch):
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    with pytest.raises(DataUnavailable, match=r'comes with pgmpy, which is not installed; .*"scisuite\[crn\]"'):
        bundled_network("alarm")


def test_a_pgmpy_without_it_or_with_a_damaged_one(monkeypatch, tmp_path):
    spec = ModuleSpec("pgmpy", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(bundled, "find_spec", lambda name: spec)
    with pytest.raises(DataUnavailable, match="the network 'alarm' is not in the pgmpy that is installed"):
        bundled_network("alarm")
    (tmp_path / "utils" / "models").mkdir(parents=True)
    (tmp_path / "utils" / "models" / "alarm.bif.gz").write_bytes(gzip.compress(b"network x {}\n?"))
    with pytest.raises(DataUnavailable, match=r"the network 'alarm' cannot be read: .*alarm\.bif\.gz, line 2: "):
        bundled_network("alarm")


def test_no_heavy_package_is_loaded():
    heavy = ("scipy", "pgmpy", "pyagrum", "torch", "pandas", "networkx")
    code = (
        "import sys; from scisuite import scenarios; import numpy as np;"
        "scenarios.make('factor_graphs/alarm').generate(np.random.default_rng(0));"
        "scenarios.make('factor_graphs/hmm').generate(np.random.default_rng(0));"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
