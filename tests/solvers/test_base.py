"""Saving and loading any solver: what comes back, what is refused, and what a save that fails leaves."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from scisuite import scenarios, solvers
from scisuite.core import Budget, DamagedFile, EngineFailure, InvalidInput, NewerFormat, NotFitted, UnknownName
from scisuite.core.files import sha256
from scisuite.solvers import base
from scisuite.solvers.base import FitReport, Solver, read_saved, restore

INPUTS = np.array([[0.0, 0.5], [1.0, 0.25]])


class Line(Solver):
    """Predicts ``slope`` times the sum of the inputs."""

    id = "toy-line"

    def __init__(self, note: Any = "") -> None:
        self.config = {"note": note}
        self.arrays: dict[str, np.ndarray] = {}

    def fit(self, scenario: Any, *, seed: int, budget: Budget | str) -> Self:
        self.arrays = {"slope": np.asarray(float(seed))}
        self.fit_report = FitReport(str(budget), 1.0, 0.0, [{"step": 0, "loss": 0.5}])
        return self

    def predict(self, inputs: Any) -> np.ndarray:
        self._require_fitted()
        return self.arrays["slope"] * np.asarray(inputs).sum(axis=1)

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"names": sorted(self.arrays)}, self.arrays

    def _restore(self, state: dict[str, Any], tensors: dict[str, np.ndarray]) -> None:
        self.arrays = {name: tensors[name] for name in state["names"]}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    solvers.registry.ids()
    monkeypatch.setattr(solvers.registry, "_entries", dict(solvers.registry._entries))
    solvers.registry.register("toy-line", f"{__name__}:Line", summary="for tests")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    fitted(3).save(tmp_path / "saved")
    return tmp_path / "saved"


def fitted(seed: int, note: Any = "") -> Line:
    return Line(note).fit(None, seed=seed, budget="1 steps")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def header_of(folder: Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads((folder / "solver.json").read_text())
    return header


def rewrite(folder: Path, header: Any) -> None:
    (folder / "solver.json").write_text(json.dumps(header))


def tensors_of(folder: Path) -> Path:
    return folder / header_of(folder)["tensors"]["file"]


def refused(folder: Path, kind: type[Exception], match: str) -> None:
    """Loading raises and touches no file."""
    before = contents(folder)
    with pytest.raises(kind, match=match):
        solvers.load(folder)
    assert contents(folder) == before


def test_what_is_saved_comes_back(saved: Path) -> None:
    loaded = solvers.load(saved)
    assert type(loaded) is Line
    assert loaded.config == {"note": ""}
    assert loaded.fit_report == FitReport("1 steps", 1.0, 0.0, [{"step": 0, "loss": 0.5}])
    assert np.array_equal(loaded.predict(INPUTS), [1.5, 3.75])


def test_the_files_are_json_with_a_version_and_safetensors_with_a_checksum(saved: Path) -> None:
    header = header_of(saved)
    content = tensors_of(saved).read_bytes()
    assert (header["format"], header["version"], header["solver"]) == ("scisuite-solver", 1, "toy-line")
    assert header["tensors"] == {"file": f"tensors-{sha256(content)[:8]}.safetensors", "sha256": sha256(content)}
    assert sorted(contents(saved)) == ["solver.json", header["tensors"]["file"]]


def test_saving_again_replaces_both_files(saved: Path) -> None:
    old = tensors_of(saved)
    fitted(5).save(str(saved))
    assert not old.exists()
    assert len(contents(saved)) == 2
    assert solvers.load(str(saved)).predict(INPUTS)[0] == 2.5


def test_saving_over_a_damaged_header_mends_it(saved: Path) -> None:
    (saved / "solver.json").write_text("{")
    fitted(5).save(saved)
    assert solvers.load(saved).predict(INPUTS)[0] == 2.5


def test_a_header_cannot_make_a_save_delete_another_file(saved: Path) -> None:
    for name in ("notes.txt", "../tensors-x"):
        (saved / name).write_text("mine")
        rewrite(saved, header_of(saved) | {"tensors": {"file": name}})
        fitted(5).save(saved)
        assert (saved / name).read_text() == "mine"


@given(
    st.dictionaries(
        st.text(max_size=4).filter(lambda name: name != "__metadata__"),
        arrays.arrays(
            st.sampled_from(["f8", "f4", "i8", "u1", "?", ">f8"]),
            arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
        ),
        max_size=3,
    )
)
def test_arrays_come_back_to_the_bit_whatever_their_shape_and_layout(
    tmp_path_factory: pytest.TempPathFactory, given: dict[str, np.ndarray]
) -> None:
    folder = tmp_path_factory.mktemp("arrays")
    solver = fitted(0)
    solver.arrays = {name: array.T for name, array in given.items()}
    solver.save(folder)
    loaded = solvers.load(folder)
    assert isinstance(loaded, Line)
    assert set(loaded.arrays) == set(given)
    for name, array in given.items():
        back = loaded.arrays[name]
        assert back.shape == array.T.shape
        assert back.dtype == array.dtype.newbyteorder("=")
        assert back.tobytes() == np.asarray(array.T, dtype=back.dtype, order="C").tobytes()


@pytest.mark.parametrize(
    "action",
    [
        lambda solver, folder: solver.predict(INPUTS),
        lambda solver, folder: solver.save(folder / "new"),
        lambda solver, folder: solver.evaluate(Data()),
        lambda solver, folder: solver.as_tool().call({"inputs": [[1.0]]}),
    ],
    ids=["predict", "save", "evaluate", "tool"],
)
def test_before_fit(tmp_path: Path, action: Callable[[Line, Path], Any]) -> None:
    with pytest.raises(NotFitted, match=r"toy-line has not been fitted; call fit\(scenario, seed=…, budget=…\) or"):
        action(Line(), tmp_path)
    assert not list(tmp_path.iterdir())


class Data(scenarios.DataScenario):
    def describe(self) -> scenarios.Description:
        return scenarios.Description("toy", "toy", "toy", "CC0", False)

    def inputs(self, split: str) -> np.ndarray:
        return {"test": INPUTS, "train": INPUTS[:1]}[split]

    def targets(self, split: str) -> np.ndarray:
        return self.inputs(split).sum(axis=1)

    def metrics(self, prediction: Any, split: str) -> dict[str, float]:
        return {"mae": float(np.abs(prediction - self.targets(split)).mean())}


def test_evaluate_and_the_tool_speak_of_the_same_predictions() -> None:
    solver = fitted(3)
    assert solver.evaluate(Data()) == {"mae": 1.75}
    assert solver.evaluate(Data(), "train") == {"mae": 1.0}
    tool = solver.as_tool()
    assert tool.call({"inputs": INPUTS.tolist()}) == {"prediction": [1.5, 3.75]}
    with pytest.raises(InvalidInput, match="toy-line needs inputs"):
        tool.call({})


# --- what cannot be loaded


def test_no_folder_and_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no such file: .*absent/solver\.json"):
        solvers.load(tmp_path / "absent")
    refused(tmp_path, InvalidInput, r"no such file: .*solver\.json")


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match=r"cannot read .*file/solver\.json: Not a directory"):
        solvers.load(tmp_path / "file")
    with pytest.raises(InvalidInput, match=r"cannot write .*file/tensors-"):
        fitted(3).save(tmp_path / "file")
    assert contents(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "\x00", "nonsense", "[" * 100_000])
def test_a_header_that_is_not_json(saved: Path, text: str) -> None:
    (saved / "solver.json").write_text(text)
    refused(saved, DamagedFile, r"solver\.json is not valid JSON")


def test_a_truncated_header(saved: Path) -> None:
    whole = (saved / "solver.json").read_bytes()
    for kept in range(0, len(whole) - 2, 37):
        (saved / "solver.json").write_bytes(whole[:kept])
        refused(saved, DamagedFile, "is not valid JSON")


@pytest.mark.parametrize("header", [None, 3, [], "text", {}, {"format": "other"}, {"format": ["scisuite-solver"]}])
def test_json_that_is_not_a_solver(saved: Path, header: Any) -> None:
    rewrite(saved, header)
    refused(saved, DamagedFile, r"solver\.json is not a saved solver")


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, True, None, []])
def test_a_version_that_is_none(saved: Path, version: Any) -> None:
    rewrite(saved, header_of(saved) | {"version": version})
    refused(saved, DamagedFile, r"solver\.json: version .* is not a version")


def test_a_newer_version_names_the_package_that_wrote_it(saved: Path) -> None:
    rewrite(saved, {"format": "scisuite-solver", "version": 2, "package": "9.9", "layout": "unheard of"})
    refused(saved, NewerFormat, r"was saved in format 2 by scisuite 9\.9; this one reads up to 1: upgrade scisuite")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"solver": 5}, r"solver\.json: solver is a int, not text"),
        ({"config": "abc"}, r"solver\.json: config is a str, not an object"),
        ({"config": [["note", 1]]}, r"solver\.json: config is a list, not an object"),
        ({"state": None}, r"solver\.json: state is a NoneType, not an object"),
        ({"tensors": ["a"]}, r"solver\.json: tensors is a list, not an object"),
        ({"tensors": {"sha256": "0"}}, r"solver\.json: lacks file"),
        ({"tensors": {"file": 7, "sha256": "0"}}, r"solver\.json: file is a int, not text"),
        ({"tensors": {"file": "a", "sha256": None}}, r"solver\.json: sha256 is a NoneType, not text"),
    ],
)
def test_a_field_of_another_type(saved: Path, change: dict[str, Any], match: str) -> None:
    rewrite(saved, header_of(saved) | change)
    refused(saved, DamagedFile, match)


@pytest.mark.parametrize("name", ["solver", "config", "state", "tensors"])
def test_a_field_that_is_missing(saved: Path, name: str) -> None:
    header = header_of(saved)
    del header[name]
    rewrite(saved, header)
    refused(saved, DamagedFile, rf"solver\.json: lacks {name}")


@pytest.mark.parametrize("file", ["../secret", "/etc/hostname", "a/b", "./a", "."])
def test_a_tensor_file_outside_the_folder(saved: Path, file: str) -> None:
    (saved.parent / "secret").write_bytes(b"x")
    rewrite(saved, header_of(saved) | {"tensors": {"file": file, "sha256": sha256(b"x")}})
    refused(saved, DamagedFile, "names a tensor file outside its folder")


@pytest.mark.parametrize("file", ["", "..", "absent", "a\0b", "\ud800", "a" * 300])
def test_a_tensor_file_that_cannot_be_read(saved: Path, file: str) -> None:
    rewrite(saved, header_of(saved) | {"tensors": {"file": file, "sha256": "0"}})
    refused(saved, DamagedFile, r"solver\.json: cannot read the tensor file")


def test_a_tensor_file_that_was_deleted(saved: Path) -> None:
    tensors_of(saved).unlink()
    refused(saved, DamagedFile, "cannot read the tensor file 'tensors-.*No such file")


def test_a_truncated_or_altered_tensor_file(saved: Path) -> None:
    path = tensors_of(saved)
    whole = path.read_bytes()
    for content in (whole[:-1], b"", whole + b"\0", whole[:-1] + bytes([whole[-1] ^ 1])):
        path.write_bytes(content)
        refused(saved, DamagedFile, r"tensors-.* does not match its checksum")


@pytest.mark.parametrize("content", [b"", b"no safetensors at all", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0[]"])
def test_a_checksum_that_matches_nonsense(saved: Path, content: bytes) -> None:
    tensors_of(saved).write_bytes(content)
    header = header_of(saved)
    rewrite(saved, header | {"tensors": header["tensors"] | {"sha256": sha256(content)}})
    refused(saved, DamagedFile, r"tensors-.*: .*(header|Header)")


@pytest.mark.parametrize(
    ("state", "match"),
    [
        ({}, "the saved state of toy-line is damaged: lacks 'fit_report'"),
        ({"fit_report": None, "solver": {"names": ["slope"]}}, "toy-line is damaged: .*must be a mapping"),
        ({"fit_report": {"budget": "1 steps"}, "solver": {}}, "toy-line is damaged: .*missing 2 required"),
        ({"solver": {"names": ["other"]}}, "toy-line is damaged: lacks 'other'"),
        ({"solver": {"names": 3}}, "toy-line is damaged: 'int' object is not iterable"),
        ({"solver": "abc"}, "toy-line is damaged: dictionary update"),
    ],
)
def test_a_state_that_the_solver_does_not_know(saved: Path, state: dict[str, Any], match: str) -> None:
    header = header_of(saved)
    rewrite(saved, header | {"state": state if not state or "fit_report" in state else header["state"] | state})
    refused(saved, DamagedFile, match)


def test_a_state_that_is_refused_leaves_the_solver_unfitted(saved: Path) -> None:
    _, _, state, tensors = read_saved(saved)
    solver = Line()
    for bad in (state | {"fit_report": {}}, state | {"solver": {}}):
        with pytest.raises(DamagedFile, match="toy-line is damaged"):
            restore(solver, bad, tensors)
        assert solver.fit_report is None
        assert solver.arrays == {}


def test_an_unknown_solver(saved: Path) -> None:
    rewrite(saved, header_of(saved) | {"solver": "toy-lime"})
    refused(saved, UnknownName, "unknown solver 'toy-lime'; did you mean 'toy-line'")


def test_a_configuration_that_the_solver_does_not_take(saved: Path) -> None:
    rewrite(saved, header_of(saved) | {"config": {"notes": "x"}})
    refused(saved, InvalidInput, "solver 'toy-line' has no argument 'notes'; did you mean 'note'")


# --- what a save that fails leaves


@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda solver: solver.config.update(note=object()), "has no JSON form"),
        (lambda solver: solver.arrays.update(words=np.array(["a"])), "the arrays of toy-line cannot be saved: .*str"),
        (lambda solver: solver.arrays.update(any=np.array([None])), "the arrays of toy-line cannot be saved: .*object"),
    ],
)
def test_what_has_no_form_on_disk_is_refused_before_anything_is_written(
    saved: Path, tmp_path: Path, spoil: Callable[[Line], None], match: str
) -> None:
    solver = fitted(5)
    spoil(solver)
    before = contents(saved)
    for folder in (saved, tmp_path / "new"):
        with pytest.raises(InvalidInput, match=match):
            solver.save(folder)
    assert contents(saved) == before
    assert not (tmp_path / "new").exists()


class Killed(BaseException):
    pass


@pytest.mark.parametrize("last", [1, 2])
def test_a_save_that_is_killed_leaves_the_old_one(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    """The folder is looked at as it lies before each rename: nothing tidies up after a process that is killed."""
    renames: list[Path] = []

    def replace(source: Any, target: Any) -> None:
        renames.append(Path(target))
        if len(renames) == last:
            shutil.copytree(saved, tmp_path / "as-left")
            raise Killed
        os.rename(source, target)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(os, "replace", replace)
        fitted(5).save(saved)
    assert [path.suffix for path in renames] == [".safetensors", ".json"][:last]
    left = tmp_path / "as-left"
    assert len(contents(left)) == 2 + last
    assert solvers.load(left).predict(INPUTS)[0] == 1.5
    fitted(5).save(left)
    assert solvers.load(left).predict(INPUTS)[0] == 2.5


@pytest.mark.parametrize("failing", ["write_atomic", "write_json"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), EngineFailure("cannot write")])
def test_a_save_that_is_interrupted_leaves_the_folder_as_it_was(
    saved: Path, monkeypatch: pytest.MonkeyPatch, failing: str, error: BaseException
) -> None:
    def fail(*_: Any) -> None:
        raise error

    before = contents(saved)
    with monkeypatch.context() as patch:
        patch.setattr(base, failing, fail)
        for seed in (3, 5):
            with pytest.raises(type(error)):
                fitted(seed, note="new").save(saved)
            assert contents(saved) == before
    assert solvers.load(saved).predict(INPUTS)[0] == 1.5


@pytest.mark.parametrize("fits", [0, 1])
def test_a_full_disk(saved: Path, monkeypatch: pytest.MonkeyPatch, fits: int) -> None:
    synced: list[int] = []

    def fsync(file: int) -> None:
        synced.append(file)
        if len(synced) > fits:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = contents(saved)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        name = ("tensors-", "solver.json")[fits]
        with pytest.raises(EngineFailure, match=rf"cannot write .*{name}.*: No space left on device"):
            fitted(5).save(saved)
    assert contents(saved) == before
    assert solvers.load(saved).predict(INPUTS)[0] == 1.5


def test_a_folder_that_may_not_be_written(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: Any, target: Any) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    before = contents(saved)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(InvalidInput, match=r"cannot write .*: Permission denied"):
            fitted(5).save(saved)
    assert contents(saved) == before
