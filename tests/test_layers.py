"""The house: imports go down, papers stand alone, and the cheap imports are cheap."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("core", "scenarios", "solvers", "envs", "agents", "bench")
HEAVY = ("torch", "botorch", "gpytorch", "transformers", "networkx", "scipy.sparse", "pandas", "matplotlib", "ray")


def run_python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_linter_keeps_every_contract() -> None:
    pytest.importorskip("importlinter")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def slugs() -> set[str]:
    """Papers, by their registration files."""
    found = {p.parent.name for pattern in ("solvers/*/solver.toml", "envs/*/env.toml") for p in ROOT.glob(pattern)}
    return found | {p.stem for p in ROOT.glob("bench/experiments/*.toml")}


def paper_of(module: str) -> str | None:
    """The slug that a module belongs to: the part behind the folder, or behind ``bench.experiments``."""
    parts = module.split(".")[2:]
    if parts[:1] in (["experiments"], ["commands"]):
        parts = parts[1:]
    return parts[0] if parts and parts[0] in slugs() else None


def test_no_paper_imports_another() -> None:
    grimp = pytest.importorskip("grimp")
    graph = grimp.build_graph(*(f"scisuite.{folder}" for folder in FOLDERS), cache_dir=None)
    papers = {module: paper_of(module) for module in graph.modules}
    assert {slug for slug in papers.values() if slug} == slugs()
    crossings = [
        f"{importer} -> {imported}"
        for importer, slug in papers.items()
        if slug
        for imported in graph.find_modules_directly_imported_by(importer)
        if papers[imported] not in (None, slug)
    ]
    assert crossings == []


@pytest.mark.parametrize("module", ["core", "scenarios", "envs", "agents", "bench", "bench.cli"])
def test_heavy_packages_stay_out(module: str) -> None:
    program = f"import sys, json, scisuite.{module}; print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))"
    assert json.loads(run_python(program)) == []


def test_help_stays_light() -> None:
    program = (
        "import sys, json, contextlib, io\n"
        "sys.argv = ['scisuite', '--help']\n"
        "from scisuite.bench.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main()\n"
        f"print(json.dumps([m for m in {HEAVY!r} if m in sys.modules]))\n"
    )
    assert json.loads(run_python(program)) == []


def test_importing_environments_registers_and_costs_little() -> None:
    """Importing scisuite.envs takes at most 1.5 times as long as gymnasium and numpy alone, measured in pairs."""
    timed = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    baseline, ours = timed.format("gymnasium, numpy"), timed.format("scisuite.envs")
    run_python(ours), run_python(baseline)
    ratios = []
    for _ in range(7):
        before = float(run_python(baseline))
        ratios.append(float(run_python(ours)) / before)
    # The machine is shared: the median of pairs shrugs off a busy moment, and the best pair shows what the code costs.
    assert min(statistics.median(ratios), min(ratios) * 1.2) <= 1.5, ratios
    program = "import gymnasium, scisuite.envs; print(*(i for i in gymnasium.registry if i.startswith('sci/')))"
    assert "sci/LABO-v0" in run_python(program).split()


def test_every_folder_is_typed_and_nothing_lies_at_the_namespace_root() -> None:
    assert all((ROOT / folder / "py.typed").is_file() for folder in FOLDERS)
    assert not (ROOT / "scisuite").exists()
    assert "utils.py" not in {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
