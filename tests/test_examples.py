"""Every script in ``examples/`` runs, at its tiny size where it has one."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
SLOW = {"rllib_ppo", "rl_zoo"}


def absent_package(errors: str) -> str | None:
    """The package that an example failed for, if it is indeed not installed here."""
    for name in re.findall(r"No module named '?(\w+)", errors):
        if name != "scisuite" and find_spec(name) is None:
            return f"needs {name}"
    refused = re.search(r"(?m)^(?:.*MissingDependency: )?(.*(?:install|fetch) it with: .*)", errors)
    return refused.group(1) if refused else None


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in SLOW else ()) for path in EXAMPLES],
)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MINARI_DATASETS_PATH": str(tmp_path / "minari")}
    size = ["--tiny"] if "--tiny" in path.read_text(encoding="utf-8") else []
    answer = subprocess.run(
        [sys.executable, str(path), *size],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if answer.returncode != 0 and (reason := absent_package(answer.stderr)):
        pytest.skip(reason)
    assert answer.returncode == 0, answer.stdout[-2000:] + answer.stderr[-4000:]
    assert answer.stdout.strip(), "an example prints what it shows"
    assert "Traceback" not in answer.stderr


def test_hindsight_without_its_library_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "stable_baselines3.py").write_text("raise ModuleNotFoundError('gone', name='stable_baselines3')\n")
    answer = subprocess.run(
        [sys.executable, str(FOLDER / "her_nav.py"), "--tiny"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.returncode == 1
    line = 'this example needs stable_baselines3; install it with: pip install "scisuite[rl]"'
    assert answer.stderr.strip() == line
    assert absent_package(answer.stderr) == line


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_it_shows_and_how_to_run_it(path: Path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert f"python examples/{path.name}" in text


def test_readme_lists_what_is_there() -> None:
    listed = set(re.findall(r"\(([\w.]+\.(?:py|yml))\)", (FOLDER / "README.md").read_text(encoding="utf-8")))
    assert listed == {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".yml")}
