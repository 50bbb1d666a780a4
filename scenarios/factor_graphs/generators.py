"""Generated factor graphs: hidden Markov models, trees, cycles with hair, Ising grids, random loopy graphs.

The shapes are the issue's; what is drawn, and from which distribution, is a reconstruction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs.graph import Factor, FactorGraph

LOW, HIGH = 0.4, 1.0
"""Range of the entries of random potentials."""


def hmm(rng: np.random.Generator, *, T: int = 8, K: int = 3, M: int = 3, seen: float = 0.9) -> FactorGraph:
    """A hidden Markov model with soft evidence on its outputs.

    Parameters
    ----------
    T : int
        Steps.
    K, M : int
        Values of a hidden variable and of an output, at least 2.
    seen : float
        Soft evidence in (0, 1): an output's unary table is ``seen`` at the value that a run of the model gave, and
        ``1 − seen`` at the others.

    Returns
    -------
    FactorGraph
        Hidden ``h0 …`` and outputs ``o0 …``; factors ``prior``, transitions ``t1 …``, emissions ``e0 …``, whose rows
        are uniform on the simplex (Dirichlet), and evidence ``y0 …``.

    Raises
    ------
    InvalidInput
        If a number is out of range.
    """
    T, K, M = _whole("T", T, 1), _whole("K", K, 2), _whole("M", M, 2)
    if not (_number("seen", seen) > 0 and seen < 1):
        raise InvalidInput(f"seen must be in (0, 1), not {seen!r}")
    prior = rng.dirichlet(np.ones(K))
    transitions = rng.dirichlet(np.ones(K), size=(T - 1, K))
    emissions = rng.dirichlet(np.ones(M), size=(T, K))
    hidden, outputs = [f"h{t}" for t in range(T)], [f"o{t}" for t in range(T)]
    factors = {"prior": Factor((hidden[0],), prior)}
    factors |= {f"t{t}": Factor((hidden[t - 1], hidden[t]), transitions[t - 1]) for t in range(1, T)}
    factors |= {f"e{t}": Factor((hidden[t], outputs[t]), emissions[t]) for t in range(T)}
    state = int(rng.choice(K, p=prior))
    for t in range(T):
        evidence = np.full(M, 1 - seen)
        evidence[rng.choice(M, p=emissions[t, state])] = seen
        factors[f"y{t}"] = Factor((outputs[t],), evidence)
        if t + 1 < T:
            state = int(rng.choice(K, p=transitions[t, state]))
    return FactorGraph.trusted(dict.fromkeys(hidden, K) | dict.fromkeys(outputs, M), factors)


def tree(rng: np.random.Generator, *, n: int = 100, K: int = 3) -> FactorGraph:
    """A random recursive tree: variable ``x_i`` hangs by factor ``f_i`` on one of those before it, all as likely.

    Parameters
    ----------
    n : int
        Variables.
    K : int
        Values of each.

    Raises
    ------
    InvalidInput
        If a number is out of range.
    """
    n, K = _whole("n", n, 2), _whole("K", K, 2)
    above = rng.integers(0, np.arange(1, n))
    return _tree(above, _potentials(rng, n - 1, K, K), K)


def chain(rng: np.random.Generator, *, n: int = 10, K: int = 3) -> FactorGraph:
    """Variables ``x0 … `` in a row, each joined to the one before it by a random potential.

    Raises
    ------
    InvalidInput
        If a number is out of range.
    """
    n, K = _whole("n", n, 2), _whole("K", K, 2)
    return _tree(np.arange(n - 1), _potentials(rng, n - 1, K, K), K)


def cycle_hair(rng: np.random.Generator, *, n: int = 5) -> FactorGraph:
    """A cycle of n binary variables, each with a unary factor and a pendant chain of two more variables.

    Returns
    -------
    FactorGraph
        Cycle ``c0 …``, pendants ``a0 …`` and behind them ``b0 …``; factors ``c0c1``, ``u0``, ``c0a0``, ``a0b0``, ….

    Raises
    ------
    InvalidInput
        If n is below 3.
    """
    n = _whole("n", n, 3)
    pairs = [(f"c{i}", f"c{(i + 1) % n}") for i in range(n)]
    factors = dict(zip([a + b for a, b in pairs], map(Factor, pairs, _potentials(rng, n, 2, 2)), strict=True))
    factors |= {f"u{i}": Factor((f"c{i}",), table) for i, table in enumerate(_potentials(rng, n, 2))}
    cycle = [f"c{i}" for i in range(n)]
    hair_card, hair_factors = _hair(rng, cycle)
    return FactorGraph.trusted(dict.fromkeys(cycle, 2) | hair_card, factors | hair_factors)


def ising(
    rng: np.random.Generator,
    *,
    rows: int = 3,
    cols: int = 3,
    coupling: float = 1.2,
    field: float = 0.1,
    torus: bool = False,
    homogeneous: bool = False,
    hair: bool = False,
) -> FactorGraph:
    """An Ising grid: spins −1 and +1, tables exp(J s s′) over neighbours and exp(h s) over each spin.

    At the usual coupling of 1.2 belief propagation has a fixed point for each magnetisation.

    Parameters
    ----------
    rows, cols : int
        Spins; at least 3 each on a torus, where two would be neighbours twice.
    coupling : float
        J, the same everywhere.
    field : float
        Fields h are uniform on [−field, field].
    torus : bool
        Whether opposite edges are neighbours.
    homogeneous : bool
        Whether every h is ``field`` itself: nothing is drawn.
    hair : bool
        Whether each spin carries a pendant chain of two binary variables with random potentials.

    Returns
    -------
    FactorGraph
        Spins ``s0_0 …``; factors ``h0_0`` (field), ``r0_0`` (to the right), ``d0_0`` (down), and those of the hair.

    Raises
    ------
    InvalidInput
        If a number is out of range.
    """
    least = 3 if torus else 1
    rows, cols = _whole("rows", rows, least), _whole("cols", cols, least)
    spins = np.array([-1.0, 1.0])
    pair = np.exp(_number("coupling", coupling) * np.outer(spins, spins))
    strength = _number("field", field)
    fields = np.full((rows, cols), strength) if homogeneous else rng.uniform(-1, 1, (rows, cols)) * strength
    if not (np.isfinite(pair).all() and pair.all() and np.isfinite(np.exp(np.abs(fields))).all()):
        raise InvalidInput(f"coupling {coupling!r} or field {field!r} is so strong that its table overflows")
    names = [[f"s{r}_{c}" for c in range(cols)] for r in range(rows)]
    factors: dict[str, Factor] = {}
    for r in range(rows):
        for c in range(cols):
            factors[f"h{r}_{c}"] = Factor((names[r][c],), np.exp(fields[r, c] * spins))
            if torus or c + 1 < cols:
                factors[f"r{r}_{c}"] = Factor((names[r][c], names[r][(c + 1) % cols]), pair)
            if torus or r + 1 < rows:
                factors[f"d{r}_{c}"] = Factor((names[r][c], names[(r + 1) % rows][c]), pair)
    grid = [name for row in names for name in row]
    hair_card, hair_factors = _hair(rng, grid) if hair else ({}, {})
    return FactorGraph.trusted(dict.fromkeys(grid, 2) | hair_card, factors | hair_factors)


def random_loopy(rng: np.random.Generator, *, n: int = 10, loops: int = 4, max_arity: int = 3) -> FactorGraph:
    """A connected random graph: variables of 2 or 3 values, factors over 2 to ``max_arity`` of them, and unaries.

    Factors first join what is not yet joined to one variable that is, until all are; then ``loops`` more are put over
    variables chosen at random. All potentials are uniform on [.4, 1].

    Parameters
    ----------
    n : int
        Variables, at least ``max_arity``.
    loops : int
        Factors beyond a tree.
    max_arity : int
        Most variables of a factor, at least 2.

    Returns
    -------
    FactorGraph
        Variables ``x0 …``; factors ``u0 …`` (unary) and ``f0 …``.

    Raises
    ------
    InvalidInput
        If a number is out of range.
    """
    max_arity = _whole("max_arity", max_arity, 2)
    n, loops = _whole("n", n, max_arity), _whole("loops", loops, 0)
    card = {f"x{i}": int(k) for i, k in enumerate(rng.integers(2, 4, size=n))}
    names = list(card)
    scopes: list[tuple[str, ...]] = []
    order = [names[i] for i in rng.permutation(n)]
    joined = 1
    while joined < n:
        new = min(int(rng.integers(1, max_arity)), n - joined)
        scopes.append((order[rng.integers(joined)], *order[joined : joined + new]))
        joined += new
    for _ in range(loops):
        arity = int(rng.integers(2, max_arity + 1))
        scopes.append(tuple(names[i] for i in rng.choice(n, size=arity, replace=False)))
    factors = {f"u{i}": Factor((v,), rng.uniform(LOW, HIGH, k)) for i, (v, k) in enumerate(card.items())}
    for i, scope in enumerate(scopes):
        factors[f"f{i}"] = Factor(scope, rng.uniform(LOW, HIGH, [card[v] for v in scope]))
    return FactorGraph.trusted(card, factors)


def _tree(above: NDArray[np.int64], tables: NDArray[np.float64], K: int) -> FactorGraph:
    names = [f"x{i}" for i in range(len(above) + 1)]
    factors = {
        f"f{i}": Factor((names[p], names[i]), table)
        for i, (p, table) in enumerate(zip(above.tolist(), tables, strict=True), 1)
    }
    return FactorGraph.trusted(dict.fromkeys(names, K), factors)


def _hair(rng: np.random.Generator, roots: list[str]) -> tuple[dict[str, int], dict[str, Factor]]:
    """A pendant chain ``root – a_i – b_i`` of binary variables for each root."""
    card: dict[str, int] = {}
    factors: dict[str, Factor] = {}
    for i, (root, tables) in enumerate(zip(roots, _potentials(rng, len(roots), 2, 2, 2), strict=True)):
        a, b = f"a{i}", f"b{i}"
        card |= {a: 2, b: 2}
        factors |= {root + a: Factor((root, a), tables[0]), a + b: Factor((a, b), tables[1])}
    return card, factors


def _potentials(rng: np.random.Generator, *shape: int) -> NDArray[np.float64]:
    return rng.uniform(LOW, HIGH, shape)


def _whole(name: str, given: Any, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, not {given!r}")
    return int(given)


def _number(name: str, given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not math.isfinite(given):
        raise InvalidInput(f"{name} must be a finite number, not {given!r}")
    return float(given)
