"""The annotation that says what species stand for: it comes back, and a damaged one is refused by name."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.network import Pools
from scisuite.solvers.crn_reduce.sbml import from_sbml, read_sbml, to_sbml

pytest.importorskip("libsbml", reason="needs the extra crn-reduce")

GRAPH = FactorGraph({"rain": 2, "näss": 3}, {"prior": ("rain", [0.8, 0.2]), "f&g": (("rain", "näss"), np.ones((2, 3)))})
CRN = compile_napp_adams(GRAPH)
STATES = {"rain": ("ja <&> \"'", "нет"), "näss": ("a", "b", "")}
TEXT = to_sbml(CRN, states=STATES)
BELIEF = '<crn:pool kind="belief" variable="rain" free="B_rain_free" values="B_rain_0 B_rain_1"/>'
assert BELIEF in TEXT


def test_pools_and_states_come_back():
    network = read_sbml(TEXT)
    assert network.states == STATES
    assert network.crn.pools.keys == CRN.pools.keys
    assert network.crn.pools.species_of(0).tolist() == CRN.pools.species_of(0).tolist()


def test_pools_follow_species_that_another_tool_has_moved():
    lines = TEXT.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("<species "))
    last = max(i for i, line in enumerate(lines) if line.startswith("<species "))
    lines[first : last + 1] = lines[first : last + 1][::-1]
    moved = from_sbml("\n".join(lines))
    assert moved.species == CRN.species[::-1]
    np.testing.assert_array_equal(moved.pools.pool_of, CRN.pools.pool_of[::-1])
    np.testing.assert_array_equal(moved.pools.value_of, CRN.pools.value_of[::-1])


def test_without_the_annotation_species_are_called_by_their_ids():
    bare = re.sub(r"<annotation>.*</annotation>", "", TEXT, flags=re.DOTALL)
    crn = from_sbml(bare)
    assert crn.pools is None
    assert crn.species == CRN.species
    named = to_sbml(replace(CRN, species=("free rain", *CRN.species[1:])))
    assert from_sbml(named).species[0] == "free rain"
    assert from_sbml(re.sub(r"<annotation>.*</annotation>", "", named, flags=re.DOTALL)).species[0] == "free_rain"


def test_annotations_of_others_do_not_matter():
    only = re.sub(r"<crn:network.*</crn:network>", '<a:b xmlns:a="urn:someone"/>', TEXT, flags=re.DOTALL)
    assert from_sbml(only).pools is None
    theirs = TEXT.replace("<annotation>", '<annotation><a:b xmlns:a="urn:someone"><a:c d="e"/></a:b>')
    assert read_sbml(theirs).states == STATES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('values="B_rain_0', 'values="B_storm_0', "pool belief rain names the unknown species 'B_storm_0'"),
        ('free="B_rain_free"', 'free=""', "pool belief rain has 0 unassigned species instead of one"),
        ("B_rain_0 B_rain_1", "B_rain_0 B_rain_0", "names the species 'B_rain_0', which stands twice"),
        (
            "B_rain_0 B_rain_1",
            "B_rain_0 B_n_ss_1",
            "names the species 'B_n_ss_1', which stands also in pool belief rain",
        ),
        (' B_rain_1"', '"', "species 'B_rain_1' is in no pool"),
        ('"B_rain_0 B_rain_1"', '""', "species 'B_rain_0' is in no pool"),
        (BELIEF, "", "species 'B_rain_free' is in no pool"),
        (BELIEF, BELIEF.replace("belief", "opinion"), "kind is one of belief, sum, product, not 'opinion'"),
        (BELIEF, BELIEF.replace(' variable="rain"', ""), "a <pool> has no attribute 'variable'"),
        (BELIEF, BELIEF.replace("crn:pool", "crn:pond"), "unknown element <pond>"),
        (
            'kind="belief" variable="rain"',
            'kind="belief" variable="näss"',
            "pool belief näss has 2 values, another of näss 3",
        ),
        ('variable name="rain"', 'variable name="sun"', "states are given for the variable 'sun', which has no pool"),
        ('<crn:state name="нет"/>', "", "rain has 2 values and needs as many different names"),
        ('<crn:state name="нет"/>', '<crn:state nome="нет"/>', "a <state> has no attribute 'name'"),
        ('variable name="näss"', 'variable name="rain"', "the variable 'rain' is named twice"),
        (
            "</crn:network>",
            '</crn:network><a:b xmlns:a="urn:scisuite:crn:1"/>',
            "not valid SBML: line 3: Multiple annota",
        ),
        ("crn:network", "crn:netz", "expected <network>, found <netz>"),
    ],
)
def test_a_damaged_annotation_is_refused(old, new, message):
    assert old in TEXT
    with pytest.raises(InvalidInput, match=message):
        from_sbml(TEXT.replace(old, new))


def test_names_of_values_without_pools_are_refused():
    with pytest.raises(InvalidInput, match="it names the values of variables but has no pools"):
        from_sbml(re.sub(r"<crn:pool .*/>", "", TEXT))


def test_an_annotation_of_another_network_is_refused():
    swapped = TEXT.replace(BELIEF, BELIEF.replace("B_rain_0", "P_rain_f_g_0"))
    other = next(line for line in TEXT.splitlines() if 'values="P_rain_f_g_0' in line)
    swapped = swapped.replace(other, other.replace("P_rain_f_g_0", "B_rain_0"))
    with pytest.raises(InvalidInput, match=r"the annotation of the model: reaction 'r\d+' changes the total of pool"):
        from_sbml(swapped)


def test_pools_and_states_that_do_not_fit_are_not_written():
    pools = CRN.pools
    with pytest.raises(InvalidInput, match="states are given for the variable 'sun', which has no pool"):
        to_sbml(CRN, states={"sun": ("a", "b")})
    with pytest.raises(InvalidInput, match="rain has 2 values and needs as many different names"):
        to_sbml(CRN, states={"rain": ("a", "a")})
    with pytest.raises(InvalidInput, match="states are given for a network whose pools are not known"):
        to_sbml(replace(CRN, pools=None), states=STATES)
    with pytest.raises(InvalidInput, match="has 2 unassigned species instead of one"):
        to_sbml(replace(CRN, pools=Pools(pools.pool_of, np.where(pools.value_of == 0, -1, pools.value_of), pools.keys)))
    with pytest.raises(InvalidInput, match=r"has the values \[1, 2\] instead of each from 0 on once"):
        shifted = np.where(pools.value_of == -1, -1, pools.value_of + 1)
        to_sbml(replace(CRN, pools=Pools(pools.pool_of, shifted, pools.keys)))
    with pytest.raises(InvalidInput, match="the pools speak of 2 species, the network has"):
        to_sbml(replace(CRN, pools=Pools(pools.pool_of[:2], pools.value_of[:2], pools.keys)))
    with pytest.raises(InvalidInput, match=r"a species is in a pool that is none of the \d"):
        to_sbml(replace(CRN, pools=Pools(pools.pool_of, pools.value_of, pools.keys[:-1])))
    with pytest.raises(InvalidInput, match="there are two pools"):
        to_sbml(replace(CRN, pools=Pools(pools.pool_of, pools.value_of, (pools.keys[1], *pools.keys[1:]))))
