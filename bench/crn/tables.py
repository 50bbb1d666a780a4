"""What the commands print where JSON is not asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scisuite.bench.cli.output import console, figure, new_table, print_table

Report = Mapping[str, Any]


def print_source(report: Report) -> None:
    """Variables, and what the network would be like."""
    _print_facts(
        report["input"],
        ("variables", counted(len(report["variables"]))),
        ("factors", counted(report["factors"])),
        ("connected components", counted(report["components"])),
        ("table entries", counted(report["table_entries"])),
        ("largest table", counted(report["largest_table"])),
        ("species", counted(report["species"])),
        ("reactions", counted(report["reactions"])),
        ("largest molecularity", counted(report["max_molecularity"])),
    )
    table = new_table("variables", "variable", "factors", "values", right=("factors",))
    for variable in report["variables"]:
        table.add_row(variable["name"], str(variable["degree"]), ", ".join(variable["values"]))
    print_table(table)


def print_compiled(report: Report) -> None:
    """The network that was written, and the rates that were tried for it."""
    evidence = ", ".join(f"{v}={value}" for v, value in report["evidence"].items())
    _print_facts(
        f"{report['input']} → {report['output']}",
        ("evidence", evidence or "–"),
        *([("left out, one value only", ", ".join(report["one_valued"]))] if report["one_valued"] else []),
        ("variables", counted(report["variables"])),
        ("factors", counted(report["factors"])),
        ("table entries", counted(report["table_entries"])),
        ("species", counted(report["species"])),
        ("reactions", counted(report["reactions"])),
        ("largest molecularity", counted(report["max_molecularity"])),
        *_k_rec(report),
        ("seconds", figure(sum(report["seconds"].values()))),
    )


def print_checked(report: Report) -> None:
    """The network's facts, variables, factors and ambiguities."""
    rates = report["rates"]
    steady = report["steady"]
    named = "named by its annotation" if report["annotated"] else "not named (no annotation)"
    facts = [
        ("variables", f"{counted(len(report['variables']))}, {named}"),
        ("factors", counted(len(report["factors"]))),
        ("connected components", counted(report["components"])),
        ("species", counted(report["species"])),
        ("reactions", counted(report["reactions"])),
        ("largest molecularity", counted(report["max_molecularity"])),
        ("k_rec, recycling", figure(rates["k_rec"])),
        ("k_prod, products and beliefs", figure(rates["k_prod"])),
        ("k_sum, sums", "1, since it only multiplies the tables"),
        ("total of each pool", _totals(report)),
        ("ambiguities", counted(len(report["ambiguities"])) if report["ambiguities"] else "none"),
    ]
    if steady is not None:
        facts += [
            ("at rest from time", figure(steady["rest_time"])),
            ("residual, largest |dx/dt|", figure(steady["residual"])),
            ("of the fastest turnover", figure(steady["relative_residual"])),
            ("least assigned mass", figure(steady["least_assigned"])),
            ("extinct pools", counted(len(steady["extinct"])) if steady["extinct"] else "none"),
        ]
    _print_facts(f"{report['input']} is a Napp–Adams network", *facts)
    # Without an annotation the names of values are those of the species of the belief pool.
    values = "values" if report["annotated"] else "species of its belief pool"
    table = new_table("variables", "variable", "factors", values, right=("factors",))
    for variable in report["variables"]:
        table.add_row(variable["name"], str(variable["degree"]), ", ".join(variable["values"]))
    print_table(table)
    table = new_table("factors", "factor", "variables", "shape", "zeros", right=("zeros",))
    for factor in report["factors"]:
        shape = "×".join(str(k) for k in factor["shape"])
        table.add_row(factor["name"], ", ".join(factor["scope"]), shape, str(factor["zeros"]))
    print_table(table)
    if report["ambiguities"]:
        table = new_table("ambiguities", "kind", "factor", "variable", "species")
        for item in report["ambiguities"]:
            table.add_row(item["kind"], item["factor"], item["variable"] or "–", ", ".join(item["species"]))
        print_table(table)


def print_reduced(report: Report) -> None:
    """Sizes before and after, moves and seconds, and one line that says it all."""
    before, after = report["before"], report["after"]
    title = f"{report['input']} → {report['output']}"
    table = new_table(title, "what", "before", "after", right=("before", "after"))
    for name, label in (
        ("variables", "variables"),
        ("factors", "factors"),
        ("table_entries", "table entries"),
        ("species", "species"),
        ("reactions", "reactions"),
        ("max_molecularity", "largest molecularity"),
    ):
        table.add_row(label, counted(before[name]), counted(after[name]))
    table.add_row("k_rec", figure(report["k_rec_before"]), figure(report["k_rec"]))
    table.add_section()
    for label, number in _moves(report):
        table.add_row(label, "", number)
    table.add_section()
    least = report["attempts"][-1]["least_assigned"]
    if least is not None:
        table.add_row("least assigned mass", "", figure(least))
    table.add_row("seconds", "", figure(sum(report["seconds"].values())))
    print_table(table)
    _print_kept(report)
    _print_line(
        f"{report['input']}   {counted(before['reactions'])} reactions → {report['output']}   "
        f"{counted(after['reactions'])}   {_beliefs(report)}"
    )


