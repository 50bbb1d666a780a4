"""Learners of trees and of other scikit-learn regressors."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput, MissingDependency
from scisuite.core.seeding import global_random_state_untouched
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.learners import Learner
from scisuite.solvers.active_rct.learners import meta as meta_module
from scisuite.solvers.active_rct.learners.meta import MetaLearner
from scisuite.solvers.active_rct.learners.trees import TreesLearner, tree_predictions

linear_model = pytest.importorskip("sklearn.linear_model")
ensemble = pytest.importorskip("sklearn.ensemble")

HEADS = ("s", "t", "x", "dr")


def rows(seed=0, n=120, p=0.5, shift=0.0):
    """Units with effect 2x₁ and outcome 1 + x₂ untreated, all but without noise."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 3))
    t = (rng.random(n) < p).astype(int)
    return Logged(x, t, 1 + x[:, 1] + t * (2 * x[:, 0] + shift) + 0.01 * rng.normal(size=n), p=np.full(n, p))


LOG = replace(rows(9, shift=5.0), p=None)
QUERY = rows(5).x


def few_trees(**arguments):
    return TreesLearner(LOG, n_trees=5, **arguments)


def few_heads(**arguments):
    return MetaLearner(LOG, **{"regressor": ensemble.ExtraTreesRegressor(5), **arguments})


@pytest.mark.parametrize("new", [few_trees, few_heads])
def test_waits_for_both_arms(new):
    learner = new(fusion="rct_only")
    assert isinstance(learner, Learner)
    treated = rows()
    for batch in (None, replace(treated, t=np.ones(120, dtype=int))):
        if batch is not None:
            learner.observe(batch)
        assert not learner.effect(QUERY).any()
        assert set(learner.uncertainty(QUERY)) == {1.0}
    learner.observe(rows(1))
    assert learner.effect(QUERY).any()
    assert learner.uncertainty(QUERY).std() > 0


def test_a_draw_is_the_difference_of_a_pair_of_trees():
    learner = few_trees(fusion="rct_only", seed=3)
    learner.observe(rows())
    draws = learner.draws(QUERY)
    untreated, treated = learner._forests
    for each in (untreated, treated):
        assert tree_predictions(each, QUERY).mean(axis=0) == pytest.approx(each.predict(QUERY))
    pairs = zip(treated.estimators_, untreated.estimators_, strict=True)
    assert draws == pytest.approx(np.stack([one.predict(QUERY) - none.predict(QUERY) for one, none in pairs]))
    assert learner.effect(QUERY) == pytest.approx(draws.mean(axis=0))
    assert learner.uncertainty(QUERY) == pytest.approx(draws.var(axis=0))


@pytest.mark.parametrize("new", [few_trees, few_heads])
def test_fusion_says_whether_the_log_is_learned_from(new):
    effects = {}
    for fusion in ("pooled", "rct_only"):
        learner = new(fusion=fusion)
        assert learner.effect(QUERY).any() == (fusion == "pooled")
        learner.observe(rows(1))
        effects[fusion] = learner.effect(QUERY).mean()
    assert effects["rct_only"] == pytest.approx(0, abs=0.3)
    # The log's effect is higher by 5.
    assert 1.5 < effects["pooled"] < 4.5


@pytest.mark.parametrize("new", [few_trees, few_heads])
def test_a_fit_depends_on_batches_and_seed_not_on_the_questions(new):
    with global_random_state_untouched():
        curious, patient, other = new(seed=1), new(seed=1), new(seed=2)
        for batch in (rows(1), rows(2)):
            for learner in (curious, patient, other):
                learner.observe(batch)
            curious.effect(QUERY)
            curious.uncertainty(QUERY[:3])
    assert np.array_equal(curious.effect(QUERY), patient.effect(QUERY))
    assert np.array_equal(curious.uncertainty(QUERY), patient.uncertainty(QUERY))
    assert not np.array_equal(curious.effect(QUERY), other.effect(QUERY))


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("p", [0.5, 0.2])
def test_heads_over_least_squares_find_a_linear_effect(head, p):
    if head == "s":
        # Without products of t and x a single regression finds the mean alone.
        pipeline, preprocessing = pytest.importorskip("sklearn.pipeline"), pytest.importorskip("sklearn.preprocessing")
        regressor = pipeline.make_pipeline(preprocessing.PolynomialFeatures(2), linear_model.LinearRegression())
    else:
        regressor = linear_model.LinearRegression()
    learner = MetaLearner(LOG, head=head, regressor=regressor, fusion="rct_only")
    learner.observe(rows(0, 300, p))
    assert learner.draws(QUERY).shape == (10, len(QUERY))
    assert learner.effect(QUERY) == pytest.approx(2 * QUERY[:, 0], abs=0.05)
    assert learner.uncertainty(QUERY).min() > 0


@pytest.mark.parametrize("head", HEADS)
def test_heads_over_trees_find_the_effect(head):
    learner = MetaLearner(LOG, head=head, fusion="rct_only")
    learner.observe(rows(0, 300))
    assert learner.draws(QUERY).shape == (30, len(QUERY))
    assert np.corrcoef(learner.effect(QUERY), QUERY[:, 0])[0, 1] > 0.75


def test_t_head_is_the_t_learner():
    learner = MetaLearner(LOG, head="t", regressor=linear_model.LinearRegression(), members=1, fusion="rct_only")
    batch = rows()
    learner.observe(batch)
    fits = [linear_model.LinearRegression().fit(batch.x[batch.t == arm], batch.y[batch.t == arm]) for arm in (0, 1)]
    assert learner.effect(QUERY) == pytest.approx(fits[1].predict(QUERY) - fits[0].predict(QUERY))


