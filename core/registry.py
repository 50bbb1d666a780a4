"""String ids for scenarios, solvers, agents and experiments, without importing any of them.

Ids are registered from small TOML files that lie beside the code (see :meth:`Registry.add_folder`), so that
importing a folder costs nothing, and from entry points, so that other distributions can add their own.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import operator
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from scisuite.core.errors import InvalidInput, MissingDependency, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    """One registered id: what ``list``, ``info`` and ``cite`` read.

    ``target`` is ``"module:name"``, ``extras`` the optional dependencies it needs, ``defaults`` the configuration
    that ``make`` starts from, ``origin`` the distribution that registered it.
    """

    id: str
    target: str
    summary: str
    paper: str | None = None
    extras: tuple[str, ...] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    origin: str = "scisuite"

    @property
    def short_name(self) -> str:
        return self.id.rsplit("/", 1)[-1]

    def load(self) -> Any:
        """Import and return the target.

        Raises
        ------
        MissingDependency
            If a package that one of the entry's extras brings is not installed.
        InvalidInput
            If the module has no such name.
        """
        module_name, _, name = self.target.partition(":")
        try:
            module = importlib.import_module(module_name)
        except MissingDependency:
            raise
        except ModuleNotFoundError as error:
            own = (error.name or "").split(".")[0] == module_name.split(".")[0]
            if own or not self.extras:
                raise
            needed = f"{self.id} needs {error.name}, which is not installed"
            raise MissingDependency(needed, ",".join(self.extras)) from error
        try:
            return operator.attrgetter(name)(module)
        except AttributeError as error:
            raise InvalidInput(f"{self.id} is registered for {self.target}, but {error}") from error


class Registry(Generic[T]):
    """Ids of one kind of object.

    Parameters
    ----------
    kind : str
        What is registered, in the singular: it appears in messages.
    group : str or None
        Entry-point group through which other distributions add ids; read at the first lookup.

    >>> r = Registry[object]("number")
    >>> r.register("std/fraction", "fractions:Fraction", summary="a rational", numerator=1)
    >>> r.make("fraction", denominator=2)
    Fraction(1, 2)
    """

    def __init__(self, kind: str, group: str | None = None) -> None:
        self.kind = kind
        self.group = group
        self._entries: dict[str, Entry] = {}
        self._folders: list[Path] = []
        self._plugins_read = False

    def register(
        self,
        id: str,
        target: str,
        *,
        summary: str,
        paper: str | None = None,
        extras: tuple[str, ...] = (),
        origin: str = "scisuite",
        **defaults: Any,
    ) -> None:
        """Register ``id`` for ``target`` (``"module:name"``); nothing is imported.

        Raises
        ------
        InvalidInput
            If the id is taken by another target or either string is malformed.
        """
        if not id or id != id.strip() or " " in id:
            raise InvalidInput(f"{self.kind} id {id!r} must be a non-empty word")
        module_name, colon, name = target.partition(":")
        if not (module_name and colon and name):
            raise InvalidInput(f'target of {id!r} must read like "module:name", not {target!r}')
        entry = Entry(id, target, summary, paper, tuple(extras), dict(defaults), origin)
        if id in self._entries and self._entries[id] != entry:
            raise InvalidInput(f"{self.kind} {id!r} is already registered for {self._entries[id].target}")
        self._entries[id] = entry

    def add_folder(self, folder: str | Path) -> None:
        """Read registrations from every ``*.toml`` in ``folder`` and in its subfolders, at the first lookup.

        A file holds ``[[entry]]`` tables with the arguments of :meth:`register`; ``defaults`` is a table.
        """
        self._folders.append(Path(folder))

    def ids(self) -> tuple[str, ...]:
        """All registered ids, sorted."""
        self._read_all()
        return tuple(sorted(self._entries))

    def entry(self, id: str, *, first: str = "") -> Entry:
        """The entry of a full id, or of a short name (the part behind the last ``/``) where that is unique.

        Parameters
        ----------
        id : str
        first : str
            The message names ids that begin so before others.

        Raises
        ------
        UnknownName
            If nothing, or more than one id, matches; the message names the nearest.
        """
        self._read_all()
        if not isinstance(id, str):
            raise InvalidInput(f"{self.kind} id must be a string, not {type(id).__name__}")
        if id in self._entries:
            return self._entries[id]
        matches = [e for e in self._entries.values() if e.short_name == id]
        if len(matches) == 1:
            return matches[0]
        if matches:
            raise UnknownName(f"{self.kind} {id!r} is ambiguous: {', '.join(sorted(e.id for e in matches))}")
        raise UnknownName(f"unknown {self.kind} {id!r}{did_you_mean(id, self._entries, first)}")

    def make(self, id: str, **config: Any) -> T:
        """Build the object of ``id``; ``config`` overrides the registered defaults.

        Raises
        ------
        UnknownName
            If the id is not registered.
        InvalidInput
            If the target does not take one of the arguments.
        MissingDependency
            If an extra is missing; the message holds the ``pip`` command.
        """
        entry = self.entry(id)
        target = entry.load()
        arguments = {**entry.defaults, **config}
        refuse_unknown_arguments(target, arguments, f"{self.kind} {entry.id!r}")
        made: T = target(**arguments)
        if getattr(made, "id", None) == "":
            made.id = entry.id  # type: ignore[attr-defined]
        return made

    def _read_all(self) -> None:
        while self._folders:
            self._read_folder(self._folders[-1])
            self._folders.pop()
        if self.group is not None and not self._plugins_read:
            # Imported here: it reads e-mail headers and zip files, a seventh of a gymnasium import.
            from importlib import metadata

            self._plugins_read = True
            for point in metadata.entry_points(group=self.group):
                self._add_plugin(point)

    def _add_plugin(self, point: EntryPoint) -> None:
        """Register one entry point; one that cannot be is named in a warning, so that the others still work."""
        origin = point.dist.name if point.dist is not None else "unknown"
        target = point.value.partition("[")[0].strip()
        try:
            self.register(point.name, target, summary=f"added by {origin}", origin=origin)
        except InvalidInput as error:
            warnings.warn(f"{self.kind} {point.name!r} of {origin} was left out: {error}", stacklevel=2)

    def _read_folder(self, folder: Path) -> None:
        for path in sorted([*folder.glob("*.toml"), *folder.glob("*/*.toml")]):
            for table in read_entries(path):
                self.register(**table)


_FIELDS = {"id", "target", "summary", "paper", "extras"}


def read_entries(path: Path) -> list[dict[str, Any]]:
    """The ``[[entry]]`` tables of a registration file, as arguments of :meth:`Registry.register`.

    Raises
    ------
    InvalidInput
        If the file is not TOML, or a table lacks a field, has an unknown one, or has a default of a field's name.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{path}: {error}") from error
    tables: list[dict[str, Any]] = []
    for table in document.get("entry", ()):
        arguments = dict(table)
        defaults = arguments.pop("defaults", {})
        where = f"{path}, entry {arguments.get('id', len(tables) + 1)!r}"
        if missing := {"id", "target", "summary"} - set(arguments):
            raise InvalidInput(f"{where} lacks {', '.join(sorted(missing))}")
        if unknown := set(arguments) - _FIELDS:
            raise InvalidInput(
                f"{where} has unknown fields {', '.join(sorted(unknown))}; configuration goes in defaults"
            )
        if taken := set(defaults) & (_FIELDS | {"origin"}):
            raise InvalidInput(f"{where}: defaults may not be called {', '.join(sorted(taken))}")
        arguments["extras"] = tuple(arguments.get("extras", ()))
        tables.append({**arguments, **defaults})
    return tables


