"""Rows on disk: one JSON file each, written atomically, found by key."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from scisuite.core import DamagedFile, InvalidInput, NewerFormat
from scisuite.core.files import read_json, write_atomic, write_json

SCHEMA = 1
STATUSES = ("ok", "error", "skipped")
_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "key": str,
    "code": str,
    "experiment": str,
    "tier": str,
    "arm": str,
    "scenario": str,
    "seed": int,
    "config": dict,
    "status": str,
    "metrics": dict,
    "curves": dict,
    "cost": dict,
    "environment": dict,
}
_ROW_FILE = re.compile(r"[0-9a-f]{16}\.json")

Row = dict[str, Any]


class DamagedRowWarning(UserWarning):
    """A row's file could not be read; it counts as missing."""


class RowStore:
    """The rows below a folder, at ``<folder>/<experiment>/<tier>/<key>.json``."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).absolute()

    def path(self, experiment: str, tier: str, key: str) -> Path:
        """Where a row is kept."""
        return self.folder / experiment / tier / f"{key}.json"

    def write(self, row: Mapping[str, Any]) -> Path:
        """Write a row and return its path; an earlier one with the same key is replaced.

        Raises
        ------
        InvalidInput
            If the folder cannot be written.
        EngineFailure
            If the disk is full; the earlier row, if any, and all others stay as they were.
        """
        path = self.path(row["experiment"], row["tier"], row["key"])
        write_json(path, row)
        return path

    def get(self, key: str, damaged: list[InvalidInput] | None = None) -> Row | None:
        """The row of a key, or ``None`` where there is none or only a damaged file.

        ``damaged`` collects the errors of such files; without it, each is a :class:`DamagedRowWarning`.
        """
        for path in self.folder.glob(f"*/*/{key}.json"):
            try:
                return read_row(path)
            except InvalidInput as error:
                _report(error, damaged, stacklevel=3)
        return None

    def refuse_unwritable(self, experiment: str, tier: str) -> None:
        """Raise :class:`InvalidInput` if rows of that experiment and tier could not be written."""
        probe = self.folder / experiment / tier / ".probe"
        write_atomic(probe, b"")
        probe.unlink()


class Arrivals:
    """Tells which of some rows were written since it was made, without reading them.

    Parameters
    ----------
    paths : iterable of Path
        Where the rows are, or will be; what is there already has not arrived.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._before = {path: _stamp(path) for path in paths}

    def __contains__(self, path: Path) -> bool:
        return _stamp(path) not in (None, self._before[path])

    def paths(self) -> list[Path]:
        """Those that have arrived."""
        return [path for path in self._before if path in self]


def read_row(path: str | os.PathLike[str]) -> Row:
    """Read and check one row.

    Raises
    ------
    InvalidInput
        If there is no such file.
    DamagedFile
        If it is not JSON or is not a row.
    NewerFormat
        If a later scisuite wrote it.
    """
    row = read_json(path)
    if not isinstance(row, dict) or not isinstance(row.get("schema"), int):
        raise DamagedFile(f"{path} is not a row of an experiment")
    if row["schema"] > SCHEMA:
        raise NewerFormat(f"{path} has schema {row['schema']}; this scisuite reads up to {SCHEMA}")
    for name, kind in _FIELDS.items():
        if not isinstance(row.get(name), kind):
            raise DamagedFile(f"{path} is damaged: its field {name!r} is missing or of the wrong type")
    if row["status"] not in STATUSES:
        raise DamagedFile(f"{path} is damaged: its status is {row['status']!r}")
    return row


def read_rows(*paths: str | os.PathLike[str], damaged: list[InvalidInput] | None = None) -> list[Row]:
    """The rows of files and, recursively, of folders, sorted by experiment, tier, scenario, arm and seed.

    Where several rows answer the same experiment, tier, arm, scenario and seed (an arm's configuration was changed,
    or two folders overlap), the one whose file was written last is returned.

    Parameters
    ----------
    *paths : path
        A file must be a row. In a folder only files named by a key are read; other JSON files directly beside such
        ones are left out and named, everything else may lie there.
    damaged : list or None
        Collects the errors of what was left out of a folder; without it, each is a :class:`DamagedRowWarning`.

    Raises
    ------
    InvalidInput
        If a path does not exist or a named file is not a row.
    """
    current: dict[tuple[Any, ...], tuple[int, Row]] = {}
    for written, row in _all_rows(paths, damaged):
        place = tuple(row[name] for name in ("experiment", "tier", "scenario", "arm", "seed"))
        if place not in current or written >= current[place][0]:
            current[place] = written, row
    return [current[place][1] for place in sorted(current)]


def _all_rows(paths: Iterable[str | os.PathLike[str]], damaged: list[InvalidInput] | None) -> Iterator[tuple[int, Row]]:
    """Each row with the time in ns at which its file was written."""
    for path in map(Path, paths):
        if not path.is_dir():
            yield path.stat().st_mtime_ns if path.exists() else 0, read_row(path)
            continue
        files = sorted(path.rglob("*.json"))
        row_folders = {file.parent for file in files if _ROW_FILE.fullmatch(file.name)}
        for file in files:
            if not _ROW_FILE.fullmatch(file.name):
                if file.parent in row_folders:
                    message = f"{file} is no row: a row's file is named by its key, sixteen hexadecimal digits"
                    _report(DamagedFile(message), damaged, stacklevel=4)
                continue
            try:
                yield file.stat().st_mtime_ns, read_row(file)
            except InvalidInput as error:
                _report(error, damaged, stacklevel=4)


def _report(error: InvalidInput, damaged: list[InvalidInput] | None, stacklevel: int) -> None:
    if damaged is None:
        warnings.warn(str(error), DamagedRowWarning, stacklevel=stacklevel)
    else:
        damaged.append(error)


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
