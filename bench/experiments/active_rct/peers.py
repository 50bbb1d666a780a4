"""Cells of other packages' estimators, on as many randomised units."""

from __future__ import annotations

import warnings

import numpy as np

from scisuite.bench.experiment import Outcome
from scisuite.core import Budget, generator
from scisuite.scenarios.trials import TrialScenario, coverage, interval_width, pehe


def warm_up() -> None:
    """Import econml before a cell's clock starts."""
    import econml.dr  # noqa: F401


def linear_dr_learner(scenario: TrialScenario, seed: int, budget: Budget) -> Outcome:
    """econml's ``LinearDRLearner`` on random units of the pool, treated with probability ½ (its own 95 % intervals).

    Nuisances: ridge regression of the outcome on covariates, treatment and their products, its penalty cross-validated,
    and the treated share for the propensity; cross-fitting, the effect linear without intercept where the world's is.
    """
    from econml.dr import LinearDRLearner
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures

    world = scenario.trial(seed)
    rng = generator(seed, "econml")
    units = rng.permutation(world.n_pool)[: int(budget.amount)]
    t, y = world.reveal(units, np.full(len(units), 0.5), generator(seed, "answers"))
    model = LinearDRLearner(
        model_propensity=DummyClassifier(strategy="prior"),
        model_regression=make_pipeline(PolynomialFeatures(2, interaction_only=True), RidgeCV(np.logspace(-2, 3, 11))),
        fit_cate_intercept=not world.linear,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(y, t, X=world.pool_x[units])
        estimate = np.ravel(model.effect(world.test.x))
        low, high = (np.ravel(bound) for bound in model.effect_interval(world.test.x, alpha=0.05))
    assert world.test.tau is not None
    return Outcome(
        {
            "pehe": pehe(estimate, world.test.tau),
            "coverage": coverage(low, high, world.test.tau),
            "width": interval_width(low, high),
        },
        budget_used=float(len(units)),
    )
