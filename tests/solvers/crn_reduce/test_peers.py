"""Other packages' loopy belief propagation ends where ours does."""

from __future__ import annotations

import builtins
import signal
import subprocess
import sys

import numpy as np
import pytest

from scisuite.core import InvalidInput, MissingDependency
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.belief_propagation import bp
from scisuite.solvers.crn_reduce.peers import factorgraph_bp, pyagrum_bayes_net_bp, pyagrum_loopy_bp

PEERS = {"factorgraph": factorgraph_bp, "pyagrum": pyagrum_loopy_bp}


def loopy(seed: int = 0) -> FactorGraph:
    """Cycles, a factor of three variables of unequal sizes, zeros, a one-valued and a lonely variable."""
    rng = np.random.default_rng(seed)
    card = {"a": 2, "b": 3, "c": 2, "d": 4, "one": 1, "lonely": 2}
    scopes = {"f": "abd", "g": "bc", "h": "cd", "i": "ac", "u": "d"}
    factors = {f: (list(scope), rng.uniform(0.2, 1.0, [card[v] for v in scope])) for f, scope in scopes.items()}
    factors["g"][1][0, 1] = 0.0
    return FactorGraph(card, factors | {"k": (["one", "a"], [[2.0, 5.0]])})


@pytest.mark.parametrize("name", PEERS)
def test_beliefs_are_ours(name):
    pytest.importorskip(name)
    graph = loopy()
    peer = PEERS[name](graph, 1e-11)
    ours = bp(graph)
    assert peer.converged
    assert list(peer.beliefs) == list(graph.card)
    for v, belief in ours.var_beliefs.items():
        np.testing.assert_allclose(peer.beliefs[v], belief, atol=1e-8)
    assert 3 < peer.iterations < 100
    assert 0 < peer.seconds < peer.seconds_in_all


@pytest.mark.parametrize("name", PEERS)
def test_a_run_that_is_cut_short_says_so(name):
    pytest.importorskip(name)
    peer = PEERS[name](loopy(), 1e-10, max_iter=3)
    assert (peer.converged, peer.iterations) == (False, 3)


def test_factorgraphs_own_rule_stops_earlier():
    pytest.importorskip("factorgraph")
    graph = loopy()
    own, asked = factorgraph_bp(graph, None), factorgraph_bp(graph, 1e-12)
    assert own.converged
    assert own.iterations < asked.iterations
    ours = bp(graph).var_beliefs
    assert max(np.abs(own.beliefs[v] - ours[v]).max() for v in graph.card) > 1e-10


def test_pyagrum_takes_its_own_network_and_evidence():
    gum = pytest.importorskip("pyagrum")
    net = gum.fastBN("a->b->d<-c<-a", 3)
    for seed, v in enumerate("abcd"):
        rng = np.random.default_rng(seed)
        shape = net.cpt(v).toarray().shape
        net.cpt(v)[:] = np.ascontiguousarray(rng.dirichlet(np.ones(3), shape[:-1]))
    factors = {
        f"p_{v}": (list(reversed(net.cpt(v).names)), np.asarray(net.cpt(v).toarray(), dtype=np.float64)) for v in "abcd"
    }
    graph = FactorGraph(dict.fromkeys("abcd", 3), factors).condition({"d": 2})
    peer = pyagrum_bayes_net_bp(net, {"d": 2}, 1e-10)
    assert peer.converged
    for v, belief in bp(graph).var_beliefs.items():
        np.testing.assert_allclose(peer.beliefs[v], belief, atol=1e-8)
    with pytest.raises(InvalidInput, match=r"^evidence: the network has no variable 'z'$"):
        pyagrum_bayes_net_bp(net, {"z": 0})


def test_factorgraph_leaves_ctrl_c_alone():
    pytest.importorskip("factorgraph")
    factorgraph_bp(FactorGraph({"a": 2}, {"f": (["a"], [1.0, 2.0])}))
    program = (
        "import signal; before = signal.getsignal(signal.SIGINT)\n"
        "from scisuite.solvers.crn_reduce.peers import factorgraph_bp\n"
        "from scisuite.scenarios.factor_graphs import FactorGraph\n"
        "factorgraph_bp(FactorGraph({'a': 2}, {'f': (['a'], [1.0, 2.0])}))\n"
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", PEERS)
def test_an_absent_package_is_named_with_its_extra(name, monkeypatch):
    real = builtins.__import__

    def without(module, *arguments, **keywords):
        if module == name:
            raise ImportError(name)
        return real(module, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(MissingDependency, match=rf"belief propagation of {name}; .*scisuite\[crn-reduce\]"):
        PEERS[name](loopy())
    assert signal.getsignal(signal.SIGINT) is before
