"""A tool checks its arguments by name before it calls."""

from __future__ import annotations

import json

import pytest

from scisuite.core import InvalidInput, Tool

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a"],
}


@pytest.fixture
def calls() -> list[dict[str, float]]:
    return []


@pytest.fixture
def tool(calls: list[dict[str, float]]) -> Tool:
    def add(arguments: dict[str, float]) -> dict[str, float]:
        calls.append(arguments)
        return {"sum": arguments["a"] + arguments.get("b", 0)}

    return Tool("add", "Adds.", SCHEMA, add)


def test_it_calls_the_function(tool: Tool) -> None:
    assert tool.call({"a": 1, "b": 2}) == {"sum": 3}
    assert tool.call({"a": 1}) == {"sum": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "add needs a"),
        ({"a": 1, "c": 2, "d": 3}, "add does not take c, d"),
        ([1], "add takes an object of arguments, not list"),
        ("a", "not str"),
    ],
)
def test_wrong_arguments_never_reach_it(
    tool: Tool, calls: list[dict[str, float]], arguments: object, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        tool.call(arguments)  # type: ignore[arg-type]
    assert calls == []


def test_the_openai_form_is_json(tool: Tool) -> None:
    form = json.loads(json.dumps(tool.to_openai()))
    assert form["type"] == "function"
    assert form["function"]["parameters"]["required"] == ["a"]
    assert form["function"]["name"] == "add"
