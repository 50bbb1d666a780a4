"""Loopy belief propagation of other packages, run on our graphs: what ours is compared with."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scisuite.core import InvalidInput, MissingDependency
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.message_passing import Floats


@dataclass(frozen=True, eq=False)
class PeerRun:
    """A run of another package.

    Attributes
    ----------
    beliefs : dict of str to float64 (K_v,)
    iterations : int
        Sweeps over all messages, as the package counts them.
    converged : bool
        Whether it stopped because it stood still.
    seconds : float
        Wall time of the propagation itself.
    seconds_in_all : float
        The same with the time to build the package's own graph.
    """

    beliefs: dict[str, Floats]
    iterations: int
    converged: bool
    seconds: float
    seconds_in_all: float


def factorgraph_bp(graph: FactorGraph, tol: float | None = 1e-8, *, max_iter: int = 1_000) -> PeerRun:
    """The package factorgraph's ``lbp(normalize=True)``: one message after the other, from uniform messages, undamped.

    It has no tolerance of its own choice: it stops where no message changes by more than 1e-8 + 1e-5 of itself. With
    ``tol=None`` that rule is left to it. Otherwise it is asked for one sweep at a time until no value of a normalised
    message changes by ``tol``; the comparison's time is not counted.

    Raises
    ------
    MissingDependency
        Without the package factorgraph.
    """
    package = _factorgraph()
    begin = time.perf_counter()
    built = package.Graph(debug=False)
    for v, k in graph.card.items():
        built.rv(v, k, debug=False)
    for f, factor in graph.factors.items():
        built.factor(list(factor.variables), name=f, potential=factor.table, debug=False)
    building = time.perf_counter() - begin
    if tol is None:
        begin = time.perf_counter()
        iterations, converged = built.lbp(normalize=True, max_iters=max_iter)
        seconds = time.perf_counter() - begin
    else:
        iterations, converged, seconds = _swept(built, tol, max_iter)
    beliefs = {str(variable): np.asarray(belief) for variable, belief in built.rv_marginals(normalize=True)}
    return PeerRun(beliefs, int(iterations), bool(converged), seconds, building + seconds)


def pyagrum_loopy_bp(graph: FactorGraph, tol: float = 1e-8, *, max_iter: int = 1_000) -> PeerRun:
    """pyagrum's ``LoopyBeliefPropagation`` on a factor graph.

    It knows Bayesian networks only, so each factor becomes an observed yes-or-no child of its variables, with
    P(yes | x_f) = ψ_f(x_f) / max ψ_f, and each variable a root with even odds: then its messages are those of the
    factor graph. Its tolerance is a Kullback–Leibler divergence, which is of second order in the messages' change: it
    gets tol², but no less than 1e-15, below which rounding lets it run on for ever. Its other rule, the rate at which
    that divergence falls, stops far from the fixed point and is switched off.

    Raises
    ------
    MissingDependency
        Without pyagrum.
    """
    gum = _pyagrum()
    begin = time.perf_counter()
    net = gum.BayesNet()
    node = {v: net.add(gum.LabelizedVariable(f"v{i}", "", k)) for i, (v, k) in enumerate(graph.card.items())}
    for v, k in graph.card.items():
        net.cpt(node[v]).fillWith(1.0 / k)
    evidence = {}
    for i, factor in enumerate(graph.factors.values()):
        observed = net.add(gum.LabelizedVariable(f"f{i}", "", 2))
        evidence[observed] = 1
        for v in factor.variables:
            net.addArc(node[v], observed)
        yes = factor.table / factor.table.max()
        axes = [*(net.variable(node[v]).name() for v in factor.variables), f"f{i}"]
        cpt = net.cpt(observed)
        order = [axes.index(name) for name in reversed(cpt.names)]
        cpt[:] = np.ascontiguousarray(np.stack([1.0 - yes, yes], axis=-1).transpose(order))
    return _propagated(gum, net, evidence, node, tol, max_iter, begin)


def pyagrum_bayes_net_bp(
    net: Any, evidence: Mapping[str, int | str], tol: float = 1e-8, *, max_iter: int = 1_000
) -> PeerRun:
    """pyagrum's ``LoopyBeliefPropagation`` on a Bayesian network of its own with evidence.

    Its tolerance is used as in :func:`pyagrum_loopy_bp`. The beliefs are those of the variables that are not given.

    Parameters
    ----------
    net : pyagrum.BayesNet
    evidence : mapping of str to int or str
        Place or name of the value of each given variable.

    Raises
    ------
    InvalidInput
        If a variable is not in the network.
    MissingDependency
        Without pyagrum.
    """
    gum = _pyagrum()
    names = set(net.names())
    for v in evidence:
        if v not in names:
            raise InvalidInput(f"evidence: the network has no variable {v!r}")
    begin = time.perf_counter()
    node = {v: net.idFromName(v) for v in net.names() if v not in evidence}
    return _propagated(gum, net, dict(evidence), node, tol, max_iter, begin)


def _propagated(
    gum: Any,
    net: Any,
    evidence: Mapping[Any, int | str],
    node: Mapping[str, int],
    tol: float,
    max_iter: int,
    begin: float,
) -> PeerRun:
    inference = gum.LoopyBeliefPropagation(net)
    inference.setEvidence(dict(evidence))
    inference.setEpsilon(max(tol**2, 1e-15))
    # Nothing is below NaN: with 0 it would stop as soon as two rounds happen to change by the same amount.
    inference.setMinEpsilonRate(math.nan)
    inference.setMaxIter(max_iter)
    start = time.perf_counter()
    inference.makeInference()
    end = time.perf_counter()
    beliefs = {v: np.asarray(inference.posterior(i).toarray(), dtype=np.float64) for v, i in node.items()}
    converged = "epsilon" in inference.messageApproximationScheme()
    return PeerRun(beliefs, int(inference.nbrIterations()), converged, end - start, end - begin)


def _swept(built: Any, tol: float, max_iter: int) -> tuple[int, bool, float]:
    built.init_messages()
    nodes = [*built.get_rvs().values(), *built.get_factors()]
    old = _all_messages(nodes)
    seconds = 0.0
    for iteration in range(1, max_iter + 1):
        begin = time.perf_counter()
        built.lbp(init=False, normalize=True, max_iters=1)
        seconds += time.perf_counter() - begin
        new = _all_messages(nodes)
        if np.abs(new - old).max(initial=0.0) < tol:
            return iteration, True, seconds
        old = new
    return max_iter, False, seconds


def _all_messages(nodes: list[Any]) -> Floats:
    return np.concatenate([np.zeros(0), *(message for node in nodes for message in node.get_outgoing())])


def _factorgraph() -> Any:
    """The package; importing it takes Ctrl-C away from the program, which is given back."""
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    try:
        import factorgraph
    except ImportError as error:
        raise MissingDependency("belief propagation of factorgraph", extra="crn-reduce") from error
    finally:
        if in_main:
            signal.signal(signal.SIGINT, handler)
    return factorgraph


def _pyagrum() -> Any:
    try:
        import pyagrum
    except ImportError as error:
        raise MissingDependency("loopy belief propagation of pyagrum", extra="crn-reduce") from error
    return pyagrum
