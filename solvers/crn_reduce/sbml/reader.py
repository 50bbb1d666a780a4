"""A reaction network from SBML: mass action only, everything else refused by name."""

from __future__ import annotations

import math
import os
import warnings
from collections import ChainMap, Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.solvers.crn_reduce.network import CRN
from scisuite.solvers.crn_reduce.sbml.annotation import pools_of, read_annotation, unknown_version
from scisuite.solvers.crn_reduce.sbml.document import import_libsbml, parse_document, raise_errors
from scisuite.solvers.crn_reduce.sbml.errors import UnsupportedSBML, named
from scisuite.solvers.crn_reduce.sbml.kinetic_law import read_law
from scisuite.solvers.crn_reduce.sbml.refusals import refuse_unsupported


class SBMLNetwork(NamedTuple):
    """A network, where our annotation has them the names of the values of its variables, and a warning if the file has
    an annotation of ours of a version that we do not know."""

    crn: CRN
    states: dict[str, tuple[str, ...]]
    unread: str = ""


def from_sbml(source: str | os.PathLike[str], *, units: str = "refuse") -> CRN:
    """Read a mass-action network from SBML Level 2 or 3, our own or other people's.

    A reaction must have a law that is a constant times the product of its reactants, each to the power of its
    stoichiometry; the constant may be a product or quotient of numbers, parameters and compartments. A modifier that
    the law multiplies is a catalyst and enters both sides; one that it does not use has no effect and is left out.
    Species that are in no reaction stay. Where the file carries our annotation, ``pools`` come back, and species have
    the names that they had; elsewhere they are called by their ids, as reactions always are.

    Parameters
    ----------
    source : str or path
        The SBML text, or the path of a file (a text that begins with ``<`` is taken for SBML).
    units : "refuse" or "ignore"
        Whether unit definitions that would rescale numbers are refused, or the numbers taken as they stand.

    Warns
    -----
    UserWarning
        If our annotation is of a version that is not known here: the network is read as if it had none.

    Raises
    ------
    InvalidInput
        If there is no such file, it is not XML or not valid SBML (with libsbml's line and message), the model is empty,
        or our annotation does not fit the network.
    UnsupportedSBML
        If the model is not plain mass action in one compartment of size 1; the message names the element, its line and
        what is wrong: packages that are required, events, rules, constraints, initial assignments, conversion factors,
        units, compartments, boundary or constant species that take part, species without a start, reactions that are
        reversible (in Level 2, where that is the default, those whose law is) or fast, stoichiometry that varies or is
        no whole number, laws that are missing or of another form.
    MissingDependency
        If libsbml is not installed.
    """
    network = read_sbml(source, units=units)
    if network.unread:
        warnings.warn(network.unread, stacklevel=2)
    return network.crn


def read_sbml(source: str | os.PathLike[str], *, units: str = "refuse") -> SBMLNetwork:
    """:func:`from_sbml` with the names of the values beside the network."""
    if units not in ("refuse", "ignore"):
        raise InvalidInput(f"units must be 'refuse' or 'ignore', not {units!r}")
    document = parse_document(source)
    refuse_unsupported(document, ignore_units=units == "ignore")
    _check_identifiers(document)
    model = document.getModel()
    if not model.getNumSpecies():
        raise InvalidInput("the SBML model has no species")
    annotation = read_annotation(model)
    species = [model.getSpecies(i) for i in range(model.getNumSpecies())]
    identifiers = [s.getId() for s in species]
    network = _Network(model, species, identifiers)
    reactions = [network.reaction(model.getReaction(i)) for i in range(model.getNumReactions())]
    names = identifiers if annotation is None else [s.getName() or s.getId() for s in species]
    crn = CRN(
        species=tuple(names),
        reactants=_matrix([r.reactants for r in reactions], len(species)),
        products=_matrix([r.products for r in reactions], len(species)),
        rates=np.array([r.rate for r in reactions], dtype=np.float64),
        initial=np.array([network.start(s) for s in species], dtype=np.float64),
        reaction_names=tuple(model.getReaction(i).getId() for i in range(model.getNumReactions())),
    )
    if annotation is None:
        return SBMLNetwork(crn, {}, unknown_version(model))
    return SBMLNetwork(replace(crn, pools=pools_of(annotation, identifiers, crn)), annotation.states)


def _check_identifiers(document: Any) -> None:
    """libsbml's check of ids alone. Its others are not needed by what is read here, and are slow: the time of the
    general one grows with the square of the number of reactions (40 s for 30,000)."""
    libsbml = import_libsbml()
    for category in range(libsbml.LIBSBML_CAT_SBML, libsbml.LIBSBML_CAT_MODELING_PRACTICE + 1):
        document.setConsistencyChecks(category, category == libsbml.LIBSBML_CAT_IDENTIFIER_CONSISTENCY)
    document.checkConsistency()
    raise_errors(document)


class _Reaction(NamedTuple):
    reactants: Counter[int]
    products: Counter[int]
    rate: float


