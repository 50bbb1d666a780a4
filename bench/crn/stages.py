"""The stages of a command's work: shown while they last, and timed."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from scisuite.core.progress import Progress

_TICK_SECONDS = 0.5


class Stages:
    """Names of stages beside a progress bar, and the seconds that each took.

    The bar is told of the time by a thread of its own, so that it appears in the middle of a long stage too.

    >>> with Stages("alarm.xml", total=2) as stages:
    ...     with stages("reading"):
    ...         pass
    >>> list(stages.seconds)
    ['reading']
    """

    def __init__(self, title: str, total: int) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = Progress(title, total)
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._note = ""
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Stages:
        self._progress.__enter__()
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self._thread.join()
        self._progress.__exit__(None, None, None)

    @contextlib.contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """The stage that the body is."""
        self.note(name)
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started
        with self._lock:
            self._progress.advance()

    def rounded(self) -> dict[str, float]:
        """The seconds of each stage, for a report."""
        return {name: round(seconds, 4) for name, seconds in self.seconds.items()}

    def note(self, text: str) -> None:
        """What is shown behind the bar from now on."""
        with self._lock:
            self._note = text
            self._progress.update(self._progress.completed, text)

    def _tick(self) -> None:
        while not self._over.wait(_TICK_SECONDS):
            with self._lock:
                self._progress.update(self._progress.completed, self._note)
