"""The root of the command line: help, what is imported, exit codes, added commands."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import scisuite.bench.commands
from scisuite.bench.cli import app, extensions
from scisuite.bench.cli.failures import Terminated
from scisuite.core import EngineFailure, MissingDependency, __version__

COMMANDS = ("list", "info", "doctor", "run", "train", "eval", "bench", "report", "cite", "new")
HEAVY = ("torch", "botorch", "transformers", "pandas", "matplotlib", "stable_baselines3", "ray", "dask")

invoke = CliRunner().invoke


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


def test_help_names_every_command():
    for arguments in ([], ["--help"], ["-h"]):
        result = invoke(app, arguments)
        assert result.exit_code == 0
        for command in COMMANDS:
            assert f" {command} " in result.stdout, command


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command(command):
    result = invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert f"scisuite {command}" in result.stdout
    assert result.stderr == ""


def test_no_command_is_without_help_for_an_option():
    for name, command in get_command(app).commands.items():
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name} {parameter.name}"


def test_version():
    assert invoke(app, ["--version"]).stdout == f"scisuite {__version__}\n"


def test_help_and_list_import_nothing_heavy():
    script = (
        "import sys, json; from scisuite.bench.cli import app\n"
        "assert app(['--help'], standalone_mode=False) == 0\n"
        "early = sorted(sys.modules)\n"
        "assert app(['list', '--json'], standalone_mode=False) == 0\n"
        "print(json.dumps([early, sorted(sys.modules)]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    after_help, after_list = json.loads(lines(done.stdout)[-1])
    assert [name for name in HEAVY if name in after_list] == []
    assert [name for name in ("gymnasium", "scipy", "networkx", "joblib") if name in after_help] == []


def test_the_console_script_prints_json_only():
    script = Path(sys.executable).with_name("scisuite")
    done = subprocess.run([script, "list", "scenarios", "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "functions/quadratic2" in [json.loads(line)["id"] for line in lines(done.stdout)]
    done = subprocess.run([script, "list", "stars", "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "unknown kind 'stars'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["becnh"], "unknown command 'becnh'; did you mean 'bench'?"),
        (["list", "--nope"], "scisuite list: No such option: --nope"),
        (["--nope"], "No such option: --nope"),
        (["run"], "scisuite run: Missing argument 'ENV'"),
        (["bench", "--repeat"], "scisuite bench: Option '--repeat' requires an argument"),
        (["run", "labo", "--agent", "x", "--episodes", "0"], "scisuite run: Invalid value for '--episodes'"),
        (["info", "hartman6"], "did you mean 'functions/hartmann6'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, message):
    result = invoke(app, arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert len(lines(result.stderr)) == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (EngineFailure("the disk\n  is full"), 1, "scisuite: the disk is full"),
        (MissingDependency("it needs torch", "bo"), 2, 'install it with: pip install "scisuite[bo]"'),
        (ZeroDivisionError("by zero"), 1, "scisuite: unexpected ZeroDivisionError: by zero (--debug shows where)"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (KeyboardInterrupt("rows survive"), 130, "interrupted: rows survive"),
        (Terminated("rows survive"), 143, "terminated: rows survive"),
    ],
)
def test_exit_codes(monkeypatch, error, code, message):
    def fail():
        raise error

    monkeypatch.setattr("scisuite.bench.doctor.diagnose", fail)
    result = invoke(app, ["doctor"])
    assert result.exit_code == code
    assert result.stdout == ""
    assert len(lines(result.stderr)) == 1
    assert message in result.stderr


@pytest.mark.parametrize("arguments", [["--debug", "info", "nothing"], ["info", "nothing", "--debug"]])
def test_debug_prints_the_traceback(arguments):
    result = invoke(app, arguments)
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert lines(result.stderr)[-1].startswith("scisuite: nothing is called 'nothing'")


def test_debug_by_environment_variable():
    assert "Traceback" in invoke(app, ["info", "nothing"], env={"SCISUITE_DEBUG": "1"}).stderr
    assert "Traceback" not in invoke(app, ["info", "nothing"], env={"SCISUITE_DEBUG": "0"}).stderr


@pytest.fixture
def added(tmp_path, monkeypatch):
    """A folder of commands in the place of ``bench/commands/``."""
    files = {
        "greet_all": '"""Greets everyone.\n\nAt length."""\ndef command(name: str, loud: bool = False):\n'
        '    print(f"hello {name}" + "!" * loud)\n',
        "tools": '"""Two tools."""\nimport typer\napp = typer.Typer()\n'
        "@app.command()\ndef one():\n    print(1)\n@app.command()\ndef two():\n    raise typer.Exit(7)\n",
        "broken": '"""Is broken."""\nimport no_such_module\n',
        "empty": '"""Holds nothing."""\n',
        "bench": '"""Would take the place of bench."""\ndef command():\n    print("usurped")\n',
        "_private": "raise SystemExit\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    for name in [name for name in sys.modules if name.startswith("scisuite.bench.commands.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(extensions, "FOLDER", tmp_path)
    monkeypatch.setattr(scisuite.bench.commands, "__path__", [str(tmp_path)])
    extensions.find_extensions.cache_clear()
    yield tmp_path
    extensions.find_extensions.cache_clear()
    for name in [name for name in sys.modules if name.startswith("scisuite.bench.commands.")]:
        del sys.modules[name]


def test_added_commands_are_listed_unloaded(added):
    help = invoke(app, ["--help"]).stdout
    for shown in ("greet-all", "Greets everyone.", "tools", "Two tools.", "broken", "Is broken."):
        assert shown in help
    assert "At length" not in help
    assert "private" not in help
    assert not [name for name in sys.modules if name.startswith("scisuite.bench.commands.")]


def test_added_commands_run(added):
    assert invoke(app, ["greet-all", "you", "--loud"]).stdout == "hello you!\n"
    assert "scisuite greet-all" in invoke(app, ["greet-all", "--help"]).stdout
    assert invoke(app, ["tools", "one"]).stdout == "1\n"
    assert invoke(app, ["tools", "two"]).exit_code == 7
    wrong = invoke(app, ["tools", "three"])
    assert wrong.exit_code == 2
    assert len(lines(wrong.stderr)) == 1


def test_a_command_of_ours_cannot_be_replaced(added):
    result = invoke(app, ["bench"])
    assert result.exit_code == 2
    assert "usurped" not in result.stdout


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("broken", 1, "the command 'broken' cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("empty", 2, "the command 'empty' has neither app, a typer.Typer, nor command, a function"),
        ("gret-all", 2, "did you mean 'greet-all'"),
    ],
)
def test_added_commands_that_fail(added, name, code, message):
    result = invoke(app, [name])
    assert result.exit_code == code
    assert len(lines(result.stderr)) == 1
    assert message in result.stderr


def test_commands_of_other_distributions(added, monkeypatch):
    class Point:
        name = "shout"
        dist = type("dist", (), {"name": "loudly"})

        @staticmethod
        def load():
            return lambda word: print(word.upper())

    monkeypatch.setattr(extensions.metadata, "entry_points", lambda group: [Point] if group == extensions.GROUP else [])
    extensions.find_extensions.cache_clear()
    assert "added by loudly" in invoke(app, ["--help"]).stdout
    result = invoke(app, ["shout", "ho"])
    assert (result.exit_code, result.stdout) == (0, "HO\n")
