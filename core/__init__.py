"""What every other folder of scisuite needs: registry, errors, seeds, budgets, spaces, atomic files, papers."""

from scisuite.core.budget import Budget, CpuClock
from scisuite.core.errors import (
    DamagedFile,
    DataUnavailable,
    EngineFailure,
    InvalidInput,
    MissingDependency,
    NewerFormat,
    NotFitted,
    UnknownName,
)
from scisuite.core.papers import Paper, read_paper
from scisuite.core.registry import Entry, Registry
from scisuite.core.seeding import as_seed, generator
from scisuite.core.space import Categorical, Continuous, Integer, Space
from scisuite.core.tools import Tool
from scisuite.core.version import __version__

__all__ = [
    "Budget",
    "Categorical",
    "Continuous",
    "CpuClock",
    "DamagedFile",
    "DataUnavailable",
    "EngineFailure",
    "Entry",
    "Integer",
    "InvalidInput",
    "MissingDependency",
    "NewerFormat",
    "NotFitted",
    "Paper",
    "Registry",
    "Space",
    "Tool",
    "UnknownName",
    "__version__",
    "as_seed",
    "generator",
    "read_paper",
]
