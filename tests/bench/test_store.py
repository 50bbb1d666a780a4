from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from scisuite.bench.store import Arrivals, DamagedRowWarning, RowStore, read_row, read_rows
from scisuite.core import DamagedFile, EngineFailure, InvalidInput, NewerFormat


def row(**changes: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "key": "0123456789abcdef",
        "code": "aaaa-bbbb",
        "experiment": "toy",
        "tier": "quick",
        "arm": "method",
        "scenario": "toy/line",
        "seed": 0,
        "config": {},
        "status": "ok",
        "error": None,
        "metrics": {"error": 1.5, "odd": float("nan")},
        "curves": {},
        "cost": {},
        "environment": {},
        **changes,
    }


def key(number: int) -> str:
    return f"{number:016x}"


def test_a_row_is_one_file_named_by_its_key_with_nan_as_null(tmp_path: Path) -> None:
    store = RowStore(tmp_path)
    path = store.write(row())
    assert path == tmp_path / "toy" / "quick" / "0123456789abcdef.json"
    found = store.get("0123456789abcdef")
    assert found is not None
    assert found["metrics"] == {"error": 1.5, "odd": None}
    assert "NaN" not in path.read_text()
    assert store.get(key(9)) is None


def test_a_damaged_row_counts_as_missing_and_is_named(tmp_path: Path) -> None:
    store = RowStore(tmp_path)
    path = store.write(row())
    path.write_text(path.read_text()[:40])
    with pytest.warns(DamagedRowWarning, match="0123456789abcdef.json is not valid JSON"):
        assert store.get("0123456789abcdef") is None
    with pytest.warns(DamagedRowWarning):
        assert read_rows(tmp_path) == []
    collected: list[InvalidInput] = []
    assert store.get("0123456789abcdef", collected) is None
    assert [type(error) for error in collected] == [DamagedFile]
    damaged: list[InvalidInput] = []
    assert read_rows(tmp_path, damaged=damaged) == []
    assert [type(error) for error in damaged] == [DamagedFile]
    with pytest.raises(DamagedFile):
        read_rows(path)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"schema": 2}, NewerFormat, "has schema 2; this scisuite reads up to 1"),
        ({"schema": None}, DamagedFile, "is not a row"),
        ({"seed": "0"}, DamagedFile, "its field 'seed' is missing or of the wrong type"),
        ({"status": "fine"}, DamagedFile, "its status is 'fine'"),
    ],
)
def test_a_file_that_is_no_row_is_refused(tmp_path: Path, change: Any, error: type[Exception], message: str) -> None:
    path = tmp_path / "row.json"
    path.write_text(json.dumps(row(metrics={}, **change)))
    with pytest.raises(error, match=message):
        read_row(path)
    with pytest.raises(InvalidInput, match="no such file"):
        read_rows(tmp_path / "absent")


def test_folders_are_read_recursively_in_a_fixed_order_and_other_files_passed_over(tmp_path: Path) -> None:
    store = RowStore(tmp_path / "deep" / "runs")
    for number, (arm, seed) in enumerate([("peer", 1), ("method", 10), ("method", 2)]):
        store.write(row(key=key(number), arm=arm, seed=seed))
    (tmp_path / "deep" / "config.json").write_text("{not json")
    found = read_rows(tmp_path)
    assert [(r["arm"], r["seed"]) for r in found] == [("method", 2), ("method", 10), ("peer", 1)]
    (tmp_path / "deep" / "runs" / "toy" / "quick" / "notes.json").write_text("[]")
    with pytest.warns(DamagedRowWarning, match="notes.json is no row: a row's file is named by its key"):
        assert len(read_rows(tmp_path)) == 3
    (tmp_path / "deep" / "runs" / "toy" / "quick" / "notes.json").unlink()
    one_file = RowStore(tmp_path).write(row(key=key(7), arm="floor"))
    assert len(read_rows(one_file, tmp_path / "deep")) == 4


def test_of_rows_that_answer_the_same_the_one_written_last_counts(tmp_path: Path) -> None:
    store = RowStore(tmp_path)
    paths = [store.write(row(key=key(n), config={"n": n})) for n in (1, 2)]
    os.utime(paths[0], ns=(2_000, 2_000))
    os.utime(paths[1], ns=(1_000, 1_000))
    assert [r["config"] for r in read_rows(tmp_path)] == [{"n": 1}]


def test_a_full_disk_leaves_the_earlier_row_and_no_partial_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RowStore(tmp_path)
    path = store.write(row())

    def full(*arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EngineFailure, match="No space left on device"):
        store.write(row(metrics={"error": 2.0}))
    assert read_row(path)["metrics"]["error"] == 1.5
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InvalidInput, match="cannot write"):
        RowStore(tmp_path / "file").refuse_unwritable("toy", "quick")
    RowStore(tmp_path).refuse_unwritable("toy", "quick")
    assert list((tmp_path / "toy" / "quick").iterdir()) == []


def test_arrivals_are_rows_written_or_replaced_since(tmp_path: Path) -> None:
    store = RowStore(tmp_path)
    old, new, never = (store.path("toy", "quick", key(n)) for n in range(3))
    store.write(row(key=key(0)))
    arrivals = Arrivals([old, new, never])
    assert arrivals.paths() == []
    store.write(row(key=key(1)))
    assert arrivals.paths() == [new]
    store.write(row(key=key(0)))
    assert arrivals.paths() == [old, new]
    assert never not in arrivals
