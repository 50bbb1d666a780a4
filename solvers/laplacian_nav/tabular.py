"""What can be learned from transitions alone, gathered: planning on the estimated graph, Q-learning, successors."""

from scisuite.solvers.laplacian_nav.estimated import (
    estimated_bfs_actions,
    estimated_bfs_values,
    estimated_green_actions,
    estimated_green_values,
    symmetrised_green_actions,
)
from scisuite.solvers.laplacian_nav.q_learning import all_goals_q, dyna_q, her_q, q_actions
from scisuite.solvers.laplacian_nav.successor import successor_actions, td_successor
from scisuite.solvers.laplacian_nav.tried_moves import UNTRIED, TriedMoves

__all__ = [
    "UNTRIED",
    "TriedMoves",
    "all_goals_q",
    "dyna_q",
    "estimated_bfs_actions",
    "estimated_bfs_values",
    "estimated_green_actions",
    "estimated_green_values",
    "her_q",
    "q_actions",
    "successor_actions",
    "symmetrised_green_actions",
    "td_successor",
]
