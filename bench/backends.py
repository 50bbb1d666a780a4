"""Where cells run: worker processes here, a Ray or Dask cluster, or one process alone."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scisuite.bench.cells import ONE_THREAD, row_of, run_cell
from scisuite.bench.plan import Cell
from scisuite.bench.store import Arrivals, RowStore
from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.core.registry import did_you_mean

BACKENDS = ("loky", "ray", "dask")
_RAY_OBJECT_STORE_BYTES = 150 * 2**20


def refuse_unknown_backend(backend: str) -> None:
    """Raise :class:`InvalidInput` for an unknown backend, :class:`MissingDependency` for one that is not installed."""
    if backend not in BACKENDS:
        raise InvalidInput(f"unknown backend {backend!r}{did_you_mean(str(backend), BACKENDS)}")
    if backend != "loky":
        package = {"ray": "ray", "dask": "distributed"}[backend]
        try:
            importlib.import_module(package)
        except ImportError as error:
            raise MissingDependency(f"the {backend} backend needs {package}", backend) from error


def run_side_by_side(cells: Sequence[Cell], store: RowStore, backend: str, jobs: int) -> None:
    """Run cells on ``jobs`` workers, each of which writes its own rows.

    A worker that is killed takes the whole batch with it. Of the cells then missing, those that were under way run
    one by one, so that the culprit is found, and the rest goes on side by side.

    Raises
    ------
    EngineFailure, InvalidInput
        If a row cannot be written.
    """
    arrivals = Arrivals(_path(store, cell) for cell in cells)
    left = list(cells)
    with _backend(backend, jobs):
        while left:
            failure = _batch(left, store, jobs)
            if failure is None:
                return
            missing = [cell for cell in left if _path(store, cell) not in arrivals]
            came_back = len(missing) < len(left)
            # joblib hands out at most twice as many cells as there are workers before the first of them is done.
            suspects, left = missing[: 2 * jobs], missing[2 * jobs :]
            if run_alone(suspects, store) == 0 and not came_back:
                break
    if left:
        warnings.warn(f"the {backend} workers fail ({failure}); going on with one process", stacklevel=2)
        run_alone(left, store)


def run_alone(cells: Sequence[Cell], store: RowStore) -> int:
    """Run cells one after the other in one worker process on this machine; return how many of them killed it.

    Such a cell becomes an error row.
    """
    killers = 0
    if not cells:
        return killers
    fresh = True
    worker = _new_worker()
    try:
        for cell in cells:
            reason = _killed_by(worker, cell, store)
            if reason is not None and not fresh:
                # What earlier cells left in memory may be to blame, so the cell has a process to itself before it is.
                worker.shutdown(kill_workers=True)
                worker = _new_worker()
                reason = _killed_by(worker, cell, store)
            fresh = reason is not None
            if reason is not None:
                killers += 1
                worker.shutdown(kill_workers=True)
                worker = _new_worker()
                store.write(row_of(cell, "error", error=f"WorkerKilled: the worker process was killed ({reason})"))
    finally:
        worker.shutdown(kill_workers=True)
    return killers


def _batch(cells: Sequence[Cell], store: RowStore, jobs: int) -> str | None:
    import joblib

    tasks = (joblib.delayed(run_cell)(cell, str(store.folder), tuple(sys.path)) for cell in cells)
    try:
        joblib.Parallel(n_jobs=jobs, batch_size=1, pre_dispatch="2*n_jobs", max_nbytes=None)(tasks)
    except (EngineFailure, InvalidInput):
        raise
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no message'}"
    return None


def _path(store: RowStore, cell: Cell) -> Path:
    return store.path(cell.experiment, cell.tier, cell.key)


def _new_worker() -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(max_workers=1, env=ONE_THREAD)


def _killed_by(worker: Any, cell: Cell, store: RowStore) -> str | None:
    """Run one cell; how its worker died, or ``None`` if it did not."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        worker.submit(run_cell, cell, str(store.folder), tuple(sys.path)).result()
    except BrokenProcessPool as error:
        found = re.search(r"exit codes of the workers are \{(.*?)\}", str(error))
        code = found.group(1) if found else "unknown"
        return f"exit code {code}: out of memory, or a crash in compiled code"
    return None


@contextlib.contextmanager
def _backend(backend: str, jobs: int) -> Iterator[None]:
    import joblib

    opened = {"loky": _loky, "ray": _ray, "dask": _dask}[backend]
    with opened(jobs) as options, joblib.parallel_config(backend=backend, n_jobs=jobs, **options):
        yield


@contextlib.contextmanager
def _loky(jobs: int) -> Iterator[dict[str, Any]]:
    from joblib.externals.loky import get_reusable_executor

    try:
        yield {"inner_max_num_threads": 1}
    finally:
        # Workers that outlive the run would answer the next one with the code they imported for this one.
        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _ray(jobs: int) -> Iterator[dict[str, Any]]:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        local = {} if "RAY_ADDRESS" in os.environ else _local_ray(jobs)
        ray.init(log_to_driver=False, logging_level="error", **local)
    try:
        yield {}
    finally:
        if started:
            ray.shutdown()


def _local_ray(jobs: int) -> dict[str, Any]:
    return {"num_cpus": jobs, "object_store_memory": _RAY_OBJECT_STORE_BYTES, "include_dashboard": False}


@contextlib.contextmanager
def _dask(jobs: int) -> Iterator[dict[str, Any]]:
    import dask
    from distributed import Client, LocalCluster

    address = os.environ.get("DASK_SCHEDULER_ADDRESS")
    if address is not None:
        with Client(address) as client:
            yield {"client": client}
        return
    # A cell that kills its worker is found by running it alone, not by letting it kill three more.
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield {"client": client}
