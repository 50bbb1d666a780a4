"""``-k key=value``: arguments that are JSON, as the command line says them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from scisuite.core import InvalidInput


def read_settings(pairs: Iterable[str] | None, option: str) -> dict[str, Any]:
    """The ``key=value`` pairs of a repeatable option as a dict.

    A value is JSON; what is not JSON is a number (``.8``, ``200_000``) or else a string. A dot in a key goes one level
    deeper.

    >>> read_settings(["scenario=photo_pce10", "budget=60", "oracle_config.corr=.8"], "-k")
    {'scenario': 'photo_pce10', 'budget': 60, 'oracle_config': {'corr': 0.8}}

    Raises
    ------
    InvalidInput
        If a pair has no ``=`` or no key, a key comes twice, or a number is not finite.
    """
    settings: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, text = pair.partition("=")
        names = key.strip().split(".")
        if not equals or not all(names):
            raise InvalidInput(f"{option} takes key=value, not {pair!r}")
        place = settings
        for name in names[:-1]:
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                raise InvalidInput(f"{option} {key}: {name} already has a value that is not an object")
        if names[-1] in place:
            raise InvalidInput(f"{option} {key} is given twice")
        place[names[-1]] = _read_value(text, f"{option} {key}")
    return settings


def _read_value(text: str, what: str) -> Any:
    def finite(number: str) -> float:
        if not math.isfinite(value := float(number)):
            raise InvalidInput(f"{what} must be finite, not {number}")
        return value

    try:
        return json.loads(text, parse_constant=finite, parse_float=finite)
    except json.JSONDecodeError:
        pass
    if text[:1] in ("{", "[", '"'):
        raise InvalidInput(f"{what}: {text} is not JSON")
    try:
        return int(text)
    except ValueError:
        pass
    try:
        float(text)
    except ValueError:
        return text
    return finite(text)
