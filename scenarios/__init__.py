"""The worlds: data sets, simulators and problem instances. ``scenarios.make("materials/photo_pce10", seed=0)``."""

from pathlib import Path
from typing import Any

from scisuite.core.registry import Registry
from scisuite.scenarios.base import BlackBoxScenario, DataScenario, Description, Scenario, WorldScenario
from scisuite.scenarios.checks import check_scenario
from scisuite.scenarios.tables import from_arrays, from_csv

registry: Registry[Scenario] = Registry("scenario", "scisuite.scenarios")
registry.add_folder(Path(__file__).parent)


def make(id: str, **config: Any) -> Scenario:
    """Build a scenario by id, or by the part of its id behind the ``/``.

    Raises
    ------
    UnknownName
        If there is none; the message names the nearest.
    MissingDependency
        If the package that carries its data is not installed.
    """
    return registry.make(id, **config)


__all__ = [
    "BlackBoxScenario",
    "DataScenario",
    "Description",
    "Scenario",
    "WorldScenario",
    "check_scenario",
    "from_arrays",
    "from_csv",
    "make",
    "registry",
]
