"""``new``: what it lays works, and it lays nothing where it may not."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from typer.testing import CliRunner

from scisuite.bench import scaffold
from scisuite.bench.cli import app
from scisuite.bench.scaffold import lay
from scisuite.core import EngineFailure, InvalidInput, Paper

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("core", "scenarios", "solvers", "envs", "agents", "bench")
LONG = "A title with 'single' and \"double\" quotes, a back\\slash and ünïcode, too long for any one line of Python"

invoke = CliRunner().invoke


def skeleton(folder: Path) -> Path:
    """A checkout that holds nothing but its folders."""
    for name in lay.FOLDERS:
        (folder / name).mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nname = "scisuite"\n')
    return folder


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of this checkout with a new paper, and the environment in which it is imported."""
    root = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        link = root / "import" / "scisuite" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(root / name)
    (root / "tests").mkdir()
    (root / "docs").mkdir()
    shutil.copy(ROOT / "pyproject.toml", root)
    result = invoke(app, ["new", "heat_flow", "--title", LONG, "--path", str(root)])
    assert result.exit_code == 0, result.stderr
    assert result.stdout.split() == [place.format(slug="heat_flow") for place in lay.FILES]
    return root, {**os.environ, "PYTHONPATH": str(root / "import"), "OMP_NUM_THREADS": "1"}


