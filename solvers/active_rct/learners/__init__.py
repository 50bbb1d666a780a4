"""Models of the treatment effect that grow by randomised batches."""

from scisuite.solvers.active_rct.learners.base import Learner
from scisuite.solvers.active_rct.learners.linear import LinearLearner, PooledLinear

__all__ = ["Learner", "LinearLearner", "PooledLinear"]
