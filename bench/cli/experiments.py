"""``bench`` and ``report``: running experiments, judging their claims, and writing the page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from scisuite.bench.cli.failures import FAILED, termination_interrupts
from scisuite.bench.cli.output import print_json_lines, print_table, say, work_prints_to_stderr
from scisuite.bench.experiment import Claim, Experiment
from scisuite.core import InvalidInput

BACKENDS = ("loky", "ray", "dask")


@dataclass(frozen=True)
class Selection:
    """What is to run of one experiment: ``None`` stands for everything of the tier."""

    experiment: Experiment
    arms: tuple[str, ...] | None
    claims: tuple[Claim, ...]
    claim_ids: tuple[str, ...] | None


@termination_interrupts()
def bench_command(
    slugs: Annotated[list[str] | None, typer.Argument(metavar="SLUG…", help="One or more experiments.")] = None,
    tier: Annotated[str, typer.Option(help="smoke, quick or full.")] = "quick",
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds a cell; the tier's own number by default.")] = None,
    arm: Annotated[list[str] | None, typer.Option(help="Only this arm. Repeatable.")] = None,
    claim: Annotated[list[str] | None, typer.Option(help="Only what this claim needs. Repeatable.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Workers; all cores by default.")] = None,
    backend: Annotated[str, typer.Option(help="loky, ray or dask.")] = "loky",
    out: Annotated[Path, typer.Option(help="Folder of the rows; a second run goes on from what is there.")] = Path(
        "runs"
    ),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many cells there are and how long they take.")
    ] = False,
    repeat: Annotated[
        Path | None, typer.Option(metavar="ROW.json", help="Run one row again and compare; exit code 1 if it differs.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object an experiment.")] = False,
) -> None:
    """Run experiments and judge their claims."""
    if repeat is not None:
        if slugs:
            raise InvalidInput("--repeat takes a row, which names its experiment: leave the slugs out")
        _repeat(repeat, json)
        return
    if backend not in BACKENDS:
        raise InvalidInput(f"unknown backend {backend!r}; there are {', '.join(BACKENDS)}")
    if out.exists() and not out.is_dir():
        raise InvalidInput(f"--out {out} is a file, not a folder")
    with work_prints_to_stderr():
        selections = select(slugs or [], arm or [], claim or [])
        _require_tier(selections, tier)
    if dry_run:
        _dry_run(selections, tier, seeds, jobs, out, json)
        return

    from scisuite.bench.cli.results import Result, bench_command_line, print_result

    failed = False
    for selection in selections:
        slug = selection.experiment.slug
        command = bench_command_line(slug, tier, seeds, selection.arms, selection.claim_ids, backend, out)
        try:
            with work_prints_to_stderr():
                from scisuite.bench.report import write_html
                from scisuite.bench.runner import run

                rows = run(
                    selection.experiment,
                    tier,
                    seeds=seeds,
                    arms=selection.arms,
                    claims=selection.claim_ids,
                    jobs=jobs,
                    backend=backend,
                    out=out,
                    on_damaged=_say_left_out,
                )
                claims = selection.claims
                if selection.claim_ids is None:
                    claims = tuple(c for c in claims if c in selection.experiment.claims_in(tier))
                result = Result.of(selection.experiment, tier, seeds, rows, claims)
                page = out / slug / tier / "report.html"
                write_html(rows, page, command)
        except KeyboardInterrupt as interrupt:
            again = f"{command} --json" if json else command
            raise type(interrupt)(f"completed rows survive in {out}; this goes on from them: {again}") from None
        failed = failed or result.failed
        if json:
            print_json_lines([result.to_json()])
        else:
            print_result(result)
        result.explain_failures()
        say(f"report: {page}\nagain:  {command}")
    if failed:
        raise typer.Exit(FAILED)


class ReportCommand(TyperCommand):
    """Lets ``--markdown`` stand alone or before a page: what follows is the page where it ends in ``.md``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        completed: list[str] = []
        for position, argument in enumerate(args):
            completed.append(argument)
            following = args[position + 1] if position + 1 < len(args) else ""
            if argument == "--markdown" and not (following.endswith(".md") and not following.startswith("-")):
                completed.append("-")
        return super().parse_args(ctx, completed)


