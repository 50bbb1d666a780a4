"""What the loop asks of a model of the treatment effect."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.trials import Logged

Floats = NDArray[np.float64]


@runtime_checkable
class Learner(Protocol):
    """A model of τ(x) that grows by batches of randomised units.

    A learner is built on the observational log, which it may use as its ``fusion`` says.
    """

    def observe(self, batch: Logged) -> None:
        """Learn from a batch randomised with the known probabilities ``batch.p``."""

    def effect(self, x: Floats) -> Floats:
        """τ̂, float64 (n,), in units of the outcome; 0 where nothing is known yet."""

    def uncertainty(self, x: Floats) -> Floats:
        """v, float64 (n,): how unsure the model is of each unit's effect."""
