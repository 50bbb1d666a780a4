"""Measured tables as black boxes.

The packages that carry them are never imported (one needs TensorFlow 1, the other torch): their csv files are read from
the installed distributions. Nothing of them is bundled here. Replicates are averaged first.
"""

from __future__ import annotations

import csv
import io
from functools import cache
from importlib import metadata

import numpy as np

from scisuite.core import Categorical, DataUnavailable, InvalidInput, Space
from scisuite.core.registry import did_you_mean
from scisuite.scenarios.base import Array
from scisuite.scenarios.materials.tables import TABLES, Measurements
from scisuite.scenarios.tabular import TabularScenario, average_replicates

EXTRA = "data"


class MaterialsScenario(TabularScenario):
    """A measured table as a black box: only its rows can be asked for.

    Parameters
    ----------
    name : str
        One of :data:`~scisuite.scenarios.materials.TABLES`.
    seed : int
        Kept for the contract; the table does not depend on it.

    Raises
    ------
    InvalidInput
        If there is no such table.
    DataUnavailable
        If the package that carries it is not installed, or holds another file than the one that was checked.
    """

    def __init__(self, name: str, *, seed: int = 0) -> None:
        if name not in TABLES:
            raise InvalidInput(f"unknown table {name!r}{did_you_mean(str(name), TABLES)}")
        table = TABLES[name]
        pool, values = _read(name)
        averaged = f", {table.rows} rows averaged to {table.points}" if table.rows != table.points else ""
        super().__init__(
            table.space,
            pool,
            values,
            value_range=table.value_range,
            summary=table.summary,
            source=f"{table.reference} From the package {table.distribution}{averaged}.",
            licence=table.licence,
            maximise=table.maximise,
            value_name=table.value_name,
            unit=table.unit,
            seed=seed,
        )
        self.id = f"materials/{name}"


@cache
def _read(name: str) -> tuple[Array, Array]:
    """Encoded pool (N, d) and mean values (N,), read-only because they are kept."""
    table = TABLES[name]
    rows = list(csv.reader(io.StringIO(_text(name, table))))
    header = tuple(rows[0]) if rows and table.header else ()
    cells = rows[1:] if table.header else rows
    width = len(table.header) or len(table.space.dimensions) + 1
    if header != table.header or len(cells) != table.rows or any(len(row) != width for row in cells):
        checked = f"{table.rows} rows of {width} columns"
        what = f"materials/{name}: {table.file} is not the file that was checked ({len(cells)} rows, not {checked})"
        raise DataUnavailable(what, EXTRA)
    try:
        numbers = np.array(cells, dtype=np.float64)
        inputs = _encoded(numbers[:, : len(table.space.dimensions)], table.space)
        pool, means = average_replicates(table.space.require(inputs), numbers[:, -1])
    except (ValueError, IndexError) as error:
        raise DataUnavailable(f"materials/{name}: {table.file} is damaged: {error}", EXTRA) from error
    if len(pool) != table.points:
        what = f"materials/{name}: {table.file} holds {len(pool)} distinct points, not {table.points}"
        raise DataUnavailable(what, EXTRA)
    pool.flags.writeable = means.flags.writeable = False
    return pool, means


def _text(name: str, table: Measurements) -> str:
    try:
        distribution = metadata.distribution(table.distribution)
    except metadata.PackageNotFoundError:
        what = f"materials/{name} is read from the package {table.distribution}, which is not installed"
        raise DataUnavailable(what, EXTRA) from None
    try:
        with open(str(distribution.locate_file(table.file)), encoding="utf-8-sig", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        what = f"materials/{name}: cannot read {table.file} of {table.distribution} {distribution.version}: {error}"
        raise DataUnavailable(what, EXTRA) from error


def _encoded(inputs: Array, space: Space) -> Array:
    """Columns in the file's units → encoded (n, d); parts of a mixture are divided by their sum."""
    if space.simplex:
        return np.asarray(inputs / inputs.sum(axis=1, keepdims=True))
    blocks = []
    for dimension, column in zip(space.dimensions, inputs.T, strict=True):
        if isinstance(dimension, Categorical):
            blocks.append(np.eye(dimension.width)[column.astype(int)])
        else:
            blocks.append(((column - dimension.low) / (dimension.high - dimension.low))[:, None])
    return np.concatenate(blocks, axis=1)
