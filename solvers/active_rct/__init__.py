"""Active randomised experiments: who to randomise next, and an honest interval for the answer.

Names are looked up on first use, so that nothing is imported without need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scisuite.solvers.active_rct.estimator import ActiveRCTEstimator
    from scisuite.solvers.active_rct.learners import Learner, LinearLearner, PooledLinear
    from scisuite.solvers.active_rct.learners.registry import make_learner
    from scisuite.solvers.active_rct.linear import LinearCATE
    from scisuite.solvers.active_rct.logistic import Logistic
    from scisuite.solvers.active_rct.loop import ActiveRCT, Round
    from scisuite.solvers.active_rct.pseudo import pseudo_outcome
    from scisuite.solvers.active_rct.randomisation import Randomisation
    from scisuite.solvers.active_rct.scores import choose_top, fractional_rank, overlap_deficit, score_pool
    from scisuite.solvers.active_rct.solver import ActiveRCTSolver
    from scisuite.solvers.active_rct.streaming import fit_domain, score_stream

_HERE = "scisuite.solvers.active_rct"
_FILES = {
    "ActiveRCT": f"{_HERE}.loop",
    "ActiveRCTEstimator": f"{_HERE}.estimator",
    "ActiveRCTSolver": f"{_HERE}.solver",
    "Learner": f"{_HERE}.learners",
    "LinearCATE": f"{_HERE}.linear",
    "LinearLearner": f"{_HERE}.learners",
    "Logistic": f"{_HERE}.logistic",
    "PooledLinear": f"{_HERE}.learners",
    "Randomisation": f"{_HERE}.randomisation",
    "Round": f"{_HERE}.loop",
    "choose_top": f"{_HERE}.scores",
    "fit_domain": f"{_HERE}.streaming",
    "fractional_rank": f"{_HERE}.scores",
    "make_learner": f"{_HERE}.learners.registry",
    "overlap_deficit": f"{_HERE}.scores",
    "pseudo_outcome": f"{_HERE}.pseudo",
    "score_pool": f"{_HERE}.scores",
    "score_stream": f"{_HERE}.streaming",
}

__all__ = [
    "ActiveRCT",
    "ActiveRCTEstimator",
    "ActiveRCTSolver",
    "Learner",
    "LinearCATE",
    "LinearLearner",
    "Logistic",
    "PooledLinear",
    "Randomisation",
    "Round",
    "choose_top",
    "fit_domain",
    "fractional_rank",
    "make_learner",
    "overlap_deficit",
    "pseudo_outcome",
    "score_pool",
    "score_stream",
]


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_FILES[name]), name)
