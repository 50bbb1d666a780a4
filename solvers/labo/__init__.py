"""LABO: Bayesian optimisation that treats a language model as a cheap, biased second source.

Names are looked up on first use, so that the oracles, which need no torch, can be imported without botorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scisuite.core import Categorical, Continuous, Integer, Space
from scisuite.solvers.labo.oracles import (
    CachedOracle,
    EndpointOracle,
    LLMOracle,
    LLMPrediction,
    LocalModelOracle,
    OracleError,
    Problem,
    RandomOracle,
    SimulatedOracle,
    SolverOracle,
    make_oracle,
)

if TYPE_CHECKING:
    from scisuite.solvers.labo.baselines import VanillaEI, VanillaUCB
    from scisuite.solvers.labo.campaign import Campaign
    from scisuite.solvers.labo.gp import GridGP, Hyperparameters
    from scisuite.solvers.labo.knowledge_gradient import MultiFidelityKG
    from scisuite.solvers.labo.labo import LABO
    from scisuite.solvers.labo.random_search import RandomSearch
    from scisuite.solvers.labo.records import PoolExhausted, Query, Trace
    from scisuite.solvers.labo.solver import LABOSolver
    from scisuite.solvers.labo.strategies import STRATEGIES, make_strategy
    from scisuite.solvers.labo.surrogate import KOHSurrogate, Posterior, discrepancy_share

_WITH_BOTORCH = {
    "Campaign": "campaign",
    "GridGP": "gp",
    "Hyperparameters": "gp",
    "KOHSurrogate": "surrogate",
    "LABO": "labo",
    "LABOSolver": "solver",
    "MultiFidelityKG": "knowledge_gradient",
    "PoolExhausted": "records",
    "Posterior": "surrogate",
    "Query": "records",
    "RandomSearch": "random_search",
    "STRATEGIES": "strategies",
    "Trace": "records",
    "VanillaEI": "baselines",
    "VanillaUCB": "baselines",
    "discrepancy_share": "surrogate",
    "make_strategy": "strategies",
}

__all__ = [
    "STRATEGIES",
    "CachedOracle",
    "Campaign",
    "Categorical",
    "Continuous",
    "EndpointOracle",
    "GridGP",
    "Hyperparameters",
    "Integer",
    "KOHSurrogate",
    "LABO",
    "LABOSolver",
    "LLMOracle",
    "LLMPrediction",
    "LocalModelOracle",
    "MultiFidelityKG",
    "OracleError",
    "PoolExhausted",
    "Posterior",
    "Problem",
    "Query",
    "RandomOracle",
    "RandomSearch",
    "SimulatedOracle",
    "SolverOracle",
    "Space",
    "Trace",
    "VanillaEI",
    "VanillaUCB",
    "discrepancy_share",
    "make_oracle",
    "make_strategy",
]


def __getattr__(name: str) -> Any:
    if name not in _WITH_BOTORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_WITH_BOTORCH[name]}"), name)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("torch", "botorch", "gpytorch", "linear_operator"):
            from scisuite.core import MissingDependency

            raise MissingDependency(f"{name} needs {error.name}, which is not installed", "bo") from error
        raise
