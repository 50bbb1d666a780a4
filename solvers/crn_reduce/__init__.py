"""Probabilistic chemical reaction networks: compile, recover, reduce, simulate."""
