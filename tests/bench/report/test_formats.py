"""Numbers as a reader wants them."""

from __future__ import annotations

import math

import pytest

from scisuite.bench.report.formats import duration, interval, number, shortened, whole_numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1.00"),
        (0.05, "0.0500"),
        (0.0004, "4e−4"),
        (999.6, "1000"),
        (1234.5, "1,234"),
        (-2.5e6, "−2.5e6"),
        (math.nan, "–"),
        (math.inf, "–"),
        (None, "–"),
    ],
)
def test_number(value, text):
    assert number(value) == text


def test_interval_duration_and_the_rest():
    assert interval(-1.0, 2.0) == "[−1.00, 2.00]"
    assert interval(None, 2.0) == interval(0.0, math.nan) == ""
    assert [duration(s) for s in (0.5, 89.0, 600.0, 36_000.0, None)] == ["0.500 s", "89.0 s", "10.0 min", "10.0 h", "–"]
    assert whole_numbers((0, 1, 2, 7, 9, 10)) == "0–2, 7, 9–10"
    assert whole_numbers(()) == ""
    assert shortened("a\n b", 10) == "a b"
    assert shortened("abcdef", 4) == "abc…"
