"""A user's own measurements as a scenario: a CSV file or arrays."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from scisuite.core import Categorical, Continuous, Integer, InvalidInput, Space
from scisuite.core.registry import did_you_mean
from scisuite.core.space import Dimension
from scisuite.scenarios.base import Array
from scisuite.scenarios.cells import parse_column, read_delimited
from scisuite.scenarios.tabular import TabularScenario, average_replicates

Duplicates = Literal["average", "error"]


def from_csv(
    path: str | os.PathLike[str],
    inputs: Sequence[str],
    target: str,
    *,
    maximise: bool = True,
    units: Mapping[str, str] | None = None,
    categorical: Sequence[str] = (),
    bounds: Mapping[str, Any] | None = None,
    simplex: bool = False,
    value_range: tuple[float, float] | None = None,
    duplicates: Duplicates = "average",
    delimiter: str | None = None,
    summary: str | None = None,
    licence: str = "unstated",
) -> TabularScenario:
    """Read a table of measurements as something to optimise over: its rows are the points that can be asked for.

    The file is UTF-8 (with or without a byte-order mark) or UTF-16 with one, its first line names the columns. Commas,
    semicolons, tabs and bars are told apart by the header; in a file with semicolons ``0,5`` is one half.

    Parameters
    ----------
    path : path
    inputs : sequence of str
        Columns that were varied. One that holds no numbers becomes categorical.
    target : str
        Column that was measured.
    maximise : bool
        Whether more is better.
    units : mapping, optional
        Unit of each column, the target included.
    categorical : sequence of str
        Inputs that are labels although they look like numbers.
    bounds : mapping, optional
        ``{"temperature": (20, 120), "cycles": Integer("cycles", 1, 9), "base": ["K2CO3", "KOH"]}``: as in
        :meth:`Space.from_bounds <scisuite.core.Space.from_bounds>`. Without it an input spans what the column holds.
    simplex : bool
        Whether the inputs are fractions that sum to one; rows are then renormalised.
    value_range : (float, float), optional
        Range in which any value is known to lie, such as (0, 100) for a yield in per cent. Without it, the range of the
        column widened by a tenth on both sides, which tells an optimiser a little about the answers.
    duplicates : {"average", "error"}
        What to do with rows whose inputs are the same: average them with a warning, or refuse the table.
    delimiter : str, optional
    summary, licence : str, optional
        What the task is, in a sentence that a language model may read, and the licence of the data.

    Raises
    ------
    InvalidInput
        If the file or a column is not there, is empty, damaged or constant, or a value is missing or not a number; the
        message names the row and the column.
    """
    path = Path(path)
    delimiter, header, rows, lines = read_delimited(path, delimiter)
    names = _wanted(inputs, target, header, path.name)

    def where(row: int) -> str:
        return f"{path.name}, row {row + 1} (line {lines[row]})"

    columns: dict[str, list[Any]] = {}
    for name in names:
        cells = [row[header.index(name)] for row in rows]
        label = name in categorical or _has_text_levels((bounds or {}).get(name))
        columns[name] = parse_column(name, cells, delimiter, where, label=label, target=name == target)
    table = _Table(columns, tuple(inputs), target, where)
    return table.scenario(
        maximise=maximise,
        units=units,
        categorical=categorical,
        bounds=bounds,
        simplex=simplex,
        value_range=value_range,
        duplicates=duplicates,
        summary=summary,
        source=path.name,
        licence=licence,
    )


def from_arrays(
    x: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    target: str = "value",
    maximise: bool = True,
    units: Mapping[str, str] | None = None,
    categorical: Sequence[str] = (),
    bounds: Mapping[str, Any] | None = None,
    simplex: bool = False,
    value_range: tuple[float, float] | None = None,
    duplicates: Duplicates = "average",
    summary: str | None = None,
    source: str = "arrays",
    licence: str = "unstated",
) -> TabularScenario:
    """Make a scenario of measurements in memory.

    Parameters
    ----------
    x : array (n, k), mapping of names to columns, or data frame
        In the user's units, not encoded. Text makes a column categorical.
    y : array (n,)
    names : sequence of str, optional
        Names of the columns of an array; by default ``x1`` to ``xk``. Of a mapping or data frame: the columns to take.
    target : str
        What ``y`` is called.
    maximise, units, categorical, bounds, simplex, value_range, duplicates, summary, licence
        As in :func:`from_csv`.
    source : str
        Where the numbers come from.

    Raises
    ------
    InvalidInput
        As :func:`from_csv` does, or if the shapes do not fit together.

    >>> columns = {"temperature": [20, 60, 90], "solvent": ["DMF", "THF", "DMF"]}
    >>> table = from_arrays(columns, [12.0, 55.0, 31.0], target="yield", units={"temperature": "degC", "yield": "%"})
    >>> table.optimum, table.space.decode(table.pool[[2]])
    (55.0, [{'temperature': 90.0, 'solvent': 'DMF'}])
    """
    columns = _columns(x, names)
    try:
        values = np.asarray(y)
    except ValueError:
        raise InvalidInput("y must be numbers of shape (n,)") from None
    lengths = {len(column) for column in columns.values()}
    if lengths <= {0}:
        raise InvalidInput("x has no rows")
    if values.ndim != 1 or lengths != {len(values)}:
        raise InvalidInput(f"y must have shape ({max(lengths)},), one value a row of x, not {values.shape}")
    if target in columns:
        raise InvalidInput(f"{target!r} is an input and cannot be the target as well; pass target=…")
    _refuse_unknown(categorical, columns, "x")

    def where(row: int) -> str:
        return f"row {row}"

    parsed: dict[str, list[Any]] = {}
    for name, column in columns.items():
        label = name in categorical or _has_text_levels((bounds or {}).get(name))
        parsed[name] = parse_column(name, column, ",", where, label=label, target=False)
    parsed[target] = parse_column(target, values.tolist(), ",", where, label=False, target=True)
    return _Table(parsed, tuple(columns), target, where).scenario(
        maximise=maximise,
        units=units,
        categorical=categorical,
        bounds=bounds,
        simplex=simplex,
        value_range=value_range,
        duplicates=duplicates,
        summary=summary,
        source=source,
        licence=licence,
    )


@dataclass(frozen=True)
class _Table:
    """Columns of floats or of labels, and how to call a row in a message."""

    columns: Mapping[str, list[Any]]
    inputs: tuple[str, ...]
    target: str
    where: Callable[[int], str]

    def scenario(
        self,
        *,
        maximise: bool,
        units: Mapping[str, str] | None,
        categorical: Sequence[str],
        bounds: Mapping[str, Any] | None,
        simplex: bool,
        value_range: tuple[float, float] | None,
        duplicates: str,
        summary: str | None,
        source: str,
        licence: str,
    ) -> TabularScenario:
        if duplicates not in ("average", "error"):
            raise InvalidInput(f'duplicates must be "average" or "error", not {duplicates!r}')
        units = dict(units or {})
        _refuse_unknown(units, self.columns, "units")
        _refuse_unknown(categorical, self.inputs, "categorical")
        _refuse_unknown(bounds or {}, self.inputs, "bounds")
        values = np.array(self.columns[self.target], dtype=np.float64)
        if len(values) < 2:
            raise InvalidInput(f"a table needs at least two rows, not {len(values)}")
        if values.min() == values.max():
            raise InvalidInput(f"{self.target!r} is {values[0]:g} in every row: there is nothing to optimise")
        given = dict(bounds or {})
        space = Space(tuple(self._dimension(n, units.get(n, ""), given.get(n), simplex) for n in self.inputs), simplex)
        rows = self._encoded(space)
        pool, means = average_replicates(rows, values)
        if repeated := len(rows) - len(pool):
            text = f"{repeated} of {len(rows)} rows repeat the inputs of an earlier one"
            if duplicates == "error":
                raise InvalidInput(f'{text}; remove them or pass duplicates="average"')
            warnings.warn(f"{text}: averaged to {len(pool)} rows", UserWarning, stacklevel=3)
        if value_range is None:
            margin = (values.max() - values.min()) / 10
            value_range = (float(values.min() - margin), float(values.max() + margin))
        direction = "Maximise" if maximise else "Minimise"
        return TabularScenario(
            space,
            pool,
            means,
            value_range=value_range,
            summary=summary or f"{direction} {self.target} over {', '.join(self.inputs)}.",
            source=source,
            licence=licence,
            maximise=maximise,
            value_name=self.target,
            unit=units.get(self.target, ""),
        )

    def _dimension(self, name: str, unit: str, bound: Any, simplex: bool) -> Dimension:
        column = self.columns[name]
        if bound is not None:
            dimension = Space.from_bounds(**{name: bound}).dimensions[0]
            return type(dimension)(**{**vars(dimension), "unit": dimension.unit or unit})
        if isinstance(column[0], str):
            levels = tuple(dict.fromkeys(column))
            if len(levels) < 2:
                raise InvalidInput(f"column {name!r} is {levels[0]!r} in every row; leave it out of inputs")
            return Categorical(name, levels, unit)
        if simplex:
            return Continuous(name, 0, 1, unit)
        low, high = min(column), max(column)
        if low == high:
            raise InvalidInput(
                f"column {name!r} is {low:g} in every row; leave it out of inputs, "
                f"or give its bounds={{{name!r}: (low, high)}}"
            )
        return Continuous(name, low, high, unit)

    def _encoded(self, space: Space) -> Array:
        rows = np.zeros((len(self.columns[self.target]), space.d))
        for i in range(len(rows)):
            point = {name: self.columns[name][i] for name in self.inputs}
            for dimension in space.dimensions:
                point[dimension.name] = _as_level(dimension, point[dimension.name])
            if space.simplex:
                total = sum(point.values())
                if not abs(total - 1) <= 1e-2:
                    raise InvalidInput(f"{self.where(i)}: the inputs sum to {total:g}, not to 1")
                point = {name: value / total for name, value in point.items()}
            try:
                rows[i] = space.encode([point])[0]
            except InvalidInput as error:
                raise InvalidInput(f"{self.where(i)}: {error}") from None
        return rows


def _wanted(inputs: Sequence[str], target: str, header: list[str], file: str) -> list[str]:
    if isinstance(inputs, str) or not isinstance(inputs, Sequence) or not inputs:
        raise InvalidInput(f"inputs must be a list of column names, not {inputs!r}")
    if len(set(inputs)) != len(inputs):
        raise InvalidInput(f"inputs repeat a column: {list(inputs)}")
    if target in inputs:
        raise InvalidInput(f"{target!r} is an input and cannot be the target as well")
    for name in (*inputs, target):
        if name not in header:
            raise InvalidInput(f"{file} has no column {name!r}{did_you_mean(str(name), [h for h in header if h])}")
    return [*inputs, target]


def _columns(x: Any, names: Sequence[str] | None) -> dict[str, list[Any]]:
    if hasattr(x, "keys"):
        available = [str(key) for key in x.keys()]  # noqa: SIM118 (a data frame iterates over its keys, not a mapping)
        if names is not None:
            _refuse_unknown(names, available, "x")
        columns = {name: np.asarray(x[name], dtype=object).tolist() for name in (available if names is None else names)}
        if len({len(column) for column in columns.values()}) > 1:
            raise InvalidInput(f"columns of x differ in length: { {n: len(c) for n, c in columns.items()} }")
        return columns
    try:
        array = np.array(x, dtype=object)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidInput(f"x must have shape (n, k), not {array.shape}")
    if names is None:
        names = [f"x{j + 1}" for j in range(array.shape[1])]
    if isinstance(names, str) or len(names) != array.shape[1] or len(set(names)) != len(names):
        raise InvalidInput(f"names must be {array.shape[1]} different names, one a column of x, not {names!r}")
    return {str(name): array[:, j].tolist() for j, name in enumerate(names)}


def _has_text_levels(bound: Any) -> bool:
    levels = bound.levels if isinstance(bound, Categorical) else bound
    return isinstance(levels, list | tuple) and any(isinstance(level, str) for level in levels[:2])


def _as_level(dimension: Dimension, value: Any) -> Any:
    """A cell as the level of a categorical that it spells, or as a whole number; anything else unchanged."""
    if isinstance(dimension, Categorical) and value not in dimension.levels:
        return next((level for level in dimension.levels if str(level) == str(value)), value)
    if isinstance(dimension, Integer) and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _refuse_unknown(asked: Any, known: Any, what: str) -> None:
    for name in asked:
        if name not in known:
            raise InvalidInput(f"{what} names no column {name!r}{did_you_mean(str(name), known)}")