def test_its_own_tests_pass(checkout):
    """The contract suites of the solver, the environment and the agents, and the smoke tier of the experiment.

    Without the part of ``check_env`` that starts worker processes and Stable-Baselines3: those take ten seconds.
    """
    root, environment = checkout
    test = root / "tests/envs/heat_flow/test_heat_flow_env.py"
    test.write_text(
        test.read_text().replace('check_env("sci/HeatFlow-v0")', 'check_env("sci/HeatFlow-v0", slow=False)')
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "tests"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    counts = re.search(r"(\d+) passed", done.stdout)
    assert counts is not None
    assert int(counts[1]) > 15
    assert "skipped" not in done.stdout


def test_it_is_listed_and_cited(checkout):
    root, environment = checkout
    script = (
        "import scisuite.core, pathlib, sys\n"
        "assert pathlib.Path(scisuite.core.__file__).is_relative_to(sys.argv[1]), scisuite.core.__file__\n"
        "from scisuite.bench.cli import app\n"
        "app(['list', '--json'], standalone_mode=False)\n"
        "app(['cite', 'sci/HeatFlow-v0'], standalone_mode=False)\n"
    )
    command = [sys.executable, "-c", script, str(root)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    for id in ("heat_flow", "sci/HeatFlow-v0", "heat_flow/random"):
        assert f'"id": "{id}"' in done.stdout
    assert "@inproceedings{heat_flow" in done.stdout


def test_imports_keep_the_house_rules(checkout):
    pytest.importorskip("importlinter")
    root, environment = checkout
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(("slug", "title"), [("x", None), ("a123456789_123456789", LONG), ("solver", "Solver")])
def test_what_is_laid_is_formatted_and_lints(slug, title, tmp_path):
    written = lay.lay_paper(slug, title=title, checkout=skeleton(tmp_path))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--no-cache", *[p for p in written if p.suffix == ".py"]]
        done = subprocess.run(ruff, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@settings(max_examples=30)
@given(title=st.text(min_size=1, max_size=300).filter(lambda t: t.strip().isprintable() and t.strip()))
def test_any_title_survives(title):
    files = scaffold.planned_files("paper_x", title)
    document = tomllib.loads(files["solvers/paper_x/solver.toml"])
    assert Paper.from_mapping("paper_x", document["paper"]).title == title.strip()
    tree = ast.parse(files["bench/experiments/paper_x.py"])
    titles = [k.value for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "title"]
    assert [ast.literal_eval(value) for value in titles] == [title.strip()]


def test_its_picture_is_what_its_script_draws(checkout, tmp_path):
    root, environment = checkout
    script = root / "docs/environments/heat_flow_png.py"
    shutil.copy(script, tmp_path)
    subprocess.run([sys.executable, tmp_path / script.name], env=environment, check=True, capture_output=True)
    drawn, shipped = tmp_path / "heat_flow.png", script.with_name("heat_flow.png")
    with Image.open(drawn) as one, Image.open(shipped) as other:
        # A last bit of the average may differ between builds of NumPy.
        assert np.abs(np.asarray(one, int) - np.asarray(other, int)).max() <= 1


def test_no_placeholder_is_left():
    files = scaffold.planned_files("paper_x", "A title")
    assert isinstance(files.pop("docs/environments/paper_x.png"), bytes)
    for place, text in files.items():
        assert "__SLUG__" not in text + place
        assert not set(text.split()) & {"__CLASS__", "__TITLE__", "__YEAR__"}
        assert "TODO" not in text
        assert text.endswith("\n")


def test_the_wheel_carries_the_templates():
    assert '"data/*"' in (ROOT / "setup.py").read_text()
    templates = {path.name for path in (ROOT / "bench/scaffold/data").iterdir()}
    assert templates == set(lay.FILES.values())


@pytest.mark.parametrize(
    "slug", ["", "Heat", "2heat", "heat-flow", "heat__flow", "heat_", "class", "match", "h" * 21, "é"]
)
def test_bad_slugs(slug, tmp_path):
    root = skeleton(tmp_path)
    result = invoke(app, ["new", "--path", str(root), "--", slug])
    assert result.exit_code == 2
    assert repr(slug) in result.stderr
    assert files_of(root) == ["pyproject.toml"]


@pytest.mark.parametrize("title", ["", "  ", "two\nlines", "a\ttab", "bell\a"])
def test_bad_titles(title, tmp_path):
    with pytest.raises(InvalidInput, match="title must be one line of text"):
        lay.lay_paper("heat", title=title, checkout=skeleton(tmp_path))
    assert files_of(tmp_path) == ["pyproject.toml"]


@pytest.mark.parametrize(
    "there",
    [
        "solvers/heat/notes.txt",
        "scenarios/heat.py",
        "agents/heat.toml",
        "docs/papers/heat.md",
        "bench/commands/heat.py",
    ],
)
def test_nothing_is_overwritten(there, tmp_path):
    root = skeleton(tmp_path)
    (root / there).parent.mkdir(parents=True, exist_ok=True)
    (root / there).write_text("mine")
    before = files_of(root)
    result = invoke(app, ["new", "heat", "--path", str(root)])
    assert result.exit_code == 2
    assert "heat" in result.stderr
    assert files_of(root) == before
    assert (root / there).read_text() == "mine"


@pytest.mark.parametrize("slug", ["labo", "base", "checks", "rollout", "training", "peers"])
def test_names_that_are_taken_here(slug):
    with pytest.raises(InvalidInput, match="is taken"):
        lay.lay_paper(slug, checkout=ROOT)


def test_an_environment_id_that_is_taken(tmp_path):
    root = skeleton(tmp_path)
    (root / "envs/other").mkdir()
    (root / "envs/other/env.toml").write_text('[[env]]\nid = "sci/Heat-v0"\n')
    with pytest.raises(InvalidInput, match="registers sci/Heat-v0"):
        lay.lay_paper("heat", checkout=root)


def test_another_folder_is_no_checkout(tmp_path):
    for content in (None, '[project]\nname = "other"\n', "not toml", '[project]\nname = "scisuite"\n'):
        if content is not None:
            (tmp_path / "pyproject.toml").write_text(content)
        with pytest.raises(InvalidInput, match="is not a source checkout of scisuite"):
            lay.lay_paper("heat", checkout=tmp_path)
    assert len(files_of(tmp_path)) == 1


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    root = skeleton(tmp_path)
    folders = sorted(path for path in root.rglob("*") if path.is_dir())
    write, calls = lay.write_atomic, []

    def full(path, text):
        calls.append(path)
        if len(calls) == 7:
            raise EngineFailure("cannot write: No space left on device")
        write(path, text)

    monkeypatch.setattr(lay, "write_atomic", full)
    with pytest.raises(EngineFailure, match="No space left"):
        lay.lay_paper("heat", checkout=root)
    assert files_of(root) == ["pyproject.toml"]
    assert sorted(path for path in root.rglob("*") if path.is_dir()) == folders
