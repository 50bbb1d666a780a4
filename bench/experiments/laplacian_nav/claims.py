"""The claims, each with the computation that was fixed before anything was run."""

from __future__ import annotations

from scisuite.bench.experiment import Claim

FOURROOMS, MAZE, OPEN, TORUS = "nav/fourrooms", "nav/maze", "nav/open", "nav/torus"
LOOPY_10, LOOPY_40, OBSTACLES = "nav/loopy_maze_10", "nav/loopy_maze_40", "nav/obstacles"
SMALL_MAZE, PIXELS = "nav/small_maze", "nav/pixels"

WORLDS = (FOURROOMS, MAZE, LOOPY_10, LOOPY_40, OPEN, TORUS, "nav/spiral", "nav/u_trap", OBSTACLES)
"""Those of the exactness claims: every move can be taken back."""

TWO_GB_IN_MIB = 2e9 / 2**20
_MAZES = (SMALL_MAZE,)
_DECADES = ("1e4", "1e5", "1e6")


def _scale(name: str, statement: str, metric: str, target: float | None) -> Claim:
    id = f"nav.scale.{name}"
    return Claim(id, statement, metric, "scale_amg", None, (OBSTACLES,), "maximum", "<=", target)


def _speed(name: str, statement: str, metric: str, target: float) -> Claim:
    id = f"nav.vector_speed.{name}"
    return Claim(id, statement, metric, "vector_speed", None, (FOURROOMS,), "minimum", ">=", target)


