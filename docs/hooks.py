"""MkDocs hook: the options of every command, read from the command line itself, so that the page cannot fall behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

MARK = "<!-- the commands and their options -->"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the commands in the place of the mark."""
    return markdown.replace(MARK, "\n".join(commands())) if MARK in markdown else markdown


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
