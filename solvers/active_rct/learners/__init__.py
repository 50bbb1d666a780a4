"""Models of the treatment effect that grow by randomised batches."""

from scisuite.solvers.active_rct.learners.base import Learner
from scisuite.solvers.active_rct.learners.linear import LinearLearner, PooledLinear
from scisuite.solvers.active_rct.learners.registry import LEARNERS, make_learner

__all__ = ["LEARNERS", "Learner", "LinearLearner", "PooledLinear", "make_learner"]
