"""Policies that follow the estimated effect or sample by its uncertainty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scisuite.agents.active_rct.base import TrialAgent
from scisuite.core import InvalidInput
from scisuite.envs.active_rct.env import ActiveRCTEnv
from scisuite.solvers.active_rct.scores import choose_top

Ints = NDArray[np.int64]


class EffectGreedyAgent(TrialAgent):
    """The negative control: the units of the largest τ̂, as if the trial were there to treat the right ones.

    It stops looking where a first bad luck made τ̂ small, which biases θ̂ although every unit is randomised.

    Parameters
    ----------
    turns : int
        First each covariate in turn is looked at so many times, through an untried unit of the largest |x_j|.
    exploration : float
        Thereafter the share of random units.

    Raises
    ------
    InvalidInput
        If ``turns`` is no whole number from 0 or ``exploration`` is not in [0, 1].
    """

    name = "effect_greedy"

    def __init__(self, turns: int = 2, exploration: float = 0.02) -> None:
        super().__init__()
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 0:
            raise InvalidInput(f"turns must be a whole number from 0, not {turns!r}")
        if not (isinstance(exploration, int | float) and 0 <= exploration <= 1):
            raise InvalidInput(f"exploration must be in [0, 1], not {exploration!r}")
        self.turns, self.exploration = turns, float(exploration)

    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        loop = env.loop
        namable = rng.permutation(namable)
        x = loop.pool[loop.left[namable]]
        effect, free = loop.learner.effect(x), np.ones(len(x), dtype=bool)
        chosen = np.empty(size, dtype=np.int64)
        d = x.shape[1]
        for place in range(size):
            draw = loop.n_spent + place
            if draw < self.turns * d:
                wanted = np.abs(x[:, draw % d])
            else:
                wanted = rng.random(len(x)) if rng.random() < self.exploration else effect
            chosen[place] = int(np.where(free, wanted, -np.inf).argmax())
            free[chosen[place]] = False
        return namable[chosen]


class CausalBALDStyleAgent(TrialAgent):
    """Units drawn with probability ∝ v (1 − o²): the model is unsure of them, and the log's policy was not of one mind.

    In the style of μρ-BALD (Jesson et al. 2021, arXiv 2111.02275), which values what is uncertain where the other
    treatment's outcome is not, and samples instead of taking the top. There treatments are given and outcomes acquired;
    here, where treatments are randomised, the estimated overlap 4 ê (1 − ê) = 1 − o² stands for that factor
    (*reconstruction*).

    Parameters
    ----------
    temperature : float
        Above zero; the probability is ∝ (v (1 − o²))^(1/temperature).

    Raises
    ------
    InvalidInput
        If it is not.
    """

    name = "causal_bald_style"

    def __init__(self, temperature: float = 1.0) -> None:
        super().__init__()
        if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 < temperature < np.inf:
            raise InvalidInput(f"temperature must be above zero, not {temperature!r}")
        self.temperature = float(temperature)

    def _choose(self, env: ActiveRCTEnv, namable: Ints, size: int, rng: np.random.Generator) -> Ints:
        v, _, o = (term[namable] for term in env.terms)
        tiny = np.finfo(float).tiny
        log = np.log(np.maximum(v, tiny)) + np.log(np.maximum(1 - o**2, tiny))
        # The largest of these are a sample without replacement.
        return namable[choose_top(log / self.temperature + rng.gumbel(size=len(log)), size, rng)]
