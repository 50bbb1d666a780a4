"""LABO beside a laboratory, without Gymnasium: python examples/own_laboratory.py [BUDGET]

The laboratory is a function here, and a rule of thumb stands where a language model would. Half-way the computer is
switched off; the campaign goes on from its file.
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from scisuite.solvers.labo import LABO, SolverOracle, Space

SPACE = Space.from_bounds(temperature=(20, 120, "degC"), loading=(0.5, 5, "mol%"), solvent=["DMF", "MeCN", "THF"])


def measure(conditions: dict[str, Any]) -> float:
    """The real experiment: a yield in %. Yours puts the conditions into a robot or asks you to type a number."""
    best_temperature, ceiling = {"DMF": (75, 92), "MeCN": (90, 70), "THF": (60, 55)}[conditions["solvent"]]
    off = ((conditions["temperature"] - best_temperature) / 35) ** 2 + ((conditions["loading"] - 2.5) / 2) ** 2
    return ceiling * math.exp(-off)


def rule_of_thumb(x: Any) -> Any:
    """A cheap guess at encoded points (n, d): warmer is better up to 100 degrees, and more catalyst is better."""
    temperature, loading = SPACE.to_units(x)[:, :2].T
    return 60 - 0.01 * (temperature - 100) ** 2 + 3 * loading


def campaign(budget: int, state: Path) -> LABO:
    """The same call begins a campaign and, once its file exists, goes on with it."""
    return LABO(SPACE, oracle=SolverOracle(rule_of_thumb), budget=budget, value_range=(0, 100), seed=0, state=state)


def main(arguments: list[str]) -> None:
    budget = int(arguments[0]) if arguments else 12
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "campaign.json"
        optimiser = campaign(budget, state)
        switched_off = False
        while not optimiser.done:
            for query in optimiser.ask():
                optimiser.tell(query, measure(query.x))
            if not switched_off and len(optimiser.trace.real_values()) >= budget // 2:
                optimiser, switched_off = campaign(budget, state), True
                print(f"switched off and on again after {len(optimiser.trace.real_values())} experiments")
        conditions, best = optimiser.best
        print(f"best yield {best:.1f} % at {conditions}")
        reached = np.round(optimiser.trace.best_values(), 1)
        print("best so far after each experiment:", *reached)


if __name__ == "__main__":
    main(sys.argv[1:])
