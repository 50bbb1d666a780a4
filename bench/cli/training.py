"""``train`` and ``eval``: learning a policy, and fitting and judging a solver."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from scisuite.bench.cli.episodes import EnvSettings, resolve_environment
from scisuite.bench.cli.output import (
    figure,
    finite_figures,
    mean_and_error,
    new_table,
    print_json_lines,
    print_table,
    say,
    work_prints_to_stderr,
)
from scisuite.bench.cli.settings import read_settings
from scisuite.core import InvalidInput


def train_command(
    env: Annotated[str, typer.Argument(metavar="ENV", help="An environment, such as sci/LABO-v0 or labo.")],
    algo: Annotated[str, typer.Option(help="ppo, a2c, dqn, sac, td3 or maskable-ppo.")] = "ppo",
    timesteps: Annotated[
        int, typer.Option(min=1, help="Environment steps in all; 200_000 may be written so.")
    ] = 100_000,
    vec: Annotated[int, typer.Option(min=1, help="Environments side by side.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for checkpoints, evaluations and TensorBoard logs.")] = Path(
        "runs/train"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Of the parameters, the exploration and the environments.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the newest checkpoint in --out.")] = False,
    eval_every: Annotated[
        int | None,
        typer.Option(min=0, help="Steps between evaluations, 0 for none; a tenth of --timesteps by default."),
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(min=0, help="Steps between checkpoints, 0 for one at the end; a tenth by default.")
    ] = None,
    settings: EnvSettings = None,
    algo_settings: Annotated[
        list[str] | None,
        typer.Option("-p", metavar="KEY=VALUE", help="Argument of the algorithm; the value is JSON. Repeatable."),
    ] = None,
    processes: Annotated[
        bool, typer.Option("--processes", help="Step the environments in processes of their own.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Train a policy with Stable-Baselines3 (extra: rl)."""
    configuration = read_settings(settings, "-k")
    algo_configuration = read_settings(algo_settings, "-p")
    with work_prints_to_stderr():
        from scisuite.agents.sb3 import train

        id = resolve_environment(env)
        result = train(
            id,
            algo=algo,
            timesteps=timesteps,
            vec=vec,
            out=out,
            seed=seed,
            resume=resume,
            eval_every=eval_every,
            checkpoint_every=checkpoint_every,
            env_kwargs=configuration,
            algo_kwargs=algo_configuration,
            processes=processes,
            progress=True,
        )
    if json:
        print_json_lines([result])
        return
    table = new_table(f"{id} with {algo}", "what", "value")
    for name, value in finite_figures(result).items():
        table.add_row(name.replace("_", " "), figure(value))
    print_table(table)
    say(f"look at the curves with: tensorboard --logdir {out}")


def eval_command(
    solver: Annotated[
        str | None, typer.Argument(metavar="[SOLVER]", help="A solver, such as labo; not with --load.")
    ] = None,
    scenario: Annotated[str, typer.Option(help="The scenario that it is fitted to and judged on.")] = "",
    budget: Annotated[
        str | None, typer.Option(help='What a fit may cost: "60 evaluations", "200 steps", "30 cpu_seconds".')
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many fits, with seeds 0, 1, ….")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("-c", metavar="KEY=VALUE", help="Argument of the solver; the value is JSON. Repeatable."),
    ] = None,
    scenario_settings: Annotated[
        list[str] | None,
        typer.Option("-k", metavar="KEY=VALUE", help="Argument of the scenario; the value is JSON. Repeatable."),
    ] = None,
    split: Annotated[str, typer.Option(help="The split that is judged.")] = "test",
    save: Annotated[
        Path | None, typer.Option(help="Save the fitted solver in this folder (seed-<N> in it, for several).")
    ] = None,
    load: Annotated[Path | None, typer.Option(help="Judge the solver saved in this folder, without fitting.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object a seed.")] = False,
) -> None:
    """Fit a solver to a scenario and judge it."""
    configuration = read_settings(settings, "-c")
    world_configuration = read_settings(scenario_settings, "-k")
    if (solver is None) == (load is None):
        raise InvalidInput("eval takes a solver to fit, or --load FOLDER with a fitted one, not both")
    if not scenario:
        raise InvalidInput("eval needs --scenario; 'scisuite list scenarios' shows them")
    if load is not None and (save is not None or budget is not None or configuration or seeds != 1):
        raise InvalidInput("--load judges a solver as it was saved: --save, --budget, --seeds and -c do not go with it")
    if save is not None and save.exists() and not save.is_dir():
        raise InvalidInput(f"--save {save} is a file, not a folder")
    if load is None and budget is None:
        raise InvalidInput(f'eval needs --budget, such as "{_example_budget(solver)}"')

    from scisuite import scenarios, solvers
    from scisuite.core import Budget
    from scisuite.core.progress import track

    lines: list[dict[str, Any]] = []
    with work_prints_to_stderr():
        world = scenarios.make(scenario, **world_configuration)
    if load is not None:
        with work_prints_to_stderr():
            fitted = solvers.load(load)
            lines.append(_line(fitted, world, None, split, 0.0))
    elif solver is not None and budget is not None:
        allowed = Budget.parse(budget)
        for number in track(range(seed, seed + seeds), f"{solver} on {scenario}"):
            with work_prints_to_stderr():
                started = time.perf_counter()
                fitted = solvers.make(solver, **configuration).fit(world, seed=number, budget=allowed)
                lines.append(_line(fitted, world, number, split, time.perf_counter() - started))
                if save is not None:
                    fitted.save(save if seeds == 1 else save / f"seed-{number}")
    if json:
        print_json_lines(lines)
    else:
        _print_evaluations(lines)
    if save is not None:
        say(f"saved in {save}: solvers.load({str(save if seeds == 1 else save / f'seed-{seed}')!r})")


def _example_budget(solver: str | None) -> str:
    """A budget in a unit that the solver takes, where it says one."""
    from scisuite import solvers

    target = solvers.registry.entry(solver).load() if solver else None
    example: tuple[str, str] = getattr(target, "example", ("", "60 evaluations"))
    return example[1]


def _line(solver: Any, scenario: Any, seed: int | None, split: str, seconds: float) -> dict[str, Any]:
    report = solver.fit_report
    return {
        "solver": solver.id,
        "scenario": scenario.id,
        "seed": seed,
        "split": split,
        "budget": report.budget,
        "used": report.used,
        "cpu_seconds": round(report.cpu_seconds, 4),
        "wall_seconds": round(seconds, 4),
        "metrics": solver.evaluate(scenario, split),
    }


def _print_evaluations(lines: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for line in lines for name in line["metrics"]))
    columns = ("seed", *names, "used", "CPU s")
    title = f"{lines[0]['solver']} on {lines[0]['scenario']}, {lines[0]['budget']}"
    table = new_table(title, *columns, right=columns)
    for line in lines:
        values = [figure(line["metrics"].get(name)) for name in names]
        label = "–" if line["seed"] is None else str(line["seed"])
        table.add_row(label, *values, figure(line["used"]), figure(line["cpu_seconds"]))
    if len(lines) > 1:
        table.add_section()
        means = [mean_and_error([float(line["metrics"].get(name, float("nan"))) for line in lines]) for name in names]
        costs = [mean_and_error([float(line[key]) for line in lines]) for key in ("used", "cpu_seconds")]
        table.add_row("mean", *means, *costs)
    print_table(table)
