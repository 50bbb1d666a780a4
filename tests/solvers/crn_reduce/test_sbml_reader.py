"""Other people's SBML: what is mass action is read, everything else refused with the element named."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from scisuite.core import InvalidInput, MissingDependency
from scisuite.solvers.crn_reduce.sbml import UnsupportedSBML, from_sbml

pytest.importorskip("libsbml", reason="needs the extra crn-reduce")

MATH = 'math xmlns="http://www.w3.org/1998/Math/MathML"'
LAW = "<apply><times/><cn>2</cn><ci>A</ci></apply>"
A_AND_B = "<apply><times/><cn>2</cn><ci>A</ci><ci>B</ci></apply>"
CATALYST_B = '<listOfModifiers><modifierSpeciesReference species="B"/></listOfModifiers>'


def refer(species, count="1", more='constant="true"'):
    stoichiometry = f'stoichiometry="{count}" ' if count else ""
    return f'<speciesReference species="{species}" {stoichiometry}{more}/>'


def species(name, attributes='initialConcentration="1"', kind='boundaryCondition="false" constant="false"'):
    return f'<species id="{name}" compartment="c" {attributes} hasOnlySubstanceUnits="false" {kind}/>\n'


ONE_A, ONE_B, A_THEN_B = refer("A"), refer("B"), species("A") + species("B")


def reaction(law=LAW, used=ONE_A, made=ONE_B, modifiers="", local="", flags='reversible="false" fast="false"'):
    kinetic = f"<kineticLaw><{MATH}>{law}</math>{local}</kineticLaw>" if law else ""
    sides = f"<listOfReactants>{used}</listOfReactants><listOfProducts>{made}</listOfProducts>{modifiers}"
    return f'<listOfReactions>\n<reaction id="r1" {flags}>{sides}{kinetic}</reaction></listOfReactions>'


def model(
    reactions=None,
    *,
    sbml="",
    attributes="",
    before="",
    compartments='<compartment id="c" size="1" constant="true"/>',
    all_species=A_THEN_B,
    between="",
    after="",
    version=1,
):
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<sbml xmlns="http://www.sbml.org/sbml/level3/version{version}/core" level="3" version="{version}" {sbml}>\n'
        f'<model id="m" {attributes}>{before}<listOfCompartments>\n{compartments}</listOfCompartments>\n'
        f"<listOfSpecies>\n{all_species}</listOfSpecies>{between}\n"
        f"{reaction() if reactions is None else reactions}{after}\n</model></sbml>"
    )


LEVEL_2 = f"""<?xml version="1.0" encoding="ISO-8859-1"?>
<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model id="m" name="é">
<listOfCompartments><compartment id="c" size="1"/></listOfCompartments>
<listOfSpecies><species id="A" compartment="c" initialAmount="2"/><species id="B" compartment="c" initialAmount="0"/>
</listOfSpecies><listOfParameters><parameter id="k" value="7"/><parameter id="q" value="3"/></listOfParameters>
<listOfReactions><reaction id="r1"><listOfReactants><speciesReference species="A" stoichiometry="2"/></listOfReactants>
<listOfProducts><speciesReference species="B"/></listOfProducts><kineticLaw><{MATH}><apply><times/><ci>c</ci><ci>q</ci>
<apply><times/><ci>k</ci><apply><power/><ci>A</ci><cn type="integer">2</cn></apply></apply></apply></math>
<listOfParameters><parameter id="k" value=".5"/></listOfParameters></kineticLaw></reaction>
</listOfReactions></model></sbml>
"""


@pytest.mark.parametrize(
    ("reactions", "reactants", "products", "rate"),
    [
        (reaction(), [1, 0], [0, 1], 2),
        (reaction(A_AND_B, modifiers=CATALYST_B), [1, 1], [0, 2], 2),
        (reaction(A_AND_B, used=refer("A") + refer("B"), made=refer("B", "2")), [1, 1], [0, 2], 2),
        (reaction(LAW, modifiers=CATALYST_B), [1, 0], [0, 1], 2),
        (
            reaction("<cn>3</cn>", used="", made=refer("B")).replace("<listOfReactants></listOfReactants>", ""),
            [0, 0],
            [0, 1],
            3,
        ),
        (reaction(f"<apply><divide/>{A_AND_B}<cn>4</cn></apply>", modifiers=CATALYST_B), [1, 1], [0, 2], 0.5),
        (
            reaction(f"<apply><power/>{LAW}<cn type='integer'>3</cn></apply>", used=refer("A") + refer("A", "2")),
            [3, 0],
            [0, 1],
            8,
        ),
        (
            reaction(
                "<apply><times/><cn type='e-notation'>3<sep/>-2</cn><cn type='rational'>1<sep/>4</cn><ci>A</ci></apply>"
            ),
            [1, 0],
            [0, 1],
            0.0075,
        ),
    ],
    ids=["one", "modifier", "both sides", "unused modifier", "source", "quotient", "powers", "numbers"],
)
def test_mass_action_laws_are_read(reactions, reactants, products, rate):
    crn = from_sbml(model(reactions))
    assert crn.species == ("A", "B")
    assert crn.reactants.toarray().tolist() == [reactants]
    assert crn.products.toarray().tolist() == [products]
    assert crn.rates.tolist() == pytest.approx([rate], rel=1e-15)
    assert crn.pools is None


def test_parameters_compartments_and_amounts_are_read():
    parameters = '<listOfParameters><parameter id="p" value="3" constant="true"/></listOfParameters>'
    law = "<apply><times/><ci>c</ci><apply><power/><ci>p</ci><cn>2</cn></apply><ci>A</ci></apply>"
    starts = species("A", 'initialAmount="0.25"') + species("B") + species("idle")
    crn = from_sbml(model(reaction(law), between=parameters, all_species=starts))
    assert crn.rates.tolist() == [9]
    assert crn.initial.tolist() == [0.25, 1, 1]
    assert crn.species == ("A", "B", "idle")


def test_a_local_parameter_hides_what_else_has_its_name():
    local = '<listOfLocalParameters><localParameter id="B" value="5"/></listOfLocalParameters>'
    law = "<apply><times/><ci>B</ci><ci>A</ci></apply>"
    assert from_sbml(model(reaction(law, local=local))).rates.tolist() == [5]


def test_level_2_with_its_defaults_and_encodings(tmp_path):
    path = tmp_path / "latin.xml"
    path.write_bytes(LEVEL_2.encode("latin-1"))
    for source in (path, LEVEL_2, LEVEL_2.encode("latin-1").decode("latin-1")):
        crn = from_sbml(source)
        assert crn.rates.tolist() == [1.5]
        assert crn.reactants.toarray().tolist() == [[2, 0]]
        assert crn.initial.tolist() == [2, 0]
    for encoding in ("utf-16", "utf-8-sig"):
        path.write_bytes(LEVEL_2.replace("ISO-8859-1", encoding).encode(encoding))
        assert from_sbml(path).rates.tolist() == [1.5]


def test_level_3_version_2_and_optional_packages_are_read():
    optional = 'xmlns:f="http://www.sbml.org/sbml/level3/version1/fbc/version1" f:required="false"'
    assert from_sbml(model(sbml=optional)).n_reactions == 1
    assert from_sbml(model(reaction(flags='reversible="false"'), version=2)).n_reactions == 1


def test_a_model_without_reactions_is_a_network():
    crn = from_sbml(model(""))
    assert (crn.n_species, crn.n_reactions) == (2, 0)


LEVEL_1 = """<sbml xmlns="http://www.sbml.org/sbml/level1" level="1" version="2"><model name="m">
<listOfCompartments><compartment name="c"/></listOfCompartments>
<listOfSpecies><species name="A" compartment="c" initialAmount="1"/></listOfSpecies></model></sbml>"""


def wrapped(element):
    return f"<{MATH}>{element}</math>"


ONE = wrapped("<cn>1</cn>")
UNIT = (
    '<listOfUnitDefinitions><unitDefinition id="nM">\n<listOfUnits><unit kind="mole" exponent="1" scale="-9" '
    'multiplier="1"/></listOfUnits></unitDefinition></listOfUnitDefinitions>'
)
PARAMETER = '<listOfParameters><parameter id="p" value="3" constant="false"/></listOfParameters>'
NO_VALUE = '<listOfParameters><parameter id="p" constant="true"/></listOfParameters>'
FUNCTION = (
    '<listOfFunctionDefinitions><functionDefinition id="f">'
    f"{wrapped('<lambda><bvar><ci>x</ci></bvar><ci>x</ci></lambda>')}</functionDefinition></listOfFunctionDefinitions>"
)
EVENT = (
    '<listOfEvents><event id="e1" useValuesFromTriggerTime="true"><trigger initialValue="true" persistent="true">'
    f"{wrapped('<true/>')}</trigger></event></listOfEvents>"
)
SYMBOL = '<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/{0}">{0}</csymbol>'
PACKAGE = 'xmlns:p="http://www.sbml.org/sbml/level3/version1/{0}/version1" p:required="true"'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (model(after=EVENT), r"event 'e1' \(line 10\): events are not supported"),
        (
            model(between=f'{PARAMETER}<listOfRules><assignmentRule variable="p">{ONE}</assignmentRule></listOfRules>'),
            r"assignmentRule of 'p' \(line 8\): rules are not supported",
        ),
        (
            model(between=f'{PARAMETER}<listOfRules><rateRule variable="p">{ONE}</rateRule></listOfRules>'),
            r"rateRule of 'p' \(line 8\): rules are not supported",
        ),
        (
            model(between=f"<listOfRules><algebraicRule>{ONE}</algebraicRule></listOfRules>"),
            r"algebraicRule \(line 8\): rules are not supported",
        ),
        (
            model(between=f"<listOfConstraints><constraint>{wrapped('<true/>')}</constraint></listOfConstraints>"),
            r"constraint \(line 8\): constraints are not supported",
        ),
        (
            model(
                between=f'<listOfInitialAssignments><initialAssignment symbol="A">{ONE}'
                "</initialAssignment></listOfInitialAssignments>"
            ),
            r"initialAssignment of 'A' \(line 8\): initial assignments are not supported; give the species a number",
        ),
        (model(attributes='conversionFactor="p"', between=PARAMETER), r"model 'm' \(line 3\): conversion factors"),
        (
            model(all_species=species("A", 'initialAmount="1" conversionFactor="p"') + species("B"), between=PARAMETER),
            r"species 'A' \(line 6\): conversion factors",
        ),
        (
            model(before=UNIT),
            r"unitDefinition 'nM' \(line 3\): 1 × 10\^-9 mole would rescale the numbers; units='ignore' takes them",
        ),
        (
            model(
                all_species=species("A", 'initialAmount="1" substanceUnits="item"') + species("B"),
                attributes='substanceUnits="mole"',
            ),
            r"species 'B' \(line 7\): it is counted in mole, other amounts in item",
        ),
        (model(sbml=PACKAGE.format("comp")), "the document requires the SBML package 'comp', which is not supported"),
        (
            model(compartments='<compartment id="c" size="2" constant="true"/>'),
            r"compartment 'c' \(line 4\): its size is 2, and",
        ),
        (model(compartments='<compartment id="c" constant="true"/>'), r"compartment 'c' \(line 4\): it has no size"),
        (
            model(
                compartments='<compartment id="c" constant="true"/><compartment id="d" constant="true"/>',
                all_species=species("A") + species("B").replace('"c"', '"d"'),
            ),
            r"compartment 'd' \(line 4\): species lie in several compartments, here and in 'c'",
        ),
        (
            model(all_species=species("A", kind='boundaryCondition="true" constant="false"') + species("B")),
            r"species 'A' \(line 6\): a boundary species takes part in reaction 'r1' \(line 10\)",
        ),
        (
            model(
                reaction(A_AND_B, made=refer("A"), modifiers=CATALYST_B),
                all_species=species("A") + species("B", kind='boundaryCondition="false" constant="true"'),
            ),
            r"species 'B' \(line 7\): a constant species takes part in reaction 'r1' \(line 10\)",
        ),
        (
            model(all_species=species("A") + species("B", kind='boundaryCondition="false" constant="true"')),
            r"species 'B' \(line 7\): a constant species takes part in reaction 'r1' \(line 10\)",
        ),
        (
            model(all_species=species("A", "") + species("B")),
            r"species 'A' \(line 6\): it has no initial amount or conc",
        ),
        (
            model(all_species=species("A") + species("B", 'initialAmount="-2"')),
            r"species 'B' \(line 7\): its initial amount must be finite and not negative, not -2\.0",
        ),
        (
            model(reaction(flags='reversible="true" fast="false"')),
            r"reaction 'r1' \(line 10\): reversible reactions are",
        ),
        (model(reaction(flags='reversible="false" fast="true"')), r"reaction 'r1' \(line 10\): fast reactions are not"),
        (model(reaction(used=refer("A", "1.5"))), r"the stoichiometry of 'A' is 1\.5, no whole number from 1 to"),
        (model(reaction(used=refer("A", "0"))), r"the stoichiometry of 'A' is 0, no whole number from 1 to"),
        (model(reaction(used=refer("A", ""))), r"reaction 'r1' \(line 10\): the stoichiometry of 'A' is not given"),
        (
            model(reaction(used=refer("A", "1", 'constant="false"'))),
            r"reaction 'r1' .*: the stoichiometry of 'A' varies",
        ),
        (
            LEVEL_2.replace(
                '<speciesReference species="A" stoichiometry="2"/>',
                f'<speciesReference species="A"><stoichiometryMath>{ONE}</stoichiometryMath></speciesReference>',
            ),
            r"reaction 'r1' \(line 6\): the stoichiometry of 'A' varies",
        ),
        (model(reaction("")), r"reaction 'r1' \(line 10\): it has no kinetic law"),
        (
            model(reaction("<apply><minus/><ci>A</ci><ci>B</ci></apply>")),
            r"reaction 'r1' \(line 10\): A - B is not mass action: a law with a difference is reversible; split",
        ),
        (model(reaction(A_AND_B)), "not mass action: its law has 'B' to the power 1, its reactants 0 of it"),
        (model(reaction("<cn>1</cn>")), "not mass action: its law has 'A' to the power 0, its reactants 1 of it"),
        (model(reaction(used=refer("A", "2"))), "its law has 'A' to the power 1, its reactants 2 of it"),
        (model(reaction("<apply><power/><ci>A</ci><ci>A</ci></apply>")), r"A\^A is not mass action"),
        (model(reaction("<apply><divide/><cn>1</cn><ci>A</ci></apply>")), "1 / A is not mass action"),
        (model(reaction("<apply><divide/><ci>A</ci><cn>0</cn></apply>")), "A / 0 is not mass action"),
        (model(reaction("<apply><power/><ci>A</ci><cn>1.5</cn></apply>")), r"A\^1\.5 is not mass action"),
        (model(reaction("<apply><power/><cn>-8</cn><cn>.5</cn></apply>")), r"not mass action"),
        (model(reaction(f"<apply><times/><ci>A</ci>{SYMBOL.format('time')}</apply>")), "time is not mass action"),
        (
            model(reaction(f"<apply>{SYMBOL.format('delay')}<ci>A</ci><cn>1</cn></apply>")),
            r"delay\(A, 1\) is not mass action: delays are not supported",
        ),
        (
            model(reaction("<apply><ci>f</ci><ci>A</ci></apply>"), before=FUNCTION),
            r"f\(A\) is not mass action: it calls a function definition; write it out",
        ),
        (
            model(reaction("<apply><times/><ci>nobody</ci><ci>A</ci></apply>")),
            "uses 'nobody', which is no species, par",
        ),
        (
            model(reaction("<apply><times/><ci>p</ci><ci>A</ci></apply>"), between=NO_VALUE),
            "uses 'p', which has no value",
        ),
        (
            model(reaction("<apply><times/><cn>0</cn><ci>A</ci></apply>")),
            "its rate constant must be finite and above zero, not 0",
        ),
        (model(reaction("<apply><times/><cn>-1</cn><ci>A</ci></apply>")), "must be finite and above zero, not -1"),
    ],
)
def test_unsupported_elements_are_named(text, message):
    with pytest.raises(UnsupportedSBML, match=message):
        from_sbml(text)


def test_units_may_be_ignored():
    assert from_sbml(model(before=UNIT), units="ignore").rates.tolist() == [2]
    with pytest.raises(InvalidInput, match="units must be 'refuse' or 'ignore', not 'convert'"):
        from_sbml(model(), units="convert")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (model(reaction(made=refer("Z"))), r"reaction 'r1' \(line 10\): it refers to the species 'Z', which does not"),
        (model(reaction(A_AND_B, modifiers=CATALYST_B.replace('"B"', '"Z"'))), "it refers to the species 'Z', which"),
        (
            model(all_species=species("A").replace('"c"', '"q"') + species("B")),
            r"species 'A' \(line 6\): its compartment 'q' does not exist",
        ),
        (model(all_species=species("A") + species("A")), r"not valid SBML: line 7: .*'A'"),
        (model(sbml=PACKAGE.format("nobodys")), "not valid SBML: line 2: .*Package 'p' is a required package"),
        (model(reaction("<cn>1e400</cn>")), "line 10: Missing or invalid floating-point number"),
        (model().replace("level3/version1", "level9/version1"), "not valid SBML"),
        (
            model("", compartments="", all_species="")
            .replace("<listOfCompartments>\n</listOfCompartments>", "")
            .replace("<listOfSpecies>\n</listOfSpecies>", ""),
            "the SBML model has no species",
        ),
        (
            '<?xml version="1.0"?><sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2"/>',
            "has no model",
        ),
        (LEVEL_1, "this is SBML Level 1; Levels 2 and 3 can be read"),
        ("<html/>", "not valid SBML: line 1"),
        ("<sbml>\n<model>", "not XML: line 2: no element found"),
        ("<sbml>\x00</sbml>", "not XML: line 1"),
        ("<sbml>\ud800</sbml>", "the text is not XML: surrogates"),
        ('<!DOCTYPE a [<!ENTITY b "c">]>\n<sbml/>', "line 1: a document type declaration has no place in SBML"),
        (
            model(reaction("<apply><times/>" * 300 + "<ci>A</ci>" + "</apply>" * 300)),
            "line 10: elements are nested deeper",
        ),
        (" \n", "the text is empty"),
    ],
)
def test_what_is_no_sbml_is_refused(text, message):
    with pytest.raises(InvalidInput, match=message) as caught:
        from_sbml(text)
    assert not isinstance(caught.value, UnsupportedSBML)


def test_what_is_no_file_is_refused(tmp_path):
    binary, unknown = tmp_path / "binary", tmp_path / "unknown.xml"
    binary.write_bytes(bytes(range(256)))
    unknown.write_text('<?xml version="1.0" encoding="klingon"?><sbml/>')
    for source, message in (
        (tmp_path, "is a folder, not an SBML file"),
        (tmp_path / "absent.xml", r"no such file: '.*absent\.xml'"),
        ("/dev/null", "'/dev/null' is not a file"),
        (binary, r"is not utf-8 text \(byte 128\), so no SBML"),
        (unknown, "unknown encoding 'klingon'"),
        ("x" * 5000, "cannot read 'x+…': File name too long"),
        ("a\0b", "is neither SBML text nor a path"),
        (None, "'None' is neither SBML text nor a path"),
    ):
        with pytest.raises(InvalidInput, match=message):
            from_sbml(source)


def test_laws_as_deep_as_the_limit_are_read():
    law = "<apply><times/>" * 200 + "<ci>A</ci>" + "</apply>" * 200
    assert from_sbml(model(reaction(law))).rates.tolist() == [1]


def test_reading_needs_libsbml(monkeypatch):
    monkeypatch.setitem(sys.modules, "libsbml", None)
    with pytest.raises(MissingDependency, match=r"reading SBML needs libsbml.*crn-reduce"):
        from_sbml(model())


def test_what_is_read_has_whole_stoichiometry():
    crn = from_sbml(model())
    assert crn.reactants.dtype == crn.products.dtype == np.int32
