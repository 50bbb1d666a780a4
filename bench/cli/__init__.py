"""The ``scisuite`` command line: a file for each theme, put together in :mod:`scisuite.bench.cli.root`."""

from scisuite.bench.cli.root import app, main

__all__ = ["app", "main"]
