"""``scisuite new``: the files of a paper that is to be added, as a small method that works."""

from scisuite.bench.scaffold.lay import lay_paper, planned_files

__all__ = ["lay_paper", "planned_files"]
