"""What exact answers about factor graphs can founder on."""

from scisuite.core import EngineFailure


class TooWide(EngineFailure):
    """A graph is so densely connected that an exact answer would take a table beyond the limit."""
