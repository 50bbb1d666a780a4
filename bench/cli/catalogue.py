"""``list``, ``info``, ``doctor`` and ``cite``: what there is, and what it needs."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from scisuite.bench.cli.output import console, new_table, print_json_lines, print_table, work_prints_to_stderr
from scisuite.core import InvalidInput

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON only, one object a line.")]


def list_command(
    kind: Annotated[
        str | None, typer.Argument(help="environments, scenarios, solvers, agents or experiments; all by default.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List what is registered, with the extras it needs and whether they are installed."""
    from scisuite.bench.cli.names import KINDS, all_named, read_kind

    kinds = (read_kind(kind),) if kind is not None else KINDS
    named = all_named(*kinds)
    if json:
        print_json_lines(one.to_json() for one in named)
        return
    for each in kinds:
        of_kind = [one for one in named if one.kind == each]
        table = new_table(f"{each}s ({len(of_kind)})", "id", "summary", "paper", "extras", "available")
        for one in of_kind:
            table.add_row(
                one.id, one.summary, one.paper or "–", ", ".join(one.extras) or "–", "yes" if one.available else "no"
            )
        print_table(table)


def info_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="An id or short name of any kind.")],
    json: JsonOption = False,
) -> None:
    """Show one name: summary, arguments with their defaults, spaces, licence, units, claims, whichever it has."""
    from scisuite.bench.cli.facts import facts_about, print_facts
    from scisuite.bench.cli.names import find_named

    with work_prints_to_stderr():
        facts = [facts_about(named) for named in find_named(name)]
    if json:
        print_json_lines(facts)
    else:
        for one in facts:
            print_facts(one)


def doctor_command(json: JsonOption = False) -> None:
    """Show which extras and engines are installed here, and the command that adds each."""
    from scisuite.bench.doctor import diagnose

    with work_prints_to_stderr():
        diagnosis = diagnose()
    if json:
        print_json_lines([diagnosis.to_json()])
        return
    writable = "writable" if diagnosis.cache_writable else "NOT writable: set SCISUITE_CACHE to a folder that is"
    out = console()
    out.print(
        f"scisuite {diagnosis.scisuite}, Python {diagnosis.python}, {diagnosis.platform}, {diagnosis.cores} cores"
    )
    out.print(f"cache {diagnosis.cache} ({writable})\n")
    table = new_table("extras", "extra", "installed", "packages", "to add it")
    for extra in diagnosis.extras:
        packages = [f"{p.name} {p.installed}" if p.ok else f"{p.name} {_lack(p)}" for p in extra.packages]
        table.add_row(extra.name, "yes" if extra.ok else "no", ", ".join(packages), "" if extra.ok else extra.command)
    print_table(table)
    table = new_table("engines", "engine", "here", "detail", "to add it")
    for engine in diagnosis.engines:
        table.add_row(engine.name, "yes" if engine.ok else "no", engine.detail, engine.command or "")
    print_table(table)


def cite_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="A paper's slug or any registered id; scisuite itself if left out."),
    ] = None,
    all_papers: Annotated[bool, typer.Option("--all", help="scisuite and every paper in it.")] = False,
) -> None:
    """Print the BibTeX entry of a paper, or of scisuite."""
    from scisuite.bench.cli.citations import bibtex_of, bibtex_of_everything, bibtex_of_scisuite

    if all_papers and name is not None:
        raise InvalidInput("cite takes a name or --all, not both")
    if all_papers:
        entries = bibtex_of_everything()
    else:
        entries = bibtex_of(name) if name is not None else [bibtex_of_scisuite()]
    print("\n\n".join(entries))


def _lack(package: Any) -> str:
    return "missing" if package.installed is None else f"{package.installed} (needs {package.required})"
