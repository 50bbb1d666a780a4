"""Files of JSON lines that survive a kill: the log of exchanges with a model, and the cache of its replies."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scisuite.core.errors import EngineFailure, InvalidInput
from scisuite.core.files import canonical_json, sha256


def append_line(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Append ``record`` to ``path`` as one JSON line, in one write; a torn last line is closed first.

    Raises
    ------
    InvalidInput
        If the file cannot be opened for writing.
    EngineFailure
        If the disk is full or fails.
    """
    path = Path(path)
    line = canonical_json(record).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from error
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            line = b"\n" + line
        os.write(handle, line)
    except OSError as error:
        raise EngineFailure(f"cannot write {path}: {error.strerror}") from error
    finally:
        os.close(handle)


def read_lines(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The JSON objects of ``path``, one a line; lines that are torn or no objects are passed over, no file is empty."""
    records: list[dict[str, Any]] = []
    try:
        content = Path(path).read_bytes()
    except FileNotFoundError:
        return records
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from error
    for line in content.split(b"\n"):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            records.append(record)
    return records


class ReplyCache:
    """Replies of models, kept in a file of JSON lines keyed by a hash of prompt and model.

    The file is only ever appended to. A line that a kill has torn is passed over when the file is read; the later of
    two lines with one key counts.

    Parameters
    ----------
    path : path
        Made at the first reply, with its folders.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if self.path.is_dir():
            raise InvalidInput(f"{self.path} is a folder; a reply cache is a file")
        self._read()

    @staticmethod
    def key(prompt: Any, model: str) -> str:
        """The key of ``prompt`` (text, or any JSON) put to ``model``: 32 hexadecimal digits."""
        return sha256(canonical_json({"model": model, "prompt": prompt}).encode())[:32]

    def __len__(self) -> int:
        return len(self._replies)

    def __contains__(self, key: object) -> bool:
        return key in self._replies

    def get(self, key: str) -> Any:
        """The reply of ``key``; ``KeyError`` where there is none."""
        return self._replies[key]

    def put(self, key: str, reply: Any, **about: Any) -> None:
        """Keep ``reply`` (JSON); it is written with ``about``: prompt, model, what a reader of it wants to know."""
        with self._lock:
            append_line(self.path, {**about, "key": key, "reply": reply})
            self._replies[key] = reply

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path = state["path"]
        self._read()

    def _read(self) -> None:
        self._lock = threading.Lock()
        self._replies: dict[str, Any] = {}
        for record in read_lines(self.path):
            if isinstance(record.get("key"), str) and "reply" in record:
                self._replies[record["key"]] = record["reply"]
