"""``check``: whether a model is a Napp–Adams network, and which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scisuite.bench.crn.keep import belief_species
from scisuite.bench.crn.models import Model, least_assigned, odd_totals, pool_totals, read_model
from scisuite.bench.crn.stages import Stages


def check(path: Path, *, steady: bool, units: str) -> dict[str, Any]:
    """Everything that the network says about its factor graph and, if asked for, its steady state.

    Raises
    ------
    InvalidInput
        If the model cannot be read.
    NotNappAdams
        If it is another kind of network.
    """
    with Stages(f"check {path}", total=3 if steady else 2) as stages:
        model = read_model(path, units, stages)
        state = None
        if steady:
            with stages("steady state"):
                state = steady_figures(model)
    graph = model.graph
    return {
        "input": str(path),
        "napp_adams": True,
        "annotated": model.annotated,
        "variables": [
            {"name": v, "values": model.values(v), "degree": graph.degree(v), "species": belief_species(model, v)}
            for v in graph.card
        ],
        "factors": [
            {"name": f, "scope": factor.variables, "shape": factor.table.shape, "zeros": int(np.sum(factor.table == 0))}
            for f, factor in graph.factors.items()
        ],
        "components": len(graph.components()),
        "species": model.crn.n_species,
        "reactions": model.crn.n_reactions,
        "max_molecularity": model.crn.max_molecularity,
        "rates": {name: float(rate) for name, rate in vars(model.recovery.rates).items()},
        "pool_totals": pool_totals(model),
        "ambiguities": [vars(item) for item in model.recovery.ambiguities],
        "steady": state,
        "seconds": stages.rounded(),
        "warnings": _warnings(model, state),
    }


def steady_figures(model: Model) -> dict[str, Any]:
    """Whether the network comes to rest, and which pools are extinct there."""
    from scisuite.solvers.crn_reduce.steady import steady_state

    state = steady_state(model.crn, pools=model.pools)
    return {
        "converged": state.converged,
        "residual": state.residual,
        "relative_residual": state.relative_residual,
        "rest_time": state.rest_time,
        "extinct": [str(pool) for pool in state.extinct()],
        "least_assigned": least_assigned(state),
    }


def _warnings(model: Model, state: dict[str, Any] | None) -> list[str]:
    warnings = [*model.warnings, *odd_totals(model)]
    if state is not None and not state["converged"]:
        warnings.append(
            f"no steady state was found: what is said of it is where the search ended, and the residual there is "
            f"{state['relative_residual']:.1e} of the fastest turnover"
        )
    if state is not None and state["extinct"]:
        warnings.append(extinction(state["extinct"]))
    return warnings


def extinction(pools: list[str]) -> str:
    """One line about pools that are extinct.

    >>> extinction(["sum f→v", "sum g→v"])
    'message extinction: the pools sum f→v, sum g→v have lost all of their values; beliefs read here are wrong'
    """
    shown = ", ".join(pools[:3]) + (f" and {len(pools) - 3} more" if len(pools) > 3 else "")
    one = len(pools) == 1
    return (
        f"message extinction: the {'pool' if one else 'pools'} {shown} {'has' if one else 'have'} lost all of "
        f"{'its' if one else 'their'} values; beliefs read here are wrong"
    )
