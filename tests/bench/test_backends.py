from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest

from scisuite.bench.plan import plan
from scisuite.bench.runner import run
from scisuite.bench.store import RowStore, read_rows


def test_workers_side_by_side_and_timed_cells_alone(toys: ModuleType, tmp_path: Path) -> None:
    together, alone = tmp_path / "together", tmp_path / "alone"
    together.mkdir()
    alone.mkdir()
    experiment = toys.toy(
        toys.arm("timed", "witness", config={"folder": str(alone)}, exclusive=True),
        toys.arm("free", "witness", config={"folder": str(together)}),
        seeds=4,
    )
    out = tmp_path / "runs"
    rows = run(experiment, "quick", jobs=2, out=out, progress=False)
    assert {row["status"] for row in rows} == {"ok"}
    beside = {arm: [r["metrics"]["beside"] for r in rows if r["arm"] == arm] for arm in ("timed", "free")}
    assert beside["timed"] == [1.0] * 4
    assert max(beside["free"]) == 2.0
    written = {
        arm: [_path(out, c).stat().st_mtime_ns for c in plan(experiment, "quick") if c.arm == arm] for arm in beside
    }
    assert max(written["free"]) < min(written["timed"]), "timed cells run when all the others are done"


@pytest.mark.parametrize("how", ["kill", "exit"])
def test_a_cell_that_kills_its_worker_is_an_error_row_and_the_others_are_done(
    toys: ModuleType, tmp_path: Path, how: str
) -> None:
    experiment = toys.toy(toys.arm("deadly", "die", config={"how": how}), toys.PEER, seeds=4)
    rows = run(experiment, "quick", jobs=2, out=tmp_path, progress=False)
    failed = {(r["arm"], r["seed"]): r["error"] for r in rows if r["status"] != "ok"}
    assert list(failed) == [("deadly", 1)]
    code = {"kill": "SIGKILL(-9)", "exit": "EXIT(7)"}[how]
    assert f"WorkerKilled: the worker process was killed (exit code {code}:" in failed["deadly", 1]
    assert len(rows) == 8


def test_with_one_job_a_killed_worker_is_replaced(toys: ModuleType, tmp_path: Path) -> None:
    rows = run(toys.toy(toys.arm("deadly", "die")), "quick", jobs=1, out=tmp_path, progress=False)
    assert [r["status"] for r in rows] == ["ok", "error", "ok"]


def test_dask_writes_the_same_rows(toys: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    _same_rows_as_loky(toys, tmp_path, "dask")


@pytest.mark.slow
def test_ray_writes_the_same_rows(toys: ModuleType, tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    _same_rows_as_loky(toys, tmp_path, "ray")
    assert not ray.is_initialized(), "a Ray that was started for the run is stopped after it"


def _same_rows_as_loky(toys: ModuleType, tmp_path: Path, backend: str) -> None:
    experiment = toys.toy(toys.METHOD, toys.arm("bad", "crash"), toys.arm("loud", "talk"), seeds=2)
    here = run(experiment, "quick", jobs=1, out=tmp_path / "here", progress=False)
    there = run(experiment, "quick", jobs=2, backend=backend, out=tmp_path / "there", progress=False)
    assert [r["status"] for r in there] == ["ok", "ok", "ok", "ok", "error", "ok"]
    for mine, theirs in zip(here, there, strict=True):
        for name in ("key", "code", "status", "error", "curves"):
            assert mine[name] == theirs[name]
        if mine["arm"] == "loud":
            assert theirs["metrics"]["threads"] == 1.0
            assert theirs["metrics"]["pid"] not in (mine["metrics"]["pid"], os.getpid())
        else:
            assert mine["metrics"] == theirs["metrics"]
    assert len(read_rows(tmp_path / "there")) == len(there)


def _path(out: Path, cell: object) -> Path:
    return RowStore(out).path(cell.experiment, cell.tier, cell.key)  # type: ignore[attr-defined]
