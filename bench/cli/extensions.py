"""Commands that papers and other distributions add, listed by name and loaded when called.

A paper adds ``bench/commands/<name>.py`` (``train_grpo.py`` is called ``train-grpo``), another distribution an entry
point in the group ``scisuite.commands``. Either holds ``app``, a :class:`typer.Typer`, or ``command``, a function with
Typer's annotations; an entry point may also name one of the two itself (``"package.module:app"``).
"""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

from scisuite.core import EngineFailure, InvalidInput, MissingDependency

GROUP = "scisuite.commands"
FOLDER = Path(__file__).parent.parent / "commands"


@dataclass(frozen=True)
class Extension:
    """A command that has been found and not loaded: its name, one line about it, and how to get at it."""

    name: str
    summary: str
    find: Callable[[], Any]

    def stub(self) -> Any:
        """A command for the list in ``scisuite --help``; it cannot be run."""
        return TyperCommand(self.name, help=self.summary, callback=None)

    def load(self) -> Any:
        """Import the command.

        Raises
        ------
        MissingDependency
            If a package that it imports is not installed and it says which extra brings it.
        EngineFailure
            If importing it fails.
        InvalidInput
            If there is neither an ``app`` nor a ``command`` in it.
        """
        try:
            found = self.find()
        except MissingDependency:
            raise
        except Exception as error:
            raise EngineFailure(
                f"the command {self.name!r} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        target = found if callable(found) else getattr(found, "app", None) or getattr(found, "command", None)
        if isinstance(target, typer.Typer):
            loaded = typer.main.get_command(target)
        elif callable(target):
            single = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
            single.command(self.name)(target)
            loaded = typer.main.get_command(single)
        else:
            raise InvalidInput(f"the command {self.name!r} has neither app, a typer.Typer, nor command, a function")
        loaded.name = self.name
        return loaded


@functools.cache
def find_extensions() -> dict[str, Extension]:
    """Every added command by name, the folder's first; nothing is imported."""
    found: dict[str, Extension] = {}
    for path in sorted(FOLDER.glob("*.py")):
        if not path.stem.startswith("_"):
            name = path.stem.replace("_", "-")
            module = f"scisuite.bench.commands.{path.stem}"
            found[name] = Extension(name, _first_line(path), functools.partial(importlib.import_module, module))
    for point in metadata.entry_points(group=GROUP):
        origin = point.dist.name if point.dist is not None else "another package"
        found.setdefault(point.name, Extension(point.name, f"added by {origin}", point.load))
    return found


def _first_line(path: Path) -> str:
    try:
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    except (SyntaxError, UnicodeDecodeError):
        return "cannot be read"
    return (docstring or "").strip().split("\n")[0]