def constant():
    """A regression that is always wrong: outcomes are corrected by known probabilities alone."""
    return pytest.importorskip("sklearn.dummy").DummyRegressor(strategy="constant", constant=0.0)


def test_dr_head_uses_the_known_probabilities(monkeypatch):
    seen = {}
    original = meta_module.pseudo_outcome

    def watching(t, y, p, mu0, mu1):
        seen["p"] = p
        return original(t, y, p, mu0, mu1)

    monkeypatch.setattr(meta_module, "pseudo_outcome", watching)
    batch = replace(rows(), p=np.linspace(0.2, 0.8, 120))
    alone = MetaLearner(LOG, head="dr", regressor=constant(), members=1, fusion="rct_only")
    alone.observe(batch)
    alone.effect(QUERY)
    assert np.array_equal(seen["p"], batch.p)
    pooled = MetaLearner(LOG, head="dr", regressor=constant(), members=1)
    pooled.observe(batch)
    pooled.effect(QUERY)
    assert np.array_equal(seen["p"][120:], batch.p)
    assert seen["p"][:120].std() > 0
    assert seen["p"].min() >= 0.05


def test_no_copy_of_a_unit_corrects_the_unit():
    """A regression that remembers: what it predicts for a row it has seen is that row's outcome."""
    seen = []

    class Memory:
        def __init__(self, x, y):
            self.units = set(x[:, 0])
            seen.append(len(self.units))

        def predict(self, x):
            assert not self.units & set(x[:, 0])
            return np.zeros(len(x))

    learner = MetaLearner(LOG, head="dr", fusion="rct_only")
    learner.observe(rows())
    training = learner._rows(1)
    sample = meta_module._resampled(training, np.random.default_rng(0))
    assert len(np.unique(sample.unit)) < 90
    assert np.array_equal(sample.x, training.x[sample.unit])
    meta_module._dr_head(sample, Memory, meta_module._one_prediction, None)
    assert len(seen) == 5
    assert max(seen[:2]) - min(seen[:2]) <= 12


def test_x_head_gives_each_arms_effects_the_weight_of_the_other():
    """Künzel et al., eq. 9: the effects imputed in the untreated weigh as much as the chance of treatment."""
    fits = []

    class Model:
        def predict(self, x):
            return np.zeros(len(x))

    def fit(x, y):
        fits.append((len(x), Model()))
        return fits[-1][1]

    def predict(model, x):
        return np.full((1, len(x)), 10.0 if model is fits[2][1] else 1.0)

    learner = MetaLearner(LOG, head="x", fusion="rct_only")
    learner.observe(rows(p=0.2))
    training = learner._rows(1)
    draws = meta_module._x_head(training, fit, predict, learner._weight(training))
    assert [n for n, _ in fits] == [n for arm in (0, 1) for n in [(training.t == arm).sum()]] * 2
    assert draws(QUERY[:2])[0] == pytest.approx([0.2 * 10 + 0.8 * 1] * 2)


def test_of_pooled_rows_the_weight_is_the_share_of_treated():
    learner = MetaLearner(LOG, head="x")
    learner.observe(rows(1, 60, p=0.2))
    training = learner._rows(1)
    share = learner._weight(training)(QUERY)
    assert share == pytest.approx((120 * learner._policy_at(QUERY) + 60 * 0.2) / 180)
    assert share.std() > 0


@pytest.mark.parametrize("head", HEADS)
def test_one_unit_of_an_arm_is_enough(head):
    batch = rows()
    learner = few_heads(head=head, fusion="rct_only")
    learner.observe(replace(batch, t=(np.arange(120) == 7).astype(int)))
    assert np.isfinite(learner.effect(QUERY)).all()


@pytest.mark.parametrize(
    ("new", "arguments", "message"),
    [
        (TreesLearner, {"fusion": "both"}, "fusion must be pooled or rct_only, not 'both'"),
        (TreesLearner, {"n_trees": 1}, "n_trees must be a whole number from 2, not 1"),
        (TreesLearner, {"min_leaf": 0}, "min_leaf must be a whole number from 1, not 0"),
        (TreesLearner, {"max_features": 1.5}, r"max_features must be in \(0, 1\], not 1.5"),
        (TreesLearner, {"seed": 0.5}, "seed must be a non-negative integer, not 0.5.*"),
        (MetaLearner, {"head": "u"}, "head must be s, t, x or dr, not 'u'"),
        (MetaLearner, {"members": 0}, "members must be a whole number from 1, not 0"),
        (MetaLearner, {"regressor": 3}, "a regressor has fit and predict, int has not"),
    ],
)
def test_bad_arguments_are_refused(new, arguments, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        new(LOG, **arguments)


def test_bad_rows_are_refused():
    learner = few_trees()
    with pytest.raises(InvalidInput, match="^a randomised batch needs its probabilities of treatment$"):
        learner.observe(LOG)
    batch = rows()
    with pytest.raises(InvalidInput, match="^the batch has 2 covariates, the log 3$"):
        learner.observe(replace(batch, x=batch.x[:, :2]))
    with pytest.raises(InvalidInput, match="^x has 2 covariates, the log 3$"):
        learner.effect(QUERY[:, :2])
    with pytest.raises(InvalidInput, match="^x is nan in row 0, column 0$"):
        learner.effect(np.full((1, 3), np.nan))


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    for new, what in ((TreesLearner, "a learner of trees"), (MetaLearner, "a meta-learner")):
        with pytest.raises(MissingDependency, match=rf'^{what} needs scikit-learn; .*"scisuite\[active-rct\]"$'):
            new(LOG)
