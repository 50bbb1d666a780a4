"""What an experiment declares: arms, claims and tiers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scisuite.core import InvalidInput

Role = Literal["method", "ablation", "peer", "floor"]
Statistic = Literal["ratio_of_means", "difference_of_means", "mean"]
Relation = Literal["<=", ">="]


@dataclass(frozen=True)
class Curve:
    """A line of a report's plot: equally long ``x`` and ``y``, with what their axes are called, units included."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    x_label: str
    y_label: str


@dataclass(frozen=True)
class Outcome:
    """What one cell brought. ``budget_used`` is in the tier's unit."""

    metrics: Mapping[str, float]
    curves: Mapping[str, Curve] = field(default_factory=dict)
    budget_used: float | None = None


@dataclass(frozen=True)
class Arm:
    """One thing that is compared.

    Parameters
    ----------
    id : str
    run : str
        ``"module:function"``; called as ``function(scenario, seed, budget, **config) -> Outcome`` with ``scenario``
        the scenario object, ``seed`` an int and ``budget`` a :class:`~scisuite.core.Budget`.
    role : {"method", "ablation", "peer", "floor"}
    config : mapping
        JSON keyword arguments of ``run``.
    extras : tuple of str
        Extras that must be installed; otherwise the cell becomes a ``skipped`` row that names the first.
    exclusive : bool
        Whether the cell is timed, so that no other worker may run beside it.
    summary : str
        One line for the report.
    """

    id: str
    run: str
    role: Role
    config: Mapping[str, Any] = field(default_factory=dict)
    extras: tuple[str, ...] = ()
    exclusive: bool = False
    summary: str = ""

    def load(self) -> Callable[..., Outcome]:
        """Import the function."""
        module, _, name = self.run.partition(":")
        function: Callable[..., Outcome] = getattr(importlib.import_module(module), name)
        return function


@dataclass(frozen=True)
class Claim:
    """An inequality between arms, judged on rows.

    Parameters
    ----------
    id : str
        ``slug.name``.
    statement : str
        The claim in words, with its unit.
    metric : str
        A key of a row's metrics, or ``cost.cpu_seconds`` and the like for what the cell cost.
    arm : str
    against : str or None
        The arm it is compared to; ``None`` for the statistic ``"mean"``.
    scenarios : tuple of str
        All of them must hold; the worst is shown.
    also : tuple of (arm, against) pairs
        Further pairs of arms for which the same must hold, such as the steps of a sweep; the worst is shown.
    pooled : bool
        Whether the metric is first averaged over the scenarios, seed by seed, and the claim judged on that average.
    statistic : {"ratio_of_means", "difference_of_means", "mean"}
    relation : {"<=", ">="}
    target : float or None
        ``None`` publishes a value that is never judged.
    paper : str or None
        The paper's own number, as text, or ``None`` where it gives none.
    note : str
        What a reader should know, such as why it fails.
    """

    id: str
    statement: str
    metric: str
    arm: str
    against: str | None
    scenarios: tuple[str, ...]
    statistic: Statistic = "ratio_of_means"
    relation: Relation = "<="
    target: float | None = None
    paper: str | None = None
    note: str = ""
    also: tuple[tuple[str, str], ...] = ()
    pooled: bool = False

    @property
    def arms(self) -> tuple[str, ...]:
        """Every arm whose rows the claim needs."""
        named = [self.arm, self.against, *(arm for pair in self.also for arm in pair)]
        return tuple(dict.fromkeys(arm for arm in named if arm is not None))


@dataclass(frozen=True)
class Limit:
    """A smaller share of a tier for one arm: only these scenarios, at most so many seeds, another budget."""

    scenarios: tuple[str, ...] | None = None
    seeds: int | None = None
    budget: str | None = None


@dataclass(frozen=True)
class Tier:
    """Arms × scenarios × seeds on one budget; ``limits`` narrows single arms."""

    arms: tuple[str, ...]
    scenarios: tuple[str, ...]
    seeds: int
    budget: str
    limits: Mapping[str, Limit] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A paper's evidence: what runs, and what is claimed of it.

    Raises
    ------
    InvalidInput
        If a tier, limit or claim names an arm or scenario that is not there.
    """

    slug: str
    title: str
    arms: tuple[Arm, ...]
    claims: tuple[Claim, ...]
    tiers: Mapping[str, Tier]
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Name of each metric → what it is, with its unit, and which way is better: the report's legend."""
    headline: str = ""
    """The metric that the summary table shows."""

    def __post_init__(self) -> None:
        arms = {arm.id for arm in self.arms}
        if len(arms) != len(self.arms):
            raise InvalidInput(f"{self.slug}: arm ids must differ")
        for name, tier in self.tiers.items():
            if unknown := (set(tier.arms) | set(tier.limits)) - arms:
                raise InvalidInput(f"{self.slug}: tier {name} names unknown arms {sorted(unknown)}")
        for claim in self.claims:
            if unknown := set(claim.arms) - arms:
                raise InvalidInput(f"{claim.id} names unknown arms {sorted(unknown)}")
            if claim.also and claim.against is None:
                raise InvalidInput(f"{claim.id}: further pairs of arms go with a comparison, not with a mean")
            if not claim.id.startswith(self.slug + "."):
                raise InvalidInput(f"claim id {claim.id} must start with {self.slug}.")
            if (claim.statistic == "mean") != (claim.against is None):
                raise InvalidInput(f"{claim.id}: a mean has nothing to be against, the other statistics need an arm")

    def claims_in(self, tier: str) -> tuple[Claim, ...]:
        """The claims all of whose arms and scenarios are in ``tier``: those that its rows can decide."""
        asked = self.tiers.get(tier)
        if asked is None:
            return self.claims
        return tuple(
            claim
            for claim in self.claims
            if set(claim.arms) <= set(asked.arms) and set(claim.scenarios) <= set(asked.scenarios)
        )

    def arm(self, id: str) -> Arm:
        """The arm of that id."""
        for arm in self.arms:
            if arm.id == id:
                return arm
        raise InvalidInput(f"{self.slug} has no arm {id!r}; it has {', '.join(a.id for a in self.arms)}")
