"""Factor graphs by file or by the name of a bundled network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scisuite.bench.crn.files import BIF, UAI, require_file
from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean

if TYPE_CHECKING:
    from scisuite.scenarios.factor_graphs import FactorGraph

_FOLDER = "factor_graphs/"


def read_source(source: str) -> FactorGraph:
    """The factor graph of a ``.bif``, ``.bif.gz`` or ``.uai`` file, or a bundled Bayesian network (``alarm``).

    Raises
    ------
    InvalidInput
        If it is neither, or the file is damaged; the message names the line.
    MissingDependency
        If a bundled network is asked for and pgmpy, which carries them, is not installed.
    """
    from scisuite.scenarios.factor_graphs.bif import read_bif
    from scisuite.scenarios.factor_graphs.bundled import BUNDLED, bundled_network
    from scisuite.scenarios.factor_graphs.uai import read_uai

    path = Path(source)
    if source.lower().endswith(BIF):
        require_file(path)
        return read_bif(path)
    if source.lower().endswith(UAI):
        require_file(path)
        return read_uai(path)
    name = source.removeprefix(_FOLDER)
    if name in BUNDLED:
        return bundled_network(name)
    if path.exists():
        raise InvalidInput(f"{path} is of no known kind: its name must end in {', '.join(BIF)} or {UAI}")
    raise InvalidInput(f"there is no file and no bundled network {source!r}{did_you_mean(name, BUNDLED)}")


def is_file(source: str) -> bool:
    """Whether ``source`` is called like a file, not like a bundled network."""
    return source.lower().endswith((*BIF, UAI))
