"""Files are whole or absent, under a full disk, a read-only folder and a kill; the cache never lies."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisuite.core import DamagedFile, EngineFailure, InvalidInput
from scisuite.core import files as module
from scisuite.core.files import (
    cache_folder,
    cached_bytes,
    canonical_json,
    jsonable,
    read_json,
    sha256,
    write_atomic,
    write_json,
)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4)
    ),
    max_leaves=12,
)


def files_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@given(JSON)
def test_json_round_trip(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("json") / "value.json"
    write_json(path, value)
    assert read_json(path) == jsonable(value)
    assert canonical_json(read_json(path)) == canonical_json(value)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), st.integers(), max_size=6))
def test_canonical_json_ignores_order(value: dict[str, int]) -> None:
    reordered = dict(reversed(value.items()))
    assert canonical_json(reordered) == canonical_json(value)
    assert "\n" not in canonical_json(value)


def test_numpy_becomes_python_and_nan_becomes_null() -> None:
    value = {"a": np.float32(0.5), "b": np.arange(3), 3: (math.nan, np.inf, np.int64(2), np.bool_(True))}
    assert jsonable(value) == {"a": 0.5, "b": [0, 1, 2], "3": [None, None, 2, True]}
    assert jsonable(np.array([1.0, np.nan])) == [1.0, None]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", 1j, np.array([1j]), Path("x")])
def test_what_has_no_json_form_is_named(value: object) -> None:
    with pytest.raises(InvalidInput, match="has no JSON form"):
        jsonable({"deep": [value]})


def test_unjsonable_values_leave_the_old_file(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", 1)
    with pytest.raises(InvalidInput):
        write_json(tmp_path / "a.json", object())
    assert read_json(tmp_path / "a.json") == 1
    assert files_in(tmp_path) == ["a.json"]


def test_write_atomic_makes_folders_and_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "c.txt"
    write_atomic(path, "old")
    write_atomic(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert files_in(path.parent) == ["c.txt"]


def test_files_are_as_readable_as_the_umask_says(tmp_path: Path) -> None:
    previous = os.umask(0o022)
    try:
        write_atomic(tmp_path / "row.json", "1")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "row.json").stat().st_mode) == 0o644


def test_a_long_name_is_refused_or_written_whole(tmp_path: Path) -> None:
    write_atomic(tmp_path / ("a" * 250), "content")
    assert (tmp_path / ("a" * 250)).read_text() == "content"
    with pytest.raises(InvalidInput, match="cannot write"):
        write_atomic(tmp_path / ("a" * 300), "content")
    assert files_in(tmp_path) == ["a" * 250]


def failing(code: int) -> Any:
    def fail(*_arguments: Any, **_keywords: Any) -> Any:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_disk_is_an_engine_failure_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, code: int
) -> None:
    path = tmp_path / "row.json"
    write_atomic(path, "old")
    monkeypatch.setattr(module.os, step, failing(code))
    with pytest.raises(EngineFailure, match=f"cannot write .*row.json: {os.strerror(code)}"):
        write_atomic(path, "new")
    monkeypatch.undo()
    assert path.read_text() == "old"
    assert files_in(tmp_path) == ["row.json"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this platform")
def test_a_really_full_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "open", lambda *_: open("/dev/full", "wb"), raising=False)
    with pytest.raises(EngineFailure, match="No space left on device"):
        write_atomic(tmp_path / "row.json", "x" * 100_000)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_read_only_folder_is_invalid_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    monkeypatch.setattr(module, "open", failing(code), raising=False)
    with pytest.raises(InvalidInput, match=f"cannot write .*: {os.strerror(code)}"):
        write_atomic(tmp_path / "row.json", "x")
    assert files_in(tmp_path) == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write into read-only folders")
def test_a_folder_without_write_permission(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(InvalidInput, match="Permission denied"):
        write_atomic(folder / "row.json", "x")


def test_a_file_in_the_way_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("mine")
    with pytest.raises(InvalidInput, match="cannot write"):
        write_atomic(tmp_path / "runs" / "row.json", "x")
    assert (tmp_path / "runs").read_text() == "mine"


def test_a_folder_in_the_way_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "row.json").mkdir()
    with pytest.raises(InvalidInput, match="cannot write"):
        write_atomic(tmp_path / "row.json", "x")
    assert files_in(tmp_path) == ["row.json"]


def test_an_interrupt_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module.os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "row.json", "x")
    assert files_in(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_writer_leaves_the_old_or_the_new_file(tmp_path: Path) -> None:
    program = (
        "import sys, itertools\n"
        "from scisuite.core.files import write_atomic\n"
        "for i in itertools.count():\n"
        "    write_atomic(sys.argv[1], str(i % 10) * 1_000_000)\n"
        "    print(i, flush=True)\n"
    )
    path = tmp_path / "row.json"
    writer = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(3):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    content = path.read_text()
    assert len(content) == 1_000_000
    assert len(set(content)) == 1


def test_reading_what_is_not_there_or_not_json(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        read_json(tmp_path / "absent.json")
    with pytest.raises(InvalidInput, match="cannot read"):
        read_json(tmp_path)
    for content in (b"", b'{"a": 1', b"\xff\xfe\x00", b"[" * 100_000):
        (tmp_path / "bad.json").write_bytes(content)
        with pytest.raises(DamagedFile, match=r"bad\.json is not valid JSON"):
            read_json(tmp_path / "bad.json")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCISUITE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Counts how often the data was generated."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        return b"payload\nwith a line"


def test_the_cache_folder_follows_the_variable(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == cache
    monkeypatch.delenv("SCISUITE_CACHE")
    assert cache_folder().name == "scisuite"


def test_what_was_made_is_not_made_again(cache: Path) -> None:
    make = Maker()
    assert [cached_bytes("maze", {"size": 5}, make) for _ in range(3)] == [make()] * 3
    assert make.calls == 2
    cached_bytes("maze", {"size": 6}, make)
    cached_bytes("other", {"size": 5}, make)
    assert make.calls == 4
    assert len([p for p in cache.rglob("*") if p.is_file()]) == 3


@pytest.mark.parametrize("damage", [b"", b"x", b"0" * 64 + b"\npayload", b"\xff" * 80])
def test_a_damaged_cache_is_made_again(cache: Path, damage: bytes) -> None:
    make = Maker()
    payload = cached_bytes("maze", {}, make)
    (path,) = (p for p in cache.rglob("*") if p.is_file())
    path.write_bytes(damage)
    assert cached_bytes("maze", {}, make) == payload
    assert make.calls == 2
    assert path.read_bytes() == sha256(payload).encode() + b"\n" + payload


def test_a_cache_that_cannot_be_used_costs_time_only(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SCISUITE_CACHE", str(tmp_path / "file"))
    make = Maker()
    assert cached_bytes("maze", {}, make) == make()
    cached_bytes("maze", {}, make)
    assert make.calls == 3
    assert (tmp_path / "file").read_text() == "in the way"


def test_rows_written_by_json_are_plain(tmp_path: Path) -> None:
    write_json(tmp_path / "row.json", {"b": np.float64(0.1), "a": "é"})
    text = (tmp_path / "row.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert text.index('"a"') < text.index('"b"')
    assert "é" in text
    assert json.loads(text) == {"a": "é", "b": 0.1}
