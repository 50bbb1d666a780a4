"""``new``: the files of a paper that is to be added."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scisuite.bench.cli.output import say


def new_command(
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="The paper's name: lower-case letters, digits and underscores.")
    ],
    title: Annotated[str | None, typer.Option(help="The paper's title; the slug by default.")] = None,
    path: Annotated[Path, typer.Option(help="A source checkout of scisuite.")] = Path("."),
) -> None:
    """Lay the files of a new paper in a source checkout: a small method that works, to be replaced."""
    from scisuite.bench.scaffold import lay_paper

    written = lay_paper(slug, title=title, checkout=path)
    for file in written:
        print(file.relative_to(path) if file.is_relative_to(path) else file)
    say(f"{slug} works as it is: pytest -k {slug}, scisuite bench {slug} --tier smoke. Each file says what to replace.")
