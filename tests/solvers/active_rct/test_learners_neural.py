"""Networks with two heads and dropout."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from scisuite.core import InvalidInput, MissingDependency
from scisuite.core.seeding import global_random_state_untouched
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.learners import Learner

torch = pytest.importorskip("torch")

from scisuite.solvers.active_rct.learners.neural import NeuralLearner  # noqa: E402

SMALL = {"width": 16, "steps": 40, "passes": 8}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def rows(seed=0, n=300, binary=False):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 3)) * [1, 10, 1]
    t = rng.integers(0, 2, n)
    if binary:
        y = (rng.random(n) < 0.5 + (t - 0.5) * 0.9 * np.sign(x[:, 0])).astype(float)
    else:
        y = 50 + x[:, 1] + t * 20 * x[:, 0] + rng.normal(size=n)
    return Logged(x, t, y, p=np.full(n, 0.5))


LOG = replace(rows(9), p=None)
QUERY = rows(5).x


@pytest.mark.parametrize(
    ("architecture", "binary"), [("tarnet", False), ("tarnet", True), ("dragonnet", True), ("cfr", False)]
)
def test_finds_the_effect_in_the_units_of_the_outcome(architecture, binary):
    log = replace(rows(9, binary=binary), p=None)
    learner = NeuralLearner(log, architecture=architecture, width=32, steps=120)
    assert isinstance(learner, Learner)
    assert learner.binary == binary
    learner.observe(rows(1, binary=binary))
    effect = learner.effect(QUERY)
    truth = 0.9 * np.sign(QUERY[:, 0]) if binary else 20 * QUERY[:, 0]
    assert np.corrcoef(effect, truth)[0, 1] > 0.8
    assert 0.5 < effect.std() / truth.std() < 1.5
    assert np.abs(effect).max() <= (1 if binary else 60)
    assert learner.uncertainty(QUERY).min() > 0


def test_waits_for_both_arms_and_leaves_the_logs_outcomes_alone():
    learner, blind = (
        NeuralLearner(LOG, fusion="rct_only", **SMALL),
        NeuralLearner(replace(LOG, y=-LOG.y), fusion="rct_only", **SMALL),
    )
    for each in (learner, blind):
        assert not each.effect(QUERY).any()
        assert set(each.uncertainty(QUERY)) == {1.0}
        each.observe(rows(1))
    assert np.array_equal(learner.effect(QUERY), blind.effect(QUERY))


def test_a_fit_depends_on_batches_and_seed_not_on_the_questions():
    with global_random_state_untouched():
        curious, patient, other = (NeuralLearner(LOG, seed=seed, **SMALL) for seed in (1, 1, 2))
        for batch in (rows(1), rows(2)):
            for learner in (curious, patient, other):
                learner.observe(batch)
            curious.uncertainty(QUERY[:3])
    assert np.array_equal(curious.draws(QUERY), patient.draws(QUERY))
    assert not np.array_equal(curious.draws(QUERY), other.draws(QUERY))


def test_an_effect_does_not_depend_on_what_else_is_asked():
    learner = NeuralLearner(LOG, **SMALL)
    assert learner.draws(QUERY[:7]) == pytest.approx(learner.draws(QUERY)[:, :7], abs=1e-4)
    assert learner.draws(QUERY).shape == (8, 300)


def test_fits_go_on_from_the_last_weights():
    learner = NeuralLearner(LOG, **SMALL)
    learner.effect(QUERY)
    before = {name: value.detach().clone() for name, value in learner._weights.items()}
    learner.steps = 1
    learner.observe(rows(1, 5))
    learner.effect(QUERY)
    moved = max(float((learner._weights[name].detach() - value).abs().max()) for name, value in before.items())
    assert 0 < moved < 0.01


def test_the_penalty_brings_the_arms_together():
    """Treatment follows x₁ in this log, and so does the representation's mean, unless that is punished."""
    log = replace(LOG, t=(LOG.x[:, 0] > 0).astype(int))
    gaps = []
    for penalty in (0.0, 30.0):
        learner = NeuralLearner(log, architecture="cfr", penalty=penalty, width=16, steps=100)
        learner.effect(QUERY)
        with torch.no_grad():
            hidden = learner._forward(learner._inputs(log.x), [torch.ones(1), torch.ones(1)])[0].numpy()
        gap = hidden[log.t == 1].mean(axis=0) - hidden[log.t == 0].mean(axis=0)
        gaps.append(np.linalg.norm(gap) / hidden.std())
    assert gaps[1] < 0.5 * gaps[0]


def test_a_rare_covariate_does_not_blow_up():
    log = replace(LOG, x=np.column_stack([LOG.x, np.full(300, 0.1)]))
    learner = NeuralLearner(log, **SMALL)
    effect = learner.effect(np.column_stack([QUERY, np.full(300, 1e6)]))
    assert np.abs(effect).max() < 200


def test_without_a_log_the_randomised_units_set_the_scale():
    nothing = Logged(np.zeros((0, 3)), np.zeros(0, dtype=int), np.zeros(0))
    learner = NeuralLearner(nothing, **SMALL)
    assert not learner.effect(QUERY).any()
    learner.observe(rows(1))
    assert np.corrcoef(learner.effect(QUERY), QUERY[:, 0])[0, 1] > 0.5


def test_outcomes_that_are_all_the_same_set_no_scale():
    """The deviation of .1, .1, … is a rounding error: a scale of that would blow every later outcome up."""
    learner = NeuralLearner(LOG, fusion="rct_only", **SMALL)
    first = rows(1, 100)
    learner.observe(replace(first, y=np.full(100, 0.1)))
    assert np.abs(learner.effect(QUERY)).max() < 2
    learner.observe(rows(2))
    effect = learner.effect(QUERY)
    assert 5 < learner._y_spread < 50
    assert np.abs(effect).max() < 200
    scale = learner._y_spread
    learner.observe(replace(rows(3), y=1000 * rows(3).y))
    learner.effect(QUERY)
    assert learner._y_spread == scale


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"architecture": "resnet"}, "architecture must be tarnet, dragonnet or cfr, not 'resnet'"),
        ({"dropout": 0.0}, r"dropout must be in \(0, 1\), not 0.0"),
        ({"penalty": -1}, "penalty must not be negative, not -1"),
        ({"width": 0}, "width must be a whole number from 1, not 0"),
        ({"steps": 1.5}, "steps must be a whole number from 1, not 1.5"),
        ({"passes": 1}, "passes must be a whole number from 2, not 1"),
        ({"binary": True}, r"an outcome must be in \[0, 1\] here, not .* in row 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=f"^{message}$"):
        NeuralLearner(LOG, **arguments)


def test_a_batch_that_is_not_binary_is_refused():
    learner = NeuralLearner(rows(binary=True), **SMALL)
    batch = rows(1, 4, binary=True)
    with pytest.raises(InvalidInput, match=r"^an outcome must be in \[0, 1\] here, not 7 in row 2$"):
        learner.observe(replace(batch, y=np.array([0.0, 1.0, 7.0, 0.0])))


def test_without_torch_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependency, match=r'^a neural learner needs torch; .*"scisuite\[active-rct\]"$'):
        NeuralLearner(LOG)
