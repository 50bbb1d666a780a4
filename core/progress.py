"""Progress on standard error for anything that takes longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

_DELAY_SECONDS = 2.0


class Progress:
    """A progress bar that appears only once the work has lasted two seconds.

    Use it as a context manager. It writes to standard error, so that ``--json`` on standard output stays clean, and
    to nothing at all where ``enabled`` is false.

    >>> with Progress("counting", total=3, enabled=False) as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    """

    def __init__(self, title: str, total: float | None = None, *, enabled: bool = True) -> None:
        self.title = title
        self.total = total
        self.completed = 0.0
        self._enabled = enabled
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None
        self._note = ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, amount: float = 1.0, note: str = "") -> None:
        """Count ``amount`` more as done; ``note`` is shown at the end of the line."""
        self.update(self.completed + amount, note)

    def update(self, completed: float, note: str = "", total: float | None = None) -> None:
        """Set what is done so far, and the total where it became known."""
        self.completed = completed
        self.total = total if total is not None else self.total
        self._note = note or self._note
        if not self._enabled or time.monotonic() - self._started < _DELAY_SECONDS:
            return
        if self._bar is None:
            self._open()
        self._bar.update(self._task, completed=self.completed, total=self.total, note=self._note)

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        self._bar = RichProgress(*columns, console=Console(file=sys.stderr))
        self._task = self._bar.add_task(self.title, total=self.total, note=self._note)
        self._bar.start()


def track(items: Iterable[T], title: str, total: float | None = None, *, enabled: bool = True) -> Iterator[T]:
    """Yield ``items`` and show how many have gone by."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    with Progress(title, total, enabled=enabled) as progress:
        for item in items:
            yield item
            progress.advance()
