"""Generated graphs: the sizes the paper's brief names, shapes, ranges and reproducibility."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import chain, cycle_hair, hmm, ising, random_loopy, tree
from scisuite.solvers.crn_reduce.compile import compiled_size

ALL = (hmm, tree, chain, cycle_hair, ising, random_loopy)


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("graph", "size"),
    [
        (hmm(rng(), T=8, K=3, M=3), (376, 744)),
        (hmm(rng(), T=6, K=2, M=2), (210, 324)),
        (cycle_hair(rng(), n=5), (255, 400)),
        (cycle_hair(rng(), n=6), (306, 480)),
        (ising(rng(), torus=True, homogeneous=True), (297, 468)),
    ],
)
def test_sizes_of_the_brief(graph, size):
    assert compiled_size(graph) == size


@pytest.mark.parametrize("draw", ALL)
def test_the_same_generator_state_gives_the_same_graph(same_graph, draw):
    assert same_graph(draw(rng(3)), draw(rng(3)))
    assert not same_graph(draw(rng(3)), draw(rng(4)))
    assert all(not f.table.flags.writeable for f in draw(rng()).factors.values())
    assert len(draw(rng()).components()) == 1


def test_hmm():
    graph = hmm(rng(), T=4, K=3, M=2)
    assert dict(graph.card) == {f"h{t}": 3 for t in range(4)} | {f"o{t}": 2 for t in range(4)}
    scopes = {name: f.variables for name, f in graph.factors.items()}
    assert scopes["prior"] == ("h0",)
    assert scopes["t3"] == ("h2", "h3")
    assert scopes["e2"] == ("h2", "o2")
    assert scopes["y2"] == ("o2",)
    assert len(scopes) == 1 + 3 + 4 + 4
    for name, factor in graph.factors.items():
        if name[0] == "y":
            assert sorted(factor.table) == pytest.approx([0.1, 0.9])
        else:
            assert factor.table.sum(axis=-1) == pytest.approx(np.ones(factor.table.shape[:-1]))
    assert len(hmm(rng(), T=1).factors) == 3
    assert hmm(rng(), seen=0.75).factors["y0"].table.max() == 0.75


def test_the_outputs_seen_are_those_of_a_run():
    """Where a run is almost certain, so is what is seen."""
    agreeing = 0
    for seed in range(40):
        graph = hmm(rng(seed), T=1, K=2, M=2)
        likely = graph.factors["prior"].table @ graph.factors["e0"].table
        agreeing += likely[graph.factors["y0"].table.argmax()]
    assert agreeing / 40 > 0.55


def test_tree_and_chain():
    graph = tree(rng(), n=300, K=3)
    assert len(graph.factors) == 299
    assert all(int(f.variables[0][1:]) < int(f.variables[1][1:]) for f in graph.factors.values())
    assert max(graph.degree(v) for v in graph.card) > 4
    row = chain(rng(), n=5, K=2)
    assert [f.variables for f in row.factors.values()] == [(f"x{i}", f"x{i + 1}") for i in range(4)]


@pytest.mark.parametrize("draw", [tree, chain, cycle_hair, random_loopy])
def test_random_potentials_lie_in_their_range(draw):
    entries = np.concatenate([f.table.ravel() for f in draw(rng()).factors.values()])
    assert entries.min() >= 0.4
    assert entries.max() <= 1
    assert len(np.unique(entries)) == len(entries)


def test_cycle_with_hair():
    graph = cycle_hair(rng(), n=3)
    assert [name for name in graph.factors if name.startswith("c")] == ["c0c1", "c1c2", "c2c0", "c0a0", "c1a1", "c2a2"]
    assert graph.factors["a1b1"].variables == ("a1", "b1")
    assert {graph.degree(f"c{i}") for i in range(3)} == {4}


@pytest.mark.parametrize(("torus", "edges"), [(False, 3 * 3 + 2 * 4), (True, 2 * 12)])
def test_ising(torus, edges):
    graph = ising(rng(), rows=3, cols=4, torus=torus, coupling=0.5, field=0.2)
    pairs = [f for f in graph.factors.values() if len(f.variables) == 2]
    assert len({frozenset(f.variables) for f in pairs}) == len(pairs) == edges
    assert all(f.table == pytest.approx(np.exp([[0.5, -0.5], [-0.5, 0.5]])) for f in pairs)
    fields = [np.log(f.table[1] / f.table[0]) / 2 for f in graph.factors.values() if len(f.variables) == 1]
    assert len(fields) == 12
    assert max(map(abs, fields)) <= 0.2
    assert len(set(fields)) == 12


def test_ising_alike_and_with_hair():
    alike = ising(rng(), torus=True, homogeneous=True)
    assert {tuple(f.table) for f in alike.factors.values() if len(f.variables) == 1} == {tuple(np.exp([-0.1, 0.1]))}
    hairy = ising(rng(), hair=True)
    assert len(hairy.card) == 27
    assert hairy.factors["s0_1a1"].variables == ("s0_1", "a1")
    assert hairy.degree("b8") == 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(4, 12), st.integers(0, 5), st.integers(2, 4))
def test_random_loopy(seed, n, loops, max_arity):
    graph = random_loopy(rng(seed), n=n, loops=loops, max_arity=max_arity)
    assert len(graph.components()) == 1
    assert set(graph.card.values()) <= {2, 3}
    arities = [len(f.variables) for f in graph.factors.values()]
    assert arities.count(1) == n
    assert set(arities) <= set(range(1, max_arity + 1))
    assert sum(a - 1 for a in arities[: len(arities) - loops]) == n - 1


@pytest.mark.parametrize(
    ("draw", "arguments", "message"),
    [
        (hmm, {"T": 0}, "T must be a whole number of at least 1, not 0"),
        (hmm, {"K": 1}, "K must be a whole number of at least 2, not 1"),
        (hmm, {"M": 2.0}, "M must be a whole number of at least 2, not 2.0"),
        (hmm, {"seen": 1.0}, r"seen must be in \(0, 1\), not 1.0"),
        (hmm, {"seen": float("nan")}, "seen must be a finite number, not nan"),
        (tree, {"n": 1}, "n must be a whole number of at least 2, not 1"),
        (chain, {"K": True}, "K must be a whole number of at least 2, not True"),
        (cycle_hair, {"n": 2}, "n must be a whole number of at least 3, not 2"),
        (ising, {"rows": 2, "torus": True}, "rows must be a whole number of at least 3, not 2"),
        (ising, {"coupling": "strong"}, "coupling must be a finite number, not 'strong'"),
        (ising, {"coupling": 800.0}, "coupling 800.0 or field 0.1 is so strong that its table overflows"),
        (ising, {"field": -800.0, "homogeneous": True}, "so strong that its table overflows"),
        (random_loopy, {"n": 2}, "n must be a whole number of at least 3, not 2"),
        (random_loopy, {"loops": -1}, "loops must be a whole number of at least 0, not -1"),
        (random_loopy, {"max_arity": 1}, "max_arity must be a whole number of at least 2, not 1"),
    ],
)
def test_bad_arguments(draw, arguments, message):
    with pytest.raises(InvalidInput, match=message), np.errstate(over="ignore"):
        draw(rng(), **arguments)
