"""The example that reads a user's table."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "own_table.py"


def test_without_arguments_it_makes_a_table(capsys):
    with pytest.warns(UserWarning, match="1 of 49 rows repeat the inputs of an earlier one: averaged to 48 rows"):
        runpy.run_path(str(SCRIPT))["main"]([])
    assert "48 points, 5 encoded columns" in capsys.readouterr().out


def test_with_a_file_of_ones_own(tmp_path, capsys):
    path = tmp_path / "own.csv"
    path.write_text("t,yield\n1,10\n2,40\n3,20\n4,5\n")
    runpy.run_path(str(SCRIPT))["main"]([str(path), "yield", "t"])
    out = capsys.readouterr().out
    assert "best of 4 random experiments: 40" in out
    assert "regret 0.00" in out
