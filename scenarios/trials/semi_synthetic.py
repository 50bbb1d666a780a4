"""Real covariates with outcomes from known response surfaces: IHDP (Hill 2011) and the ACIC 2016 challenge."""

from __future__ import annotations

import importlib.util
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from scisuite.core import DataUnavailable, InvalidInput
from scisuite.scenarios.trials.logs import targeting_policy, targeting_score
from scisuite.scenarios.trials.trial import Logged, PotentialOutcomes, Trial

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

EXTRA = "active-rct"
ACIC_INSTANCES = 10


def ihdp(
    rng: np.random.Generator,
    *,
    surface: Literal["A", "B"] = "B",
    n_observational: int = 247,
    n_pool: int = 250,
    n_validation: int = 100,
    n_test: int = 150,
) -> Trial:
    """747 children, 25 covariates and a one; the effect is 4 (surface A) or exp-linear (surface B).

    ``rng`` draws the surface's coefficients and noise (one ``random_state`` of econml's generator) and the split. A
    unit's outcomes are Y₀ = Y − T τ and Y₁ = Y₀ + τ: they share their noise. The log keeps the treatments of the
    original table: 19 % of it is treated, and the treated children of nonwhite mothers were taken out (Hill 2011), so
    that the mothers of the treated and of the others differ. The table is small: use budgets below 200.

    Raises
    ------
    InvalidInput
        If there is no such surface, or the slices are larger than the table.
    DataUnavailable
        If econml is not installed.
    """
    if surface not in ("A", "B"):
        raise InvalidInput(f"surface must be A or B, not {surface!r}")
    require_econml()
    from econml.data import dgps

    make = dgps.ihdp_surface_A if surface == "A" else dgps.ihdp_surface_B
    y, t, x, tau = make(random_state=int(rng.integers(2**31)))
    y0 = y - t * tau
    log, pool, validation, test = _split(rng, len(y), n_observational, n_pool, n_validation, n_test)
    if len(np.unique(t[log])) < 2:
        raise InvalidInput(f"a log of {len(log)} children holds one arm only: it needs more")
    return _trial(
        rng,
        f"ihdp_{surface.lower()}",
        IHDP_COVARIATES,
        x,
        PotentialOutcomes(y0, y0 + tau, tau),
        Logged(x[log], t[log], y[log]),
        {"observational": log, "pool": pool, "validation": validation, "test": test},
    )


def acic16(
    rng: np.random.Generator,
    *,
    instance: int | None = None,
    n_observational: int = 1200,
    n_pool: int | None = None,
    n_validation: int = 400,
    n_test: int = 1200,
) -> Trial:
    """4,802 births with 79 covariates, and the noisy potential outcomes of one of ten response surfaces.

    Outcomes are the challenge's y₀ and y₁, each with noise of its own, and τ = μ₁ − μ₀. Covariates are standardised.
    The log does not use the challenge's treatments: along a direction s of the covariates that ``rng`` draws from
    N(0, I), standardised, units enter it with probability ∝ σ(2s) and are treated with probability σ(3s), clipped to
    [.02, .98]. The pool is a random part of the rest, by default all of it (2,002 units).

    Parameters
    ----------
    instance : 1 to 10, or None
        Which surface; ``None`` draws one.

    Raises
    ------
    InvalidInput
        If there is no such instance, or the slices are larger than the table.
    DataUnavailable
        If causallib is not installed.
    """
    if instance is None:
        instance = int(rng.integers(1, ACIC_INSTANCES + 1))
    if isinstance(instance, bool) or instance not in range(1, ACIC_INSTANCES + 1):
        raise InvalidInput(f"instance must be 1 to {ACIC_INSTANCES}, or None, not {instance!r}")
    require_causallib()
    names, x = _acic_covariates()
    outcomes = _acic_outcomes(int(instance))
    n = len(x)
    if n_pool is None:
        n_pool = n - n_observational - n_validation - n_test
    _require_room(n, n_observational, n_pool, n_validation, n_test)
    s = targeting_score(x, rng.standard_normal(x.shape[1]))
    # Efraimidis and Spirakis: the largest u^(1/w) are a sample without replacement with weights w.
    keys = np.log(1 - rng.random(n)) / _sigmoid(2 * s)
    log = np.argsort(-keys)[:n_observational]
    rest = rng.permutation(np.setdiff1d(np.arange(n), log))
    ends = np.cumsum([n_pool, n_validation, n_test])
    pool, validation, test = np.split(rest[: ends[-1]], ends[:-1])
    t = _bernoulli(rng, targeting_policy(s[log]))
    return _trial(
        rng,
        f"acic16_{instance}",
        names,
        x,
        outcomes,
        Logged(x[log], t, np.where(t == 1, outcomes.y1[log], outcomes.y0[log])),
        {"observational": log, "pool": pool, "validation": validation, "test": test},
    )


