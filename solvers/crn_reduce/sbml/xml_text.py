"""Text as XML can hold it."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

from scisuite.core import InvalidInput


def quoted(text: str) -> str:
    """``text`` as the quoted value of an attribute.

    Raises
    ------
    InvalidInput
        If it holds a character that XML 1.0 has no place for, such as a control character.
    """
    if _NOT_XML.search(text):
        raise InvalidInput(f"the name {text!r} holds a character that XML cannot")
    return quoteattr(text)


_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
