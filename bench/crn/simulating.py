"""``simulate``: a network's beliefs over time."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scisuite.bench.crn.checking import extinction
from scisuite.bench.crn.files import require_writable
from scisuite.bench.crn.keep import kept_variables
from scisuite.bench.crn.models import Model, least_assigned, odd_totals, read_model
from scisuite.bench.crn.options import read_keep
from scisuite.bench.crn.stages import Stages
from scisuite.core import InvalidInput

if TYPE_CHECKING:
    from scisuite.solvers.crn_reduce.trajectory import Trajectory

METHODS = ("bdf", "roadrunner")

_AT_REST = 1e-7
"""Largest speed, in pools' totals over the time 1/k_rec, that counts as rest."""


def simulate_model(
    path: Path,
    *,
    time: float,
    method: str,
    keep: Sequence[str] | None,
    table: Path | None,
    compare: bool,
    units: str,
    force: bool,
) -> dict[str, Any]:
    """Simulate a model, and write the beliefs over time if asked for.

    Raises
    ------
    InvalidInput
        If an option is wrong, the output exists, or the model cannot be read or is no Napp–Adams network.
    EngineFailure
        If the integrator gives up.
    """
    from scisuite.core.files import write_atomic
    from scisuite.solvers.crn_reduce.simulation import simulate

    if method not in METHODS:
        raise InvalidInput(f"--method takes {' or '.join(METHODS)}, not {method!r}")
    if not (math.isfinite(time) and time > 0):
        raise InvalidInput(f"--time must be a finite number above zero, not {time:g}")
    words = read_keep(keep)
    if table is not None:
        require_writable(table, force=force, inputs=[path])
    with Stages(f"simulate {path}", total=4 if compare else 3) as stages:
        model = read_model(path, units, stages)
        shown = kept_variables(model, words) or tuple(model.graph.card)
        with stages(f"simulate by {method}"):
            trajectory = simulate(model.crn, time, method, pools=model.pools)
        compared = None
        if compare:
            with stages("belief propagation"):
                compared = _compared(model, trajectory, shown)
    if table is not None:
        write_atomic(table, _as_csv(model, trajectory, shown))
    extinct = [str(pool) for pool in trajectory.extinct()]
    return {
        "input": str(path),
        "csv": table and str(table),
        "method": method,
        "time": time,
        "beliefs": {v: dict(zip(model.values(v), trajectory.beliefs[v].tolist(), strict=True)) for v in shown},
        "extinct": extinct,
        "least_assigned": least_assigned(trajectory),
        "drift": _drift(trajectory),
        "residual": trajectory.residual,
        "rest_time": trajectory.rest_time,
        "belief_propagation": compared,
        "simulate_seconds": trajectory.seconds,
        "seconds": stages.rounded(),
        "warnings": _warnings(model, trajectory, extinct),
    }


def _warnings(model: Model, trajectory: Trajectory, extinct: list[str]) -> list[str]:
    rates = model.recovery.rates
    warnings = [*model.warnings, *odd_totals(model)]
    if extinct:
        warnings.append(extinction(extinct))
    if trajectory.residual > _AT_REST * rates.k_rec * rates.total:
        warnings.append(
            f"the network is not at rest at time {trajectory.times[-1]:g}: species still change by up to "
            f"{trajectory.residual:.1e} in a unit of time; give a larger --time"
        )
    return warnings


def _drift(trajectory: Trajectory) -> float:
    """Largest relative change of a pool's total from start to end."""
    totals = trajectory.conserved.totals(trajectory.concentrations[[0, -1]])
    held = totals[0] > 0
    return float((np.abs(totals[1] - totals[0])[held] / totals[0][held]).max(initial=0.0))


def _compared(model: Model, trajectory: Trajectory, shown: Sequence[str]) -> dict[str, Any]:
    from scisuite.solvers.crn_reduce.belief_propagation import bp

    result = bp(model.graph)
    differences = None
    if result.converged:
        differences = {v: float(np.abs(result.var_beliefs[v] - trajectory.beliefs[v]).max()) for v in shown}
    return {
        "converged": result.converged,
        "iterations": result.iterations,
        "residual": result.residual,
        "differences": differences,
        "max_difference": differences and max(differences.values()),
    }


def _as_csv(model: Model, trajectory: Trajectory, shown: Sequence[str]) -> str:
    """One line a time; a column ``variable=value`` for each belief."""
    from scisuite.solvers.crn_reduce.network import BELIEF, PoolKey

    columns: list[np.ndarray] = []
    for v in shown:
        species = model.pools.species_of(model.pools.number[PoolKey(BELIEF, v)])
        mass = np.maximum(trajectory.concentrations[:, species], 0.0)
        with np.errstate(invalid="ignore"):
            columns += list((mass / mass.sum(axis=1, keepdims=True)).T)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["time", *(f"{v}={value}" for v in shown for value in model.values(v))])
    lines.writerows(np.column_stack([trajectory.times, *columns]).tolist())
    return text.getvalue()