def report_command(
    paths: Annotated[list[Path], typer.Argument(metavar="PATHS…", help="Folders of rows, or single rows.")],
    out: Annotated[Path | None, typer.Option("-o", "--out", metavar="PAGE.html", help="The page to write.")] = None,
    markdown: Annotated[
        str | None,
        typer.Option(
            metavar="[PAGE.md]",
            help="Put the tables between the generated marks of this page, or print them if none is named.",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object an experiment and tier.")] = False,
) -> None:
    """Turn rows into one HTML page with plots, and judge their claims."""
    if markdown == "-" and json:
        raise InvalidInput("--markdown without a page and --json both print on standard output: choose one")
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise InvalidInput(f"-o writes an HTML page: give a file that ends in .html, not {out}")
    if out is None and markdown is None:
        out = Path("report.html")

    from scisuite.bench.cli.results import print_result, results_of
    from scisuite.bench.report import build_markdown, update_page, write_html
    from scisuite.bench.store import read_rows

    with work_prints_to_stderr():
        damaged: list[InvalidInput] = []
        rows = read_rows(*paths, damaged=damaged)
        for error in damaged:
            _say_left_out(error)
        if not rows:
            raise InvalidInput(f"there are no rows in {', '.join(map(str, paths))}; 'scisuite bench SLUG' makes some")
        results, unknown = results_of(rows)
        text = build_markdown(rows) if markdown is not None else ""
        if markdown is not None and markdown != "-":
            update_page(Path(markdown), text)
        if out is not None:
            write_html(rows, out, shlex.join(["scisuite", "report", *map(str, paths), "-o", str(out)]))
    for slug in unknown:
        say(f"experiment {slug} is not registered here: its rows are in the page, its claims are not judged")
    if markdown == "-":
        print(text)
    elif json:
        print_json_lines(result.to_json() for result in results)
    else:
        for result in results:
            print_result(result)
    if markdown not in (None, "-"):
        say(f"updated {markdown}")
    if out is not None:
        say(f"wrote {out}")


def select(slugs: Sequence[str], arms: Sequence[str], claims: Sequence[str]) -> list[Selection]:
    """Load the experiments and check that each of the arms and claims belongs to one of them.

    A claim may be named without the prefix in front. Of several experiments, one that has none of the named arms or
    claims is left out.

    Raises
    ------
    InvalidInput
        If no slug is given, or nothing has that arm or claim; the message names the nearest.
    """
    from scisuite.bench import experiments
    from scisuite.core.registry import did_you_mean

    if not slugs:
        raise InvalidInput(f"bench needs at least one experiment{did_you_mean('', experiments.ids())}")
    loaded: list[Experiment] = [experiments.make(slug) for slug in dict.fromkeys(slugs)]
    all_arms = [a.id for experiment in loaded for a in experiment.arms]
    all_claims = [c.id for experiment in loaded for c in experiment.claims]
    for name in arms:
        if name not in all_arms:
            raise InvalidInput(f"no experiment here has an arm {name!r}{did_you_mean(name, all_arms)}")
    for name in claims:
        if not any(_is_called(name, id) for id in all_claims):
            raise InvalidInput(f"no experiment here has a claim {name!r}{did_you_mean(name, all_claims)}")
    selections = []
    for experiment in loaded:
        own_arms = tuple(a.id for a in experiment.arms if a.id in arms) if arms else None
        own_claims = tuple(c for c in experiment.claims if not claims or any(_is_called(n, c.id) for n in claims))
        if own_arms is not None and not claims:
            own_claims = tuple(c for c in own_claims if set(c.arms) <= set(own_arms))
        if own_arms == () or (claims and not own_claims):
            continue
        ids = tuple(c.id for c in own_claims) if claims else None
        selections.append(Selection(experiment, own_arms, own_claims, ids))
    return selections


def _is_called(name: str, claim_id: str) -> bool:
    return name == claim_id or name == claim_id.partition(".")[2]


def _require_tier(selections: Sequence[Selection], tier: str) -> None:
    for selection in selections:
        if tier not in selection.experiment.tiers:
            known = ", ".join(selection.experiment.tiers)
            raise InvalidInput(f"{selection.experiment.slug} has no tier {tier!r}; it has {known}")


def _dry_run(
    selections: Sequence[Selection], tier: str, seeds: int | None, jobs: int | None, out: Path, json: bool
) -> None:
    from scisuite.bench.cli.estimate import estimate, print_estimates

    damaged: list[InvalidInput] = []
    with work_prints_to_stderr():
        estimates = [
            estimate(
                s.experiment, tier, seeds=seeds, arms=s.arms, claims=s.claim_ids, jobs=jobs, out=out, damaged=damaged
            )
            for s in selections
        ]
    for error in damaged:
        _say_left_out(error)
    if json:
        print_json_lines(each.to_json() for each in estimates)
    else:
        print_estimates(estimates)


def _say_left_out(error: InvalidInput) -> None:
    say(f"left out: {error}")


def _repeat(path: Path, json: bool) -> None:
    from scisuite.bench.cli.output import new_table
    from scisuite.bench.runner import repeat
    from scisuite.bench.store import read_rows

    with work_prints_to_stderr():
        rows = read_rows(path)
        if len(rows) != 1:
            raise InvalidInput(f"--repeat takes one row file; {path} holds {len(rows)} rows")
        again, differences = repeat(rows[0])
    if json:
        print_json_lines([{"row": str(path), "same": not differences, "differences": differences, "again": again}])
    elif differences:
        table = new_table(f"{path} came out differently", "what")
        for difference in differences:
            table.add_row(str(difference))
        print_table(table)
    else:
        print(f"{path}: the same again, to the byte")
    if differences or again["status"] == "error":
        raise typer.Exit(FAILED)
