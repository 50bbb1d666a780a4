"""Cheap predictors of experiments: language models, simulated ones, and any solver or callable in their place.

``make_oracle("simulated", corr=0.8)`` builds one by name; ``bind(problem)`` tells it what is asked about.
"""

from typing import Any

from scisuite.core import InvalidInput
from scisuite.core.registry import Registry
from scisuite.solvers.labo.oracles.base import CountingOracle, LLMOracle, LLMPrediction, OracleError, Problem
from scisuite.solvers.labo.oracles.models import EndpointOracle, LocalModelOracle
from scisuite.solvers.labo.oracles.simulated import RandomOracle, SimulatedOracle
from scisuite.solvers.labo.oracles.wrappers import CachedOracle, SolverOracle

registry: Registry[LLMOracle] = Registry("oracle")
registry.register("simulated", f"{__name__}:SimulatedOracle", summary="the truth at a chosen correlation")
registry.register("random", f"{__name__}:RandomOracle", summary="uniform in the declared range")
registry.register("local", f"{__name__}:LocalModelOracle", summary="a language model here", extras=("llm",))
registry.register("endpoint", f"{__name__}:EndpointOracle", summary="an OpenAI-compatible endpoint", extras=("llm",))


def make_oracle(oracle: Any, *, cache: str | None = None, **config: Any) -> LLMOracle:
    """An unbound oracle by name, or of an object.

    Parameters
    ----------
    oracle : str, oracle, solver or callable
        ``"simulated"``, ``"random"``, ``"local"`` or ``"endpoint"``, with JSON arguments in ``config``; an oracle is
        returned as it is, anything else that predicts becomes a :class:`SolverOracle`.
    cache : str or None
        Keep its answers in this file (:class:`CachedOracle`).

    Raises
    ------
    UnknownName
        If there is no oracle of that name; the message names the nearest.
    InvalidInput
        If it does not take an argument, or refuses its value.
    MissingDependency
        If the extra ``llm`` or the model is missing.
    """
    made: LLMOracle
    if isinstance(oracle, str):
        made = registry.make(oracle, **config)
    elif isinstance(oracle, LLMOracle):
        if config:
            raise InvalidInput(f"an oracle that is made already takes no configuration: {', '.join(config)}")
        made = oracle
    else:
        made = SolverOracle(oracle, **config)
    return made if cache is None else CachedOracle(made, cache)


__all__ = [
    "CachedOracle",
    "CountingOracle",
    "EndpointOracle",
    "LLMOracle",
    "LLMPrediction",
    "LocalModelOracle",
    "OracleError",
    "Problem",
    "RandomOracle",
    "SimulatedOracle",
    "SolverOracle",
    "make_oracle",
    "registry",
]
