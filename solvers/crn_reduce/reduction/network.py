"""Reduce a reaction network by way of the factor graph inside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.network import BELIEF, CRN
from scisuite.solvers.crn_reduce.reduction.reduction import Reduction, reduce

if TYPE_CHECKING:
    from scisuite.solvers.crn_reduce.recovery import Recovery


def reduce_crn(
    crn: CRN, keep: Iterable[str] = (), moves: Sequence[str] = ("leaf", "unary", "series")
) -> tuple[CRN, Reduction]:
    """Recover a network's factor graph, reduce it, and compile what is left with the network's own rates.

    Parameters
    ----------
    keep : iterable of str
        Variables that stay: by name, or by the name of any species of their belief pools. A network without annotation
        names none; :func:`~scisuite.solvers.crn_reduce.recovery.recover_factor_graph` calls them ``v0``, ``v1``, ….
    moves : sequence of str
        See :func:`~scisuite.solvers.crn_reduce.reduction.reduction.reduce`.

    Raises
    ------
    NotNappAdams
        If the network is no compiled factor graph.
    InvalidInput
        If something to be kept is neither a variable nor a species of a belief pool, or the tables' zeros prove the
        graph impossible.
    NotExactError
        If there is no such move.
    """
    from scisuite.solvers.crn_reduce.recovery import recover_factor_graph, recover_named

    recovery = recover_factor_graph(crn) if crn.pools is None else recover_named(crn)
    reduction = reduce(recovery.graph, kept_variables(crn, recovery, keep), moves)
    return compile_napp_adams(reduction.graph, **vars(recovery.rates)), reduction


def kept_variables(crn: CRN, recovery: Recovery, names: Iterable[str]) -> tuple[str, ...]:
    """The variables that are meant by names of variables or of species of their belief pools.

    Raises
    ------
    InvalidInput
        If a name is neither; the message says which message the species belongs to, or the nearest name.
    """
    if isinstance(names, str):
        raise InvalidInput(f"keep must be a list of variables or species, not the text {names!r}")
    number: dict[str, int] = {}
    found: dict[str, None] = {}
    for name in names:
        if name in recovery.graph.card:
            found[name] = None
            continue
        number = number or {species: i for i, species in enumerate(crn.species)}
        if name not in number:
            known = [*recovery.graph.card, *crn.species]
            raise InvalidInput(f"keep: there is no variable or species {name!r}{did_you_mean(str(name), known)}")
        key = recovery.pools.keys[recovery.pools.pool_of[number[name]]]
        if key.kind != BELIEF:
            raise InvalidInput(f"keep: species {name!r} belongs to the pool {key}, not to the belief of a variable")
        found[key.variable] = None
    return tuple(found)
