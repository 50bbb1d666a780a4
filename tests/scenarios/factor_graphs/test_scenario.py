"""The ids ``factor_graphs/…`` and what a problem holds."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite import scenarios
from scisuite.core import DataUnavailable, InvalidInput, UnknownName
from scisuite.scenarios.factor_graphs import BUNDLED, FactorGraphScenario, bundled, possible

GENERATED = {
    # id: (variables, factors)
    "hmm": (16, 24),
    "hmm_6_2": (12, 18),
    "cycle_hair": (15, 20),
    "cycle_hair_6": (18, 24),
    "ising": (9, 21),
    "ising_torus": (9, 27),
    "ising_hair": (27, 39),
    "tree": (100, 99),
    "random_loopy": (10, None),
}


def problem(id, seed=0, **config):
    return scenarios.make(f"factor_graphs/{id}", **config).generate(np.random.default_rng(seed))


def test_every_id_is_promised_here():
    ids = {id.removeprefix("factor_graphs/") for id in scenarios.registry.ids() if id.startswith("factor_graphs/")}
    assert {id for id in ids if not id.startswith("planning")} == set(GENERATED) | set(BUNDLED)
    assert all(scenarios.registry.entry(f"factor_graphs/{id}").paper == "crn_reduce" for id in ids)
    assert all(scenarios.registry.entry(f"factor_graphs/{id}").extras == ("crn",) for id in BUNDLED)
    assert all(
        f"{n} variables" in scenarios.registry.entry(f"factor_graphs/{id}").summary
        for id, n in (("alarm", 37), ("munin", 1041))
    )


@pytest.mark.parametrize("id", GENERATED)
def test_what_a_generated_problem_holds(id):
    made = problem(id)
    n_variables, n_factors = GENERATED[id]
    assert len(made.graph.card) == n_variables
    assert n_factors in (None, len(made.graph.factors))
    assert made.evidence == {}
    assert made.keep == (("h0",) if id.startswith("hmm") else ())
    assert np.array_equal(made.potentials, np.concatenate([f.table.ravel() for f in made.graph.factors.values()]))
    same, other = problem(id), problem(id, seed=1)
    assert np.array_equal(same.potentials, made.potentials)
    assert np.array_equal(other.potentials, made.potentials) == (id == "ising_torus")


@pytest.mark.parametrize("id", ["cancer", "child", "alarm"])
def test_what_a_network_problem_holds(same_graph, id):
    made = problem(id)
    assert same_graph(made.graph, made.full.condition(made.evidence))
    assert same_graph(made.full, bundled.bundled_network(id))
    assert made.evidence
    assert not set(made.evidence) & set(made.graph.card)
    assert possible(made.full, made.evidence)
    assert any(problem(id, seed).evidence != made.evidence for seed in range(1, 6))
    bare = problem(id, evidence="none")
    assert bare.evidence == {}
    assert same_graph(bare.graph, bare.full)


def test_what_is_kept_by_name():
    for seed in range(6):
        made = problem("cancer", seed, keep=["Xray", "Smoker"])
        assert made.keep == ("Xray", "Smoker")
        assert list(made.evidence) == ["Dyspnoea"]
    assert problem("cycle_hair", keep=["b1", "c0", "b1"]).keep == ("b1", "c0")
    with pytest.raises(InvalidInput, match="keep: there is no variable 'c7'; "):
        problem("cycle_hair", keep=["c7"])


def test_what_is_kept_by_number(same_graph):
    plain, three = problem("alarm"), problem("alarm", keep=3)
    assert same_graph(plain.graph, three.graph)
    assert len(set(three.keep)) == 3
    assert set(three.keep) <= set(three.graph.card)
    assert len({problem("alarm", seed, keep=3).keep for seed in range(5)}) == 5
    assert problem("cancer", keep=4).keep == tuple(problem("cancer").graph.card)
    with pytest.raises(InvalidInput, match="keep asks for 5 variables, and 4 are not observed"):
        problem("cancer", keep=5)


def test_what_is_kept_of_an_hmm():
    assert problem("hmm", keep="first_last").keep == ("h0", "h7")
    assert problem("hmm", keep="first_last", T=1).keep == ("h0",)
    assert problem("hmm", keep="hidden").keep == tuple(f"h{t}" for t in range(8))
    assert problem("hmm", keep=[]).keep == ()


def test_variables_of_one_value_are_left_out(monkeypatch, tmp_path):
    text = "network x {} variable A { type discrete [1] {on}; } variable B { type discrete [2] {a, b}; }"
    (tmp_path / "net.bif").write_text(text + "probability (A) { table 1; } probability (B | A) { (on) .2 .8; }")
    from scisuite.scenarios.factor_graphs import read_bif, scenario

    monkeypatch.setattr(scenario, "bundled_network", lambda name: read_bif(tmp_path / "net.bif"))
    made = problem("cancer", evidence="none")
    assert dict(made.graph.card) == {"B": 2}
    assert made.graph.factors["p_B"].table.tolist() == [0.2, 0.8]
    assert dict(made.full.card) == {"A": 1, "B": 2}


def test_what_a_scenario_says_of_itself():
    real, drawn = scenarios.make("factor_graphs/asia").describe(), scenarios.make("factor_graphs/hmm").describe()
    assert real.real
    assert real.licence == "CC BY-SA 3.0"
    assert real.summary == "Bayesian network asia: chest clinic; 8 variables of at most 2 values"
    assert real.shapes == {"variables": (8,), "factors": (8,), "table entries": (36,)}
    assert not drawn.real
    assert drawn.licence == "none needed (generated)"
    assert drawn.shapes == {"variables": (16,), "factors": (24,), "table entries": (162,)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "hm"}, "unknown kind of factor graph 'hm'; did you mean 'hmm'"),
        ({"kind": None}, "unknown kind of factor graph None"),
        ({"kind": "hmm", "n": 3}, "factor graph 'hmm' has no argument 'n'; known: K, M, T, seen"),
        ({"kind": "hmm", "network": "asia"}, "factor graph 'hmm' has no argument 'network'"),
        ({"kind": "network", "network": "asia", "T": 3}, "factor graph 'network' has no argument 'T'"),
        ({"kind": "network"}, "factor graph 'network' needs network"),
        ({"kind": "network", "network": ""}, "unknown network ''"),
        (
            {"kind": "network", "network": "asia", "evidence": "all"},
            "evidence must be 'half_the_leaves' or 'none', not",
        ),
        ({"kind": "tree", "n": 0}, "n must be a whole number of at least 2, not 0"),
        ({"kind": "tree", "keep": -1}, "keep must be a list of variables or their number, not -1"),
        ({"kind": "tree", "keep": True}, "keep must be a list of variables or their number, not True"),
        ({"kind": "tree", "keep": [1]}, r"keep must be a list of variables or their number, not \[1\]"),
        ({"kind": "tree", "keep": "first"}, "keep must be a list of variables or their number, not the text 'first'"),
        (
            {"kind": "hmm", "keep": "last"},
            "or their number; of an HMM also 'first', 'first_last', 'hidden', not the text",
        ),
        ({"kind": "tree", "seed": -1}, "seed must be in"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInput, match=message):
        FactorGraphScenario(**arguments)


def test_an_unknown_network_and_a_missing_one(monkeypatch):
    with pytest.raises(UnknownName, match="unknown network 'asja'; did you mean 'asia'"):
        scenarios.make("factor_graphs/asia", network="asja")
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    with pytest.raises(DataUnavailable, match="comes with pgmpy, which is not installed"):
        scenarios.make("factor_graphs/asia")
