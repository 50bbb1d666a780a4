"""The game in words, for agents that read."""

from __future__ import annotations

from collections.abc import Mapping

from scisuite.envs.crn_reduce.board import CLUSTER, LEAF, SERIES, Board, Move, members


def describe(board: Board, first_size: int, actions: Mapping[int, Move], stop: int) -> str:
    """What is left and what may be done.

    Parameters
    ----------
    board : Board
    first_size : int
        Species and reactions at the start of the episode.
    actions : mapping of int to Move
        The legal moves by their actions.
    stop : int
        The action that ends the episode.
    """
    lines = [
        f"The network has {board.species} species and {board.reactions} reactions, {board.size} in all; "
        f"it began with {first_size}.",
        f"Largest molecularity {board.molecularity} (cap {_cap(board.max_molecularity)}), "
        f"tables of at most {_cap(board.max_table)} entries.",
        "Variables (values, factors that hold it):",
    ]
    for v, places in board.holders.items():
        kept = ", keep" if board.keep >> v & 1 else ""
        held = ", ".join(board.factors[place] for place in places) or "none"
        lines.append(f"  {board.variables[v]} ({board.card[v]}; {held}{kept})")
    lines.append("Factors (variables, table entries):")
    for place, scope in enumerate(board.scopes):
        if scope:
            names = ", ".join(board.variables[v] for v in members(scope))
            lines.append(f"  {board.factors[place]} ({names}; {board.entries[place]})")
    lines.append("Legal actions:")
    lines += [f"  {action}: {_said(board, move)}" for action, move in sorted(actions.items())]
    lines.append(f"  {stop}: STOP")
    return "\n".join(lines)


def _said(board: Board, move: Move) -> str:
    v, first = board.variables[move.variable], board.factors[move.first]
    saved = board.size - board.after(move).size
    change = f"saves {saved}" if saved >= 0 else f"costs {-saved}"
    if move.kind == LEAF:
        return f"leaf, sum {v} out of {first}; {change}"
    second = board.factors[move.second]
    if move.kind == SERIES:
        return f"series, multiply {first} and {second} and sum {v} out; {change}"
    if move.kind == CLUSTER:
        return f"cluster, multiply {first} and {second}, which share {v}; {change}"
    return f"unary, multiply {second} into {first}; {change}"


def _cap(cap: int | None) -> str:
    return "none" if cap is None else str(cap)
