"""Running an experiment: what is missing runs, what is there stays, what breaks becomes a row."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from scisuite.bench.backends import refuse_unknown_backend, run_alone, run_side_by_side
from scisuite.bench.cells import row_of
from scisuite.bench.experiment import Experiment
from scisuite.bench.plan import Cell, cell_of, pending, plan
from scisuite.bench.provenance import missing_dependency
from scisuite.bench.store import Arrivals, Row, RowStore, read_row
from scisuite.core import EngineFailure, InvalidInput
from scisuite.core.progress import Progress

_POLL_SECONDS = 0.5


def run(
    experiment: Experiment | str,
    tier: str,
    *,
    seeds: int | None = None,
    arms: Iterable[str] | None = None,
    claims: Iterable[str] | None = None,
    jobs: int | None = None,
    backend: str = "loky",
    out: str | os.PathLike[str] = "runs",
    progress: bool = True,
    on_damaged: Callable[[InvalidInput], object] | None = None,
) -> list[Row]:
    """Run the cells of a tier that have no current row, and return the rows of all its cells.

    A row is current if it is ``ok`` and was made by the present code; so a run that was killed, or interrupted by
    Ctrl-C, goes on where it was when it is started again. Cells run on one thread each. Timed (``exclusive``) cells
    run last, one after the other on this machine, with no worker beside them; so do all cells where ``jobs`` is 1.

    Parameters
    ----------
    experiment : Experiment or str
    tier : str
    seeds, arms, claims
        As in :func:`scisuite.bench.plan.plan`.
    jobs : int or None
        Workers; the cores that this process may use by default. A Dask cluster that runs already uses all of its own.
    backend : {"loky", "ray", "dask"}
        Processes on this machine, or a cluster that shares the folder ``out``: the one that ``RAY_ADDRESS`` or
        ``DASK_SCHEDULER_ADDRESS`` names, else a local one that is started and stopped here.
    out : path
        Rows are written to ``<out>/<experiment>/<tier>/``.
    progress : bool
        Whether a run of more than two seconds shows a bar on standard error.
    on_damaged : callable or None
        Is told, before anything runs, of each row that cannot be read; its cell runs again. By default that is a
        :class:`~scisuite.bench.store.DamagedRowWarning`.

    Returns
    -------
    list of rows, in the order of the plan, with ``error`` and ``skipped`` ones among them

    Raises
    ------
    InvalidInput
        Before any cell runs, if the request is wrong or ``out`` cannot be written.
    MissingDependency
        Before any cell runs, if the backend is not installed.
    EngineFailure
        If a row cannot be written, such as on a full disk. All others stay.
    """
    import joblib

    cells = plan(experiment, tier, seeds=seeds, arms=arms, claims=claims)
    refuse_unknown_backend(backend)
    if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1):
        raise InvalidInput(f"the number of jobs must be a positive integer, not {jobs!r}")
    jobs = jobs or joblib.cpu_count()
    store = RowStore(out)
    store.refuse_unwritable(cells[0].experiment, tier)
    damaged: list[InvalidInput] | None = None if on_damaged is None else []
    todo = pending(cells, store, damaged)
    if on_damaged is not None:
        for error in damaged or ():
            on_damaged(error)
    todo = _skip_missing(todo, store)
    with _watch(todo, store, progress):
        together = [cell for cell in todo if not cell.exclusive]
        if jobs == 1 and backend == "loky":
            run_alone(together, store)
        elif together:
            run_side_by_side(together, store, backend, jobs)
        run_alone([cell for cell in todo if cell.exclusive], store)
    return [_row_of_cell(cell, store) for cell in cells]


def repeat(row: Mapping[str, Any] | str | os.PathLike[str]) -> tuple[Row, list[dict[str, Any]]]:
    """Run the cell of a row, or of a row's file, again, and compare; nothing is written to the row's folder.

    Returns
    -------
    new_row : row
        Its ``code`` is that of the present sources and versions, which may not be those of the first.
    differences : list of {"what", "was", "now"}
        Empty where status, error, metrics and curves are the same to the last bit. A curve is named once, with its
        first differing values.
    """
    if isinstance(row, str | os.PathLike):
        row = read_row(row)
    cell = cell_of(row)
    with tempfile.TemporaryDirectory() as folder:
        store = RowStore(folder)
        run_alone([cell], store)
        new_row = _row_of_cell(cell, store)
    return new_row, _differences(row, new_row)


def _skip_missing(cells: Sequence[Cell], store: RowStore) -> list[Cell]:
    """Write a ``skipped`` row for each cell whose extras are not all here, and return the others."""
    absent = {extras: missing_dependency("the arm", extras) for extras in {cell.extras for cell in cells}}
    for cell in cells:
        if (error := absent[cell.extras]) is not None:
            store.write(row_of(cell, "skipped", error=str(error)))
    return [cell for cell in cells if absent[cell.extras] is None]


def _row_of_cell(cell: Cell, store: RowStore) -> Row:
    path = store.path(cell.experiment, cell.tier, cell.key)
    if not path.exists():
        raise EngineFailure(f"the row of {cell.arm} on {cell.scenario}, seed {cell.seed}, is gone from {path}")
    return read_row(path)


@contextlib.contextmanager
def _watch(cells: Sequence[Cell], store: RowStore, enabled: bool) -> Iterator[None]:
    """Show how many rows have come into the folder: workers anywhere write there, and nothing is sent back."""
    if not enabled or not cells:
        yield
        return
    arrivals = Arrivals(store.path(cell.experiment, cell.tier, cell.key) for cell in cells)
    title = f"{cells[0].experiment} {cells[0].tier}"
    stopped = threading.Event()
    with Progress(title, len(cells)) as bar:
        watcher = threading.Thread(target=_follow, args=(arrivals, bar, stopped), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stopped.set()
            watcher.join()


def _follow(arrivals: Arrivals, bar: Progress, stopped: threading.Event) -> None:
    status: dict[Path, str] = {}
    done = False
    while not done:
        done = stopped.wait(_POLL_SECONDS)
        for path in arrivals.paths():
            if path not in status:
                with contextlib.suppress(InvalidInput):
                    status[path] = read_row(path)["status"]
        failed = sum(word != "ok" for word in status.values())
        bar.update(len(status), f"{failed} failed or skipped" if failed else "")


def _differences(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = [_difference(name, was.get(name), now.get(name)) for name in ("status", "error")]
    for name in sorted({*was["metrics"], *now["metrics"]}):
        found.append(_difference(f"metrics.{name}", was["metrics"].get(name), now["metrics"].get(name)))
    for name in sorted({*was["curves"], *now["curves"]}):
        found += _curve_differences(name, was["curves"].get(name), now["curves"].get(name))
    return [difference for difference in found if difference["was"] != difference["now"]]


def _difference(what: str, was: Any, now: Any) -> dict[str, Any]:
    return {"what": what, "was": was, "now": now}


def _curve_differences(name: str, was: Any, now: Any) -> list[dict[str, Any]]:
    if was == now:
        return []
    if was is None or now is None:
        return [
            _difference(f"curves.{name}", "absent" if was is None else "there", "absent" if now is None else "there")
        ]
    for axis in ("x", "y"):
        if len(was[axis]) != len(now[axis]):
            return [_difference(f"curves.{name}.{axis} (length)", len(was[axis]), len(now[axis]))]
        for index, (old, new) in enumerate(zip(was[axis], now[axis], strict=True)):
            if old != new:
                return [_difference(f"curves.{name}.{axis}[{index}]", old, new)]
    return [_difference(f"curves.{name}", [was["x_label"], was["y_label"]], [now["x_label"], now["y_label"]])]
