"""Measured tables of chemistry and materials science, read from the installed packages ``olymp`` and ``bocode``."""

from scisuite.scenarios.materials.scenario import MaterialsScenario
from scisuite.scenarios.materials.tables import TABLES, Measurements

__all__ = ["TABLES", "MaterialsScenario", "Measurements"]
