"""Everything registered keeps the contract, and asking for it stays cheap."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest

from scisuite import scenarios
from scisuite.core import DataUnavailable, InvalidInput, UnknownName
from scisuite.scenarios import check_scenario

INSTALLED = {distribution.name for distribution in metadata.distributions()}
FETCHED = {"trials/hillstrom", "trials/gotv", "trials/starbucks"}


@pytest.mark.parametrize("id", scenarios.registry.ids())
def test_contract(id):
    if "data" in scenarios.registry.entry(id).extras and not {"olymp", "bocode"} <= INSTALLED:
        pytest.skip(f"{id} needs scisuite[data]")
    if "crn" in scenarios.registry.entry(id).extras and "pgmpy" not in INSTALLED:
        pytest.skip(f"{id} needs scisuite[crn]")
    if "trials" in scenarios.registry.entry(id).extras and not {"econml", "causallib"} <= INSTALLED:
        pytest.skip(f"{id} needs scisuite[trials]")
    if id in FETCHED:
        try:
            scenarios.make(id)
        except DataUnavailable as absent:
            pytest.skip(str(absent))
    check_scenario(id)


@pytest.mark.parametrize("name", ["hartmann3", "hartmann6", "branin", "ackley", "rosenbrock", "levy", "mixed"])
def test_contract_without_a_pool(name):
    check_scenario(scenarios.make(name, pool_size=0))


def test_the_ids_that_labo_names_are_there():
    ids = set(scenarios.registry.ids())
    assert {"materials/" + n for n in ("fullerenes", "photo_pce10", "p3ht", "agnp", "suzuki")} <= ids
    assert {"functions/hartmann6", "functions/quadratic2", "functions/mixed"} <= ids


def test_made_scenarios_carry_their_full_id():
    assert scenarios.make("quadratic2").id == "functions/quadratic2"
    assert scenarios.make("functions/hartmann3", pool_size=0).describe().id == "functions/hartmann3"


def test_unknown_id_suggests_the_nearest():
    with pytest.raises(UnknownName, match="unknown scenario 'hartman6'; did you mean 'functions/hartmann6'"):
        scenarios.make("hartman6")


def test_unknown_argument_suggests_the_nearest():
    with pytest.raises(
        InvalidInput, match="'functions/hartmann6' has no argument 'poolsize'; did you mean 'pool_size'"
    ):
        scenarios.make("hartmann6", poolsize=3)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "0"])
@pytest.mark.parametrize("id", ["quadratic2", "functions/branin"])
def test_bad_seed(id, seed):
    with pytest.raises(InvalidInput, match="seed must be"):
        scenarios.make(id, seed=seed)


def test_import_loads_no_heavy_package():
    heavy = ("scipy", "torch", "pandas", "networkx", "matplotlib", "gymnasium", "olympus", "bocode")
    code = (
        "import sys; from scisuite import scenarios; scenarios.make('quadratic2'); scenarios.registry.ids();"
        f"print([m for m in {heavy!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
