"""A campaign as a JSON file: written whole after every change, read back to go on exactly where it was."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scisuite.core import DamagedFile, InvalidInput, NewerFormat, Space
from scisuite.core.files import read_json, write_json
from scisuite.solvers.labo.records import Query, Step

if TYPE_CHECKING:
    from scisuite.solvers.labo.campaign import Campaign

STATE_FORMAT = "scisuite-labo-campaign"
STATE_VERSION = 1


def save_state(campaign: Campaign, path: Path) -> None:
    """Write ``campaign`` to ``path`` atomically."""
    rows = campaign._start_rows
    state = {
        "format": STATE_FORMAT,
        "version": STATE_VERSION,
        "settings": campaign._settings(),
        "steps": [asdict(step) for step in campaign.trace.steps],
        "pending": [{**asdict(query), "p_delta": campaign._p_delta.get(query.id)} for query in campaign._pending],
        "stage": campaign._stage,
        "next_id": campaign._next_id,
        "n_decisions": campaign._n_decisions,
        "n_warm_start": campaign._n_warm_start,
        "rho": campaign.rho,
        "start_rows": None if rows is None else rows.tolist(),
    }
    write_json(path, state)


def load_state(campaign: Campaign, path: Path) -> None:
    """Bring a newly made ``campaign`` to where the one in ``path`` was.

    Raises
    ------
    InvalidInput
        If the file belongs to a campaign with other settings, which are named.
    DamagedFile, NewerFormat
        If it is not, or not yet, a state that can be read.
    """
    state = _checked(read_json(path), path)
    mine, theirs = campaign._settings(), state.get("settings")
    if not isinstance(theirs, Mapping):
        raise DamagedFile(f"{path} is incomplete: it names no settings")
    if differing := [name for name in mine if theirs.get(name) != mine[name]]:
        raise InvalidInput(f"{path} belongs to a campaign with another {', '.join(differing)}")
    try:
        for entry in state["steps"]:
            _replay(campaign, _query_from_json(entry["query"], campaign.space), entry)
        for entry in state["pending"]:
            query = _query_from_json(entry, campaign.space)
            campaign._points[np.array(query.encoded).tobytes()] = np.array(query.encoded)
            campaign._pending.append(query)
            campaign._p_delta[query.id] = entry["p_delta"]
        campaign._stage, campaign._next_id, campaign.rho = int(state["stage"]), int(state["next_id"]), state["rho"]
        campaign._n_warm_start = int(state["n_warm_start"])
        campaign._n_decisions = int(state["n_decisions"])
        rows = state["start_rows"]
        campaign._start_rows = None if rows is None else np.array(rows)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFile(f"{path} is incomplete: {error}") from error


def _checked(state: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(state, Mapping) or state.get("format") != STATE_FORMAT:
        raise DamagedFile(f"{path} is not the state of a campaign")
    version = state.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DamagedFile(f"{path}: version {version!r} is not a version")
    if version > STATE_VERSION:
        raise NewerFormat(f"{path} has version {version}; this scisuite reads up to {STATE_VERSION}: upgrade scisuite")
    return state


def _replay(campaign: Campaign, query: Query, entry: Mapping[str, Any]) -> None:
    value = math.nan if entry["value"] is None else float(entry["value"])
    row = np.array(query.encoded)
    campaign._points[row.tobytes()] = row
    if query.source == "llm":
        campaign._llm[row.tobytes()] = value
        campaign._n_llm += 1
        campaign._n_failed += math.isnan(value)
    else:
        campaign._real.append((row.tobytes(), value))
    best = math.nan if entry["best"] is None else entry["best"]
    step = Step(query, value, entry["p_delta"], entry["rho"], best, campaign.n_real, campaign.n_llm)
    campaign.trace.steps.append(step)


def _query_from_json(entry: Mapping[str, Any], space: Space) -> Query:
    # The file sorts its keys; a person expects the variables in the space's order.
    point = {name: entry["x"][name] for name in space.names}
    return Query(int(entry["id"]), point, entry["source"], tuple(map(float, entry["encoded"])), entry["index"])
