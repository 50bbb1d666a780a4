"""A griffe extension: reStructuredText roles and equations in docstrings as the Markdown that mkdocstrings renders."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj|math):`~?([^`]+)`")
_EQUATION = re.compile(r"^([ ]*)\.\. math::[ ]*(.*)$", re.MULTILINE)
_BARE_EXAMPLE = re.compile(r"\n\n(?=>>> )")
_SECTION = re.compile(r"^\w[\w ]*\n-{4,}$", re.MULTILINE)


class Roles(griffe.Extension):
    """Turns ``:class:`~a.b.C` `` into ``C`` in code type, and ``.. math::`` into a block of code."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = plain_markdown(obj.docstring.value)


def plain_markdown(text: str) -> str:
    """``text`` with its roles and equations replaced, and a heading over an example that follows another section."""
    bare = _BARE_EXAMPLE.search(text)
    if bare and _SECTION.search(text, 0, bare.start()) and "Examples\n---" not in text:
        text = f"{text[: bare.start()]}\n\nExamples\n--------\n{text[bare.end() :]}"
    text = _ROLE.sub(_name, text)
    return _EQUATION.sub(lambda found: f"{found[1]}    {found[2]}", text).replace("``", "`")


def _name(found: re.Match[str]) -> str:
    text = found[1]
    shortened = "~" in found[0] and not found[0].startswith(":math:")
    return f"`{text.rsplit('.', 1)[-1] if shortened else text}`"
