"""Networks that are no compiled factor graph are refused, and the message says which species or reaction shows it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from scisuite.core import InvalidInput
from scisuite.scenarios.factor_graphs import FactorGraph
from scisuite.solvers.crn_reduce.compile import compile_napp_adams
from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import CRN
from scisuite.solvers.crn_reduce.recovery import recompiles_to, recover_factor_graph
from scisuite.solvers.crn_reduce.recovery.parse import reaction_text

GRAPH = FactorGraph(
    {"a": 2, "b": 2, "c": 2},
    {
        "pa": (["a"], [0.3, 0.7]),
        "ab": (["a", "b"], [[0.1, 0.2], [0.3, 0.4]]),
        "bc": (["b", "c"], [[0.5, 0.6], [0.7, 0.8]]),
    },
)
PAIR = FactorGraph({"a": 2, "b": 2}, {"f": (["a", "b"], [[0.1, 0.2], [0.3, 0.4]])})

Line = tuple[str, float]

BELIEF_A = "S_pa_a_0 + S_ab_a_0 + B_a_free → S_pa_a_0 + S_ab_a_0 + B_a_0"
SUM_AB = "P_a_ab_0 + S_ab_b_free → P_a_ab_0 + S_ab_b_1"
SUM_BC = "P_b_bc_0 + S_bc_c_free → P_b_bc_0 + S_bc_c_1"


def lines(network: CRN) -> list[Line]:
    """Reactions as ``("A + B → C + B", rate)``."""
    texts = (reaction_text(network, i) for i in range(network.n_reactions))
    return [(t[t.index("(") + 1 : -1], rate) for t, rate in zip(texts, network.rates.tolist(), strict=True)]


def network_of(reactions: list[Line]) -> CRN:
    """The network of such lines, species in the order in which they occur."""
    number: dict[str, int] = {}
    entries: list[list[tuple[int, int, int]]] = [[], []]
    for row, (text, _) in enumerate(reactions):
        for side, terms in enumerate(text.split(" → ")):
            for term in terms.split(" + "):
                times, _, name = term.rpartition(" ")
                if name != "∅":
                    entries[side].append((row, number.setdefault(name, len(number)), int(times or 1)))
    shape = (len(reactions), len(number))
    sides = []
    for side in entries:
        at = np.array(side, dtype=np.int32).reshape(-1, 3)
        sides.append(sparse.csr_array((at[:, 2], (at[:, 0], at[:, 1])), shape=shape))
    return CRN(tuple(number), *sides, np.array([rate for _, rate in reactions]), np.ones(len(number)))


def refusal(network: CRN) -> str:
    with pytest.raises(NotNappAdams) as error:
        recover_factor_graph(network)
    return str(error.value)


def edited(graph: FactorGraph, edits: dict[str, Line | None], more: list[Line]) -> CRN:
    known = lines(compile_napp_adams(graph))
    assert edits.keys() <= {text for text, _ in known}
    kept = [edits.get(text, (text, rate)) for text, rate in known]
    return network_of([line for line in kept if line is not None] + more)


def test_lines_and_network_are_the_same_thing():
    network = compile_napp_adams(GRAPH)
    recovery = recover_factor_graph(network_of(lines(network)))
    assert len(recovery.graph.factors) == 3
    assert recompiles_to(recovery, network_of(lines(network))) == 0


EDITS: list[tuple[str, dict[str, Line | None], list[Line], str]] = [
    (
        "a recycling rate changed",
        {"B_a_1 → B_a_free": ("B_a_1 → B_a_free", 0.2)},
        [],
        "species B_a_1 is recycled at the rate 0.2, other species at 0.1",
    ),
    (
        "a catalyst used up",
        {"S_bc_c_0 + B_c_free → S_bc_c_0 + B_c_0": ("S_bc_c_0 + B_c_free → B_c_0", 1)},
        [],
        "reaction 58 (S_bc_c_0 + B_c_free → B_c_0) uses up 2 species where it should be one; "
        "catalysts stand on both sides",
    ),
    (
        "a reaction that makes two",
        {},
        [("B_a_free → B_a_0 + B_a_1", 1)],
        "reaction 60 (B_a_free → B_a_0 + B_a_1) makes 2 species where it should be one; catalysts stand on both sides",
    ),
    (
        "a degradation",
        {},
        [("B_a_0 → ∅", 1)],
        "reaction 60 (B_a_0 → ∅) makes no species where it should be one; catalysts stand on both sides",
    ),
    (
        "a stoichiometry of two",
        {"P_c_bc_free → P_c_bc_0": ("2 P_c_bc_free → P_c_bc_free + P_c_bc_0", 1)},
        [],
        "reaction 56 (2 P_c_bc_free → P_c_bc_0 + P_c_bc_free) has a stoichiometry above 1",
    ),
    (
        "a recycling reaction dropped",
        {"B_a_1 → B_a_free": None},
        [],
        "species B_a_0 belongs to no pool: it turns into B_a_free without a catalyst, but nothing else does. "
        "In a pool of one value the value cannot be told from the unassigned species",
    ),
    (
        "a species without recycling",
        {},
        [("S_pa_a_0 + B_a_free → X + S_pa_a_0", 1)],
        "species X belongs to no pool: no reaction without catalysts recycles it",
    ),
    (
        "recycled into two pools",
        {},
        [("B_a_1 → B_b_free", 0.1)],
        "species B_a_1 is recycled 2 times, into B_a_free and B_b_free",
    ),
    (
        "a constant reaction twice",
        {},
        [("P_c_bc_free → P_c_bc_0", 1)],
        "reaction 18 (P_c_bc_0 → P_c_bc_free) turns one unassigned species into another: two or more reactions without "
        "catalysts make each of them",
    ),
    (
        "a reaction from one pool to another",
        {},
        [("S_pa_a_0 + B_b_free → S_pa_a_0 + B_a_0", 1)],
        "reaction 60 (S_pa_a_0 + B_b_free → S_pa_a_0 + B_a_0) makes B_a_0 from B_b_free; "
        "only a pool's unassigned species may be made into one of its values",
    ),
    (
        "an unassigned species as catalyst",
        {},
        [("S_pa_a_free + B_a_free → S_pa_a_free + B_a_0", 1)],
        "reaction 60 (S_pa_a_free + B_a_free → S_pa_a_free + B_a_0) has the catalyst S_pa_a_free, "
        "an unassigned species",
    ),
    (
        "its own pool as catalyst",
        {},
        [("B_a_1 + B_a_free → B_a_1 + B_a_0", 1)],
        "reaction 60 (B_a_free + B_a_1 → B_a_0 + B_a_1) has the catalyst B_a_1, a species of the pool that it fills",
    ),
    (
        "two catalysts of one pool",
        {},
        [("S_bc_c_0 + S_bc_c_1 + B_c_free → S_bc_c_0 + S_bc_c_1 + B_c_0", 1)],
        "reaction 60 (S_bc_c_0 + S_bc_c_1 + B_c_free → S_bc_c_0 + S_bc_c_1 + B_c_0) has two catalysts of one pool",
    ),
    (
        "a belief's rate changed",
        {"S_bc_c_0 + B_c_free → S_bc_c_0 + B_c_0": ("S_bc_c_0 + B_c_free → S_bc_c_0 + B_c_0", 3)},
        [],
        "reaction 58 (S_bc_c_0 + B_c_free → S_bc_c_0 + B_c_0) runs at the rate 3, "
        "other beliefs and messages from variables at 1",
    ),
    (
        "a belief's reaction dropped",
        {"S_bc_c_0 + B_c_free → S_bc_c_0 + B_c_0": None},
        [],
        "species B_c_0 is made by no reactions; "
        "every value of a belief or of a message from a variable is made by exactly one",
    ),
    (
        "a belief's value made by two",
        {},
        [("S_bc_c_1 + B_c_free → S_bc_c_1 + B_c_0", 1)],
        "species B_c_0 is made by 2 reactions; "
        "every value of a belief or of a message from a variable is made by exactly one",
    ),
    (
        "a pool that nothing fills",
        {},
        [("X_0 → X", 0.1), ("X_1 → X", 0.1)],
        "species X_0 is made by no reactions; "
        "every value of a belief or of a message from a variable is made by exactly one",
    ),
    (
        "a belief's reaction without one of its catalysts",
        {BELIEF_A: ("S_pa_a_0 + B_a_free → S_pa_a_0 + B_a_0", 1)},
        [],
        "reaction 52 (S_pa_a_0 + B_a_free → S_pa_a_0 + B_a_0) lacks a catalyst: "
        "the reactions of the pool around B_a_free read 2 pools, and this one 1",
    ),
    (
        "two values crossed in a belief",
        {BELIEF_A: ("S_pa_a_1 + S_ab_a_0 + B_a_free → S_pa_a_1 + S_ab_a_0 + B_a_0", 1)},
        [],
        "species S_pa_a_0 catalyses no values of a belief; it should be one",
    ),
    (
        "two values crossed in a product",
        {"S_pa_a_0 + P_a_ab_free → S_pa_a_0 + P_a_ab_0": ("S_pa_a_1 + P_a_ab_free → S_pa_a_1 + P_a_ab_0", 1)},
        [],
        "two species of the pool around P_a_ab_free stand for the same value",
    ),
    (
        "two read-outs that disagree",
        {SUM_AB: (SUM_AB, 0.25)},
        [],
        f"reaction 37 ({SUM_AB}) runs at the rate 0.25, "
        "but for the same entry of the table another message of the factor tells 0.2",
    ),
    (
        "a sum's reaction dropped",
        {SUM_AB: None},
        [],
        "reaction 29 (S_ab_a_free + P_b_ab_1 → S_ab_a_0 + P_b_ab_1) runs at the rate 0.2, "
        "but for the same entry of the table another message of the factor has no such reaction",
    ),
    ("a sum's reaction twice", {}, [(SUM_AB, 0.2)], f"reaction 60 ({SUM_AB}) is there already, as reaction 37"),
    (
        "two read-outs that disagree beside a constant message",
        {SUM_BC: (SUM_BC, 0.25)},
        [],
        "the messages of one factor tell different tables, however the values of the pool around P_c_bc_free are "
        "ordered: among others those of the pool around S_bc_b_free and the pool around S_bc_c_free",
    ),
]


@pytest.mark.parametrize(("edits", "more", "message"), [case[1:] for case in EDITS], ids=[case[0] for case in EDITS])
def test_an_edit_is_refused(edits, more, message):
    assert refusal(edited(GRAPH, edits, more)) == message


def test_an_isolated_factor_whose_read_outs_disagree():
    line = "P_a_f_0 + S_f_b_free → P_a_f_0 + S_f_b_1"
    assert refusal(edited(PAIR, {line: (line, 0.25)}, [])) == (
        "the pool around S_f_a_free is one of the two messages of an isolated factor of two variables, "
        "and no other pool has the same table for the other message"
    )
    triple = FactorGraph({"a": 2, "b": 2, "c": 2}, {"f": (list("abc"), np.arange(1.0, 9).reshape(2, 2, 2))})
    line = "P_a_f_0 + P_b_f_0 + S_f_c_free → P_a_f_0 + P_b_f_0 + S_f_c_0"
    assert refusal(edited(triple, {line: (line, 0.25)}, [])) == (
        "the messages of one factor tell different tables, however the values of the pool around P_a_f_free and the "
        "pool around P_b_f_free and the pool around P_c_f_free are ordered: among others those of the pool around "
        "S_f_a_free and the pool around S_f_b_free"
    )


def test_a_product_of_messages_about_different_values():
    hub = FactorGraph({"h": 2}, {f: (["h"], [1, 2]) for f in "xyz"})
    right = "P_h_x_free + S_y_h_0 + S_z_h_0 → P_h_x_0 + S_y_h_0 + S_z_h_0"
    wrong = right.replace("S_z_h_0", "S_z_h_1")
    assert refusal(edited(hub, {right: (wrong, 1)}, [])) == (
        f"reaction 20 ({wrong}) is catalysed by messages about different values of the variable whose "
        "belief is the pool around B_h_free"
    )


def without(graph: FactorGraph, pool: str) -> CRN:
    return network_of([line for line in lines(compile_napp_adams(graph)) if pool not in line[0]])


def test_networks_that_lack_pools():
    ring = FactorGraph(dict.fromkeys("abc", 2), {f: (list(f), np.ones((2, 2))) for f in ("ab", "bc", "ca")})
    assert refusal(without(ring, "B_")) == (
        "no pool is a belief: the pool around S_ab_a_free and every other catalyse production elsewhere, "
        "and a belief does not"
    )
    assert refusal(without(GRAPH, "B_b")) == (
        "the pool around S_ab_b_free reads the pool around P_a_ab_free, which no belief reads"
    )
    assert refusal(without(GRAPH, "P_a_pa")) == (
        "no pools read all messages to the variable whose belief is the pool around B_a_free but that of the pool "
        "around S_pa_a_free; there should be one"
    )
    assert refusal(without(FactorGraph({"a": 2}, {"f": (["a"], [1, 2])}), "P_a")) == (
        "the pool around S_f_a_free is a unary factor's message to a variable, and no constant pool of 2 values can be "
        "the variable's message to that factor"
    )


def test_networks_that_are_empty_or_of_one_value():
    nothing = sparse.csr_array((0, 0), dtype=np.int32)
    assert refusal(CRN((), nothing, nothing, np.zeros(0), np.zeros(0))) == (
        "the network is empty: it has 0 species and 0 reactions, and the smallest compiled factor graph has 3 and 4"
    )
    assert refusal(network_of([("B_0 → B", 0.1), ("B → B_0", 1)])) == (
        "species B_0 belongs to no pool: it turns into B without a catalyst, but nothing else does. "
        "In a pool of one value the value cannot be told from the unassigned species"
    )


def copying(pool: str, *read: str, values: str = "01") -> list[Line]:
    """A pool each of whose values is made with the catalysts of the same number."""
    made = []
    for k in values:
        catalysts = "".join(f" + {other}{k}" for other in read)
        made += [(f"{pool}{k} → {pool}", 0.1), (f"{pool}{catalysts} → {pool}{k}{catalysts}", 1.0)]
    return made


READS: list[tuple[list[list[Line]], str]] = [
    (
        [copying("B", "S", "T"), copying("P", "S"), copying("Q", "T"), copying("S", "P"), copying("T", "Q")],
        "a factor sends two messages to the variable whose belief is the pool around B",
    ),
    (
        [
            copying("A", "S", "T"),
            copying("B", "U", "V"),
            copying("P", "S", "U"),
            *map(copying, "STV"),
            copying("U", "P"),
        ],
        "the pool around P reads messages to two variables, whose beliefs are the pool around B and the pool around A",
    ),
    (
        [copying("B", "S", "T", "U"), copying("P", "S"), copying("S", "P"), copying("T"), copying("U")],
        "the pool around P reads 1 of the 3 messages to the variable whose belief is the pool around B; "
        "a message from that variable reads all but one",
    ),
    (
        [copying("B", "S", "T"), copying("P", "S"), copying("Q", "T"), copying("S", "T"), copying("T")],
        "the pool around S, a message from a factor, reads the pool around T, which is no message from a variable",
    ),
    (
        [copying("B", "S", "T"), copying("P", "S"), copying("Q", "T"), copying("S", "P", "Q"), copying("T")],
        "the pool around S reads 2 messages in a factor of 2 messages to and 2 from variables; "
        "there should be as many, and all but one be read",
    ),
    (
        [
            copying("B", "S", "T", "U"),
            *(copying("P", "T", "U"), copying("Q", "S", "U"), copying("R", "S", "T")),
            *(copying("S", "P", "Q"), copying("T", "Q", "R"), copying("U", "R", "P")),
        ],
        "the pool around S and the pool around R should be the two messages between a factor and a variable, "
        "and do not read what those would",
    ),
    (
        [copying("B", "S"), copying("S", values="012"), copying("P", values="012")],
        "the pool around S has 3 values, but the belief of its variable, the pool around B, has 2",
    ),
]


@pytest.mark.parametrize(("pools", "message"), READS)
def test_pools_that_read_in_the_wrong_way(pools, message):
    assert refusal(network_of([line for pool in pools for line in pool])) == message


def test_reactions_go_by_their_names():
    crn = compile_napp_adams(PAIR)
    names = tuple(f"R{i}" for i in range(crn.n_reactions))
    twice = crn.reactants + crn.reactants
    with pytest.raises(NotNappAdams, match=r"reaction 'R0' \(2 S_f_a_0 → S_f_a_free\) has a stoichiometry above 1"):
        recover_factor_graph(CRN(crn.species, twice, crn.products, crn.rates, crn.initial, reaction_names=names))
    assert crn.anonymous(np.random.default_rng(0))[0].reaction_names is None
    with pytest.raises(InvalidInput, match=f"there are 1 names for {crn.n_reactions} reactions"):
        CRN(crn.species, crn.reactants, crn.products, crn.rates, crn.initial, reaction_names=("R",))
