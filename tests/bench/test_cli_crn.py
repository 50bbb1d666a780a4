"""``scisuite crn``: from a Bayesian network to a verified, smaller reaction network, and everything that is refused."""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from scisuite.bench.cli import app
from scisuite.core import InvalidInput, generator

pytest.importorskip("libsbml")

BIF = """
network tiny {}
variable Smoker { type discrete [ 2 ] { yes, no }; }
variable Cancer { type discrete [ 2 ] { yes, no }; }
variable Xray { type discrete [ 2 ] { dark, clear }; }
variable Stage { type discrete [ 3 ] { I, II, none }; }
probability ( Smoker ) { table 0.3, 0.7; }
probability ( Cancer | Smoker ) { (yes) 0.1, 0.9; (no) 0.02, 0.98; }
probability ( Xray | Cancer ) { (yes) 0.9, 0.1; (no) 0.2, 0.8; }
probability ( Stage | Cancer ) { (yes) 0.6, 0.4, 0.0; (no) 0.0, 0.0, 1.0; }
"""
CANCER_GIVEN_DARK = 0.044 * 0.9 / (0.044 * 0.9 + 0.956 * 0.2)


def invoke(*arguments: object):
    return CliRunner().invoke(app, ["crn", *map(str, arguments)])


def report(*arguments: object) -> dict:
    """The one JSON object that a command prints, and nothing else."""
    result = invoke(*arguments, "--json")
    assert result.exit_code == 0, result.stderr
    (line,) = result.stdout.splitlines()
    return json.loads(line)


