"""``sci/CRNReduce-v0``."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from numpy.typing import NDArray

from scisuite.core import InvalidInput, as_seed, generator
from scisuite.envs.crn_reduce.board import Board, Move
from scisuite.envs.crn_reduce.played import reduction_of
from scisuite.envs.crn_reduce.task import (
    DRAWN_SEEDS,
    Instance,
    Observation,
    Task,
    mask_of,
    require_action,
    require_options,
)
from scisuite.envs.crn_reduce.text import describe
from scisuite.envs.crn_reduce.verification import Verification, verify_reduction
from scisuite.envs.errors import EpisodeOver

if TYPE_CHECKING:
    from scisuite.solvers.crn_reduce.reduction import Reduction

Info = dict[str, Any]

NOT_ASKED = Verification(False, False, "not asked for: verify='never'", None, 0)
ILLEGAL = Verification(False, False, "the episode ended with an illegal move", None, 0)


class CRNReduceEnv(gym.Env[Any, Any]):
    """Shrink a factor graph, and with it the reaction network that it compiles to, move by move.

    Napp and Adams's compilation turns a factor graph into a network whose steady states are the fixed points of belief
    propagation. Every legal move leaves those of the surviving variables as they are, so that what counts is the size.
    Summing out leaves and absorbing unary factors always pays, in any order. Series and cluster moves make larger
    tables, two factors that share two variables can never be merged again, and caps forbid what is too large: which
    move to make first has to be planned.

    Observation
    -----------
    ``Dict`` of arrays padded with zeros; n is ``max_sites``, rows are factors and columns variables in the order of
    the graph that the episode began with, and both keep their places.

    - ``incidence``: ``Box`` float32 (n, n), 1 where the factor holds the variable.
    - ``log_table_sizes``: ``Box`` float32 (n,), natural logarithm of the number of entries of each factor's table.
    - ``cardinalities``: ``Box`` float32 (n,), number of values of each variable that is left.
    - ``degrees``: ``Box`` float32 (n,), number of factors that hold each variable.
    - ``keep``: ``Box`` int8 (n,), 1 for a variable that may not be eliminated.
    - ``globals``: ``Box`` float32 (4,), the largest number of molecules that meet in one reaction, its cap (0 for
      none), species, reactions.

    Action
    ------
    ``Discrete(4 n + 1)``: move · n + site.

    - 0, *leaf*: sum variable ``site`` out of the only factor that holds it.
    - 1, *unary*: multiply factor ``site``, which has one variable, into the first other factor of that variable.
    - 2, *series*: multiply the two factors of variable ``site``, which share no other, and sum it out.
    - 3, *cluster*: multiply the factors f < g of pair number ``site``; pairs of factors of two or more variables that
      share exactly one variable and that the caps allow are numbered in lexicographic order of (f, g). Those beyond n
      cannot be chosen before others are gone.
    - 4 n: STOP.

    Kept variables are neither summed out as leaves nor in series. A series or cluster move is illegal if it would raise
    the largest molecularity above ``max_molecularity``, or make a table of more than ``max_table`` entries that is
    larger than both it is made of. ``action_masks()`` is bool (4 n + 1,), the legal actions.

    Reward
    ------
    (size before − size after) / size at the start, size being species + reactions of the compiled network,
    dimensionless. STOP gives 0, or takes the whole episode's reward back if a survivor's fixed point is found to have
    moved. An illegal action gives −1.

    Termination
    -----------
    Terminated by STOP and by an illegal action. At most variables + factors moves are possible.

    Info
    ----
    ``action_mask``: int8 (4 n + 1,), as ``action_masks()``; ``species``, ``reactions``, ``size``: int; ``moves``: int,
    moves made; ``instance_seed``: int. At the end also ``verified``: bool; ``verification``: str, why or why not;
    ``converged_starts``: int, of 4; ``belief_error``: float, largest difference of a surviving belief,
    where any was compared.

    With ``verify="stop"`` STOP runs belief propagation (damping .3, tolerance 1e-12) from 4 starts on the graph that
    the episode began with, carries every fixed point over to the reduced graph, and runs it there: ``verified`` is true
    if all surviving beliefs then agree within 1e-8. If none of the 4 runs converges nothing is known: ``verified`` is
    false, and the reward stays.

    Arguments
    ---------
    scenario : str, WorldScenario, FactorGraph or problem
        ``"factor_graphs/planning"``, ``"factor_graphs/planning_small"`` or another scenario of factor graphs; a graph;
        or an object with ``graph`` and ``keep``.
    max_sites : int
        n: a graph with more variables or factors is refused.
    max_molecularity, max_table : int or None
        Caps; ``None`` takes those of the instance where it has some (planning problems do), and else sets none.
    verify : {"stop", "never"}
        ``"never"`` saves the time in training; ``verified`` is then false. To judge a policy use ``"stop"``.
    render_mode : None or "rgb_array"
        The graph, variables as circles and factors as squares, and the size against moves; uint8 (600, 900, 3).
    scenario_config : mapping or None
        Arguments of a scenario that is named by its id.

    ``reset`` draws another instance; it takes the options ``{"instance_seed": int}``, which problem of the scenario,
    for this episode, and ``{"scenario": id or object}``, another scenario from this episode on.

    Source
    ------
    The moves reconstruct Montes & Sergeant-Perthuis, *Reduction of Probabilistic Chemical Reaction Networks*
    (arXiv 2606.27737), of which abstract and first page were available. The decision problem is ours.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 2}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(
        self,
        scenario: Any = "factor_graphs/planning",
        max_sites: int = 64,
        max_molecularity: int | None = None,
        max_table: int | None = None,
        verify: str = "stop",
        render_mode: str | None = None,
        scenario_config: Mapping[str, Any] | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InvalidInput(f"render_mode must be None or 'rgb_array', not {render_mode!r}")
        self.render_mode = render_mode
        self.task = Task(scenario, scenario_config, max_sites, max_molecularity, max_table, verify)
        self.observation_space = self.task.observation_space()
        self.action_space = self.task.action_space()
        self._instance: Instance | None = None
        self._board: Board | None = None
        self._played: list[Move] = []
        self._sizes: list[int] = []
        self._actions: dict[int, Move] = {}
        self._return = 0.0
        self._over = True
        self._viewer: Any = None

    @property
    def scenario(self) -> Any:
        """Where the problems come from."""
        return self.task.source

    @property
    def instance(self) -> Instance:
        """The problem of this episode."""
        if self._instance is None:
            raise EpisodeOver("there is no problem yet; call reset()")
        return self._instance

    @property
    def board(self) -> Board:
        """What is left: an agent may look ahead on it, since boards are immutable."""
        if self._board is None:
            raise EpisodeOver("there is no problem yet; call reset()")
        return self._board

    @property
    def actions(self) -> Mapping[int, Move]:
        """The legal moves by their actions, STOP left out."""
        return self._actions

    @property
    def played(self) -> tuple[Move, ...]:
        """The moves of this episode."""
        return tuple(self._played)

    def action_masks(self) -> NDArray[np.bool_]:
        """bool (4 n + 1,): the legal actions."""
        return mask_of(self._actions, 4 * self.task.max_sites + 1)

    def reduction(self) -> Reduction:
        """What the moves of this episode amount to: the graph that is left, a certificate, and ``lift``."""
        return reduction_of(self.instance.graph, self.instance.board, self._played)

    def describe(self) -> str:
        """What is left and what may be done, in words, each legal action with its number."""
        return describe(self.board, self.instance.board.size, self._actions, self.task.stop)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        """Begin an episode with another problem.

        Raises
        ------
        InvalidInput
            If the seed is no non-negative integer, an option is unknown or out of its range, or the scenario's graph
            is too large; nothing has changed then.
        """
        chosen = require_options(options)
        rng = copy.deepcopy(self.np_random) if seed is None else seeding.np_random(as_seed(seed))[0]
        drawn = int(rng.integers(DRAWN_SEEDS))
        instance = self.task.instance(chosen.get("instance_seed", drawn), chosen.get("scenario"))
        super().reset(seed=seed)
        self.np_random.integers(DRAWN_SEEDS)
        self.task.source = chosen.get("scenario", self.task.source)
        self._instance = instance
        self._played, self._sizes, self._return = [], [instance.board.size], 0.0
        self._over = False
        self._turn_to(instance.board)
        return self.task.observe(instance.board), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Make a move, or stop.

        Raises
        ------
        InvalidInput
            If the action is not in the action space; nothing has changed then.
        EpisodeOver
            Before ``reset`` and after the end of an episode.
        """
        if self._over:
            raise EpisodeOver("the episode is over or has not begun; call reset()")
        action = require_action(action, self.task.stop + 1)
        board = self.board
        if action == self.task.stop:
            found = self._verify()
            return self._end(-self._return if found.moved else 0.0, found)
        move = self._actions.get(action)
        if move is None:
            return self._end(-1.0, ILLEGAL)
        following = board.after(move)
        reward = (board.size - following.size) / self._sizes[0]
        self._return += reward
        self._played.append(move)
        self._sizes.append(following.size)
        self._turn_to(following)
        return self.task.observe(following), reward, False, False, self._info()

    def render(self) -> Any:
        """The episode so far as uint8 (600, 900, 3), or ``None`` without a render mode."""
        if self.render_mode is None:
            return None
        if self._viewer is None:
            from scisuite.envs.crn_reduce.render import Viewer

            self._viewer = Viewer()
        return self._viewer.draw(self.instance.board, self.board, self._sizes)

    def close(self) -> None:
        """Forget the figure."""
        self._viewer = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_viewer": None}

    def _turn_to(self, board: Board) -> None:
        self._board = board
        self._actions = self.task.actions(board)

    def _verify(self) -> Verification:
        if self.task.verify == "never":
            return NOT_ASKED
        try:
            reduction = self.reduction()
        except InvalidInput as error:
            return Verification(False, True, f"the moves cannot be carried out: {error}", None, 0)
        return verify_reduction(reduction, generator(self.instance.seed, "crn_reduce verification"))

    def _end(self, reward: float, found: Verification) -> tuple[Observation, float, bool, bool, Info]:
        self._over = True
        self._return += reward
        info = self._info() | {
            "verified": found.verified,
            "verification": found.reason,
            "converged_starts": found.converged,
        }
        if found.belief_error is not None:
            info["belief_error"] = found.belief_error
        return self.task.observe(self.board), reward, True, False, info

    def _info(self) -> Info:
        board = self.board
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "species": board.species,
            "reactions": board.reactions,
            "size": board.size,
            "moves": len(self._played),
            "instance_seed": self.instance.seed,
        }
