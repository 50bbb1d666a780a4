"""The contract of a method: fit, predict, evaluate, save, load, and be called as a tool."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from scisuite.core import Budget, DamagedFile, InvalidInput, NewerFormat, NotFitted, Tool, __version__
from scisuite.core.files import jsonable, read_json, sha256, write_atomic, write_json
from scisuite.scenarios import Scenario

FORMAT = "scisuite-solver"
FORMAT_VERSION = 1

T = TypeVar("T", str, dict[str, Any])


@dataclass
class FitReport:
    """What a fit was allowed and what it took.

    ``budget`` is what was asked, ``used`` what was spent in the same unit, ``history`` one mapping of figures per
    step or evaluation.
    """

    budget: str
    used: float
    cpu_seconds: float
    history: list[dict[str, Any]] = field(default_factory=list)


class Solver(ABC):
    """A paper's method. Build one with ``solvers.make("labo", **config)``.

    A subclass sets ``id``, keeps the arguments that built it in ``config`` (JSON: ``type(self)(**config)`` is the same
    solver, unfitted) and what was learnt in attributes that :meth:`_state` returns and :meth:`_restore` takes back:
    JSON values and NumPy arrays, never pickles. A fitted solver can be deep-copied and pickled, to be sent to a worker.
    """

    id: ClassVar[str]
    example: ClassVar[tuple[str, str]] = ("functions/quadratic2", "8 evaluations")
    """A small scenario and a budget on which the contract suite fits the solver."""
    config: dict[str, Any]
    fit_report: FitReport | None = None

    @abstractmethod
    def fit(self, scenario: Scenario, *, seed: int, budget: Budget | str) -> Self:
        """Learn from ``scenario`` within ``budget``; the same seed gives the same result.

        Raises
        ------
        InvalidInput
            If the scenario is of a kind the method does not take, or the seed or budget is no such thing. Nothing
            has changed then.
        """

    @abstractmethod
    def predict(self, inputs: Any) -> Any:
        """Predict for ``inputs``; :class:`~scisuite.core.NotFitted` before :meth:`fit` or ``load``."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What was learnt: a JSON mapping and named arrays."""

    @abstractmethod
    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        """Take back what :meth:`_state` gave."""

    def evaluate(self, scenario: Any, split: str = "test") -> dict[str, float]:
        """Figures of merit on a split of a data scenario."""
        return dict(scenario.metrics(self.predict(scenario.inputs(split)), split))

    def as_tool(self) -> Tool:
        """The fitted solver as a function that a language-model agent can call."""
        schema = {
            "type": "object",
            "properties": {"inputs": {"type": "array", "description": "rows of numbers", "items": {"type": "array"}}},
            "required": ["inputs"],
        }
        description = f"Predict with a fitted {self.id} model."
        return Tool(self.id, description, schema, lambda a: {"prediction": jsonable(self.predict(a["inputs"]))})

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the fitted solver into ``folder`` as safetensors and JSON.

        The tensor file, named by its content, goes in first and ``solver.json``, which names it, last and at once: a
        save that is killed leaves the earlier one whole.

        Raises
        ------
        NotFitted
            Before ``fit``.
        InvalidInput
            If the folder cannot be written, or the configuration or state has no such form. Nothing is written then.
        EngineFailure
            If the disk is full or fails; an earlier save is left as it was.
        """
        self._require_fitted()
        from safetensors import SafetensorError
        from safetensors.numpy import save as to_safetensors

        folder = Path(folder)
        state, tensors = self._state()
        # Not ascontiguousarray: it gives a 0-d array a dimension.
        arrays = {name: np.asarray(value, order="C") for name, value in tensors.items()}
        try:
            content = to_safetensors(arrays)
        except (SafetensorError, TypeError) as error:
            raise InvalidInput(f"the arrays of {self.id} cannot be saved: {error}") from error
        digest = sha256(content)
        file = f"tensors-{digest[:8]}.safetensors"
        report = asdict(self.fit_report) if self.fit_report is not None else None
        header = jsonable(
            {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "solver": self.id,
                "package": __version__,
                "config": self.config,
                "state": {"solver": state, "fit_report": report},
                "tensors": {"file": file, "sha256": digest},
            }
        )
        previous = folder / "solver.json"
        old = None
        if previous.is_file():
            with contextlib.suppress(InvalidInput, KeyError, TypeError):
                old = str(read_json(previous)["tensors"]["file"])
        write_atomic(folder / file, content)
        try:
            write_json(previous, header)
        except BaseException:
            if file != old:
                with contextlib.suppress(OSError):
                    (folder / file).unlink()
            raise
        if old is not None and old != file and Path(old).name == old and old.startswith("tensors-"):
            with contextlib.suppress(OSError):
                (folder / old).unlink()

    def _require_fitted(self) -> None:
        if self.fit_report is None:
            raise NotFitted(
                f"{self.id} has not been fitted; call fit(scenario, seed=…, budget=…) or solvers.load first"
            )


def read_saved(folder: str | os.PathLike[str]) -> tuple[str, dict[str, Any], dict[str, Any], dict[str, np.ndarray]]:
    """Read and verify a saved solver: its id, configuration, state and tensors. Nothing is built.

    Raises
    ------
    InvalidInput
        If there is no saved solver.
    DamagedFile
        If the header is not what ``save`` writes or the tensors do not match their checksum.
    NewerFormat
        If it was written by a later version of the format.
    """
    folder = Path(folder)
    header = read_json(folder / "solver.json")
    if not isinstance(header, Mapping) or header.get("format") != FORMAT:
        raise DamagedFile(f"{folder / 'solver.json'} is not a saved solver")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise DamagedFile(f"{folder / 'solver.json'}: version {version!r} is not a version")
    if version > FORMAT_VERSION:
        raise NewerFormat(
            f"{folder} was saved in format {version} by scisuite {header.get('package')}; this one reads up to "
            f"{FORMAT_VERSION}: upgrade scisuite"
        )
    solver, config = _field(folder, header, "solver", str), _field(folder, header, "config", dict)
    state = _field(folder, header, "state", dict)
    named = _field(folder, header, "tensors", dict)
    file, digest = _field(folder, named, "file", str), _field(folder, named, "sha256", str)
    if Path(file).name != file:
        raise DamagedFile(f"{folder / 'solver.json'} names a tensor file outside its folder: {file!r}")
    try:
        content = (folder / file).read_bytes()
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{folder / 'solver.json'}: cannot read the tensor file {file!r}: {error}") from error
    if sha256(content) != digest:
        raise DamagedFile(f"{folder / file} does not match its checksum")
    from safetensors import SafetensorError
    from safetensors.numpy import load as from_safetensors

    try:
        tensors = from_safetensors(content)
    except SafetensorError as error:
        raise DamagedFile(f"{folder / file}: {error}") from error
    return solver, config, state, tensors


def restore(solver: Solver, state: Mapping[str, Any], tensors: dict[str, np.ndarray]) -> Solver:
    """Put saved state into a newly made ``solver``.

    Raises
    ------
    DamagedFile
        If the state is not what the solver's ``save`` wrote.
    """
    try:
        report = FitReport(**state["fit_report"])
        solver._restore(dict(state["solver"]), tensors)
    except InvalidInput:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise DamagedFile(f"the saved state of {solver.id} is damaged: {reason}") from error
    solver.fit_report = report
    return solver


def _field(folder: Path, table: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = table.get(name)
    if not isinstance(value, kind):
        wanted = {str: "text", dict: "an object"}[kind]
        what = f"lacks {name}" if name not in table else f"{name} is a {type(value).__name__}, not {wanted}"
        raise DamagedFile(f"{folder / 'solver.json'}: {what}")
    return value
