"""MkDocs hooks: the pages of papers, the options of every command, and equations as MathML, which needs no network."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

MARK = "<!-- the commands and their options -->"
_EQUATION = re.compile(r'<(div|span) class="arithmatex">\\([\[(])(.*?)\\[\])]</\1>', re.DOTALL)


def on_config(config: Any) -> Any:
    """Put the pages of a folder in the place of ``folder/*`` in the navigation."""
    for section in config.nav:
        for title, target in section.items():
            if isinstance(target, str) and target.endswith("/*"):
                section[title] = pages(Path(config.docs_dir), target.removesuffix("/*"))
    return config


def pages(docs: Path, folder: str) -> list[str]:
    """The pages of a folder, by name; MkDocs calls them what their first heading says."""
    return sorted(page.relative_to(docs).as_posix() for page in (docs / folder).glob("*.md"))


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the commands in the place of the mark."""
    return markdown.replace(MARK, "\n".join(commands())) if MARK in markdown else markdown


def on_page_content(content: str, **_: Any) -> str:
    """Put MathML in the place of TeX."""
    return _EQUATION.sub(_mathml, content)


def _mathml(found: re.Match[str]) -> str:
    display = "block" if found[2] == "[" else "inline"
    tag = found[1]
    return f'<{tag} class="arithmatex">{convert(html.unescape(found[3]), display=display)}</{tag}>'


def commands() -> Iterator[str]:
    """Markdown, line by line."""
    from typer.main import get_command

    from scisuite.bench.cli import app

    root: Any = get_command(app)
    for name in root.list_commands(None):
        command = root.get_command(None, name)
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option"]
        usage = " ".join(["scisuite", name, *("[OPTIONS]" for _ in options[:1]), *(_usage(a) for a in arguments)])
        yield from (f"### {name}", "", f"`{usage}`", "", command.help or "", "")
        rows = [(f"`{_usage(a)}`", getattr(a, "help", "") or "") for a in arguments]
        rows += [(", ".join(f"`{o}`" for o in (*p.opts, *p.secondary_opts)), _described(p)) for p in options]
        if rows:
            yield from ("| argument or option | |", "|---|---|")
            yield from (f"| {left} | {right} |" for left, right in rows)
            yield ""


def _usage(argument: Any) -> str:
    name = (argument.metavar or argument.name).strip("[]{}….").upper()
    name += "…" if argument.nargs == -1 else ""
    return name if argument.required else f"[{name}]"


def _described(option: Any) -> str:
    text = " ".join((option.help or "").split()).replace("|", "\\|")
    default = option.default
    if isinstance(default, str | int) and not isinstance(default, bool) and default != "":
        text += f" Default: `{default}`."
    return text
