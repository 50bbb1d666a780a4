"""The estimator: scikit-learn's and econml's manners, and the learners behind them."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput, NotFitted
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.estimator import ActiveRCTEstimator
from scisuite.solvers.active_rct.learners import LinearLearner

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
T = RNG.integers(0, 2, 300)
Y = 1 + X[:, 0] + T * (0.5 + X[:, 1]) + RNG.normal(size=300)


def test_default_is_the_linear_learner_with_predictable_nuisances():
    model = ActiveRCTEstimator(batch=60).fit(X, T, Y, propensity=0.5)
    learner = LinearLearner(Logged(X[:0], T[:0], Y[:0]), nuisance="past", lam=1e-6, intercept=True)
    for start in range(0, 300, 60):
        rows = slice(start, start + 60)
        learner.observe(Logged(X[rows], T[rows], Y[rows], p=np.full(60, 0.5)))
    assert np.array_equal(model.predict(X), learner.effect(X))
    low, high = model.interval(X, 0.9)
    assert np.array_equal((low, high), learner.cate.interval(learner.basis(X), 0.9))
    assert model.predict(X) == pytest.approx(0.5 + X[:, 1], abs=1.0)
    assert model.n_features_in_ == 3


def test_the_log_enters_through_the_nuisances():
    log = (X + 0.5, T, Y + 3)
    model = ActiveRCTEstimator().fit(X[:100], T[:100], Y[:100], propensity=0.5, observational=log)
    same = ActiveRCTEstimator().fit(X[:100], T[:100], Y[:100], propensity=0.5, observational=Logged(*log))
    assert np.array_equal(model.predict(X), same.predict(X))
    assert model.learner_.nuisance == "obs"
    assert model.learner_.cate.n == 100


def test_a_second_fit_forgets_the_first():
    model = ActiveRCTEstimator().fit(X, T, Y, propensity=0.5)
    model.fit(X[:50, :2], T[:50], Y[:50], propensity=np.full(50, 0.4))
    assert np.array_equal(
        model.predict(X[:, :2]),
        ActiveRCTEstimator().fit(X[:50, :2], T[:50], Y[:50], propensity=0.4).predict(X[:, :2]),
    )


def test_econml_names_say_the_same():
    model = ActiveRCTEstimator().fit(X, T, Y, propensity=0.5)
    assert np.array_equal(model.effect(X), model.predict(X))
    assert np.array_equal(model.effect(X, T0=1, T1=0), -model.predict(X))
    assert not model.effect(X, T0=1, T1=1).any()
    assert np.array_equal(model.const_marginal_effect(X), model.predict(X))
    low, high = model.interval(X, 0.9)
    assert np.allclose(model.effect_interval(X, alpha=0.1), (low, high))
    assert np.allclose(model.effect_interval(X, T0=1, T1=0, alpha=0.1), (-high, -low))
    few = ActiveRCTEstimator().fit(X[:3], T[:3], Y[:3], propensity=0.5)
    assert np.isinf(few.effect_interval(X[:2])).all()
    assert not np.any(few.effect_interval(X[:2], T0=1, T1=1))


def test_households_widen_the_intervals():
    twice = [np.repeat(column, 2, axis=0) for column in (X, T, Y)]
    model = ActiveRCTEstimator(learner_config={"nuisance": "none"}, batch=60)
    width = []
    for data, group in (((X, T, Y), None), (twice, None), (twice, np.repeat(np.arange(300), 2))):
        low, high = model.fit(*data, propensity=0.5, group=group).interval(X)
        width.append((high - low).mean())
    assert width[1] == pytest.approx(width[0] / 2**0.5, rel=1e-3)
    assert width[2] == pytest.approx(width[0], rel=1e-3)


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base")
    config = {"lam": 2.0}
    model = ActiveRCTEstimator(learner_config=config, batch=7, seed=3).fit(X, T, Y, propensity=0.5)
    copy = base.clone(model)
    assert copy.get_params() == {"learner": "linear", "learner_config": config, "batch": 7, "seed": 3}
    assert not hasattr(copy, "learner_")
    assert copy.set_params(batch=9, seed=4) is copy
    assert (copy.batch, copy.seed) == (9, 4)
    with pytest.raises(
        InvalidInput, match="^there is no parameter 'batches'; known: learner, learner_config, batch, seed$"
    ):
        copy.set_params(seed=5, batches=1)
    assert copy.seed == 4


def test_econml_scores_it():
    score = pytest.importorskip("econml.score")
    linear_model = pytest.importorskip("sklearn.linear_model")
    scorer = score.RScorer(
        model_y=linear_model.LinearRegression(),
        model_t=linear_model.LogisticRegression(),
        discrete_treatment=True,
        random_state=0,
    ).fit(Y, T, X=X)
    good = ActiveRCTEstimator().fit(X, T, Y, propensity=0.5)
    bad = ActiveRCTEstimator().fit(X, 1 - T, Y, propensity=0.5)
    assert scorer.score(good) > 0 > scorer.score(bad)


def test_other_learners_have_no_intervals():
    pytest.importorskip("sklearn")
    model = ActiveRCTEstimator("trees", {"n_trees": 4}, seed=1).fit(X, T, Y, propensity=0.5)
    assert np.corrcoef(model.predict(X), X[:, 1])[0, 1] > 0.5
    with pytest.raises(InvalidInput, match="^the learner 'trees' has no intervals; the linear one has$"):
        model.interval(X)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"X": np.where(np.arange(3) == 2, np.nan, X)}, "X is nan in row 0, column 2"),
        ({"X": X[:, 0]}, r"X must be of shape \(n, d\), not \(300,\)"),
        ({"X": X[:0], "T": T[:0], "Y": Y[:0]}, "there are no randomised units to learn from"),
        ({"T": T.astype(str)}, r"treatments must be the numbers 0 and 1, not <U21 such as \[.*\]"),
        ({"T": T[1:]}, r"t must be of shape \(300,\), not \(299,\)"),
        ({"Y": Y[1:]}, r"y must be of shape \(300,\), not \(299,\)"),
        ({"propensity": 1.0}, r"a probability of treatment must be in \(0, 1\), not 1 in row 0"),
        ({"observational": (X[:, :2], T, Y)}, "X has 3 covariates, the log 2"),
        ({"observational": (X, T * 0, Y)}, "the log has no treated unit to learn outcomes from"),
    ],
)
def test_bad_data_are_refused(changed, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        ActiveRCTEstimator().fit(**{"X": X, "T": T, "Y": Y, "propensity": 0.5, **changed})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"learner_config": [1]}, r"learner_config must be a mapping or None, not \[1\]"),
        ({"batch": 0}, "batch must be a whole number from 1, not 0"),
        ({"learner": "forest"}, "unknown learner 'forest'.*"),
        ({"learner_config": {"ridge": 1}}, "learner 'linear' has no argument 'ridge'.*"),
        ({"learner": "trees", "seed": -1}, "seed must be in .*"),
    ],
)
def test_bad_arguments_are_refused_by_fit(arguments, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        ActiveRCTEstimator(**arguments).fit(X, T, Y, propensity=0.5)


def test_bad_questions_are_refused():
    with pytest.raises(NotFitted, match="^ActiveRCTEstimator has not been fitted; call fit first$"):
        ActiveRCTEstimator().predict(X)
    model = ActiveRCTEstimator().fit(X, T, Y, propensity=0.5)
    with pytest.raises(InvalidInput, match="^X has 2 covariates, the estimator was fitted to 3$"):
        model.predict(X[:, :2])
    with pytest.raises(InvalidInput, match=r"^alpha must be in \(0, 1\), not 1.5$"):
        model.effect_interval(X, alpha=1.5)
    with pytest.raises(InvalidInput, match="^T1 must be 0 or 1, not 2$"):
        model.effect(X, T1=2)


def test_scikit_learn_validates_tunes_and_pipes_it():
    selection = pytest.importorskip("sklearn.model_selection")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.utils.validation import check_is_fitted

    params = {"Y": Y, "propensity": np.full(300, 0.5)}
    folds = selection.KFold(3)
    found = selection.cross_val_predict(ActiveRCTEstimator(), X, T, cv=folds, params=params)
    for rest, held_out in folds.split(X):
        model = ActiveRCTEstimator().fit(X[rest], T[rest], Y[rest], propensity=0.5)
        assert np.array_equal(found[held_out], model.predict(X[held_out]))
    search = selection.GridSearchCV(
        ActiveRCTEstimator(),
        {"learner_config": [{"lam": 1e9}, {"lam": 1e-6}]},
        scoring=lambda model, x, t: -np.mean((model.predict(x) - 0.5 - x[:, 1]) ** 2),
        cv=folds,
    ).fit(X, T, **params)
    assert search.best_params_ == {"learner_config": {"lam": 1e-6}}
    piped = make_pipeline(StandardScaler(), ActiveRCTEstimator())
    piped.fit(X, T, **{f"activerctestimator__{name}": value for name, value in params.items()})
    scaled = StandardScaler().fit_transform(X)
    same = ActiveRCTEstimator().fit(scaled, T, Y, propensity=0.5)
    assert np.allclose(piped.predict(X), same.predict(scaled))
    check_is_fitted(same)
    with pytest.raises(ValueError, match="not fitted"):
        check_is_fitted(ActiveRCTEstimator())


def test_it_is_shown_with_what_differs_from_the_defaults():
    assert repr(ActiveRCTEstimator()) == "ActiveRCTEstimator()"
    assert repr(ActiveRCTEstimator("trees", batch=7)) == "ActiveRCTEstimator(learner='trees', batch=7)"


def test_a_table_with_its_columns_in_another_order_is_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = ActiveRCTEstimator().fit(table, T, Y, propensity=0.5)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.predict(table), model.predict(X))
    message = "^X has the columns c, b, a; the estimator was fitted to a, b, c, in this order$"
    with pytest.raises(InvalidInput, match=message):
        model.predict(table[["c", "b", "a"]])
    assert not hasattr(model.fit(X, T, Y, propensity=0.5), "feature_names_in_")


def test_the_callers_arrays_are_not_kept():
    x, p = X.copy(), np.full(300, 0.5)
    model = ActiveRCTEstimator().fit(x, T, Y, propensity=p)
    low, high = model.interval(X)
    x[:], p[:] = 0, 0.9
    assert np.array_equal(model.interval(X), (low, high))
