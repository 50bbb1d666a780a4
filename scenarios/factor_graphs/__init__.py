"""Factor graphs: Bayesian networks, Ising grids, hidden Markov models, trees and random graphs."""

from scisuite.scenarios.factor_graphs.graph import Factor, FactorGraph

__all__ = ["Factor", "FactorGraph"]