class _Network:
    """A libsbml model whose elements are read one by one."""

    def __init__(self, model: Any, species: list[Any], identifiers: list[str]) -> None:
        self.place = {identifier: i for i, identifier in enumerate(identifiers)}
        self.species = species
        self.sizes = _sizes(model, species)
        self.values = self.sizes | {
            p.getId(): p.getValue() if p.isSetValue() else math.nan
            for p in (model.getParameter(i) for i in range(model.getNumParameters()))
        }

    def start(self, species: Any) -> float:
        """Concentration at time 0."""
        if species.isSetInitialConcentration():
            start = species.getInitialConcentration()
        elif species.isSetInitialAmount():
            start = species.getInitialAmount()
        else:
            raise UnsupportedSBML(f"{named(species)}: it has no initial amount or concentration")
        if not (math.isfinite(start) and start >= 0):
            raise UnsupportedSBML(f"{named(species)}: its initial amount must be finite and not negative, not {start}")
        return float(start)

    def reaction(self, reaction: Any) -> _Reaction:
        """Stoichiometry of both sides, catalysts in both, and rate constant."""
        where = named(reaction)
        # In Level 2 this is the default, also of reactions whose law has one way only.
        if reaction.getReversible() and reaction.getLevel() == 3:
            raise UnsupportedSBML(f"{where}: reversible reactions are not supported; split it into two")
        if reaction.getFast():
            raise UnsupportedSBML(f"{where}: fast reactions are not supported")
        used = self._side(reaction.getListOfReactants(), where)
        made = self._side(reaction.getListOfProducts(), where)
        law = self._law(reaction, where)
        for name in law.powers:
            self._check_takes_part(self.place[name], where)
        powers = Counter({self.place[name]: n for name, n in law.powers.items()})
        modifiers = {self._at(reaction.getModifier(i), where) for i in range(reaction.getNumModifiers())}
        for at in used | powers:
            if powers[at] != used[at] and not (at in modifiers and used[at] < powers[at] <= _MOST):
                raise UnsupportedSBML(
                    f"{where}: not mass action: its law has {self.species[at].getId()!r} to the power {powers[at]}, "
                    f"its reactants {used[at]} of it"
                )
        return _Reaction(powers, made + (powers - used), law.constant)

    def _side(self, references: Any, where: str) -> Counter[int]:
        counts: Counter[int] = Counter()
        for i in range(references.size()):
            reference = references.get(i)
            at = self._at(reference, where)
            self._check_takes_part(at, where)
            counts[at] += _stoichiometry(reference, where)
        return counts

    def _at(self, reference: Any, where: str) -> int:
        at = self.place.get(reference.getSpecies())
        if at is None:
            raise InvalidInput(f"{where}: it refers to the species {reference.getSpecies()!r}, which does not exist")
        return at

    def _check_takes_part(self, at: int, where: str) -> None:
        species = self.species[at]
        for wrong, kind in ((species.getBoundaryCondition(), "boundary"), (species.getConstant(), "constant")):
            if wrong:
                raise UnsupportedSBML(f"{named(species)}: a {kind} species takes part in {where}")

    def _law(self, reaction: Any, where: str) -> Any:
        kinetic = reaction.getKineticLaw()
        if kinetic is None or kinetic.getMath() is None:
            raise UnsupportedSBML(f"{where}: it has no kinetic law")
        local = {p.getId(): p.getValue() if p.isSetValue() else math.nan for p in _parameters(kinetic)}
        law = read_law(kinetic.getMath(), ChainMap(local, self.values), self.place, where)
        if not (math.isfinite(law.constant) and law.constant > 0):
            raise UnsupportedSBML(f"{where}: its rate constant must be finite and above zero, not {law.constant}")
        return law


def _sizes(model: Any, species: list[Any]) -> dict[str, float]:
    """Sizes of the compartments by id, after a look at the one that the species lie in."""
    for s in species:
        if model.getCompartment(s.getCompartment()) is None:
            raise InvalidInput(f"{named(s)}: its compartment {s.getCompartment()!r} does not exist")
    homes = dict.fromkeys(s.getCompartment() for s in species)
    if len(homes) > 1:
        first, second = list(homes)[:2]
        raise UnsupportedSBML(
            f"{named(model.getCompartment(second))}: species lie in several compartments, here and in {first!r}; "
            "only one is supported"
        )
    home = model.getCompartment(next(iter(homes)))
    pointlike = home.getSpatialDimensionsAsDouble() == 0
    if not (home.isSetSize() or pointlike):
        raise UnsupportedSBML(f"{named(home)}: it has no size, and only size 1 is supported")
    if home.isSetSize() and home.getSize() != 1:
        raise UnsupportedSBML(
            f"{named(home)}: its size is {home.getSize():g}, and only size 1 is supported: laws give amounts and "
            "species are concentrations, so any other size rescales the rate constants"
        )
    compartments = (model.getCompartment(i) for i in range(model.getNumCompartments()))
    return {c.getId(): c.getSize() if c.isSetSize() else math.nan for c in compartments}


def _stoichiometry(reference: Any, where: str) -> int:
    species = reference.getSpecies()
    if reference.isSetStoichiometryMath() or (reference.getLevel() == 3 and not reference.getConstant()):
        raise UnsupportedSBML(f"{where}: the stoichiometry of {species!r} varies")
    if reference.getLevel() == 3 and not reference.isSetStoichiometry():
        raise UnsupportedSBML(f"{where}: the stoichiometry of {species!r} is not given")
    value = reference.getStoichiometry() / reference.getDenominator()
    if not (math.isfinite(value) and value == int(value) and 1 <= value <= _MOST):
        raise UnsupportedSBML(
            f"{where}: the stoichiometry of {species!r} is {value:g}, no whole number from 1 to {_MOST}"
        )
    return int(value)


def _parameters(kinetic: Any) -> list[Any]:
    return [kinetic.getParameter(i) for i in range(kinetic.getNumParameters())]


def _matrix(rows: list[Counter[int]], n_species: int) -> sparse.csr_array:
    pairs = [sorted((+row).items()) for row in rows]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in pairs])]).astype(np.int64)
    indices = np.array([at for row in pairs for at, _ in row], dtype=np.int64)
    data = np.array([n for row in pairs for _, n in row], dtype=np.int32)
    return sparse.csr_array((data, indices, indptr), shape=(len(rows), n_species))


_MOST = 1_000_000