def refused(*arguments: object, code: int = 2) -> str:
    """The one line on standard error of a command that fails."""
    result = invoke(*arguments)
    assert result.exit_code == code, result.stderr
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    return line.removeprefix("scisuite: ")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with tiny.bif, its network given Xray=dark, the same without names, and both reduced; read only."""
    folder = tmp_path_factory.mktemp("crn")
    (folder / "tiny.bif").write_text(BIF)
    report("compile", folder / "tiny.bif", "--evidence", "Xray=dark")
    report("reduce", folder / "tiny.xml", "-o", folder / "small.xml", "--keep", "Cancer")
    without_names(folder / "tiny.xml", folder / "anonymous.xml")
    return folder


def without_names(source: Path, target: Path) -> None:
    from scisuite.solvers.crn_reduce.sbml import from_sbml, to_sbml

    shuffled, _ = from_sbml(source).anonymous(generator(0, "shuffle"))
    target.write_text(re.sub("<annotation>.*?</annotation>", "", to_sbml(shuffled), flags=re.DOTALL))


def test_info(made):
    told = report("info", made / "tiny.bif")
    assert [variable["name"] for variable in told["variables"]] == ["Smoker", "Cancer", "Xray", "Stage"]
    assert (told["factors"], told["components"], told["largest_table"]) == (4, 1, 6)
    compiled = report("compile", made / "tiny.bif", "-o", made / "full.xml", "--k-rec", "0.01", "--no-check")
    assert {key: told[key] for key in ("species", "reactions", "max_molecularity")} == {
        key: compiled[key] for key in ("species", "reactions", "max_molecularity")
    }
    assert compiled["attempts"] == [{"k_rec": 0.01, "extinct": None, "pool": None, "least_assigned": None}]
    assert "Stage            1   I, II, none" in invoke("info", made / "tiny.bif").stdout


def test_compile(made, tmp_path):
    target = tmp_path / "new" / "net.xml"
    command = ("compile", made / "tiny.bif", "-o", target, "--evidence", "Xray=dark", "--evidence", "Smoker=0")
    told = report(*command)
    assert (told["evidence"], told["variables"], told["k_rec"]) == ({"Xray": "dark", "Smoker": 0}, 2, 0.1)
    assert told["attempts"][0]["extinct"] == 0
    assert told["attempts"][0]["least_assigned"] > 0.1
    first = target.read_bytes()
    assert [path.name for path in target.parent.iterdir()] == ["net.xml"]
    shown = invoke(*command, "--force")
    assert shown.stdout.startswith(f"{made / 'tiny.bif'} → {target}\n")
    assert "Xray=dark, Smoker=0" in shown.stdout
    assert shown.stderr == f"wrote {target}\n"
    assert target.read_bytes() == first


def test_check(made):
    told = report("check", made / "tiny.xml", "--steady")
    assert told["annotated"]
    assert told["variables"][1] == {
        "name": "Cancer",
        "values": ["yes", "no"],
        "degree": 3,
        "species": ["B_Cancer_0", "B_Cancer_1"],
    }
    assert told["factors"][3] == {"name": "p_Stage", "scope": ["Stage", "Cancer"], "shape": [3, 2], "zeros": 3}
    assert told["rates"] == {"k_sum": 1.0, "k_prod": 1.0, "k_rec": 0.1, "total": 1.0}
    assert told["steady"]["converged"]
    assert (told["steady"]["extinct"], told["ambiguities"], told["warnings"]) == ([], [], [])
    shown = invoke("check", made / "tiny.xml").stdout
    assert shown.startswith(f"{made / 'tiny.xml'} is a Napp–Adams network\n")
    assert "I, II, none" in shown
    assert "extinct pools" not in shown


def test_reduce(made, tmp_path):
    target = tmp_path / "r.xml"
    told = report("reduce", made / "tiny.xml", "-o", target, "--keep", "Cancer")
    assert told["variables_left"] == ["Cancer"]
    assert told["after"] == {
        "variables": 1,
        "factors": 1,
        "table_entries": 2,
        "species": 9,
        "reactions": 12,
        "max_molecularity": 2,
    }
    assert told["before"]["reactions"] > 40
    assert told["moves"]["leaf"] == 2
    assert told["verified"]["max_difference"] < 1e-12
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.cert.json", "r.xml"]
    command = ("reduce", made / "tiny.xml", "-o", target, "--keep", "Cancer", "--force")
    shown = invoke(*command, "--moves", "leaf,unary", "--certificate", tmp_path / "proof.json")
    assert shown.stderr == f"wrote {target} and {tmp_path / 'proof.json'}\n"
    last = shown.stdout.splitlines()[-1]
    expected = rf"{re.escape(str(made / 'tiny.xml'))}   \d\d reactions → {re.escape(str(target))}   12   "
    expected += (
        rf"beliefs of Cancer unchanged \(max difference (\S+), certificate {re.escape(str(tmp_path))}/proof.json\)"
    )
    assert float(re.fullmatch(expected, last)[1]) < 1e-12
    again = ("reduce", made / "tiny.xml", "-o", target, "--force", "--no-verify")
    assert len(report(*again)["variables_left"]) == 1
    assert report(*again, "--keep", "B_Stage_2,Smoker")["keep"] == ["Stage", "Smoker"]


def test_reduce_unverified(made, tmp_path):
    command = ("reduce", made / "tiny.xml", "-o", tmp_path / "r.xml", "--no-verify", "--force")
    told = report(*command, "--k-rec", "0.05")
    assert (told["verified"], told["k_rec"], told["k_rec_before"]) == (None, 0.05, 0.1)
    assert invoke(*command).stdout.endswith(f"not verified (certificate {tmp_path / 'r.cert.json'})\n")
    assert report(*command, "--k-rec", "auto")["attempts"][0]["extinct"] == 0


def test_verify(made, tmp_path):
    told = report("verify", made / "tiny.xml", made / "small.cert.json", made / "small.xml")
    assert told["holds"]
    assert told["keep"] == ["Cancer"]
    assert told["reactions_after"] == 12
    assert list(told["seconds"]) == ["read before", "recover before", "read after", "recover after", "verify"]
    assert "small.cert.json holds" in invoke(
        "verify", made / "tiny.xml", made / "small.cert.json", made / "small.xml"
    ).stdout.replace(str(made) + "/", "")


def test_verify_sees_what_was_changed(made, tmp_path):
    forged, text = tmp_path / "forged.xml", (made / "small.xml").read_text()
    entry = next(rate for rate in re.findall('id="k" value="([^"]*)"', text) if rate not in ("0.1", "1.0"))
    forged.write_text(text.replace(f'"{entry}"', '"0.123"'))
    line = refused("verify", made / "tiny.xml", made / "small.cert.json", forged)
    assert line.startswith(f"{made / 'small.cert.json'} does not lead from {made / 'tiny.xml'} to {forged}: ")
    broken = tmp_path / "broken.cert.json"
    broken.write_text((made / "small.cert.json").read_text().replace('"kind": "leaf"', '"kind": "guess"', 1))
    assert "guess" in refused("verify", made / "tiny.xml", broken, made / "small.xml")
    assert refused("verify", made / "tiny.xml", made / "tiny.xml", made / "small.xml").startswith(
        f"{made / 'tiny.xml'}: the certificate is no JSON"
    )
    slower = tmp_path / "slower.xml"
    report("reduce", made / "tiny.xml", "-o", slower, "--keep", "Cancer", "--k-rec", "0.02", "--no-verify")
    told = report("verify", made / "tiny.xml", slower.with_suffix(".cert.json"), slower)
    assert told["warnings"] == [f"k_rec is 0.1 in {made / 'tiny.xml'} and 0.02 in {slower}"]


def test_verify_sees_that_values_are_called_otherwise(made, tmp_path):
    swapped, text = tmp_path / "swapped.xml", (made / "small.xml").read_text()
    states = '<crn:state name="yes"/><crn:state name="no"/>'
    assert states in text
    swapped.write_text(text.replace(states, '<crn:state name="no"/><crn:state name="yes"/>'))
    line = refused("verify", made / "tiny.xml", made / "small.cert.json", swapped)
    assert line == (
        f"{made / 'small.cert.json'} does not lead from {made / 'tiny.xml'} to {swapped}: the moves lead to the values "
        "yes, no of variable 'Cancer', not no, yes"
    )


def test_verify_asks_no_names_of_values_of_a_network_without_names(made, tmp_path):
    before, after = tmp_path / "before.xml", tmp_path / "after.xml"
    before.write_text(re.sub("<annotation>.*?</annotation>", "", (made / "small.xml").read_text(), flags=re.DOTALL))
    report("reduce", before, "-o", after, "--no-verify")
    proof = after.with_suffix(".cert.json")
    assert report("verify", before, proof, after)["holds"]
    after.write_text(re.sub("<annotation>.*?</annotation>", "", after.read_text(), flags=re.DOTALL))
    assert report("verify", before, proof, after)["holds"]


def test_verify_keep(made, tmp_path):
    paths = made / "tiny.xml", made / "small.cert.json", made / "small.xml"
    assert report("verify", *paths, "--keep", "Cancer")["keep"] == ["Cancer"]
    assert report("verify", *paths, "--keep", "B_Cancer_1")["holds"]
    line = refused("verify", *paths, "--keep", "Cancer,Smoker")
    assert line.endswith(": the certificate does not keep 'Smoker'; it keeps Cancer")
    shortened = tmp_path / "shortened.cert.json"
    shortened.write_text(json.dumps(json.loads(paths[1].read_text()) | {"keep": []}))
    assert report("verify", paths[0], shortened, paths[2])["keep"] == []
    line = refused("verify", paths[0], shortened, paths[2], "--keep", "Cancer")
    assert line.endswith(": the certificate does not keep 'Cancer'; it keeps nothing")
    assert refused("verify", *paths, "--keep", "Cancr").startswith("--keep: there is no variable 'Cancr'")


def test_simulate(made, tmp_path):
    table = tmp_path / "beliefs.csv"
    told = report("simulate", made / "tiny.xml", "--compare", "--keep", "Cancer,Stage", "--csv", table)
    assert list(told["beliefs"]) == ["Cancer", "Stage"]
    assert told["beliefs"]["Cancer"]["yes"] == pytest.approx(CANCER_GIVEN_DARK, abs=1e-8)
    assert told["beliefs"]["Stage"]["none"] == pytest.approx(1 - CANCER_GIVEN_DARK, abs=1e-8)
    assert (told["extinct"], told["warnings"]) == ([], [])
    assert told["drift"] < 1e-9
    assert told["belief_propagation"]["max_difference"] < 1e-8
    rows = list(csv.reader(table.open()))
    assert rows[0] == ["time", "Cancer=yes", "Cancer=no", "Stage=I", "Stage=II", "Stage=none"]
    assert [float(x) for x in rows[1][:3]] == [0.0, 0.5, 0.5]
    assert float(rows[-1][0]) == 3e4
    assert float(rows[-1][1]) == told["beliefs"]["Cancer"]["yes"]
    small = invoke("simulate", made / "small.xml", "--compare")
    assert f"Cancer     yes {CANCER_GIVEN_DARK:.4f}  no {1 - CANCER_GIVEN_DARK:.4f}" in small.stdout
    assert "rounds, largest difference" in small.stdout


@pytest.mark.own_process
def test_simulate_with_roadrunner(made):
    pytest.importorskip("roadrunner")
    told = report("simulate", made / "small.xml", "--method", "roadrunner")
    assert told["beliefs"]["Cancer"]["yes"] == pytest.approx(CANCER_GIVEN_DARK, abs=1e-8)


def test_too_short_a_simulation_is_said(made):
    result = invoke("simulate", made / "small.xml", "--time", "3")
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: the network is not at rest at time 3: species still change by up to ")


def test_extinction_is_said(made, tmp_path):
    target = tmp_path / "dark.xml"
    result = invoke("compile", made / "tiny.bif", "-o", target, "--k-rec", "1e5")
    assert result.exit_code == 0
    assert re.search(
        "warning: message extinction: the pools .* and .* more have lost all of their values", result.stderr
    )
    assert "extinct, first of all" in result.stdout
    told = report("simulate", target)
    assert len(told["extinct"]) > 3
    assert told["warnings"][0].startswith("message extinction: ")
    assert 0 <= told["least_assigned"] < 1e-9
    assert report("check", target, "--steady")["steady"]["extinct"]


def test_the_search_for_a_rate_says_what_was_extinct(tmp_path):
    n = 4
    pairs = [(i, j) for i in range(n) for j in range(i)]
    scopes = "\n".join(f"2 {i} {j}" for i, j in pairs)
    tables = "\n".join("4 .05 .03 .02 .06" for _ in pairs)
    (tmp_path / "full.uai").write_text(f"MARKOV\n{n}\n{'2 ' * n}\n{len(pairs)}\n{scopes}\n{tables}\n")
    told = report("compile", tmp_path / "full.uai")
    assert told["output"] == str(tmp_path / "full.xml")
    extinct = [attempt["extinct"] for attempt in told["attempts"]]
    assert len(extinct) > 1
    assert all(extinct[:-1])
    assert extinct[-1] == 0
    assert told["k_rec"] == pytest.approx(0.1 / 3 ** (len(extinct) - 1))


def test_uai_with_evidence_file_and_a_variable_of_one_value(tmp_path):
    (tmp_path / "net.uai").write_text("MARKOV\n3\n2 2 1\n2\n2 0 1\n2 1 2\n4 1 2 3 4\n2 5 6\n")
    (tmp_path / "net.uai.evid").write_text("1 0 1\n")
    told = report("compile", tmp_path / "net.uai", "--evidence", tmp_path / "net.uai.evid")
    assert (told["evidence"], told["one_valued"], told["variables"]) == ({"x0": 1}, ["x2"], 1)
    both = ["--evidence", tmp_path / "net.uai.evid", "--evidence", "x0=0", "--force"]
    assert refused("compile", tmp_path / "net.uai", *both) == "--evidence gives x0 twice"
    belief = report("simulate", tmp_path / "net.xml")["beliefs"]["x1"]
    assert belief == pytest.approx({"0": 15 / 39, "1": 24 / 39}, abs=1e-8)


def test_a_bundled_network(tmp_path, monkeypatch):
    pytest.importorskip("pgmpy")
    monkeypatch.chdir(tmp_path)
    assert report("compile", "factor_graphs/cancer", "--no-check", "--k-rec", ".1")["output"] == "cancer.xml"
    assert refused("compile", "cancr") == "there is no file and no bundled network 'cancr'; did you mean 'cancer'?"


def test_a_model_without_names(made, tmp_path):
    """Its variables go by the species of their belief pools, which its reduced network still tells."""
    model, target = made / "anonymous.xml", tmp_path / "r.xml"
    told = report("check", model)
    assert not told["annotated"]
    stage = next(variable for variable in told["variables"] if len(variable["species"]) == 3)
    assert stage["values"] == stage["species"]
    species = stage["species"][1]
    reduced = report("reduce", model, "-o", target, "--keep", species)
    assert reduced["keep"] == [stage["name"]]
    assert reduced["species_of_kept"][stage["name"]]["before"] == stage["species"]
    assert reduced["verified"]["beliefs"]
    assert report("verify", model, target.with_suffix(".cert.json"), target)["holds"]
    before = report("simulate", model, "--keep", species)["beliefs"][stage["name"]]
    after = report("simulate", target)["beliefs"][stage["name"]]
    assert after == pytest.approx(before, abs=1e-8)
    assert sorted(after.values())[-1] == pytest.approx(1 - CANCER_GIVEN_DARK, abs=1e-8)
    shown = invoke("reduce", model, "-o", target, "--keep", stage["name"], "--force", "--no-verify")
    assert "species before" in shown.stdout
    assert ", ".join(stage["species"]) in shown.stdout
    line = refused("reduce", model, "-o", tmp_path / "n.xml", "--keep", "x999")
    assert line.startswith(f"--keep: there is no species 'x999', and {model} names no variables; ")
    line = refused("reduce", model, "-o", tmp_path / "n.xml", "--keep", species_of_a_message(model))
    assert re.fullmatch(r"--keep: x\d+ is a species of the pool sum f\d+→v\d+, not of a belief's; .* lists those", line)


def species_of_a_message(model: Path) -> str:
    from scisuite.solvers.crn_reduce.network import SUM
    from scisuite.solvers.crn_reduce.recovery import recover_factor_graph
    from scisuite.solvers.crn_reduce.sbml import from_sbml

    crn = from_sbml(model)
    pools = recover_factor_graph(crn).pools
    return next(name for name, pool in zip(crn.species, pools.pool_of, strict=True) if pools.keys[pool].kind == SUM)


BAD_COMPILES = [
    (["--evidence", "Xry=dark"], "--evidence: there is no variable 'Xry'; did you mean 'Xray'?"),
    (["--evidence", "Xray=grey"], "Xray has no value 'grey'; it has dark, clear"),
    (["--evidence", "Xray=2"], "Xray has values 0 to 1, not 2"),
    (["--evidence", "Xray"], "--evidence takes variable=value, not 'Xray'"),
    (["--evidence", "Xray=dark,Xray=clear"], "--evidence gives Xray twice"),
    (
        ["--evidence", "Cancer=no,Stage=I"],
        "the evidence is impossible: factor 'p_Stage' is zero at Stage=I, Cancer=no",
    ),
    (["--evidence", "no.evid"], "no such file: no.evid"),
    (["--k-rec", "0"], "--k-rec takes auto or a number above zero, not '0'"),
    (["--k-rec", "slow"], "--k-rec takes auto or a number above zero, not 'slow'"),
    (["--no-check"], "--k-rec auto looks for extinct pools; give it a number with --no-check"),
    (
        ["--evidence", "Cancer=no,Stage=none,Xray=dark,Smoker=no"],
        "there is nothing to compile: all variables are observed",
    ),
]


@pytest.mark.parametrize(("options", "message"), BAD_COMPILES)
def test_bad_compiles(options, message, made, tmp_path):
    assert refused("compile", made / "tiny.bif", "-o", tmp_path / "no.xml", *options) == message
    assert list(tmp_path.iterdir()) == []


def test_inputs_of_compile(made, tmp_path):
    assert refused("compile", tmp_path / "no.bif") == f"no such file: {tmp_path / 'no.bif'}"
    (tmp_path / "net.txt").write_text(BIF)
    known = "its name must end in .bif, .bif.gz or .uai"
    assert refused("compile", tmp_path / "net.txt") == f"{tmp_path / 'net.txt'} is of no known kind: {known}"
    broken = tmp_path / "broken.bif"
    broken.write_text(BIF.replace("(yes) 0.9, 0.1;", "(yes) 0.9, x;"))
    assert refused("compile", broken).startswith(f"{broken}, line 9: ")
    assert refused("info", broken).startswith(f"{broken}, line 9: ")
    assert not (tmp_path / "broken.xml").exists()
    impossible = BIF.replace("table 0.3, 0.7", "table 0.0, 1.0").replace("(no) 0.02, 0.98", "(no) 0.0, 1.0")
    (tmp_path / "sure.bif").write_text(impossible)
    line = refused("compile", tmp_path / "sure.bif", "--evidence", "Stage=I")
    assert line == "the evidence is impossible: no assignment has a weight above zero given Stage=I"


def test_outputs_that_exist_stay_as_they_are(made, tmp_path):
    target = tmp_path / "there.xml"
    target.write_text("mine")
    message = f"{target} exists; --force overwrites it"
    assert refused("compile", made / "tiny.bif", "-o", target) == message
    assert refused("reduce", made / "tiny.xml", "-o", target) == message
    assert refused("simulate", made / "small.xml", "--csv", target) == message
    assert refused("reduce", made / "tiny.xml", "-o", tmp_path / "new.xml", "--certificate", target) == message
    assert target.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [target]
    model = made / "tiny.xml"
    assert refused("reduce", model, "-o", model, "--force") == f"{model} is the input; give another name for the output"
    line = refused("reduce", model, "-o", tmp_path)
    assert line == f"{tmp_path} is a folder; give the file that is to be written"
    line = refused("reduce", model, "-o", tmp_path / "same.xml", "--certificate", tmp_path / "same.xml")
    assert line == f"{tmp_path / 'same.xml'} cannot be both the network and its certificate"
    assert refused("compile", made / "tiny.bif", "-o", target / "x.xml") == (
        f"cannot write {target / 'x.xml'}: {target} is not a folder"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--keep", "Cancr"], "--keep: there is no variable 'Cancr'; did you mean 'Cancer'?"),
        (
            ["--keep", "S_p_Xray_Cancer_0"],
            "--keep: S_p_Xray_Cancer_0 is a species of the pool sum p_Xray→Cancer, not of",
        ),
        (["--moves", "leaves"], "--moves: there is no move 'leaves'; did you mean 'leaf'?"),
        (["--k-rec", "-1"], "--k-rec takes same, auto or a number above zero, not '-1'"),
        (["--units", "convert"], "--units takes refuse or ignore, not 'convert'"),
    ],
)
def test_bad_reductions(options, message, made, tmp_path):
    assert refused("reduce", made / "tiny.xml", "-o", tmp_path / "no.xml", *options).startswith(message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--time", "inf"], "--time must be a finite number above zero, not inf"),
        (["--time", "0"], "--time must be a finite number above zero, not 0"),
        (["--method", "euler"], "--method takes bdf or roadrunner, not 'euler'"),
        (["--keep", "Cancr"], "--keep: there is no variable 'Cancr'; did you mean 'Cancer'?"),
    ],
)
def test_bad_simulations(options, message, made):
    assert refused("simulate", made / "tiny.xml", *options) == message


def edited(source: Path, target: Path, pattern: str, replacement: str) -> Path:
    text, count = re.subn(pattern, replacement, source.read_text(), count=1, flags=re.DOTALL)
    assert count == 1
    target.write_text(text)
    return target


def test_models_that_are_refused(made, tmp_path):
    model, target = made / "anonymous.xml", tmp_path / "edited.xml"
    edited(
        model,
        target,
        "</model>",
        "<listOfEvents><event id='dose' useValuesFromTriggerTime='true'/></listOfEvents></model>",
    )
    assert re.fullmatch(
        rf"{re.escape(str(target))}: event 'dose' \(line \d+\): events are not supported", refused("check", target)
    )
    edited(model, target, "</listOfReactions>", "")
    assert re.match(rf"{re.escape(str(target))}: not XML: line \d+: mismatched tag", refused("check", target))
    edited(model, target, r'<reaction id="r3".*?</reaction>', "")
    line = refused("check", target)
    assert line.startswith(f"{target}: ")
    assert re.search(r"\bx\d+\b", line), line
    assert refused("check", target) == refused("simulate", target) == line
    assert refused("reduce", target, "-o", tmp_path / "r.xml") == line
    assert not (tmp_path / "r.xml").exists()
    assert refused("check", tmp_path / "no.xml") == f"no such file: {tmp_path / 'no.xml'}"
    assert refused("check", tmp_path) == f"{tmp_path} is a folder, not a file"
    assert refused("verify", model, tmp_path / "no.json", model) == f"no such file: {tmp_path / 'no.json'}"


def test_units_can_be_ignored(made, tmp_path):
    scaled = (
        '<listOfUnitDefinitions><unitDefinition id="nM"><listOfUnits><unit kind="mole" exponent="1" scale="-9" '
        'multiplier="1"/></listOfUnits></unitDefinition></listOfUnitDefinitions><listOfCompartments>'
    )
    target = edited(made / "tiny.xml", tmp_path / "units.xml", "<listOfCompartments>", scaled)
    assert "'nM'" in refused("check", target)
    assert report("check", target, "--units", "ignore")["annotated"]


def test_pools_of_different_totals_are_said(made, tmp_path):
    target = edited(made / "tiny.xml", tmp_path / "odd.xml", 'initialConcentration="0.5"', 'initialConcentration="1.5"')
    assert report("check", target)["warnings"] == [f"the pools of {target} have different totals, from 1 to 2"]
    assert report("simulate", target)["warnings"] == [f"the pools of {target} have different totals, from 1 to 2"]
    told = report("reduce", target, "-o", tmp_path / "r.xml", "--no-verify")
    assert told["warnings"] == [
        f"the pools of {target} have different totals, from 1 to 2; those of {tmp_path / 'r.xml'} all hold 1"
    ]


def test_nothing_is_written_unless_it_holds(made, tmp_path, monkeypatch):
    from scisuite.envs.crn_reduce import verification
    from scisuite.solvers.crn_reduce import reduction

    command = ("reduce", made / "tiny.xml", "-o", tmp_path / "r.xml")

    def broken(*_: object) -> None:
        raise reduction.CertificateError("move 3 is wrong")

    monkeypatch.setattr(reduction, "verify_certificate", broken)
    assert refused(*command, code=1) == "the certificate does not hold, and nothing was written: move 3 is wrong"
    monkeypatch.undo()
    moved = verification.Verification(False, True, "a surviving belief moved by 0.1", 0.1, 4)
    monkeypatch.setattr(verification, "verify_reduction", lambda *_: moved)
    line = refused(*command, code=1)
    assert line == "the reduction is not exact, and nothing was written: a surviving belief moved by 0.1"
    assert list(tmp_path.iterdir()) == []
    reason = "no run of belief propagation converged on the full graph"
    undecided = verification.Verification(False, False, reason, None, 0)
    monkeypatch.setattr(verification, "verify_reduction", lambda *_: undecided)
    last = invoke(*command, "--keep", "Cancer").stdout.splitlines()[-1]
    assert last.endswith(f"beliefs of Cancer not compared: {reason} (certificate {tmp_path / 'r.cert.json'} holds)")


def test_belief_propagation_that_does_not_converge_is_no_answer(made, monkeypatch):
    from scisuite.solvers.crn_reduce import belief_propagation

    run = belief_propagation.bp
    monkeypatch.setattr(belief_propagation, "bp", lambda graph: run(graph, max_iter=1))
    result = invoke("simulate", made / "tiny.xml", "--compare")
    told = " ".join(result.stdout.split())  # a narrow terminal folds it
    assert re.search(r"belief propagation does not converge \(residual [\d.]+ after 1 rounds\)", told)
    assert "from BP" not in result.stdout
    assert report("simulate", made / "tiny.xml", "--compare")["belief_propagation"]["differences"] is None


def test_interrupted(made, tmp_path, monkeypatch):
    from scisuite.solvers.crn_reduce import reduction

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reduction, "reduce", interrupt)
    assert refused("reduce", made / "tiny.xml", "-o", tmp_path / "r.xml", code=130) == "interrupted"
    assert list(tmp_path.iterdir()) == []


def test_without_libsbml(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "libsbml", None)
    line = refused("check", made / "tiny.xml")
    assert line == 'reading SBML needs libsbml; install it with: pip install "scisuite[crn-reduce]"'


def test_help_and_usage():
    for arguments in ((), ("--help",)):
        result = invoke(*arguments)
        assert result.exit_code == 0
        for command in ("info", "compile", "check", "reduce", "verify", "simulate"):
            assert f" {command} " in result.stdout
    line = refused("redcue")
    assert line.startswith("scisuite crn: No such command 'redcue'.")
    line = refused("reduce", "model.xml")
    assert line == "scisuite crn reduce: Missing option '-o' / '--output' (see 'scisuite crn reduce --help')"


def test_numbers_of_a_report_are_plain(made):
    """No NumPy number hides in a report, where ``json`` would not know it."""
    from scisuite.bench.crn.checking import check

    told = check(made / "tiny.xml", steady=True, units="refuse")
    assert not [key for key, value in told.items() if isinstance(value, np.generic)]
    with pytest.raises(InvalidInput, match="no such file"):
        check(Path("nowhere.xml"), steady=False, units="refuse")


@pytest.mark.parametrize(("empty", "told"), [(3, "the pool sum p_Smoker→Smoker of "), (999, " more of ")])
def test_empty_pools_are_told_by_every_command(made, tmp_path, recwarn, empty, told):
    text = re.sub(
        'initialConcentration="[^"]*"', 'initialConcentration="0"', (made / "tiny.xml").read_text(), count=empty
    )
    model = tmp_path / "empty.xml"
    model.write_text(text)
    checked = report("check", model, "--steady")
    simulated = report("simulate", model, "--time", "100")
    reduced = report("reduce", model, "-o", tmp_path / "small.xml")
    for answer in (checked, simulated, reduced):
        assert told in answer["warnings"][0]
        assert "empty, and will be" in answer["warnings"][0]
    assert checked["pool_totals"] == [0.0, 1.0 if empty == 3 else 0.0]
    assert (simulated["least_assigned"] is None) == (empty > 3)
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]
    assert "--time must be a finite number" in refused("simulate", model, "--time", "inf")


@pytest.mark.parametrize("keep", ["", " ", ","])
def test_an_empty_keep_is_refused(keep, made, tmp_path):
    for options in (("reduce", made / "tiny.xml", "-o", tmp_path / "r.xml"), ("simulate", made / "tiny.xml")):
        assert refused(*options, "--keep", keep) == f"--keep names no variable: {keep!r}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("scale", ["e-20", "e16"])
def test_the_scale_of_tables_changes_nothing(scale, tmp_path):
    """A UAI file's potentials are not normalised, and a chain far from 1 would not survive, or not be integrable."""
    for name, exponent in (("plain", ""), ("far", scale)):
        tables = "\n".join(
            f"4 {' '.join(x + exponent for x in row)}" for row in (("2", "1", "1", "3"), ("4", "1", "1", "2"))
        )
        (tmp_path / f"{name}.uai").write_text(f"MARKOV 3 2 2 2 2  2 0 1  2 1 2 {tables}")
    plain, far = (report("compile", tmp_path / f"{name}.uai") for name in ("plain", "far"))
    assert (plain["notes"], plain["scaled_factors"]) == ([], [])
    assert len(far["scaled_factors"]) == 2
    assert far["notes"] == [
        "the tables of 2 factors were far from 1, and scaled by powers of two; beliefs are the same"
    ]
    beliefs = [report("simulate", tmp_path / f"{name}.xml", "--time", "3000")["beliefs"] for name in ("plain", "far")]
    for variable, belief in beliefs[0].items():
        assert list(beliefs[1][variable].values()) == pytest.approx(list(belief.values()), abs=1e-8)
    shown = invoke("compile", tmp_path / "far.uai", "--force")
    assert f"note: {far['notes'][0]}" in shown.stderr


