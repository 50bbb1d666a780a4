"""The root of the command line: its commands, those that papers and plugins add, and the exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from scisuite.bench.cli import catalogue, episodes, experiments, scaffolding, training
from scisuite.bench.cli.extensions import Extension, find_extensions
from scisuite.bench.cli.failures import debug_wanted, exit_code_of, interruption, take_debug
from scisuite.bench.cli.output import say
from scisuite.core import __version__
from scisuite.core.registry import did_you_mean


class RootGroup(TyperGroup):
    """The commands defined here and in the sibling modules, then those found by name (:mod:`.extensions`)."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*self.commands, *sorted(set(find_extensions()) - set(self.commands))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        extension = find_extensions().get(cmd_name)
        return extension.stub() if extension is not None else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name = args[0]
        if name in self.commands:
            return name, self.commands[name], args[1:]
        extension: Extension | None = find_extensions().get(name)
        if extension is not None:
            return name, extension.load(), args[1:]
        if name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise ctx.fail(f"unknown command {name!r}{did_you_mean(name, self.list_commands(ctx))}")

    def invoke(self, ctx: Any) -> Any:
        # Caught here because Typer would end an interrupted command without a word.
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            line, code = interruption(interrupt)
            say(line)
            raise typer.Exit(code) from None

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str = "", standalone_mode: bool = True, **extra: Any
    ) -> Any:
        """Run a command and exit: 0 done, 1 a cell or an engine failed, 2 bad input in one line, 130 interrupted,
        143 terminated.
        """
        debug, arguments = take_debug(sys.argv[1:] if args is None else args)
        with debug_wanted(debug):
            try:
                code = super().main(arguments, prog_name or "scisuite", standalone_mode=False, **extra)
            except Exception as error:
                named = next((f" {argument}" for argument in arguments if argument in self.commands), "")
                code = exit_code_of(error, f"scisuite{named}")
        code = code if isinstance(code, int) and not isinstance(code, bool) else 0
        if not standalone_mode:
            return code
        sys.exit(code)


app = typer.Typer(
    name="scisuite",
    cls=RootGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Science papers as Gymnasium environments, solvers and executable claims.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"scisuite {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Print tracebacks. It may stand behind the command too; also SCISUITE_DEBUG=1."),
    ] = False,
) -> None:
    # --debug is taken out of the arguments before Typer reads them; it is declared for --help.
    if context.invoked_subcommand is None:
        print(context.get_help())


app.command("list")(catalogue.list_command)
app.command("info")(catalogue.info_command)
app.command("doctor")(catalogue.doctor_command)
app.command("run")(episodes.run_command)
app.command("train")(training.train_command)
app.command("eval")(training.eval_command)
app.command("bench")(experiments.bench_command)
app.command("report", cls=experiments.ReportCommand)(experiments.report_command)
app.command("cite")(catalogue.cite_command)
app.command("new")(scaffolding.new_command)


def main() -> None:
    """The console script ``scisuite``."""
    app()
