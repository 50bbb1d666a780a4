"""What an experiment declares: arms, claims and tiers."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from scisuite.core import InvalidInput

Role = Literal["method", "ablation", "peer", "floor"]
Statistic = Literal["ratio_of_means", "difference_of_means", "mean", "median", "minimum", "maximum", "resampled"]
Relation = Literal["<=", ">="]

COMPARISONS = frozenset({"ratio_of_means", "difference_of_means"})
"""The statistics of two arms; the others are of one."""
EXACT: Mapping[str, Relation] = {"minimum": ">=", "maximum": "<="}
"""The statistics without an interval, and the only relation that each of them can be held to."""


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
    """An inequality between arms, judged on rows; or several of them, all of which must hold.

    Parameters
    ----------
    id : str
        ``slug.name``, or ``prefix.name`` where the experiment has another prefix.
    statement : str
        The claim in words, with its unit.
    metric : str or tuple of str
        A key of a row's metrics, or ``cost.cpu_seconds`` and the like for what the cell cost. Several are pooled: the
        statistic is taken over all of their values, and what belongs to one seed stays together.
    arm : str
    against : str or None
        The arm it is compared to; ``None`` for a statistic of one arm.
    scenarios : tuple of str
        All of them must hold; the worst is shown.
    also : tuple of (arm, against) pairs
        Further arms for which the same must hold, such as the steps of a sweep; the worst is shown. ``against`` is
        ``None`` where it is for the first.
    pooled : bool
        Whether the metric is first averaged over the scenarios, seed by seed, and the claim judged on that average.
    jointly : bool
        Whether the worst scenario and arm is chosen anew in every resample of the seeds, and the claim judged on that
        worst value. Otherwise each is judged by itself, and all must hold. For statistics of one arm.
    across : {"worst", "median"}
        What a claim judged ``jointly`` is about: the worst of its scenarios and arms, or the median of them.
    statistic : {"ratio_of_means", "difference_of_means", "mean", "median", "minimum", "maximum", "resampled"}
        The first two compare arms, the others are of one arm. A minimum and a maximum, over seeds and scenarios, are
        exact: their interval is the value itself. ``"resampled"`` is for a cell that has resampled units of its own,
        such as the replications of a study: the arm has one seed, whose metrics ``<metric>_low`` and ``<metric>_high``
        (:func:`scisuite.bench.intervals.resampled`) are the interval.
    relation : {"<=", ">="}
    target : float or None
        ``None`` publishes a value that is never judged.
    paper : str or None
        The paper's own number, as text, or ``None`` where it gives none.
    note : str
        What a reader should know, such as why it fails.
    parts : tuple of Claim
        Inequalities that must all hold, each with a metric, arms and a target of its own; the claim itself has then
        only an ``id``, a ``statement``, a ``paper`` and a ``note``. A part that fails outweighs one that is undecided,
        and among equals the first is shown. A part without a target is published beside the others. The id of a part
        begins with that of the claim and a dot.
    """

    id: str
    statement: str
    metric: str | tuple[str, ...] = ()
    arm: str = ""
    against: str | None = None
    scenarios: tuple[str, ...] = ()
    statistic: Statistic = "ratio_of_means"
    relation: Relation = "<="
    target: float | None = None
    paper: str | None = None
    note: str = ""
    also: tuple[tuple[str, str | None], ...] = ()
    pooled: bool = False
    jointly: bool = False
    across: Literal["worst", "median"] = "worst"
    parts: tuple[Claim, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that are pooled; one, most often."""
        return (self.metric,) if isinstance(self.metric, str) else self.metric

    @property
    def pairs(self) -> tuple[tuple[str, str | None], ...]:
        """Every arm that must meet the bar, with the one it is compared to."""
        return ((self.arm, self.against), *self.also)

    @property
    def inequalities(self) -> tuple[Claim, ...]:
        """The parts, or the claim itself where it has none."""
        return self.parts or (self,)

    @property
    def arms(self) -> tuple[str, ...]:
        """Every arm whose rows the claim needs."""
        named = [arm for each in self.inequalities for pair in each.pairs for arm in pair]
        return tuple(dict.fromkeys(arm for arm in named if arm is not None))

    @property
    def needs(self) -> frozenset[tuple[str, str]]:
        """Every (arm, scenario) whose rows the claim needs."""
        return frozenset(
            (arm, scenario) for each in self.inequalities for arm in each.arms for scenario in each.scenarios
        )


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

    def covers(self, arm: str, scenario: str) -> bool:
        """Whether it has cells of ``arm`` on ``scenario``."""
        limit = self.limits.get(arm, Limit())
        within = limit.scenarios is None or scenario in limit.scenarios
        return arm in self.arms and scenario in self.scenarios and within


