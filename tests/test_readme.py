"""Every fenced ``python`` and ``console`` block of the README and of the guides runs, as it is written there.

A block that cannot (it needs a laboratory, an endpoint, a GPU or more than 20 seconds) is preceded by
``<!-- skip: next "the reason; examples/… runs a small one" -->``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

ROOT = Path(__file__).resolve().parent.parent
# Pages of papers show what long runs printed; their commands are tests of their own.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(p for p in ROOT.glob("docs/**/*.md") if p.parent.name != "papers"),
]


@dataclass(frozen=True)
class Block:
    """A fenced block and, where it is not to run, the reason."""

    page: str
    example: Example
    reason: str | None

    @property
    def name(self) -> str:
        return f"{self.page}:{self.example.line}"


def run_console(example: Example) -> None:
    """Run the lines that begin with ``$`` (and those they continue on) in turn; each must exit with 0."""
    commands: list[str] = []
    for line in str(example.parsed).splitlines():
        if commands and commands[-1].endswith("\\"):
            commands[-1] = commands[-1][:-1] + line
        elif line.startswith("$ "):
            commands.append(line[2:])
    assert commands, "a console block needs a line that begins with '$ '"
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "TERM": "dumb",
    }
    for command in commands:
        done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"$ {command}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr


def blocks() -> list[Block]:
    sybil = Sybil(parsers=[PythonCodeBlockParser(), CodeBlockParser("console", run_console), SkipParser()])
    found: list[Block] = []
    for page in PAGES:
        reason: str | None = None
        for example in sybil.parse(page).examples():
            if isinstance(example.parsed, tuple):
                action, quoted = example.parsed
                assert action == "next", f"{page}:{example.line}: skip one block at a time"
                reason = (quoted or "").strip().strip('"')
                assert len(reason) > 10, f"{page}:{example.line}: a skipped block says why"
            else:
                found.append(Block(str(page.relative_to(ROOT)), example, reason))
                reason = None
    return found


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block.name)
def test_block(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if block.reason is not None:
        pytest.skip(block.reason)
    monkeypatch.chdir(tmp_path)
    # A module of its own, so that a class defined in a block can be pickled as in a script.
    module = ModuleType("block_of_documentation")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    block.example.namespace = vars(module)
    block.example.evaluate()


def test_the_readme_is_executed() -> None:
    run = [block for block in blocks() if block.page == "README.md" and block.reason is None]
    assert len(run) >= 5


def test_examples_that_skipped_blocks_name_exist() -> None:
    named = [re.findall(r"examples/[\w.]+", block.reason) for block in blocks() if block.reason]
    missing = {name for names in named for name in names if not (ROOT / name).is_file()}
    assert missing == set()
