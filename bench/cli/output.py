"""What goes to standard output and what to standard error.

Results go to standard output: a table, or with ``--json`` one JSON object a line and nothing else. Progress, notes and
whatever libraries print go to standard error.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from scisuite.core.files import jsonable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PIPED_WIDTH = 160
_FEWEST_FOR_WORDS = 12


@contextlib.contextmanager
def work_prints_to_stderr() -> Iterator[None]:
    """Send what libraries, engines and worker processes print to standard error while the body works.

    The file descriptor is turned as well as ``sys.stdout``, since worker processes inherit the descriptor.
    """
    sys.stdout.flush()
    try:
        descriptor = sys.stdout.fileno()
        error_descriptor = sys.stderr.fileno()
    except (OSError, ValueError, AttributeError):
        with contextlib.redirect_stdout(sys.stderr):
            yield
        return
    kept = os.dup(descriptor)
    try:
        os.dup2(error_descriptor, descriptor)
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, descriptor)
        os.close(kept)


def print_json_lines(objects: Iterable[Any]) -> None:
    """Print one JSON object a line, NaN and infinities as null."""
    for value in objects:
        sys.stdout.write(json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def print_table(table: Table) -> None:
    """Print a Rich table on standard output; into a pipe it is wide, and has no colours and no blanks at line ends.

    Where its columns of figures do not fit the width side by side, they go below one another, in as many tables as it
    takes, each with the first column and those of words.
    """
    # Rich folds a table's title to the width of the table.
    title, table.title = table.title, None
    out = console()
    with out.capture() as captured:
        out.print(title, soft_wrap=True)
        for part in _side_by_side(table, out.width):
            out.print(part)
    text = captured.get()
    sys.stdout.write(text if out.is_terminal else "\n".join(line.rstrip() for line in text.split("\n")))


def _side_by_side(table: Table, width: int) -> list[Table]:
    """The table, or several with a share of its columns of figures each, so that no figure or heading is broken."""
    from rich.cells import cell_len
    from rich.table import Table

    padding = 3
    widths = [max(cell_len(str(text)) for text in (c.header, *c.cells)) + padding for c in table.columns]
    figures = [i for i, column in enumerate(table.columns) if i and column.justify == "right"]
    words = [i for i in range(len(table.columns)) if i not in figures]
    # The first column is copied whole; other words may be folded, but not to nothing.
    room = width - sum(widths[i] if i == 0 else min(widths[i], _FEWEST_FOR_WORDS + padding) for i in words)
    if sum(widths[i] for i in figures) <= room or not figures:
        return [table]
    groups: list[list[int]] = [[]]
    for i in figures:
        if groups[-1] and sum(widths[j] for j in (*groups[-1], i)) > room:
            groups.append([])
        groups[-1].append(i)
    parts = []
    for group in groups:
        shown = sorted([*words, *group])
        part = Table(box=table.box, pad_edge=table.pad_edge)
        for i in shown:
            column = table.columns[i]
            part.add_column(column.header, justify=column.justify, overflow="fold", no_wrap=column.no_wrap)
        cells = [list(table.columns[i].cells) for i in shown]
        for row, values in enumerate(zip(*cells, strict=True)):
            part.add_row(*values, end_section=table.rows[row].end_section)
        parts.append(part)
    return parts


def console() -> Console:
    """A Rich console on standard output that prints text as it is."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, markup=False, emoji=False)


def new_table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """A table in the house style; the columns named in ``right`` are aligned to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), box=box.SIMPLE_HEAD, pad_edge=False)
    for number, column in enumerate(columns):
        # The first column holds ids, which are to be copied whole.
        justify = "right" if column in right else "left"
        table.add_column(column, justify=justify, overflow="fold", no_wrap=number == 0)
    return table


def say(message: str) -> None:
    """A note for people, on standard error."""
    print(message, file=sys.stderr, flush=True)


def figure(value: Any) -> str:
    """A number as a table shows it: four significant digits, ``–`` where there is none.

    >>> figure(0.123456), figure(3.0), figure(float("nan")), figure(None), figure(12)
    ('0.1235', '3', '–', '–', '12')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    # Adding zero turns −0 into 0.
    return f"{value + 0.0:.4g}" if isinstance(value, float) else str(value)


def mean_and_error(values: list[float]) -> str:
    """``mean ± standard error`` over the finite values; the mean alone where they do not differ.

    >>> mean_and_error([1.0, 3.0]), mean_and_error([2.0, 2.0]), mean_and_error([])
    ('2 ± 1', '2', '–')
    """
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return "–"
    mean = sum(finite) / len(finite)
    if min(finite) == max(finite):
        return figure(finite[0])
    variance = sum((value - mean) ** 2 for value in finite) / (len(finite) - 1)
    return f"{figure(mean)} ± {math.sqrt(variance / len(finite)):.2g}"


def finite_figures(values: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of ``values`` that are single numbers, strings, booleans or ``None``: what a line can show."""
    shown: dict[str, Any] = {}
    for name, value in values.items():
        if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            shown[name] = value
    return shown