CLAIMS = (
    Claim(
        "nav.exact_success",
        "Least success of ascent on the exact potentials (pinv, ε = .01, ε = .1, SR γ = .99), every world and layout",
        "success",
        "green_pinv",
        None,
        WORLDS,
        "minimum",
        ">=",
        1.0,
        also=(("green_eps_001", None), ("green", None), ("green_sr", None)),
        note="A theorem: away from the goal the potential lies below the mean of its neighbours.",
    ),
    Claim(
        "nav.spl",
        "Smallest SPL of a world's median layout minus its bar, .99 for ε = .1 and .90 for pinv",
        "spl_above_bar",
        "green",
        None,
        WORLDS,
        "median",
        ">=",
        0.0,
        also=(("green_pinv", None),),
        jointly=True,
    ),
    Claim(
        "nav.sample_efficiency",
        "Success after 10k steps in mazes: Green's function / shortest paths, both on the estimated directed graph",
        "success",
        "estimated_green",
        "estimated_bfs",
        _MAZES,
        relation=">=",
        target=0.98,
        paper="better sample efficiency (in words)",
    ),
    Claim(
        "nav.vs_replay",
        "After 10k steps in mazes: as good as replayed all-goals Q, in less CPU time",
        parts=(
            Claim(
                "nav.vs_replay.success",
                "success: Green's function / Q replayed in three reverse sweeps",
                "success",
                "estimated_green",
                "q_replay",
                _MAZES,
                relation=">=",
                target=0.95,
            ),
            Claim(
                "nav.vs_replay.cpu_seconds",
                "CPU time for all twenty goals: Green's function / replayed Q",
                "learn_cpu_seconds",
                "estimated_green_timed",
                "q_replay_timed",
                _MAZES,
                target=1.0,
            ),
        ),
    ),
    Claim(
        "nav.vs_onepass",
        "Success after 10k steps in mazes: Green's function / one forward pass of TD-SR, and / of all-goals Q",
        "success",
        "estimated_green",
        "td_sr",
        _MAZES,
        relation=">=",
        target=2.0,
        also=(("estimated_green", "q"),),
    ),
    Claim(
        "nav.scale",
        "Green's function with ε = 1e-4 by multigrid in fields of 10⁴ to 10⁶ free cells",
        parts=(
            _scale("cpu_seconds", "CPU seconds of one goal among 10⁶ cells", "cpu_seconds_1e6", 60.0),
            _scale("memory", "peak memory in MiB (2 GB), making the worlds included", "cost.peak_mib", TWO_GB_IN_MIB),
            _scale("residual", "greatest relative residual", "residual", 1e-10),
            _scale("maxima", "local maxima other than the goal", "spurious_maxima", 0.0),
            _scale("slope", "slope of log CPU seconds against log cells", "slope", 1.2),
            _scale("certified", "whether the pointwise certificate holds at 10⁶ cells (1: yes)", "certified_1e6", None),
        ),
    ),
    Claim(
        "nav.extra_goals",
        "CPU time of a further goal / of factorising and the first, sparse LU, greatest of 10⁴, 10⁵ and 10⁶ cells",
        tuple(f"extra_goal_share_{decade}" for decade in _DECADES),
        "scale_splu",
        None,
        (OBSTACLES,),
        "maximum",
        "<=",
        0.05,
    ),
    Claim(
        "nav.vector_speed",
        "Transitions a CPU second on one thread, 4,096 environments, Dict observations, autoreset on",
        parts=(
            _speed("shared", "all in one layout", "shared_steps_per_second", 5e6),
            _speed("own", "each in a layout of its own", "own_steps_per_second", 2e6),
            _speed("minigrid", "one layout / MiniGrid-FourRooms on SyncVectorEnv(64)", "shared_over_minigrid", 100.0),
        ),
    ),
    Claim(
        "nav.grid_score",
        "Median grid score of band iteration, and of the same without the non-negativity",
        parts=(
            Claim(
                "nav.grid_score.torus",
                "torus, 4, 5 and 6 waves",
                ("grid_score_k4", "grid_score_k5", "grid_score_k6"),
                "grid_cells_torus",
                None,
                (TORUS,),
                "median",
                ">=",
                1.0,
            ),
            Claim(
                "nav.grid_score.box",
                "box, bands 40–80 and 60–110",
                ("grid_score_40_80", "grid_score_60_110"),
                "grid_cells_box",
                None,
                (OPEN,),
                "median",
                ">=",
                0.5,
            ),
            Claim(
                "nav.grid_score.unconstrained",
                "torus without the non-negativity",
                ("grid_score_k4", "grid_score_k5", "grid_score_k6"),
                "grid_cells_unconstrained",
                None,
                (TORUS,),
                "median",
                "<=",
                0.0,
            ),
            Claim(
                "nav.grid_score.unconstrained_box",
                "box without the non-negativity",
                ("grid_score_40_80", "grid_score_60_110"),
                "grid_cells_box_unconstrained",
                None,
                (OPEN,),
                "median",
                "<=",
            ),
            Claim(
                "nav.grid_score.stripes",
                "share of the torus's maps that end as stripes",
                "stripe_fraction",
                "grid_cells_torus",
                None,
                (TORUS,),
                "mean",
            ),
        ),
        paper="agreement with known spatial cells (in words)",
    ),
    Claim(
        "nav.pixels",
        "Modes learned from pictures by spectral contrast",
        parts=(
            Claim(
                "nav.pixels.overlap",
                "median overlap with the eight slowest modes",
                "overlap8",
                "pixels_contrastive",
                None,
                (PIXELS,),
                "median",
                ">=",
                0.95,
            ),
            Claim(
                "nav.pixels.seconds",
                "seconds of wall time on one core, walk and scoring included, the longest of the fits",
                "cost.wall_seconds",
                "pixels_contrastive",
                None,
                (PIXELS,),
                "maximum",
                "<=",
                180.0,
            ),
        ),
        paper="codes learnable from images (in words)",
    ),
    Claim(
        "nav.pixels_navigation",
        "Mean success: resistance distance of 32 modes learned from pictures / straight-line distance",
        "success",
        "pixels_contrastive",
        "pixels_straight_line",
        (PIXELS,),
        relation=">=",
        target=1.3,
    ),
    Claim(
        "nav.dqn_her",
        "Success after 30k environment steps in mazes: DQN with hindsight goals − Green's function",
        "success_30k",
        "dqn_her",
        "estimated_green",
        _MAZES,
        statistic="difference_of_means",
    ),
)
