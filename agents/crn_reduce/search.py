"""Policies that look ahead to the end: everything, or the most promising."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from scisuite.agents.crn_reduce.base import Options, ReducingAgent
from scisuite.core import InvalidInput
from scisuite.envs.crn_reduce.board import Board, Move
from scisuite.envs.crn_reduce.env import CRNReduceEnv

Path = list[int]
"""Actions in order, without STOP."""

MOST_SITES = 8


class SearchingAgent(ReducingAgent):
    """Plans once and plays the plan; plans again where the board is another than it expects."""

    def _begin(self, seed: int) -> None:
        self._path: Path = []
        self._expected: Board | None = None

    def _choose(self, env: CRNReduceEnv) -> int | None:
        board = env.board
        if board is not self._expected and (self._expected is None or _state(board) != _state(self._expected)):
            self._path = self._plan(board, env.task.actions)
        if not self._path:
            self._expected = board
            return None
        action = self._path.pop(0)
        self._expected = board.after(env.actions[action])
        return action

    def _plan(self, board: Board, options: Options) -> Path:
        raise NotImplementedError


class ExhaustiveAgent(SearchingAgent):
    """The best of all plans, in graphs of at most 8 variables and 8 factors."""

    name = "exhaustive"

    def _plan(self, board: Board, options: Options) -> Path:
        return exhaustive_path(board, options)


class BeamAgent(SearchingAgent):
    """Beam search: of all boards that are as many merges away the ``width`` smallest are followed.

    Parameters
    ----------
    width : int

    Raises
    ------
    InvalidInput
        If it is not positive.
    """

    name = "beam"

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        if isinstance(width, bool) or not isinstance(width, int) or width < 1:
            raise InvalidInput(f"width must be a whole number of at least 1, not {width!r}")
        self.width = width

    def _plan(self, board: Board, options: Options) -> Path:
        return beam_path(board, options, self.width)


def exhaustive_path(board: Board, options: Options) -> Path:
    """The actions that lead to the smallest network that any order of moves reaches.

    Leaves and unary factors go first wherever they turn up, which costs nothing where no table has zeros and the
    largest molecularity is within the cap. With zeros they are tried in every order as well, and so they are above the
    cap: there each of them may lower the molecularity, and with it what a later move is allowed. Boards that two orders
    lead to are looked at once.

    Raises
    ------
    InvalidInput
        If more than 8 variables or factors are left; the message says how many.
    """
    for what, n in (("variables", len(board.holders)), ("factors", sum(map(bool, board.scopes)))):
        if n > MOST_SITES:
            raise InvalidInput(
                f"the agent 'exhaustive' tries every order, with at most {MOST_SITES} variables and factors; this "
                f"graph has {n} {what}"
            )
    known: dict[Hashable, int] = {}
    positive = board.nonzero == board.entries

    def begin(board: Board) -> tuple[Board, Path]:
        cap = board.max_molecularity
        free = positive and (cap is None or board.molecularity <= cap)
        return settled(board, options) if free else (board, [])

    def smallest(board: Board) -> int:
        """Size of the smallest network that can be reached."""
        board = begin(board)[0]
        state = _state(board)
        if state not in known:
            sizes = [smallest(board.after(move)) for move in options(board).values()]
            known[state] = min([board.size, *sizes])
        return known[state]

    path: Path = []
    while True:
        board, first = begin(board)
        path += first
        target = smallest(board)
        if board.size == target:
            return path
        moves = sorted(options(board).items())
        action, board = next((a, after) for a, move in moves if smallest(after := board.after(move)) == target)
        path.append(action)


def beam_path(board: Board, options: Options, width: int) -> Path:
    """The actions that lead to the smallest network that a beam of ``width`` boards comes upon."""
    board, path = settled(board, options)
    best, front = (board.size, path), [(board, path)]
    while front:
        reached: dict[Hashable, tuple[Board, Path]] = {}
        for board, path in front:
            for action, move in sorted(options(board).items()):
                following, rest = settled(board.after(move), options)
                reached.setdefault(_state(following), (following, [*path, action, *rest]))
        front = sorted(reached.values(), key=lambda found: found[0].size)[:width]
        if front and front[0][0].size < best[0]:
            best = (front[0][0].size, front[0][1])
    return best[1]


def settled(board: Board, options: Options) -> tuple[Board, Path]:
    """The board when all unary factors and leaves are gone, and the actions that lead there.

    Of several leaves that of the most values goes first, so that of a tree the variable of the fewest is left.
    """
    path: Path = []
    while True:
        leaves, unaries, _, _ = board.moves
        if not leaves and not unaries:
            return board, path
        move = unaries[0] if unaries else max(leaves, key=lambda leaf: board.card[leaf.variable])
        path.append(_action(move, options(board)))
        board = board.after(move)


def _action(move: Move, options: Mapping[int, Move]) -> int:
    return next(action for action, offered in options.items() if offered == move)


def _state(board: Board) -> Hashable:
    zeros = tuple(None if support is None else support.tobytes() for support in board.supports)
    return board.alive, board.scopes, board.nonzero, zeros
