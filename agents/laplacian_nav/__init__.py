"""Policies in ``sci/LaplacianNav-v0``: planners with a map, learners without one, and several navigators at once."""
