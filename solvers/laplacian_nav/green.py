"""Green's function of a graph as a potential: its only peak is the goal, so ascent arrives and bends round walls."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from scisuite.core import EngineFailure, InvalidInput
from scisuite.solvers.laplacian_nav.columns import TINY, Columns, Floats
from scisuite.solvers.laplacian_nav.direct import factorise, fits
from scisuite.solvers.laplacian_nav.discounted import DiscountedWalk
from scisuite.solvers.laplacian_nav.distances import heat_kernel, truncated_distance
from scisuite.solvers.laplacian_nav.modes import eigenmodes
from scisuite.solvers.laplacian_nav.multigrid import Multigrid, vcycle
from scisuite.solvers.laplacian_nav.operators import Bools, Ints, as_laplacian, check_states
from scisuite.solvers.laplacian_nav.small_leak import is_small, split_constant

__all__ = ["DiscountedWalk", "GreenPotential", "heat_kernel", "truncated_distance"]

SOLVERS = ("auto", "splu", "amg")
_BACKWARD_ERROR = 1e-10
_BLOCK_BYTES = 2**26
_UNIT_ROUNDOFF = 2.0**-53
_SMALLEST_LEAK = 1e-13
"""Of a state's degree: a smaller leak is lost when it is added to it."""
_NO_SOLUTION = 1e-2
"""Of the right side: with a larger residual after elimination a field is wrong by as much (1e14 between weights)."""
_WIDE_SPAN = 1e9
"""Weights so far apart that elimination is held to the certificate, which otherwise would only cost time."""


