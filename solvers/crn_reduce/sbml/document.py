"""An SBML document: found, decoded and parsed, with libsbml's own errors as ours."""

from __future__ import annotations

import codecs
import os
import re
import stat
from pathlib import Path
from typing import Any
from xml.parsers import expat

from scisuite.core import InvalidInput, MissingDependency


def parse_document(source: str | os.PathLike[str]) -> Any:
    """The libsbml document in ``source``: the text itself if it begins with ``<``, otherwise a path.

    Raises
    ------
    InvalidInput
        If there is no such file or it cannot be read, is not XML (with line), has a document type
        declaration or elements nested deeper than 250, is not SBML of Level 2 or 3, has no model, or libsbml finds an
        error in it (with line and libsbml's message).
    MissingDependency
        If libsbml is not installed.
    """
    libsbml = import_libsbml()
    text = _text(source)
    _check_xml(text)
    document = libsbml.readSBMLFromString(text)
    raise_errors(document)
    if document.getLevel() not in (2, 3):
        raise InvalidInput(f"this is SBML Level {document.getLevel()}; Levels 2 and 3 can be read")
    if document.getModel() is None:
        raise InvalidInput("the SBML document has no model")
    return document


def raise_errors(document: Any) -> None:
    """Raise the errors that libsbml has noted in a document so far; warnings are let pass.

    Raises
    ------
    InvalidInput
        With line and message of the first error and the number of further ones.
    """
    libsbml = import_libsbml()
    noted = [document.getError(i) for i in range(document.getNumErrors())]
    errors = [error for error in noted if error.getSeverity() >= libsbml.LIBSBML_SEV_ERROR]
    if errors:
        first = errors[0]
        # libsbml's message begins with the rule at length; what is wrong here comes after its reference.
        message = re.split(r"^Reference: .*$", first.getMessage(), maxsplit=1, flags=re.MULTILINE)[-1]
        short, detail = (" ".join(text.split()) for text in (first.getShortMessage(), message))
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise InvalidInput(f"not valid SBML: line {first.getLine()}: {short}: {detail or short}{more}")


def import_libsbml() -> Any:
    """The libsbml module.

    Raises
    ------
    MissingDependency
        If it is not installed.
    """
    try:
        import libsbml
    except ImportError:
        raise MissingDependency("reading SBML needs libsbml", extra="crn-reduce") from None
    return libsbml


def _text(source: str | os.PathLike[str]) -> str:
    if isinstance(source, str) and not source.strip():
        raise InvalidInput("there is no SBML to read: the text is empty")
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        text = source.lstrip("\ufeff")
    else:
        text = _decoded(_content(source), _shown(source))
    # The encoding is dealt with, and a declaration of another would only contradict it. Lines stay where they are.
    declaration = re.match(r"\s*<\?xml[^>]*\?>", text)
    end = declaration.end() if declaration else 0
    return '<?xml version="1.0" encoding="UTF-8"?>' + "\n" * text.count("\n", 0, end) + text[end:]


def _content(source: str | os.PathLike[str]) -> bytes:
    shown = _shown(source)
    try:
        path = Path(source)
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InvalidInput(f"{shown} is a folder, not an SBML file")
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InvalidInput(f"{shown} is not a file")
        content = path.read_bytes()
        if content.startswith(_GZIP):
            raise InvalidInput(f"{shown} is compressed by gzip; unpack it first")
        return content
    except FileNotFoundError:
        raise InvalidInput(f"no such file: {shown}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {shown}: {error.strerror or error}") from error
    except InvalidInput:
        raise
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"{shown} is neither SBML text nor a path: {error}") from error


def _decoded(content: bytes, shown: str) -> str:
    declared = re.match(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']", content)
    encoding = declared.group(1).decode() if declared else "utf-8"
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif content.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    try:
        return content.decode(encoding)
    except LookupError:
        raise InvalidInput(f"{shown}: unknown encoding {encoding!r}") from None
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{shown} is not {encoding} text (byte {error.start}), so no SBML") from None


def _check_xml(text: str) -> None:
    """Refuse here what would make libsbml fall over or answer in riddles."""
    parser = expat.ParserCreate(encoding="utf-8")
    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise InvalidInput(f"line {parser.CurrentLineNumber}: elements are nested deeper than {_DEEPEST}")

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1

    def declared(*_: object) -> None:
        raise InvalidInput(f"line {parser.CurrentLineNumber}: a document type declaration has no place in SBML")

    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    parser.StartDoctypeDeclHandler = declared
    try:
        parser.Parse(text.encode(), True)
    except UnicodeEncodeError as error:
        raise InvalidInput(f"the text is not XML: {error.reason}") from None
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise InvalidInput(f"not XML: line {error.lineno}: {reason}") from None


def _shown(source: object) -> str:
    text = str(source)
    return repr(text) if len(text) <= 100 else repr(text[:97] + "…")


_GZIP = b"\x1f\x8b"
_DEEPEST = 250
