"""Which source files can have a say in an experiment's numbers, found without importing any of them."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from scisuite.core import InvalidInput

ROOT = "scisuite"
FOLDERS = ("core", "scenarios", "solvers", "envs", "agents", "bench")
# What lies in these stands by itself; a package deeper down is one thing.
_CONTAINERS = {f"{ROOT}.{folder}" for folder in FOLDERS} | {f"{ROOT}.bench.experiments"}
# What a cell's numbers pass through whatever the arm.
_ALWAYS = ("scisuite.bench.experiment", "scisuite.bench.cells", "scisuite.bench.cost")
# The modules that those import on behalf of the bench, which cannot change a number.
_NEVER = ("scisuite.bench", "scisuite.bench.plan", "scisuite.bench.provenance", "scisuite.bench.store")


def reached(modules: Iterable[str], mentions: Iterable[str] = ()) -> dict[str, Path]:
    """Source files that running ``modules`` can read, by a name that is the same on every machine.

    From each module, its imports are followed, those inside functions too, and so is every string that is the id or
    the short name of something registered in a TOML file, or a ``module:name`` target. A paper's folder, or any other
    package inside one of scisuite's folders, counts as a whole, with its TOML and data files, as does the top-level
    package of a module outside scisuite. An id that is put together while the program runs is not seen.

    Parameters
    ----------
    modules : iterable of str
    mentions : iterable of str
        Strings that count as if they stood in the source, such as those of an arm's configuration.

    Raises
    ------
    InvalidInput
        If one of ``modules`` does not exist.
    """
    modules = list(modules)
    plugins = {_top(module) for module in modules} - {ROOT}
    registered = _registered()
    files: dict[str, Path] = {}
    waiting = [*modules, *_ALWAYS]
    texts = set(mentions)
    seen: set[str] = set()
    while waiting or texts:
        while texts:
            for registration in _named_by(texts.pop(), registered):
                files.update(registration.file)
                waiting.append(registration.module)
        module = waiting.pop()
        unit = _unit(module)
        if unit in seen or _top(module) not in {ROOT, *plugins} or unit in _NEVER:
            continue
        seen.add(unit)
        found = dict(_files(unit))
        if not found and module in modules:
            raise InvalidInput(f"there is no module {module}")
        for name, path in found.items():
            files[name] = path
            if path.suffix == ".py":
                imports, strings = _references(path, unit)
                waiting += imports
                texts |= strings
        waiting += [unit.rpartition(".")[0]] if "." in unit else []
    return files


class _Registration(NamedTuple):
    """The module behind an id, and the file that says so, by its name."""

    module: str
    file: dict[str, Path]


def _unit(module: str) -> str:
    """What is taken whole: a plug-in's top-level package, a module or package in one of the containers, or these's own
    ``__init__``."""
    parts = module.split(".")
    if parts[0] != ROOT:
        return parts[0]
    depth = 3 if ".".join(parts[:3]) in _CONTAINERS else 2
    return ".".join(parts[: depth + 1])


def _top(module: str) -> str:
    return module.partition(".")[0]


def _files(unit: str) -> Iterator[tuple[str, Path]]:
    if unit == ROOT:
        return
    try:
        spec = importlib.util.find_spec(unit) if unit.count(".") < 2 else _spec_inside(unit)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations is None:
        if spec.origin is not None and spec.origin.endswith(".py"):
            yield unit, Path(spec.origin)
        return
    for place in map(Path, sorted(spec.submodule_search_locations)):
        for path in [place / "__init__.py", *(place / "data").rglob("*")] if unit in _CONTAINERS else place.rglob("*"):
            inside = path.relative_to(place)
            counts = inside.suffix in (".py", ".toml") or "data" in inside.parts[:-1]
            if counts and "__pycache__" not in inside.parts and path.is_file():
                yield f"{unit}/{inside.as_posix()}", path


def _spec_inside(unit: str) -> importlib.machinery.ModuleSpec | None:
    """The specification of ``scisuite.folder.name``; unlike ``find_spec`` it does not import the folder."""
    folder, _, _ = unit.rpartition(".")
    parent = importlib.util.find_spec(folder)
    if parent is None or parent.submodule_search_locations is None:
        return None
    return importlib.machinery.PathFinder.find_spec(unit, list(parent.submodule_search_locations))


def _references(path: Path, unit: str) -> tuple[set[str], set[str]]:
    """Modules that a file imports, and its strings; ``unit`` stands for the package of relative imports."""
    imports: set[str] = set()
    strings: set[str] = set()
    try:
        tree = ast.parse(path.read_bytes(), str(path))
    except SyntaxError:
        return imports, strings
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # A relative import stays inside its package, which is taken whole.
            base = node.module if node.level == 0 and node.module else unit
            imports |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.add(node.value)
    return imports, strings


def _named_by(text: str, registered: dict[str, list[_Registration]]) -> list[_Registration]:
    module, colon, name = text.partition(":")
    named = [*registered.get(text, ()), *(registered.get(name, ()) if colon else ())]
    if text.startswith(f"{ROOT}.") and module.replace(".", "").replace("_", "").isalnum():
        named.append(_Registration(module, {}))
    return named


def _registered() -> dict[str, list[_Registration]]:
    """What the TOML files of all folders register, by each id and each part of it."""
    found: dict[str, list[_Registration]] = {}
    for folder in FOLDERS:
        spec = importlib.util.find_spec(f"{ROOT}.{folder}")
        for place in (spec.submodule_search_locations if spec is not None else None) or ():
            for path in sorted(Path(place).rglob("*.toml")):
                file = {f"{ROOT}.{folder}/{path.relative_to(place).as_posix()}": path}
                for id, target in _entries(path):
                    for name in {id, *id.split("/")}:
                        found.setdefault(name, []).append(_Registration(target.partition(":")[0], file))
    return found


def _entries(path: Path) -> Iterator[tuple[str, str]]:
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: {error}") from error
    for table in [*document.get("entry", ()), *document.get("env", ())]:
        for field in ("target", "entry_point", "vector_entry_point"):
            if field in table:
                yield str(table["id"]), str(table[field])
