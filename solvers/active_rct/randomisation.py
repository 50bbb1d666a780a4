"""With which probability to treat the units of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.trials import finite_column, propensities

Floats = NDArray[np.float64]
Rule = Literal["fixed", "adaptive"]


@dataclass(frozen=True)
class Randomisation:
    """Probabilities of treatment, known and bounded (reconstruction).

    Parameters
    ----------
    rule : {"fixed", "adaptive"}
        ½ for everybody, or clip(½ + .3 τ̂, *bounds), with τ̂ in standard deviations over the pool where outcomes are not
        in [0, 1].
    bounds : (float, float)
        0 < least ≤ greatest < 1; they contain ½.

    Raises
    ------
    InvalidInput
        If the rule is none of the two or the bounds are not as said.
    """

    rule: Rule = "fixed"
    bounds: tuple[float, float] = (0.2, 0.8)

    def __post_init__(self) -> None:
        if self.rule not in ("fixed", "adaptive"):
            raise InvalidInput(f"p_rule must be fixed or adaptive, not {self.rule!r}")
        try:
            low, high = (float(bound) for bound in self.bounds)
        except (TypeError, ValueError):
            raise InvalidInput(f"p_bounds must be two probabilities, not {self.bounds!r}") from None
        if not 0 < low <= 0.5 <= high < 1:
            raise InvalidInput(f"p_bounds must be in (0, 1) and hold ½ between them, not {self.bounds!r}")
        object.__setattr__(self, "bounds", (low, high))

    def chances(self, effect: ArrayLike, *, spread: float | None = None) -> Floats:
        """float64 (m,) for estimated effects (m,); ``spread`` is their standard deviation over the pool, if needed."""
        estimate = finite_column("effect", effect)
        if self.rule == "fixed":
            return np.full(len(estimate), 0.5)
        scaled = estimate if spread is None else estimate / spread if spread > 0 else np.zeros_like(estimate)
        return np.clip(0.5 + 0.3 * scaled, *self.bounds)

    def require(self, p: ArrayLike, n: int) -> Floats:
        """``p`` as float64 (n,); :class:`~scisuite.core.InvalidInput` if one is outside (0, 1) or the bounds."""
        chances = propensities(p, n)
        low, high = self.bounds
        outside = (chances < low - 1e-12) | (chances > high + 1e-12)
        if outside.any():
            row = int(outside.argmax())
            raise InvalidInput(
                f"a probability of treatment must be in [{low:g}, {high:g}] here, not {chances[row]:g} in row {row}"
            )
        return chances