@dataclass(frozen=True)
class Experiment:
    """A paper's evidence: what runs, and what is claimed of it.

    Raises
    ------
    InvalidInput
        If a tier, limit or claim names an arm or scenario that is not there, or a claim cannot be judged as it stands.
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
    prefix: str = ""
    """What the ids of the claims begin with, before a dot; the slug by default."""

    def __post_init__(self) -> None:
        arms = {arm.id for arm in self.arms}
        if len(arms) != len(self.arms):
            raise InvalidInput(f"{self.slug}: arm ids must differ")
        for name, tier in self.tiers.items():
            if unknown := (set(tier.arms) | set(tier.limits)) - arms:
                raise InvalidInput(f"{self.slug}: tier {name} names unknown arms {sorted(unknown)}")
        for claim in self.claims:
            if not claim.id.startswith(f"{self.claim_prefix}."):
                raise InvalidInput(f"claim id {claim.id} must start with {self.claim_prefix}.")
            if unknown := set(claim.arms) - {*arms, ""}:
                raise InvalidInput(f"{claim.id} names unknown arms {sorted(unknown)}")
            _check_claim(claim)

    @property
    def claim_prefix(self) -> str:
        """What the ids of the claims begin with, before a dot."""
        return self.prefix or self.slug

    def claims_in(self, tier: str) -> tuple[Claim, ...]:
        """The claims all of whose arms and scenarios are in ``tier``: those that its rows can decide."""
        asked = self.tiers.get(tier)
        if asked is None:
            return self.claims
        return tuple(claim for claim in self.claims if all(asked.covers(*pair) for pair in claim.needs))

    def arm(self, id: str) -> Arm:
        """The arm of that id."""
        for arm in self.arms:
            if arm.id == id:
                return arm
        raise InvalidInput(f"{self.slug} has no arm {id!r}; it has {', '.join(a.id for a in self.arms)}")


def _check_claim(claim: Claim) -> None:
    """Refuse a claim that nothing could be judged by."""
    if claim.parts and (claim.metrics or claim.arm or claim.scenarios or claim.also or claim.target is not None):
        raise InvalidInput(f"{claim.id} has parts: metrics, arms, scenarios and targets are theirs")
    for each in claim.parts:
        if each.parts or not each.id.startswith(claim.id + "."):
            raise InvalidInput(
                f"{each.id}: a part of {claim.id} has no parts itself, and an id below that of the claim"
            )
    for each in claim.inequalities:
        if not (each.metrics and each.arm and each.scenarios):
            raise InvalidInput(f"{each.id} must name a metric, an arm and a scenario")
        two = each.statistic in COMPARISONS
        if any((against is not None) != two for _, against in each.pairs):
            number = "compares two arms" if two else "is of one arm: there is nothing to be against"
            raise InvalidInput(f"{each.id}: a {each.statistic.replace('_', ' ')} {number}")
        if each.statistic == "resampled" and (each.pooled or each.jointly or len(each.metrics) > 1):
            raise InvalidInput(f"{each.id}: what a cell has resampled is judged by itself, one metric at a time")
        if each.jointly and two:
            raise InvalidInput(f"{each.id}: only a statistic of one arm is judged jointly")
        if each.across == "median" and not each.jointly:
            raise InvalidInput(f"{each.id}: only a claim that is judged jointly is about a median of scenarios")
        if each.relation != EXACT.get(each.statistic, each.relation):
            raise InvalidInput(f"{each.id}: a {each.statistic} is held to {EXACT[each.statistic]} a target")
