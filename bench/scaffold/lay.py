"""Which files a new paper has, and how they are written: all of them or none."""

from __future__ import annotations

import contextlib
import datetime
import json
import keyword
import re
import textwrap
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from scisuite.core import InvalidInput
from scisuite.core.files import write_atomic

LONGEST_SLUG = 20
RESERVED = ("training", "peers")
"""Folders that papers share, whether or not they are there yet."""
FOLDERS = ("core", "scenarios", "solvers", "envs", "agents", "bench/experiments", "tests", "docs")

FILES: Mapping[str, str] = {
    "solvers/{slug}/__init__.py": "solver_init.py.txt",
    "solvers/{slug}/method.py": "method.py.txt",
    "solvers/{slug}/solver.py": "solver.py.txt",
    "solvers/{slug}/solver.toml": "solver_toml.txt",
    "envs/{slug}/__init__.py": "env_init.py.txt",
    "envs/{slug}/env.py": "env.py.txt",
    "envs/{slug}/env.toml": "env_toml.txt",
    "agents/{slug}.py": "agent.py.txt",
    "agents/{slug}.toml": "agent_toml.txt",
    "bench/experiments/{slug}.py": "experiment.py.txt",
    "bench/experiments/{slug}.toml": "experiment_toml.txt",
    "docs/papers/{slug}.md": "page.md.txt",
    "docs/environments/{slug}.md": "env_page.md.txt",
    "docs/environments/{slug}_png.py": "env_png.py.txt",
    "docs/environments/{slug}.png": "env.png",
    "tests/solvers/{slug}/test_{slug}_method.py": "test_method.py.txt",
    "tests/envs/{slug}/test_{slug}_env.py": "test_env.py.txt",
    "tests/agents/test_{slug}_agent.py": "test_agent.py.txt",
    "tests/bench/test_{slug}_experiment.py": "test_experiment.py.txt",
}
"""Where each file of a paper goes, and the template in ``data/`` that it is made from."""


def lay_paper(slug: str, *, title: str | None = None, checkout: str | Path = ".") -> list[Path]:
    """Write the files of a new paper into a source checkout.

    Parameters
    ----------
    slug : str
        Lower-case letters, digits and underscores, beginning with a letter; at most 20 characters.
    title : str or None
        The paper's title, one line.
    checkout : path
        The root of a checkout: it holds scisuite's ``pyproject.toml`` and folders.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InvalidInput
        If the slug is no Python name or is taken, a file or folder is already there, or this is no checkout of
        scisuite. Nothing has been written then.
    EngineFailure
        If the disk fails half-way. What had been written is removed.
    """
    root = Path(checkout)
    _require_slug(slug)
    _require_checkout(root)
    _require_free(slug, root)
    contents = planned_files(slug, title)
    written: list[Path] = []
    made: list[Path] = []
    try:
        for name, content in contents.items():
            path = root / name
            made += [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            write_atomic(path, content)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        for folder in sorted(set(made), key=lambda f: -len(f.parts)):
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
    return written


def planned_files(slug: str, title: str | None = None) -> dict[str, str | bytes]:
    """The files of a new paper, by their place in the checkout, with their text (the picture: bytes).

    Raises
    ------
    InvalidInput
        If the slug is no Python name or the title is not one line of text.
    """
    _require_slug(slug)
    title = (title if title is not None else slug).strip()
    if not title or not title.isprintable():
        raise InvalidInput(f"title must be one line of text, not {title!r}")
    values = {
        "__SLUG__": slug,
        "__CLASS__": class_name(slug),
        "__TITLE__": json.dumps(title, ensure_ascii=False),
        "__PYTHON_TITLE__": _python_string(title),
        "__MARKDOWN_TITLE__": re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", title),
        "__YEAR__": str(datetime.date.today().year),
    }
    # One pass, so that a title that looks like a placeholder stays what it is.
    pattern = re.compile("|".join(sorted(values, key=len, reverse=True)))
    templates = resources.files("scisuite.bench.scaffold") / "data"
    files: dict[str, str | bytes] = {}
    for place, template in FILES.items():
        content = (templates / template).read_bytes()
        is_text = template.endswith(".txt")
        filled = pattern.sub(lambda found: values[found.group()], content.decode("utf-8")) if is_text else content
        files[place.format(slug=slug)] = filled
    return files


def class_name(slug: str) -> str:
    """``heat_flow`` → ``HeatFlow``."""
    return "".join(part[:1].upper() + part[1:] for part in slug.split("_"))


def _require_slug(slug: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", slug) or len(slug) > LONGEST_SLUG:
        raise InvalidInput(
            f"{slug!r} cannot be a slug: it takes lower-case letters, digits and single underscores, a letter first, "
            f"at most {LONGEST_SLUG} characters"
        )
    if keyword.iskeyword(slug) or keyword.issoftkeyword(slug):
        raise InvalidInput(f"{slug!r} is a word of Python and cannot name a module")


def _require_checkout(root: Path) -> None:
    project = root / "pyproject.toml"
    try:
        name = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("name")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        name = None
    missing = [folder for folder in FOLDERS if not (root / folder).is_dir()]
    if name != "scisuite" or missing:
        lack = f"it has no {missing[0]}/" if name == "scisuite" else "its pyproject.toml does not name scisuite"
        raise InvalidInput(f"{root} is not a source checkout of scisuite: {lack}; clone one, or pass --path")


def _require_free(slug: str, root: Path) -> None:
    if slug in RESERVED:
        raise InvalidInput(f"{slug!r} is taken: solvers/{slug}/ is for what several papers share")
    for folder in ("core", "scenarios", "solvers", "envs", "agents", "bench/experiments", "bench/commands"):
        for path in (root / folder / slug, root / folder / f"{slug}.py", root / folder / f"{slug}.toml"):
            if path.exists():
                raise InvalidInput(f"{slug!r} is taken: there is {path}")
    environment = f"sci/{class_name(slug)}-v0"
    for path in sorted((root / "envs").glob("*/env.toml")):
        if any(table.get("id") == environment for table in tomllib.loads(path.read_text()).get("env", ())):
            raise InvalidInput(f"{slug!r} is taken: {path} registers {environment}")
    for place in FILES:
        if (path := root / place.format(slug=slug)).exists():
            raise InvalidInput(f"{path} exists already; nothing was written")


def _python_string(title: str) -> str:
    """``title`` as a Python literal; a long one as several in parentheses, so that no line is over 120 characters."""
    literal = _literal(title)
    if len(literal) <= 100:
        return literal
    parts = textwrap.wrap(title, 80, drop_whitespace=False, break_on_hyphens=False)
    lines = "\n".join(f"            {_literal(part)}" for part in parts)
    return f"(\n{lines}\n        )"


def _literal(text: str) -> str:
    """A Python string in the quotes that need fewer escapes, as ruff formats it."""
    escaped = text.replace("\\", "\\\\")
    quote = "'" if text.count('"') > text.count("'") else '"'
    return quote + escaped.replace(quote, "\\" + quote) + quote
