"""Certificates as JSON text: a header, and one line for each move."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import numpy as np

from scisuite.core import NewerFormat
from scisuite.solvers.crn_reduce.reduction.certificate import FORMAT, VERSION, Certificate, GraphSummary
from scisuite.solvers.crn_reduce.reduction.errors import CertificateError
from scisuite.solvers.crn_reduce.reduction.record import Move, Operand

T = TypeVar("T")


def certificate_to_json(certificate: Certificate) -> str:
    """The certificate as text.

    Tables are nested lists of numbers, written with as many digits as give the same float64 back: readable, at up to
    twice the size of base64. A tree of 24,000 three-valued variables takes 11 MB, a conditioned andes 60 kB.
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "keep": list(certificate.keep),
        "before": vars(certificate.before),
        "after": vars(certificate.after),
    }
    lines = [json.dumps(_as_dict(move)) for move in certificate.moves]
    start = json.dumps(header, indent=1)[: -len("\n}")]
    return f'{start},\n "moves": [' + ",".join(f"\n  {line}" for line in lines) + "\n ]\n}\n"


def certificate_from_json(text: str) -> Certificate:
    """The certificate that a text holds. Whether it proves anything is for ``verify_certificate`` to say.

    Raises
    ------
    CertificateError
        If the text is no certificate; the message says what is missing or wrong, and in which move.
    NewerFormat
        If a later version wrote it.
    """
    try:
        whole = json.loads(text)
    except ValueError as error:
        raise CertificateError(f"the certificate is no JSON: {error}") from error
    except RecursionError:
        raise CertificateError("the certificate is damaged: its lists or objects are nested too deeply") from None
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise CertificateError(f'this is no certificate: it does not say "format": "{FORMAT}"')
    version = _field(whole, "version", int, "the certificate")
    if version > VERSION:
        raise NewerFormat(f"the certificate has version {version}; this scisuite reads up to {VERSION}")
    moves = _field(whole, "moves", list, "the certificate")
    return Certificate(
        tuple(_move(given, f"move {number}") for number, given in enumerate(moves, 1)),
        _names(whole, "keep", "the certificate"),
        _summary(whole, "before"),
        _summary(whole, "after"),
    )


def _as_dict(move: Move) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": move.kind}
    if move.variable:
        found["variable"] = move.variable
    found["operands"] = [_operand_as_dict(operand) for operand in move.operands]
    if move.results:
        found["results"] = [_operand_as_dict(operand) for operand in move.results]
    if move.values:
        found |= {"values": list(move.values), "card": move.card}
    if move.exponent:
        found["exponent"] = move.exponent
    return found


def _operand_as_dict(operand: Operand) -> dict[str, Any]:
    found: dict[str, Any] = {"factor": operand.name, "variables": list(operand.variables)}
    if operand.table is not None:
        found["table"] = operand.table.tolist()
    return found


def _move(given: Any, where: str) -> Move:
    return Move(
        kind=_field(given, "kind", str, where),
        variable=_field(given, "variable", str, where, ""),
        operands=tuple(_operand(o, where) for o in _field(given, "operands", list, where)),
        results=tuple(_operand(o, where) for o in _field(given, "results", list, where, [])),
        values=_all(_field(given, "values", list, where, []), int, "values", where),
        card=_field(given, "card", int, where, 0),
        exponent=_field(given, "exponent", int, where, 0),
    )


def _operand(given: Any, where: str) -> Operand:
    name, variables = _field(given, "factor", str, where), _names(given, "variables", where)
    if "table" not in given:
        return Operand(name, variables)
    try:
        table = np.array(given["table"], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CertificateError(f"{where}: the table of factor {name!r} is no table of numbers: {error}") from error
    if table.ndim != len(variables) or not table.size or not np.isfinite(table).all() or (table < 0).any():
        raise CertificateError(
            f"{where}: the table of factor {name!r} must have an axis for each of its {len(variables)} variables, and "
            "finite entries, none negative"
        )
    return Operand(name, variables, table)


def _summary(whole: dict[str, Any], name: str) -> GraphSummary:
    given = _field(whole, name, dict, "the certificate")
    return GraphSummary(
        variables=_field(given, "variables", int, name),
        factors=_field(given, "factors", int, name),
        species=_field(given, "species", int, name),
        reactions=_field(given, "reactions", int, name),
        sha256=_field(given, "sha256", str, name),
    )


def _names(given: Any, key: str, where: str) -> tuple[str, ...]:
    return _all(_field(given, key, list, where), str, key, where)


def _all(given: list[Any], kind: type[T], key: str, where: str) -> tuple[T, ...]:
    if not all(type(item) is kind for item in given):
        raise CertificateError(f"{where}: {key!r} holds something else than {_NAMES[kind].split()[-1]}s")
    return tuple(given)


def _field(given: Any, key: str, kind: type[T], where: str, default: T | None = None) -> T:
    if not isinstance(given, dict):
        raise CertificateError(f"{where} is no JSON object")
    if key not in given and default is not None:
        return default
    if key not in given:
        raise CertificateError(f"{where}: {key!r} is missing")
    if type(given[key]) is not kind:
        raise CertificateError(f"{where}: {key!r} must be {_NAMES[kind]}, not {given[key]!r}")
    value: T = given[key]
    return value


_NAMES: dict[type, str] = {str: "a text", int: "a whole number", list: "a list", dict: "an object"}
