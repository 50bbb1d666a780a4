"""S-, T-, X- and DR-learners: ways to make an effect out of any scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput, MissingDependency
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.learners.refitted import Fusion, Refitted, Rows
from scisuite.solvers.active_rct.learners.trees import tree_predictions
from scisuite.solvers.active_rct.pseudo import pseudo_outcome

Floats = NDArray[np.float64]
Head = Literal["s", "t", "x", "dr"]
Fit = Callable[[Floats, Floats], Any]
Draws = Callable[[Floats], Floats]
Predict = Callable[[Any, Floats], Floats]
Weight = Callable[[Floats], Floats]

BOOTSTRAP_MEMBERS = 10


class MetaLearner(Refitted):
    """Effects of a regressor under one of the heads of Künzel et al. (2019) and Kennedy (2023).

    ``s``: one regression on (x, t). ``t``: one for each arm. ``x``: effects imputed in each arm with the other's
    regression, regressed on x and averaged with the probability of treatment. ``dr``: doubly robust pseudo-outcomes,
    with cross-fitted arms' regressions, regressed on x. Where ``x`` and ``dr`` need probabilities of treatment,
    randomised rows bring their own, which are known; those of the log are estimated.

    A forest's draws are its trees'; of other regressors the head is fitted to bootstrap samples, drawn within the arms.

    Parameters
    ----------
    observational, fusion, seed
        See :class:`~scisuite.solvers.active_rct.learners.refitted.Refitted`.
    head : {"s", "t", "x", "dr"}
    regressor : scikit-learn regressor or None
        Cloned for every fit; seeded if it has a ``random_state``. By default extremely randomised trees as in
        :class:`~scisuite.solvers.active_rct.learners.trees.TreesLearner`.
    members : int or None
        Bootstrap samples, from 1; by default 1 of forests and 10 of other regressors (reconstruction).

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    MissingDependency
        Without scikit-learn.
    """

    needs_propensity = True

    def __init__(
        self,
        observational: Logged,
        *,
        head: Head = "dr",
        regressor: Any = None,
        members: int | None = None,
        fusion: Fusion = "pooled",
        seed: int = 0,
    ) -> None:
        super().__init__(observational, fusion=fusion, seed=seed)
        if head not in _HEADS:
            raise InvalidInput(f"head must be s, t, x or dr, not {head!r}")
        if members is not None and (
            isinstance(members, bool) or not isinstance(members, int | np.integer) or members < 1
        ):
            raise InvalidInput(f"members must be a whole number from 1, not {members!r}")
        _, forests, default = _scikit_learn()
        self.head: Head = head
        self.regressor = default() if regressor is None else regressor
        if not (hasattr(self.regressor, "fit") and hasattr(self.regressor, "predict")):
            raise InvalidInput(f"a regressor has fit and predict, {type(self.regressor).__name__} has not")
        self._forest = isinstance(self.regressor, forests)
        self.members = int(members) if members is not None else 1 if self._forest else BOOTSTRAP_MEMBERS
        self._ensemble: list[Draws] = []

    def _fit(self, rows: Rows, rng: np.random.Generator) -> None:
        clone = _scikit_learn()[0]

        def fit(x: Floats, y: Floats) -> Any:
            model = clone(self.regressor)
            if "random_state" in model.get_params():
                model.set_params(random_state=int(rng.integers(2**32)))
            return model.fit(x, y)

        predict = tree_predictions if self._forest else _one_prediction
        self._ensemble = [
            _HEADS[self.head](rows if self.members == 1 else _resampled(rows, rng), fit, predict, self._weight(rows))
            for _ in range(self.members)
        ]

    def _draws(self, x: Floats) -> Floats:
        return np.concatenate([draws(x) for draws in self._ensemble])

    def _weight(self, rows: Rows) -> Weight:
        """x ↦ share of treated among rows of covariates x: known in randomised rows, estimated in the log's."""
        known, n = float(rows.p[rows.randomised].sum()), len(rows.p)
        return partial(_share, self._policy_at, known, n - int(rows.randomised.sum()), n)


