"""The scenarios ``trials/…``: trials of one kind, one for each seed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from scisuite.core import InvalidInput, as_seed, generator
from scisuite.core.registry import did_you_mean, refuse_unknown_arguments
from scisuite.scenarios.base import Description, WorldScenario
from scisuite.scenarios.trials import generated, replayed, semi_synthetic
from scisuite.scenarios.trials.trial import Trial


@dataclass(frozen=True)
class Kind:
    """A family of trials: the function that draws one, what it is, and where its numbers come from."""

    draw: Callable[..., Trial]
    summary: str
    source: str = "drawn by a generator of scisuite; sizes are a reconstruction"
    licence: str = "none needed (generated)"
    real: bool = False
    require: Callable[..., Any] | None = None


KINDS = {
    "segments": Kind(generated.segments, "equally common segments with an effect each; binary outcomes"),
    "linear": Kind(generated.linear, "a linear effect, and a log that is confounded, shifted and without overlap"),
    "ihdp": Kind(
        semi_synthetic.ihdp,
        "covariates and treatments of the Infant Health and Development Program, outcomes of a response surface",
        source="Hill (2011), Journal of Computational and Graphical Statistics 20(1); shipped by econml",
        licence="MIT (econml); of the covariates: unstated",
        require=semi_synthetic.require_econml,
    ),
    "acic16": Kind(
        semi_synthetic.acic16,
        "covariates of the Collaborative Perinatal Project, potential outcomes of ten response surfaces",
        source="Dorie et al. (2019), Statistical Science 34(1), the ACIC 2016 challenge; shipped by causallib",
        licence="Apache-2.0 (causallib); of the covariates: unstated",
        require=semi_synthetic.require_causallib,
    ),
} | {
    f"{prefix}{name}": Kind(
        partial(replayed.synthetic if prefix else replayed.replayed, name),
        f"a generated table that reads like {table.title}" if prefix else f"{table.title}, replayed",
        source="drawn by a generator of scisuite with the real table's columns" if prefix else table.source,
        licence="none needed (generated)" if prefix else "unstated",
        real=not prefix,
        require=None if prefix else replayed.require,
    )
    for prefix in ("", "synthetic_")
    for name, table in replayed.TABLES.items()
}


class TrialScenario(WorldScenario):
    """Trials of one kind.

    Parameters
    ----------
    kind : str
        ``segments``, ``linear``, ``ihdp``, ``acic16``, ``hillstrom``, ``gotv``, ``starbucks``, or one of the last three
        behind ``synthetic_``.
    seed : int
        Kept for the contract; a trial depends on its own seed alone.
    **arguments
        Of the function that draws a trial of the kind, such as ``n_pool`` (segments, linear, ihdp, acic16), ``tails``
        and ``bend`` (linear), ``surface`` (ihdp), ``instance`` (acic16), ``n_units`` (replayed tables) or ``archive``
        (real ones: path of the package archive; by default that which
        ``python -m scisuite.scenarios.rct_archive fetch`` left in the cache).

    Raises
    ------
    InvalidInput
        If there is no such kind, or it does not take one of the arguments.
    DataUnavailable
        If the package or the archive that carries its data is not there.
    DamagedFile
        If the archive is not the one that is asked for.
    """

    def __init__(self, kind: str, *, seed: int = 0, **arguments: Any) -> None:
        super().__init__(seed=seed)
        if not isinstance(kind, str) or kind not in KINDS:
            raise InvalidInput(f"unknown kind of trial {kind!r}{did_you_mean(str(kind), KINDS)}")
        refuse_unknown_arguments(partial(KINDS[kind].draw, None), arguments, f"trial {kind!r}")
        _require_sizes(KINDS[kind].draw, arguments)
        self.kind = kind
        self.arguments = arguments
        self._shapes: dict[str, tuple[int, ...]] = {}
        require = KINDS[kind].require
        if require is not None:
            require(**({"archive": arguments.get("archive")} if KINDS[kind].real else {}))

    @property
    def settings(self) -> dict[str, Any]:
        """What its trials depend on: all arguments, defaults included, but not where an archive lies."""
        parameters = inspect.signature(partial(KINDS[self.kind].draw, None)).parameters.values()
        defaults = {each.name: each.default for each in parameters if each.default is not each.empty}
        return {name: value for name, value in {**defaults, **self.arguments}.items() if name != "archive"}

    def generate(self, rng: np.random.Generator) -> Trial:
        """One trial, drawn from ``rng``."""
        return self._draw(rng, self.arguments)

    def trial(self, trial_seed: int) -> Trial:
        """The trial of a seed: that which ``generator(trial_seed, "trial")`` draws.

        Of ``acic16`` without an instance it is of instance 1 + trial_seed mod 10, so that consecutive seeds go through
        all of them.

        Raises
        ------
        InvalidInput
            If it is no seed.
        """
        rng = generator(trial_seed, "trial")
        if self.kind == "acic16" and self.arguments.get("instance") is None:
            instance = 1 + as_seed(trial_seed) % semi_synthetic.ACIC_INSTANCES
            return self._draw(rng, {**self.arguments, "instance": instance})
        return self._draw(rng, self.arguments)

    def describe(self) -> Description:
        kind = KINDS[self.kind]
        if not self._shapes:
            trial = self.trial(self.seed)
            slices = {name: getattr(trial, name).x for name in ("observational", "validation", "test")}
            self._shapes = {name: x.shape for name, x in {**slices, "pool": trial.pool_x}.items()}
        return Description(
            id=self.id,
            summary=kind.summary,
            source=kind.source,
            licence=kind.licence,
            real=kind.real,
            shapes=self._shapes,
            units={"x": "1", "t": "0 or 1", "y": "1", "p": "probability", "tau": "1"},
        )

    def _draw(self, rng: np.random.Generator, arguments: dict[str, Any]) -> Trial:
        trial = KINDS[self.kind].draw(rng, **arguments)
        return replace(trial, name=self.id.rpartition("/")[2]) if self.id else trial


def _require_sizes(draw: Callable[..., Trial], arguments: dict[str, Any]) -> None:
    """Refuse a number of units that is none; ``None`` may stand where it is the default."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(draw).parameters.items()}
    for name, value in arguments.items():
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= 1
        if name.startswith("n_") and not whole and not (value is None and defaults[name] is None):
            raise InvalidInput(f"{name} must be a whole number from 1, not {value!r}")
