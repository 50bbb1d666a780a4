"""A griffe extension: reStructuredText roles and equations in docstrings as the Markdown that mkdocstrings renders."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc|obj):`~?([^`]+)`")
_MATH = re.compile(r":math:`([^`]+)`")
_EQUATION = re.compile(r"^([ ]*)\.\. math::[ ]*(.*)(?:\n|\Z)((?:[ ]*\n)*(?:\1[ ]+\S.*(?:\n|\Z))*)", re.MULTILINE)
_BARE_EXAMPLE = re.compile(r"\n\n(?=>>> )")
_SECTION = re.compile(r"^\w[\w ]*\n-{4,}$", re.MULTILINE)


class Roles(griffe.Extension):
    """Turns ``:class:`~a.b.C` `` into ``C`` in code type, ``:math:`` and ``.. math::`` into ``$…$`` and ``$$``."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = plain_markdown(obj.docstring.value)


def plain_markdown(text: str) -> str:
    """``text`` with its roles and equations replaced, and a heading over an example that follows another section."""
    bare = _BARE_EXAMPLE.search(text)
    if bare and _SECTION.search(text, 0, bare.start()) and "Examples\n---" not in text:
        text = f"{text[: bare.start()]}\n\nExamples\n--------\n{text[bare.end() :]}"
    text = _EQUATION.sub(_display, _MATH.sub(lambda found: f"${found[1]}$", text))
    return _ROLE.sub(_name, text).replace("``", "`")


def _display(found: re.Match[str]) -> str:
    lines = [line.strip() for line in (found[2], *found[3].splitlines())]
    return f"{found[1]}$$\n{found[1]}{' '.join(filter(None, lines))}\n{found[1]}$$\n\n"


def _name(found: re.Match[str]) -> str:
    text = found[1]
    return f"`{text.rsplit('.', 1)[-1] if '~' in found[0] else text}`"
