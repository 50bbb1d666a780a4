"""Which move is made next."""

from __future__ import annotations

import numpy as np

from scisuite.solvers.crn_reduce.reduction.agenda import Agenda
from scisuite.solvers.crn_reduce.reduction.clusters import Clusters
from scisuite.solvers.crn_reduce.reduction.draft import Draft
from scisuite.solvers.crn_reduce.reduction.errors import BeyondFloat64
from scisuite.solvers.crn_reduce.reduction.moves import cluster, leaf, series, split, support, unary
from scisuite.solvers.crn_reduce.reduction.sizes import series_shrinks
from scisuite.solvers.crn_reduce.reduction.tables import find_factorisation, possible_values


class Reducer:
    """Makes moves on a draft until nothing is left to do.

    Every look is at what the draft's journal says has changed, so that the work is proportional to the changes.
    """

    def __init__(self, draft: Draft, kinds: frozenset[str], rng: np.random.Generator | None = None) -> None:
        self._draft = draft
        self._kinds = kinds
        self._rng = rng
        self._unaries, self._leaves, self._series = Agenda(rng), Agenda(rng), Agenda(rng)
        self._doing = [
            (agenda, attempt)
            for kind, agenda, attempt in (
                ("unary", self._unaries, self._absorb),
                ("leaf", self._leaves, self._sum_out),
                ("series", self._series, self._contract),
            )
            if kind in kinds
        ]
        self._protected = draft.keep
        self._clusters: Clusters | None = None
        self._read = 0
        self._refined = 0

    def run(self) -> None:
        """Make all moves there are."""
        while True:
            refined = self._refine()
            if refined or not self._read:
                self._protect_one_variable_of_each_tree()
            self._merge_and_sum()
            if not self._must_refine() and not self._make_best_cluster():
                return

    def _must_refine(self) -> bool:
        return bool(self._kinds & {"support", "split"}) and self._refined < len(self._draft.journal)

    def _refine(self) -> bool:
        """Support and split moves, until none is left; whether any was made."""
        moves_before = len(self._draft.moves)
        while self._must_refine():
            factor = self._draft.journal[self._refined]
            self._refined += 1
            if "support" in self._kinds:
                self._restrict_variables_of(factor)
            if "split" in self._kinds and factor in self._draft.scopes:
                self._split(factor)
        return len(self._draft.moves) > moves_before

    def _restrict_variables_of(self, factor: str) -> None:
        draft = self._draft
        for v in draft.scopes.get(factor, ()):
            if factor not in draft.scopes:
                return
            if v in draft.card and v not in draft.keep:
                possible = possible_values(draft.tables[factor], draft.scopes[factor].index(v))
                if draft.card[v] == 1 or not possible.all():
                    support(draft, v)

    def _split(self, factor: str) -> None:
        draft = self._draft
        if len(draft.scopes[factor]) > 1:
            axes = find_factorisation(draft.tables[factor])
            if axes is not None:
                split(draft, factor, [draft.scopes[factor][i] for i in axes])

    def _merge_and_sum(self) -> None:
        """Unary, leaf and series moves, until none is left."""
        while True:
            self._read_journal()
            waiting = [(agenda, attempt) for agenda, attempt in self._doing if agenda]
            if not waiting:
                return
            agenda, attempt = waiting[0 if self._rng is None else int(self._rng.integers(len(waiting)))]
            try:
                attempt(agenda.pop())
            except BeyondFloat64:
                continue

    def _read_journal(self) -> None:
        draft = self._draft
        journal = draft.journal
        while self._read < len(journal):
            factor = journal[self._read]
            self._read += 1
            scope = draft.scopes.get(factor, ())
            if len(scope) == 1:
                self._unaries.add(factor)
            for v in scope:
                degree = len(draft.holders[v])
                if degree == 1:
                    self._leaves.add(v)
                elif degree == 2:
                    self._series.add(v)

    def _absorb(self, factor: str) -> None:
        draft = self._draft
        scope = draft.scopes.get(factor, ())
        if len(scope) == 1 and len(draft.holders[scope[0]]) > 1:
            into = None
            if self._rng is not None:
                into = str(self._rng.choice([other for other in draft.holders[scope[0]] if other != factor]))
            unary(draft, factor, into)

    def _sum_out(self, variable: str) -> None:
        draft = self._draft
        if variable in draft.card and variable not in self._protected and len(draft.holders[variable]) == 1:
            (factor,) = draft.holders[variable]
            if len(draft.scopes[factor]) > 1:
                leaf(draft, variable)

    def _contract(self, variable: str) -> None:
        draft = self._draft
        if variable not in draft.card or variable in self._protected or len(draft.holders[variable]) != 2:
            return
        a, b = draft.holders[variable]
        speaks_to_others = len(draft.scopes[a]) > 1 or len(draft.scopes[b]) > 1
        if speaks_to_others and len(draft.shared_by(a, b)) == 1 and series_shrinks(draft, variable, a, b):
            series(draft, variable)

    def _make_best_cluster(self) -> bool:
        if "cluster" not in self._kinds:
            return False
        if self._clusters is None:
            self._clusters = Clusters(self._draft)
        while (pair := self._clusters.pop_best()) is not None:
            try:
                cluster(self._draft, *pair)
            except BeyondFloat64:
                continue
            return True
        return False

    def _protect_one_variable_of_each_tree(self) -> None:
        draft = self._draft
        roots = {min(tree, key=draft.card.__getitem__) for tree in trees_without(draft.keep, draft)}
        for v in self._protected - draft.keep - roots:
            self._leaves.add(v)
            self._series.add(v)
        self._protected = draft.keep | roots


def trees_without(keep: frozenset[str], draft: Draft) -> list[list[str]]:
    """The variables, in order, of each component that has no cycle and none of ``keep``."""
    order = {v: i for i, v in enumerate(draft.card)}
    seen: set[str] = set()
    trees = []
    for start in draft.card:
        if start in seen:
            continue
        seen.add(start)
        members, factors, edges = [], set(), 0
        stack = [start]
        while stack:
            v = stack.pop()
            members.append(v)
            edges += len(draft.holders[v])
            for factor in draft.holders[v]:
                if factor not in factors:
                    factors.add(factor)
                    fresh = [u for u in draft.scopes[factor] if u not in seen]
                    seen.update(fresh)
                    stack += fresh
        if edges == len(members) + len(factors) - 1 and keep.isdisjoint(members):
            trees.append(sorted(members, key=order.__getitem__))
    return trees
