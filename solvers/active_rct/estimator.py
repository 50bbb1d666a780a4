"""The learners behind scikit-learn's manners: ``fit``, ``predict``, ``interval``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scisuite.core import InvalidInput, NotFitted
from scisuite.scenarios.trials import Logged, finite_rows, propensities
from scisuite.solvers.active_rct.learners import Learner, LinearLearner, make_learner
from scisuite.solvers.active_rct.linear import Kind

Floats = NDArray[np.float64]


class ActiveRCTEstimator:
    """Effects from randomised units whose probabilities of treatment are known, with a biased log beside them or not.

    It has ``get_params`` and ``set_params``, so that scikit-learn clones it, and econml's ``effect``,
    ``effect_interval`` and ``const_marginal_effect``, so that ``RScorer`` and ``DRTester`` judge it; it needs neither.
    Arguments are checked by :meth:`fit`.

    Parameters
    ----------
    learner : str
        See :func:`~scisuite.solvers.active_rct.learners.make_learner`.
    learner_config : mapping or None
        Its arguments. By default the linear learner has an intercept, a ridge of 1e-6, and outcome models from the log,
        or, without one, from the batches before.
    batch : int
        Rows are learned from in the order given, this many at a time.
    seed : int

    Attributes
    ----------
    learner_ : Learner
    n_features_in_ : int
    feature_names_in_ : object (d,)
        Names of the columns, where X was a table that has them. Other tables must then have the same, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, t = rng.normal(size=(2000, 2)), rng.integers(2, size=2000)
    >>> y = x[:, 0] + t * x[:, 1] + rng.normal(size=2000)
    >>> model = ActiveRCTEstimator().fit(x, t, y, propensity=0.5)
    >>> low, high = model.interval([[0.0, 1.0]])
    >>> bool(low[0] < 1 < high[0])
    True
    """

    def __init__(
        self,
        learner: str = "linear",
        learner_config: Mapping[str, Any] | None = None,
        batch: int = 50,
        seed: int = 0,
    ) -> None:
        self.learner = learner
        self.learner_config = learner_config
        self.batch = batch
        self.seed = seed

    def fit(
        self,
        X: ArrayLike,
        T: ArrayLike,
        Y: ArrayLike,
        *,
        propensity: ArrayLike,
        observational: Logged | tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        group: ArrayLike | None = None,
    ) -> Self:
        """Learn from randomised units, forgetting those of an earlier fit.

        Parameters
        ----------
        X : float (n, d)
            Covariates, in the order in which the units were randomised.
        T : int (n,)
            Treatments, 0 or 1.
        Y : float (n,)
            Outcomes.
        propensity : float (n,) or float
            Known probabilities of treatment, in (0, 1), which may depend on x and on earlier units.
        observational : Logged or (X, T, Y), or None
            The biased log.
        group : int (n,) or None
            What was randomised together, such as a household; by default everybody was alone. Intervals keep it
            together. Its rows are best in one batch.

        Raises
        ------
        InvalidInput
            If lengths or widths differ, an entry is not finite, a treatment is neither 0 nor 1, a probability is
            outside (0, 1), there are no units, or an argument of the estimator is out of range.
        MissingDependency
            If the learner's package is not installed.
        """
        names = _column_names(X)
        if isinstance(self.batch, bool) or not isinstance(self.batch, int | np.integer) or self.batch < 1:
            raise InvalidInput(f"batch must be a whole number from 1, not {self.batch!r}")
        x = finite_rows("X", X)
        if not len(x):
            raise InvalidInput("there are no randomised units to learn from")
        chances = propensities(propensity, len(x))
        units = Logged(x, T, Y, p=chances, group=group)  # type: ignore[arg-type]
        if observational is None:
            log = Logged(np.zeros((0, x.shape[1])), np.zeros(0, dtype=np.int64), np.zeros(0))
        elif isinstance(observational, Logged):
            log = observational
        else:
            log = Logged(*observational)  # type: ignore[arg-type]
        if log.x.shape[1] != x.shape[1]:
            raise InvalidInput(f"X has {x.shape[1]} covariates, the log {log.x.shape[1]}")
        learner = make_learner(self.learner, _Origin(log), self.seed, **self._config(log))
        for start in range(0, len(x), self.batch):
            rows = slice(start, start + self.batch)
            together = None if units.group is None else units.group[rows]
            learner.observe(Logged(units.x[rows], units.t[rows], units.y[rows], p=chances[rows], group=together))
        self.learner_: Learner = learner
        self.n_features_in_ = x.shape[1]
        vars(self).pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """τ̂, float64 (n,), in units of the outcome, for X (n, d).

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If X has another width or other columns, or is not finite.
        """
        return self._fitted().effect(self._rows(X))

    def interval(
        self, X: ArrayLike, level: float = 0.95, kind: Kind = "wald", *, sigma: float | None = None, S: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Bounds of the effect, float64 (n,) each; see ``LinearCATE.interval``.

        Raises
        ------
        NotFitted
            Before :meth:`fit`.
        InvalidInput
            If the learner is not the linear one, which alone has intervals, or an argument is out of range.
        """
        learner = self._fitted()
        if not isinstance(learner, LinearLearner):
            raise InvalidInput(f"the learner {self.learner!r} has no intervals; the linear one has")
        return learner.cate.interval(learner.basis(self._rows(X)), level, kind, sigma=sigma, S=S)

    def effect(self, X: ArrayLike, *, T0: int = 0, T1: int = 1) -> Floats:
        """Effect of going from treatment T0 to T1, float64 (n,), as econml's estimators have it."""
        return (_treatment("T1", T1) - _treatment("T0", T0)) * self.predict(X)

    def effect_interval(self, X: ArrayLike, *, T0: int = 0, T1: int = 1, alpha: float = 0.05) -> tuple[Floats, Floats]:
        """Wald bounds of :meth:`effect` at level 1 − ``alpha``, float64 (n,) each."""
        if not (isinstance(alpha, int | float | np.floating) and 0 < alpha < 1):
            raise InvalidInput(f"alpha must be in (0, 1), not {alpha!r}")
        sign = _treatment("T1", T1) - _treatment("T0", T0)
        low, high = self.interval(X, 1 - alpha)
        if sign == 0:
            return np.zeros(len(low)), np.zeros(len(high))
        return (low, high) if sign > 0 else (-high, -low)

    def const_marginal_effect(self, X: ArrayLike) -> Floats:
        """As :meth:`predict`, under econml's name."""
        return self.predict(X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Arguments of the estimator; there is none within another, whatever ``deep``."""
        return {name: getattr(self, name) for name in _PARAMETERS}

    def set_params(self, **params: Any) -> Self:
        """Set arguments; :class:`~scisuite.core.InvalidInput` names one that does not exist."""
        for name in params:
            if name not in _PARAMETERS:
                raise InvalidInput(f"there is no parameter {name!r}; known: {', '.join(_PARAMETERS)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if not (value is defaults[name].default or value == defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learner_")

    def __sklearn_tags__(self) -> Any:
        # Called by scikit-learn alone, which is then there.
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def _config(self, log: Logged) -> dict[str, Any]:
        if not isinstance(self.learner_config, Mapping | None):
            raise InvalidInput(f"learner_config must be a mapping or None, not {self.learner_config!r}")
        given = dict(self.learner_config or {})
        if self.learner != "linear":
            return given
        return {"lam": 1e-6, "nuisance": "obs" if len(log) else "past", **given}

    def _fitted(self) -> Learner:
        if not hasattr(self, "learner_"):
            raise NotFitted("ActiveRCTEstimator has not been fitted; call fit first")
        return self.learner_

    def _rows(self, X: ArrayLike) -> Floats:
        self._fitted()
        names, known = _column_names(X), getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and not np.array_equal(names, known):
            raise InvalidInput(
                f"X has the columns {', '.join(names)}; the estimator was fitted to {', '.join(known)}, in this order"
            )
        rows = finite_rows("X", X)
        if rows.shape[1] != self.n_features_in_:
            raise InvalidInput(f"X has {rows.shape[1]} covariates, the estimator was fitted to {self.n_features_in_}")
        return rows


_PARAMETERS = tuple(name for name in inspect.signature(ActiveRCTEstimator.__init__).parameters if name != "self")


@dataclass(frozen=True)
class _Origin:
    observational: Logged
    linear: bool = False


def _treatment(name: str, value: Any) -> int:
    if not np.isscalar(value) or value not in (0, 1):
        raise InvalidInput(f"{name} must be 0 or 1, not {value!r}")
    return 1 if value == 1 else 0


def _column_names(table: Any) -> NDArray[np.object_] | None:
    names = [] if isinstance(table, np.ndarray) else list(getattr(table, "columns", []))
    return np.array(names, dtype=object) if names and all(isinstance(name, str) for name in names) else None
