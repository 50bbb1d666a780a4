"""A solver, or anything else, as a tool that a language-model agent can call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scisuite.core.errors import InvalidInput


@dataclass(frozen=True)
class Tool:
    """A named function with a JSON Schema for its arguments.

    Parameters
    ----------
    name, description : str
    schema : mapping
        JSON Schema of the argument object (``{"type": "object", "properties": …, "required": […]}``).
    function : callable
        ``dict -> dict``, both JSON.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    function: Callable[[dict[str, Any]], dict[str, Any]]

    def call(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Check that the required arguments are there and no others, and call the function.

        Raises
        ------
        InvalidInput
            If an argument is missing, unknown, or refused by the function.
        """
        if not isinstance(arguments, dict):
            raise InvalidInput(f"{self.name} takes an object of arguments, not {type(arguments).__name__}")
        properties = self.schema.get("properties", {})
        if missing := [name for name in self.schema.get("required", ()) if name not in arguments]:
            raise InvalidInput(f"{self.name} needs {', '.join(missing)}")
        if unknown := [name for name in arguments if name not in properties]:
            raise InvalidInput(f"{self.name} does not take {', '.join(unknown)}")
        return self.function(arguments)

    def to_openai(self) -> dict[str, Any]:
        """The ``tools`` entry of an OpenAI-compatible chat request."""
        function = {"name": self.name, "description": self.description, "parameters": dict(self.schema)}
        return {"type": "function", "function": function}
