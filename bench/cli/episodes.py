"""``run``: an agent in an environment, as a table, JSON lines, a GIF or a Minari data set."""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from scisuite.core import InvalidInput, UnknownName

if TYPE_CHECKING:
    import gymnasium as gym

EnvSettings = Annotated[
    list[str] | None,
    typer.Option("-k", metavar="KEY=VALUE", help="Argument of the environment; the value is JSON. Repeatable."),
]


def run_command(
    env: Annotated[str, typer.Argument(metavar="ENV", help="An environment, such as sci/LABO-v0 or labo.")],
    agent: Annotated[
        str, typer.Option("--agent", help="An agent; those of the environment's own paper are searched first.")
    ],
    episodes: Annotated[int, typer.Option(min=1, help="How many episodes.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first episode; each next one takes the next.")] = 0,
    settings: EnvSettings = None,
    agent_settings: Annotated[
        list[str] | None,
        typer.Option("-a", metavar="KEY=VALUE", help="Argument of the agent; the value is JSON. Repeatable."),
    ] = None,
    reset_options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="Option of reset(); the value is JSON. Repeatable."),
    ] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="End an episode after so many steps.")] = None,
    render: Annotated[Path | None, typer.Option(metavar="FILE.gif", help="Draw the first episode into a GIF.")] = None,
    fps: Annotated[int, typer.Option(min=1, max=50, help="Frames a second of the GIF.")] = 10,
    minari: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Save the episodes as a local Minari data set, like labo/random-v0."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object an episode.")] = False,
) -> None:
    """Run an agent in an environment."""
    import gymnasium

    import scisuite.agents
    from scisuite.core.progress import Progress
    from scisuite.envs import catalogue

    configuration = read_settings(settings, "-k")
    agent_configuration = read_settings(agent_settings, "-a")
    options = read_settings(reset_options, "--option") or None
    if render is not None and render.suffix.lower() != ".gif":
        raise InvalidInput(f"--render writes a GIF: give a file that ends in .gif, not {render}")
    lines: list[dict[str, Any]] = []
    with contextlib.ExitStack() as stack:
        with work_prints_to_stderr():
            environment = make_environment(env, configuration, render_mode="rgb_array" if render is not None else None)
            stack.callback(environment.close)
            id = environment.spec.id if environment.spec is not None else env
            recorder = None
            if minari is not None:
                from scisuite.agents.recording import MinariRecorder

                recorder = MinariRecorder(environment, minari)
                environment = recorder.env
            policy = scisuite.agents.make(agent, env_slug=catalogue.slug_of(environment), **agent_configuration)
            policy.bind(environment)
            drawn = gymnasium.wrappers.RenderCollection(environment) if render is not None else environment
        progress = stack.enter_context(Progress(f"{id} with {agent}", total=episodes))
        for number in range(episodes):
            started = time.perf_counter()
            with work_prints_to_stderr():
                episode = scisuite.agents.run_episode(
                    drawn if number == 0 else environment,
                    policy,
                    seed=seed + number,
                    options=options,
                    max_steps=max_steps,
                    on_step=_Steps(progress, number),
                )
                if render is not None and number == 0:
                    from scisuite.agents.recording import record_gif

                    record_gif(drawn.render() or [], render, fps)
            progress.update(number + 1)
            line = {
                "environment": id,
                "agent": agent,
                "episode": number,
                "seed": episode.seed,
                "steps": episode.length,
                "total_reward": episode.total_reward,
                "terminated": episode.terminated,
                "truncated": episode.truncated,
                "seconds": round(time.perf_counter() - started, 4),
                "info": finite_figures(episode.infos[-1]),
            }
            lines.append(line)
            if json:
                print_json_lines([line])
        if recorder is not None:
            with work_prints_to_stderr():
                recorder.save(agent=agent)
    if not json:
        _print_episodes(lines)
    if render is not None:
        say(f"wrote {render}")
    if minari is not None:
        say(f"saved the Minari data set {minari}: minari.load_dataset({minari!r})")


def resolve_environment(env: str) -> str:
    """The id of an environment named in full, by its short name (``labo`` for ``sci/LABO-v0``), or as ``module:id``.

    Raises
    ------
    UnknownName
        If there is none; the message names the nearest of scisuite's.
    """
    import gymnasium

    import scisuite.envs  # noqa: F401  (registers the ids)
    from scisuite.envs import catalogue

    return env if ":" in env or env in gymnasium.registry else catalogue.entry(env).id


def make_environment(
    env: str, configuration: Mapping[str, Any], *, render_mode: str | None = None
) -> gym.Env[Any, Any]:
    """Make an environment by a name that :func:`resolve_environment` knows.

    Raises
    ------
    UnknownName
        If there is none.
    InvalidInput
        If it does not take one of the arguments, or has not that render mode.
    """
    import gymnasium
    from gymnasium.envs.registration import load_env_creator

    from scisuite.core.registry import refuse_unknown_arguments

    id = resolve_environment(env)
    try:
        module, colon, name = id.rpartition(":")
        if colon:
            importlib.import_module(module)
        spec = gymnasium.spec(name)
        target: Any = spec.entry_point
        if isinstance(target, str):
            target = load_env_creator(target)
        refuse_unknown_arguments(target, configuration, f"environment {spec.id}")
        modes = getattr(target, "metadata", {}).get("render_modes", (render_mode,))
        if render_mode is not None and render_mode not in modes:
            raise InvalidInput(f"environment {spec.id} has no render mode {render_mode}, so it cannot be drawn")
        return gymnasium.make(spec.id, render_mode=render_mode, **configuration)
    except ModuleNotFoundError as error:
        if error.name is None or not id.startswith(error.name):
            raise
        raise UnknownName(f"{env!r}: there is no module {error.name!r}") from error
    except gymnasium.error.Error as error:
        raise InvalidInput(str(error)) from error


class _Steps:
    """Shows the steps of an episode while it runs."""

    def __init__(self, progress: Any, done: int) -> None:
        self.progress = progress
        self.done = done
        self.steps = 0

    def __call__(self, transition: Any) -> None:
        self.steps += 1
        if self.steps % 16 == 0:
            self.progress.update(self.done, note=f"step {self.steps}")


def _print_episodes(lines: list[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(name for line in lines for name in line["info"]))
    title = f"{lines[0]['environment']} with {lines[0]['agent']}"
    columns = ("seed", "steps", "total reward", "ended", *names, "seconds")
    table = new_table(title, *columns, right=columns)
    for line in lines:
        ended = "terminated" if line["terminated"] else "truncated" if line["truncated"] else "stopped"
        shown = [figure(line["info"].get(name)) for name in names]
        table.add_row(
            str(line["seed"]), str(line["steps"]), figure(line["total_reward"]), ended, *shown, figure(line["seconds"])
        )
    if len(lines) > 1:
        table.add_section()
        # A seed is a name, of which there is no mean.
        means = [
            "" if "seed" in name else mean_and_error(_numbers(line["info"].get(name) for line in lines))
            for name in names
        ]
        total, seconds = ([line[key] for line in lines] for key in ("total_reward", "seconds"))
        steps = [float(line["steps"]) for line in lines]
        table.add_row("mean", mean_and_error(steps), mean_and_error(total), "", *means, mean_and_error(seconds))
    print_table(table)


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
