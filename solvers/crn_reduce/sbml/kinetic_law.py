"""Kinetic laws: the rate constant and the powers of the species in a product."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from scisuite.solvers.crn_reduce.sbml.document import import_libsbml
from scisuite.solvers.crn_reduce.sbml.errors import UnsupportedSBML


class MassActionLaw(NamedTuple):
    """``constant · Π_s x_s^powers[s]``, species by their ids."""

    constant: float
    powers: dict[str, int]


def read_law(math_node: Any, values: Mapping[str, float], species: Container[str], where: str) -> MassActionLaw:
    """Read a law that is a product of numbers, constants and whole powers of species.

    Parameters
    ----------
    math_node : libsbml ASTNode
        The law.
    values : mapping of str to float
        What the names of parameters and compartments are worth.
    species : container of str
        Ids of the species; ``values`` hides one of the same name.
    where : str
        The reaction, for messages.

    Raises
    ------
    UnsupportedSBML
        If the law is anything else; the message says which operation or name breaks it.
    """
    return _Reader(values, species, where).product(math_node)


class _Reader:
    def __init__(self, values: Mapping[str, float], species: Container[str], where: str) -> None:
        self.values, self.species, self.where = values, species, where
        self.libsbml = import_libsbml()

    def product(self, node: Any) -> MassActionLaw:
        sbml, kind = self.libsbml, node.getType()
        if node.isNumber():
            return MassActionLaw(float(node.getValue()), {})
        if kind == sbml.AST_NAME:
            return self._name(node.getName())
        parts = [node.getChild(i) for i in range(node.getNumChildren())]
        if kind == sbml.AST_TIMES:
            return self._times([self.product(part) for part in parts])
        if kind in (sbml.AST_POWER, sbml.AST_FUNCTION_POWER) and len(parts) == 2:
            return self._power(self.product(parts[0]), self.product(parts[1]), node)
        if kind == sbml.AST_DIVIDE and len(parts) == 2:
            return self._divided(self.product(parts[0]), self.product(parts[1]), node)
        raise self._refused(node)

    def _name(self, name: str) -> MassActionLaw:
        if name in self.values:
            value = self.values[name]
            if not math.isfinite(value):
                raise UnsupportedSBML(f"{self.where}: its law uses {name!r}, which has no value")
            return MassActionLaw(value, {})
        if name in self.species:
            return MassActionLaw(1.0, {name: 1})
        raise UnsupportedSBML(f"{self.where}: its law uses {name!r}, which is no species, parameter or compartment")

    def _times(self, parts: list[MassActionLaw]) -> MassActionLaw:
        powers: Counter[str] = Counter()
        for part in parts:
            powers.update(part.powers)
        return MassActionLaw(math.prod(part.constant for part in parts), dict(powers))

    def _power(self, base: MassActionLaw, exponent: MassActionLaw, node: Any) -> MassActionLaw:
        if exponent.powers:
            raise self._refused(node)
        try:
            constant = math.pow(base.constant, exponent.constant)
        except (OverflowError, ValueError):
            raise self._refused(node) from None
        if not base.powers:
            return MassActionLaw(constant, {})
        if exponent.constant < 1 or not exponent.constant.is_integer():
            raise self._refused(node)
        return MassActionLaw(constant, {s: m * int(exponent.constant) for s, m in base.powers.items()})

    def _divided(self, above: MassActionLaw, below: MassActionLaw, node: Any) -> MassActionLaw:
        if below.powers or not below.constant:
            raise self._refused(node)
        return MassActionLaw(above.constant / below.constant, above.powers)

    def _refused(self, node: Any) -> UnsupportedSBML:
        formula = self.libsbml.formulaToL3String(node)
        shown = formula if len(formula) <= 80 else formula[:77] + "…"
        hints = {
            self.libsbml.AST_FUNCTION: "it calls a function definition; write it out",
            self.libsbml.AST_MINUS: "a law with a difference is reversible; split the reaction into two",
            self.libsbml.AST_FUNCTION_DELAY: "delays are not supported",
        }
        hint = hints.get(node.getType(), "a constant times whole powers of species is")
        return UnsupportedSBML(f"{self.where}: {shown} is not mass action: {hint}")
