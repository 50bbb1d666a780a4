"""Reaction networks that compute probabilities: compile, check, reduce, simulate, verify (extra: crn-reduce)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from scisuite.bench.cli.output import print_json_lines, say, work_prints_to_stderr

app = typer.Typer(
    pretty_exceptions_enable=False,
    add_completion=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Reaction networks that compute probabilities (Napp & Adams): from a Bayesian network to SBML, and to less.",
)

Model = Annotated[Path, typer.Argument(metavar="MODEL.xml", help="A reaction network in SBML.")]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="A,B",
        help="Variables whose beliefs are wanted: names where 'crn check' shows any, or the id of any species of the "
        "variable's belief pool. Repeatable.",
    ),
]
Units = Annotated[
    str, typer.Option(help="refuse, or ignore: take the numbers of an SBML file with units as they stand.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.callback()
def group(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command("info")
def info_command(
    source: Annotated[
        str, typer.Argument(metavar="NETWORK", help="A .bif, .bif.gz or .uai file, or a bundled network such as alarm.")
    ],
    json: Json = False,
) -> None:
    """What a Bayesian network or factor graph would compile to."""
    from scisuite.bench.crn import compiling, tables

    with work_prints_to_stderr():
        report = compiling.describe(source)
    _show(report, tables.print_source, json)


@app.command("compile")
def compile_command(
    source: Annotated[
        str, typer.Argument(metavar="NETWORK", help="A .bif, .bif.gz or .uai file, or a bundled network such as alarm.")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The SBML file; beside NETWORK, with .xml, by default.")
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A=yes,B=0",
            help="Values that are known, by name or place; or a UAI evidence file (.evid). Repeatable.",
        ),
    ] = None,
    k_rec: Annotated[
        str, typer.Option(help="Rate of recycling; auto: 0.1, divided by 3 until no pool goes extinct.")
    ] = "auto",
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Look for extinct pools in the steady state.")
    ] = True,
    force: Force = False,
    json: Json = False,
) -> None:
    """Compile a Bayesian network or factor graph into a reaction network, as SBML."""
    from scisuite.bench.crn import compiling, tables

    with work_prints_to_stderr():
        report = compiling.compile_source(source, output, evidence=evidence, k_rec=k_rec, check=check, force=force)
    _show(report, tables.print_compiled, json)
    say(f"wrote {report['output']}")


@app.command("check")
def check_command(
    model: Model,
    steady: Annotated[
        bool, typer.Option("--steady", help="Solve for the steady state too, and look for extinct pools.")
    ] = False,
    units: Units = "refuse",
    json: Json = False,
) -> None:
    """Is it a Napp–Adams network? Its variables, factors, rates and ambiguities; exit code 2 if it is not."""
    from scisuite.bench.crn import checking, tables

    with work_prints_to_stderr():
        report = checking.check(model, steady=steady, units=units)
    _show(report, tables.print_checked, json)


@app.command("reduce")
def reduce_command(
    model: Model,
    output: Annotated[Path, typer.Option("-o", "--output", help="The SBML file of the reduced network.")],
    keep: Keep = None,
    moves: Annotated[
        list[str] | None,
        typer.Option(metavar="MOVES", help="leaf,unary,series by default; also cluster, support, split."),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="The certificate; beside the output, with .cert.json, by default.")
    ] = None,
    k_rec: Annotated[
        str,
        typer.Option(
            help="Rate of recycling: same as in MODEL, a number, or auto: divided by 3 until no pool goes extinct."
        ),
    ] = "same",
    verify: Annotated[
        bool,
        typer.Option(
            "--verify/--no-verify",
            help="Check the certificate and compare beliefs by belief propagation on both graphs.",
        ),
    ] = True,
    units: Units = "refuse",
    force: Force = False,
    json: Json = False,
) -> None:
    """Shrink a reaction network without changing the beliefs of the variables that are kept."""
    from scisuite.bench.crn import reducing, tables

    with work_prints_to_stderr():
        report = reducing.reduce_model(
            model,
            output,
            keep=keep,
            moves=moves,
            certificate=certificate,
            k_rec=k_rec,
            verify=verify,
            units=units,
            force=force,
        )
    _show(report, tables.print_reduced, json)
    say(f"wrote {report['output']} and {report['certificate']}")


@app.command("verify")
def verify_command(
    before: Annotated[Path, typer.Argument(metavar="BEFORE.xml", help="The network that was reduced.")],
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="What 'crn reduce' wrote beside it.")],
    after: Annotated[Path, typer.Argument(metavar="AFTER.xml", help="The reduced network.")],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Variables that the certificate must keep, called as in 'crn reduce'; it says itself what it keeps. "
            "Repeatable.",
        ),
    ] = None,
    units: Units = "refuse",
    json: Json = False,
) -> None:
    """Check a certificate: that its moves are exact and lead from one network to the other."""
    from scisuite.bench.crn import tables, verifying

    with work_prints_to_stderr():
        report = verifying.verify(before, certificate, after, units=units, keep=keep)
    _show(report, tables.print_verified, json)


@app.command("simulate")
def simulate_command(
    model: Model,
    time: Annotated[float, typer.Option(min=0, help="Time that is simulated.")] = 3e4,
    method: Annotated[str, typer.Option(help="bdf (SciPy) or roadrunner (libroadrunner).")] = "bdf",
    keep: Keep = None,
    csv: Annotated[Path | None, typer.Option(help="Write the beliefs over time as CSV.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Run belief propagation and show the difference.")] = False,
    units: Units = "refuse",
    force: Force = False,
    json: Json = False,
) -> None:
    """Simulate a reaction network and read the beliefs off it."""
    from scisuite.bench.crn import simulating, tables

    with work_prints_to_stderr():
        report = simulating.simulate_model(
            model, time=time, method=method, keep=keep, table=csv, compare=compare, units=units, force=force
        )
    _show(report, tables.print_simulated, json)
    if csv is not None:
        say(f"wrote {csv}")


def _show(report: dict[str, Any], print_report: Any, json: bool) -> None:
    if json:
        print_json_lines([report])
    else:
        print_report(report)
    for note in report.get("notes", ()):
        say(f"note: {note}")
    for warning in report.get("warnings", ()):
        say(f"warning: {warning}")
