"""What SBML can say that a plain mass-action network cannot: refused by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scisuite.solvers.crn_reduce.sbml.document import import_libsbml
from scisuite.solvers.crn_reduce.sbml.errors import UnsupportedSBML, named


def refuse_unsupported(document: Any, *, ignore_units: bool = False) -> None:
    """Refuse packages, events, rules, constraints, initial assignments, conversion factors and units that rescale.

    Raises
    ------
    UnsupportedSBML
        Naming the first such element and its line.
    """
    _refuse_packages(document)
    model = document.getModel()
    for lists, reason in (
        (model.getListOfEvents(), "events are not supported"),
        (model.getListOfRules(), "rules are not supported"),
        (model.getListOfConstraints(), "constraints are not supported"),
        (model.getListOfInitialAssignments(), "initial assignments are not supported; give the species a number"),
    ):
        for element in _items(lists):
            target = getattr(element, "getVariable", getattr(element, "getSymbol", str))()
            title = f"{element.getElementName()} of {target!r}" if target else ""
            raise UnsupportedSBML(f"{named(element, title)}: {reason}")
    for element in (model, *_items(model.getListOfSpecies())):
        if element.isSetConversionFactor():
            raise UnsupportedSBML(f"{named(element)}: conversion factors are not supported")
    if not ignore_units:
        _refuse_units(model)


def _refuse_packages(document: Any) -> None:
    """Refuse packages that change what a model means; unknown ones are an error of libsbml's."""
    for i in range(document.getNumPlugins()):
        name = document.getPlugin(i).getPackageName()
        # Every document of Level 3 has the extended mathematics, every one of Level 2 layouts, asked for or not.
        if document.getLevel() == 3 and name != "l3v2extendedmath" and document.getPackageRequired(name):
            raise UnsupportedSBML(f"the document requires the SBML package {name!r}, which is not supported")


def _refuse_units(model: Any) -> None:
    for definition in _items(model.getListOfUnitDefinitions()):
        for unit in _items(definition.getListOfUnits()):
            if unit.getMultiplier() != 1 or unit.getScale() != 0 or unit.getOffset() != 0:
                scaled = f"{unit.getMultiplier():g} × 10^{unit.getScale()} {_kind(unit)}"
                raise UnsupportedSBML(
                    f"{named(definition)}: {scaled} would rescale the numbers; units='ignore' takes them as they stand"
                )
    default = model.getSubstanceUnits() if model.getLevel() == 3 else "substance"
    expected = model.getExtentUnits() if model.getLevel() == 3 else ""
    for species in _items(model.getListOfSpecies()):
        units = species.getSubstanceUnits() or default
        expected = expected or units
        if units and units != expected:
            raise UnsupportedSBML(
                f"{named(species)}: it is counted in {units}, other amounts in {expected}; "
                "units='ignore' takes the numbers as they stand"
            )


def _kind(unit: Any) -> str:
    return str(import_libsbml().UnitKind_toString(unit.getKind()))


def _items(elements: Any) -> Iterable[Any]:
    return (elements.get(i) for i in range(elements.size()))
