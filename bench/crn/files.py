"""Which files a command reads and writes, and those that it refuses."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from scisuite.core import InvalidInput

if TYPE_CHECKING:
    pass

BIF = (".bif", ".bif.gz")
UAI = ".uai"


def stem_of(source: str) -> str:
    """A file's name, or a scenario's, without its folder and without ``.bif``, ``.bif.gz``, ``.uai`` or ``.xml``.

    >>> stem_of("nets/alarm.bif.gz"), stem_of("factor_graphs/asia"), stem_of("my.model.xml")
    ('alarm', 'asia', 'my.model')
    """
    name = Path(source).name
    ending = next((e for e in (*BIF, UAI, ".xml", ".sbml") if name.lower().endswith(e) and len(name) > len(e)), "")
    return name[: len(name) - len(ending)]


def require_file(path: Path) -> None:
    """
    Raises
    ------
    InvalidInput
        If there is no such file, or it is a folder.
    """
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder, not a file")
    if not path.exists():
        raise InvalidInput(f"no such file: {path}")


def require_writable(path: Path, *, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Refuse an output before any work is done for it.

    Raises
    ------
    InvalidInput
        If ``path`` exists and ``force`` is false, is a folder, is one of ``inputs``, or lies where nothing may be
        written.
    """
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; give the file that is to be written")
    for source in inputs:
        if path.exists() and source.exists() and os.path.samefile(path, source):
            raise InvalidInput(f"{path} is the input; give another name for the output")
    if path.exists() and not force:
        raise InvalidInput(f"{path} exists; --force overwrites it")
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise InvalidInput(f"cannot write {path}: {folder} is not a folder")
    if not os.access(folder, os.W_OK):
        raise InvalidInput(f"cannot write {path}: {folder} is read-only")
