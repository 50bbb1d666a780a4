"""A reaction network as SBML Level 3 Version 1."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from scisuite.core import InvalidInput
from scisuite.core.files import write_atomic
from scisuite.solvers.crn_reduce.network import CRN
from scisuite.solvers.crn_reduce.sbml.annotation import network_annotation
from scisuite.solvers.crn_reduce.sbml.xml_text import quoted

CORE = "http://www.sbml.org/sbml/level3/version1/core"
MATHML = "http://www.w3.org/1998/Math/MathML"


def to_sbml(crn: CRN, *, states: Mapping[str, Iterable[str]] | None = None, name: str = "") -> str:
    """Write a network as SBML Level 3 Version 1, so that :func:`from_sbml` gives the very same one back.

    One compartment of size 1, everything dimensionless, so that amounts are concentrations; every rate constant is a
    local parameter of its reaction's law. A catalyst, which stands equally on both sides, becomes a modifier: it is
    what SBML has for it, and libroadrunner loads large files in a third of the time that way. Species keep their names
    as ids where these are SBML identifiers, otherwise they get an id made from the name, which then stands beside it.

    The text is put together here rather than by libsbml, which writes numbers with 15 digits and so changes nine in ten
    of them. It passes libsbml's consistency check without a warning.

    Parameters
    ----------
    crn : CRN
        With ``pools`` these go into an annotation of the model.
    states : mapping of str to sequence of str, optional
        Names of the values of (some of) the variables of ``crn.pools``; they go into the annotation too.
    name : str
        Name of the model, for people.

    Raises
    ------
    InvalidInput
        If the network has no species, a reaction has neither reactants nor products, a number is above zero and below
        2.2e-308 (SBML readers take it for no number), a name holds characters that XML cannot, the pools do not fit
        the network, or ``states`` do not fit the pools.
    """
    if not crn.n_species:
        raise InvalidInput("there is nothing to write: the network has no species")
    _check_numbers(crn)
    identifiers = _identifiers(crn.species)
    taken = set(identifiers)
    compartment, constant = _fresh("volume", taken), _fresh("k", taken)
    prefix = "r"
    while any(re.fullmatch(prefix + r"\d+", identifier) for identifier in taken):
        prefix += "_"
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<sbml xmlns="{CORE}" level="3" version="1">',
        f'<model id="network"{f" name={quoted(name)}" if name else ""} substanceUnits="dimensionless" '
        'timeUnits="dimensionless" volumeUnits="dimensionless" extentUnits="dimensionless">',
        *network_annotation(crn, identifiers, states or {}),
        "<listOfCompartments>",
        f'<compartment id="{compartment}" spatialDimensions="3" size="1" constant="true"/>',
        "</listOfCompartments>",
        "<listOfSpecies>",
        *_species(crn, identifiers, compartment),
        "</listOfSpecies>",
    ]
    if crn.n_reactions:
        lines += ["<listOfReactions>", *_reactions(crn, identifiers, prefix, constant), "</listOfReactions>"]
    return "\n".join([*lines, "</model>", "</sbml>", ""])


def write_sbml(
    crn: CRN,
    path: str | os.PathLike[str],
    *,
    states: Mapping[str, Iterable[str]] | None = None,
    name: str = "",
    overwrite: bool = False,
) -> None:
    """Write :func:`to_sbml`'s text to a file, which is whole or absent.

    Raises
    ------
    InvalidInput
        If the path exists and ``overwrite`` is not set, or cannot be written, or the network cannot.
    """
    if os.path.lexists(path) and (not overwrite or Path(path).is_dir()):
        raise InvalidInput(f"{os.fspath(path)} exists; overwrite=True (--force) replaces a file")
    write_atomic(path, to_sbml(crn, states=states, name=name))


def _species(crn: CRN, identifiers: list[str], compartment: str) -> Iterable[str]:
    for name, identifier, amount in zip(crn.species, identifiers, crn.initial.tolist(), strict=True):
        shown = "" if name == identifier else f" name={quoted(name)}"
        yield (
            f'<species id="{identifier}"{shown} compartment="{compartment}" initialConcentration="{amount!r}" '
            'hasOnlySubstanceUnits="false" boundaryCondition="false" constant="false"/>'
        )


def _reactions(crn: CRN, identifiers: list[str], prefix: str, constant: str) -> Iterable[str]:
    for i, (used, made, rate) in enumerate(
        zip(_rows(crn.reactants), _rows(crn.products), crn.rates.tolist(), strict=True)
    ):
        if not used and not made:
            raise InvalidInput(f"reaction {i} has neither reactants nor products, which SBML does not allow")
        catalysts = {s for s, n in used.items() if made.get(s) == n}
        if used == made:
            # SBML wants at least one reactant or product.
            catalysts = set()
        law = f"<ci>{constant}</ci>" + "".join(_power(identifiers[s], n) for s, n in used.items())
        yield "".join(
            [
                f'<reaction id="{prefix}{i}" reversible="false" fast="false">',
                _references("listOfReactants", {s: n for s, n in used.items() if s not in catalysts}, identifiers),
                _references("listOfProducts", {s: n for s, n in made.items() if s not in catalysts}, identifiers),
                _modifiers(catalysts, identifiers),
                f'<kineticLaw><math xmlns="{MATHML}" xmlns:sbml="{CORE}">',
                f"<apply><times/>{law}</apply>" if used else law,
                "</math><listOfLocalParameters>",
                f'<localParameter id="{constant}" value="{rate!r}" units="dimensionless"/>',
                "</listOfLocalParameters></kineticLaw></reaction>",
            ]
        )


def _rows(matrix: object) -> Iterable[dict[int, int]]:
    """Each row of a sparse matrix as {column: count}, columns ascending."""
    table = matrix.copy()  # type: ignore[attr-defined]
    table.sum_duplicates()
    table.eliminate_zeros()
    columns, counts, start = table.indices.tolist(), table.data.tolist(), table.indptr.tolist()
    for a, b in pairwise(start):
        yield dict(zip(columns[a:b], counts[a:b], strict=True))


def _power(identifier: str, count: int) -> str:
    if count == 1:
        return f"<ci>{identifier}</ci>"
    exponent = f'<cn sbml:units="dimensionless" type="integer">{count}</cn>'
    return f"<apply><power/><ci>{identifier}</ci>{exponent}</apply>"


def _references(title: str, counts: dict[int, int], identifiers: list[str]) -> str:
    if not counts:
        return ""
    inside = "".join(
        f'<speciesReference species="{identifiers[s]}" stoichiometry="{n}" constant="true"/>' for s, n in counts.items()
    )
    return f"<{title}>{inside}</{title}>"


def _modifiers(catalysts: set[int], identifiers: list[str]) -> str:
    if not catalysts:
        return ""
    inside = "".join(f'<modifierSpeciesReference species="{identifiers[s]}"/>' for s in sorted(catalysts))
    return f"<listOfModifiers>{inside}</listOfModifiers>"


def _identifiers(names: Iterable[str]) -> list[str]:
    names = list(names)
    taken = {name for name in names if _IDENTIFIER.fullmatch(name)}
    identifiers = []
    for name in names:
        if not _IDENTIFIER.fullmatch(name):
            stem = re.sub(r"\W", "_", name, flags=re.ASCII)
            name = _fresh(stem if _IDENTIFIER.fullmatch(stem) else f"_{stem}", taken)
        identifiers.append(name)
    return identifiers


def _fresh(stem: str, taken: set[str]) -> str:
    """``stem``, or it with a number behind it, such that it is new; it counts as taken from now on."""
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name


def _check_numbers(crn: CRN) -> None:
    for what, values in (("the rate of reaction", crn.rates), ("the initial concentration of", crn.initial)):
        small = (values > 0) & (values < sys.float_info.min)
        if small.any():
            at = int(np.argmax(small))
            whose = at if values is crn.rates else crn.species[at]
            raise InvalidInput(f"{what} {whose} is {values[at]}, too small for SBML: its readers take it for no number")


_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
