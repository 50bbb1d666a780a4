"""Tables stay legible at any width: no figure and no heading is broken."""

from __future__ import annotations

import pytest

from scisuite.bench.cli.output import new_table, print_table


@pytest.mark.parametrize(("width", "tables"), [(200, 1), (80, 3), (40, 6)])
def test_columns_of_figures_that_do_not_fit_go_below_one_another(width, tables, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    names = [f"quantity_{i}_with_name" for i in range(6)]
    table = new_table("a title", "arm", *names, right=tuple(names))
    table.add_row("first_arm", *(f"{i}.5 ± 0.25" for i in range(6)))
    table.add_section()
    table.add_row("second_arm", *("–" for _ in names))
    print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "a title"
    heads = [line for line in lines if line.split()[:1] == ["arm"]]
    assert len(heads) == tables
    assert " ".join(" ".join(head.split()[1:]) for head in heads).split() == names
    assert sum("first_arm" in line for line in lines) == tables
    text = "\n".join(lines)
    assert all(f"{i}.5 ± 0.25" in text for i in range(6))
    assert max(map(len, lines)) <= width


def test_a_table_of_words_is_left_to_fold(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    table = new_table("claims", "claim", "statement")
    table.add_row("an.id", "words that are folded where they do not fit the line")
    print_table(table)
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.split()[:1] == ["claim"] for line in lines) == 1
    assert max(map(len, lines)) <= 40
