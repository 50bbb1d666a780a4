"""HTML as an element tree, so that the serialiser, and not the author, escapes what comes from data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from xml.etree import ElementTree

Element: TypeAlias = ElementTree.Element
Child: TypeAlias = "str | Element | Iterable[str | Element | None] | None"

_BLOCKS = frozenset({"tr", "section", "table", "figure", "svg", "div", "li", "p", "h2", "h3", "h4", "details", "pre"})
# What XML forbids, and the marks that turn the direction of the text around them.
_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def element(tag: str, *children: Child, **attributes: str | int | float | bool | None) -> Element:
    """An element with children.

    Parameters
    ----------
    tag : str
    *children : str, element, None, or an iterable of these
        Strings become text, ``None`` is left out.
    **attributes
        ``class_`` is ``class``, other underscores become hyphens; ``None`` and ``False`` leave an attribute out,
        ``True`` makes a boolean one.

    >>> to_html(element("td", "a < b", class_="number", data_value=3))
    '<td class="number" data-value="3">a &lt; b</td>'
    """
    node = ElementTree.Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            node.set(name.rstrip("_").replace("_", "-"), "" if value is True else str(value))
    for child in _flat(children):
        if isinstance(child, str):
            if len(node):
                node[-1].tail = (node[-1].tail or "") + child
            else:
                node.text = (node.text or "") + child
        else:
            node.append(child)
            if child.tag in _BLOCKS:
                child.tail = "\n"
    return node


def breakable(name: str) -> list[str | Element]:
    """A name that may be broken behind ``/``, ``_`` and ``.`` and nowhere else.

    >>> to_html(element("b", breakable("materials/p3ht")))
    '<b>materials/<wbr>p3ht</b>'
    """
    parts: list[str | Element] = []
    for part in re.split(r"(?<=[/_.])(?=[^/_.])", name):
        parts += [element("wbr"), part] if parts else [part]
    return parts


def to_html(node: Element) -> str:
    """The HTML text of ``node`` and everything in it."""
    return ElementTree.tostring(node, encoding="unicode", method="html", short_empty_elements=False)


def script_json(value: Any) -> str:
    """JSON that may stand inside ``<script type="application/json">``: nothing in it can end the element.

    >>> script_json(["</script>", "<!--"])
    '["\\\\u003c/script\\\\u003e","\\\\u003c!--"]'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def cleaned(value: Any) -> Any:
    """``value`` with every character that a page cannot show, in keys and in texts, replaced by U+FFFD."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {cleaned(key): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    return value


def _flat(children: Iterable[Child]) -> Iterable[str | Element]:
    for child in children:
        if isinstance(child, str | ElementTree.Element):
            yield child
        elif child is not None:
            yield from _flat(child)