def require_econml() -> None:
    """:class:`~scisuite.core.DataUnavailable` if econml, which carries IHDP, is not installed."""
    _require("econml", "IHDP")


def require_causallib() -> None:
    """:class:`~scisuite.core.DataUnavailable` if causallib, which carries ACIC 2016, is not installed."""
    _require("causallib", "ACIC 2016")


IHDP_COVARIATES = [
    "one",
    "bw",
    "b.head",
    "preterm",
    "birth.o",
    "nnhealth",
    "momage",
    "sex",
    "twin",
    "b.marr",
    "mom.lths",
    "mom.hs",
    "mom.scoll",
    "cig",
    "first",
    "booze",
    "drugs",
    "work.dur",
    "prenatal",
    "site1",
    "site2",
    "site3",
    "site4",
    "site5",
    "site6",
    "site7",
]


def _trial(
    rng: np.random.Generator,
    name: str,
    features: Any,
    x: Floats,
    outcomes: PotentialOutcomes,
    observational: Logged,
    rows: dict[str, Ints],
) -> Trial:
    pool = rows["pool"]

    def randomised(units: Ints) -> Logged:
        t = _bernoulli(rng, np.full(len(units), 0.5))
        y = np.where(t == 1, outcomes.y1[units], outcomes.y0[units])
        return Logged(x[units], t, y, p=np.full(len(units), 0.5), tau=outcomes.tau[units])

    return Trial(
        name=name,
        features=tuple(features),
        observational=observational,
        pool_x=x[pool],
        validation=randomised(rows["validation"]),
        test=randomised(rows["test"]),
        pool=PotentialOutcomes(outcomes.y0[pool], outcomes.y1[pool], outcomes.tau[pool]),
        rows=rows,
    )


@lru_cache(maxsize=1)
def _acic_covariates() -> tuple[tuple[str, ...], Floats]:
    table = _load_acic16()(instance=1).X
    x = table.to_numpy(dtype=np.float64)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    x.flags.writeable = False
    return tuple(str(name) for name in table.columns), x


@lru_cache(maxsize=ACIC_INSTANCES)
def _acic_outcomes(instance: int) -> PotentialOutcomes:
    _, table = _load_acic16()(instance=instance, raw=True)
    y0, y1, mu0, mu1 = (table[name].to_numpy(dtype=np.float64) for name in ("y0", "y1", "mu0", "mu1"))
    return PotentialOutcomes(y0, y1, mu1 - mu0)


def _load_acic16() -> Callable[..., Any]:
    # The first import of causallib moves the state of Python's own random numbers.
    state = random.getstate()
    try:
        from causallib.datasets import load_acic16
    finally:
        random.setstate(state)
    return cast("Callable[..., Any]", load_acic16)


def _split(rng: np.random.Generator, n: int, *sizes: int) -> list[Ints]:
    _require_room(n, *sizes)
    return np.split(rng.permutation(n)[: sum(sizes)], np.cumsum(sizes)[:-1])


def _require_room(n: int, *sizes: int) -> None:
    if min(sizes) < 1 or sum(sizes) > n:
        raise InvalidInput(
            f"log, pool, validation and test of {', '.join(map(str, sizes))} units do not fit in {n} units"
        )


def _require(package: str, what: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise DataUnavailable(f"{what} comes with {package}, which is not installed", extra=EXTRA)


def _bernoulli(rng: np.random.Generator, p: Floats) -> Ints:
    return (rng.random(len(p)) < p).astype(np.int64)


def _sigmoid(z: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))
