"""Chance, the floor of every comparison; it needs neither torch nor botorch."""

from __future__ import annotations

from typing import Any

from scisuite.core import Space
from scisuite.solvers.labo.campaign import Campaign
from scisuite.solvers.labo.oracles import LLMOracle
from scisuite.solvers.labo.records import Candidate


class RandomSearch(Campaign):
    """Points drawn uniformly, without repetition in a pool: the floor."""

    uses_llm = False

    def __init__(self, space: Space, oracle: LLMOracle | None = None, **options: Any) -> None:
        super().__init__(space, oracle, **{"starts": "random", **options})

    def _choose(self, q: int) -> list[Candidate]:
        rng = self.rng("candidates")
        if self.pool is None:
            return [Candidate(row, None, ask_llm=False, run_real=True) for row in self.space.sample(rng, q)]
        available = self.available_rows()
        chosen = rng.choice(available, size=min(q, len(available)), replace=False)
        return [Candidate(self.pool[i], int(i), ask_llm=False, run_real=True) for i in chosen]
