"""The generated part of a docs page."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from scisuite.bench.report import build_markdown, update_page
from scisuite.core import DamagedFile, InvalidInput

BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"


@pytest.fixture
def rows(make_rows):
    return [
        *make_rows(["labo", "random"], seeds=6),
        *make_rows(["prior_mean"], seeds=3, status="skipped", error="needs torch", metrics={}, curves={}),
    ]


@pytest.fixture
def experiments(make_experiment):
    return {"demo": make_experiment(["labo", "random", "prior_mean"], seeds=6)}


def test_tables_hold_what_was_measured(rows, experiments):
    text = build_markdown(rows, experiments=experiments)
    assert text == build_markdown(rows[::-1], experiments=experiments)
    lines = text.splitlines()
    claim = next(line for line in lines if line.startswith("| demo.tiny"))
    assert "| ≤ 0.150 | 0.18 |" in claim
    assert "| ✗ fails | 6 | materials/photo\\_pce10 |" in claim
    assert any(line.startswith("| labo | method | 0.") for line in lines)
    assert "| skipped | prior\\_mean | functions/hartmann6 | 0–2 | needs torch |" in lines
    assert "| cpu | A processor @ 2.40 GHz |" in lines
    assert "| numpy | 2.4.6 |" in lines
    assert "scisuite bench demo --tier quick --seeds 6" in lines
    assert "seeds 0–5" in text


def test_what_else_an_arm_measured_stands_beside_its_headline(rows, experiments):
    for row in rows:
        if row["arm"] == "labo":
            row["metrics"] |= {"steps": 40.0 + row["seed"], "gaps": None}
    lines = build_markdown(rows, experiments=experiments).splitlines()
    last = {line.split(" | ")[0]: line.rstrip(" |").split("| ")[-1] for line in lines if " | method | 0." in line}
    assert "steps 42.5" in last["| labo"]
    assert "gaps" not in "".join(lines)
    assert not any("steps" in line for line in lines if line.startswith("| random "))


def test_every_table_is_rectangular_whatever_is_in_it(rows, experiments):
    for row in rows:
        row["scenario"] = "a|b\n| c `d` <img> <!-- generated: end --> [x](y) *z*\\"
        row["environment"] = {"a|b": "c|d\n---"}
    text = build_markdown(rows, experiments=experiments)
    widths: set[int] = set()
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            widths.add(line.replace("\\\\", "").replace("\\|", "").count("|"))
        else:
            assert len(widths) <= 1
            widths = set()
    assert END not in text
    assert "<img" not in text


def test_texts_come_out_of_a_renderer_as_they_went_in(make_rows):
    markdown = pytest.importorskip("markdown", reason="comes with the docs extra")
    texts = [
        "a|b",
        "x_y_z *b* `c`",
        "<b>&amp;",
        "[l](u) ![i](u)",
        "~~s~~ $m$ x^2^",
        "\\ \\| {a}",
        "error: it: a:b",
        ":smile:",
        "# h",
    ]
    rows = [{**make_rows(["labo"], ["s"], seeds=1)[0], "arm": text, "scenario": text} for text in texts]
    page = markdown.markdown(build_markdown(rows), extensions=["tables", "attr_list"])
    tree = ElementTree.fromstring(f"<page>{page}</page>")
    assert ["".join(row[0].itertext()) for row in tree.iter("tr") if row[0].tag == "td"][: len(texts)] == sorted(texts)
    assert ["".join(heading.itertext()) for heading in tree.iter("h4")] == sorted(texts)


def test_an_unknown_experiment_has_rows_and_no_claims(make_rows):
    text = build_markdown(make_rows(["labo"], seeds=1, experiment="gone"))
    assert "could not be loaded when the tables were made" in text
    assert "verdict" not in text
    assert "| labo | – |" in text


def test_a_page_is_updated_between_its_markers_only(rows, experiments, tmp_path):
    path = tmp_path / "labo.md"
    path.write_text(f"# LABO\n\nTyped.\n\n{BEGIN}\nold\n{END}\n\nMore, typed.\n", encoding="utf-8")
    assert update_page(path, rows, experiments=experiments)
    text = path.read_text(encoding="utf-8")
    generated = build_markdown(rows, experiments=experiments)
    assert text == f"# LABO\n\nTyped.\n\n{BEGIN}\n\n{generated}\n{END}\n\nMore, typed.\n"
    assert not update_page(path, rows, experiments=experiments)
    assert not update_page(path, generated)


def test_line_ends_of_the_page_are_kept(rows, tmp_path):
    path = tmp_path / "page.md"
    path.write_bytes(f"a\r\n{BEGIN}\r\n{END}\r\nb".encode())
    assert update_page(path, rows)
    content = path.read_bytes()
    assert content.count(b"\n") == content.count(b"\r\n") > 20
    assert content.endswith(END.encode() + b"\r\nb")


@pytest.mark.parametrize(
    "text",
    [
        "no markers",
        f"{BEGIN} only",
        f"{END} only",
        f"{END}\n{BEGIN}",
        f"{BEGIN}{BEGIN}{END}",
        f"{BEGIN}{END}\n{END}",
        "",
    ],
)
def test_a_page_without_proper_markers_is_left_alone(rows, tmp_path, text):
    path = tmp_path / "page.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="must hold <!-- generated: begin --> and, behind it"):
        update_page(path, rows)
    assert path.read_text(encoding="utf-8") == text


def test_pages_that_cannot_be_read_and_texts_that_cannot_be_put_are_refused(rows, tmp_path):
    with pytest.raises(InvalidInput, match="no such file"):
        update_page(tmp_path / "absent.md", rows)
    with pytest.raises(InvalidInput, match="cannot read"):
        update_page(tmp_path, rows)
    path = tmp_path / "page.md"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DamagedFile, match="is not UTF-8 text"):
        update_page(path, rows)
    path.write_text(f"{BEGIN}{END}", encoding="utf-8")
    with pytest.raises(InvalidInput, match="must not hold"):
        update_page(path, f"a {END} b")
    with pytest.raises(InvalidInput, match="there are no rows"):
        update_page(path, [])
    assert path.read_text(encoding="utf-8") == f"{BEGIN}{END}"
