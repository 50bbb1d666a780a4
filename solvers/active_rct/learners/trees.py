"""A T-learner of extremely randomised trees, one forest for each arm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput, MissingDependency
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.learners.refitted import Fusion, Refitted, Rows

Floats = NDArray[np.float64]


class TreesLearner(Refitted):
    """Extremely randomised trees for each arm's outcome; a draw is the difference of a pair of trees.

    Source: brief, "T-learner of ExtraTrees (30 trees, min leaf 3, max_features .5; v = variance over trees)", a
    reconstruction.

    Parameters
    ----------
    observational, fusion, seed
        See :class:`~scisuite.solvers.active_rct.learners.refitted.Refitted`.
    n_trees : int
        Of each forest, from 2.
    min_leaf : int
        Fewest units of a leaf.
    max_features : float
        Share of the covariates that a split may choose from, in (0, 1].

    Raises
    ------
    InvalidInput
        If an argument is out of range.
    MissingDependency
        Without scikit-learn.
    """

    def __init__(
        self,
        observational: Logged,
        *,
        fusion: Fusion = "pooled",
        n_trees: int = 30,
        min_leaf: int = 3,
        max_features: float = 0.5,
        seed: int = 0,
    ) -> None:
        super().__init__(observational, fusion=fusion, seed=seed)
        if isinstance(n_trees, bool) or not isinstance(n_trees, int | np.integer) or n_trees < 2:
            raise InvalidInput(f"n_trees must be a whole number from 2, not {n_trees!r}")
        if isinstance(min_leaf, bool) or not isinstance(min_leaf, int | np.integer) or min_leaf < 1:
            raise InvalidInput(f"min_leaf must be a whole number from 1, not {min_leaf!r}")
        if not (isinstance(max_features, int | float) and 0 < max_features <= 1):
            raise InvalidInput(f"max_features must be in (0, 1], not {max_features!r}")
        self.n_trees, self.min_leaf, self.max_features = int(n_trees), int(min_leaf), float(max_features)
        self._new_forest = _extra_trees()
        self._forests: list[Any] = []

    def _fit(self, rows: Rows, rng: np.random.Generator) -> None:
        self._forests = [
            self._new_forest(
                n_estimators=self.n_trees,
                min_samples_leaf=self.min_leaf,
                max_features=self.max_features,
                random_state=int(rng.integers(2**32)),
            ).fit(*rows.arm(arm))
            for arm in (0, 1)
        ]

    def _draws(self, x: Floats) -> Floats:
        untreated, treated = (tree_predictions(forest, x) for forest in self._forests)
        return treated - untreated


def tree_predictions(forest: Any, x: Floats) -> Floats:
    """What each tree of a fitted scikit-learn forest predicts, float64 (trees, n), for x (n, d)."""
    # The trees' own arrays: a forest checks its input again for every tree, which costs more than the prediction.
    single = np.ascontiguousarray(x, dtype=np.float32)
    return np.stack([tree.tree_.predict(single).reshape(len(single)) for tree in forest.estimators_])


def _extra_trees() -> Any:
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError as error:
        raise MissingDependency("a learner of trees needs scikit-learn", extra="active-rct") from error
    return ExtraTreesRegressor
