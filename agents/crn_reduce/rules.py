"""Policies that look one move, or one variable, ahead."""

from __future__ import annotations

from scisuite.agents.crn_reduce.base import Options, ReducingAgent
from scisuite.agents.crn_reduce.search import Path, settled
from scisuite.core import generator
from scisuite.envs.crn_reduce.board import CLUSTER, LEAF, SERIES, Board, members
from scisuite.envs.crn_reduce.env import CRNReduceEnv


class RandomAgent(ReducingAgent):
    """Any legal action, STOP among them, all equally often: the floor."""

    name = "random"

    def _begin(self, seed: int) -> None:
        self._rng = generator(seed, "crn_reduce/random")

    def _choose(self, env: CRNReduceEnv) -> int | None:
        actions = [*sorted(env.actions), None]
        return actions[int(self._rng.integers(len(actions)))]


class GreedyAgent(ReducingAgent):
    """The move of the largest reward, the lowest action of equals; stops when none has a positive one."""

    name = "greedy"

    def _choose(self, env: CRNReduceEnv) -> int | None:
        return greedy_action(env.board, env.task.actions)


class MinFillAgent(ReducingAgent):
    """Eliminates variables in the order of least fill, as variable elimination does, while that makes it smaller.

    Leaves and unary factors go first. Then of the variables that can be eliminated within the caps, and whose
    elimination makes the network smaller, the one goes that joins the fewest pairs of variables which no factor holds
    together yet; its factors are multiplied by cluster moves, the smallest product first, until it can be summed out.
    """

    name = "min_fill"

    def _begin(self, seed: int) -> None:
        self._path: Path = []

    def _choose(self, env: CRNReduceEnv) -> int | None:
        if not self._path:
            self._path = min_fill_path(env.board, env.task.actions)
        return self._path.pop(0) if self._path else None


def greedy_action(board: Board, options: Options) -> int | None:
    """The action of the largest positive reward, or ``None``."""
    sizes = {action: board.after(move).size for action, move in sorted(options(board).items())}
    best = min(sizes, key=sizes.__getitem__, default=None)
    return best if best is not None and sizes[best] < board.size else None


def min_fill_path(board: Board, options: Options) -> Path:
    """The actions that settle the board, or else eliminate the next variable; empty where nothing is to be gained."""
    settled_board, path = settled(board, options)
    if path:
        return path
    free = [v for v in settled_board.holders if not board.keep >> v & 1]
    for v in sorted(free, key=lambda v: fill(board, v)):
        found = _elimination(board, v, options)
        if found is not None and settled(found[0], options)[0].size < board.size:
            return found[1]
    return []


def fill(board: Board, v: int) -> int:
    """How many pairs of the neighbours of a variable no factor holds together."""
    around = 0
    for place in board.holders[v]:
        around |= board.scopes[place]
    around &= ~(1 << v)
    missing = 0
    for u in members(around):
        together = 1 << u
        for place in board.holders[u]:
            together |= board.scopes[place]
        missing += (around & ~together).bit_count()
    return missing // 2


def _elimination(board: Board, v: int, options: Options) -> tuple[Board, Path] | None:
    """The board without a variable and the actions that lead there, or ``None`` if the caps are in the way."""
    path: Path = []
    while board.alive >> v & 1:
        about = {action: move for action, move in options(board).items() if move.variable == v}
        ending = [action for action, move in about.items() if move.kind in (LEAF, SERIES)]
        joining = [action for action, move in about.items() if move.kind == CLUSTER]
        if not ending and not joining:
            return None
        following = {action: board.after(about[action]) for action in ending or joining}
        action = min(following, key=lambda a: (following[a].size, a))
        board = following[action]
        path.append(action)
    return board, path
