"""Algorithm 1: score the pool, randomise the best batch with known probabilities, learn, and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput, generator
from scisuite.scenarios.trials import (
    Logged,
    finite_column,
    finite_rows,
    group_labels,
    propensities,
    treatments,
    unit_places,
)
from scisuite.solvers.active_rct.learners.base import Learner
from scisuite.solvers.active_rct.logistic import Logistic
from scisuite.solvers.active_rct.randomisation import Randomisation, Rule
from scisuite.solvers.active_rct.scores import choose_top, overlap_deficit, score_pool, score_weights

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Strategy = Literal["score", "random", "effect"]


@dataclass(frozen=True, eq=False)
class Round:
    """A batch: places in the pool int64 (m,), treatments int64 (m,), outcomes and probabilities float64 (m,); read-only
    copies."""

    units: Ints
    t: Ints
    y: Floats
    p: Floats

    def __post_init__(self) -> None:
        for name in ("units", "t", "y", "p"):
            column = np.array(getattr(self, name))
            column.setflags(write=False)
            object.__setattr__(self, name, column)


class ActiveRCT:
    """Choose units, learn of their outcomes, choose again.

    Parameters
    ----------
    learner : Learner
        Model of the effect, built on the log.
    observational : Logged
        The biased log: the historical policy ê_obs is fitted to it once, and what is unlike it scores in d.
    pool : float (n, d)
        Covariates of the units that may be randomised.
    batch : int
        Units a round, M.
    weights : (float, float, float)
        α, β, γ of v, d and o. A term of weight 0 is not worked out.
    strategy : {"score", "random", "effect"}
        Algorithm 1's score; chance; or the largest τ̂, the negative control. The latter is plain: from the first batch
        on, with ties at random, and with neither the round-robin nor the exploration of the agent ``effect_greedy``.
    p_rule, p_bounds
        See :class:`~scisuite.solvers.active_rct.randomisation.Randomisation`.
    binary : bool
        Whether outcomes are in [0, 1], so that the adaptive rule takes τ̂ as it is.
    known_p : float (n,) or None
        Probabilities of a replayed trial, which then rule.
    group : int (n,) or None
        What was randomised together in a replayed trial, such as a household; by default everybody was alone. The
        learner is told. Members are chosen one by one all the same, so that a group may straddle batches.
    propensity, domain : objects with ``fit`` and ``predict_proba``, or None
        Classifiers of the historical policy and of pool against data; by default logistic, the second balanced.
    seed : int

    Attributes
    ----------
    history : tuple of Round
        Every batch that was observed, in order.
    left : int64 (n_left,)
        Places that have not been randomised.

    Raises
    ------
    InvalidInput
        If an argument is out of range, or the log has one arm only where its policy is needed.
    """

    def __init__(
        self,
        learner: Learner,
        observational: Logged,
        pool: ArrayLike,
        *,
        batch: int,
        weights: Sequence[float] = (1.0, 1.0, 1.0),
        strategy: Strategy = "score",
        p_rule: Rule = "fixed",
        p_bounds: tuple[float, float] = (0.2, 0.8),
        binary: bool = False,
        known_p: ArrayLike | None = None,
        group: ArrayLike | None = None,
        propensity: Any = None,
        domain: Callable[[], Any] | None = None,
        seed: int = 0,
    ) -> None:
        if strategy not in ("score", "random", "effect"):
            raise InvalidInput(f"strategy must be score, random or effect, not {strategy!r}")
        self.learner = learner
        self.observational = observational
        self.pool = np.array(finite_rows("pool", pool))
        if self.pool.shape[1] != observational.x.shape[1]:
            raise InvalidInput(f"the pool has {self.pool.shape[1]} covariates, the log {observational.x.shape[1]}")
        built_on = getattr(learner, "n_covariates", None)
        if built_on not in (None, self.pool.shape[1]):
            raise InvalidInput(f"the learner was built on {built_on} covariates, the pool has {self.pool.shape[1]}")
        self.batch = _whole("batch", batch, len(self.pool))
        self.weights = score_weights(weights)
        self.strategy: Strategy = strategy
        self.randomisation = Randomisation(p_rule, p_bounds)
        self.binary = bool(binary)
        self.known_p = None if known_p is None else np.array(propensities(known_p, len(self.pool)))
        self.group = None if group is None else group_labels(group, len(self.pool))
        self._propensity, self._new_domain = propensity, domain or partial(Logistic, balanced=True)
        self._policy_deficit: Floats | None = None
        self._rng = generator(seed, "active_rct")
        self._spent = np.zeros(len(self.pool), dtype=bool)
        self._assigned = np.full(len(self.pool), np.nan)
        self._rounds: list[Round] = []

    @property
    def history(self) -> tuple[Round, ...]:
        """Every batch that was observed, in order."""
        return tuple(self._rounds)

    @property
    def left(self) -> Ints:
        """Places that have not been randomised."""
        return np.flatnonzero(~self._spent)

    @property
    def n_spent(self) -> int:
        """Units that have been randomised."""
        return int(self._spent.sum())

    def terms(self, weights: Sequence[float] | None = None) -> tuple[Floats, Floats, Floats]:
        """Raw v, d and o of the units left, float64 (n_left,) each; a term of weight 0 is zero."""
        alpha, beta, gamma = self.weights if weights is None else weights
        left = self.left
        x = self.pool[left]
        nothing = np.zeros(len(left))
        v = self.learner.uncertainty(x) if alpha else nothing
        d = self._discrepancy(x) if beta else nothing
        o = self._deficit()[left] if gamma else nothing
        return v, d, o

    def select(self, size: int | None = None, *, weights: Sequence[float] | None = None) -> tuple[Ints, Floats]:
        """The next batch, of ``batch`` units, or fewer where ``size`` or the pool says so.

        Returns
        -------
        units : int64 (m,)
            Places in the pool, none of which has been randomised, best first.
        p : float64 (m,)
            Probability with which each is to be treated.

        Raises
        ------
        InvalidInput
            If the pool is spent or ``size`` is not from 1 to what is left.
        """
        left = self.left
        if not len(left):
            raise InvalidInput("every unit of the pool has been randomised")
        m = min(self.batch, len(left)) if size is None else _whole("size", size, len(left))
        if self.strategy == "random":
            chosen = self._rng.permutation(len(left))[:m]
        elif self.strategy == "effect":
            chosen = choose_top(self.learner.effect(self.pool[left]), m, self._rng)
        else:
            asked = self.weights if weights is None else score_weights(weights)
            chosen = choose_top(score_pool(*self.terms(asked), asked), m, self._rng)
        units = left[chosen]
        p = self.chances(units)
        self._assigned[units] = p
        return units, p

    def chances(self, units: ArrayLike) -> Floats:
        """Probabilities that the rule gives units (m,) now, float64 (m,); a replayed trial's own where there is one."""
        places = unit_places(units, len(self.pool))
        if self.known_p is not None:
            return self.known_p[places]
        if self.randomisation.rule == "fixed":
            return np.full(len(places), 0.5)
        spread = None if self.binary else float(self.learner.effect(self.pool).std())
        return self.randomisation.chances(self.learner.effect(self.pool[places]), spread=spread)

    def observe(self, units: ArrayLike, t: ArrayLike, y: ArrayLike, p: ArrayLike) -> None:
        """Learn what a batch brought.

        Parameters
        ----------
        units : int (m,)
            Places in the pool, none randomised before.
        t, y, p : (m,)
            Treatments, outcomes, and the probabilities that were used: of a replayed trial its own, of a unit that
            :meth:`select` named what it gave last. A unit that was never selected may have any within the bounds.

        Raises
        ------
        InvalidInput
            If a unit is unknown, repeated or was randomised before, a probability is outside (0, 1) or the bounds or is
            not the one assigned, or a number is not what it has to be. Nothing has changed then.
        """
        places = unit_places(units, len(self.pool))
        if not len(places):
            raise InvalidInput("a batch has at least one unit")
        if self._spent[places].any():
            raise InvalidInput(f"unit {places[self._spent[places]][0]} has been randomised before")
        if self.known_p is None:
            chances = self.randomisation.require(p, len(places))
        else:
            chances = propensities(p, len(places))
        assigned = self._assigned[places] if self.known_p is None else self.known_p[places]
        # NaN, of a unit that was never selected, is not greater than anything.
        wrong = np.abs(assigned - chances) > 1e-12
        if wrong.any():
            at = int(wrong.argmax())
            raise InvalidInput(
                f"unit {places[at]} was to be treated with probability {assigned[at]:.6g}, not {chances[at]:.6g}"
            )
        treated, outcome = treatments(t, len(places)), finite_column("y", y, len(places))
        group = None if self.group is None else self.group[places]
        self.learner.observe(Logged(self.pool[places], treated, outcome, p=chances, group=group))
        self._spent[places] = True
        self._rounds.append(Round(places, treated, outcome, chances))

    def _deficit(self) -> Floats:
        if self._policy_deficit is None:
            for arm in (0, 1):
                if not np.any(self.observational.t == arm):
                    raise InvalidInput(
                        f"the log has no {('untreated', 'treated')[arm]} unit: its policy cannot be fitted; "
                        "give the overlap deficit weight 0"
                    )
            policy = self._propensity or Logistic()
            policy.fit(self.observational.x, self.observational.t)
            self._policy_deficit = overlap_deficit(policy.predict_proba(self.pool)[:, 1])
        return self._policy_deficit

    def _discrepancy(self, x: Floats) -> Floats:
        """d: the belief of a classifier, fitted anew, that units x are of the pool and not of the data at hand."""
        data = [self.observational.x, *(self.pool[each.units] for each in self._rounds)]
        rows = np.concatenate([x, *data])
        label = np.concatenate([np.ones(len(x)), np.zeros(len(rows) - len(x))])
        return np.asarray(self._new_domain().fit(rows, label).predict_proba(x)[:, 1])


def _whole(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
        raise InvalidInput(f"{name} must be a whole number from 1 to {most}, the size of the pool, not {value!r}")
    return int(value)
