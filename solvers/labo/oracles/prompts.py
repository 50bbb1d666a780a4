"""What a language model is asked about an experiment, and the strict grammar of what counts as an answer."""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Mapping, Sequence
from typing import Any

from scisuite.core import InvalidInput, Space

TEMPLATE = "Task: {task}\n{value} on a scale from 0.0 ({low}) to 1.0 ({high}).\n{examples}{point}: {value} = 0."
"""For digit scoring: ends in ``0.`` so that the next token is the first decimal."""

QUESTION = (
    "{task}\nPredict {value} ({direction} is better) of this experiment: {point}.\n"
    "{within}{examples}"
    'Answer with nothing but JSON: {{"value": number}}{in_unit}.'
)
"""For models that reply in text."""

FIELDS = ("task", "value", "unit", "in_unit", "low", "high", "within", "direction", "examples", "point")

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*)\n```\Z", re.DOTALL)


def check_template(template: Any, *, ending: str = "") -> str:
    """``template`` if it names only :data:`FIELDS`, has ``{point}``, and ends in ``ending``; else ``InvalidInput``."""
    if not isinstance(template, str):
        raise InvalidInput(f"template must be a text, not {type(template).__name__}")
    try:
        names = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
    except ValueError as error:
        raise InvalidInput(f"template is not a format string: {error}") from error
    if unknown := [name for name in names if name not in FIELDS]:
        raise InvalidInput(f"template has unknown {{{unknown[0]}}}; known: {', '.join(FIELDS)}")
    if "point" not in names or "{point}" not in template:
        raise InvalidInput("template must hold {point}, the experiment that is asked about")
    if not template.endswith(ending):
        raise InvalidInput(f'template must end in "{ending}", so that the next token is the first decimal')
    return template


def fields(context: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a template that come from ``problem.context()``; ``examples`` and ``point`` are still to add."""
    unit = f" {context['unit']}" if context["unit"] else ""
    low, high = context["range"] or (None, None)
    return {
        "task": str(context["task"]).strip() or f"Predict the {context['value']} of an experiment.",
        "value": str(context["value"]),
        "unit": str(context["unit"]),
        "in_unit": f" in {context['unit']}" if context["unit"] else "",
        "low": "unknown" if low is None else f"{low:g}{unit}",
        "high": "unknown" if high is None else f"{high:g}{unit}",
        "within": "" if low is None else f"It lies between {low:g}{unit} and {high:g}{unit}. ",
        "direction": "more" if context["maximise"] else "less",
    }


def describe_point(space: Space, point: Mapping[str, Any]) -> str:
    """``temperature = 71.5 degC, solvent = DMF``: one experiment in the user's units, to four significant digits."""
    parts = []
    for name, unit in space.units.items():
        value = point[name]
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
        parts.append(f"{name} = {text}{' ' + unit if unit else ''}")
    return ", ".join(parts)


def check_examples(examples: Any, shots: int | None) -> tuple[tuple[dict[str, Any], float], ...]:
    """The first ``shots`` (all, for ``None``) of the caller's (point, value) pairs.

    Raises
    ------
    InvalidInput
        If they are not pairs of a mapping and a finite number, or fewer than ``shots``.
    """
    pairs: list[tuple[dict[str, Any], float]] = []
    for pair in examples:
        if not isinstance(pair, Sequence) or len(pair) != 2 or not isinstance(pair[0], Mapping):
            raise InvalidInput(f'an example must be ({{"name": …}}, value), not {pair!r}')
        point, value = pair
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InvalidInput(f"the value of an example must be a finite number, not {value!r}")
        pairs.append((dict(point), float(value)))
    if shots is None:
        return tuple(pairs)
    if isinstance(shots, bool) or not isinstance(shots, int) or not 0 <= shots <= len(pairs):
        raise InvalidInput(
            f"shots must be an integer in [0, {len(pairs)}], the number of examples given, not {shots!r}"
        )
    return tuple(pairs[:shots])


def parse_value(text: str, unit: str = "") -> float:
    """The number that a reply states, or NaN.

    An answer is either a JSON object with the number under ``"value"`` and nothing else but, if it likes, the
    problem's own unit under ``"unit"`` (one ``json`` code fence around it is taken off), or a bare decimal number, with
    or without the problem's unit behind it. Prose, other units, further keys, several numbers, NaN and infinities are
    no answers.

    >>> parse_value('{"value": 0.25}'), parse_value("71.5 %", unit="%"), parse_value("about 70")
    (0.25, 71.5, nan)
    """
    text = text.strip()
    if fenced := _FENCE.match(text):
        text = fenced.group(1).strip()
    if text.startswith("{"):
        return _json_value(text, unit)
    if unit and text.endswith(unit):
        text = text[: -len(unit)].rstrip()
    return _finite(float(text)) if _NUMBER.fullmatch(text) else math.nan


def parse_candidates(text: str) -> list[Any]:
    """The list under ``"candidates"`` of a JSON reply (a code fence is taken off), or an empty one."""
    text = text.strip()
    if fenced := _FENCE.match(text):
        text = fenced.group(1).strip()
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return []
    listed = answer.get("candidates") if isinstance(answer, dict) else None
    return listed if isinstance(listed, list) else []


def _json_value(text: str, unit: str) -> float:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return math.nan
    if "value" not in answer or set(answer) - {"value", "unit"} or answer.get("unit", unit) != unit:
        return math.nan
    value = answer["value"]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        return _finite(float(value))
    except OverflowError:
        return math.nan


def _finite(value: float) -> float:
    return value if math.isfinite(value) else math.nan
