"""LABO, its ablations and its peers by name, so that experiment, agents and solver build the same thing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from scisuite.core import InvalidInput, Space, UnknownName
from scisuite.core.registry import did_you_mean
from scisuite.solvers.labo.campaign import Campaign
from scisuite.solvers.labo.oracles import LLMOracle, Problem, RandomOracle


@dataclass(frozen=True)
class Strategy:
    """A class of this package, as ``"module:Class"``, with the options that make it what its name says."""

    target: str
    summary: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> type[Campaign]:
        """Import the class; all but random search need botorch."""
        module, _, name = self.target.partition(":")
        kind: type[Campaign] = getattr(import_module(f"scisuite.solvers.labo.{module}"), name)
        return kind

    @property
    def has_surrogate(self) -> bool:
        """Whether its class is LABO's or derives from it."""
        return self.target.partition(":")[0] in ("labo", "baselines")


STRATEGIES: dict[str, Strategy] = {
    "labo": Strategy("labo:LABO", "the paper's method"),
    "gate_off": Strategy("labo:LABO", "fused surrogate, every candidate run for real", {"gate": "always"}),
    "no_warm_start": Strategy(
        "labo:LABO", "random starts and no Latin-hypercube answers", {"n_latin": 0, "starts": "random"}
    ),
    "random_llm": Strategy("labo:LABO", "LABO with uniformly random answers in the language model's place"),
    "ucb": Strategy("baselines:VanillaUCB", "UCB on real data from the same starts"),
    "ucb_random_starts": Strategy("baselines:VanillaUCB", "UCB on real data from random starts", {"starts": "random"}),
    "ei": Strategy("baselines:VanillaEI", "expected improvement on real data from the same starts"),
    "log_ei": Strategy(
        "baselines:VanillaEI", "log expected improvement on real data from the same starts", {"log": True}
    ),
    "random": Strategy("random_search:RandomSearch", "uniform draws"),
    "llm_greedy": Strategy(
        "labo:LABO", "the language model's best, run for real", {"acquisition": "llm_only", "gate": "always"}
    ),
    "random_fidelity": Strategy("labo:LABO", "a fair coin in the gate's place", {"gate": "random"}),
    "variance_gate": Strategy(
        "labo:LABO", "real where the language model's surrogate is certain already", {"gate": "variance"}
    ),
    "prior_mean": Strategy(
        "labo:LABO", "the language model as prior mean", {"acquisition": "prior_mean", "gate": "always"}
    ),
    "gate_only": Strategy("labo:LABO", "the gate without the fused bound", {"acquisition": "real_only"}),
    "mfkg": Strategy("knowledge_gradient:MultiFidelityKG", "botorch's multi-fidelity knowledge gradient"),
}
"""Every campaign by name."""


def make_strategy(
    name: str,
    *,
    space: Space,
    pool: Any = None,
    maximise: bool = True,
    budget: int = 60,
    max_llm: int = 400,
    seed: int = 0,
    oracle: LLMOracle | None = None,
    value_range: tuple[float, float] | None = None,
    **options: Any,
) -> Campaign:
    """Build a campaign by name.

    Parameters
    ----------
    name : str
        A key of :data:`STRATEGIES`.
    space, pool, maximise, budget, max_llm, seed, oracle, value_range
        See :class:`~scisuite.solvers.labo.campaign.Campaign`.
    **options
        Arguments of the class, over those that the name sets.

    Raises
    ------
    UnknownName, InvalidInput
        If there is no such strategy, or it does not take an option.
    """
    if name not in STRATEGIES:
        raise UnknownName(f"unknown strategy {name!r}{did_you_mean(str(name), STRATEGIES)}")
    kind = STRATEGIES[name].load()
    known = {parameter for base in kind.__mro__ for parameter in inspect.signature(base.__init__).parameters}
    for option in options:
        if option not in known:
            raise InvalidInput(f"strategy {name!r} has no option {option!r}{did_you_mean(option, known - {'self'})}")
    if name == "random_llm":
        oracle = RandomOracle(seed=seed).bind(
            Problem(space=space, maximise=maximise, value_range=value_range, pool=pool)
        )
    arguments = {**STRATEGIES[name].options, **options}
    return kind(
        space,
        oracle,
        pool=pool,
        maximise=maximise,
        budget=budget,
        max_llm=max_llm,
        seed=seed,
        value_range=value_range,
        **arguments,
    )
