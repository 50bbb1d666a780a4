"""Learners by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from scisuite.core import InvalidInput
from scisuite.core.registry import did_you_mean, refuse_unknown_arguments
from scisuite.scenarios.trials import Logged
from scisuite.solvers.active_rct.learners.base import Learner
from scisuite.solvers.active_rct.learners.linear import LinearLearner, PooledLinear

_LINEAR: dict[str, Callable[..., Learner]] = {
    "linear": LinearLearner,
    "linear_pooled": PooledLinear,
    "linear_log": partial(PooledLinear, log_alone=True),
}

_BY_CLASS: dict[str, tuple[str, str, dict[str, str]]] = {
    "trees": ("trees", "TreesLearner", {}),
    **{f"{head}_learner": ("meta", "MetaLearner", {"head": head}) for head in ("s", "t", "x", "dr")},
    **{name: ("neural", "NeuralLearner", {"architecture": name}) for name in ("tarnet", "dragonnet", "cfr")},
}

LEARNERS = (*_LINEAR, *_BY_CLASS)
"""Names that :func:`make_learner` knows."""


class HasLog(Protocol):
    """What a learner is built on; a trial, most often."""

    @property
    def observational(self) -> Logged:
        """The biased log."""

    @property
    def linear(self) -> bool:
        """Whether the effect is linear without an intercept."""


def make_learner(name: str, trial: HasLog, seed: int = 0, **config: Any) -> Learner:
    """A learner on a trial's log.

    Parameters
    ----------
    name : str
        ``linear`` (randomised units alone, with intervals), ``linear_pooled`` and ``linear_log`` (least squares on log
        and randomised units, or on the log alone), ``trees`` (T-learner of extremely randomised trees),
        ``s_learner``, ``t_learner``, ``x_learner``, ``dr_learner`` (over any scikit-learn ``regressor``), ``tarnet``,
        ``dragonnet``, ``cfr`` (networks).
    trial : Trial
        The linear learners take an intercept unless the trial is ``linear``.
    seed : int
        Of learners that draw random numbers.
    **config
        Of the learner's class.

    Raises
    ------
    InvalidInput
        If there is no such learner or it does not take one of the arguments.
    MissingDependency
        If a package that the learner needs is not installed.
    """
    if not isinstance(name, str) or name not in LEARNERS:
        raise InvalidInput(f"unknown learner {name!r}{did_you_mean(str(name), LEARNERS)}")
    build: Callable[..., Any]
    if name in _LINEAR:
        build, given = _LINEAR[name], {"intercept": not trial.linear, **config}
    else:
        module, class_name, fixed = _BY_CLASS[name]
        build = getattr(import_module(f"scisuite.solvers.active_rct.learners.{module}"), class_name)
        given = {"seed": seed, **config, **fixed}
    refuse_unknown_arguments(partial(build, trial.observational), given, f"learner {name!r}")
    learner: Learner = build(trial.observational, **given)
    return learner
