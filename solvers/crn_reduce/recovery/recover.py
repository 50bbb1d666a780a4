"""The factor graph inside a reaction network, names, pools and order unknown."""

from __future__ import annotations

import numpy as np

from scisuite.scenarios.factor_graphs import Factor, FactorGraph
from scisuite.solvers.crn_reduce.compile import Rates, compile_napp_adams
from scisuite.solvers.crn_reduce.errors import NotNappAdams
from scisuite.solvers.crn_reduce.network import BELIEF, CRN, PRODUCT, SUM, Floats, Ints, PoolKey, Pools
from scisuite.solvers.crn_reduce.recovery.compare import corresponding_species, differing_reaction, rate_difference
from scisuite.solvers.crn_reduce.recovery.factors import Edges, find_factors
from scisuite.solvers.crn_reduce.recovery.labels import align_values
from scisuite.solvers.crn_reduce.recovery.parse import parse_reactions, reaction_text
from scisuite.solvers.crn_reduce.recovery.partition import SAME, Partition, partition_species, typical
from scisuite.solvers.crn_reduce.recovery.result import ISOLATED_FACTOR, NEVER_PRODUCED, Ambiguity, Recovery
from scisuite.solvers.crn_reduce.recovery.roles import Roles, find_roles
from scisuite.solvers.crn_reduce.recovery.tables import read_tables


def recover_factor_graph(crn: CRN) -> Recovery:
    """Read the factor graph of which a network is the compilation (reconstruction; no code of the paper is known).

    Only stoichiometries and rates are looked at, neither names nor ``crn.pools``; the initial concentrations give
    ``rates.total`` and nothing else. In turn:

    1. Pools: a species made by two or more reactions without catalysts is unassigned, their sources are its values.
    2. Beliefs, sum and product messages, from which pools catalyse production in which.
    3. Labels of the values, from belief pools through sum messages to product messages.
    4. Factors: messages that read each other.
    5. Tables, from the rates; values of constant messages are recognised by comparing two read-outs of a table.
    6. The recovered graph is compiled, and must give the network back.

    The graph is that which was compiled up to the names and order of its variables, factors, axes and values, its
    tables multiplied by ``k_sum``, which leaves no other trace. Variables are called ``v0``, ``v1``, … in the order of
    their belief pools' first species, factors ``f0``, ``f1``, … in that of their messages'.

    Identical rows, identity tables and values that a table forbids are no obstacle. One-valued variables are: they
    cannot be compiled, and a network with a pool of one value is refused.

    Raises
    ------
    NotNappAdams
        If the network is no compiled factor graph; the message names a species or reaction that shows it. Also if an
        isolated factor is so symmetric that 20,000 trials do not match its read-outs.
    InvalidInput
        If the tables would have more than 2²⁷ entries, counted once for every variable of their scopes.

    Examples
    --------
    >>> from scisuite.core import generator
    >>> from scisuite.scenarios.factor_graphs import FactorGraph
    >>> from scisuite.solvers.crn_reduce.compile import compile_napp_adams
    >>> graph = FactorGraph({"rain": 2, "wet": 2}, {"prior": (["rain"], [.8, .2]),
    ...                                             "wets": (["rain", "wet"], [[.9, .1], [.2, .8]])})
    >>> network, _ = compile_napp_adams(graph).anonymous(generator(0, "doctest"))
    >>> recovered, pools, ambiguities = recover_factor_graph(network)
    >>> recovered, ambiguities
    (FactorGraph(2 variables, 2 factors, 6 table entries), ())
    """
    return recover_with_partition(crn)[0]


