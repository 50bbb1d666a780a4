"""What is to be looked at next."""

from __future__ import annotations

from collections import deque

import numpy as np


class Agenda:
    """Names, each at most once, that come out in the order in which they went in, or in random order."""

    def __init__(self, rng: np.random.Generator | None = None) -> None:
        self._rng = rng
        self._waiting: set[str] = set()
        self._order: deque[str] = deque()

    def __bool__(self) -> bool:
        return bool(self._order)

    def add(self, name: str) -> None:
        """Put a name in, unless it waits already."""
        if name not in self._waiting:
            self._waiting.add(name)
            self._order.append(name)

    def pop(self) -> str:
        """Take one out."""
        if self._rng is not None:
            at = int(self._rng.integers(len(self._order)))
            self._order[0], self._order[at] = self._order[at], self._order[0]
        name = self._order.popleft()
        self._waiting.remove(name)
        return name