def print_verified(report: Report) -> None:
    """That the certificate holds, and its moves."""
    table = new_table(f"{report['certificate']} holds", "what", "value", right=("value",))
    table.add_row("reactions", f"{counted(report['reactions_before'])} → {counted(report['reactions_after'])}")
    table.add_row("kept", ", ".join(report["keep"]) or "–")
    for label, number in _moves(report):
        table.add_row(label, number)
    print_table(table)


def print_simulated(report: Report) -> None:
    """Beliefs at the end, and whether they can be trusted."""
    compared = report["belief_propagation"]
    differences = compared and compared["differences"]
    columns = ["variable", "belief", *(["from BP"] if differences else [])]
    table = new_table(f"{report['input']} at time {report['time']:g}", *columns, right=("from BP",))
    for variable, belief in report["beliefs"].items():
        shown = "  ".join(f"{value} {_probability(p)}" for value, p in belief.items())
        table.add_row(variable, shown, *([_difference(differences[variable])] if differences else []))
    print_table(table)
    facts = [
        ("method", report["method"]),
        ("residual, largest |dx/dt|", figure(report["residual"])),
        ("drift of the pools' totals", figure(report["drift"])),
        ("least assigned mass", figure(report["least_assigned"])),
        ("extinct pools", counted(len(report["extinct"])) if report["extinct"] else "none"),
        ("at rest from time", figure(report["rest_time"])),
        ("seconds of integration", figure(report["simulate_seconds"])),
    ]
    if compared:
        facts.append(("belief propagation", _propagation(compared)))
    _print_facts("simulation", *facts)


def counted(number: int) -> str:
    """A whole number with its thousands apart.

    >>> counted(12), counted(14255)
    ('12', '14 255')
    """
    return f"{number:,}".replace(",", " ")


def _print_facts(title: str, *facts: tuple[str, str]) -> None:
    table = new_table(title, "what", "value")
    for what, value in facts:
        table.add_row(what, value)
    print_table(table)


def _print_line(text: str) -> None:
    console().print(text, soft_wrap=True)


def _totals(report: Report) -> str:
    least, greatest = (figure(total) for total in report["pool_totals"])
    return least if least == greatest else f"{least} to {greatest}"


def _k_rec(report: Report) -> Iterable[tuple[str, str]]:
    for attempt in report["attempts"][:-1]:
        yield f"k_rec {figure(attempt['k_rec'])}", _extinct(attempt)
    last = report["attempts"][-1]
    if last["extinct"] is None:
        told = "not looked for extinct pools"
    elif last["extinct"]:
        told = _extinct(last)
    else:
        told = f"none extinct; least assigned mass {figure(last['least_assigned'])}, {last['pool']}"
    yield f"k_rec {figure(last['k_rec'])}", told


def _extinct(attempt: Report) -> str:
    pools = "1 pool" if attempt["extinct"] == 1 else f"{counted(attempt['extinct'])} pools"
    return f"{pools} extinct, first of all {attempt['pool']}"


def _moves(report: Report) -> Iterable[tuple[str, str]]:
    for kind, number in report["moves"].items():
        # Scaling is in certificates, but changes nothing.
        yield ("tables scaled" if kind == "scale" else f"{kind} moves"), counted(number)


def _print_kept(report: Report) -> None:
    """Which species carry the beliefs now, if they are called otherwise."""
    if all(species["before"] == species["after"] for species in report["species_of_kept"].values()):
        return
    table = new_table("beliefs", "variable", "species before", "species after")
    for variable, species in report["species_of_kept"].items():
        table.add_row(variable, ", ".join(species["before"]), ", ".join(species["after"]))
    print_table(table)


def _beliefs(report: Report) -> str:
    verified = report["verified"]
    left = len(report["variables_left"])
    whose = ", ".join(report["keep"]) or (
        f"the {left} variables left" if left > 1 else f"{report['variables_left'][0]}"
    )
    if verified is None:
        return f"not verified (certificate {report['certificate']})"
    if not verified["beliefs"]:
        return f"beliefs of {whose} not compared: {verified['reason']} (certificate {report['certificate']} holds)"
    return (
        f"beliefs of {whose} unchanged (max difference {_difference(verified['max_difference'], 0)}, certificate "
        f"{report['certificate']})"
    )


def _difference(value: float, decimals: int = 1) -> str:
    """A difference of beliefs; NaN is that from a pool that holds nothing."""
    return "–" if value != value else f"{value:.{decimals}e}" if value else "0"


def _probability(p: float) -> str:
    return "–" if p != p else f"{p:.4f}" if 5e-5 <= p <= 1 - 5e-5 or p in (0.0, 1.0) else f"{p:.3g}"


def _propagation(compared: Report) -> str:
    if not compared["converged"]:
        return f"does not converge (residual {figure(compared['residual'])} after {compared['iterations']} rounds)"
    return f"{counted(compared['iterations'])} rounds, largest difference {_difference(compared['max_difference'])}"
