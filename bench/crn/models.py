"""SBML models as the commands see them: the network, and the factor graph inside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from scisuite.bench.crn.files import require_file
from scisuite.bench.crn.stages import Stages
from scisuite.core import InvalidInput

if TYPE_CHECKING:
    from scisuite.scenarios.factor_graphs import FactorGraph
    from scisuite.solvers.crn_reduce.network import CRN, Pools
    from scisuite.solvers.crn_reduce.recovery import Recovery
    from scisuite.solvers.crn_reduce.trajectory import PoolReading

UNITS = ("refuse", "ignore")


@dataclass(frozen=True, eq=False)
class Model:
    """An SBML file that holds a Napp–Adams network.

    Attributes
    ----------
    path : Path
    crn : CRN
    annotated : bool
        Whether the file says what its species stand for, so that variables have names.
    recovery : Recovery
        The factor graph, named as the annotation names it. Without one the values of a variable are called by the
        species of its belief pool, so that a reduced network still says what they were.
    warnings : tuple of str
        About what was not read.
    """

    path: Path
    crn: CRN
    annotated: bool
    recovery: Recovery
    warnings: tuple[str, ...] = ()

    @property
    def graph(self) -> FactorGraph:
        return self.recovery.graph

    @property
    def pools(self) -> Pools:
        return self.recovery.pools

    def species(self, places: Iterable[int]) -> tuple[str, ...]:
        """The ids of species by their places."""
        return tuple(self.crn.species[place] for place in places)

    def values(self, variable: str) -> tuple[str, ...]:
        """Names of a variable's values; their places where they have none."""
        return self.graph.states.get(variable) or tuple(str(k) for k in range(self.graph.card[variable]))


def read_model(path: Path, units: str, stages: Stages, which: str = "") -> Model:
    """Read a model and recover its factor graph, in two stages, called ``read`` and ``recover`` and ``which`` it is.

    Raises
    ------
    InvalidInput
        If there is no such file or it cannot be read; the message names the file, the element and the line.
    NotNappAdams
        If it is another kind of network; the message names the species or reaction that shows it.
    """
    from scisuite.scenarios.factor_graphs import FactorGraph
    from scisuite.solvers.crn_reduce.recovery import recover_factor_graph, recover_named
    from scisuite.solvers.crn_reduce.sbml import read_sbml

    if units not in UNITS:
        raise InvalidInput(f"--units takes {' or '.join(UNITS)}, not {units!r}")
    require_file(path)
    try:
        with stages(f"read {which}".rstrip()):
            crn, states, unread = read_sbml(path, units=units)
        with stages(f"recover {which}".rstrip()):
            found = recover_factor_graph(crn) if crn.pools is None else recover_named(crn)
    except InvalidInput as error:
        # The reader speaks of its own argument.
        message = str(error).replace("units='ignore'", "--units ignore")
        raise type(error)(f"{path}: {message}") from error
    if crn.pools is None:
        states = _species_of_beliefs(crn, found.pools)
    graph = FactorGraph.trusted(found.graph.card, found.graph.factors, found.graph.log_scale, states)
    warnings = (f"{path}: {unread}",) if unread else ()
    return Model(path, crn, crn.pools is not None, replace(found, graph=graph), warnings)


def _species_of_beliefs(crn: CRN, pools: Pools) -> dict[str, tuple[str, ...]]:
    """The ids of each belief pool's species: the only names that an anonymous network has for a variable's values."""
    from scisuite.solvers.crn_reduce.network import BELIEF

    return {
        key.variable: tuple(crn.species[s] for s in pools.species_of(i).tolist())
        for i, key in enumerate(pools.keys)
        if key.kind == BELIEF
    }


def pool_totals(model: Model) -> tuple[float, float]:
    """The least and the greatest total of a pool at the start, which are the same in a compiled network."""
    totals = np.bincount(model.pools.pool_of, model.crn.initial, minlength=len(model.pools.keys))
    return float(totals.min()), float(totals.max())


def odd_totals(model: Model) -> list[str]:
    """Warnings about pools that are empty or of different totals."""
    totals = np.bincount(model.pools.pool_of, model.crn.initial, minlength=len(model.pools.keys))
    empty = np.flatnonzero(totals == 0)
    least, greatest = pool_totals(model)
    warnings = []
    if len(empty):
        one = len(empty) == 1
        more = "" if one else f" and {len(empty) - 1} more"
        warnings.append(
            f"the {'pool' if one else 'pools'} {model.pools.keys[empty[0]]}{more} of {model.path} "
            f"{'is' if one else 'are'} empty, and will be: nothing can be read there"
        )
    if greatest - least > 1e-9 * greatest:
        warnings.append(f"the pools of {model.path} have different totals, from {least:.6g} to {greatest:.6g}")
    return warnings


def least_assigned(reading: PoolReading) -> float | None:
    """The least assigned mass of a pool, relative to its total, over pools that hold anything; None if none does."""
    held = reading.pool_totals > 0
    if not held.any():
        return None
    return max(float((reading.assigned_mass[held] / reading.pool_totals[held]).min()), 0.0)
