"""What goes wrong with a world."""

from scisuite.core import InvalidInput


class UnreachableError(InvalidInput):
    """No path leads from the start to the goal."""
