"""LABO, its ablations and its peers by name, so that experiment, agents and solver build the same thing."""

from __future__ import annotations

import inspect
from typing import Any

from scisuite.core import InvalidInput, Space, UnknownName
from scisuite.core.registry import did_you_mean
from scisuite.solvers.labo.baselines import RandomSearch, VanillaEI, VanillaUCB
from scisuite.solvers.labo.campaign import Campaign
from scisuite.solvers.labo.knowledge_gradient import MultiFidelityKG
from scisuite.solvers.labo.labo import LABO
from scisuite.solvers.labo.oracles import LLMOracle, Problem, RandomOracle

STRATEGIES: dict[str, tuple[type[Campaign], dict[str, Any], str]] = {
    "labo": (LABO, {}, "the paper's method"),
    "gate_off": (LABO, {"gate": "always"}, "fused surrogate, every candidate run for real"),
    "no_warm_start": (LABO, {"n_latin": 0, "starts": "random"}, "random starts and no Latin-hypercube answers"),
    "random_llm": (LABO, {}, "LABO with uniformly random answers in the language model's place"),
    "ucb": (VanillaUCB, {}, "UCB on real data from the same starts"),
    "ucb_random_starts": (VanillaUCB, {"starts": "random"}, "UCB on real data from random starts"),
    "ei": (VanillaEI, {}, "expected improvement on real data from the same starts"),
    "log_ei": (VanillaEI, {"log": True}, "log expected improvement on real data from the same starts"),
    "random": (RandomSearch, {}, "uniform draws"),
    "llm_greedy": (LABO, {"acquisition": "llm_only", "gate": "always"}, "the language model's best, run for real"),
    "random_fidelity": (LABO, {"gate": "random"}, "a fair coin in the gate's place"),
    "variance_gate": (LABO, {"gate": "variance"}, "real where the language model's surrogate is certain already"),
    "prior_mean": (LABO, {"acquisition": "prior_mean", "gate": "always"}, "the language model as prior mean"),
    "gate_only": (LABO, {"acquisition": "real_only"}, "the gate without the fused bound"),
    "mfkg": (MultiFidelityKG, {}, "botorch's multi-fidelity knowledge gradient"),
}
"""Name → class, its options, and what it is."""


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
    kind, preset, _ = STRATEGIES[name]
    known = {parameter for base in kind.__mro__ for parameter in inspect.signature(base.__init__).parameters}
    for option in options:
        if option not in known:
            raise InvalidInput(f"strategy {name!r} has no option {option!r}{did_you_mean(option, known - {'self'})}")
    if name == "random_llm":
        oracle = RandomOracle(seed=seed).bind(
            Problem(space=space, maximise=maximise, value_range=value_range, pool=pool)
        )
    arguments = {**preset, **options}
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
