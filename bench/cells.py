"""Running one cell: what a worker does."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scisuite import scenarios
from scisuite.bench.cost import Meter
from scisuite.bench.experiment import Arm, Curve, Outcome
from scisuite.bench.plan import Cell
from scisuite.bench.provenance import environment
from scisuite.bench.store import SCHEMA, Row, RowStore
from scisuite.core import Budget, InvalidInput, MissingDependency
from scisuite.core.files import jsonable

ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)
_TRACEBACK_LINES = 12


def run_cell(cell: Cell, folder: str, sys_path: Sequence[str] = ()) -> None:
    """Answer ``cell`` and write its row below ``folder``. Only for worker processes: it redirects the process's output.

    Parameters
    ----------
    cell : Cell
    folder : str
        Absolute path of the row store; on a cluster, of the shared folder.
    sys_path : sequence of str
        Import path of the process that asked, for plug-ins that are not installed.

    Raises
    ------
    InvalidInput, EngineFailure
        If the row cannot be written. What the arm raises becomes the row's error.
    """
    sys.path.extend(path for path in sys_path if path not in sys.path)
    # Standard output belongs to whoever started the bench (it may be JSON), so what an engine prints goes elsewhere.
    with contextlib.suppress(OSError):
        os.dup2(2, 1)
    os.environ.update(ONE_THREAD)
    RowStore(folder).write(answer(cell))


def answer(cell: Cell) -> Row:
    """Run ``cell`` on one thread and return its row.

    The arm's module is imported, its ``warm_up()`` called where it has one, and the scenario made before the clock
    starts. The scenario has seed 0 whatever the seed of the cell, so that all seeds meet the same data; an arm that
    wants another world for each seed makes it itself. The cell's seed goes to the arm.
    """
    meter = Meter()
    try:
        function = Arm(cell.arm, cell.run, "method").load()
        warm_up = getattr(importlib.import_module(cell.run.partition(":")[0]), "warm_up", None)
        if warm_up is not None:
            warm_up()
        scenario = scenarios.make(cell.scenario, seed=0)
        with _one_thread(), meter:
            outcome = function(scenario, cell.seed, Budget.parse(cell.budget), **cell.config)
        results = _results(cell, outcome)
    except MissingDependency as error:
        return row_of(cell, "skipped", error=" ".join(str(error).split()), meter=meter)
    except (Exception, SystemExit) as error:
        return row_of(cell, "error", error=_explanation(error), meter=meter)
    return row_of(cell, "ok", meter=meter, **results)


def row_of(
    cell: Cell,
    status: str,
    *,
    error: str | None = None,
    metrics: Mapping[str, Any] | None = None,
    curves: Mapping[str, Any] | None = None,
    budget_used: float | None = None,
    meter: Meter | None = None,
) -> Row:
    """The row of a cell: all of it but ``cost`` and ``environment`` is the same whenever the cell is run."""
    row = {
        "schema": SCHEMA,
        "key": cell.key,
        "code": cell.code,
        "experiment": cell.experiment,
        "tier": cell.tier,
        "arm": cell.arm,
        "scenario": cell.scenario,
        "seed": cell.seed,
        "config": cell.config,
        "budget": cell.budget,
        "run": cell.run,
        "status": status,
        "error": error,
        "metrics": metrics or {},
        "curves": curves or {},
        "cost": (meter or Meter()).to_json(budget_used),
        "environment": environment(cell.extras),
    }
    cleaned: Row = jsonable(row)
    return cleaned


def _results(cell: Cell, outcome: Any) -> dict[str, Any]:
    if not isinstance(outcome, Outcome):
        raise InvalidInput(f"{cell.run} must return an Outcome, not {type(outcome).__name__}")
    curves = {str(name): _curve(name, curve) for name, curve in outcome.curves.items()}
    metrics = {str(name): float(value) for name, value in outcome.metrics.items()}
    used = None if outcome.budget_used is None else float(outcome.budget_used)
    return {"metrics": metrics, "curves": curves, "budget_used": used}


def _curve(name: str, curve: Curve) -> dict[str, Any]:
    if len(curve.x) != len(curve.y):
        raise InvalidInput(f"curve {name} has {len(curve.x)} x and {len(curve.y)} y")
    x, y = ([float(value) for value in values] for values in (curve.x, curve.y))
    return {"x": x, "y": y, "x_label": curve.x_label, "y_label": curve.y_label}


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    import threadpoolctl

    torch = sys.modules.get("torch")
    threads = torch.get_num_threads() if torch is not None else None
    if torch is not None:
        torch.set_num_threads(1)
    try:
        with threadpoolctl.threadpool_limits(limits=1):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(threads)


def _explanation(error: BaseException) -> str:
    """The innermost calls, without folders and addresses, which differ between machines; the last line says it all."""
    calls = traceback.extract_tb(error.__traceback__)[1:][-_TRACEBACK_LINES:]
    lines = [f"{os.path.basename(c.filename)}:{c.lineno} in {c.name}: {c.line or ''}".rstrip(": ") for c in calls]
    message = " ".join(str(error).split())
    lines.append(f"{type(error).__name__}: {message}" if message else type(error).__name__)
    return _clean("\n".join(lines))


def _clean(text: str) -> str:
    return re.sub(r"\b0x[0-9a-fA-F]{6,}\b", "0x…", text)
