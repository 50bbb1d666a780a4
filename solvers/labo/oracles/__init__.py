"""Cheap predictors of experiments: language models, simulated ones, and any solver or callable in their place."""

from scisuite.solvers.labo.oracles.base import CountingOracle, LLMOracle, LLMPrediction, OracleError, Problem
from scisuite.solvers.labo.oracles.simulated import RandomOracle, SimulatedOracle

__all__ = [
    "CountingOracle",
    "LLMOracle",
    "LLMPrediction",
    "OracleError",
    "Problem",
    "RandomOracle",
    "SimulatedOracle",
]