class GreenPotential(Columns):
    r"""Green's function :math:`G_\varepsilon(\cdot, g) = (L + \varepsilon I)^{-1} \delta_g`, for any number of goals.

    In modes it is :math:`\sum_k \varphi_k(\cdot) \varphi_k(g) / (\lambda_k + \varepsilon)`. At ε = 0 it is the
    pseudo-inverse: the constant of the goal's component is projected out, and the field is zero in every other
    component (Moore and Penrose's inverse of a disconnected graph, and no guide there). With ``"sr:γ"`` the leak is
    :math:`\varepsilon_i = (1/\gamma - 1)\, d_i` with :math:`d_i = L_{ii}`, and the successor representation of
    :math:`P = D^{-1} W` is :math:`(I - \gamma P)^{-1} = \frac1\gamma G D`. A navigator with four moves whose blocked
    ones stay has :math:`P = I - L/4` and :math:`(I - \gamma P)^{-1} = \frac4\gamma G_\varepsilon` for
    :math:`\varepsilon = 4(1/\gamma - 1)`.

    On a connected graph and for :math:`x \ne g`, :math:`(L G)(x)` is :math:`-1/n` at ε = 0 and
    :math:`-\varepsilon G(x) < 0` otherwise. So G(x) is below the weighted mean of its neighbours, the goal is the only
    local maximum, and greedy ascent reaches it in fewer than n steps. The larger ε, the nearer to shortest paths:
    :math:`G \approx (\text{number of shortest paths})\, \varepsilon^{-\mathrm{dist}-1}`.

    Parameters
    ----------
    L_or_world : sparse or array (n, n), or NavWorld
        A combinatorial Laplacian, or a world to take it from.
    eps : float or str
        Leak ≥ 0, in the unit of the weights, or ``"sr:γ"`` with 0 < γ < 1. If not 0, from 1e-13 of the largest degree.
    solver : {"auto", "splu", "amg"}
        Sparse factorisation, or algebraic multigrid (needs pyamg), which warns where it does not certify ascent.
        ``auto`` factorises while the factors are estimated to stay below 2 GiB
        (:func:`~scisuite.solvers.laplacian_nav.direct.estimated_bytes`): about a million cells of a map, less
        where a graph has no small cuts. It is set up at the first call and serves every goal.
    modes : int or None
        Use the K smoothest modes only (at ε = 0, after the constant one). This voids the guarantee; distances read the
        same modes better (:func:`~scisuite.solvers.laplacian_nav.distances.truncated_distance`).
    rtol : float
        Largest admissible relative residual of multigrid.
    max_iterations : int
        Of multigrid, for each goal.

    Attributes
    ----------
    residual : float or None
        Largest ‖A x − b‖ / ‖b‖ of the goals of the latest call.

    Raises
    ------
    InvalidInput
        If ``L_or_world`` is no combinatorial Laplacian of a symmetric graph with edges, or an argument is out of range.

    Notes
    -----
    Source: brief §Potential and §Guarantee: reconstruction.

    Examples
    --------
    >>> from scisuite.solvers.laplacian_nav import laplacian
    >>> path = laplacian([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> GreenPotential(path).potential([2]).ravel().round(3).tolist()
    [-0.444, -0.111, 0.556]
    """

    _remedy = "a smaller eps: keep diameter × arccosh(1 + eps/2) below 700"

    def __init__(
        self,
        L_or_world: Any,
        eps: float | str = 0.0,
        solver: Literal["auto", "splu", "amg"] = "auto",
        modes: int | None = None,
        *,
        rtol: float = 1e-10,
        max_iterations: int = 200,
    ) -> None:
        gamma = None
        if isinstance(eps, str):
            gamma = _gamma(eps)
        elif isinstance(eps, bool) or not isinstance(eps, int | float | np.number) or not 0 <= eps < math.inf:
            raise InvalidInput(_eps_message(eps))
        if solver not in SOLVERS:
            raise InvalidInput(f"solver must be one of {', '.join(SOLVERS)}, not {solver!r}")
        if isinstance(rtol, bool) or not isinstance(rtol, int | float | np.number) or not 0 < rtol < 1:
            raise InvalidInput(f"rtol must be a number between 0 and 1, not {rtol!r}")
        if isinstance(max_iterations, bool) or not isinstance(max_iterations, int | np.integer) or max_iterations < 1:
            raise InvalidInput(f"max_iterations must be a positive whole number, not {max_iterations!r}")
        from scipy.sparse import diags_array

        self.L = as_laplacian(L_or_world)
        self.eps = eps
        self.singular = gamma is None and eps == 0
        self.modes = self._checked_modes(modes)
        self.rtol, self.max_iterations = float(rtol), int(max_iterations)
        self.residual: float | None = None
        degree = self.L.diagonal()
        # A state without edges is left with probability 1 − γ as well.
        self._degree = np.where(degree > 0, degree, 1.0)
        self._gamma = gamma
        self._leak = np.full(self.n, float(eps)) if gamma is None else (1 / gamma - 1) * self._degree
        # The least leak that is named is rounded: it must be admitted.
        if not self.singular and (self._leak < (1 - 1e-5) * _SMALLEST_LEAK * self._degree).any():
            least = f"at least {_SMALLEST_LEAK * self._degree.max():.6g}" if gamma is None else "a smaller gamma"
            raise InvalidInput(f"eps = {eps} is lost beside the degrees in float64: use eps=0, or {least}")
        self.matrix = self.L if self.singular else (self.L + diags_array(self._leak)).tocsr()
        self._asked = solver
        self._cycles: dict[int, tuple[Ints, Multigrid]] = {}

    @property
    def n(self) -> int:
        """Number of states."""
        return int(self.L.shape[0])

    @cached_property
    def solver(self) -> str:
        """``"splu"`` or ``"amg"``: which of them is used."""
        if self._asked != "auto":
            return self._asked
        return "splu" if fits(self.L) else "amg"

    def log_potential(self, goals: ArrayLike) -> Floats:
        """float64 (n, g): log(G(x, g) / G(g, g)), at most 0, however small G is; −∞ where no path leads to the goal.

        Beyond underflow the equations are continued outwards
        (:func:`~scisuite.solvers.laplacian_nav.columns.log_columns`).

        Raises
        ------
        InvalidInput
            If a goal is not a state; at ε = 0 or with ``modes``, where the potential takes negative values.
        EngineFailure
            With multigrid, where the field is not certified: its small values are noise, and only elimination has
            them.
        """
        goals = check_states(goals, self.n)
        if not self._positive:
            raise InvalidInput("log_potential needs eps > 0 and all modes: the potential is negative in places")
        if self.solver == "splu":
            return super().log_potential(goals)
        values = self._solve(goals)
        if not self.certificate(goals, values).all():
            raise EngineFailure(
                "the smallest values of the multigrid field are noise: use solver='splu' for their logarithm"
            )
        with np.errstate(divide="ignore"):
            logs = np.log(values) - np.log(values[goals, np.arange(len(goals))])
        return np.asarray(np.minimum(logs, 0.0))

    def certificate(self, goals: ArrayLike, values: Floats | None = None) -> Bools:
        r"""bool (g,): whether the computed field, as it is stored, is proved to have no local maximum but the goal.

        With :math:`r = A x - \delta_g` the field is below the weighted mean of its neighbours at every
        :math:`x \ne g` where :math:`|r(x)| < \varepsilon(x) G(x)`, or :math:`|r(x)| < 1/n` at ε = 0. A bound on the
        rounding error of r itself is added to :math:`|r|`. Only the goal's component counts.

        Parameters
        ----------
        goals : int (g,)
        values : float64 (n, g) or None
            The potential of ``goals``, where it is at hand; otherwise it is computed.

        Raises
        ------
        InvalidInput
            If a goal is not a state.
        """
        goals = check_states(goals, self.n)
        values = self._solve(goals) if values is None else np.asarray(values, dtype=np.float64)
        return np.asarray(~self._uncertified(values, goals).any(axis=0))

    def __getstate__(self) -> dict[str, Any]:
        """Without the factors and cycles, which cannot be pickled: they are made again."""
        return {**{k: v for k, v in self.__dict__.items() if k != "_factors"}, "_cycles": {}}

    def _solve(self, goals: Ints) -> Floats:
        values = np.empty((self.n, len(goals)), order="F")
        self.residual = 0.0
        block = max(1, _BLOCK_BYTES // (8 * self.n))
        for first in range(0, len(goals), block):
            some = goals[first : first + block]
            values[:, first : first + block] = self._solve_block(some)
        return values

    def _solve_block(self, goals: Ints) -> Floats:
        right = self._right_sides(goals)
        if self.modes is not None:
            x = self._sum_of_modes(goals)
        elif self.solver == "splu":
            x = self._by_elimination(goals, right)
        else:
            x = self._by_multigrid(goals, right)
        wrong = self.matrix @ x - right
        relative = np.linalg.norm(wrong, axis=0) / np.maximum(np.linalg.norm(right, axis=0), TINY)
        self.residual = max(self.residual or 0.0, float(relative.max(initial=0.0)))
        if self.modes is None:
            backward = np.abs(wrong).max(initial=0.0) / (self._norm * np.abs(x).max(initial=0.0) + 1.0)
            if not backward <= _BACKWARD_ERROR:
                raise EngineFailure(f"the potential does not solve its equations: backward error {backward:.1e}")
        if self.modes is None and self.solver == "splu" and relative.max(initial=0.0) > _NO_SOLUTION:
            raise EngineFailure(
                f"float64 cannot hold the potential of goal {goals[relative.argmax()]}: its relative residual is "
                f"{relative.max():.1e}; weights and eps that are {self._span:.0e} apart are too far from each other"
            )
        return x

    def _right_sides(self, goals: Ints) -> Floats:
        right = np.zeros((self.n, len(goals)), order="F")
        right[goals, np.arange(len(goals))] = 1.0
        if self.singular:
            right -= self._connected(goals) / np.bincount(self._labels)[self._labels[goals]]
        return right

    def _by_elimination(self, goals: Ints, right: Floats) -> Floats:
        if not self.singular:
            x = np.asarray(self._factors.solve(right))
            if not is_small(self._leak, self._degree):
                return x
            return split_constant(x, self._factors, self.L, self._leak, right, self._connected(goals))
        # One state of each component is held at zero; its equation follows from the others, which sum to zero.
        right = right.copy(order="F")
        right[self._grounded] = 0.0
        x = self._factors.solve(right)
        connected = self._connected(goals)
        return np.asarray(x - connected * (x.sum(axis=0) / connected.sum(axis=0)))

    def _by_multigrid(self, goals: Ints, right: Floats) -> Floats:
        x = np.zeros_like(right)
        for j, goal in enumerate(goals):
            states, multigrid = self._component(int(self._labels[goal]))
            x[states, j] = multigrid.solve(right[states, j])
        return x

    def _sum_of_modes(self, goals: Ints) -> Floats:
        lam, scaled = self._spectrum
        return np.asarray((scaled / lam) @ scaled[goals].T)

    @cached_property
    def _factors(self) -> Any:
        from scipy.sparse import diags_array

        if not self.singular:
            return factorise(self.matrix)
        kept = np.ones(self.n)
        kept[self._grounded] = 0.0
        return factorise((diags_array(kept) @ self.L @ diags_array(kept) + diags_array(1.0 - kept)).tocsr())

    @cached_property
    def _spectrum(self) -> tuple[Floats, Floats]:
        """λ + ε (K,), and modes (n, K), scaled so that the truncated potential is Σ φφᵀ / (λ + ε)."""
        assert self.modes is not None
        if self._gamma is not None:
            # (L + aD)⁻¹ = D^(−½) (D^(−½) L D^(−½) + a)⁻¹ D^(−½)
            from scipy.sparse import diags_array

            root = 1.0 / np.sqrt(self._degree)
            lam, modes = eigenmodes((diags_array(root) @ self.L @ diags_array(root)).tocsr(), self.modes)
            return lam + (1 / self._gamma - 1), modes * root[:, None]
        constants = self._n_components if self.singular else 0
        lam, modes = eigenmodes(self.L, self.modes + constants)
        return lam[constants:] + self._leak[0], modes[:, constants:]

    @cached_property
    def _labels(self) -> Ints:
        from scipy.sparse.csgraph import connected_components

        return np.asarray(connected_components(self.L, directed=False)[1], dtype=np.int64)

    @property
    def _n_components(self) -> int:
        return int(self._labels.max()) + 1

    @cached_property
    def _grounded(self) -> Ints:
        return np.asarray(np.unique(self._labels, return_index=True)[1], dtype=np.int64)

    @cached_property
    def _span(self) -> float:
        """The largest weight or leak over the smallest."""
        weights = np.abs(self.L.data[self.L.data < 0])
        leaks = self._leak[self._leak > 0]
        sizes = np.concatenate([weights, leaks]) if len(weights) else leaks
        return float(sizes.max() / sizes.min()) if len(sizes) else 1.0

    @cached_property
    def _norm(self) -> float:
        return float(abs(self.matrix).sum(axis=1).max())

    def _component(self, label: int) -> tuple[Ints, Multigrid]:
        """States of a component, and its multigrid solver."""
        if label not in self._cycles:
            states = np.flatnonzero(self._labels == label)
            A = self.matrix if len(states) == self.n else self.matrix[states][:, states]
            cycle = vcycle(A, "solver='amg'")
            self._cycles[label] = (states, Multigrid(A, cycle, self.singular, self.rtol, self.max_iterations))
        return self._cycles[label]

    def _connected(self, goals: Ints) -> Bools:
        connected: Bools = self._labels[:, None] == self._labels[goals]
        return connected

    @property
    def _positive(self) -> bool:
        return not self.singular and self.modes is None

    def _underflow(self, values: Floats, goals: Ints) -> Ints:
        # Elimination alone has small values that are worth a logarithm.
        if self._positive and self.solver == "splu":
            return super()._underflow(values, goals)
        return np.zeros(len(goals), dtype=np.int64)

    def _doubt(self, values: Floats, goals: Ints) -> str | None:
        doubt = super()._doubt(values, goals)
        if doubt is not None or self.modes is not None or (self.solver == "splu" and self._span < _WIDE_SPAN):
            return doubt
        fails = self._uncertified(values, goals).sum(axis=0)
        if not fails.any():
            return None
        worst = int(fails.argmax())
        if self.solver == "splu":
            return (
                f"rounding errors leave ascent to goal {goals[worst]} in doubt at {fails[worst]} of {self.n} states: "
                f"weights and eps that are {self._span:.0e} apart are too far for float64"
            )
        return (
            f"multigrid does not certify ascent to goal {goals[worst]} at {fails[worst]} of {self.n} states, where the "
            "potential is near its rounding error; use solver='splu' or a smaller eps"
        )

    def _uncertified(self, values: Floats, goals: Ints) -> Bools:
        """bool (n, g): states of the goal's component, not the goal, that the certificate leaves out."""
        right = self._right_sides(goals)
        per_row = int(np.diff(self.matrix.indptr).max()) + 3
        rounding = per_row * _UNIT_ROUNDOFF * (abs(self.matrix) @ np.abs(values) + np.abs(right))
        margin = np.abs(right) if self.singular else self._leak[:, None] * values
        fails = ~(np.abs(self.matrix @ values - right) + rounding < margin) & self._connected(goals)
        fails[goals, np.arange(len(goals))] = False
        return np.asarray(fails)

    def _checked_modes(self, modes: Any) -> int | None:
        if modes is None:
            return None
        most = self.n - self._n_components if self.singular else self.n
        if isinstance(modes, bool) or not isinstance(modes, int | np.integer) or not 1 <= modes <= most:
            raise InvalidInput(f"modes must be a whole number from 1 to {most}, not {modes!r}")
        return int(modes)


def _gamma(eps: str) -> float:
    """γ of ``"sr:γ"``."""
    kind, _, number = eps.partition(":")
    try:
        gamma = float(number)
    except ValueError:
        raise InvalidInput(_eps_message(eps)) from None
    if kind != "sr" or not 0 < gamma < 1:
        raise InvalidInput(_eps_message(eps))
    return gamma


def _eps_message(eps: Any) -> str:
    return f"eps must be a finite number of at least 0, or 'sr:γ' with 0 < γ < 1, not {eps!r}"
