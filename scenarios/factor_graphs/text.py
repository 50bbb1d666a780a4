"""Text files as they come: plain or gzipped, and with a line number for whatever is wrong in them."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import NoReturn

from scisuite.core import InvalidInput

MAX_SCOPE = 64  # what numpy can index
MAX_ENTRIES = 2**28  # of one table; a short file can ask for any number


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file in UTF-8, decompressed where it is gzipped.

    Raises
    ------
    InvalidInput
        If there is no such file, it cannot be read, is a damaged archive, or holds no text; the message names it.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InvalidInput(f"no such file: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    if content[:2] == b"\x1f\x8b":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise InvalidInput(f"{path} is a damaged gzip file: {error}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not text: byte {error.start} is no UTF-8") from error
    if "\0" in text:
        raise InvalidInput(f"{path} is not text: byte {text.index(chr(0))} is zero")
    return text


def refuse_line(path: str | os.PathLike[str], text: str, position: int, message: str) -> NoReturn:
    """Raise InvalidInput that names the file and the line in which ``position`` lies."""
    position = min(position, len(text.rstrip()))
    line = text.count("\n", 0, position) + 1
    raise InvalidInput(f"{path}, line {line}: {message}")
