"""Named errors of reading SBML, and how its elements are named in them."""

from __future__ import annotations

from typing import Any

from scisuite.core import InvalidInput


class UnsupportedSBML(InvalidInput):
    """The document is SBML, but not a plain mass-action network; the message names the element and its line."""


def named(element: Any, what: str = "") -> str:
    """An SBML element as a reader finds it in the file: ``reaction 'r1' (line 12)``."""
    title = what or f"{element.getElementName()} {element.getIdAttribute()!r}".removesuffix(" ''")
    return f"{title} (line {element.getLine()})" if element.getLine() else title