def did_you_mean(name: str, known: Any, first: str = "") -> str:
    """``"; did you mean 'a' or 'b'?"`` for the ids nearest to ``name`` (by id or by short name), else a list.

    The list has all ids that begin with ``first``, then others up to twelve in all; of ids that share a short name the
    one that begins so is meant.
    """
    own = sorted(k for k in known if first and k.startswith(first))
    by_short_name = {k.rsplit("/", 1)[-1].lower(): k for k in [*known, *own]} | {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), by_short_name, n=5, cutoff=0.6)
    unique = list(dict.fromkeys(by_short_name[n] for n in near))[:3]
    if unique:
        return f"; did you mean {' or '.join(repr(u) for u in unique)}?"
    listed = own + [k for k in sorted(known) if k not in own][: max(12 - len(own), 0)]
    more = f" and {len(known) - len(listed)} more" if len(known) > len(listed) else ""
    return f"; known: {', '.join(listed)}{more}" if listed else "; none is registered"


def refuse_unknown_arguments(target: Any, arguments: Mapping[str, Any], what: str) -> None:
    """Raise :class:`InvalidInput` if ``target`` does not take one of ``arguments``, or needs one that is not there."""
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        return
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    for name in arguments:
        if name not in parameters and not takes_any:
            known = [p for p in parameters if p != "self"]
            raise InvalidInput(f"{what} has no argument {name!r}{did_you_mean(name, known)}")
    named = [p for p in parameters.values() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if missing := [p.name for p in named if p.default is p.empty and p.name not in arguments]:
        raise InvalidInput(f"{what} needs {', '.join(missing)}")
