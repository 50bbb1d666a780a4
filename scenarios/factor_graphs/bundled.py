"""The discrete Bayesian networks of the bnlearn repository that come with pgmpy."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from scisuite.core import DataUnavailable, InvalidInput, UnknownName
from scisuite.core.registry import did_you_mean
from scisuite.scenarios.factor_graphs.bif import read_bif
from scisuite.scenarios.factor_graphs.graph import FactorGraph

EXTRA = "crn"
LICENCE = "CC BY-SA 3.0"
SOURCE = (
    "bnlearn's Bayesian network repository (Scutari, Journal of Statistical Software 35(3), 2010), as bundled by pgmpy"
)

BUNDLED = {
    "alarm": "monitoring of anaesthesia",
    "andes": "a tutor's model of a physics student",
    "asia": "chest clinic",
    "barley": "growing malting barley",
    "cancer": "lung cancer",
    "child": "heart disease of newborns",
    "diabetes": "adjustment of insulin",
    "earthquake": "burglary, earthquake and an alarm",
    "hailfinder": "severe summer hail in Colorado",
    "hepar2": "diagnosis of liver disorders",
    "insurance": "risk of a car insurance",
    "link": "genetic linkage",
    "mildew": "mildew in winter wheat",
    "munin": "electromyography",
    "munin1": "electromyography, first part",
    "munin2": "electromyography, second part",
    "munin3": "electromyography, third part",
    "munin4": "electromyography, fourth part",
    "pathfinder": "diagnosis of lymph nodes",
    "pigs": "a pedigree of pigs",
    "sachs": "protein signalling in T cells",
    "survey": "how people travel",
    "water": "treatment of waste water",
    "win95pts": "trouble with printers",
}
"""What each bundled network models, by its name."""

ELEVEN = (
    "cancer",
    "asia",
    "survey",
    "sachs",
    "child",
    "insurance",
    "alarm",
    "hailfinder",
    "hepar2",
    "win95pts",
    "andes",
)
"""The networks on which the reductions are judged, by the size of their reaction networks."""


def bundled_network(name: str) -> FactorGraph:
    """A discrete Bayesian network of the bnlearn repository, from the file that pgmpy carries.

    pgmpy is not imported. The graph is as :func:`~scisuite.scenarios.factor_graphs.read_bif` gives it; the last few
    that were asked for are kept.

    Raises
    ------
    UnknownName
        If it is none of :data:`BUNDLED`.
    DataUnavailable
        If pgmpy is not installed, or does not carry the file or carries a damaged one.
    """
    return _read(bundled_file(name), name)


def bundled_file(name: str) -> Path:
    """Where pgmpy keeps the file of a bundled network.

    Raises
    ------
    UnknownName
        If it is none of :data:`BUNDLED`.
    DataUnavailable
        If pgmpy is not installed or does not carry it.
    """
    if not isinstance(name, str) or name not in BUNDLED:
        raise UnknownName(f"unknown network {name!r}{did_you_mean(str(name), BUNDLED)}")
    spec = find_spec("pgmpy")
    if spec is None:
        raise DataUnavailable(f"the network {name!r} comes with pgmpy, which is not installed", EXTRA)
    for folder in spec.submodule_search_locations or ():
        for path in sorted(Path(folder, "utils").rglob(f"{name}.bif.gz")):
            return path
    raise DataUnavailable(f"the network {name!r} is not in the pgmpy that is installed", EXTRA)


@lru_cache(maxsize=8)
def _read(path: Path, name: str) -> FactorGraph:
    try:
        return read_bif(path)
    except InvalidInput as error:
        raise DataUnavailable(f"the network {name!r} cannot be read: {error}", EXTRA) from error
