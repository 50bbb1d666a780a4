from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from scisuite.bench import sources
from scisuite.bench.plan import plan
from scisuite.bench.provenance import sources_hash
from scisuite.bench.sources import reached
from scisuite.core import InvalidInput


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small house of another name, laid out like ours: two papers, a shared module, scenarios."""
    monkeypatch.setattr(sources, "ROOT", "toyhouse")
    monkeypatch.setattr(sources, "FOLDERS", ("core", "scenarios", "solvers"))
    monkeypatch.setattr(sources, "_CONTAINERS", {"toyhouse.core", "toyhouse.scenarios", "toyhouse.solvers"})
    monkeypatch.setattr(sources, "_ALWAYS", ())
    files = {
        "core/__init__.py": "",
        "core/shared.py": "x = 1",
        "core/unused.py": "x = 1",
        "scenarios/__init__.py": "",
        "scenarios/maze.py": "",
        "scenarios/maze.toml": '[[entry]]\nid = "maze/small"\ntarget = "toyhouse.scenarios.maze:Maze"\nsummary = ""',
        "solvers/__init__.py": "",
        "solvers/one/__init__.py": "def __getattr__(name):\n    return __import__(f'toyhouse.solvers.one.{name}')",
        "solvers/one/lazy.py": "def f():\n    from toyhouse.core import shared",
        "solvers/one/data/table.csv": "1,2",
        "solvers/one/notes.md": "",
        "solvers/two/__init__.py": "from ..core import shared\nBROKEN = (",
        "solvers/two/solver.toml": '[[entry]]\nid = "two"\ntarget = "toyhouse.solvers.two:Two"\nsummary = ""',
    }
    for name, text in files.items():
        path = tmp_path / "toyhouse" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "toyhouse"


def names(modules: list[str], mentions: tuple[str, ...] = ()) -> set[str]:
    return {name.replace("toyhouse.", "") for name in reached(modules, mentions)}


def test_a_paper_counts_whole_and_its_imports_are_followed_but_other_papers_are_not_there(house: Path) -> None:
    assert names(["toyhouse.solvers.one.lazy"]) == {
        "solvers/__init__.py",
        "solvers.one/__init__.py",
        "solvers.one/lazy.py",
        "solvers.one/data/table.csv",
        "core/__init__.py",
        "core.shared",
    }


def test_an_id_in_a_string_reaches_what_it_is_registered_for(house: Path) -> None:
    (house / "solvers" / "one" / "more.py").write_text("make('small')")
    assert {"scenarios.maze", "scenarios/maze.toml"} <= names(["toyhouse.solvers.one"])
    assert {"solvers.two/__init__.py", "solvers.two/solver.toml"} <= names(["toyhouse.solvers.one"], ("two",))
    assert "scenarios.maze" in names(["toyhouse.core.shared"], ("toyhouse.scenarios.maze:Maze",))
    assert "scenarios.maze" not in names(["toyhouse.core.shared"], ("maze is a word: small",))


def test_the_hash_changes_with_what_is_reached_and_with_nothing_else(house: Path) -> None:
    before = sources_hash(["toyhouse.solvers.one"])
    for unrelated in ("core/unused.py", "solvers/two/__init__.py", "solvers/one/notes.md"):
        (house / unrelated).write_text("changed = 1")
        assert sources_hash(["toyhouse.solvers.one"]) == before
    for related in ("core/shared.py", "solvers/one/data/table.csv", "solvers/one/lazy.py"):
        (house / related).write_text((house / related).read_text() + "\n")
        now = sources_hash(["toyhouse.solvers.one"])
        assert now != before
        before = now


def test_a_module_outside_the_house_counts_with_its_top_level_package(house: Path, tmp_path: Path) -> None:
    package = tmp_path / "toyplugin"
    package.mkdir()
    (package / "__init__.py").write_text("import numpy, toyhouse.core.shared")
    (package / "other.py").write_text("")
    assert names(["toyplugin.deep.inside"]) == {
        "toyplugin/__init__.py",
        "toyplugin/other.py",
        "core/__init__.py",
        "core.shared",
    }
    with pytest.raises(InvalidInput, match="there is no module toyhouse.core.gone"):
        reached(["toyhouse.core.gone"])


def test_in_our_own_house_the_report_and_the_command_line_make_no_row_stale() -> None:
    found = set(reached(["scisuite.bench.experiments"], ["functions/hartmann6"]))
    assert {"scisuite.bench.cells", "scisuite.bench.cost", "scisuite.core.budget"} <= found
    assert {"scisuite.scenarios.functions", "scisuite.scenarios/functions.toml"} <= found
    bench = {name for name in found if name.startswith("scisuite.bench")}
    assert bench == {
        "scisuite.bench.cells",
        "scisuite.bench.cost",
        "scisuite.bench.experiment",
        "scisuite.bench.experiments/__init__.py",
    }


def test_a_plan_refuses_an_arm_whose_module_is_not_there(toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scisuite.bench.plan.sources_hash", sources_hash)
    from scisuite.bench import Arm

    with pytest.raises(InvalidInput, match="there is no module no_such_module"):
        plan(toys.toy(Arm("method", "no_such_module:f", "method")), "quick")
    assert len(plan(toys.toy(), "quick")[0].code) == 25
