"""Your own measurements as a scenario: python examples/own_table.py [FILE.csv TARGET INPUT…]

Without arguments it writes a small table, as a laboratory might keep one, and reads that.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

import numpy as np

from scisuite.scenarios import check_scenario, from_csv


def write_a_table(path: Path) -> None:
    """A grid of conditions with an invented yield, one of them measured twice."""
    best = {"DMF": (70, 2.0), "MeCN": (90, 3.5), "THF": (60, 1.0)}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["temperature", "loading", "solvent", "yield"])
        for solvent, (temperature_best, loading_best) in best.items():
            for temperature in (40, 60, 80, 100):
                for loading in (0.5, 1.0, 2.0, 4.0):
                    distance = ((temperature - temperature_best) / 40) ** 2 + (loading - loading_best) ** 2 / 4
                    writer.writerow([temperature, loading, solvent, round(90 * float(np.exp(-distance)), 1)])
        writer.writerow([40, 0.5, "DMF", 20.0])


def main(arguments: list[str]) -> None:
    if arguments:
        path, target, *inputs = arguments
        scenario = from_csv(path, inputs, target)
    else:
        path = str(Path(tempfile.mkdtemp()) / "yields.csv")
        write_a_table(Path(path))
        scenario = from_csv(
            path,
            inputs=["temperature", "loading", "solvent"],
            target="yield",
            units={"temperature": "degC", "loading": "mol%", "yield": "%"},
            value_range=(0, 100),
        )
    scenario.id = "own/table"
    check_scenario(scenario)  # the same contract suite that scisuite's own scenarios pass

    print(scenario.describe().summary, f"{len(scenario.pool)} points, {scenario.space.d} encoded columns")
    order = np.random.default_rng(0).permutation(len(scenario.pool))[:10]
    values = scenario.evaluate(scenario.pool[order])
    best = int(values.argmax() if scenario.maximise else values.argmin())
    point = scenario.space.decode(scenario.pool[order[[best]]])[0]
    print(f"best of {len(order)} random experiments: {values[best]:g} {scenario.unit} at {point}")
    print(f"regret {scenario.regret(values[best]):.2f} (0: the best row of the table, 1: its median)")


if __name__ == "__main__":
    main(sys.argv[1:])
