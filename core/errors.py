"""The exceptions that scisuite raises on purpose.

Three bases, so that a caller can decide by kind: the request was wrong (:class:`InvalidInput`), something that
would have to be installed is absent (:class:`MissingDependency`), or a simulator, model or file system failed
although the request was right (:class:`EngineFailure`). Named errors elsewhere are subclasses of these three.
"""

from __future__ import annotations


class InvalidInput(ValueError):
    """The caller asked for something that cannot be done; nothing was changed."""


class UnknownName(InvalidInput):
    """An id is not registered; the message suggests the nearest ones."""


class NotFitted(InvalidInput):
    """A solver was asked for predictions before ``fit`` or ``load``."""


class DamagedFile(InvalidInput):
    """A file does not hold what its header or checksum promises."""


class NewerFormat(InvalidInput):
    """A file was written by a later scisuite whose format this one does not know."""


class MissingDependency(ImportError):
    """A package that is not part of the base install is needed.

    Parameters
    ----------
    what : str
        The feature that was asked for, as the user would name it.
    extra : str or None
        The extra that brings it: the message then holds ``pip install "scisuite[extra]"``.
    command : str or None
        The whole command, where an extra cannot bring it.
    """

    remedy = "install it with"
    """What the command does about it."""

    def __init__(self, what: str, extra: str | None = None, command: str | None = None) -> None:
        self.what = what
        self.extra = extra
        self.command = command or (f'pip install "scisuite[{extra}]"' if extra else None)
        hint = f"; {self.remedy}: {self.command}" if self.command else ""
        super().__init__(f"{what}{hint}")

    def __reduce__(self) -> tuple[type[MissingDependency], tuple[str, str | None, str | None]]:
        return (type(self), (self.what, self.extra, self.command))


class DataUnavailable(MissingDependency):
    """A data set comes with a package that is not installed, or could not be read from it."""


class EngineFailure(RuntimeError):
    """A simulator, model, endpoint or file system failed on a valid request."""
