"""The arms: what they run, and what they need."""

from __future__ import annotations

from typing import Any

from scisuite.bench.experiment import Arm

_HERE = "scisuite.bench.experiments.laplacian_nav"


def _arm(id: str, role: Any, run: str, summary: str, *extras: str, timed: bool = False, **config: Any) -> Arm:
    return Arm(id, f"{_HERE}.{run}", role, config, extras, timed, summary)


KNOWN_WORLD = (
    _arm("green", "method", "potentials:potential", "Green's function, ε = .1", kind="green", eps=0.1, bar=0.99),
    _arm("green_eps_001", "ablation", "potentials:potential", "Green's function, ε = .01", kind="green", eps=0.01),
    _arm(
        "green_pinv",
        "ablation",
        "potentials:potential",
        "Green's function, ε = 0: the pseudo-inverse",
        kind="green",
        eps=0,
        bar=0.90,
    ),
    _arm(
        "green_sr",
        "ablation",
        "potentials:potential",
        "successor representation, γ = .99: Green's function by another name",
        kind="green",
        eps="sr:0.99",
    ),
    *(
        _arm(id, "ablation", "potentials:truncated", f"{summary}, K = 32 modes", read_out=id)
        for id, summary in (
            ("inner", "inner product of embeddings: the truncated Green's function"),
            ("resistance", "resistance distance of embeddings"),
            ("biharmonic", "biharmonic distance of embeddings"),
        )
    ),
    _arm("heat_kernel", "ablation", "potentials:heat_kernel", "heat kernel at the best of eight times"),
    _arm("epsilon_sweep", "ablation", "potentials:epsilon_sweep", "Green's function, ε from 3e-4 to 1"),
    _arm("place_cell", "peer", "potentials:place_cell", "Place_Cell's planner on exact transition kernels"),
    _arm(
        "place_cell_learned",
        "peer",
        "potentials:place_cell",
        "Place_Cell's planner on learned non-negative embeddings",
        "torch",
        learned=True,
    ),
    _arm("euclid", "floor", "potentials:potential", "straight-line distance", kind="euclid"),
)
"""They are given the world's graph."""

LEARNERS = (
    _arm("estimated_green", "method", "learners:learn", "(I − γP̂)⁻¹ of the estimated directed graph", learner="green"),
    _arm(
        "estimated_green_symmetric",
        "ablation",
        "learners:learn",
        "(L + εI)⁻¹ of an estimated graph made symmetric",
        learner="symmetrised_green",
    ),
    _arm("estimated_bfs", "peer", "learners:learn", "shortest paths on the estimated directed graph", learner="bfs"),
    _arm("q_replay", "peer", "learners:learn", "all-goals Q, three reverse sweeps over the walk", learner="q_replay"),
    _arm("dyna_q", "peer", "learners:learn", "all-goals Q with ten remembered moves a step", learner="dyna_q"),
    _arm("q", "peer", "learners:learn", "all-goals Q, one forward pass", learner="q"),
    _arm("td_sr", "peer", "learners:learn", "successor representation by TD, one forward pass", learner="td_sr"),
    _arm(
        "td_sr_replay",
        "peer",
        "learners:learn",
        "successor representation by TD, three reverse sweeps over the walk",
        learner="td_sr_replay",
    ),
    _arm("her_q", "peer", "learners:learn", "Q with hindsight goals, one forward pass", learner="her_q"),
)
"""They are given one random walk."""

TIMED_LEARNERS = tuple(
    _arm(f"{id}_timed", role, "learners:timed", f"{id} after 10k steps, timed alone", timed=True, learner=learner)
    for id, role, learner in (("estimated_green", "method", "green"), ("q_replay", "peer", "q_replay"))
)

GENERALISERS = (
    *(
        _arm(
            f"new_goals_{id}", role, "learners:new_goals", f"goals that were not asked for: {summary}", learner=learner
        )
        for id, role, learner, summary in (
            ("green", "method", "green", "one more solve on the estimated graph"),
            ("bfs", "peer", "bfs", "one more search on the estimated graph"),
            ("td_sr", "peer", "td_sr", "another column of the learned successor matrix"),
            ("q_replay", "peer", "q_replay", "three more sweeps over the walk"),
        )
    ),
    _arm(
        "new_goals_q_nearest",
        "floor",
        "learners:new_goals",
        "goals that were not asked for, the walk forgotten: the Q-values of the nearest goal that was",
        learner="q_replay",
        nearest=True,
    ),
    *(
        _arm(
            f"changed_walls_{id}",
            role,
            "learners:changed_walls",
            f"four walls moved, a thousand steps later: {summary}",
            learner=learner,
        )
        for id, role, learner, summary in (
            ("green", "method", "green", "Green's function on what still holds"),
            ("bfs", "peer", "bfs", "shortest paths on what still holds"),
            ("q_replay", "peer", "replayed_q", "three more sweeps over what still holds"),
            ("td_sr", "peer", "td_successor", "the successor matrix, learned on"),
        )
    ),
)

DEEP = (_arm("dqn_her", "peer", "dqn:dqn_her", "Stable-Baselines3's DQN with hindsight goals", "rl"),)

CODES = (
    _arm("grid_cells_torus", "method", "codes:torus", "non-negative band iteration on a torus, 4 to 6 waves"),
    _arm("grid_cells_box", "method", "codes:box", "non-negative band iteration in a box, modes 40–80 and 60–110"),
    _arm(
        "grid_cells_unconstrained",
        "ablation",
        "codes:torus",
        "band iteration on a torus without the non-negativity",
        nonnegative=False,
    ),
    _arm(
        "grid_cells_box_unconstrained",
        "ablation",
        "codes:box",
        "band iteration in a box without the non-negativity",
        nonnegative=False,
    ),
    _arm("raw_modes", "floor", "codes:raw_modes", "the box's eigenmodes 40 to 109 themselves"),
    _arm("ratinabox", "peer", "codes:ratinabox", "RatInABox's grid cells put through the same score", "nav"),
)

PIXELS = (
    _arm(
        "pixels_contrastive",
        "method",
        "pixels:learned",
        "modes by spectral contrast from the pictures of a walk of 400,000 steps, resistance distance",
        "torch",
    ),
    _arm("pixels_straight_line", "floor", "pixels:straight_line", "straight-line distance, same goals and starts"),
    _arm(
        "pixels_allo",
        "peer",
        "pixels:learned",
        "modes by ALLO from the same pictures, 3k steps, resistance distance of ten modes",
        "torch",
        method="allo",
        fit="3000 steps",
        k=10,
    ),
    _arm(
        "miniworld", "method", "pixels:first_person", "modes from Miniworld's first-person views", "nav", "torch", k=8
    ),
)

TIMED = (
    _arm(
        "scale_amg", "method", "scaling:scale", "up to 10⁶ cells, algebraic multigrid", "nav", timed=True, solver="amg"
    ),
    _arm("scale_splu", "ablation", "scaling:scale", "up to 10⁶ cells, sparse LU", "nav", timed=True, solver="splu"),
    _arm(
        "vector_speed",
        "method",
        "speed:transitions",
        "4,096 environments on one thread, by CPU time",
        "nav",
        timed=True,
    ),
)

ARMS = (
    *KNOWN_WORLD,
    *LEARNERS,
    *TIMED_LEARNERS,
    *GENERALISERS,
    *DEEP,
    *CODES,
    *PIXELS,
    *TIMED,
)
