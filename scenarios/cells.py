"""Text and numbers of a table: reading a delimited file, and telling numbers from labels and gaps."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scisuite.core import InvalidInput

_MISSING = {"", "na", "n/a", "nan", "null", "none", "?", "-", "#n/a"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")


def read_delimited(path: Path, delimiter: str | None) -> tuple[str, list[str], list[list[str]], list[int]]:
    """Delimiter, header, rows and the line on which each row ends."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InvalidInput(f"no such file: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror}") from None
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path.name} is not UTF-8 text (byte {error.start}); save it as CSV UTF-8") from None
    if not text.strip():
        raise InvalidInput(f"{path.name} is empty")
    if "\0" in text:
        raise InvalidInput(f"{path.name} is not a text file")
    first = text.lstrip("\r\n").splitlines()[0]
    if delimiter is None:
        delimiter = max(",;\t|", key=lambda mark: len(next(csv.reader([first], delimiter=mark))))
    elif not isinstance(delimiter, str) or len(delimiter) != 1:
        raise InvalidInput(f"delimiter must be one character, not {delimiter!r}")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InvalidInput(f"{path.name}, line {reader.line_num}: {error}") from None
    header, rows, lines = rows[0], rows[1:], lines[1:]
    if repeated := [name for name in dict.fromkeys(header) if name and header.count(name) > 1]:
        raise InvalidInput(f"{path.name} has more than one column {repeated[0]!r}")
    if not rows:
        raise InvalidInput(f"{path.name} has a header and no rows")
    for i, row in enumerate(rows):
        if len(row) != len(header):
            place = f"{path.name}, row {i + 1} (line {lines[i]})"
            raise InvalidInput(f"{place} has {len(row)} cells, the header {len(header)}")
    return delimiter, header, rows, lines


def parse_column(
    name: str, cells: Sequence[Any], delimiter: str, where: Callable[[int], str], *, label: bool, target: bool
) -> list[Any]:
    """``cells`` as finite floats or, where none is a number (or ``label`` says so), as labels."""
    numbers = [_number(cell, delimiter) for cell in cells]
    text = [isinstance(cell, str) and cell.strip().lower() not in _MISSING for cell in cells]
    if label or (not target and all(number is None for number in numbers) and any(text)):
        for row, cell in enumerate(cells):
            if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
                raise InvalidInput(f"{where(row)}, column {name!r}: missing value; fill it in or remove the row")
        return [cell if isinstance(cell, str) else str(cell) for cell in cells]
    for row, (cell, number) in enumerate(zip(cells, numbers, strict=True)):
        if number is None and text[row]:
            hint = "" if target else f"; pass categorical=[{name!r}] if the column holds labels"
            raise InvalidInput(f"{where(row)}, column {name!r}: {cell!r} is not a number{hint}")
        if number is None or math.isnan(number):
            raise InvalidInput(f"{where(row)}, column {name!r}: missing value; fill it in or remove the row")
        if math.isinf(number):
            raise InvalidInput(f"{where(row)}, column {name!r}: {cell!r} is not finite")
    return numbers


def _number(cell: Any, delimiter: str) -> float | None:
    if isinstance(cell, str):
        if delimiter == ";" and _DECIMAL_COMMA.fullmatch(cell):
            cell = cell.replace(",", ".")
        if "_" in cell:
            return None
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None
