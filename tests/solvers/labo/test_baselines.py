"""What LABO is compared with: vanilla Bayesian optimisation, chance, and botorch's knowledge gradient."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from scisuite.core import InvalidInput, Space
from scisuite.core.seeding import global_random_state_untouched
from scisuite.solvers.labo import LABO, SolverOracle
from scisuite.solvers.labo.acquisition import greedy_ucb_batch
from scisuite.solvers.labo.baselines import VanillaEI, VanillaUCB
from scisuite.solvers.labo.gp import GridGP
from scisuite.solvers.labo.knowledge_gradient import MultiFidelityKG
from scisuite.solvers.labo.random_search import RandomSearch
from scisuite.solvers.labo.records import PoolExhausted

SPACE = Space.from_bounds(x=(0, 1), y=(0, 1))
POOL = np.random.default_rng(0).random((40, 2))
REAL = np.sin(6 * POOL).sum(1)
STARTS = POOL[[3, 11, 20]]


def guess(x):
    return np.cos(3 * x).sum(1)


def play(kind, **options):
    options = {"oracle": SolverOracle(guess), "pool": POOL, "budget": 7, "n_latin": 5, "max_llm": 20, **options}
    campaign = kind(SPACE, options.pop("oracle"), **options)
    while not campaign.done:
        query = campaign.ask()[0]
        campaign.tell(query, float(REAL[query.index]))
    return campaign


def rows_run(campaign):
    return [s.query.index for s in campaign.trace.steps if s.query.source == "real"]


def expected_improvement(mean, std, best):
    u = (mean - best) / std
    return std * (u * norm.cdf(u) + norm.pdf(u))


def test_ucb_reads_real_data_alone_and_picks_the_greedy_batch():
    campaign = VanillaUCB(SPACE, SolverOracle(guess), pool=POOL, budget=6, q=3, starts=STARTS, beta=1.5)
    for query in campaign.ask():
        campaign.tell(query, float(REAL[query.index]))
    free = np.setdiff1d(np.arange(40), rows_run(campaign))
    y = REAL[[3, 11, 20]]
    gp = GridGP().fit(STARTS, y - y.mean(), centre=0.0)
    mean, variance = gp.predict(POOL[free])
    picked = greedy_ucb_batch(mean, variance, 3, 1.5, lambda i: gp.correlation(POOL[free], POOL[free[i : i + 1]])[:, 0])
    assert [query.index for query in campaign.ask()] == free[picked].tolist()
    assert campaign.n_llm == 0
    assert campaign.rho == 0


def test_from_the_language_models_starts_it_begins_where_labo_begins():
    for kind in (VanillaUCB, VanillaEI):
        assert rows_run(play(kind))[:3] == rows_run(play(LABO))[:3]
        assert rows_run(play(kind, starts="random"))[:3] == rows_run(play(LABO, starts="random"))[:3]
    assert play(VanillaUCB, starts="random").n_llm == 0


@pytest.mark.parametrize("maximise", [True, False])
def test_expected_improvement_is_maximised_one_point_at_a_time(maximise):
    campaign = VanillaEI(SPACE, pool=POOL, budget=8, q=2, starts=STARTS, maximise=maximise)
    sign = 1 if maximise else -1
    while not campaign.done:
        queries = campaign.ask()
        if campaign.n_real >= 3:
            assert len(queries) == 1
            gp = campaign.surrogate.gp_discrepancy
            free = np.setdiff1d(np.arange(40), rows_run(campaign))
            mean, variance = gp.predict(POOL[free])
            best = sign * campaign.best[1] - campaign.surrogate.mean_real
            gains = expected_improvement(mean, np.sqrt(variance), best)
            assert gains[list(free).index(queries[0].index)] == pytest.approx(gains.max(), rel=1e-6, abs=1e-12)
        for query in queries:
            campaign.tell(query, float(REAL[query.index]))


def test_log_expected_improvement_agrees_where_there_is_improvement():
    plain, log = play(VanillaEI, starts=STARTS), play(VanillaEI, starts=STARTS, log=True)
    assert rows_run(plain)[:4] == rows_run(log)[:4]
    assert log._settings()["log"] is True


@pytest.mark.parametrize("log", [True, False])
def test_expected_improvement_over_a_continuous_space(log):
    campaign = VanillaEI(SPACE, budget=5, starts=STARTS, log=log)
    while not campaign.done:
        for query in campaign.ask():
            SPACE.require([query.encoded])
            campaign.tell(query, -float(np.square(np.array(query.encoded) - 0.3).sum()))
    assert len({s.query.encoded for s in campaign.trace.steps}) == 5


def test_chance_draws_without_repetition_and_reproducibly():
    first, second = play(RandomSearch, budget=40), play(RandomSearch, budget=40)
    assert sorted(rows_run(first)) == list(range(40))
    assert first.trace == second.trace
    assert rows_run(play(RandomSearch, seed=1)) != rows_run(first)[:7]
    assert first.n_llm == 0
    with pytest.raises(PoolExhausted):
        play(RandomSearch, budget=41)
    single = RandomSearch(Space.from_bounds(x=(0, 1), kind=["A", "B"]), budget=5, n_start=1, q=3)
    assert [len(single.ask())] == [1]
    while not single.done:
        single.tell(single.ask()[0], 1.0)
    assert len(single.trace.steps) == 5
    with pytest.raises(PoolExhausted):
        choices = RandomSearch(Space.from_bounds(kind=["A", "B"]), budget=5, n_start=1, q=3)
        while not choices.done:
            choices.tell(choices.ask()[0], 1.0)
    assert choices.n_real == 2


@pytest.mark.parametrize("kind", [VanillaUCB, VanillaEI])
def test_a_small_pool_runs_out(kind):
    with pytest.raises(PoolExhausted, match="no point is left after 5 of 7 real runs"):
        play(kind, pool=POOL[:5], starts=POOL[:3])


# The peer -------------------------------------------------------------------------------------------------------

TINY = {"n_fantasies": 2, "n_restarts": 1, "n_raw": 4, "n_iterations": 3}


@pytest.mark.slow
def test_the_knowledge_gradient_decides_and_leaves_the_global_generators_alone():
    def decide():
        campaign = MultiFidelityKG(
            SPACE, SolverOracle(guess), pool=POOL, budget=5, n_latin=4, max_llm=9, starts=STARTS, seed=2, **TINY
        )
        for query in campaign.ask():
            campaign.tell(query, float(REAL[query.index]))
        campaign.decide()
        return campaign

    with global_random_state_untouched():
        first = decide()
    assert (first.n_llm, len(first._pending)) in {(8, 0), (7, 1)}
    chosen = first._pending or [first.trace.steps[-1].query]
    assert chosen[0].encoded == tuple(POOL[chosen[0].index])
    second = decide()
    assert (second._pending, str(second.trace)) == (first._pending, str(first.trace))


def stubbed(fidelity, **options):
    """The peer with its optimiser replaced: everything but the gain."""
    campaign = MultiFidelityKG(SPACE, SolverOracle(guess), starts=STARTS, **options)
    campaign._fit = lambda: None
    campaign._maximise_gain = lambda model, allowed: (
        np.array([0.5, 0.5]),
        fidelity if fidelity in allowed else allowed[0],
    )
    while not campaign.done:
        for query in campaign.ask():
            campaign.tell(query, float(np.sin(6 * np.array(query.encoded)).sum()))
    return campaign


def test_a_gain_that_stays_at_the_cheap_fidelity_is_forced_to_the_real_one():
    campaign = stubbed(0.0, pool=POOL, budget=5, n_latin=4, max_llm=10)
    assert (campaign.n_llm, campaign.n_real) == (10, 5)
    everything_asked = stubbed(0.0, pool=POOL[[3, 11, 20, 1, 2, 4]], budget=6, n_latin=3, max_llm=50)
    assert (everything_asked.n_llm, everything_asked.n_real) == (6, 6)


def test_the_optimum_is_moved_to_the_nearest_row_that_is_free():
    campaign = stubbed(1.0, pool=POOL, budget=6, n_latin=4, max_llm=10)
    assert campaign.n_llm == 7
    order = [i for i in np.argsort(np.square(POOL - 0.5).sum(1)) if i not in (3, 11, 20)]
    assert rows_run(campaign)[3:] == order[:3]
    with pytest.raises(PoolExhausted):
        stubbed(1.0, pool=POOL[[3, 11, 20, 1]], budget=5, n_latin=1, max_llm=10)


@pytest.mark.parametrize("costs", [(1.0, 0.0), (1.0, 2.0), (0.0, 0.0), (1.0, math.nan)])
def test_costs_that_make_no_sense_are_refused(costs):
    with pytest.raises(InvalidInput, match="0 < cost_llm <= cost_real is needed"):
        MultiFidelityKG(SPACE, cost_real=costs[0], cost_llm=costs[1])
