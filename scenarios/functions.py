"""Closed-form test functions, as a pool of points or as a continuous black box.

A pool makes them comparable with measured tables: the optimum is then that of the pool. With ``pool_size=0`` all of the
space can be asked for and the optimum is that of the formula.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from scisuite.core import Categorical, Continuous, Integer, InvalidInput, Space, generator
from scisuite.core.registry import did_you_mean
from scisuite.scenarios.base import Array, BlackBoxScenario, Description
from scisuite.scenarios.tabular import TabularScenario

LICENCE = "none needed (a formula)"
MEDIAN_SAMPLE = 4096


@dataclass(frozen=True)
class Formula:
    """A function of points in the user's units, and what is known of it.

    ``values`` takes float64 (n, number of dimensions), a categorical as the index of its level, and gives (n,).
    ``best`` is a point where ``optimum`` is reached.
    """

    space: Space
    values: Callable[[Array], Array]
    maximise: bool
    optimum: float
    best: tuple[float, ...]
    value_range: tuple[float, float]
    summary: str
    source: str


class FunctionScenario(BlackBoxScenario):
    """A formula that can be evaluated anywhere in its space.

    Parameters
    ----------
    id : str
    formula : Formula
    seed : int
        Kept for the contract; the function does not depend on it.
    """

    def __init__(self, id: str, formula: Formula, *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.id = id
        self.space = formula.space
        self.maximise = formula.maximise
        self.optimum = formula.optimum
        self.value_range = formula.value_range
        self._formula = formula
        sample = self.space.sample(generator(0, "median of a test function"), MEDIAN_SAMPLE)
        self.median = float(np.median(self.evaluate(sample)))

    def describe(self) -> Description:
        return Description(
            id=self.id,
            summary=self._formula.summary,
            source=self._formula.source,
            licence=LICENCE,
            real=False,
            shapes={"x": (self.space.d,)},
            units={**self.space.units, self.value_name: self.unit},
        )

    def evaluate(self, x: Any) -> Array:
        """Values (n,) at encoded points (n, d); :class:`~scisuite.core.InvalidInput` for a point outside the space."""
        return self._formula.values(self.space.to_units(self.space.require(x)))


def function(
    name: str, *, pool_size: int = 2000, pool_seed: int = 5, dimension: int | None = None, seed: int = 0
) -> BlackBoxScenario:
    """A test function as a scenario.

    Parameters
    ----------
    name : str
        One of :data:`FUNCTIONS`.
    pool_size : int
        Points that are drawn uniformly with ``numpy.random.default_rng(pool_seed)``; 0 for the whole space.
    pool_seed : int
    dimension : int, optional
        Number of inputs, of ``ackley``, ``rosenbrock`` and ``levy``.
    seed : int
        Kept for the contract; the function does not depend on it.

    Raises
    ------
    InvalidInput
        If there is no such function, it has no such dimension, or the pool would hold a single point.
    """
    if name not in FUNCTIONS:
        raise InvalidInput(f"unknown function {name!r}{did_you_mean(str(name), FUNCTIONS)}")
    for what, number in (("pool_size", pool_size), ("pool_seed", pool_seed)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InvalidInput(f"{what} must be a whole number from 0, not {number!r}")
    if pool_size == 1:
        raise InvalidInput("pool_size must be 0 (the whole space) or at least 2, not 1")
    formula = FUNCTIONS[name](dimension)
    id = f"functions/{name}"
    if pool_size == 0:
        return FunctionScenario(id, formula, seed=seed)
    pool = formula.space.sample(np.random.default_rng(pool_seed), pool_size)
    scenario = TabularScenario(
        formula.space,
        pool,
        formula.values(formula.space.to_units(pool)),
        value_range=formula.value_range,
        summary=formula.summary,
        source=formula.source,
        licence=LICENCE,
        real=False,
        maximise=formula.maximise,
        seed=seed,
    )
    scenario.id = id
    return scenario


_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN3_SCALES = np.array([[3.0, 10, 30], [0.1, 10, 35], [3.0, 10, 30], [0.1, 10, 35]])
_HARTMANN3_CENTRES = 1e-4 * np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]])
_HARTMANN6_SCALES = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_HARTMANN6_CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
_MIXED_HEIGHTS = np.array([0.6, 1.0, 0.75, 0.4])
_MIXED_CENTRES = np.array([0.2, 0.7, 0.45, 0.9])
_MIXED_COUNTS = np.array([2.0, 5.0, 7.0, 4.0])


def hartmann3_values(x: Array) -> Array:
    """Σᵢ αᵢ exp(−Σⱼ Aᵢⱼ (xⱼ − Pᵢⱼ)²) in three dimensions."""
    return _hartmann(x, _HARTMANN3_SCALES, _HARTMANN3_CENTRES)


def hartmann6_values(x: Array) -> Array:
    """Σᵢ αᵢ exp(−Σⱼ Aᵢⱼ (xⱼ − Pᵢⱼ)²) in six dimensions."""
    return _hartmann(x, _HARTMANN6_SCALES, _HARTMANN6_CENTRES)


def branin_values(x: Array) -> Array:
    """(x₂ − 5.1 x₁²/4π² + 5 x₁/π − 6)² + 10 (1 − 1/8π) cos x₁ + 10."""
    first, second = x.T
    bowl = second - 5.1 * first**2 / (4 * np.pi**2) + 5 * first / np.pi - 6
    return np.asarray(bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(first) + 10)


def ackley_values(x: Array) -> Array:
    """−20 exp(−0.2 √(mean x²)) − exp(mean cos 2πx) + 20 + e."""
    root = np.sqrt((x**2).mean(axis=1))
    return np.asarray(-20 * np.exp(-0.2 * root) - np.exp(np.cos(2 * np.pi * x).mean(axis=1)) + 20 + np.e)


def rosenbrock_values(x: Array) -> Array:
    """Σⱼ 100 (xⱼ₊₁ − xⱼ²)² + (1 − xⱼ)²."""
    return np.asarray((100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2).sum(axis=1))


def levy_values(x: Array) -> Array:
    """sin²πw₁ + Σⱼ (wⱼ − 1)² (1 + 10 sin²(πwⱼ + 1)) + (w_d − 1)² (1 + sin² 2πw_d), w = 1 + (x − 1)/4."""
    w = 1 + (x - 1) / 4
    inner = ((w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)).sum(axis=1)
    last = (w[:, -1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)
    return np.asarray(np.sin(np.pi * w[:, 0]) ** 2 + inner + last)


def quadratic_values(x: Array) -> Array:
    """(x₁ − 0.3)² + (x₂ − 0.7)²."""
    return np.asarray((x[:, 0] - 0.3) ** 2 + (x[:, 1] - 0.7) ** 2)


def mixed_values(x: Array) -> Array:
    """h_c exp(−(u − m_c)²/0.045) (1 − (k − k_c)²/64) exp(−(v − 0.4)²/0.5); every kind c has its own h, m and k."""
    first, second, count = x[:, 0], x[:, 1], x[:, 2]
    kind = x[:, 3].astype(int)
    peak = _MIXED_HEIGHTS[kind] * np.exp(-((first - _MIXED_CENTRES[kind]) ** 2) / 0.045)
    return np.asarray(peak * (1 - (count - _MIXED_COUNTS[kind]) ** 2 / 64) * np.exp(-((second - 0.4) ** 2) / 0.5))


def _hartmann(x: Array, scales: Array, centres: Array) -> Array:
    distances = (scales * (x[:, None, :] - centres) ** 2).sum(axis=2)
    return np.asarray(np.exp(-distances) @ _HARTMANN_WEIGHTS)


def _box(dimension: int, low: float, high: float) -> Space:
    return Space(tuple(Continuous(f"x{j + 1}", low, high) for j in range(dimension)))


def _fixed(name: str, dimension: int | None, own: int) -> int:
    if dimension is not None and dimension != own:
        raise InvalidInput(f"{name} has {own} inputs, not {dimension!r}")
    return own


def _free(name: str, dimension: int | None, default: int) -> int:
    if dimension is None:
        return default
    if isinstance(dimension, bool) or not isinstance(dimension, int) or not 2 <= dimension <= 100:
        raise InvalidInput(f"dimension of {name} must be a whole number from 2 to 100, not {dimension!r}")
    return dimension


def _hartmann3(dimension: int | None) -> Formula:
    return Formula(
        space=_box(_fixed("hartmann3", dimension, 3), 0.0, 1.0),
        values=hartmann3_values,
        maximise=True,
        optimum=3.8627797873327,
        best=(0.114589, 0.555649, 0.852547),
        value_range=(0.0, 4.0),
        summary="Maximise the negated Hartmann function of three inputs.",
        source="Dixon and Szegö (1978), with the sign turned.",
    )


def _hartmann6(dimension: int | None) -> Formula:
    return Formula(
        space=_box(_fixed("hartmann6", dimension, 6), 0.0, 1.0),
        values=hartmann6_values,
        maximise=True,
        optimum=3.3223680114155,
        best=(0.2016895, 0.1500107, 0.476874, 0.2753324, 0.3116516, 0.6573005),
        value_range=(0.0, 3.5),
        summary="Maximise the negated Hartmann function of six inputs.",
        source="Dixon and Szegö (1978), with the sign turned.",
    )


def _branin(dimension: int | None) -> Formula:
    _fixed("branin", dimension, 2)
    return Formula(
        space=Space((Continuous("x1", -5.0, 10.0), Continuous("x2", 0.0, 15.0))),
        values=branin_values,
        maximise=False,
        optimum=0.3978873577297381,
        best=(np.pi, 2.275),
        value_range=(0.0, 320.0),
        summary="Minimise the Branin function of two inputs, which has three equal minima.",
        source="Dixon and Szegö (1978).",
    )


def _ackley(dimension: int | None) -> Formula:
    d = _free("ackley", dimension, 4)
    return Formula(
        space=_box(d, -32.768, 32.768),
        values=ackley_values,
        maximise=False,
        optimum=0.0,
        best=(0.0,) * d,
        value_range=(0.0, 23.0),
        summary=f"Minimise the Ackley function of {d} inputs, rugged around one narrow minimum.",
        source="D. H. Ackley, A Connectionist Machine for Genetic Hillclimbing (1987).",
    )


def _rosenbrock(dimension: int | None) -> Formula:
    d = _free("rosenbrock", dimension, 4)
    return Formula(
        space=_box(d, -2.048, 2.048),
        values=rosenbrock_values,
        maximise=False,
        optimum=0.0,
        best=(1.0,) * d,
        value_range=(0.0, 4000.0 * (d - 1)),
        summary=f"Minimise the Rosenbrock function of {d} inputs, a narrow curved valley.",
        source="H. H. Rosenbrock, The Computer Journal 3 (1960) 175.",
    )


def _levy(dimension: int | None) -> Formula:
    d = _free("levy", dimension, 4)
    return Formula(
        space=_box(d, -10.0, 10.0),
        values=levy_values,
        maximise=False,
        optimum=0.0,
        best=(1.0,) * d,
        value_range=(0.0, 84.0 * (d - 1) + 17.0),
        summary=f"Minimise the Levy function of {d} inputs, a bowl of ripples.",
        source="Laguna and Martí, Journal of Global Optimization 33 (2005) 235.",
    )


def _quadratic2(dimension: int | None) -> Formula:
    return Formula(
        space=_box(_fixed("quadratic2", dimension, 2), 0.0, 1.0),
        values=quadratic_values,
        maximise=False,
        optimum=0.0,
        best=(0.3, 0.7),
        value_range=(0.0, 1.0),
        summary="Minimise a round bowl of two inputs: the smallest scenario, for checks.",
        source="scisuite.",
    )


def _mixed(dimension: int | None) -> Formula:
    _fixed("mixed", dimension, 4)
    kinds = Categorical("kind", ("A", "B", "C", "D"))
    return Formula(
        space=Space((Continuous("u", 0.0, 1.0), Continuous("v", 0.0, 1.0), Integer("count", 1, 8), kinds)),
        values=mixed_values,
        maximise=True,
        optimum=1.0,
        best=(0.7, 0.4, 5.0, 1.0),
        value_range=(0.0, 1.0),
        summary="Maximise a function of two real inputs, a count and a kind; every kind has its own best setting.",
        source="scisuite.",
    )


FUNCTIONS: dict[str, Callable[[int | None], Formula]] = {
    "ackley": _ackley,
    "branin": _branin,
    "hartmann3": _hartmann3,
    "hartmann6": _hartmann6,
    "levy": _levy,
    "mixed": _mixed,
    "quadratic2": _quadratic2,
    "rosenbrock": _rosenbrock,
}
