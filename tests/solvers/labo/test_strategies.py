"""Strategies by name: all of them run, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from scisuite.core import InvalidInput, Space, UnknownName
from scisuite.solvers import labo
from scisuite.solvers.labo import LABO, STRATEGIES, RandomSearch, SolverOracle, VanillaEI, VanillaUCB, make_strategy

SPACE = Space.from_bounds(x=(0, 1), y=(0, 1))
POOL = np.random.default_rng(0).random((25, 2))


def build(name, **options):
    settings = {"pool": POOL, "budget": 6, "max_llm": 20, "n_latin": 5, "value_range": (-3.0, 3.0), **options}
    return make_strategy(name, space=SPACE, oracle=SolverOracle(lambda x: x.sum(1)), **settings)


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"mfkg"}))
def test_every_strategy_spends_its_budget_on_different_rows(name):
    campaign = build(name)
    while not campaign.done:
        for query in campaign.ask():
            campaign.tell(query, float(np.sin(5 * np.array(query.encoded)).sum()))
    run = [s.query.index for s in campaign.trace.steps if s.query.source == "real"]
    assert len(run) == len(set(run)) == 6
    assert campaign.n_llm <= 20
    assert campaign.best[1] == max(campaign.trace.real_values())


def test_the_names_that_everyone_agreed_on_are_there():
    agreed = "labo gate_off no_warm_start random_llm ucb ei log_ei random llm_greedy random_fidelity variance_gate"
    assert set(agreed.split()) | {"prior_mean", "mfkg"} <= set(STRATEGIES)
    for summary in (strategy.summary for strategy in STRATEGIES.values()):
        assert summary


def test_presets_and_their_overriding():
    assert build("gate_off").gate == "always"
    assert build("no_warm_start", n_latin=4).n_latin == 4
    assert build("no_warm_start", budget=5).starts == "random"
    assert make_strategy("no_warm_start", space=SPACE).n_latin == 0
    assert type(build("ucb")) is VanillaUCB
    assert build("log_ei").log is True
    assert type(build("ei")) is VanillaEI
    assert type(build("random")) is RandomSearch
    greedy = build("llm_greedy", beta=3.0)
    assert (greedy.acquisition, greedy.gate, greedy.beta) == ("llm_only", "always", 3.0)
    assert type(build("labo", tau=0.2)) is LABO


def test_random_answers_take_the_language_models_place_and_need_a_range():
    campaign = build("random_llm", seed=3)
    campaign.ask()
    answers = np.array([s.value for s in campaign.trace.steps])
    assert ((answers >= -3) & (answers <= 3)).all()
    assert len(set(answers)) == len(answers)
    with pytest.raises(InvalidInput, match="RandomOracle needs the declared range"):
        build("random_llm", value_range=None)


def test_unknown_names_and_options_are_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="unknown strategy 'lab'; did you mean 'labo'"):
        build("lab")
    with pytest.raises(UnknownName, match="unknown strategy 7"):
        build(7)
    with pytest.raises(InvalidInput, match="strategy 'labo' has no option 'betta'; did you mean 'beta'"):
        build("labo", betta=1.0)
    with pytest.raises(InvalidInput, match="strategy 'random' has no option 'tau'"):
        build("random", tau=0.5)
    with pytest.raises(InvalidInput, match="tau must be in"):
        build("labo", tau=2)


def test_the_package_gives_its_names_on_first_use_and_no_other():
    for name in labo.__all__:
        assert getattr(labo, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'LAB'"):
        labo.LAB  # noqa: B018
