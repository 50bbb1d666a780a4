from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType

import pytest

from scisuite.bench.cells import answer
from scisuite.bench.plan import plan
from scisuite.bench.runner import run
from scisuite.bench.store import RowStore


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


@pytest.mark.parametrize(("how", "jobs"), [("kill", 2), ("exit", 1)])
def test_a_cell_that_kills_its_worker_is_an_error_row_and_the_others_are_done(
    toys: ModuleType, tmp_path: Path, how: str, jobs: int
) -> None:
    experiment = toys.toy(toys.arm("deadly", "die", config={"how": how}), toys.PEER, seeds=4)
    rows = run(experiment, "quick", jobs=jobs, out=tmp_path, progress=False)
    failed = {(r["arm"], r["seed"]): r["error"] for r in rows if r["status"] != "ok"}
    assert list(failed) == [("deadly", 1)]
    code = {"kill": "SIGKILL(-9)", "exit": "EXIT(7)"}[how]
    assert f"WorkerKilled: the worker process was killed (exit code {code}:" in failed["deadly", 1]
    assert len(rows) == 8


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_clusters_write_the_rows_that_a_process_here_would(toys: ModuleType, tmp_path: Path, backend: str) -> None:
    pytest.importorskip({"dask": "distributed", "ray": "ray"}[backend])
    last = toys.arm("deadly", "die") if backend == "dask" else toys.arm("bad", "crash")
    experiment = toys.toy(toys.METHOD, toys.arm("loud", "talk"), last, seeds=2)
    rows = run(experiment, "quick", jobs=2, backend=backend, out=tmp_path, progress=False)
    assert [r["status"] for r in rows] == ["ok", "ok", "ok", "ok", "ok", "error"]
    loud = [r for r in rows if r["arm"] == "loud"]
    assert {r["metrics"]["threads"] for r in loud} == {1.0}
    assert os.getpid() not in {r["metrics"]["pid"] for r in loud}
    here = [answer(cell) for cell in plan(experiment, "quick") if cell.arm == "method"]
    names = ("key", "code", "status", "error", "metrics", "curves")
    assert [[r[n] for n in names] for r in rows if r["arm"] == "method"] == [[r[n] for n in names] for r in here]
    assert rows[-1]["error"].split("\n")[-1].startswith("WorkerKilled" if backend == "dask" else "ValueError: no luck")
    if backend == "ray":
        import ray

        assert not ray.is_initialized(), "a Ray that was started for the run is stopped after it"


def _path(out: Path, cell: object) -> Path:
    return RowStore(out).path(cell.experiment, cell.tier, cell.key)  # type: ignore[attr-defined]