# Draws are partial functions and not closures, so that an ensemble can be pickled.


def _share(policy: Draws, known: float, n_log: int, n: int, x: Floats) -> Floats:
    logged = n_log * policy(x) if n_log else np.zeros(len(x))
    return np.asarray((logged + known) / n)


def _s_head(rows: Rows, fit: Fit, predict: Predict, weight: Weight) -> Draws:
    return partial(_s_draws, fit(np.column_stack([rows.x, rows.t]), rows.y), predict)


def _s_draws(model: Any, predict: Predict, x: Floats) -> Floats:
    untreated, treated = (predict(model, np.column_stack([x, np.full(len(x), arm)])) for arm in (0, 1))
    return treated - untreated


def _t_head(rows: Rows, fit: Fit, predict: Predict, weight: Weight) -> Draws:
    untreated, treated = (fit(*rows.arm(arm)) for arm in (0, 1))
    return partial(_t_draws, untreated, treated, predict)


def _t_draws(untreated: Any, treated: Any, predict: Predict, x: Floats) -> Floats:
    return predict(treated, x) - predict(untreated, x)


def _x_head(rows: Rows, fit: Fit, predict: Predict, weight: Weight) -> Draws:
    (x0, y0), (x1, y1) = rows.arm(0), rows.arm(1)
    untreated, treated = fit(x0, y0), fit(x1, y1)
    of_untreated = fit(x0, _one_prediction(treated, x0)[0] - y0)
    of_treated = fit(x1, y1 - _one_prediction(untreated, x1)[0])
    return partial(_x_draws, of_untreated, of_treated, predict, weight)


def _x_draws(of_untreated: Any, of_treated: Any, predict: Predict, weight: Weight, x: Floats) -> Floats:
    share = weight(x)
    return share * predict(of_untreated, x) + (1 - share) * predict(of_treated, x)


def _dr_head(rows: Rows, fit: Fit, predict: Predict, weight: Weight) -> Draws:
    mu = np.zeros((2, len(rows.y)))
    # Alternating within an arm gives both halves units of both arms, wherever an arm has two. A unit that was drawn
    # several times stays in one half: its own outcome must not correct it.
    fold = np.zeros(len(rows.y), dtype=np.int64)
    for arm in (0, 1):
        of_arm = rows.t == arm
        fold[of_arm] = np.unique(rows.unit[of_arm], return_inverse=True)[1] % 2
    for half in (0, 1):
        held_out = fold == half
        for arm in (0, 1):
            training = ~held_out & (rows.t == arm)
            # An arm with a single unit has nothing for its own half: that one is weighted without correction.
            if training.any() and held_out.any():
                mu[arm, held_out] = _one_prediction(fit(rows.x[training], rows.y[training]), rows.x[held_out])[0]
    return partial(predict, fit(rows.x, pseudo_outcome(rows.t, rows.y, rows.p, mu[0], mu[1])))


_HEADS: dict[str, Callable[[Rows, Fit, Predict, Weight], Draws]] = {
    "s": _s_head,
    "t": _t_head,
    "x": _x_head,
    "dr": _dr_head,
}


def _one_prediction(model: Any, x: Floats) -> Floats:
    return np.asarray(model.predict(x), dtype=np.float64).reshape(1, len(x))


def _resampled(rows: Rows, rng: np.random.Generator) -> Rows:
    """A bootstrap sample of each arm."""
    arms = [np.flatnonzero(rows.t == arm) for arm in (0, 1)]
    places = np.concatenate([rng.choice(of_arm, len(of_arm)) for of_arm in arms])
    return Rows(*(column[places] for column in rows))


def _scikit_learn() -> tuple[Callable[[Any], Any], tuple[type, ...], Callable[[], Any]]:
    try:
        from sklearn.base import clone
        from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
    except ImportError as error:
        raise MissingDependency("a meta-learner needs scikit-learn", extra="active-rct") from error

    def default() -> Any:
        return ExtraTreesRegressor(30, min_samples_leaf=3, max_features=0.5)

    return clone, (ExtraTreesRegressor, RandomForestRegressor), default
