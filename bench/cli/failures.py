"""Exit codes, the one line that explains a failure, and ``--debug``."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import traceback
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any

import typer

from scisuite.bench.cli.output import say
from scisuite.core import EngineFailure, InvalidInput, MissingDependency

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143

# Typer keeps its usage errors to itself except for this one, whose base they share.
_UsageError: Any = typer.BadParameter.__mro__[1]

_debug = False


class Terminated(KeyboardInterrupt):
    """SIGTERM, which a cluster sends before it takes the machine away: everything ends as it does on Ctrl-C."""


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Raise :class:`Terminated` when SIGTERM comes while the body runs; further ones are ignored while it cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(signal_number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    previous = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def interruption(interrupt: KeyboardInterrupt) -> tuple[str, int]:
    """The line and the exit code of an interrupted command."""
    word, code = ("terminated", TERMINATED) if isinstance(interrupt, Terminated) else ("interrupted", INTERRUPTED)
    return f"{word}: {interrupt}" if str(interrupt) else word, code


def take_debug(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Take ``--debug`` out of the arguments, wherever it stands before a ``--``."""
    arguments = list(arguments)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    head = [argument for argument in arguments[:end] if argument != "--debug"]
    wanted = len(head) != end or os.environ.get("SCISUITE_DEBUG", "").lower() not in ("", "0", "false", "no")
    return wanted, head + arguments[end:]


@contextlib.contextmanager
def debug_wanted(wanted: bool) -> Iterator[None]:
    """Whether :func:`exit_code_of` prints tracebacks while the body runs."""
    global _debug
    before, _debug = _debug, wanted
    try:
        yield
    finally:
        _debug = before


def exit_code_of(error: BaseException, command: str = "scisuite") -> int:
    """Explain ``error`` in one line on standard error (with ``--debug`` after the traceback); its exit code."""
    if _debug:
        traceback.print_exception(error)
    if isinstance(error, _UsageError):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else command
        message = one_line(error.format_message()).rstrip(".")
        say(f"{command}: {message} (see '{command} --help')")
        return BAD_INPUT
    if isinstance(error, typer.Abort):
        say("interrupted")
        return INTERRUPTED
    if isinstance(error, InvalidInput | MissingDependency):
        say(f"scisuite: {one_line(str(error))}")
        return BAD_INPUT
    if isinstance(error, EngineFailure):
        say(f"scisuite: {one_line(str(error))}")
        return FAILED
    hint = "" if _debug else " (--debug shows where)"
    say(f"scisuite: unexpected {type(error).__name__}: {one_line(str(error))}{hint}")
    return FAILED


def one_line(message: str) -> str:
    """``message`` with its line breaks and runs of spaces folded."""
    return " ".join(message.split())
