"""What ``scisuite info`` knows about a name: arguments and docstring, and what is peculiar to its kind."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

from scisuite.bench.cli.names import Named, registry_of
from scisuite.bench.cli.output import console, new_table, print_table
from scisuite.bench.experiment import Claim
from scisuite.core import InvalidInput, MissingDependency
from scisuite.core.files import jsonable


def facts_about(named: Named) -> dict[str, Any]:
    """Everything that can be said about ``named``, as JSON.

    What needs an extra that is not installed is left out, and ``unavailable`` says what would bring it.
    """
    facts = named.to_json() | {"install": named.install}
    collect = {
        "environment": _environment,
        "scenario": _scenario,
        "experiment": _experiment,
        "solver": _target,
        "agent": _target,
    }[named.kind]
    try:
        facts |= collect(named)
    except MissingDependency as error:
        facts["unavailable"] = str(error)
    return facts


def print_facts(facts: Mapping[str, Any]) -> None:
    """Show what :func:`facts_about` gave, for people."""
    out = console()
    out.print(f"{facts['kind']} {facts['id']}", style="bold")
    out.print(facts["summary"])
    if facts.get("about"):
        out.print(facts["about"])
    plain = [(k, v) for k, v in facts.items() if k not in _SHOWN_APART and v not in (None, [], {})]
    for name, value in plain:
        label = f"  {name.replace('_', ' '):<18} "
        for line in _lines(value):
            out.print(label + line, soft_wrap=True)
            label = " " * len(label)
    if facts.get("arguments"):
        table = new_table("arguments", "name", "default", "type")
        for argument in facts["arguments"]:
            default = "required" if argument["required"] else repr(argument["default"])
            table.add_row(argument["name"], default, argument["type"] or "")
        print_table(table)
    if facts.get("tiers"):
        table = new_table("tiers", "tier", "seeds", "budget", "arms", "scenarios")
        for name, tier in facts["tiers"].items():
            table.add_row(
                name, str(tier["seeds"]), tier["budget"], ", ".join(tier["arms"]), ", ".join(tier["scenarios"])
            )
        print_table(table)
    if facts.get("claims"):
        table = new_table("claims", "claim", "statement", "target", "paper")
        for claim in facts["claims"]:
            table.add_row(claim["id"], claim["statement"], claim["target"], claim["paper"] or "–")
        print_table(table)
    out.print("")


_SHOWN_APART = frozenset({"kind", "id", "summary", "about", "arguments", "tiers", "claims", "origin"})


def _target(named: Named) -> dict[str, Any]:
    entry = registry_of(named.kind).entry(named.id)
    target = entry.load()
    return {"target": entry.target, "about": _summary(target), "arguments": _arguments(target, entry.defaults)}


def _scenario(named: Named) -> dict[str, Any]:
    facts = _target(named)
    registry = registry_of("scenario")
    if any(argument["required"] for argument in facts["arguments"]):
        return facts
    scenario = registry.make(named.id)
    description = scenario.describe()
    facts |= {
        "source": description.source,
        "licence": description.licence,
        "real": description.real,
        "shapes": {name: list(shape) for name, shape in description.shapes.items()},
        "units": dict(description.units),
        "version": scenario.version,
    }
    if hasattr(scenario, "space"):
        facts |= {
            "maximise": scenario.maximise,
            "optimum": scenario.optimum,
            "pool": None if scenario.pool is None else len(scenario.pool),
            "value_range": list(scenario.value_range),
            "dimensions": scenario.space.to_json()["dimensions"],
        }
    return jsonable(facts)  # type: ignore[no-any-return]


def _experiment(named: Named) -> dict[str, Any]:
    facts = _target(named)
    experiment = registry_of("experiment").make(named.id)
    facts |= {
        "title": experiment.title,
        "headline": experiment.headline,
        "metrics": dict(experiment.metrics),
        "arms": [arm.id for arm in experiment.arms],
        "tiers": {
            name: {
                "seeds": tier.seeds,
                "budget": tier.budget,
                "arms": list(tier.arms),
                "scenarios": list(tier.scenarios),
            }
            for name, tier in experiment.tiers.items()
        },
        "claims": [
            {
                "id": claim.id,
                "statement": claim.statement,
                "target": _bars(claim),
                "paper": claim.paper,
            }
            for claim in experiment.claims
        ],
    }
    return facts


def _bars(claim: Claim) -> str:
    """What it is held against; of several parts, each by the last of its name."""
    bars = []
    for each in claim.inequalities:
        held = f"{each.relation} {each.target:g}" if each.target is not None else "published, not judged"
        bars.append(f"{each.id.removeprefix(claim.id + '.')} {held}" if claim.parts else held)
    return "; ".join(bars)


def _environment(named: Named) -> dict[str, Any]:
    import gymnasium

    import scisuite.envs  # noqa: F401  (registers the ids)

    spec = gymnasium.spec(named.id)
    target = spec.entry_point
    if isinstance(target, str):
        module, _, name = target.partition(":")
        target = getattr(importlib.import_module(module), name)
    facts = {
        "target": str(spec.entry_point),
        "about": _summary(target),
        "arguments": _arguments(target, spec.kwargs),
        "vectorised": spec.vector_entry_point is not None,
    }
    try:
        environment = gymnasium.make(named.id)
    except InvalidInput as error:
        return facts | {"unavailable": str(error)}
    facts |= {
        "observation_space": _space(environment.observation_space),
        "action_space": _space(environment.action_space),
        "render_modes": list(environment.metadata.get("render_modes", [])),
    }
    environment.close()
    return facts


def _space(space: Any) -> Any:
    """A space in words, without the arrays of its bounds; a Dict space as a mapping of its parts."""
    from gymnasium import spaces

    if isinstance(space, spaces.Dict):
        return {str(name): _space(part) for name, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return [_space(part) for part in space.spaces]
    if isinstance(space, spaces.Box) and space.low.size:
        return f"Box({space.low.min():g}, {space.high.max():g}, {space.shape}, {space.dtype})"
    return str(space)


def _lines(value: Any) -> list[str]:
    """A value for people: a mapping or a list of mappings as a line an entry."""
    if isinstance(value, Mapping):
        width = max(map(len, value))
        return [f"{name:<{width}}  {'; '.join(_lines(item))}" for name, item in value.items()]
    if isinstance(value, list):
        if any(isinstance(item, Mapping) for item in value):
            return [", ".join(f"{k} {v}" for k, v in item.items() if v != "") for item in value]
        return [", ".join(map(str, value))]
    return [str(value) if value != "" else "–"]


def _summary(target: Any) -> str:
    """The first paragraph of a docstring."""
    text = inspect.getdoc(target) or ""
    return " ".join(text.split("\n\n")[0].split())


def _arguments(target: Any, defaults: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The named arguments of a class or function, with what a registration presets."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    arguments = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        preset = parameter.name in defaults
        value = defaults[parameter.name] if preset else parameter.default
        required = value is parameter.empty
        arguments.append(
            {
                "name": parameter.name,
                "required": required,
                "default": None if required else _as_json(value),
                "type": "" if parameter.annotation is parameter.empty else str(parameter.annotation),
            }
        )
    return arguments


def _as_json(value: Any) -> Any:
    try:
        return jsonable(value)
    except InvalidInput:
        return repr(value)