def recover_with_partition(crn: CRN) -> tuple[Recovery, Partition]:
    """:func:`recover_factor_graph`, and the pools as the network has them."""
    pools = partition_species(parse_reactions(crn))
    roles = find_roles(pools)
    label, k_prod = align_values(pools, roles)
    edges = find_factors(pools, roles, label)
    tables, label = read_tables(pools, roles, edges, label)
    graph, meaning = _graph(pools, edges, tables, label)
    totals: Floats = np.bincount(pools.pool_of, crn.initial).astype(np.float64)
    rates = Rates(k_prod=k_prod, k_rec=pools.k_rec, total=typical(totals) or 1.0)
    recovery = Recovery(graph, meaning, rates, _ambiguities(pools, roles, edges, meaning))
    require_recompiles(recovery, crn)
    return recovery, pools


def recompiles_to(recovery: Recovery, crn: CRN) -> float:
    """Largest relative difference of a rate between a network and the compilation of what was recovered from it.

    Species are identified by ``recovery.pools``; infinite where a reaction is missing on either side.
    """
    return rate_difference(crn, *_compiled(recovery))


def require_recompiles(recovery: Recovery, crn: CRN) -> None:
    """Refuse a network that is not the compilation of what was read from it.

    Raises
    ------
    NotNappAdams
        If a reaction differs, or a rate by more than a part of 1e-12. The message names the reaction.
    """
    other, species = _compiled(recovery)
    if rate_difference(crn, other, species) > SAME:
        row = differing_reaction(crn, other, species)
        what = "a reaction is missing"
        if row is not None:
            what = f"{reaction_text(crn, row)} is not among its reactions, or has another rate there"
        raise NotNappAdams(f"the network is not what the factor graph read from it compiles to: {what}")


def _compiled(recovery: Recovery) -> tuple[CRN, Ints]:
    other = compile_napp_adams(recovery.graph, **vars(recovery.rates))
    assert other.pools is not None
    return other, corresponding_species(recovery.pools, other.pools)


def _graph(pools: Partition, edges: Edges, tables: list[Floats], label: Ints) -> tuple[FactorGraph, Pools]:
    variables = [f"v{i}" for i in range(len(edges.belief))]
    card = dict(zip(variables, pools.size[edges.belief].tolist(), strict=True))
    edge_variables = [variables[i] for i in edges.variable.tolist()]
    start = edges.start.tolist()
    factors = {f"f{i}": Factor(tuple(edge_variables[start[i] : start[i + 1]]), table) for i, table in enumerate(tables)}
    keys: list[PoolKey] = [PoolKey(BELIEF, "")] * pools.n_pools
    for pool, variable in zip(edges.belief.tolist(), variables, strict=True):
        keys[pool] = PoolKey(BELIEF, variable)
    ends = zip(edges.sum_pool.tolist(), edges.product_pool.tolist(), edge_variables, edges.factor.tolist(), strict=True)
    for sum_pool, product_pool, variable, factor in ends:
        keys[sum_pool] = PoolKey(SUM, variable, f"f{factor}")
        keys[product_pool] = PoolKey(PRODUCT, variable, f"f{factor}")
    return FactorGraph.trusted(card, factors), Pools(pools.pool_of, label, tuple(keys))


def _ambiguities(pools: Partition, roles: Roles, edges: Edges, meaning: Pools) -> tuple[Ambiguity, ...]:
    reactions = pools.reactions
    found = []
    made = np.bincount(reactions.made[pools.production], minlength=len(pools.place))
    never = pools.members[(made[pools.members] == 0)]
    for species in never.tolist():
        key = meaning.keys[pools.pool_of[species]]
        found.append(Ambiguity(NEVER_PRODUCED, key.factor, key.variable, (reactions.name(species),)))
    if len(edges.sum_pool):
        shared = roles.degree[edges.belief[edges.variable]] > 1
        for factor in np.flatnonzero(~np.logical_or.reduceat(shared, edges.start[:-1])).tolist():
            products = edges.product_pool[edges.start[factor] : edges.start[factor + 1]]
            names = tuple(reactions.name(int(pools.centre[pool])) for pool in products)
            found.append(Ambiguity(ISOLATED_FACTOR, f"f{factor}", "", names))
    return tuple(found)
