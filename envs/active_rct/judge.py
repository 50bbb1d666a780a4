"""How good an estimate of the effect is on a slice that was held out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.scenarios.trials import (
    Logged,
    Trial,
    coverage,
    cumulative_gain,
    interval_width,
    pehe,
    policy_value,
    qini,
)
from scisuite.solvers.active_rct.learners.base import Learner
from scisuite.solvers.active_rct.learners.linear import LinearLearner

Floats = NDArray[np.float64]
Metric = Literal["pehe", "qini", "cumulative_gain"]


@dataclass(frozen=True)
class Judge:
    """The measure of a trial: PEHE where true effects are known, else Qini of binary outcomes, else cumulative gain."""

    metric: Metric

    @classmethod
    def of(cls, trial: Trial) -> Judge:
        """The judge of ``trial``."""
        return cls("pehe" if trial.knows_effects else "qini" if trial.binary else "cumulative_gain")

    def value(self, effect: Floats, held_out: Logged) -> float:
        """The measure of τ̂ (n,) on n units, in units of the outcome, of Qini dimensionless.

        Raises
        ------
        InvalidInput
            If the slice does not allow it, such as outcomes of one kind only.
        """
        if self.metric == "pehe":
            assert held_out.tau is not None
            return pehe(effect, held_out.tau)
        if self.metric == "qini":
            return qini(effect, held_out.t, held_out.y)
        return cumulative_gain(effect, held_out.t, held_out.y, held_out.p)

    def progress(self, before: float, after: float) -> float:
        """By how much a value became better."""
        return before - after if self.metric == "pehe" else after - before

    def report(self, learner: Learner, held_out: Logged) -> dict[str, float]:
        """The measure and what else can be said: coverage and mean width of the linear learner's 95 % intervals where
        the truth is known, and the value of treating those with τ̂ > 0 where treatments were randomised."""
        effect = learner.effect(held_out.x)
        figures: dict[str, float] = {self.metric: self.value(effect, held_out)}
        if self.metric == "pehe" and isinstance(learner, LinearLearner) and learner.cate.n:
            assert held_out.tau is not None
            low, high = learner.cate.interval(learner.basis(held_out.x))
            figures |= {"coverage": coverage(low, high, held_out.tau), "width": interval_width(low, high)}
        if self.metric != "pehe" and held_out.p is not None:
            figures["policy_value"] = policy_value(effect > 0, held_out.t, held_out.y, held_out.p)
        return figures
