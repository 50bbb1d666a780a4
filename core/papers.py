"""What a paper is called, who wrote it and how to cite it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scisuite.core.errors import InvalidInput


@dataclass(frozen=True)
class Paper:
    """Bibliographic facts about a paper.

    Parameters
    ----------
    slug : str
        The name by which scisuite's folders, experiments and docs page find it.
    title, venue : str
    authors : tuple of str
        In order; ``"others"`` ends an incomplete list, as in BibTeX.
    year : int
    arxiv : str or None
        Identifier such as ``"2605.22054"``.
    note : str
        What a reader should know about the entry, for instance that its title is unconfirmed.
    """

    slug: str
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    arxiv: str | None = None
    note: str = ""

    @classmethod
    def from_mapping(cls, slug: str, fields: Mapping[str, Any]) -> Paper:
        known = {"title", "authors", "venue", "year", "arxiv", "note"}
        if unknown := set(fields) - known:
            raise InvalidInput(f"paper {slug}: unknown fields {', '.join(sorted(unknown))}")
        if missing := {"title", "authors", "venue", "year"} - set(fields):
            raise InvalidInput(f"paper {slug}: missing fields {', '.join(sorted(missing))}")
        values = dict(fields)
        if isinstance(values["authors"], str):
            raise InvalidInput(f"paper {slug}: authors must be a list of names, not one string")
        values["authors"] = tuple(values["authors"])
        return cls(slug=slug, **values)

    @property
    def bibtex(self) -> str:
        """A BibTeX entry that LaTeX accepts: special characters are escaped, capitals kept."""
        lines = [
            f"@inproceedings{{{self.slug}{self.year},",
            f"  title     = {{{{{_escape(self.title)}}}}},",
            f"  author    = {{{' and '.join(_escape(a) for a in self.authors)}}},",
            f"  booktitle = {{{_escape(self.venue)}}},",
            f"  year      = {{{self.year}}},",
        ]
        if self.arxiv:
            lines += [f"  eprint    = {{{self.arxiv}}},", "  archivePrefix = {arXiv},"]
        if self.note:
            lines.append(f"  note      = {{{_escape(self.note)}}},")
        return "\n".join([*lines, "}"])


def read_paper(folder: Path, slug: str) -> Paper:
    """The ``[paper]`` table of ``folder/<slug>/solver.toml``.

    Raises
    ------
    InvalidInput
        If there is none.
    """
    path = folder / slug / "solver.toml"
    if not path.is_file():
        raise InvalidInput(f"no paper with the slug {slug!r}")
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: {error}") from error
    if "paper" not in document:
        raise InvalidInput(f"{path.name} of {slug} has no [paper] table")
    return Paper.from_mapping(slug, document["paper"])


_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _escape(text: str) -> str:
    return re.sub(r"[&%$#_{}~^\\]", lambda match: _LATEX.get(match[0], "\\" + match[0]), text)
