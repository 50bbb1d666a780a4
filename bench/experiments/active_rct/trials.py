"""Cells that run whole trials: who was randomised, what was learnt, and how good it is on units held out."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.bench.experiment import Curve, Outcome
from scisuite.bench.intervals import resampled
from scisuite.core import Budget, generator
from scisuite.scenarios import Scenario
from scisuite.scenarios.trials import Trial, TrialScenario, coverage, interval_width, pehe, policy_value, qini
from scisuite.solvers.active_rct import ActiveRCT, LinearLearner, Logistic, make_learner, overlap_deficit

Floats = NDArray[np.float64]

NO_OVERLAP = 0.9
"""Overlap deficit from which a unit counts as one about whom the log says next to nothing."""


def trial(
    scenario: TrialScenario,
    seed: int,
    budget: Budget,
    *,
    batch: int = 50,
    weights: Sequence[float] = (1.0, 1.0, 1.0),
    strategy: str = "score",
    learner: str = "linear",
    learner_config: Mapping[str, Any] | None = None,
    p_rule: str = "fixed",
) -> Outcome:
    """Spend the budget, in units, on the instance of a seed; figures on its test slice."""
    world = scenario.trial(seed)
    run = _run(world, seed, int(budget.amount), batch, weights, strategy, learner, learner_config, p_rule)
    metrics = {**judged(world, run), **_where(world, run)}
    return Outcome(metrics, {"error_by_units": run.curve}, budget_used=float(run.loop.n_spent))


def sample_efficiency(
    scenario: TrialScenario, seed: int, budget: Budget, *, worlds: int = 40, units: int = 400, batch: int = 50
) -> Outcome:
    """How many random units reach the mean error of ``units`` chosen ones, over ``units``; the interval is over worlds.

    The random budget is read off a line through log mean error against log budget, 100 to 1,600 units; beyond these it
    is the nearest.
    """
    checkpoints = (100, 200, 400, 800, 1600)
    rows = []
    for number in range(worlds):
        own = 1000 * seed + number
        world = scenario.trial(own)
        chosen = _run(world, own, units, batch, (1.0, 1.0, 1.0), "score", "linear", None, "fixed")
        random = _run(
            world, own, max(checkpoints), batch, (1.0, 1.0, 1.0), "random", "linear", None, "fixed", checkpoints
        )
        rows.append([_error(world, chosen), *random.curve.y])
    log_units = np.log(checkpoints)

    def ratio(mean: Floats) -> Any:
        wanted, reached = np.log(mean[..., :1]), np.log(mean[..., 1:])
        return np.exp(_crossing(log_units, reached, wanted[..., 0])) / units

    table = np.array(rows)
    metrics = resampled("random_over_full", [table], ratio, generator(seed, "worlds"))
    curve = Curve(tuple(map(float, checkpoints)), tuple(table[:, 1:].mean(axis=0)), "random units", "mean PEHE")
    return Outcome(metrics, {"error_of_random": curve}, budget_used=float(units))


def qini_peer(scenario: Scenario, seed: int, budget: Budget, *, arrays: int = 200) -> Outcome:
    """Largest difference of our Qini coefficient and scikit-uplift's on binary arrays, with ties and imbalance."""
    from sklift.metrics import qini_auc_score

    rng = generator(seed, "qini")
    worst = 0.0
    for _ in range(arrays):
        n = int(rng.integers(30, 600))
        t = _both(rng, n, rng.uniform(0.05, 0.95))
        y = _both(rng, n, rng.uniform(0.05, 0.95))
        score = np.round(rng.normal(size=n), int(rng.integers(0, 4)))
        ours = qini(score, t, y)
        with warnings.catch_warnings():
            # scikit-uplift calls what scikit-learn will drop.
            warnings.simplefilter("ignore", FutureWarning)
            theirs = qini_auc_score(y, score, t, negative_effect=True)
        worst = float(np.maximum(worst, abs(ours - theirs)))  # NaN stays
    return Outcome({"qini_difference": worst}, budget_used=float(arrays))


class _Run:
    """A loop that has been run, and its error after every batch."""

    def __init__(self, loop: ActiveRCT, curve: Curve) -> None:
        self.loop, self.curve = loop, curve


