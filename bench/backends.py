"""Where cells run: worker processes here, a Ray or Dask cluster, or one process alone."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from scisuite.bench.cells import ONE_THREAD, row_of, run_cell
from scisuite.bench.plan import Cell
from scisuite.bench.store import Arrivals, RowStore
from scisuite.core import EngineFailure, InvalidInput, MissingDependency
from scisuite.core.registry import did_you_mean

Batch = Callable[[Sequence[Cell], RowStore], str | None]
"""Runs cells side by side; says what broke, if something did that is not the cells' own."""

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
    with _OPEN[backend](jobs) as batch:
        while left:
            failure = batch(left, store)
            if failure is None:
                return
            missing = [cell for cell in left if _path(store, cell) not in arrivals]
            came_back = len(missing) < len(left)
            # joblib hands out twice as many cells as there are workers, so what broke the batch is among the first.
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


def _path(store: RowStore, cell: Cell) -> Path:
    return store.path(cell.experiment, cell.tier, cell.key)


def _new_worker() -> Any:
    from joblib.externals.loky import ProcessPoolExecutor

    return ProcessPoolExecutor(max_workers=1, env=ONE_THREAD, initializer=_leave_interrupts_to_the_parent)


def _leave_interrupts_to_the_parent() -> None:
    """Ignore Ctrl-C in a worker: a terminal sends it to the whole group, and the parent ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
def _loky(jobs: int) -> Iterator[Batch]:
    from joblib.externals.loky import get_reusable_executor

    try:
        options = {"inner_max_num_threads": 1, "initializer": _leave_interrupts_to_the_parent}
        yield partial(_joblib_batch, backend="loky", jobs=jobs, **options)
    finally:
        # Workers that outlive the run would answer the next one with the code they imported for this one.
        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


@contextlib.contextmanager
def _ray(jobs: int) -> Iterator[Batch]:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    started = not ray.is_initialized()
    if started:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        local: dict[str, Any] = {
            "num_cpus": jobs,
            "object_store_memory": _RAY_OBJECT_STORE_BYTES,
            "include_dashboard": False,
        }
        with _termination_kept():
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **({} if "RAY_ADDRESS" in os.environ else local))
    try:
        yield partial(_joblib_batch, backend="ray", jobs=jobs)
    finally:
        if started:
            ray.shutdown()


@contextlib.contextmanager
def _termination_kept() -> Iterator[None]:
    """Put the handler of SIGTERM back that the body replaces: Ray's ends the process with exit code 15."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)


def _joblib_batch(cells: Sequence[Cell], store: RowStore, *, backend: str, jobs: int, **options: Any) -> str | None:
    import joblib

    tasks = (joblib.delayed(run_cell)(cell, str(store.folder), tuple(sys.path)) for cell in cells)
    try:
        with warnings.catch_warnings(), joblib.parallel_config(backend=backend, n_jobs=jobs, **options):
            # loky replaces a worker whose memory has grown, between two cells; nothing is lost.
            warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
            joblib.Parallel(batch_size=1, pre_dispatch="2*n_jobs", max_nbytes=None)(tasks)
    except (EngineFailure, InvalidInput):
        raise
    except Exception as error:
        return _in_one_line(error)
    return None


@contextlib.contextmanager
def _dask(jobs: int) -> Iterator[Batch]:
    import dask
    from distributed import Client, LocalCluster

    if address := os.environ.get("DASK_SCHEDULER_ADDRESS"):
        with Client(address) as client:
            yield partial(_dask_batch, client)
        return
    settings = {
        # A cell that kills its worker is found by running it alone, not by letting it kill three more.
        "distributed.scheduler.allowed-failures": 0,
        # A daemon may not have children, and an arm may want some.
        "distributed.worker.daemon": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        yield partial(_dask_batch, client)


def _dask_batch(client: Any, cells: Sequence[Cell], store: RowStore) -> str | None:
    # Through distributed itself: joblib's dask backend waits for ever for a task whose worker was killed.
    from distributed import as_completed

    futures = [client.submit(run_cell, cell, str(store.folder), tuple(sys.path), pure=False) for cell in cells]
    failure = None
    try:
        for future in as_completed(futures):
            error = future.exception()
            if isinstance(error, EngineFailure | InvalidInput):
                raise error
            if error is not None:
                failure = _in_one_line(error)
    finally:
        client.cancel(futures)
    return failure


def _in_one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).strip() or 'no message').splitlines()[0]}"


_OPEN: Mapping[str, Callable[[int], AbstractContextManager[Batch]]] = {"loky": _loky, "ray": _ray, "dask": _dask}
