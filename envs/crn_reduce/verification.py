"""Whether a reduction left belief propagation's fixed points where they were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scisuite.core import InvalidInput

if TYPE_CHECKING:
    from scisuite.solvers.crn_reduce.reduction import Reduction

N_STARTS = 4
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Verification:
    """What was found.

    Attributes
    ----------
    verified : bool
        Every run that converged on the full graph led to a fixed point that the reduced graph has, too, and there was
        such a run.
    moved : bool
        A surviving belief differs by :data:`TOLERANCE` or more.
    reason : str
        In words.
    belief_error : float or None
        Largest difference of a surviving belief; ``None`` if none was compared.
    converged : int
        How many of the runs on the full graph converged.
    """

    verified: bool
    moved: bool
    reason: str
    belief_error: float | None
    converged: int


def verify_reduction(reduction: Reduction, rng: np.random.Generator) -> Verification:
    """Carry fixed points of the full graph over to the reduced one and see whether belief propagation stays there.

    Belief propagation runs on the full graph from uniform messages and from three drawn starts. The message from a
    factor of the reduced graph to a variable begins as the product of the messages to it from the factors that were
    merged; independent runs on the two graphs could part where there are several fixed points.

    Parameters
    ----------
    reduction : Reduction
    rng : numpy.random.Generator
    """
    from scisuite.solvers.crn_reduce.belief_propagation import run
    from scisuite.solvers.crn_reduce.message_passing import MessagePassing

    full, reduced = reduction.original, reduction.graph
    try:
        before = [found for found in run(MessagePassing(full), [None, *[rng] * (N_STARTS - 1)]) if found.converged]
    except InvalidInput as error:
        return Verification(False, False, f"belief propagation fails on the full graph: {error}", None, 0)
    if not before:
        return Verification(False, False, "no run of belief propagation converged on the full graph", None, 0)
    try:
        starts = [reduction.carry(found.messages) for found in before]
        after = run(MessagePassing(reduced), starts)
    except InvalidInput as error:
        return Verification(False, True, f"the reduced graph has not that fixed point: {error}", None, len(before))
    differences = [
        np.abs(new.var_beliefs[v] - belief).max()
        for old, new in zip(before, after, strict=True)
        for v, belief in reduction.surviving(old.var_beliefs).items()
    ]
    most = float(np.max(differences))
    if not most < TOLERANCE:
        return Verification(False, True, f"a surviving belief moved by {most:.2g}", most, len(before))
    if not all(found.converged for found in after):
        return Verification(False, False, "belief propagation did not converge again", most, len(before))
    return Verification(True, False, f"surviving beliefs agree within {TOLERANCE:g}", most, len(before))