def _run(
    world: Trial,
    seed: int,
    units: int,
    batch: int,
    weights: Sequence[float],
    strategy: str,
    learner: str,
    learner_config: Mapping[str, Any] | None,
    p_rule: str,
    checkpoints: Sequence[int] | None = None,
) -> _Run:
    model = make_learner(learner, world, seed, **(learner_config or {}))
    loop = ActiveRCT(
        model,
        world.observational,
        world.pool_x,
        batch=batch,
        weights=weights,
        strategy=strategy,  # type: ignore[arg-type]
        p_rule=p_rule,  # type: ignore[arg-type]
        binary=world.binary,
        known_p=world.propensity(np.arange(world.n_pool)),
        group=world.pool_group,
        seed=seed,
    )
    rng = generator(seed, "answers")
    spent, errors = [], []
    while loop.n_spent < units:
        with warnings.catch_warnings():
            # Before the first outcome nothing is known of any effect, and its largest is a random one.
            warnings.simplefilter("ignore", RuntimeWarning)
            chosen, p = loop.select(min(batch, units - loop.n_spent))
        loop.observe(chosen, *world.reveal(chosen, p, rng), p)
        if checkpoints is None or loop.n_spent in checkpoints:
            spent.append(float(loop.n_spent))
            errors.append(_figure(world, model.effect(world.test.x)))
    label = "PEHE" if world.knows_effects else "Qini coefficient"
    return _Run(loop, Curve(tuple(spent), tuple(errors), "randomised units", f"{label} on the test slice"))


def judged(world: Trial, run: _Run) -> dict[str, float]:
    """Error and, of the linear learner, intervals on the test slice."""
    learner = run.loop.learner
    estimate = learner.effect(world.test.x)
    test = world.test
    metrics = {}
    if test.tau is not None:
        metrics["pehe"] = pehe(estimate, test.tau)
        metrics["bias"] = float(np.mean(estimate - test.tau))
    elif world.binary:
        metrics["qini"] = qini(estimate, test.t, test.y)
    if test.p is not None:
        metrics["policy_value"] = policy_value((estimate > 0).astype(int), test.t, test.y, test.p)
    if isinstance(learner, LinearLearner) and test.tau is not None:
        low, high = learner.cate.interval(learner.basis(test.x), 0.95)
        metrics |= {"coverage": coverage(low, high, test.tau), "width": interval_width(low, high)}
    return metrics


def _where(world: Trial, run: _Run) -> dict[str, float]:
    """Where the budget went: the share of units about whom the log says next to nothing, and that of treated ones."""
    policy = Logistic().fit(world.observational.x, world.observational.t)
    deficit = overlap_deficit(policy.predict_proba(world.pool_x)[:, 1])
    units = np.concatenate([each.units for each in run.loop.history])
    treated = np.concatenate([each.t for each in run.loop.history])
    return {
        "share_without_overlap": float(np.mean(deficit[units] > NO_OVERLAP)),
        "pool_without_overlap": float(np.mean(deficit > NO_OVERLAP)),
        "treated_share": float(treated.mean()),
    }


def _error(world: Trial, run: _Run) -> float:
    return _figure(world, run.loop.learner.effect(world.test.x))


def _figure(world: Trial, estimate: Floats) -> float:
    if world.test.tau is not None:
        return pehe(estimate, world.test.tau)
    return qini(estimate, world.test.t, world.test.y) if world.binary else math.nan


def _crossing(x: Floats, y: Floats, level: Any) -> Any:
    """Where a line through (x, y) falls to ``level``; y (…, n) falls, level (…)."""
    level = np.asarray(level)[..., None]
    below = y <= level
    last = np.where(below.any(axis=-1), below.argmax(axis=-1), y.shape[-1] - 1)
    first = np.maximum(last - 1, 0)
    at = lambda i: np.take_along_axis(y, i[..., None], -1)[..., 0]  # noqa: E731
    rise = at(last) - at(first)
    share = np.where(rise < 0, (level[..., 0] - at(first)) / np.where(rise < 0, rise, 1.0), 0.0)
    return x[first] + np.clip(share, 0, 1) * (x[last] - x[first])


def _both(rng: np.random.Generator, n: int, share: float) -> NDArray[np.int64]:
    """n draws of 0 and 1, of which at least one is each."""
    values = (rng.random(n) < share).astype(np.int64)
    values[:2] = (0, 1)
    return rng.permutation(values)