def test_an_annotation_of_another_version_is_told(made, tmp_path):
    text = (made / "tiny.xml").read_text().replace("urn:scisuite:crn:1", "urn:scisuite:crn:7")
    model = tmp_path / "later.xml"
    model.write_text(text)
    told = f"{model}: the annotation urn:scisuite:crn:7 is not read, urn:scisuite:crn:1 would be; "
    for answer in (
        report("check", model),
        report("simulate", model, "--time", "3000"),
        report("reduce", model, "-o", tmp_path / "r.xml", "--no-verify"),
    ):
        assert answer["warnings"][0] == f"{told}names of variables and values are lost"


def test_refusals_speak_of_options_and_of_compressed_files(made, tmp_path):
    packed = tmp_path / "tiny.xml.gz"
    packed.write_bytes(gzip.compress((made / "tiny.xml").read_bytes()))
    assert refused("check", packed).endswith("is compressed by gzip; unpack it first")
    units = '<listOfUnitDefinitions><unitDefinition id="nM"><listOfUnits><unit kind="mole" exponent="1" scale="-9" \
multiplier="1"/></listOfUnits></unitDefinition></listOfUnitDefinitions><listOfCompartments>'
    model = edited(made / "tiny.xml", tmp_path / "units.xml", "<listOfCompartments>", units)
    assert refused("check", model).endswith("; --units ignore takes them as they stand")
