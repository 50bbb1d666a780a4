"""How a report writes numbers: three significant digits, a real minus sign, a dash where there is none."""

from __future__ import annotations

import math

MISSING = "–"
SYMBOLS = {"holds": "✓", "fails": "✗", "undecided": "?", "reported": "•"}
RELATIONS = {"<=": "≤", ">=": "≥"}


def number(value: float | None) -> str:
    """Three significant digits.

    >>> number(0.12345), number(-1234.5), number(3e-7), number(None)
    ('0.123', '−1,234', '3e−7', '–')
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-3:
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    elif size >= 1000:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{max(0, 2 - math.floor(math.log10(size)))}f}"
    return text.replace("-", "−")


def bar(relation: str, target: float | None) -> str:
    """What a claim is held against.

    >>> bar("<=", 0.75), bar(">=", None)
    ('≤ 0.750', '–')
    """
    return MISSING if target is None else f"{RELATIONS.get(relation, relation)} {number(target)}"


def interval(low: float | None, high: float | None) -> str:
    """``"[low, high]"``, empty where either is missing."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"[{number(low)}, {number(high)}]"


def duration(seconds: float | None) -> str:
    """Seconds in the unit that a person would use.

    >>> duration(0.25), duration(95), duration(9000)
    ('0.250 s', '1.6 min', '2.5 h')
    """
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 90:
        return f"{number(seconds)} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def whole_numbers(values: tuple[int, ...]) -> str:
    """Runs of consecutive numbers, shortened.

    >>> whole_numbers((0, 1, 2, 5))
    '0–2, 5'
    """
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][1] + 1:
            runs[-1][1] = value
        else:
            runs.append([value, value])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def shortened(text: str, length: int) -> str:
    """One line of at most ``length`` characters.

    >>> shortened("a very long name", 8)
    'a very …'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"
