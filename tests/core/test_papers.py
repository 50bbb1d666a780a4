"""Paper metadata is complete or refused, and its BibTeX is safe to paste."""

from __future__ import annotations

from pathlib import Path

import pytest

from scisuite.core import InvalidInput, Paper, read_paper

FIELDS = {"title": "Broad Exploration", "authors": ["A. Chen", "B. Yuan", "others"], "venue": "ICML", "year": 2026}


def test_bibtex_holds_every_field() -> None:
    text = Paper.from_mapping("labo", {**FIELDS, "arxiv": "2605.22054", "note": "title unconfirmed"}).bibtex
    assert text.startswith("@inproceedings{labo2026,")
    assert text.endswith("}")
    for part in (
        "title     = {{Broad Exploration}},",
        "author    = {A. Chen and B. Yuan and others},",
        "year      = {2026},",
        "eprint    = {2605.22054},",
        "archivePrefix = {arXiv},",
        "note      = {title unconfirmed},",
    ):
        assert part in text
    assert text.count("{") == text.count("}")


def test_optional_fields_are_left_out() -> None:
    text = Paper.from_mapping("labo", FIELDS).bibtex
    assert "eprint" not in text
    assert "note" not in text


def test_special_characters_are_escaped() -> None:
    text = Paper.from_mapping("x", {**FIELDS, "title": r"50% & {A}_b #1 $x$ ~ ^ \ "}).bibtex
    for part in (r"50\%", r"\&", r"\{A\}\_b", r"\#1", r"\$x\$", r"\textasciitilde{}", r"\textasciicircum{}"):
        assert part in text
    assert r"\textbackslash{}" in text
    assert text.count("{") == text.count("}")


def test_missing_and_unknown_fields_are_named() -> None:
    with pytest.raises(InvalidInput, match="paper x: missing fields authors, venue, year"):
        Paper.from_mapping("x", {"title": "T"})
    with pytest.raises(InvalidInput, match="paper x: unknown fields doi"):
        Paper.from_mapping("x", {**FIELDS, "doi": "1"})
    with pytest.raises(InvalidInput, match="authors must be a list of names"):
        Paper.from_mapping("x", {**FIELDS, "authors": "A. Chen"})


def test_read_paper(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    toml = tmp_path / "mine" / "solver.toml"
    toml.write_text('[paper]\ntitle = "T"\nauthors = ["A"]\nvenue = "V"\nyear = 2026\n')
    assert read_paper(tmp_path, "mine") == Paper("mine", "T", ("A",), "V", 2026)
    with pytest.raises(InvalidInput, match="no paper with the slug 'other'"):
        read_paper(tmp_path, "other")
    toml.write_text("")
    with pytest.raises(InvalidInput, match=r"has no \[paper\] table"):
        read_paper(tmp_path, "mine")
    toml.write_text("[paper")
    with pytest.raises(InvalidInput, match=r"solver\.toml"):
        read_paper(tmp_path, "mine")
