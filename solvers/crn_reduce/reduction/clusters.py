"""The pairs of factors whose product would make the network smaller, the best first."""

from __future__ import annotations

import heapq
from collections import Counter

from scisuite.solvers.crn_reduce.reduction.draft import Draft
from scisuite.solvers.crn_reduce.reduction.sizes import cluster_growth


class Clusters:
    """Pairs of factors that share exactly one variable and whose product makes the network smaller.

    A variable of d factors makes d²/2 pairs: this is the one part of a reduction that is not near-linear, and it runs
    only where ``cluster`` was asked for.
    """

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._place = {name: i for i, name in enumerate(draft.scopes)}
        self._version = dict.fromkeys(draft.scopes, 0)
        self._heap: list[tuple[int, int, int, str, str, int, int]] = []
        self._read = len(draft.journal)
        for name in draft.scopes:
            self._push_pairs_of(name)

    def pop_best(self) -> tuple[str, str] | None:
        """The pair, the first factor first, whose product makes the network smallest, if any makes it smaller."""
        self._catch_up()
        while self._heap:
            _, _, _, a, b, version_a, version_b = heapq.heappop(self._heap)
            if self._is_current(a, version_a) and self._is_current(b, version_b):
                return a, b
        return None

    def _catch_up(self) -> None:
        journal = self._draft.journal
        changed = dict.fromkeys(journal[self._read :])
        self._read = len(journal)
        for name in changed:
            self._place.setdefault(name, len(self._place))
            self._version[name] = self._version.get(name, 0) + 1
        for name in changed:
            if name in self._draft.scopes:
                self._push_pairs_of(name)

    def _push_pairs_of(self, name: str) -> None:
        draft = self._draft
        scope = draft.scopes[name]
        shared = Counter(other for v in scope for other in draft.holders[v] if other != name)
        for other, count in shared.items():
            if count == 1:
                a, b = sorted((name, other), key=self._place.__getitem__)
                (variable,) = draft.shared_by(a, b)
                growth = cluster_growth(draft, variable, a, b)
                if growth < 0:
                    places = self._place[a], self._place[b]
                    heapq.heappush(self._heap, (growth, *places, a, b, self._version[a], self._version[b]))

    def _is_current(self, name: str, version: int) -> bool:
        return name in self._draft.scopes and self._version[name] == version
