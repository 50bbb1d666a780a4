"""What the species of a network stand for, as an annotation of an SBML model.

The model's annotation holds one ``network`` element of our namespace::

    <crn:network xmlns:crn="urn:scisuite:crn:1">
      <crn:variable name="rain"><crn:state name="yes"/><crn:state name="no"/></crn:variable>
      <crn:pool kind="sum" variable="rain" factor="wets" free="S_wets_rain_free" values="S_wets_rain_0 S_wets_rain_1"/>
    </crn:network>

A variable is there if its values have names. A pool names its unassigned species and those of its values, in their
order. A network without known pools has an empty element, which says that names of species are to be kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, KIND_NAMES, UNASSIGNED, PoolKey, Pools
from scisuite.solvers.crn_reduce.sbml.xml_text import quoted

NAMESPACE = "urn:scisuite:crn:1"
_ANY_VERSION = NAMESPACE.removesuffix("1")


class WrittenPool(NamedTuple):
    """A pool by the ids of its species: the unassigned one, then those of its values."""

    key: PoolKey
    species: tuple[str, ...]


class Annotation(NamedTuple):
    """What our annotation of a model says: pools in ids, and the names of the values of variables."""

    pools: tuple[WrittenPool, ...]
    states: dict[str, tuple[str, ...]]


def network_annotation(crn: CRN, identifiers: list[str], states: Mapping[str, Iterable[str]]) -> list[str]:
    """The lines of the annotation of a model.

    Raises
    ------
    InvalidInput
        If the pools do not fit the network or the states do not fit the pools.
    """
    named = {variable: tuple(values) for variable, values in states.items()}
    if named and crn.pools is None:
        raise InvalidInput("states are given for a network whose pools are not known")
    lines = ["<annotation>", f'<crn:network xmlns:crn="{NAMESPACE}">']
    if crn.pools is not None:
        check_pools(crn, crn.pools)
        check_states(named, crn.pools)
        for variable, values in named.items():
            inside = "".join(f"<crn:state name={quoted(value)}/>" for value in values)
            lines.append(f"<crn:variable name={quoted(variable)}>{inside}</crn:variable>")
        for i, key in enumerate(crn.pools.keys):
            factor = "" if key.kind == BELIEF else f" factor={quoted(key.factor)}"
            listed = " ".join(identifiers[s] for s in crn.pools.species_of(i).tolist())
            lines.append(
                f'<crn:pool kind="{KIND_NAMES[key.kind]}" variable={quoted(key.variable)}{factor} '
                f'free="{identifiers[crn.pools.centre[i]]}" values="{listed}"/>'
            )
    return [*lines, "</crn:network>", "</annotation>"]


def read_annotation(model: Any) -> Annotation | None:
    """Our annotation of a libsbml model, not yet held against its species; ``None`` if there is none.

    Raises
    ------
    InvalidInput
        If it has an element or a kind of pool that we do not write, an attribute is missing, or a variable is named
        twice.
    """
    if not model.isSetAnnotation():
        return None
    found = [n for n in _children(model.getAnnotation()) if n.getURI() == NAMESPACE]
    if not found:
        return None
    if found[0].getName() != "network":
        raise InvalidInput(f"{HERE}: expected <network>, found <{found[0].getName()}>")
    pools: list[WrittenPool] = []
    states: dict[str, tuple[str, ...]] = {}
    for node in _children(found[0]):
        if node.getName() == "pool":
            pools.append(_pool(node))
        elif node.getName() == "variable":
            variable = _attribute(node, "name")
            if variable in states:
                raise InvalidInput(f"{HERE}: the variable {variable!r} is named twice")
            states[variable] = tuple(_attribute(state, "name") for state in _children(node))
        else:
            raise InvalidInput(f"{HERE}: unknown element <{node.getName()}>")
    return Annotation(tuple(pools), states)


def unknown_version(model: Any) -> str:
    """A warning if the model has an annotation of ours, but none of the version that is read here; else nothing."""
    if not model.isSetAnnotation():
        return ""
    ours = [n.getURI() for n in _children(model.getAnnotation()) if n.getURI().startswith(_ANY_VERSION)]
    if not ours or NAMESPACE in ours:
        return ""
    return f"the annotation {ours[0]} is not read, {NAMESPACE} would be; names of variables and values are lost"


def pools_of(annotation: Annotation, identifiers: list[str], crn: CRN) -> Pools | None:
    """The annotated pools of ``crn``, whose species have those ids in the file.

    Raises
    ------
    InvalidInput
        If a pool names an unknown species or none that is unassigned, a species is named twice or not at all, or the
        pools or the states do not fit the network.
    """
    if not annotation.pools:
        if annotation.states:
            raise InvalidInput(f"{HERE}: it names the values of variables but has no pools")
        return None
    place = {identifier: i for i, identifier in enumerate(identifiers)}
    pool_of = np.full(crn.n_species, -1, dtype=np.int64)
    value_of = np.full(crn.n_species, UNASSIGNED, dtype=np.int64)
    for number, pool in enumerate(annotation.pools):
        for value, identifier in enumerate(pool.species, start=UNASSIGNED):
            at = place.get(identifier)
            if at is None:
                raise InvalidInput(f"{HERE}: pool {pool.key} names the unknown species {identifier!r}")
            if pool_of[at] >= 0:
                where = "twice" if pool_of[at] == number else f"also in pool {annotation.pools[pool_of[at]].key}"
                raise InvalidInput(f"{HERE}: pool {pool.key} names the species {identifier!r}, which stands {where}")
            pool_of[at], value_of[at] = number, value
    outside = np.flatnonzero(pool_of < 0)
    if len(outside):
        raise InvalidInput(f"{HERE}: species {identifiers[outside[0]]!r} is in no pool")
    pools = Pools(pool_of, value_of, tuple(pool.key for pool in annotation.pools))
    try:
        check_pools(crn, pools)
        check_states(annotation.states, pools)
    except InvalidInput as error:
        raise InvalidInput(f"{HERE}: {error}") from None
    return pools


def check_pools(crn: CRN, pools: Pools) -> None:
    """Whether pools fit a network: every pool has one unassigned species and each of its values once, pools of a
    variable have equally many, and no reaction changes a pool's total.

    Raises
    ------
    InvalidInput
        If not; the message names the pool.
    """
    keys = pools.keys
    if len(pools.pool_of) != crn.n_species or len(pools.value_of) != crn.n_species:
        raise InvalidInput(f"the pools speak of {len(pools.pool_of)} species, the network has {crn.n_species}")
    if len(pools.pool_of) and (pools.pool_of.min() < 0 or pools.pool_of.max() >= len(keys)):
        raise InvalidInput(f"a species is in a pool that is none of the {len(keys)}")
    cards: dict[str, int] = {}
    seen: set[PoolKey] = set()
    free = np.bincount(pools.pool_of[pools.value_of == UNASSIGNED], minlength=len(keys))
    for i, key in enumerate(keys):
        if key in seen:
            raise InvalidInput(f"there are two pools {key}")
        seen.add(key)
        if free[i] != 1:
            raise InvalidInput(f"pool {key} has {free[i]} unassigned species instead of one")
        values = pools.value_of[pools.species_of(i)]
        if not len(values) or not np.array_equal(values, np.arange(len(values))):
            raise InvalidInput(f"pool {key} has the values {values.tolist()} instead of each from 0 on once")
        if cards.setdefault(key.variable, len(values)) != len(values):
            raise InvalidInput(f"pool {key} has {len(values)} values, another of {key.variable} {cards[key.variable]}")
    _check_totals(crn, pools)


def check_states(states: Mapping[str, tuple[str, ...]], pools: Pools) -> None:
    """Whether names of values fit pools: known variables, a different name for each value.

    Raises
    ------
    InvalidInput
        If not; the message names the variable.
    """
    cards = {key.variable: len(pools.species_of(i)) for i, key in enumerate(pools.keys)}
    for variable, values in states.items():
        if variable not in cards:
            raise InvalidInput(f"states are given for the variable {variable!r}, which has no pool")
        if len(values) != cards[variable] or len(set(values)) < len(values):
            raise InvalidInput(
                f"{variable} has {cards[variable]} values and needs as many different names, not {values}"
            )


def _check_totals(crn: CRN, pools: Pools) -> None:
    ones = np.ones(crn.n_species, dtype=np.int64)
    member = sparse.csr_array((ones, (np.arange(crn.n_species), pools.pool_of)), shape=(crn.n_species, len(pools.keys)))
    change = ((crn.products.astype(np.int64) - crn.reactants.astype(np.int64)) @ member).tocoo()
    wrong = np.flatnonzero(change.data)
    if len(wrong):
        row, pool = change.coords[0][wrong[0]], change.coords[1][wrong[0]]
        raise InvalidInput(f"{crn.reaction(int(row))} changes the total of pool {pools.keys[pool]}")


def _pool(node: Any) -> WrittenPool:
    kind = _attribute(node, "kind")
    if kind not in KIND_NAMES:
        raise InvalidInput(f"{HERE}: a pool's kind is one of {', '.join(KIND_NAMES)}, not {kind!r}")
    number = KIND_NAMES.index(kind)
    key = PoolKey(number, _attribute(node, "variable"), "" if number == BELIEF else _attribute(node, "factor"))
    free = _attribute(node, "free").split()
    if len(free) != 1:
        raise InvalidInput(f"{HERE}: pool {key} has {len(free)} unassigned species instead of one")
    return WrittenPool(key, (*free, *_attribute(node, "values").split()))


def _attribute(node: Any, name: str) -> str:
    if not node.hasAttr(name):
        raise InvalidInput(f"{HERE}: a <{node.getName()}> has no attribute {name!r}")
    return str(node.getAttrValue(name))


def _children(node: Any) -> list[Any]:
    children = (node.getChild(i) for i in range(node.getNumChildren()))
    return [child for child in children if not child.isText()]


HERE = "the annotation of the model"
